"""Cases for costs of sets of points."""

import numpy as np

from dpviz.geometry import clip_ball, random_projection
from dpviz.privacy.queries import Projection, Query, SetCosts, SwapCosts
from tests.query_cases.base import AR, REPLACE, Case, points

_edge = np.array([[1.0, 0.0], [0.9997, 0.0], [0.9995, 0.0]])
_far, _near = np.array([[-1.0, 0.0]]), np.array([[1.0, 0.0]])
_swap = SwapCosts(_edge, np.array([0, 1]), 1.0)
_sets = SetCosts(_edge, np.array([[0, 1], [1, 2]]), 1.0)


def _inside(rng, m, d):
    """Return (points in a ball, its radius, a projection or None)."""
    radius = float(rng.uniform(0.3, 2.0))
    if rng.random() < 0.3:
        return clip_ball(points(rng, m, 2), radius), radius, Projection(random_projection(d, 2, rng))
    return clip_ball(points(rng, m, d), radius), radius, None


def _build_swap(rng, d):
    at, radius, projection = _inside(rng, 5, d)
    return SwapCosts(at, rng.choice(5, int(rng.integers(1, 4)), replace=False), radius, projection)


def _build_sets(rng, d):
    at, radius, projection = _inside(rng, 5, d)
    return SetCosts(at, rng.integers(0, 5, (3, 2)), radius, projection)


CASES: dict[type[Query], Case] = {
    SwapCosts: Case(
        build=_build_swap,
        worst={AR: [(_swap, _near, np.vstack([_near, _far]))], REPLACE: [(_swap, _near, _far)]},
    ),
    SetCosts: Case(
        build=_build_sets,
        worst={AR: [(_sets, _near, np.vstack([_near, _far]))], REPLACE: [(_sets, _near, _far)]},
    ),
}
