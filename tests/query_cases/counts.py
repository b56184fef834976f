"""Cases for counts and votes."""

import numpy as np

from dpviz.geometry import Population
from dpviz.privacy.queries import Count, MarkedRows, NearestVotes, Query
from tests.query_cases.base import AR, MOVE, REPLACE, Case, points

_two = NearestVotes(Population(np.array([[-0.5, 0.0], [0.5, 0.0]])))
_left, _right = np.array([[-0.5, 0.0]]), np.array([[0.5, 0.0]])
_near_left, _near_right = np.array([[-0.0625, 0.0]]), np.array([[0.0625, 0.0]])

CASES: dict[type[Query], Case] = {
    Count: Case(
        build=lambda rng, d: Count(),
        worst={AR: [(Count(), _left, np.vstack([_left, _right]))]},
    ),
    MarkedRows: Case(
        build=lambda rng, d: MarkedRows(),
        worst={
            AR: [(MarkedRows(), _left, np.vstack([_left, _right]))],
            REPLACE: [(MarkedRows(), _left, _right)],
            MOVE: [(MarkedRows(), _near_left, _near_right)],
        },
    ),
    NearestVotes: Case(
        build=lambda rng, d: NearestVotes(Population(points(rng, 5, d))),
        worst={
            AR: [(_two, _left, np.vstack([_left, _right]))],
            REPLACE: [(_two, _left, _right)],
            MOVE: [(_two, _near_left, _near_right)],
        },
    ),
}
