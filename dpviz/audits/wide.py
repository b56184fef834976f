"""Make a second instance of every algorithm, and neighbors, to audit queries that the first instance never asks."""

from __future__ import annotations

from typing import Any

from dpviz import params
from dpviz.algorithms import Algorithm
from dpviz.audits.audit import Pair, pairs, sufficient
from dpviz.privacy.guarantee import Neighboring

__all__ = ["second_instance", "wide_pairs"]

_CENTERS, _FEATURES, _RHO = 5, 6, 1.5
_PARAMETERS: dict[str, Any] = {  # values other than the defaults, for the algorithms that have these parameters
    "n_clusters": _CENTERS, "epsilon": 4.0, "rho_distance": _RHO, "projected_features": 3, "rounds": 2, "swaps": 3,
    "shifts": 2, "fraction_bits": 16, "oracle": "hadamard", "ball": "literal", "init": "random", "dead_cluster": "keep",
    "exactly_k": True, "max_depth": 4, "directions": 2, "refine": 0.5,
}  # fmt: skip


def second_instance(cls: type[Algorithm], *, runs: int | None = None, confidence: float = 0.95) -> Algorithm:
    """Return an algorithm for six columns whose parameters turn on optional queries, such as projections or swaps.

    The algorithm has five centers and the values of `_PARAMETERS`, which the class's `AUDIT` overrides. Epsilon is
    large, so that every stage runs; with `runs`, it is the largest of 4, 2, 1, .5 and .25 at which so many runs can
    refute the claim. A promise about moves gets rho = 1.5, at which a substitute with ordinary DP may run
    (`Algorithm.runs`).
    """

    def built(epsilon: float) -> Algorithm:
        values = {**_PARAMETERS, "epsilon": epsilon, **cls.AUDIT}
        return cls(**{name: value for name, value in values.items() if name in params.specs(cls)})

    if runs is None:
        return built(_PARAMETERS["epsilon"])
    return sufficient(map(built, (4.0, 2.0, 1.0, 0.5, 0.25)), _FEATURES, 3000, runs, confidence)


def wide_pairs(relation: Neighboring) -> tuple[tuple[Pair, int | None], ...]:
    """Return pairs of (adversarial neighbors in six columns, declared n).

    The declared n is 3,000 if it need not be true. If the relation keeps n, each data set has at least five rows, one
    per center, and the declared n is None, which stands for the true number.
    """
    if relation is Neighboring.ADD_REMOVE:
        return tuple((pair, 3000) for pair in pairs(relation, n_features=_FEATURES))
    every = pairs(relation, n=40, n_features=_FEATURES, rho_distance=_RHO)
    return tuple((pair, None) for pair in every if len(pair.first) >= _CENTERS)
