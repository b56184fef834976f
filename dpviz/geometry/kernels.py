"""Pure functions of arrays: the grid, the exact nearest-point vote, folding, random steps."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from contextlib import nullcontext

import numpy as np
from scipy.sparse import csc_array
from scipy.spatial import cKDTree
from sklearn.metrics import pairwise_distances_argmin_min

from dpviz.frozen import ReadOnly
from dpviz.geometry.threads import alone, each

__all__ = [
    "GRID",
    "Population",
    "bincount",
    "clip_ball",
    "cluster_sums",
    "fold",
    "in_cache",
    "inertia",
    "levy_steps",
    "nearest",
    "product",
    "random_projection",
    "snap",
    "snap_toward_zero",
    "together",
]

GRID = 2.0**-24
_SWEPT = 32  # up to this many points, one pass over all rows per point is faster than a search for every row
_CACHED = 16_384  # number of entries in a block of rows that several steps of a computation use
_BLOCK = 200_000  # maximum number of entries in a distance block, which then fits in the cache together with its rows
_INDEX = np.intp  # the only type that older versions of numpy count
_TILE = 512  # maximum number of points in a distance block; with more, a product with few rows mostly copies points
_PASS = 4_096  # number of rows per block in passes over few arrays
_SHORTER = 0.96  # share of a parent's children, those nearest to it, that are searched together
_SLACK = 1e-6  # slack when a distance is compared with a bound; exceeds the rounding of both
_WORTH_GROUPING = 500  # fewer points than this are compared with every row
_TREE_FEATURES = 4  # with up to this many columns a k-d tree is fastest
_FEW_POINTS = 64  # up to this many points, comparing a row with all of them is faster
# With fewer rows, a single worker is faster, because starting threads takes longer than the work.
_PARALLEL_ROWS = 50_000


def snap(x: np.ndarray) -> np.ndarray:
    """Round an array of any shape to the nearest points of the 2^-24 grid."""
    return _rounded(np.rint, x)


def snap_toward_zero(x: np.ndarray) -> np.ndarray:
    """Round an array of any shape to the 2^-24 grid, toward zero, so that no norm grows."""
    return _rounded(np.trunc, x)


def _rounded(to_whole: np.ufunc, x: np.ndarray) -> np.ndarray:
    whole = np.asarray(np.multiply(x, 1 / GRID, dtype=np.float64))
    to_whole(whole, out=whole)  # in place, because there are many rows
    whole *= GRID
    return whole


def in_cache(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Yield slices of consecutive rows, short enough that several arrays of them stay in the processor's cache."""
    height = max(_CACHED // n_columns, 64)
    for start in range(0, n_rows, height):
        yield slice(start, min(start + height, n_rows))


@dataclasses.dataclass(frozen=True, eq=False)
class Population(ReadOnly):
    """Candidate points on the grid.

    Attributes
    ----------
    points : ndarray of shape (m, d)
    parents : ndarray of shape (k, d) or None, the points from which these were mutated
    group : ndarray of shape (m,) or None, index of each point's parent; only a hint that saves work
    """

    points: np.ndarray
    parents: np.ndarray | None = None
    group: np.ndarray | None = None


def nearest(x: np.ndarray, population: Population | np.ndarray) -> np.ndarray:
    """Return the EXACT index of the point nearest to every row; ties go to the lowest index.

    A vote must depend on its row and the population only, bit for bit. BLAS results change with the block, so fast
    arithmetic only proposes a vote: a row whose two best distances are closer than the proven rounding error is decided
    again, first in double precision, then in integers (multiples of 2^-24), which are exact while 16 d 2^48 < 2^63.

    Parameters
    ----------
    x : ndarray of shape (n, d), on the grid, norms at most 2 sqrt(d)
    population : Population or ndarray of shape (m, d), on the grid, norms at most 2 sqrt(d)

    Returns
    -------
    ndarray of shape (n,), int64
    """
    if not isinstance(population, Population):
        population = Population(np.asarray(population, dtype=np.float64))
    points = population.points
    n, d = x.shape
    if d >= 2**11:
        raise ValueError(f"geometry: nearest must have fewer than {2**11} columns to stay exact; got {d}.")
    if n == 0 or len(points) == 1:
        return np.zeros(n, dtype=np.int64)
    if d <= _TREE_FEATURES and len(points) > _FEW_POINTS:
        return _nearest_tree(x, points)
    if population.parents is None or population.group is None or len(points) < _WORTH_GROUPING:
        winners, unsure = _propose(np.float32, x, points)
    else:
        winners, unsure = _propose_grouped(x, points, population.parents, population.group)
    if unsure.any():
        rows = np.flatnonzero(unsure)
        winners[rows], still = _propose(np.float64, x[rows], points)
        rows = rows[still]
        winners[rows] = _nearest_exact(x[rows], points)
    return winners


def _nearest_tree(x: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Find nearest points with a k-d tree.

    Differences of grid numbers are exact in float64; squares and sums are rounded. A squared distance has a relative
    error below (d + 2) 2^-53; 1e-14 leaves room for the root as well.
    """
    order = np.lexsort(points.T)  # a stable sort: of duplicates, the lowest index comes first and wins
    first = order[np.append(True, (np.diff(points[order], axis=0) != 0).any(axis=1))]
    if len(first) == 1:
        return np.zeros(len(x), dtype=np.int64)
    tree = cKDTree(points[first], leafsize=32, balanced_tree=False, compact_nodes=False)
    distance, index = tree.query(x, k=2, workers=-1 if len(x) > _PARALLEL_ROWS else 1)
    winners = first[index[:, 0]]
    unsure = np.flatnonzero(distance[:, 1] - distance[:, 0] <= 1e-14 * distance[:, 1])
    winners[unsure] = _nearest_exact(x[unsure], points)
    return winners


def together(x: np.ndarray) -> np.ndarray:
    """Return rows x (n, d) in an order that puts nearby rows next to each other if that speeds up a search (d <= 4).

    A search for ordered rows takes two thirds of the time, because nearby rows take the same path through the tree.
    """
    n, d = x.shape
    if d > _TREE_FEATURES or n < 2:
        return x
    side = 2 ** (16 // d)
    low = x.min(axis=0)
    steps = (side - 1) / np.maximum(x.max(axis=0) - low, GRID)
    cell = np.zeros(n, dtype=np.uint16)  # 16-bit numbers are sorted without comparisons
    for i in range(d):
        cell *= side % 2**16
        cell += ((x[:, i] - low[i]) * steps[i]).astype(np.uint16)
    return x[np.argsort(cell, kind="stable")]


def _score_error(dtype: type, d: int, row: np.ndarray, point: float) -> np.ndarray:
    """Return a bound on the error of a score 0.5 |s|^2 - x.s for |x| <= row, |s| <= point.

    With unit roundoff u and exact inputs rounded to `dtype`, the error is below (d + 4) u (|x| |s| + 0.5 |s|^2) (1 +
    tiny) for any order of summation.
    """
    return 1.01 * (d + 4) * float(np.finfo(dtype).eps) / 2 * (row * point + 0.5 * point * point)


def _first_two(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (index of the maximum, the maximum, the second largest) of each row of `scores` (n, m); overwrite it."""
    every, won = np.arange(len(scores)), scores.argmax(axis=1)
    most = scores[every, won]
    scores[every, won] = -np.inf
    return won, most, scores[every, scores.argmax(axis=1)]  # indexing is faster than taking the maximum again


def _with_half(dtype: type, points: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Return a matrix (d + 1, m) in `dtype` whose product with rows that end in a 1 is x.s - half."""
    return np.ascontiguousarray(np.column_stack([points, -half]).T, dtype=dtype)


def _two_best(dtype: type, rows: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (index of the best score 0.5 |s|^2 - x.s, the best score, the second best) of every row, in `dtype`."""
    half = 0.5 * (points**2).sum(axis=1)
    best = np.zeros(len(rows), dtype=np.int64)
    least, second = np.empty(len(rows)), np.empty(len(rows))
    tiles = [slice(start, start + _TILE) for start in range(0, len(half), _TILE)]
    height = max(1, _BLOCK // min(_TILE, len(half)))

    def search(start: int) -> None:
        stop = min(start + height, len(rows))
        block = np.ones((stop - start, rows.shape[1] + 1), dtype)
        block[:, :-1] = rows[start:stop]
        won = best[start:stop]
        most: np.ndarray = np.full(len(block), -np.inf, dtype)
        runner_up = most.copy()
        for tile, columns in zip(tiles, searched, strict=True):
            own, high, next_high = _first_two(block @ columns)
            np.maximum(np.maximum(runner_up, next_high), np.minimum(most, high), out=runner_up)
            np.copyto(won, own + tile.start, where=high > most)
            np.maximum(most, high, out=most)
        least[start:stop], second[start:stop] = -most, -runner_up

    def sweep(start: int) -> None:
        stop = min(start + height, len(rows))
        scores: np.ndarray = points.astype(dtype) @ rows[start:stop].astype(dtype).T
        np.subtract(half.astype(dtype)[:, None], scores, out=scores)
        low, won = scores[0].copy(), best[start:stop]
        next_low, worse = np.full_like(low, np.inf), np.empty_like(low)
        for j, score in enumerate(scores[1:], 1):
            np.minimum(next_low, np.maximum(low, score, out=worse), out=next_low)
            np.copyto(won, j, where=score < low)  # strictly less, so the first of equal points wins
            np.minimum(low, score, out=low)
        least[start:stop], second[start:stop] = low, next_low

    few = len(points) <= _SWEPT
    searched = [] if few else [_with_half(dtype, points[tile], half[tile]) for tile in tiles]
    each(sweep if few else search, range(0, len(rows), height))
    return best, least, second


def _propose(dtype: type, x: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (winner, unsure) of every row, from its scores against all points in one precision."""
    best, least, second = _two_best(dtype, x, points)
    longest = math.sqrt(float((points**2).sum(axis=1).max()))
    error = _score_error(dtype, x.shape[1], np.sqrt(np.einsum("ij,ij->i", x, x)), longest)
    return best, second - least <= 2 * error


def _propose_grouped(
    x: np.ndarray, points: np.ndarray, parents: np.ndarray, group: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return (winner, unsure) of every row, comparing it only with the children that are near enough.

    A child at distance l from a parent is at least | |x - parent| - l | away from x. Rows are taken cell by cell, a
    cell being the rows with the same nearest parent: all of them are compared with that parent's near children, and
    with those far children of any parent that may be as near to some row of the cell. The other parents' near children
    are then compared only with rows to which one of them may be nearer than the best so far. Scores relative to the
    parent are small, and so are their rounding errors. Intervals [value - error, value + error] of 0.5 |x - s|^2
    decide: a row is sure if the winner's upper end is below every other lower end.
    """
    n, d = x.shape
    lengths = np.sqrt(((points - parents[group]) ** 2).sum(axis=1))
    children = [np.flatnonzero(group == g) for g in range(len(parents))]
    edges = np.array([np.quantile(lengths[own], _SHORTER) if len(own) else 0.0 for own in children])
    shorter = [own[lengths[own] <= edge] for own, edge in zip(children, edges, strict=True)]
    longest = np.flatnonzero(lengths > edges[group])
    squares, apart, cells = _apart(x, parents)
    order = np.argsort(cells, kind="stable")
    ends = np.cumsum(bincount(cells, minlength=len(parents)))
    value, error, rival = np.full(n, np.inf), np.zeros(n), np.full(n, np.inf)
    winners = np.zeros(n, dtype=np.int64)

    def meet(rows: np.ndarray, g: int, some: np.ndarray) -> None:
        """Compare rows with some of the points, relative to a parent, and merge the results."""
        apart_g = apart[g, rows]
        near = points[some] - parents[g]
        half = 0.5 * (near**2).sum(axis=1)
        doubt = _score_error(np.float32, d, np.sqrt(apart_g), math.sqrt(2 * float(half.max())))
        doubt += 1e-12 * (1 + squares[rows])
        columns = _with_half(np.float32, near, half)
        best = np.empty(len(rows), dtype=np.int64)
        most, second = np.empty(len(rows), np.float32), np.empty(len(rows), np.float32)
        height = max(1, _BLOCK // len(some))

        def compare(start: int) -> None:
            part = slice(start, min(start + height, len(rows)))
            offsets = x.take(rows[part], axis=0)
            offsets -= parents[g]
            relative = np.ones((len(offsets), d + 1), np.float32)
            relative[:, :d] = offsets
            best[part], most[part], second[part] = _first_two(relative @ columns)

        each(compare, range(0, len(rows), height))
        apart_g *= 0.5
        least, runner_up = apart_g - most, apart_g - second
        held, doubt_held = value[rows], error[rows]
        won = least < held
        lower = np.where(won, np.minimum(held - doubt_held, runner_up - doubt), least - doubt)
        rival[rows] = np.minimum(rival[rows], lower)
        winners[rows] = np.where(won, some[best], winners[rows])
        value[rows], error[rows] = np.where(won, least, held), np.where(won, doubt, doubt_held)

    for g, cell in enumerate(np.split(order, ends[:-1])):
        if len(cell):
            far = np.sqrt(((points[longest] - parents[g]) ** 2).sum(axis=1))
            nearest = lengths[children[g]].min(initial=np.inf)
            some = np.concatenate([shorter[g], longest[_in_reach(far, nearest, np.sqrt(apart[g, cell]))]])
            if len(some):
                meet(cell, g, some)
    bound = np.sqrt(2 * np.maximum(value + error, 0.0)) + _SLACK
    for g, some in enumerate(shorter):
        rows = np.flatnonzero((apart[g] <= (bound + edges[g]) ** 2) & (cells != g))
        if len(rows) and len(some):
            meet(rows, g, some)
    return winners, rival <= value + error


def _in_reach(lengths: np.ndarray, nearest: float, away: np.ndarray) -> np.ndarray:
    """Return the mask of the points that may be as near to some row as the parent's nearest child is.

    All arguments are distances from one parent: `lengths` (m,) of the points, `nearest` of its nearest child, `away`
    (n,) of the rows.
    """
    bound = away + nearest
    most, least = (away + bound).max() + _SLACK, (away - bound).min() - _SLACK
    return (lengths <= most) & (lengths >= least)


def _apart(x: np.ndarray, parents: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (|x|^2 (n,), squared distances to the parents (k, n) within 1e-13 (1 + |x|^2), nearest parents (n,))."""
    n, k = len(x), len(parents)
    squares, apart, cells = np.empty(n), np.empty((k, n)), np.zeros(n, dtype=np.min_scalar_type(k))
    whole = (parents**2).sum(axis=1)[:, None]
    for start in range(0, n, _PASS):
        part = slice(start, min(start + _PASS, n))
        squares[part] = np.einsum("ij,ij->i", x[part], x[part])
        own = -2 * parents @ x[part].T
        own += squares[part]
        own += whole
        apart[:, part] = np.maximum(own, 0.0, out=own)
        low, won = own[0].copy(), cells[part]
        for g in range(1, k):
            np.copyto(won, g, where=own[g] < low)
            np.minimum(low, own[g], out=low)
    return squares, apart, cells


def _nearest_exact(x: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the nearest points by slow integer arithmetic, for the few rows that fast arithmetic cannot decide."""
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


def bincount(labels: np.ndarray, weights: np.ndarray | None = None, minlength: int = 0) -> np.ndarray:
    """Return numpy's `bincount` for labels of any integer type, also where indices have 32 bits, as in WebAssembly."""
    return np.bincount(labels.astype(_INDEX, copy=False), weights, minlength)  # noqa: TID251


def cluster_sums(x: np.ndarray, labels: np.ndarray, n_clusters: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (sums (k, d), counts (k,)) of the rows x (n, d) with each of the labels; exact for rows on the grid."""
    members = csc_array((np.ones(len(x)), labels, np.arange(len(x) + 1)), shape=(n_clusters, len(x)))
    return members @ x, bincount(labels, minlength=n_clusters)


def product(x: np.ndarray, matrix: np.ndarray, reach: float) -> np.ndarray:
    """Return x @ matrix, EXACTLY, after rounding the matrix to so few bits that no partial sum needs rounding.

    The last bits of a matrix product may change with the block that contains a row; an exact product rounds nothing.
    Sums of x (on the grid) times entries on 2^-b are multiples of 2^(-24-b) and below |x| |column|: float64 holds them
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
    """Return the sum of the squared distances of the rows x (n, d) to the nearest of the centers (k, d)."""
    with alone() if len(x) < _PARALLEL_ROWS else nullcontext():
        return float(pairwise_distances_argmin_min(x, centers, metric="sqeuclidean")[1].sum())


def clip_ball(x: np.ndarray, radius: float) -> np.ndarray:
    """Return x (n, d) with each row longer than `radius` scaled down to `radius` and every row snapped toward zero."""
    clipped = np.empty(x.shape)
    reach = radius * (1 - 2.0**-40)  # the margin exceeds the rounding error of a norm for any d below 2^12
    for part in in_cache(*x.shape):
        rows, squares = x[part], np.zeros(part.stop - part.start)
        for column in rows.T:
            squares += column * column
        norms = np.sqrt(squares)
        if (norms > reach).any():
            rows = rows * np.where(norms > reach, reach / np.maximum(norms, reach), 1.0)[:, None]
        clipped[part] = snap_toward_zero(rows)
    return clipped


def fold(x: np.ndarray, half_width: float | np.ndarray) -> np.ndarray:
    """Reflect values at the walls of [-B, B], with period 4B. (The period 2B printed in FastLloyd maps .5 to -.5.)"""
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
