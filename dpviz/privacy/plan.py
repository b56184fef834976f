"""Costs as data. A plan says which release may happen how often, and what each time costs a row's path."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from dpviz import validate
from dpviz.privacy import accounting
from dpviz.privacy.local import flip_chance
from dpviz.privacy.noise import Noise

__all__ = [
    "Cost",
    "Exact",
    "Exponential",
    "Gaussian",
    "Halving",
    "Laplace",
    "Plan",
    "Report",
    "Shuffled",
    "Threshold",
    "fitted",
    "gaussians",
    "split",
]


@dataclasses.dataclass(frozen=True)
class Cost:
    """The price of one release. Subclasses are data; the curator turns them into noise.

    Every cost answers four questions, with 0 or None where the answer does not exist:
    `pure` (epsilon of pure DP), `mu` (Gaussian DP), `own_delta` (delta paid here), `zcdp`.
    """

    norm: ClassVar[float] = 2

    @property
    def pure(self) -> float:
        """Pure-DP epsilon, 0 if the cost is accounted otherwise."""
        return 0.0

    @property
    def gdp(self) -> float:
        """Gaussian-DP mu, 0 if the cost is accounted otherwise."""
        return 0.0

    @property
    def own_delta(self) -> float:
        """Delta that this release pays by itself."""
        return 0.0

    @property
    def zcdp(self) -> float | None:
        """The rho of zero-concentrated DP, None if there is none."""
        return None

    def scale(self, sensitivity: float) -> float:
        """Noise scale that makes a release of this sensitivity cost exactly this much."""
        raise NotImplementedError

    def sd(self, scale: float) -> float:
        """Standard deviation of noise of that scale."""
        return scale

    def draw(self, noise: Noise, scale: float, shape: tuple[int, ...]) -> np.ndarray:
        """Draw the noise for one release."""
        raise NotImplementedError


@dataclasses.dataclass(frozen=True)
class Gaussian(Cost):
    """Gaussian noise with standard deviation l2_sensitivity / mu: mu-GDP."""

    mu: float
    norm: ClassVar[float] = 2

    def __post_init__(self) -> None:
        validate.positive("Gaussian", mu=self.mu)

    @property
    def gdp(self) -> float:  # noqa: D102
        return self.mu

    @property
    def zcdp(self) -> float:  # noqa: D102
        return self.mu**2 / 2

    def scale(self, sensitivity: float) -> float:  # noqa: D102
        return sensitivity / self.mu

    def draw(self, noise: Noise, scale: float, shape: tuple[int, ...]) -> np.ndarray:  # noqa: D102
        return noise.gaussian(scale, shape)


@dataclasses.dataclass(frozen=True)
class Laplace(Cost):
    """Laplace noise with scale l1_sensitivity / epsilon: epsilon-DP."""

    epsilon: float
    norm: ClassVar[float] = 1

    def __post_init__(self) -> None:
        validate.positive("Laplace", epsilon=self.epsilon)

    @property
    def pure(self) -> float:  # noqa: D102
        return self.epsilon

    @property
    def zcdp(self) -> float:  # noqa: D102
        return self.epsilon**2 / 2

    def scale(self, sensitivity: float) -> float:  # noqa: D102
        return sensitivity / self.epsilon

    def sd(self, scale: float) -> float:  # noqa: D102
        return math.sqrt(2) * scale

    def draw(self, noise: Noise, scale: float, shape: tuple[int, ...]) -> np.ndarray:  # noqa: D102
        return noise.laplace(scale, shape)


@dataclasses.dataclass(frozen=True)
class Exponential(Cost):
    """Exponential mechanism by Gumbel-max with scale range / epsilon: epsilon-DP and epsilon-bounded-range.

    The "sensitivity" of such a release is the range of its `Score` (infinity norm).
    """

    epsilon: float
    norm: ClassVar[float] = math.inf

    def __post_init__(self) -> None:
        validate.positive("Exponential", epsilon=self.epsilon)

    @property
    def pure(self) -> float:  # noqa: D102
        return self.epsilon

    @property
    def zcdp(self) -> float:
        """epsilon^2 / 8, by bounded range (Dong, Durfee and Rogers 2020)."""
        return self.epsilon**2 / 8

    def scale(self, sensitivity: float) -> float:  # noqa: D102
        return sensitivity / self.epsilon


@dataclasses.dataclass(frozen=True)
class Threshold(Cost):
    """Gaussian noise on the counts of an unbounded key set, released above a threshold: mu-GDP plus `delta`."""

    mu: float
    delta: float
    norm: ClassVar[float] = 2

    def __post_init__(self) -> None:
        validate.positive("Threshold", mu=self.mu)
        validate.in_range("Threshold", 0, 1, open_ends=True, delta=self.delta)

    @property
    def gdp(self) -> float:  # noqa: D102
        return self.mu

    @property
    def own_delta(self) -> float:  # noqa: D102
        return self.delta

    @property
    def zcdp(self) -> float:
        """Without the chance `delta` that a lone key passes, it is a Gaussian mechanism."""
        return self.mu**2 / 2

    def scale(self, sensitivity: float) -> float:  # noqa: D102
        return sensitivity / self.mu

    def draw(self, noise: Noise, scale: float, shape: tuple[int, ...]) -> np.ndarray:  # noqa: D102
        return noise.gaussian(scale, shape)

    def threshold(self, scale: float, l0: int) -> float:
        """Return tau: a key that one neighbor has and the other has not passes with probability <= delta in all.

        1.5 + scale Phi^-1((1 - delta)^(1/l0)); the half is for counts rounded to whole numbers.
        """
        return 1.5 + scale * float(-ndtri(-math.expm1(math.log1p(-self.delta) / l0)))


@dataclasses.dataclass(frozen=True)
class Cover(Cost):
    """A whole sequence of picks by coverage, as ONE cost: (epsilon, delta)-DP for any number of picks and grids.

    Each pick weighs a cell by exp(e c) with c the rows in it that no earlier pick covered. An added row multiplies a
    pick's normalizer by 1 + (e^e - 1) p, with p the chance that this pick covers it, and it matters until it is
    covered only; except with probability delta those p add up to at most 1 + ln(1/delta). So e is the solution of
    (e^e - 1)(1 + ln(1/delta)) = epsilon; the published e = epsilon / (2 ln(e/delta)) bounds e^e - 1 by 2 e and is
    about half of it (Gupta, Ligett, McSherry, Roth and Talwar, SODA 2010, Theorem 6.4).
    """

    epsilon: float
    delta: float
    norm: ClassVar[float] = math.inf

    def __post_init__(self) -> None:
        validate.positive("Cover", epsilon=self.epsilon)
        validate.in_range("Cover", 0, 1, open_ends=True, delta=self.delta)

    @property
    def pure(self) -> float:  # noqa: D102
        return self.epsilon

    @property
    def own_delta(self) -> float:  # noqa: D102
        return self.delta

    def scale(self, sensitivity: float) -> float:
        """Return 1 / e for counts of this sensitivity."""
        return sensitivity / math.log1p(self.epsilon / (1 - math.log(self.delta)))


@dataclasses.dataclass(frozen=True)
class Halving(Cost):
    """A whole tree of halved boxes as ONE cost, however deep it grows: epsilon-DP (PrivTree).

    A box of depth i with c rows is halved if max(c - i decay, threshold - decay) + Laplace(scale) > threshold. An added
    row raises c along one path. Its cost on a box is at most 1/scale, falls as exp(-(c - i decay - threshold)/scale),
    and is 0 where the maximum holds; c falls along the path and i decay rises, so with decay = scale ln 2 the costs
    are a geometric series below (2 2 - 1)/(2 - 1) / scale: scale = 3 / epsilon (Zhang et al. 2016, Theorem 3.1).
    """

    epsilon: float
    norm: ClassVar[float] = math.inf
    SERIES: ClassVar[float] = 3.0  # (2 b - 1) / (b - 1) for b = 2 halves

    def __post_init__(self) -> None:
        validate.positive("Halving", epsilon=self.epsilon)

    @property
    def pure(self) -> float:  # noqa: D102
        return self.epsilon

    @property
    def zcdp(self) -> float:  # noqa: D102
        return self.epsilon**2 / 2

    def scale(self, sensitivity: float) -> float:  # noqa: D102
        return self.SERIES * sensitivity / self.epsilon

    def draw(self, noise: Noise, scale: float, shape: tuple[int, ...]) -> np.ndarray:  # noqa: D102
        return noise.laplace(scale, shape)


@dataclasses.dataclass(frozen=True)
class Exact(Cost):
    """No noise: allowed only where the declared sensitivity is 0."""

    norm: ClassVar[float] = 2

    @property
    def zcdp(self) -> float:  # noqa: D102
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

    def draw(self, noise: Noise, scale: float, shape: tuple[int, ...]) -> np.ndarray:  # noqa: D102
        return np.zeros(shape)


@dataclasses.dataclass(frozen=True)
class Report(Cost):
    """One report that a user randomizes by herself: epsilon-local-DP, whatever she is asked.

    The "scale" is the chance that a bit of the report tells the opposite.
    """

    epsilon: float
    norm: ClassVar[float] = 1

    def __post_init__(self) -> None:
        validate.positive("Report", epsilon=self.epsilon)
        validate.in_range("Report", None, 20, epsilon=self.epsilon)

    @property
    def pure(self) -> float:  # noqa: D102
        return self.epsilon

    @property
    def zcdp(self) -> float | None:  # noqa: D102
        return self.epsilon**2 / 2

    def scale(self, sensitivity: float) -> float:  # noqa: D102
        return flip_chance(self.epsilon)


@dataclasses.dataclass(frozen=True)
class Shuffled(Report):
    """One report of each of `users` people, mixed so that nobody can tell whose is whose: less than it costs alone.

    `epsilon` is what a report costs by itself. Every user may report once in the whole run.
    """

    users: int
    delta: float

    @property
    def pure(self) -> float:  # noqa: D102
        return accounting.shuffled_epsilon(self.epsilon, self.users, self.delta)

    @property
    def own_delta(self) -> float:
        """The delta of the bound; none where mixing buys nothing and the report's own promise holds."""
        return self.delta if self.pure < self.epsilon else 0.0

    @property
    def zcdp(self) -> float | None:
        """None where the bound is an (epsilon, delta) statement."""
        return None if self.own_delta else self.epsilon**2 / 2


