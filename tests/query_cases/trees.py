"""Cases for repeatedly halved boxes."""

import numpy as np

from dpviz.privacy.queries import BoxCounts, Query
from tests.query_cases.base import AR, MOVE, REPLACE, Case

_halves = BoxCounts(np.ones(2), (2, 3))
_left, _right = np.array([[-0.1, 0.0]]), np.array([[0.1, 0.0]])


def _build(rng, d):
    nodes = [1]
    for _ in range(int(rng.integers(0, 9))):
        cut = nodes.pop(int(rng.integers(len(nodes))))
        nodes += [2 * cut, 2 * cut + 1]
    return BoxCounts(rng.uniform(0.2, 1, d), tuple(node for node in nodes if rng.random() < 0.8) or (1,))


CASES: dict[type[Query], Case] = {
    BoxCounts: Case(
        build=_build,
        worst={
            AR: [(_halves, _left, np.vstack([_left, _right]))],
            REPLACE: [(_halves, _left, _right)],
            MOVE: [(_halves, _left, _right)],
        },
    ),
}
