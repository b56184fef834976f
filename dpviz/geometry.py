"""Pure kernels on arrays: the grid, the exact nearest-point vote, packings, foldings, random steps."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from scipy.spatial import cKDTree
from sklearn.metrics import pairwise_distances_argmin_min

__all__ = [
    "GRID",
    "Population",
    "clip_ball",
    "cluster_sums",
    "fold",
    "inertia",
    "levy_steps",
    "nearest",
    "pack_cube",
    "random_projection",
    "snap",
    "snap_toward_zero",
    "sphere_pack",
    "uniform_ball",
]

GRID = 2.0**-24
_BLOCK = 4_000_000  # most entries of a distance block
_TREE_FEATURES = 4  # up to here a k-d tree is fastest
_PACKED = 2_000  # most points that a packing separates; the others are uniform in the same ball


def snap(x: np.ndarray) -> np.ndarray:
    """Round to the nearest grid point."""
    return np.rint(np.asarray(x, dtype=np.float64) / GRID) * GRID


def snap_toward_zero(x: np.ndarray) -> np.ndarray:
    """Round to the grid toward zero, so that no norm grows."""
    return np.trunc(np.asarray(x, dtype=np.float64) / GRID) * GRID


@dataclasses.dataclass(frozen=True, eq=False)
class Population:
    """Candidate points on the grid.

    Attributes
    ----------
    points : ndarray of shape (m, d)
    parents : ndarray of shape (k, d) or None, what the points were mutated from
    group : ndarray of shape (m,) or None, index of each point's parent; only a hint that saves work
    """

    points: np.ndarray
    parents: np.ndarray | None = None
    group: np.ndarray | None = None


def nearest(x: np.ndarray, population: Population | np.ndarray, x32: np.ndarray | None = None) -> np.ndarray:
    """Return the index of the nearest point of every row, ties to the lowest index, EXACTLY.

    A vote must depend on its row and the population only, bit for bit: BLAS results change with the block, so fast
    arithmetic only proposes. A row whose two best distances are closer than the proven rounding error is decided
    again, first in double precision, then in integers (multiples of 2^-24), which are exact while d 2^50 < 2^63.

    Parameters
    ----------
    x : ndarray of shape (n, d), on the grid, norms at most sqrt(d)
    population : Population or ndarray of shape (m, d), likewise
    x32 : ndarray of shape (n, d) or None, `x` in single precision

    Returns
    -------
    ndarray of shape (n,), int64
    """
    if not isinstance(population, Population):
        population = Population(np.asarray(population, dtype=np.float64))
    points = population.points
    n, d = x.shape
    if d >= 2**13:
        raise ValueError(f"geometry: nearest must have fewer than {2**13} columns to stay exact; got {d}.")
    if n == 0 or len(points) == 1:
        return np.zeros(n, dtype=np.int64)
    if d <= _TREE_FEATURES:
        return _nearest_tree(x, points)
    winners, unsure = _propose(np.float32, x.astype(np.float32) if x32 is None else x32, x, points)
    if unsure.any():
        rows = np.flatnonzero(unsure)
        winners[rows], still = _propose(np.float64, x[rows], x[rows], points)
        rows = rows[still]
        winners[rows] = _nearest_exact(x[rows], points)
    return winners


def _nearest_tree(x: np.ndarray, points: np.ndarray) -> np.ndarray:
    """k-d tree on the points. Differences of grid numbers are exact in float64; squares and sums round.

    A squared distance has relative error below (d + 2) 2^-53; 1e-14 leaves room for the root as well.
    """
    distinct, first = np.unique(points, axis=0, return_index=True)  # duplicates: the lowest index wins
    if len(distinct) == 1:
        return np.zeros(len(x), dtype=np.int64)
    distance, found = cKDTree(distinct).query(x, k=2)
    winners = first[found[:, 0]]
    unsure = np.flatnonzero(distance[:, 1] - distance[:, 0] <= 1e-14 * distance[:, 1])
    winners[unsure] = _nearest_exact(x[unsure], points)
    return winners


def _propose(dtype: type, fast: np.ndarray, x: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (winner, unsure) by 0.5 |s|^2 - x.s in one precision.

    With unit roundoff u and exact inputs rounded to `dtype`, any summation order gives an error of at most
    (d + 4) u (|x| |s| + 0.5 |s|^2) (1 + tiny) per score; a row is sure if its gap exceeds twice that.
    """
    d = x.shape[1]
    unit = float(np.finfo(dtype).eps) / 2
    reach = math.sqrt(float((points**2).sum(axis=1).max()))
    half = (0.5 * (points**2).sum(axis=1)).astype(dtype)
    transposed: np.ndarray = np.ascontiguousarray(points.T.astype(dtype))
    norms = np.sqrt((x**2).sum(axis=1))
    margin = 2 * 1.01 * (d + 4) * unit * (norms * reach + 0.5 * reach * reach)
    winners = np.empty(len(x), dtype=np.int64)
    unsure = np.empty(len(x), dtype=bool)
    height = max(1, _BLOCK // len(points))
    for start in range(0, len(x), height):
        stop = min(start + height, len(x))
        scores = half - fast[start:stop] @ transposed
        best = scores.argmin(axis=1)
        rows = np.arange(stop - start)
        least = scores[rows, best].astype(np.float64)
        scores[rows, best] = np.inf
        winners[start:stop] = best
        unsure[start:stop] = scores.min(axis=1) - least <= margin[start:stop]
    return winners, unsure


def _nearest_exact(x: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Decide in integers. Slow: for the few rows that fast arithmetic cannot decide."""
    whole_x, whole_points = (np.rint(a / GRID).astype(np.int64) for a in (x, points))
    winners = np.empty(len(x), dtype=np.int64)
    height = max(1, _BLOCK // len(points))
    for start in range(0, len(x), height):
        block = whole_x[start : start + height]
        squares = np.zeros((len(block), len(points)), dtype=np.int64)
        for column in range(x.shape[1]):
            difference = block[:, column, None] - whole_points[None, :, column]
            squares += difference * difference
        winners[start : start + height] = squares.argmin(axis=1)
    return winners


def cluster_sums(x: np.ndarray, labels: np.ndarray, n_clusters: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (sums (k, d), counts (k,)) of the rows of each label; exact for rows on the grid."""
    sums = np.column_stack([np.bincount(labels, weights=column, minlength=n_clusters) for column in x.T])
    return sums, np.bincount(labels, minlength=n_clusters)


def inertia(x: np.ndarray, centers: np.ndarray) -> float:
    """Return the sum of squared distances of the rows to their nearest center."""
    return float(pairwise_distances_argmin_min(x, centers, metric="sqeuclidean")[1].sum())


def clip_ball(x: np.ndarray, radius: float) -> np.ndarray:
    """Scale every row longer than `radius` down to it and snap toward zero; a function of the row alone."""
    squares = np.zeros(len(x))
    for column in x.T:
        squares += column * column
    norms = np.sqrt(squares)
    reach = radius * (1 - 2.0**-40)  # more than the rounding of a norm for any d below 2^12
    return snap_toward_zero(x * np.where(norms > reach, reach / np.maximum(norms, reach), 1.0)[:, None])


def uniform_ball(n: int, d: int, radius: float, rng: np.random.Generator) -> np.ndarray:
    """Draw n points uniformly from an l2 ball, shape (n, d)."""
    direction = rng.normal(size=(n, d))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    return direction * (radius * rng.random((n, 1)) ** (1 / d))


def sphere_pack(n: int, d: int, radius: float, rng: np.random.Generator) -> np.ndarray:
    """Spread n points over an l2 ball: at least a from its surface and 2a from each other (Su et al., in a ball).

    a starts at radius/2 and is halved after 100 failures in a row. For d >= 16 a separation rejects nothing in
    practice and the result is uniform in the ball of radius 0.75 R; beyond 2000 points the rest is uniform too.

    Returns
    -------
    ndarray of shape (n, d), on the grid
    """
    if d >= 16:
        return clip_ball(snap(uniform_ball(n, d, 0.75 * radius, rng)), radius)
    packed, a = _pack(min(n, _PACKED), d, radius / 2, lambda a, size: uniform_ball(size, d, radius - a, rng))
    rest = uniform_ball(n - len(packed), d, radius - a, rng)
    return clip_ball(snap(np.concatenate([packed, rest])), radius)


def _pack(n: int, d: int, a: float, propose, *, tries: int = 100, halve: bool = True):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Accept proposals that keep a distance of 2a; return (points (n, d) or None, last a)."""
    points, count, failures = np.empty((n, d)), 0, 0
    while count < n:
        for candidate in propose(a, 64):
            squares = ((points[:count] - candidate) ** 2).sum(axis=1)
            if count == 0 or squares.min() >= 4 * a * a:
                points[count] = candidate
                count, failures = count + 1, 0
            else:
                failures += 1
            if count == n:
                break
            if failures == tries:
                if not halve:
                    return None, a
                a, failures = a / 2, 0
                break
    return points, a


def pack_cube(n: int, d: int, half_width: float, rng: np.random.Generator, *, halving: bool = False) -> np.ndarray:
    """Spread n points over the cube [-B, B]^d: at least a from the faces and 2a from each other.

    The largest a is found by 20 steps of binary search with 100 tries each, or by halving from B as in published code.

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
        found, _ = _pack(n, d, middle, propose, halve=False)
        if found is None:
            high = middle
        else:
            low, best = middle, found
    return snap(rng.uniform(-half_width, half_width, (n, d)) if best is None else best)


def fold(x: np.ndarray, half_width: float) -> np.ndarray:
    """Reflect at the walls of [-B, B]; period 4B. (The period 2B printed in FastLloyd maps .5 to -.5.)"""
    y = np.mod(np.asarray(x, dtype=np.float64) + half_width, 4 * half_width)
    return np.where(y > 2 * half_width, 4 * half_width - y, y) - half_width


def levy_sigma(beta: float) -> float:
    """Return Mantegna's sigma_u, a STANDARD DEVIATION (Mantegna 1994, equation 5)."""
    above = math.gamma(1 + beta) * math.sin(math.pi * beta / 2)
    return (above / (math.gamma((1 + beta) / 2) * beta * 2 ** ((beta - 1) / 2))) ** (1 / beta)


def levy_steps(shape: tuple[int, ...], rng: np.random.Generator, beta: float = 1.75) -> np.ndarray:
    """Draw Levy-stable steps u / |v|^(1/beta), coordinate by coordinate."""
    return rng.normal(0.0, levy_sigma(beta), shape) / np.abs(rng.normal(size=shape)) ** (1 / beta)


def random_projection(d: int, p: int, rng: np.random.Generator) -> np.ndarray:
    """Return a Gaussian Johnson-Lindenstrauss matrix (d, p), scaled by 1/sqrt(p), on the grid."""
    return snap(rng.normal(size=(d, p)) / math.sqrt(p))
