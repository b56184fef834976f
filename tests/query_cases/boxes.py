"""Cases for half-interval histograms and sums inside a region."""

import numpy as np

from dpviz.geometry import snap
from dpviz.privacy.queries import HalfIntervalCounts, Query, RegionSum
from tests.query_cases.base import AR, REPLACE, Case

_grid = HalfIntervalCounts.over(np.ones(3), 0.1)
_one, _other = np.full((1, 3), 0.1), np.array([[-0.9, 0.7, -0.2]])
_region = RegionSum(np.array([0.25, 0.0]), np.array([0.5, 0.25]), 9.0)
_corner, _opposite = np.array([[0.75, 0.25]]), np.array([[-0.25, -0.25]])
_ball = RegionSum(np.zeros(2), np.ones(2), 0.5)
_edge, _back = np.array([[0.9, 0.0]]), np.array([[-0.9, 0.0]])


def _build_region(rng, d):
    return RegionSum(
        snap(rng.uniform(-0.5, 0.5, d)), snap(rng.uniform(0.01, 0.6, d)), float(rng.choice([0.1, 0.3, 1.0, 9.0]))
    )


CASES: dict[type[Query], Case] = {
    HalfIntervalCounts: Case(
        build=lambda rng, d: HalfIntervalCounts.over(
            snap(rng.uniform(1, 1.5, d)), float(rng.choice([0.005, 0.1, 1.0]))
        ),
        worst={AR: [(_grid, _one, np.vstack([_one, _one]))], REPLACE: [(_grid, _one, _other)]},
    ),
    RegionSum: Case(
        build=_build_region,
        worst={
            AR: [(_region, _opposite, np.vstack([_opposite, _corner])), (_ball, _edge, np.vstack([_edge, _edge]))],
            REPLACE: [(_region, _opposite, _corner), (_ball, _edge, _back)],
        },
    ),
}
