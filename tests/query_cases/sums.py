"""Cases for sums by nearest point."""

import numpy as np

from dpviz.geometry import random_projection
from dpviz.privacy.queries import NearestSums, Projection, Query
from query_cases.base import AR, REPLACE, Case, points

_two = NearestSums(np.array([[-0.5, 0.0], [0.5, 0.0]]), 1.0)
_one = NearestSums(np.array([[0.0, 0.0]]), 1.0)
_inside = np.array([[-0.25, 0.0]])
_edge, _opposite = np.array([[1.0, 0.0]]), np.array([[-1.0, 0.0]])


def _build(rng, d):
    kind = rng.integers(3)
    if kind == 0:
        return NearestSums(points(rng, 4, d), float(rng.uniform(0.05, 1.0)), relative=True)
    if kind == 1:
        return NearestSums(points(rng, 4, d), float(rng.uniform(0.2, 2.0)))
    return NearestSums(points(rng, 4, 2), float(rng.uniform(0.2, 2.0)), Projection(random_projection(d, 2, rng)))


CASES: dict[type[Query], Case] = {
    NearestSums: Case(
        build=_build,
        worst={
            AR: [(_two, _inside, np.vstack([_inside, _edge]))],
            REPLACE: [(_one, _opposite, _edge), (_two, _opposite, _edge)],
        },
    ),
}
