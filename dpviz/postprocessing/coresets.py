"""Cluster a released weighted point set again: for any k and objective, any number of times, at no privacy cost."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from dpviz import validate
from dpviz.domain import Domain
from dpviz.frozen import freeze
from dpviz.metrics import reference_name
from dpviz.postprocessing.at_bound import LIKE
from dpviz.postprocessing.center_sd import stated
from dpviz.postprocessing.medians import medians_on
from dpviz.trace import Coreset, Step, Trace

__all__ = ["COSTS", "MOST_K", "at_k", "elbow", "free", "further_releases", "numbers_of_centers", "price", "resolve"]

COSTS = ("k-means", "k-median")
OTHER_K = "No ± is known for these centers: the release states the noise of its own number of centers alone."
MOST_K = 12  # number of centers up to which a release is read again


def numbers_of_centers(trace: Trace) -> range:
    """Return the numbers of centers for which `at_k` reads a release again; only the run's own without a coreset."""
    own = len(trace.cluster_centers)
    points = 0 if trace.coreset is None else len(trace.coreset.points)
    return range(1, max(own, min(MOST_K, points)) + 1) if points > max(own, 1) else range(own, own + 1)


def at_k(trace: Trace, n_clusters: int) -> Trace:
    """Return a run as if it ended with another number of centers, computed from its released points alone.

    The ledger and the promise stay as they are, since nothing is read. The new centers state no noise: the noise of the
    released points is not part of a coreset. Their sizes are the sums of the points' noisy weights. With the run's own
    number of centers, the run itself is returned.

    Raises
    ------
    ValueError
        If the release has no weighted points, or fewer than `n_clusters`.
    """
    if n_clusters == len(trace.cluster_centers):
        return trace
    if trace.coreset is None:
        raise ValueError(f"{trace.name}: this run released no weighted points, so its number of centers is fixed.")
    cost = COSTS[reference_name(trace) == "KMedians"]
    centers = resolve(trace.coreset, trace.domain, n_clusters, cost=cost)
    released: dict[str, Any] = {"centers": trace.domain.normalize(centers), "center_noise": OTHER_K}
    if (sd := stated(trace)) is not None:
        released[LIKE] = sd.max(axis=0)
    title = f"{cost} on the released points with {n_clusters} center{'s' * (n_clusters != 1)}"
    last = Step("any-k", title, freeze(released), index=len(trace.steps), n_releases=len(trace.ledger))
    return dataclasses.replace(trace, steps=(*trace.steps, last), cluster_centers=freeze(centers))


def free(trace: Trace) -> str:
    """Return what another number of centers costs a run with a coreset, in a sentence that the ε spent ends."""
    points = len(trace.coreset.points) if trace.coreset else 0
    return f"Any k reads the same {points:,} released points again: no row is read, and the ε spent stays at "


def further_releases(trace: Trace) -> int:
    """Return how many releases a run made after its weighted points; its own centers use them, `at_k` does not."""
    step = next(step for step in reversed(trace.steps) if "coreset_points" in step.released)
    return len(trace.ledger) - step.n_releases


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
