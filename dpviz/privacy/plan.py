"""Costs as data. A plan says which release may happen how often, and what each time costs a row's path."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from dpviz import validate
from dpviz.privacy import accounting
from dpviz.privacy.noise import Noise

__all__ = ["Cost", "Gaussian", "Plan", "Release", "gaussians"]


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


COSTS: dict[str, type[Cost]] = {cls.__name__: cls for cls in (Gaussian,)}


def gaussians(mu: float, weights: Iterable[float]) -> tuple[Gaussian, ...]:
    """Split a total mu over Gaussian releases in proportion to `weights` of mu^2."""
    shares = list(weights)
    total = math.fsum(shares)
    return tuple(Gaussian(mu * math.sqrt(share / total)) for share in shares)


@dataclasses.dataclass(frozen=True)
class Release:
    """One ledger entry, written by the draw itself.

    Attributes
    ----------
    label, part : which statistic; `occurrence` counts how often the path had met the label before
    mechanism, cost : class and parameters of the cost that was paid
    path : tuple of int, scopes from the whole data set (0) down to the one released
    norm, sensitivity, reason : which norm the sensitivity is measured in, its value, where it comes from
    scale : noise scale (standard deviation for Gaussian, b for Laplace)
    neighboring : relation under which the sensitivity holds
    shape : shape of the released array; it may follow earlier released noise
    """

    label: str
    part: str
    occurrence: int
    mechanism: str
    cost: Mapping[str, float]
    path: tuple[int, ...]
    norm: float
    sensitivity: float
    reason: str
    scale: float
    neighboring: str
    shape: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", tuple(self.path))
        object.__setattr__(self, "shape", tuple(self.shape))

    @property
    def name(self) -> str:
        """The plan entry that priced it."""
        return f"{self.label}.{self.part}" if self.part else self.label


@dataclasses.dataclass(frozen=True)
class Plan:
    """label or "label.part" -> costs: the i-th time a row's path meets the label it pays costs[label][i]."""

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
                label: tuple(COSTS[cost["mechanism"]](**{k: v for k, v in cost.items() if k != "mechanism"}) for cost in costs)
                for label, costs in record.items()
            }
        )
