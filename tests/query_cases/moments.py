"""Cases for norms and second moments."""

import numpy as np

from dpviz.geometry import random_projection, snap
from dpviz.privacy.queries import NormHistogram, Projection, Query, SecondMoment
from tests.query_cases.base import AR, MOVE, REPLACE, Case

_far, _near = np.array([[1.0, 0.0]]), np.array([[0.01, 0.0]])
_up = np.array([[0.0, 1.0]])
_norms = NormHistogram(1.0, 8)
_moment = SecondMoment(1.0, 2)


def _build(rng, d):
    radius = float(rng.uniform(0.3, 2.0))
    if rng.random() < 0.5:
        return SecondMoment(radius, d, middle=_middle(rng, d))
    return SecondMoment(radius, 2, Projection(random_projection(d, 2, rng), _middle(rng, d)))


def _middle(rng, d):
    return snap(rng.uniform(-1, 1, d)) if rng.random() < 0.5 else None


CASES: dict[type[Query], Case] = {
    NormHistogram: Case(
        build=lambda rng, d: NormHistogram(float(rng.uniform(0.3, 2.0)), int(rng.integers(1, 20)), _middle(rng, d)),
        worst={
            AR: [(_norms, _far, np.vstack([_far, _near]))],
            REPLACE: [(_norms, _far, _near)],
            MOVE: [(_norms, 0.7 * _far, 0.72 * _far)],
        },
    ),
    SecondMoment: Case(
        build=_build,
        worst={AR: [(_moment, _near, np.vstack([_near, _far]))], REPLACE: [(_moment, _far, _up)]},
    ),
}
