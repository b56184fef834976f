"""Spread points over a ball or a cube, at a distance from each other and from its surface."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from dpviz.geometry.kernels import clip_ball, snap

__all__ = ["pack_cube", "sphere_pack", "uniform_ball"]

_PACKED = 2_000  # maximum number of points that a packing separates; further points are uniform in the same ball
_TRIES = 100  # number of consecutive refused proposals after which a packing is given up, as in published code


def uniform_ball(n: int, d: int, radius: float, rng: np.random.Generator) -> np.ndarray:
    """Draw n points uniformly from an l2 ball, shape (n, d)."""
    direction = rng.normal(size=(n, d))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return direction * (radius * rng.random((n, 1)) ** (1 / d))


def sphere_pack(n: int, d: int, radius: float, rng: np.random.Generator) -> np.ndarray:
    """Spread n points over an l2 ball, at least a from its surface and 2a from each other (after Su et al.).

    The distance a starts at radius/2 and is halved after 100 failures in a row. For d >= 16, where the separation would
    reject nothing in practice, all points are uniform in the ball of 0.75 times the radius; for smaller d, points after
    the first 2000 are uniform, too.

    Returns
    -------
    ndarray of shape (n, d), on the grid
    """
    if d >= 16:
        return clip_ball(snap(uniform_ball(n, d, 0.75 * radius, rng)), radius)
    packed, a = _pack(min(n, _PACKED), d, radius / 2, lambda a, size: uniform_ball(size, d, radius - a, rng))
    rest = uniform_ball(n - len(packed), d, radius - a, rng)
    return clip_ball(snap(np.concatenate([packed, rest])), radius)


def _pack(n: int, d: int, a: float, propose, *, halve: bool = True):  # type: ignore[no-untyped-def]
    """Accept proposals that keep a distance of 2a; return (points (n, d) or None if there is no room, the last a)."""
    points, count, failures = np.empty((n, d)), 0, 0
    while count < n:
        batch = propose(a, 256)
        near = (
            cKDTree(points[:count]).query(batch, distance_upper_bound=2 * a)[0]
            if count
            else np.full(len(batch), np.inf)
        )
        free = np.flatnonzero(near >= 2 * a)
        close = cdist(batch[free], batch[free], "sqeuclidean") < 4 * a * a
        refused = np.zeros(len(free) + 1, dtype=bool)  # the last entry is never refused and ends the batch
        accepted: list[int] = []
        places, last = free.tolist(), -1  # the last accepted proposal of this batch
        while (i := int(refused.argmin())) < len(places) and failures + places[i] - last - 1 < _TRIES:
            last, failures = places[i], 0
            accepted.append(last)
            refused[:-1] |= close[i]
            if count + len(accepted) == n:
                break
        points[count : count + len(accepted)] = batch[accepted]
        count += len(accepted)
        if count == n:
            return points, a
        failures += len(batch) - last - 1
        if failures >= _TRIES:
            if not halve:
                return None, a
            a, failures = a / 2, 0
    return points, a


def pack_cube(n: int, d: int, half_width: float, rng: np.random.Generator, *, halving: bool = False) -> np.ndarray:
    """Spread n points over the cube [-B, B]^d: at least a from the faces and 2a from each other.

    The largest a is found by 20 steps of binary search (a fails after 100 refused proposals in a row) or by halving,
    starting from B/2, as in published code.

    Returns
    -------
    ndarray of shape (n, d), on the grid
    """

    def propose(a: float, size: int) -> np.ndarray:
        return rng.uniform(-(half_width - a), half_width - a, (size, d))

    if halving:
        return snap(_pack(n, d, half_width / 2, propose)[0])
    low, high, best = 0.0, half_width, None
    for _ in range(20):
        middle = (low + high) / 2
        points, _ = _pack(n, d, middle, propose, halve=False)
        if points is None:
            high = middle
        else:
            low, best = middle, points
    return snap(rng.uniform(-half_width, half_width, (n, d)) if best is None else best)
