"""k-means on released weighted points: free of privacy cost, so it may think as long as it likes."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree
from sklearn.cluster import KMeans

__all__ = ["lloyd_on", "solve"]


def _assign(points: np.ndarray, centers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest center of every point and its squared distance; by a tree where all pairs would be slow."""
    if len(points) * len(centers) > 1_000_000 and points.shape[1] <= 8:
        distances, labels = cKDTree(centers).query(points)
        return labels, distances**2
    squares = (centers**2).sum(axis=1) - 2 * points @ centers.T
    labels = squares.argmin(axis=1)
    return labels, squares[np.arange(len(points)), labels] + (points**2).sum(axis=1)


def lloyd_on(points: np.ndarray, weights: np.ndarray, centers: np.ndarray, iterations: int) -> np.ndarray:
    """Return centers (k, d) after some Lloyd iterations on weighted points; an empty center stays."""
    for _ in range(iterations):
        labels, _ = _assign(points, centers)
        mass = np.bincount(labels, weights=weights, minlength=len(centers))
        sums = np.column_stack(
            [np.bincount(labels, weights=weights * column, minlength=len(centers)) for column in points.T]
        )
        centers = np.where(mass[:, None] > 0, sums / np.maximum(mass, 1e-300)[:, None], centers)
    return centers


def solve(
    points: np.ndarray, weights: np.ndarray, n_clusters: int, rng: np.random.Generator, *, jitter: float
) -> np.ndarray:
    """Return k centers (k, d) of weighted points: the best of 8 k-means++ starts, then swaps that improve.

    A swap moves one center to a random point, drawn by weight times squared distance, followed by two Lloyd
    iterations. With no more points than centers the missing centers are jittered copies.
    """
    if len(points) <= n_clusters:
        extra = rng.integers(len(points), size=n_clusters - len(points))
        return np.concatenate([points, points[extra] + jitter * rng.normal(size=(len(extra), points.shape[1]))])
    seed = int(rng.integers(2**31))
    model = KMeans(n_clusters, n_init=8, random_state=seed).fit(points, sample_weight=weights)
    best = model.cluster_centers_
    _, squares = _assign(points, best)
    least = float(np.maximum(squares, 0) @ weights)
    swaps = int(min(60 * n_clusters, 1e8 / (len(points) * n_clusters * points.shape[1])))
    for _ in range(swaps):
        chance = weights * np.maximum(squares, 0)
        if chance.sum() <= 0:
            break
        trial = best.copy()
        trial[rng.integers(n_clusters)] = points[rng.choice(len(points), p=chance / chance.sum())]
        trial = lloyd_on(points, weights, trial, 2)
        _, found = _assign(points, trial)
        cost = float(np.maximum(found, 0) @ weights)
        if cost < least:
            best, least, squares = trial, cost, found
    return lloyd_on(points, weights, best, 5)
