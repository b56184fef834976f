"""Pure kernels on arrays: the grid, the exact nearest-point vote, foldings, random steps."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from scipy.spatial import cKDTree
from sklearn.metrics import pairwise_distances_argmin_min

from dpviz.frozen import ReadOnly
from dpviz.geometry.threads import each

__all__ = [
    "GRID",
    "Population",
    "clip_ball",
    "cluster_sums",
    "fold",
    "inertia",
    "levy_steps",
    "nearest",
    "product",
    "random_projection",
    "snap",
    "snap_toward_zero",
]

GRID = 2.0**-24
_SWEPT = 32  # up to so many points one pass for each over all rows is faster than a search along every row
_BLOCK = 500_000  # most entries of a distance block: what fits the cache beside its rows
_BANDS = (0.9, 0.96)  # shares of a parent's children, by distance from it, that are looked at together
_WORTH_GROUPING = 500  # fewer points than this are compared with every row
_TREE_FEATURES = 4  # up to here a k-d tree is fastest,
_FEW_POINTS = 64  # unless there are so few points that comparing with all of them is
_PARALLEL_ROWS = 50_000  # fewer rows are looked up faster by one worker: starting threads takes longer than the work


def snap(x: np.ndarray) -> np.ndarray:
    """Round to the nearest point of the grid 2^-24; any shape."""
    whole = np.rint(np.asarray(x, dtype=np.float64) / GRID)
    whole *= GRID  # in place: rows are many
    return whole


def snap_toward_zero(x: np.ndarray) -> np.ndarray:
    """Round to the grid 2^-24 toward zero, so that no norm grows; any shape."""
    whole = np.trunc(np.asarray(x, dtype=np.float64) / GRID)
    whole *= GRID  # in place: rows are many
    return whole


@dataclasses.dataclass(frozen=True, eq=False)
class Population(ReadOnly):
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
    if d <= _TREE_FEATURES and len(points) > _FEW_POINTS:
        return _nearest_tree(x, points)
    fast = x.astype(np.float32) if x32 is None else x32
    if population.parents is None or population.group is None or len(points) < _WORTH_GROUPING:
        winners, unsure = _propose(np.float32, fast, x, points)
    else:
        winners, unsure = _propose_grouped(fast, x, points, population.parents, population.group)
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
    distance, found = cKDTree(distinct).query(x, k=2, workers=-1 if len(x) > _PARALLEL_ROWS else 1)
    winners = first[found[:, 0]]
    unsure = np.flatnonzero(distance[:, 1] - distance[:, 0] <= 1e-14 * distance[:, 1])
    winners[unsure] = _nearest_exact(x[unsure], points)
    return winners


def _score_error(dtype: type, d: int, row: np.ndarray, point: float) -> np.ndarray:
    """Bound the error of a score 0.5 |s|^2 - x.s for |x| <= row, |s| <= point.

    With unit roundoff u and exact inputs rounded to `dtype`, any summation order stays below
    (d + 4) u (|x| |s| + 0.5 |s|^2) (1 + tiny).
    """
    return 1.01 * (d + 4) * float(np.finfo(dtype).eps) / 2 * (row * point + 0.5 * point * point)


def _two_best(dtype: type, rows: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (index of the best score 0.5 |s|^2 - x.s, the best score, the second best) of every row."""
    half = (0.5 * (points**2).sum(axis=1)).astype(dtype)
    columns: np.ndarray = np.ascontiguousarray(points.astype(dtype))
    transposed = np.ascontiguousarray(columns.T)
    best = np.empty(len(rows), dtype=np.int64)
    least, second = np.empty(len(rows)), np.empty(len(rows))
    height = max(1, _BLOCK // len(half))

    def search(start: int) -> None:
        stop = min(start + height, len(rows))
        scores = rows[start:stop] @ transposed
        np.subtract(half, scores, out=scores)
        every, won = np.arange(stop - start), scores.argmin(axis=1)
        best[start:stop] = won
        least[start:stop] = scores[every, won]
        scores[every, won] = np.inf
        second[start:stop] = scores.min(axis=1)

    def sweep(start: int) -> None:
        stop = min(start + height, len(rows))
        scores = columns @ rows[start:stop].T
        np.subtract(half[:, None], scores, out=scores)
        low, won = scores[0].copy(), best[start:stop]
        next_low, worse = np.full_like(low, np.inf), np.empty_like(low)
        won[:] = 0
        for j, score in enumerate(scores[1:], 1):
            np.minimum(next_low, np.maximum(low, score, out=worse), out=next_low)
            np.copyto(won, j, where=score < low)  # strictly: of equal ones the first
            np.minimum(low, score, out=low)
        least[start:stop], second[start:stop] = low, next_low

    block = sweep if len(points) <= _SWEPT else search
    each(block, range(0, len(rows), height))
    return best, least, second


def _propose(dtype: type, fast: np.ndarray, x: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (winner, unsure) by scores against all points in one precision."""
    best, least, second = _two_best(dtype, fast, points)
    longest = math.sqrt(float((points**2).sum(axis=1).max()))
    error = _score_error(dtype, x.shape[1], np.sqrt((x**2).sum(axis=1)), longest)
    return best, second - least <= 2 * error


def _propose_grouped(
    fast: np.ndarray, x: np.ndarray, points: np.ndarray, parents: np.ndarray, group: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return (winner, unsure), comparing a row only with the children that are near enough.

    A child at distance l from its parent is at least | |x - parent| - l | away from x. So of each parent's children,
    cut by l into bands, a row is compared with those bands only that can hold something nearer than what it has; the
    few longest children are compared with all rows. Scores relative to the parent are small, and so are their
    rounding errors. Intervals [value - error, value + error] of 0.5 |x - s|^2 decide: a row is sure if the winner's
    upper end is below every other lower end.
    """
    d = x.shape[1]
    offsets = points - parents[group]
    lengths = np.sqrt((offsets**2).sum(axis=1))
    children = [np.flatnonzero(group == g) for g in range(len(parents))]
    squares = np.einsum("ij,ij->i", x, x)
    apart = x @ (-2 * parents.T)  # squared distances to the parents, within 1e-13 (1 + |x|^2)
    apart += squares[:, None]
    apart += (parents**2).sum(axis=1)
    away = np.sqrt(np.maximum(apart, 0.0))
    norms = np.sqrt(squares)
    shortest = np.array([lengths[own].min(initial=np.inf) for own in children])
    bound = (away + shortest).min(axis=1)

    value, error, rival = np.full(len(x), np.inf), np.zeros(len(x)), np.full(len(x), np.inf)
    winners = np.zeros(len(x), dtype=np.int64)

    def meet(rows: np.ndarray, chosen: np.ndarray, best: np.ndarray, second: np.ndarray, doubt: np.ndarray) -> None:
        """Merge candidates: their best values, second values and errors."""
        doubt = doubt + 1e-12 * (1 + norms[rows] ** 2)
        won = best < value[rows]
        lower = np.where(won, np.minimum(value[rows] - error[rows], second - doubt), best - doubt)
        rival[rows] = np.minimum(rival[rows], lower)
        winners[rows[won]], value[rows[won]], error[rows[won]] = chosen[won], best[won], doubt[won]

    edges = np.array([np.quantile(lengths[own], _BANDS) if len(own) else np.zeros(len(_BANDS)) for own in children])
    for band in range(len(_BANDS)):
        for g, parent in enumerate(parents):
            low, high = edges[g, band - 1] if band else -1.0, edges[g, band]
            some = children[g][(lengths[children[g]] > low) & (lengths[children[g]] <= high)]
            if len(some) == 0:
                continue
            reach = away[:, g]
            rows = np.flatnonzero((reach - high <= bound + 1e-6) & (low - reach <= bound + 1e-6))
            if len(rows) == 0:
                continue
            relative = np.subtract(x[rows], parent, out=np.empty((len(rows), d), np.float32), casting="same_kind")
            best, least, second = _two_best(np.float32, relative, offsets[some])
            base = 0.5 * apart[rows, g]
            doubt = _score_error(np.float32, d, reach[rows], float(lengths[some].max()))
            meet(rows, some[best], base + least, base + second, doubt)
        bound = np.minimum(bound, np.sqrt(2 * np.maximum(value + error, 0.0)))
    longest = np.flatnonzero(lengths > edges[group, -1])
    if len(longest):
        best, least, second = _two_best(np.float32, fast, points[longest])
        reach = math.sqrt(float((points[longest] ** 2).sum(axis=1).max()))
        doubt, base = _score_error(np.float32, d, norms, reach), 0.5 * squares
        meet(np.arange(len(x)), longest[best], base + least, base + second, doubt)
    return winners, rival <= value + error


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
    """Return (sums (k, d), counts (k,)) of the rows x (n, d) of each label (n,); exact for rows on the grid."""
    sums = np.column_stack([np.bincount(labels, weights=column, minlength=n_clusters) for column in x.T])
    return sums, np.bincount(labels, minlength=n_clusters)


def product(x: np.ndarray, matrix: np.ndarray, reach: float) -> np.ndarray:
    """Return x @ matrix, EXACTLY, for a matrix rounded to so few bits that no partial sum can round.

    A matrix product's last bits may change with the block that a row is in; an exact one has no last bits. Sums
    of x (on the grid) times entries on 2^-b are multiples of 2^(-24-b) and below |x| |column|: float64 holds them
    all if that bound is at most 2^(29-b).

    Parameters
    ----------
    x : ndarray of shape (n, d), on the grid
    matrix : ndarray of shape (d, p), public
    reach : float, a public bound on the norms of the rows of x
    """
    longest = float(np.sqrt((matrix**2).sum(axis=0).max())) * reach
    bits = 28 - math.ceil(math.log2(max(longest, 1.0)))
    return x @ (np.rint(matrix * 2.0**bits) / 2.0**bits)


def inertia(x: np.ndarray, centers: np.ndarray) -> float:
    """Return the sum of squared distances of the rows x (n, d) to their nearest of centers (k, d)."""
    return float(pairwise_distances_argmin_min(x, centers, metric="sqeuclidean")[1].sum())


def clip_ball(x: np.ndarray, radius: float) -> np.ndarray:
    """Scale every row of x (n, d) longer than `radius` down to it and snap toward zero; a function of the row alone."""
    squares = np.zeros(len(x))
    for column in x.T:
        squares += column * column
    norms = np.sqrt(squares)
    reach = radius * (1 - 2.0**-40)  # more than the rounding of a norm for any d below 2^12
    return snap_toward_zero(x * np.where(norms > reach, reach / np.maximum(norms, reach), 1.0)[:, None])


def fold(x: np.ndarray, half_width: float | np.ndarray) -> np.ndarray:
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
