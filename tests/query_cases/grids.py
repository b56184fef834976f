"""Cases for a grid over the whole box."""

import numpy as np

from dpviz.privacy.queries import GridCounts, Query
from tests.query_cases.base import AR, MOVE, REPLACE, Case

_halves = GridCounts(np.ones(2), (2, 1))
_left, _right = np.array([[-0.1, 0.0]]), np.array([[0.1, 0.0]])

CASES: dict[type[Query], Case] = {
    GridCounts: Case(
        build=lambda rng, d: GridCounts(rng.uniform(0.2, 1, d), tuple(rng.integers(1, 4, d).tolist())),
        worst={
            AR: [(_halves, _left, np.vstack([_left, _right]))],
            REPLACE: [(_halves, _left, _right)],
            MOVE: [(_halves, _left, _right)],
        },
    ),
}
