"""Cases for soft groups."""

import numpy as np

from dpviz.privacy.queries import MixtureMoments, Query
from tests.query_cases.base import AR, REPLACE, Case, points

_two = MixtureMoments(np.array([[-1.0, 0.0], [1.0, 0.0]]), np.tile(9 * np.eye(2), (2, 1, 1)), np.zeros(2), 1.0)
_rest = np.array([[0.9, 0.0]])
_edge, _other = np.array([[0.0, 0.0]]), np.array([[1.0, 1.0]])
_one = MixtureMoments(np.array([[0.0, 0.0]]), np.eye(2)[None], np.zeros(1), 1.0)
_left, _right, _up = np.array([[-1.0, 0.0]]), np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])


def _build(rng, d):
    k, diagonal = int(rng.integers(1, 5)), bool(rng.random() < 0.5)
    whiten = np.tril(rng.normal(size=(k, d, d))) * float(rng.uniform(0.3, 3))
    if diagonal:
        whiten = whiten * np.eye(d)
    radius = float(rng.uniform(0.1, 2.5))
    return MixtureMoments(points(rng, k, d), whiten, rng.normal(size=k), radius, diagonal)


CASES: dict[type[Query], Case] = {
    MixtureMoments: Case(
        build=_build,
        worst={
            AR: [(_one, _up, np.vstack([_up, _right]))],
            REPLACE: [(_one, _left, _right), (_one, _right, _up), (_two, _left, _other)],
        },
    ),
}
