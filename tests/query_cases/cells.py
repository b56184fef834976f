"""Cases for cells of a shifted grid."""

import numpy as np

from dpviz.geometry import random_projection, snap_toward_zero
from dpviz.privacy.queries import CellSums, ListedCells, Projection, Query
from tests.query_cases.base import AR, MOVE, REPLACE, Case

_corners = CellSums(np.array([[0, 0]]), 0.5, np.zeros(2), 0.5 * 2**0.5 / 2, relative=True)
_low, _high = np.array([[0.0, 0.0]]), np.array([[0.5, 0.5]]) - 2.0**-20


def _build(rng, d):
    width = 2.0 ** -int(rng.integers(0, 3))
    if d > 3:
        projection, p = Projection(random_projection(d, 3, rng)), 3
    else:
        projection, p = None, d
    keys = np.unique(rng.integers(-2, 2, (6, p)), axis=0)
    offset = snap_toward_zero(rng.uniform(0, width, p))
    radius = float(rng.uniform(0.1, 1.0))
    return CellSums(keys, width, offset, radius, projection, relative=projection is None and rng.random() < 0.5)


def _build_tally(rng, d):
    sums = _build(rng, d)
    return ListedCells(sums.keys, sums.width, sums.offset, sums.projection)


_tally = ListedCells(np.array([[0, 0], [1, 0]]), 0.5, np.zeros(2))
_first, _second = np.array([[0.4, 0.2]]), np.array([[0.6, 0.2]])

CASES: dict[type[Query], Case] = {
    CellSums: Case(
        build=_build,
        worst={AR: [(_corners, _high, np.vstack([_high, _low]))], REPLACE: [(_corners, _low, _high)]},
    ),
    ListedCells: Case(
        build=_build_tally,
        worst={
            AR: [(_tally, _first, np.vstack([_first, _second]))],
            REPLACE: [(_tally, _first, _second)],
            MOVE: [(_tally, _first, _second)],
        },
    ),
}
