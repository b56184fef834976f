"""Fit a tree-shaped distribution to noisy counts of columns and of pairs of columns, and draw rows from it.

Post-processing: only released and public values come in. On a tree, consistent tables of the pairs determine the whole
distribution, so no iterative inference in a graphical model is needed (package mbi, which needs JAX).
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

__all__ = ["TreeModel", "blended", "fit", "spread_evenly"]

_ROUNDS = 60  # alternations between rows and columns, after which tables hardly change
_ROWS, _PAIRS = 1000, 16  # drawn rows and pairs of columns that `blended` looks at, at most
FAINT = 2.0  # standard deviations of the noise below which a table's count is taken for noise


@dataclasses.dataclass(frozen=True)
class TreeModel:
    """Counts of a distribution over d columns of b equal bins, in which a tree of pairs carries all dependence.

    Attributes
    ----------
    total : float, the number of rows that all counts add up to
    columns : ndarray of shape (d, b), counts at least 0
    pairs : ndarray of shape (d - 1, 2), a spanning tree of the columns
    tables : ndarray of shape (d - 1, b, b), counts at least 0, whose sums are those of `columns`: exactly for a pair's
        second column, and nearly for its first one unless noise is larger than the counts
    """

    total: float
    columns: np.ndarray
    pairs: np.ndarray
    tables: np.ndarray

    def draw(self, n_rows: int, half: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw rows (n_rows, d) in the box with half-widths `half` (d,): bins along the tree, then a place in each bin.

        Each bin gets its expected number of rows, up to one: the draw adds little to the noise in the counts.
        """
        d, b = self.columns.shape
        bins = np.zeros((n_rows, d), dtype=np.int64)
        bins[:, 0] = spread_evenly(self.columns[0], n_rows, rng)
        for pair, given, column in self._downwards():
            table = self.tables[pair] if self.pairs[pair, 0] == given else self.tables[pair].T
            for at in range(b):
                here = np.flatnonzero(bins[:, given] == at)
                weights = table[at] if table[at].sum() > 0 else self.columns[column]
                bins[here, column] = spread_evenly(weights, len(here), rng)
        return ((bins + rng.random((n_rows, d))) * (2 / b) - 1) * half

    def _downwards(self) -> list[tuple[int, int, int]]:
        """Return (pair, column above, column below) for every pair of the tree, from column 0 on."""
        order, known = [], [0]
        for above in known:  # grows while it is read
            for pair, ends in enumerate(self.pairs.tolist()):
                if above in ends:
                    below = ends[1 - ends.index(above)]
                    if below not in known:
                        known.append(below)
                        order.append((pair, above, below))
        return order


def spread_evenly(weights: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return n bins in random order, drawn in proportion to weights (b,) by systematic sampling."""
    ends = np.cumsum(weights)
    places = (rng.permutation(n) + rng.random()) / max(n, 1) * ends[-1]
    return np.minimum(np.searchsorted(ends, places, side="right"), np.flatnonzero(weights)[-1])


def fit(
    columns: np.ndarray, pairs: np.ndarray, tables: np.ndarray, *, total: float, sd: float, ratio: float
) -> TreeModel:
    """Return a tree model of the total max(total, 1) that is close to noisy counts, by two projections.

    The counts of a column are the mean of its own and of those that its tables imply, weighted by precision and
    projected onto counts that are at least 0 and have that total. Each table is then projected onto those that are at
    least 0 and have the sums of its two columns. Counts below FAINT standard deviations are first set so low that they
    stay 0 unless the sums cannot be reached otherwise: noise lifts so many of the empty cells above 0 that together
    they would outweigh groups.

    Parameters
    ----------
    columns : ndarray of shape (d, b), noisy counts
    pairs : ndarray of shape (d - 1, 2), a spanning tree of the columns
    tables : ndarray of shape (d - 1, b, b), noisy counts
    total : float, a noisy number of rows
    sd : float, standard deviation of the noise on a count of a table; 0 without noise
    ratio : float, variance of the noise on a count of a table, divided by that on a count of a column
    """
    d, b = columns.shape
    precision = np.ones(d)  # of a count, in units of its own noise's
    sums = columns.astype(np.float64)
    for (one, other), table in zip(pairs, tables, strict=True):
        for column, implied in ((one, table.sum(axis=1)), (other, table.sum(axis=0))):
            precision[column] += 1 / (b * ratio)
            sums[column] += implied / (b * ratio)
    total = max(total, 1.0)
    fitted = _onto_sums(sums / precision[:, None], np.full(d, total))
    seen = np.where(tables < FAINT * sd, -1e3 * total, tables)
    return TreeModel(total, fitted, pairs, _onto_margins(seen, fitted[pairs[:, 0]], fitted[pairs[:, 1]]))


def _onto_sums(values: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """Return the closest values (..., b) that are at least 0 and have these sums (...) along the last axis."""
    return np.maximum(values - _shifts(values, sums)[..., None], 0.0)


def _shifts(values: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """Return the numbers (...) to take off from values (..., b) so that the positive ones have these sums (...)."""
    falling = -np.sort(-values, axis=-1)
    shifts = (np.cumsum(falling, axis=-1) - sums[..., None]) / np.arange(1, values.shape[-1] + 1)
    last = np.maximum((falling > shifts).sum(axis=-1), 1) - 1
    return np.take_along_axis(shifts, last[..., None], axis=-1)[..., 0]


def _onto_margins(tables: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the closest tables (m, b, b) >= 0 whose rows have the sums `first` (m, b), and whose columns `second`.

    The closest table is what exceeds the sum of a shift of its row and one of its column, which are found in turn.
    """
    down = np.zeros(second.shape)
    for _ in range(_ROUNDS):
        across = _shifts(tables - down[:, None, :], first)
        down = _shifts((tables - across[:, :, None]).swapaxes(1, 2), second)
    return np.maximum(tables - across[:, :, None] - down[:, None, :], 0.0)


def blended(rows: np.ndarray, pairs: np.ndarray, centers: np.ndarray) -> tuple[float, float]:
    """Return two signs that drawn rows (n, d) blend groups which the tree's tables do show; both are at least 0.

    The first is the share of the rows' spread that the k centers (k, d) leave unexplained, divided by the share that k
    centers leave in two columns, over the tree's pairs (t, 2). The second is that share in two columns after one column
    of every pair has been shuffled, divided by the share before: 1 if no pair depends on each other.
    """
    sample, k = rows[:_ROWS], len(centers)
    left = cdist(sample, centers, "sqeuclidean").min(axis=1).sum() / _spread(sample)
    together = apart = whole = 0.0
    for one, other in pairs[:: -(-len(pairs) // _PAIRS)]:
        plane = sample[:, [one, other]]
        shuffled = np.column_stack([plane[:, 0], np.roll(plane[:, 1], 1)])  # rows are in random order
        together, apart = together + _left(plane, k), apart + _left(shuffled, k)
        whole += _spread(plane)
    return float(left * whole / together), apart / together


def _left(points: np.ndarray, k: int) -> float:
    return float(KMeans(k, n_init=2, random_state=0).fit(points).inertia_)


def _spread(points: np.ndarray) -> float:
    return float(((points - points.mean(axis=0)) ** 2).sum())
