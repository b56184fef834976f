"""Plans: the number of times that each release may happen, and its cost along a row's path."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from scipy.optimize import brentq

from dpviz.frozen import FrozenDict
from dpviz.privacy import accounting
from dpviz.privacy.costs import COSTS, Cost, Gaussian, Report, Shuffled

__all__ = ["Plan", "fitted", "gaussians", "split"]


def gaussians(mu: float, weights: Iterable[float]) -> tuple[Gaussian, ...]:
    """Split a total mu over Gaussian releases; the squares of their mus are in proportion to `weights`."""
    return tuple(Gaussian(math.sqrt(share)) for share in split(mu**2, weights))


def split(total: float, weights: Iterable[float]) -> tuple[float, ...]:
    """Split a total, such as an epsilon or a mu^2, in proportion to `weights`."""
    shares = list(weights)
    whole = math.fsum(shares)
    return tuple(total * share / whole for share in shares)


@dataclasses.dataclass(frozen=True)
class Plan:
    """A mapping from label or "label.part" to costs, paid in order: a row pays each of them at most once.

    Releases whose scopes share no row may pay the same cost. A release whose scope shares a row with those of earlier
    releases pays a cost that comes later in the list than all costs that they paid. A plan cannot grow; a plan with a
    report priced as mixed may hold no other report.

    `ways` names labels of which a run pays at most one group: earlier answers decide which one, so only the costliest
    counts. They take Gaussian costs only, because the rest of the run, whichever way it goes, is then as private as a
    Gaussian release of the larger mu, which is what adaptive composition asks (Dong, Roth and Su 2022, Theorem 4).
    """

    costs: Mapping[str, tuple[Cost, ...]]
    ways: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "costs", FrozenDict({label: tuple(costs) for label, costs in self.costs.items()}))
        object.__setattr__(self, "ways", tuple(map(tuple, self.ways)))
        labels = [label for way in self.ways for label in way]
        if len(set(labels)) < len(labels) or set(labels) - {name.partition(".")[0] for name in self.costs}:
            raise ValueError(f"Plan: ways must name labels of the plan, each once; got {labels}.")
        if any(type(cost) is not Gaussian for way in range(len(self.ways)) for cost in self._paid(way)):
            raise ValueError("Plan: ways must hold Gaussian costs only.")
        reports = [cost for costs in self.costs.values() for cost in costs if isinstance(cost, Report)]
        if len(reports) > 1 and any(isinstance(cost, Shuffled) for cost in reports):
            raise ValueError(
                f"Plan: a report that is priced as mixed must be the only one in the plan; got {len(reports)} reports. "
                "All reports of a run share one mixed order, which would link two reports of one person."
            )

    def price(self, name: str, occurrence: int) -> Cost:
        """Return the cost of release number `occurrence`, counted from 0, under `name`.

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
                f"Plan: release {name!r} number {occurrence + 1} is not in the plan, which allows {len(costs)}."
            )
        return costs[occurrence]

    def way(self, name: str) -> int | None:
        """Return the number of the way that holds the entry `name`, or None if every run may pay it."""
        label = name.partition(".")[0]
        return next((number for number, labels in enumerate(self.ways) if label in labels), None)

    @property
    def costliest(self) -> tuple[Cost, ...]:
        """Return the costs that a run pays at most: those outside all ways, and those of the costliest way."""
        ways = [self._paid(way) for way in range(len(self.ways))]
        return self._paid(None) + max(ways, key=lambda way: math.fsum(cost.gdp**2 for cost in way), default=())

    @property
    def most_releases(self) -> int:
        """Return the largest number of releases that a run can make."""
        return len(self._paid(None)) + max((len(self._paid(way)) for way in range(len(self.ways))), default=0)

    def total(self, delta: float) -> accounting.Total:
        """Return the largest total that a row's path can cost; it holds for any adaptive order of the releases."""
        every = self.costliest
        zcdps = [cost.zcdp for cost in every]
        return accounting.total(
            pure=math.fsum(cost.pure for cost in every),
            mu=math.sqrt(math.fsum(cost.gdp**2 for cost in every)),
            own_delta=math.fsum(cost.own_delta for cost in every),
            zcdp=None if None in zcdps else math.fsum(z for z in zcdps if z is not None),
            delta=delta,
        )

    def _paid(self, way: int | None) -> tuple[Cost, ...]:
        return tuple(cost for name, costs in self.costs.items() if self.way(name) == way for cost in costs)

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready mapping; costs in one of several ways also have the way's number."""
        return {
            label: [
                {"mechanism": type(cost).__name__, **dataclasses.asdict(cost)}
                | ({} if (way := self.way(label)) is None else {"way": way})
                for cost in costs
            ]
            for label, costs in self.costs.items()
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Plan:
        """Rebuild a plan from the mapping that `to_dict` returned."""
        ways: dict[int, dict[str, None]] = {}
        for name, costs in record.items():
            for cost in costs:
                if "way" in cost:
                    ways.setdefault(cost["way"], {})[name.partition(".")[0]] = None
        apart = ("mechanism", "way")
        return cls(
            {
                label: tuple(
                    COSTS[cost["mechanism"]](**{k: v for k, v in cost.items() if k not in apart}) for cost in costs
                )
                for label, costs in record.items()
            },
            tuple(tuple(ways[way]) for way in sorted(ways)),
        )


def fitted(plan_of: Callable[[float], Plan], epsilon: float, delta: float) -> Plan:
    """Return `plan_of(scale)` with the largest scale >= 1 whose total stays within epsilon at delta.

    `plan_of(1)` spends epsilon under basic composition. If every cost is also a zCDP cost, many small releases compose
    to a smaller total, and a larger scale then avoids needless noise.
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
