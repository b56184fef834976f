"""Measure the quality of centers. Every metric on raw rows is NOT PRIVATE: use it on DEMO data and in benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.metrics import (
    davies_bouldin_score,
    pairwise_distances_argmin,
    pairwise_distances_argmin_min,
    silhouette_score,
)

from dpviz import geometry
from dpviz.domain import Domain

if TYPE_CHECKING:
    from dpviz.trace import Trace

__all__ = [
    "davies_bouldin",
    "hungarian_accuracy",
    "inertia",
    "kmeans_distances",
    "kmeans_distance",
    "loss_auc",
    "loss_path",
    "majority_accuracy",
    "matched_center_mse",
    "mean_distance",
    "normalized_loss",
    "quality",
    "reference_name",
    "run_loss",
    "silhouette",
]


def inertia(X: np.ndarray, centers: np.ndarray) -> float:
    """Return the sum of the rows' squared distances to their nearest centers; X (n, d), centers (k, d), same units."""
    return geometry.inertia(np.asarray(X, dtype=np.float64), np.asarray(centers, dtype=np.float64))


def normalized_loss(X: np.ndarray, centers: np.ndarray, domain: Domain | None = None) -> float:
    """Return the mean squared distance of the unclipped rows X (n, d) to their nearest centers.

    Rows and centers (k, d) are in original units; with a domain the loss is in z units. Rows with a cell that is not
    finite are left out.
    """
    X, centers = np.asarray(X, dtype=np.float64), np.asarray(centers, dtype=np.float64)
    X = X[np.isfinite(X).all(axis=1)]
    if domain is not None:
        X, centers = domain.normalize(X), domain.normalize(centers)
    return inertia(X, centers) / len(X)


def mean_distance(X: np.ndarray, centers: np.ndarray) -> float:
    """Return the rows' mean distance to their nearest centers (k-median); X (n, d), centers (k, d), same units."""
    return float(pairwise_distances_argmin_min(X, centers)[1].mean())


def reference_name(trace: Trace) -> str:
    """Return the name of a run's reference: KMeans, or KMedians if its objective is "medians"."""
    return "KMedians" if trace.parameters.get("objective") == "medians" else "KMeans"


def run_loss(trace: Trace, X: np.ndarray, centers: np.ndarray | None = None) -> float:
    """Return the loss that a run minimizes, for its own or other centers (k, d); X (n, d), both in original units.

    The loss is the mean squared distance in z units, or the mean distance if the objective is "medians".
    """
    centers = trace.cluster_centers if centers is None else centers
    if reference_name(trace) == "KMeans":
        return normalized_loss(X, centers, trace.domain)
    Z = trace.domain.normalize(X)
    return mean_distance(Z[np.isfinite(Z).all(axis=1)], trace.domain.normalize(centers))


def loss_path(trace: Trace, X: np.ndarray) -> np.ndarray:
    """Return the loss (z units) of the centers of every step, shape (steps,); NaN before the first centers.

    This loss is the one that the run minimizes: the mean squared distance, or the mean distance if the objective is
    "medians".
    """
    medians = reference_name(trace) == "KMedians"
    Z = trace.domain.normalize(X)
    Z = Z[np.isfinite(Z).all(axis=1)]
    losses = []
    for step in trace.steps:
        centers = step.released.get("centers")
        if centers is None:
            centers = next((h.statistic["centers"] for h in step.hidden if "centers" in h.statistic), None)
        if centers is None:
            losses.append(np.nan)
        else:
            losses.append(mean_distance(Z, centers) if medians else geometry.inertia(Z, centers) / len(Z))
    return np.array(losses)


def _labels(X: np.ndarray, centers: np.ndarray) -> np.ndarray:
    return pairwise_distances_argmin(X, centers)


def silhouette(X: np.ndarray, centers: np.ndarray, rng: np.random.Generator, *, sample: int = 10_000) -> float:
    """Return the mean silhouette of at most `sample` rows X (n, d); -1 if there is one cluster, or as many as rows."""
    chosen = X if len(X) <= sample else X[rng.choice(len(X), sample, replace=False)]
    labels = _labels(chosen, centers)
    if not 1 < len(np.unique(labels)) < len(chosen):
        return -1.0
    return float(silhouette_score(chosen, labels))