COSTS: dict[str, type[Cost]] = {
    cls.__name__: cls for cls in (Gaussian, Laplace, Exponential, Threshold, Cover, Halving, Exact, Report, Shuffled)
}


def gaussians(mu: float, weights: Iterable[float]) -> tuple[Gaussian, ...]:
    """Split a total mu over Gaussian releases in proportion to `weights` of mu^2."""
    return tuple(Gaussian(math.sqrt(share)) for share in split(mu**2, weights))


def split(total: float, weights: Iterable[float]) -> tuple[float, ...]:
    """Split a total (an epsilon, a mu^2) in proportion to `weights`."""
    shares = list(weights)
    whole = math.fsum(shares)
    return tuple(total * share / whole for share in shares)


@dataclasses.dataclass(frozen=True)
class Plan:
    """label or "label.part" -> costs, paid from the first to the last: a row pays each of them at most once.

    Releases of scopes that share no row may pay the same one; a release pays a later one than everything before it
    that any of its rows was in.
    """

    costs: Mapping[str, tuple[Cost, ...]]

    def __post_init__(self) -> None:
        object.__setattr__(self, "costs", {label: tuple(costs) for label, costs in self.costs.items()})

    def price(self, name: str, occurrence: int) -> Cost:
        """Return what the next release under `name` costs.

        Raises
        ------
        PermissionError
            If the plan holds no such release; nothing has been drawn then.
        """
        if name not in self.costs:
            raise PermissionError(f"Plan: release {name!r} is not in the plan, which holds {sorted(self.costs)}.")
        costs = self.costs[name]
        if occurrence >= len(costs):
            raise PermissionError(
                f"Plan: release {name!r} number {occurrence + 1} is not in the plan, which has {len(costs)}."
            )
        return costs[occurrence]

    def total(self, delta: float) -> accounting.Total:
        """Everything a row's path can pay, sound for any adaptive order of the releases."""
        every = [cost for costs in self.costs.values() for cost in costs]
        zcdps = [cost.zcdp for cost in every]
        return accounting.total(
            pure=math.fsum(cost.pure for cost in every),
            mu=math.sqrt(math.fsum(cost.gdp**2 for cost in every)),
            own_delta=math.fsum(cost.own_delta for cost in every),
            zcdp=None if None in zcdps else math.fsum(z for z in zcdps if z is not None),
            delta=delta,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready mapping."""
        return {
            label: [{"mechanism": type(cost).__name__, **dataclasses.asdict(cost)} for cost in costs]
            for label, costs in self.costs.items()
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Plan:
        """Rebuild what `to_dict` wrote."""
        return cls(
            {
                label: tuple(
                    COSTS[cost["mechanism"]](**{k: v for k, v in cost.items() if k != "mechanism"}) for cost in costs
                )
                for label, costs in record.items()
            }
        )


def fitted(plan_of: Callable[[float], Plan], epsilon: float, delta: float) -> Plan:
    """Return `plan_of(scale)` with the largest scale >= 1 whose total stays within epsilon at delta.

    `plan_of(1)` spends epsilon under basic composition. Where every cost is also a zCDP cost, many small releases
    compose to less, and what is left over is noise that nobody needs.
    """

    def over(scale: float) -> float:
        return plan_of(scale).total(delta).epsilon - epsilon

    if over(1.0) >= -1e-9 * epsilon:
        return plan_of(1.0)
    high = 2.0
    while over(high) < 0:
        high *= 2
    scale = brentq(over, 1.0, high, xtol=1e-9)
    while over(scale) > 0:
        scale *= 1 - 1e-9
    return plan_of(scale)
