"""Cases for Lloyd's update under a radius."""

import numpy as np

from dpviz.privacy.queries import ClusterMoves, Query
from tests.query_cases.base import AR, REPLACE, Case, points

_one = ClusterMoves(np.array([[0.0, 0.0]]), 0.5)
_two = ClusterMoves(np.array([[-0.5, 0.0], [0.5, 0.0]]), 0.5)
_far = np.array([[0.9, 0.0]])
_left, _right = np.array([[-0.49, 0.0]]), np.array([[0.49, 0.0]])


def _build(rng, d):
    step = 2.0 ** -int(rng.choice([16, 24]))
    return ClusterMoves(np.rint(points(rng, 4, d) / step) * step, float(rng.uniform(0.05, 2.0)), step)


CASES: dict[type[Query], Case] = {
    ClusterMoves: Case(
        build=_build,
        worst={
            AR: [(_one, _far, np.vstack([_far, _right]))],
            REPLACE: [(_one, _left, _right), (_two, _left, _right)],
        },
    ),
}