def davies_bouldin(X: np.ndarray, centers: np.ndarray) -> float:
    """Return the Davies-Bouldin index of the nearest-center assignment; NaN if all rows have the same nearest center.

    X (n, d) and centers (k, d) are in the same units.
    """
    labels = _labels(X, centers)
    return float(davies_bouldin_score(X, labels)) if len(np.unique(labels)) > 1 else float("nan")


def _confusion(X: np.ndarray, centers: np.ndarray, labels: np.ndarray) -> np.ndarray:
    classes, codes = np.unique(labels, return_inverse=True)
    table = np.zeros((len(centers), len(classes)))
    np.add.at(table, (_labels(X, centers), codes), 1)
    return table


def majority_accuracy(X: np.ndarray, centers: np.ndarray, labels: np.ndarray) -> float:
    """Return the share of rows whose label is the most frequent one in their cluster.

    Splitting a cluster never lowers this share. X (n, d) and centers (k, d) are in the same units; labels have shape
    (n,).
    """
    return float(_confusion(X, centers, labels).max(axis=1).sum() / len(X))


def hungarian_accuracy(X: np.ndarray, centers: np.ndarray, labels: np.ndarray) -> float:
    """Return the share of rows whose cluster is matched with their label, under the best one-to-one matching.

    X (n, d) and centers (k, d) are in the same units; labels have shape (n,).
    """
    table = _confusion(X, centers, labels)
    return float(table[linear_sum_assignment(-table)].sum() / len(X))


def kmeans_distance(centers: np.ndarray, reference: np.ndarray) -> tuple[float, float]:
    """Return the mean distance from a center to its nearest reference, and from a reference to its nearest center.

    One direction alone misleads: too few centers score well in the first, too many in the second. Centers (k', d) and
    reference (k, d) are in the same units.
    """
    distances = cdist(centers, reference)
    return float(distances.min(axis=1).mean()), float(distances.min(axis=0).mean())


def kmeans_distances(centers: np.ndarray, references: Sequence[np.ndarray]) -> float:
    """Return the KMeans distance of the DPM paper (Definition 9) per center: 0 if every center is one of KMeans'.

    This distance is the sum over centers of the distance to the nearest reference, averaged over several KMeans results
    and divided by the number of centers, because the paper prints a normalized distance and a sum grows with that
    number.
    """
    return float(np.mean([cdist(centers, reference).min(axis=1).mean() for reference in references]))


def matched_center_mse(centers: np.ndarray, reference: np.ndarray) -> float:
    """Return the mean squared distance of centers (k', d) and reference (k, d) under the best one-to-one matching."""
    squares = cdist(centers, reference, "sqeuclidean")
    return float(squares[linear_sum_assignment(squares)].mean())


def quality(
    X: np.ndarray, centers: np.ndarray, reference: np.ndarray, domain: Domain, labels: np.ndarray | None = None
) -> dict[str, float]:
    """Return the DPM paper's measures, in z units, for the assignment of all rows to their nearest centers.

    There are two accuracies because a majority vote can only gain from more centers, and two directions of the KMeans
    distance (as shares of the domain's diagonal) because each favors one side. X (n, d), centers (k', d) and reference
    (k, d) are in original units, labels (n,) or None; the silhouette uses a fixed sample of 3000 rows.
    """
    Z, z, reference = (domain.normalize(points) for points in (X, centers, reference))
    finite = np.isfinite(Z).all(axis=1)
    Z = Z[finite]
    there, back = np.array(kmeans_distance(z, reference)) / float(np.linalg.norm(2 * domain.box_z))
    measures = {"loss": inertia(Z, z) / len(Z), "silhouette": silhouette(Z, z, np.random.default_rng(0), sample=3000)}
    if labels is not None:
        measures["majority accuracy"] = majority_accuracy(Z, z, labels[finite])
        measures["one-to-one accuracy"] = hungarian_accuracy(Z, z, labels[finite])
    return measures | {"distance to KMeans": there, "distance from KMeans": back, "centers": float(len(z))}


def loss_auc(epsilons: Sequence[float], losses: Sequence[float]) -> float:
    """Return the area under the curve of the loss against epsilon (PE-means, equation 7).

    The trapezoid rule is used, and the area is not divided by the width of the range of epsilon.
    """
    order = np.argsort(epsilons)
    return float(np.trapezoid(np.asarray(losses, dtype=float)[order], np.asarray(epsilons, dtype=float)[order]))
