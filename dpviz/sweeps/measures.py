"""Metrics of released centers for a sweep. All metrics read raw rows: NOT PRIVATE, for public data only."""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from sklearn.metrics import pairwise_distances_argmin

from dpviz import metrics
from dpviz.datasets import Dataset
from dpviz.postprocessing.regions import agreement

__all__ = ["METRICS", "REFERENCES", "Metric", "Outcome", "peak_memory", "restart_peak_memory"]

REFERENCES = {"means": "KMeans", "medians": "KMedians"}  # objective -> label of its non-private reference


@dataclasses.dataclass(frozen=True, eq=False)
class Outcome:
    """The result of one run, with its non-private reference; everything except `data` is in z units.

    Attributes
    ----------
    data : Dataset
    Z : ndarray of shape (n, d), all rows, unclipped
    centers : ndarray of shape (k', d)
    reference : ndarray of shape (k, d), KMeans centers
    seed : int
    regions : ndarray of shape (n,) or None, the region of each row if clusters are regions; then only metrics that
        compare clusters with known groups are defined, and all others are NaN
    best_references : function that returns the centers (k, d) of several KMeans runs, for the KMeans distance; it is
        slow, so it is called on demand
    """

    data: Dataset
    Z: np.ndarray
    centers: np.ndarray
    reference: np.ndarray
    seed: int
    best_references: Callable[[], Sequence[np.ndarray]]
    regions: np.ndarray | None = None


@dataclasses.dataclass(frozen=True)
class Metric:
    """One column of a sweep: its title, its formula, and its interpretation.

    Attributes
    ----------
    relative : whether the metric is shown as a multiple of the reference's value
    objective : "means" or "medians", for the non-private reference KMeans or KMedians
    of_regions : whether the metric is defined for clusters that are regions
    """

    title: str
    compute: Callable[[Outcome], float]
    higher_is_better: bool = False
    relative: bool = False
    objective: str = "means"
    of_regions: bool = False

    @property
    def against(self) -> str:
        """Return the label of the non-private reference."""
        return REFERENCES[self.objective]

    def of(self, run: Outcome) -> float:
        """Return the metric of a run; NaN if clusters are regions and the metric is not defined for them."""
        return self.compute(run) if run.regions is None or self.of_regions else float("nan")


def _accuracy(run: Outcome) -> float:
    if run.data.labels is None:
        return float("nan")
    return metrics.majority_accuracy(run.Z, run.centers, run.data.labels)


def _agreement(run: Outcome) -> float:
    if run.data.labels is None:
        return float("nan")
    clusters = pairwise_distances_argmin(run.Z, run.centers) if run.regions is None else run.regions
    return agreement(clusters, run.data.labels)


def _kmeans_distance(run: Outcome) -> float:
    diagonal = float(np.linalg.norm(2 * run.data.domain.box_z))
    return metrics.kmeans_distances(run.centers, run.best_references()) / diagonal


METRICS = {
    "loss": Metric(
        "loss (mean squared distance)", lambda run: metrics.inertia(run.Z, run.centers) / len(run.Z), relative=True
    ),
    "inertia": Metric(
        "inertia (original units)",
        lambda run: metrics.inertia(run.data.X, run.data.domain.denormalize(run.centers)),
        relative=True,
    ),
    "median_cost": Metric(
        "k-median cost (mean distance)",
        lambda run: metrics.mean_distance(run.Z, run.centers),
        relative=True,
        objective="medians",
    ),
    "silhouette": Metric(
        "silhouette",
        lambda run: metrics.silhouette(run.Z, run.centers, np.random.default_rng(run.seed), sample=2000),
        higher_is_better=True,
    ),
    "accuracy": Metric("majority accuracy", _accuracy, higher_is_better=True),
    "ari": Metric("adjusted Rand index", _agreement, higher_is_better=True, of_regions=True),
    "distance_to_kmeans": Metric(
        "distance from the centers to KMeans' (half-widths)",
        lambda run: metrics.kmeans_distance(run.centers, run.reference)[0],
    ),
    "distance_from_kmeans": Metric(
        "distance from KMeans' centers to the run's (half-widths)",
        lambda run: metrics.kmeans_distance(run.centers, run.reference)[1],
    ),
    "kmeans_distance": Metric("KMeans distance (share of the diagonal)", _kmeans_distance),
    "davies_bouldin": Metric("Davies-Bouldin index", lambda run: metrics.davies_bouldin(run.Z, run.centers)),
    "center_mse": Metric(
        "matched center MSE (half-widths²)", lambda run: metrics.matched_center_mse(run.centers, run.reference)
    ),
}


def restart_peak_memory() -> None:
    """Reset the process's peak memory, where the system supports it (Linux)."""
    if sys.platform == "linux":
        with contextlib.suppress(
            PermissionError
        ):  # a hardened container forbids the reset, and the peak is then that of the whole process
            Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> float:
    """Return the process's peak resident memory since the last reset, in MB; NaN if the system does not report it."""
    if sys.platform != "linux":
        return float("nan")
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1000
