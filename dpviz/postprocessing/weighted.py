"""Run k-means on released weighted points; this costs no privacy, so any number of iterations may be run."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree
from sklearn.cluster import KMeans

from dpviz.geometry import bincount

__all__ = ["lloyd_on", "occupied", "solve", "spread", "work_of_solve", "work_of_starts"]

# number of pairs above which a tree (in up to 8 columns) is faster than computing all distances
_TREE_PAIRS = 1_000_000
_FLAT = 3  # number of columns up to which summing by label column by column is faster than one matrix product


class _Cloud:
    """Weighted points, with everything that each Lloyd iteration on them needs.

    Points are stored as columns (p, m), so that scores and sums are two matrix products with one small dimension, the
    number of centers.
    """

    def __init__(self, points: np.ndarray, weights: np.ndarray) -> None:
        self.points, self.weights = points, weights
        self.squares = (points**2).sum(axis=1)
        self._columns = np.ascontiguousarray(points.T)
        # (m, 1 + p): gives masses and sums at once
        self._weighed = np.column_stack([weights, points * weights[:, None]])

    def assign(self, centers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the nearest center of every point, and the squared distance to that center (at least 0)."""
        if len(self.points) * len(centers) > _TREE_PAIRS and self.points.shape[1] <= 8:
            distances, labels = cKDTree(centers).query(self.points)
            return labels, distances**2
        scores = (-2 * centers) @ self._columns  # (k, m)
        scores += (centers**2).sum(axis=1)[:, None]
        labels = scores.argmin(axis=0)
        return labels, np.maximum(scores[labels, np.arange(len(labels))] + self.squares, 0)

    def move(self, centers: np.ndarray, iterations: int) -> np.ndarray:
        """Return the centers after `iterations` Lloyd iterations; a center without points stays where it is."""
        k, p = centers.shape
        for _ in range(iterations):
            labels, _ = self.assign(centers)
            if p <= _FLAT:
                sums = np.array([bincount(labels, weights=column, minlength=k) for column in self._weighed.T]).T
            else:
                sums = (labels == np.arange(k)[:, None]).astype(np.float64) @ self._weighed
            mass = sums[:, :1]
            centers = np.where(mass > 0, sums[:, 1:] / np.maximum(mass, 1e-300), centers)
        return centers


def occupied(noisy_counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mask (m,) of the positive noisy counts, and these counts as weights.

    If no count is positive, only the largest is kept, with weight 1. Counts below 1 stay as they are: if they were
    raised to 1, many empty cells would outweigh the rows when the noise is small.
    """
    mask = noisy_counts > 0
    if mask.any():
        return mask, noisy_counts[mask]
    mask = noisy_counts >= noisy_counts.max()
    return mask, np.ones(int(mask.sum()))


def spread(points: np.ndarray, weights: np.ndarray) -> float:
    """Return the weighted mean squared distance of points (m, d) from their weighted mean."""
    squares = ((points - np.average(points, axis=0, weights=weights)) ** 2).sum(axis=1)
    return float(np.average(squares, weights=weights))


def lloyd_on(points: np.ndarray, weights: np.ndarray, centers: np.ndarray, iterations: int) -> np.ndarray:
    """Return centers (k, d) after Lloyd iterations on weighted points; a center without points stays where it is."""
    return _Cloud(points, weights).move(centers, iterations)


def solve(
    points: np.ndarray, weights: np.ndarray, n_clusters: int, rng: np.random.Generator, *, jitter: float
) -> np.ndarray:
    """Return k centers (k, d) for weighted points: the best of 8 k-means++ starts, improved by swaps.

    A swap moves one center to a random point, drawn with probability proportional to weight times squared distance, and
    then runs two Lloyd iterations. If there are fewer points than centers, the remaining centers are jittered copies of
    points.
    """
    if len(points) <= n_clusters:
        extra = rng.integers(len(points), size=n_clusters - len(points))
        return np.concatenate([points, points[extra] + jitter * rng.normal(size=(len(extra), points.shape[1]))])
    seed = int(rng.integers(2**31))
    best = KMeans(n_clusters, n_init=8, random_state=seed).fit(points, sample_weight=weights).cluster_centers_
    cloud = _Cloud(points, weights)
    _, squares = cloud.assign(best)
    cumulative = np.cumsum(weights * squares)
    swaps = int(min(6 * n_clusters, 1e8 / (len(points) * n_clusters * points.shape[1])))
    for out, into in zip(rng.integers(n_clusters, size=swaps), rng.random(swaps), strict=True):
        if cumulative[-1] <= 0:
            break
        trial = best.copy()
        trial[out] = points[min(np.searchsorted(cumulative, into * cumulative[-1], side="right"), len(points) - 1)]
        trial = cloud.move(trial, 2)
        _, squares = cloud.assign(trial)
        trial_cumulative = np.cumsum(weights * squares)
        if trial_cumulative[-1] < cumulative[-1]:
            best, cumulative = trial, trial_cumulative
    return cloud.move(best, 5)


def work_of_solve(n_points: float, n_clusters: int, n_features: int) -> float:
    """Return a rough number of operations of 10 ns that `solve` needs; none if no more points than centers are left."""
    if n_points <= n_clusters:
        return 0.0
    return 3e5 + n_clusters * (9e4 + n_points * (80 + 5 * n_features))


def work_of_starts(n_points: int, n_clusters: int, n_features: int) -> float:
    """Return a rough number of operations of 10 ns for scikit-learn's k-means from 10 starts, without swaps."""
    return 1.5e6 + n_points * n_clusters * (40.0 + 4 * n_features)
