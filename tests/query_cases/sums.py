"""Cases for sums by nearest point."""

import numpy as np

from dpviz.geometry import random_projection, snap
from dpviz.privacy.queries import (
    ClippedCost,
    NearestDistances,
    NearestScatter,
    NearestSums,
    Projection,
    Query,
    ShapedSums,
)
from tests.query_cases.base import AR, REPLACE, Case, points

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
    inner = bool(rng.random() < 0.5)
    projection = Projection(random_projection(d, 2, rng), snap(rng.uniform(-1, 1, d)) if rng.random() < 0.5 else None)
    return NearestSums(points(rng, 4, 2), float(rng.uniform(0.2, 2.0)), projection, inner=inner)


_scatter = NearestScatter(np.array([[-2.0, 0.0], [2.0, 0.0]]), 1.0)
_left, _right = np.array([[-1.0, 0.0]]), np.array([[1.0, 0.0]])
_wide = NearestScatter(np.array([[-1.0, 0.0], [3.0, 0.0]]), 2.0)  # a radius above 1, whose square is larger


def _build_scatter(rng, d):
    if rng.random() < 0.5:
        return NearestScatter(points(rng, 4, d), float(rng.uniform(0.05, 3.0)))
    return NearestScatter(points(rng, 4, 2), float(rng.uniform(0.05, 3.0)), Projection(random_projection(d, 2, rng)))


_cost = ClippedCost(_scatter.points, 1.0)
_far = ClippedCost(np.array([[-1.0, 0.0]]), 2.0)  # a radius above 1, whose square is larger; one row at a distance of 0
_stretch = np.array([[2.0, 0.0], [0.0, 0.5]])
_shaped = ShapedSums(_scatter.points, _scatter.points, 1.0, _stretch)
_alone = ShapedSums(np.zeros((1, 2)), np.zeros((1, 2)), 1.0, _stretch)
_distances = NearestDistances(np.array([[0.0, 0.0]]), 1.0, 8)
_near = np.array([[0.1, 0.0]])


def _matrix(rng, d):
    """Return a public matrix that stretches some directions and squeezes others."""
    directions = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return directions * rng.uniform(0.2, 5.0, d)


def _build_shaped(rng, d):
    centers = points(rng, 4, d)
    anchors = centers if rng.random() < 0.5 else snap(0.5 * centers)
    return ShapedSums(centers, anchors, float(rng.uniform(0.05, 2.0)), _matrix(rng, d))


def _build_distances(rng, d):
    matrix = None if rng.random() < 0.5 else _matrix(rng, d)
    return NearestDistances(points(rng, 4, d), float(rng.uniform(0.2, 2.0)), 12, matrix)


CASES: dict[type[Query], Case] = {
    NearestDistances: Case(
        build=_build_distances,
        worst={AR: [(_distances, _near, np.vstack([_near, _edge]))], REPLACE: [(_distances, _near, _edge)]},
    ),
    ShapedSums: Case(
        build=_build_shaped,
        worst={
            AR: [(_shaped, _left, np.vstack([_left, _right]))],
            REPLACE: [(_alone, _opposite, _edge), (_shaped, _left, _right)],
        },
    ),
    ClippedCost: Case(
        build=lambda rng, d: ClippedCost(points(rng, 4, d), float(rng.uniform(0.05, 3.0))),
        worst={
            AR: [(_cost, _left, np.vstack([_left, _right])), (_far, _left, np.vstack([_left, _right]))],
            REPLACE: [(_far, _left, _right)],
        },
    ),
    NearestScatter: Case(
        build=_build_scatter,
        worst={
            AR: [(_scatter, _left, np.vstack([_left, _right])), (_wide, _left, np.vstack([_left, _right]))],
            REPLACE: [(_scatter, _left, _right)],
        },
    ),
    NearestSums: Case(
        build=_build,
        worst={
            AR: [(_two, _inside, np.vstack([_inside, _edge]))],
            REPLACE: [(_one, _opposite, _edge), (_two, _opposite, _edge)],
        },
    ),
}
