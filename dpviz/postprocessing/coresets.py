"""Cluster a released weighted point set again: for any k and objective, any number of times, at no privacy cost."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from dpviz import validate
from dpviz.domain import Domain
from dpviz.postprocessing.medians import medians_on
from dpviz.trace import Coreset

__all__ = ["COSTS", "elbow", "price", "resolve"]

COSTS = ("k-means", "k-median")


def resolve(coreset: Coreset, domain: Domain, n_clusters: int, *, cost: str = "k-means", seed: int = 0) -> np.ndarray:
    """Return centers (k, d) for a coreset, original units, computed from released values only.

    Parameters
    ----------
    n_clusters : int, at most the number of points in the coreset
    cost : "k-means" (squared distances) or "k-median" (distances), in z units
    seed : int, seed of the restarts
    """
    validate.one_of("coreset", COSTS, cost=cost)
    validate.integer("coreset", 1, len(coreset.points), n_clusters=n_clusters)
    points = domain.normalize(coreset.points)
    # with many points per center, one start is enough
    starts = int(np.clip(1000 // len(points), 1, 5))
    model = KMeans(n_clusters, n_init=starts, random_state=seed).fit(points, sample_weight=coreset.weights)
    centers = model.cluster_centers_
    if cost == "k-median":
        centers = medians_on(points, coreset.weights, centers)
    return domain.denormalize(centers)


def price(points: np.ndarray, weights: np.ndarray, centers: np.ndarray, domain: Domain, *, cost: str) -> float:
    """Return the weighted mean cost, in z units, of centers (k, d) for points (m, d), both given in original units."""
    validate.one_of("coreset", COSTS, cost=cost)
    reach = cdist(domain.normalize(points), domain.normalize(centers)).min(axis=1)
    return float(np.average(reach**2 if cost == "k-means" else reach, weights=weights))


def elbow(
    coreset: Coreset, domain: Domain, most: int, *, cost: str = "k-means", rows: np.ndarray | None = None
) -> pd.DataFrame:
    """Return the costs of 1 to `most` centers: columns k, coreset and, if raw rows are given, rows (NOT PRIVATE).

    Parameters
    ----------
    rows : ndarray of shape (n, d), original units, or None; rows with a cell that is not finite are left out
    """
    if rows is not None:
        rows = rows[np.isfinite(rows).all(axis=1)]
    lines = []
    for k in range(1, min(most, len(coreset.points)) + 1):
        centers = resolve(coreset, domain, k, cost=cost)
        line = {"k": k, "coreset": price(coreset.points, coreset.weights, centers, domain, cost=cost)}
        if rows is not None:
            line["rows"] = price(rows, np.ones(len(rows)), centers, domain, cost=cost)
        lines.append(line)
    return pd.DataFrame(lines)
