"""Cases for sums by a companion: the left half of the columns holds the rows, and the right half their companion."""

import math

import numpy as np

from dpviz.geometry import GRID, snap
from dpviz.privacy.queries import CompanionSums, NearRegionSums, Query
from tests.query_cases.base import AR, MOVE, REPLACE, Case, points

RHO = 0.25
_two = np.array([[-0.5, 0.0], [0.5, 0.0]])
_beside = [-0.5, 0.0]


def _rows(*rows):
    """Append the companion, which lies in the first region, to every row."""
    return np.array([[*row, *_beside] for row in rows])


_sums = CompanionSums("noisy", _two, RHO)
_near = NearRegionSums("noisy", _two, 0.5, 0.5, RHO)
_one = NearRegionSums("noisy", np.array([[0.0, 0.0]]), 2.0, 0.5, RHO)
_step = RHO / math.sqrt(2)
_start = 0.5 - snap(_step / 2) + GRID / 2  # Snapping down before and up after the move makes it longer than rho.
_inner = NearRegionSums("noisy", np.array([[0.5, 0.5]]), 2.0, 0.15, RHO)  # sqrt(2) radius < rho < 2 radius.


def _build_near(rng, d):
    reach, radius = rng.uniform(0.3, 2.0), rng.uniform(0.02, 2.0)
    return NearRegionSums("noisy", points(rng, 4, d), float(reach), float(radius), RHO)


CASES: dict[type[Query], Case] = {
    CompanionSums: Case(
        build=lambda rng, d: CompanionSums("noisy", points(rng, 4, d), RHO),
        worst={
            AR: [(_sums, _rows([0, 0]), _rows([0, 0], [1, 1]))],
            REPLACE: [(_sums, _rows([-1, -1]), _rows([1, 1]))],
            MOVE: [(_sums, _rows([0.3, 0.3]), _rows([0.3 + RHO / math.sqrt(2), 0.3 + RHO / math.sqrt(2)]))],
        },
        rho=RHO,
    ),
    NearRegionSums: Case(
        build=_build_near,
        worst={
            AR: [(_near, _rows([-0.5, 0]), _rows([-0.5, 0], [-0.5, 0.9]))],
            REPLACE: [(_one, _rows([-1, 0]), _rows([1, 0])), (_near, _rows([-0.5, 0]), _rows([0.5, 0]))],
            MOVE: [
                (_near, _rows([-0.01, 0.9]), _rows([0.01, 0.9])),
                (_inner, _rows([_start, _start]), _rows([_start + _step, _start + _step])),
            ],
        },
        rho=RHO,
    ),
}
