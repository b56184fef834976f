"""Costs of a release, which the curator turns into noise. `COSTS` lists their classes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from scipy.special import ndtri

from dpviz import validate
from dpviz.numbers import chance, number
from dpviz.privacy import accounting
from dpviz.privacy.choice import choice_mu, most_candidates
from dpviz.privacy.local import flip_probability
from dpviz.privacy.noise import Noise

__all__ = [
    "COSTS",
    "BestOf",
    "Cost",
    "Cover",
    "Exact",
    "Exponential",
    "Gaussian",
    "Halving",
    "Laplace",
    "Report",
    "Shuffled",
    "Threshold",
    "cost_of",
]


@dataclasses.dataclass(frozen=True)
class Cost:
    """The price of one release. Subclasses hold only data; the curator turns a cost into noise.

    Every cost is stated in four notions, with 0 or None in a notion that does not apply: `pure` (epsilon of pure DP),
    `gdp` (mu of Gaussian DP), `own_delta` (delta of this release alone) and `zcdp` (rho of zero-concentrated DP).

    Attributes
    ----------
    norm : norm of the sensitivity
    noise : description of the noise, a format string with `scale`
    within : description of the sensitivity's norm, if it is not the norm of a whole answer
    """

    norm: ClassVar[float] = 2
    noise: ClassVar[str] = "no noise"
    within: ClassVar[str] = ""

    @property
    def words(self) -> str:
        """Return the price as text."""
        return "nothing"

    @property
    def pure(self) -> float:
        """Return the epsilon of pure DP, or 0 if the cost is accounted for in another notion."""
        return 0.0

    @property
    def gdp(self) -> float:
        """Return the mu of Gaussian DP, or 0 if the cost is accounted for in another notion."""
        return 0.0

    @property
    def own_delta(self) -> float:
        """Return the delta of this release alone."""
        return 0.0

    @property
    def zcdp(self) -> float | None:
        """Return the rho of zero-concentrated DP, or None if the cost has none."""
        return None

    def scale(self, sensitivity: float) -> float:
        """Return the noise scale at which a release of this sensitivity has exactly this cost."""
        raise NotImplementedError

    def sd(self, scale: float) -> float:
        """Return the standard deviation of noise of this scale."""
        return scale

    def draw(self, noise: Noise, scale: float, shape: tuple[int, ...]) -> np.ndarray:
        """Draw the noise for one release."""
        raise NotImplementedError


@dataclasses.dataclass(frozen=True)
class _Mu(Cost):
    """A cost in mu, paid with Gaussian noise of standard deviation l2_sensitivity / mu."""

    mu: float

    def __post_init__(self) -> None:
        validate.positive(type(self).__name__, mu=self.mu)

    @property
    def words(self) -> str:
        return f"μ = {number(self.mu, 4)}"

    @property
    def gdp(self) -> float:
        return self.mu

    @property
    def zcdp(self) -> float:
        return self.mu**2 / 2

    def scale(self, sensitivity: float) -> float:
        return sensitivity / self.mu

    def draw(self, noise: Noise, scale: float, shape: tuple[int, ...]) -> np.ndarray:
        return noise.gaussian(scale, shape)


@dataclasses.dataclass(frozen=True)
class _Epsilon(Cost):
    """A cost in epsilon, paid with noise of scale sensitivity / epsilon."""

    epsilon: float

    def __post_init__(self) -> None:
        validate.positive(type(self).__name__, epsilon=self.epsilon)

    @property
    def words(self) -> str:
        return f"ε = {number(self.epsilon, 4)}"

    @property
    def pure(self) -> float:
        return self.epsilon

    @property
    def zcdp(self) -> float | None:
        return self.epsilon**2 / 2

    def scale(self, sensitivity: float) -> float:
        return sensitivity / self.epsilon


@dataclasses.dataclass(frozen=True)
class _LaplaceNoise(_Epsilon):
    """A cost that is paid with Laplace noise."""

    def sd(self, scale: float) -> float:
        return math.sqrt(2) * scale

    def draw(self, noise: Noise, scale: float, shape: tuple[int, ...]) -> np.ndarray:
        return noise.laplace(scale, shape)


@dataclasses.dataclass(frozen=True)
class Gaussian(_Mu):
    """Gaussian noise with standard deviation l2_sensitivity / mu: mu-GDP."""

    noise: ClassVar[str] = "Gaussian noise of standard deviation {scale} on every entry"


@dataclasses.dataclass(frozen=True)
class Laplace(_LaplaceNoise):
    """Laplace noise with scale l1_sensitivity / epsilon: epsilon-DP."""

    norm: ClassVar[float] = 1
    noise: ClassVar[str] = "Laplace noise of scale {scale} on every entry"


@dataclasses.dataclass(frozen=True)
class Exponential(_Epsilon):
    """Exponential mechanism by Gumbel-max with scale range / epsilon: epsilon-DP and epsilon-bounded-range.

    The "sensitivity" of such a release is the range of its `Score` (infinity norm).
    """

    norm: ClassVar[float] = math.inf
    noise: ClassVar[str] = "Gumbel noise of scale {scale} on every score, of which only the winner is released,"

    @property
    def zcdp(self) -> float:
        """Return epsilon^2 / 8, by bounded range (Dong, Durfee and Rogers 2020)."""
        return self.epsilon**2 / 8


@dataclasses.dataclass(frozen=True)
class Threshold(_Mu):
    """Gaussian noise on the counts of an unbounded key set, released above a threshold: mu-GDP plus `delta`.

    The zCDP bound holds except with probability `delta`: then a key that only one neighbor has may pass.
    """

    delta: float
    noise: ClassVar[str] = (
        "Gaussian noise of standard deviation {scale} on every count, which is released only above a threshold,"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.in_range("Threshold", 0, 1, open_ends=True, delta=self.delta)

    @property
    def words(self) -> str:
        return f"{super().words} and δ = {chance(self.delta)} for keys that one row alone creates"

    @property
    def own_delta(self) -> float:
        return self.delta

    def threshold(self, scale: float, l0: int) -> float:
        """Return the threshold tau; keys that only one neighbor has pass it with probability <= delta in total.

        Here tau is 1.5 + scale Phi^-1((1 - delta)^(1/l0)); the half allows for counts rounded to whole numbers.
        """
        return 1.5 + scale * float(-ndtri(-math.expm1(math.log1p(-self.delta) / l0)))


@dataclasses.dataclass(frozen=True)
class _EpsilonDelta(_Epsilon):
    """A cost that covers several draws, named in `together`, with one (epsilon, delta) statement, and has no zCDP."""

    delta: float
    together: ClassVar[str]

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.in_range(type(self).__name__, 0, 1, open_ends=True, delta=self.delta)

    @property
    def words(self) -> str:
        return f"{super().words} and δ = {chance(self.delta)} for all {self.together} together"

    @property
    def own_delta(self) -> float:
        return self.delta

    @property
    def zcdp(self) -> None:
        return None


@dataclasses.dataclass(frozen=True)
class Cover(_EpsilonDelta):
    """A whole sequence of picks by coverage, as ONE cost: (epsilon, delta)-DP for any number of picks and grids.

    Each pick weighs a cell by exp(w c), with c the number of its rows that no earlier pick covered. An added row
    multiplies a pick's normalizer by 1 + (e^w - 1) p, with p the probability that this pick covers it, and only until
    it is covered; except with probability delta those p add up to at most 1 + ln(1/delta). So w is the solution of (e^w
    - 1)(1 + ln(1/delta)) = epsilon; the published w = epsilon / (2 ln(e/delta)) bounds e^w - 1 by 2 w and is about half
    as large (Gupta, Ligett, McSherry, Roth and Talwar, SODA 2010, Theorem 6.4).
    """

    norm: ClassVar[float] = math.inf
    noise: ClassVar[str] = (
        "Gumbel noise of scale {scale} on every cell's count, of which only the picked ones are released,"
    )
    within: ClassVar[str] = "in one cell"
    together: ClassVar[str] = "picks"

    def scale(self, sensitivity: float) -> float:
        """Return sensitivity / w, the scale at which counts are weighed by exp(w c)."""
        return sensitivity / math.log1p(self.epsilon / (1 - math.log(self.delta)))


@dataclasses.dataclass(frozen=True)
class BestOf(_EpsilonDelta):
    """The best of a random number of candidates, as ONE cost: (epsilon, delta)-DP, whatever the number.

    The number is Poisson with mean `tries`, given that it is at most `most`. Only the candidate with the best noisy
    score is released; `dpviz.privacy.choice` has the theorem. The "scale" is 1 / mu of one candidate, all of whose
    releases together have Gaussian noise, each in its own unit (`Candidates.units`).
    """

    tries: int
    most: int
    noise: ClassVar[str] = (
        "Gaussian noise, {scale} units of each of its releases, on every candidate, of which only the best one is "
        "released,"
    )
    within: ClassVar[str] = "in units of a candidate's releases"
    together: ClassVar[str] = "candidates"

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.integer("BestOf", 1, 100, tries=self.tries)
        validate.integer("BestOf", most_candidates(self.epsilon, self.delta, self.tries), None, most=self.most)

    def scale(self, sensitivity: float) -> float:
        return sensitivity / choice_mu(self.epsilon, self.delta, self.tries)

    def draw(self, noise: Noise, scale: float, shape: tuple[int, ...]) -> np.ndarray:
        return noise.gaussian(scale, shape)


@dataclasses.dataclass(frozen=True)
class Halving(_LaplaceNoise):
    """A whole tree of halved boxes as ONE cost, however deep it grows: epsilon-DP (PrivTree).

    A box of depth i with c rows is halved if max(c - i decay, threshold - decay) + Laplace(scale) > threshold. An added
    row raises c along one path. The row's cost on a box is at most 1/scale, falls as exp(-(c - i decay -
    threshold)/scale), and is 0 if the maximum is threshold - decay. Down the path c falls and i decay rises, so c - i
    decay falls by at least decay = scale ln 2 per step, and the cost grows. So from the last box above its floor UP to
    the root the costs are at most 1, 1, 1/2, 1/4, ... times 1/scale, a geometric series below (2 2 - 1)/(2 - 1) /
    scale: scale = 3 / epsilon (Zhang et al. 2016, Theorem 3.1).
    """

    norm: ClassVar[float] = math.inf
    noise: ClassVar[str] = (
        "Laplace noise of scale {scale} on every box's count, of which only the halvings are released,"
    )
    within: ClassVar[str] = "in one box of each depth"
    SERIES: ClassVar[float] = 3.0  # (2 b - 1) / (b - 1) for b = 2 halves

    @property
    def words(self) -> str:
        return f"{super().words} for the whole tree"

    def scale(self, sensitivity: float) -> float:
        return self.SERIES * sensitivity / self.epsilon


@dataclasses.dataclass(frozen=True)
class Exact(Cost):
    """No noise: allowed only if the declared sensitivity is 0."""

    @property
    def zcdp(self) -> float:
        return 0.0

    def scale(self, sensitivity: float) -> float:
        """Return 0.

        Raises
        ------
        PermissionError
            If the sensitivity is not 0.
        """
        if sensitivity != 0:
            raise PermissionError(f"Exact: a release without noise must have sensitivity 0; got {sensitivity}.")
        return 0.0

    def draw(self, noise: Noise, scale: float, shape: tuple[int, ...]) -> np.ndarray:
        return np.zeros(shape)


@dataclasses.dataclass(frozen=True)
class Report(_Epsilon):
    """One report that a person randomizes before it is sent: epsilon-local-DP, whatever the question.

    The "scale" is the probability that a bit of the report is flipped.
    """

    norm: ClassVar[float] = 1
    noise: ClassVar[str] = "flipping each bit with probability {scale}"

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.in_range("Report", None, 20, epsilon=self.epsilon)

    def scale(self, sensitivity: float) -> float:
        return flip_probability(self.epsilon)


@dataclasses.dataclass(frozen=True)
class Shuffled(Report):
    """One report from each of `users` people, shuffled so that none can be traced, which lowers its cost.

    `epsilon` is the cost of an unshuffled report. A person may report once in the whole run: `Plan` refuses a second
    report.
    """

    users: int
    delta: float

    def __post_init__(self) -> None:
        super().__post_init__()
        validate.integer("Shuffled", 1, None, users=self.users)
        validate.in_range("Shuffled", 0, 1, open_ends=True, delta=self.delta)

    @property
    def words(self) -> str:
        alone = super().words
        if not self.own_delta:
            return alone
        mixed = f"ε = {number(self.pure, 4)} at δ = {chance(self.delta)}"
        return f"{alone} by itself, and {mixed} once the report is mixed with {self.users - 1:,} others"

    @property
    def pure(self) -> float:
        return accounting.shuffled_epsilon(self.epsilon, self.users, self.delta)

    @property
    def own_delta(self) -> float:
        """Return the delta of the bound, or 0 if shuffling gains nothing and the report's own promise holds."""
        return self.delta if self.pure < self.epsilon else 0.0

    @property
    def zcdp(self) -> float | None:
        """Return the report's own rho, or None if the bound is an (epsilon, delta) statement."""
        return None if self.own_delta else super().zcdp


COSTS: dict[str, type[Cost]] = {
    cls.__name__: cls
    for cls in (Gaussian, Laplace, Exponential, Threshold, Cover, BestOf, Halving, Exact, Report, Shuffled)
}


def cost_of(mechanism: str, fields: Mapping[str, float]) -> Cost:
    """Return the cost that a ledger entry names; for a randomizer it is `Report`, or `Shuffled` if `users` is given."""
    cost: type[Cost] = COSTS.get(mechanism) or (Shuffled if "users" in fields else Report)
    return cost(**fields)
