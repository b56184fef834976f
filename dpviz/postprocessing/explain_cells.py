"""Explain clusters at no further cost if a run counted all cells of a public grid, from released values only.

A cluster is then a set of cells: those of its region, or those whose middles are nearest to its center. Every edge runs
along borders of cells, so each cell lies entirely on one side of it, and the share of a cluster's rows above an edge is
a ratio of two sums of counts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpviz.domain import Domain
from dpviz.geometry import bincount
from dpviz.postprocessing.center_sd import members
from dpviz.postprocessing.explain import BINS, Explanation, edges_between
from dpviz.trace import Trace

__all__ = ["of_cells", "sentences"]


def of_cells(trace: Trace) -> Explanation | None:
    """Return the counts by cluster, column and bin that follow from released counts of cells, or None without these.

    The last entry, after the k clusters, holds the cells outside all regions, which count among "all others".
    """
    first, last = trace.steps[0].released, trace.steps[-1].released
    if "counts_sd" not in first or "cells" not in first or "noisy_counts" not in first:
        return None
    cells, parts, domain = np.asarray(first["cells"]), np.asarray(first["parts"]), trace.domain
    centers = domain.normalize(trace.cluster_centers)
    k, d = centers.shape
    of = np.asarray(last["span_of_cell"]) if "span_of_cell" in last else members(cells, centers)
    edges = np.stack([_borders(j, centers, parts, domain) for j in range(d)])
    counts, variances = np.zeros((k + 1, d, BINS)), np.zeros((k + 1, d, BINS))
    for j in range(d):
        place = np.where(of < 0, k, of) * BINS + np.searchsorted(edges[j], cells[:, j])
        noisy = np.asarray(first["noisy_counts"], dtype=float)
        counts[:, j] = bincount(place, noisy, (k + 1) * BINS).reshape(k + 1, BINS)
        squares = bincount(place, minlength=(k + 1) * BINS) * float(first["counts_sd"]) ** 2
        variances[:, j] = squares.reshape(k + 1, BINS)
    return Explanation(counts, variances, domain.denormalize(edges.T).T, heavy=True)


def sentences(trace: Trace, columns: Sequence[str], units: Sequence[str] = ()) -> list[str] | None:
    """Return one sentence per cluster from the counts of cells, at no cost; None if the run did not count cells."""
    cells = of_cells(trace)
    return None if cells is None else cells.sentences(columns, units)[: len(trace.cluster_centers)]


def _borders(j: int, centers: np.ndarray, parts: np.ndarray, domain: Domain) -> np.ndarray:
    """Return the borders of cells, shape (BINS - 1,), that are nearest to the edges of `edges_between`.

    If the column has only one cell, all borders are the column's lower bound.
    """
    half, n = float(domain.box_z[j]), int(parts[j])
    wanted = domain.normalize(edges_between(domain.denormalize(centers), domain).T).T[j]
    at = np.clip(np.rint((wanted + half) * n / (2 * half)), min(1, n - 1), n - 1)
    return 2 * half * at / n - half
