"""Find each row's region if clusters are regions, and measure how well regions agree with known groups."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import adjusted_rand_score

from dpviz.domain import Domain
from dpviz.trace import Trace

__all__ = ["agreement", "has_regions", "labels_of"]


def has_regions(trace: Trace) -> bool:
    """Return whether the run released regions; if so, distances to its centers mean nothing."""
    return "span_of_cell" in trace.steps[-1].released


def labels_of(trace: Trace, X: np.ndarray) -> np.ndarray:
    """Return the region of each row, shape (n,), or -1 for rows outside all regions; X (n, d) is in original units."""
    domain: Domain = trace.domain
    parts = np.asarray(trace.steps[0].released["parts"])
    spans = np.asarray(trace.steps[-1].released["span_of_cell"])
    X, labels = np.asarray(X, dtype=np.float64), np.full(len(X), -1)
    finite = np.isfinite(X).all(axis=1)
    z = domain.clip(domain.normalize(X[finite]))
    at = np.clip(np.floor((z + domain.box_z) * (parts / (2 * domain.box_z))).astype(np.int64), 0, parts - 1)
    cell = np.zeros(len(at), dtype=np.int64)
    for column, n in zip(at.T, parts, strict=True):
        cell = cell * n + column
    labels[finite] = spans[cell]
    return labels


def agreement(clusters: np.ndarray, groups: np.ndarray) -> float:
    """Return the adjusted Rand index of clusters and known groups, (n,) each: 1 if they are equal, about 0 by chance.

    Rows outside all regions form one more cluster; rows without a known group are left out.
    """
    known = np.isfinite(groups) & (np.asarray(groups) != -1)
    return float(adjusted_rand_score(np.asarray(groups)[known], clusters[known]))
