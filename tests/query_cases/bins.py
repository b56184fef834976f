"""Cases for the counts that explain clusters."""

import numpy as np

from dpviz.privacy.queries import ClusterBins, Query
from tests.query_cases.base import AR, MOVE, REPLACE, Case, points

_query = ClusterBins(np.array([[-0.5, 0.0], [0.5, 0.0]]), np.zeros((2, 1)))
_left, _right = np.array([[-0.1, -0.1]]), np.array([[0.1, 0.1]])

CASES: dict[type[Query], Case] = {
    ClusterBins: Case(
        build=lambda rng, d: ClusterBins(points(rng, 3, d), np.sort(rng.uniform(-1, 1, (d, 4)), axis=1)),
        worst={
            AR: [(_query, _left, np.vstack([_left, _right]))],
            REPLACE: [(_query, _left, _right)],
            MOVE: [(_query, np.array([[-0.0625, -0.0625]]), np.array([[0.0625, 0.0625]]))],
        },
    ),
}
