"""Histograms of each cluster in each column: counts between public edges."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

import numpy as np

from dpviz.geometry import bincount
from dpviz.privacy.block import Block
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.queries.base import Query

__all__ = ["ClusterBins"]


@dataclasses.dataclass(frozen=True, eq=False)
class ClusterBins(Query):
    """Counts of the rows nearest to each of k public points, in bins between public edges of every column.

    Parameters
    ----------
    points : ndarray of shape (k, d), on the grid
    edges : ndarray of shape (d, e), ascending along a column; bin b of a column holds edge b-1 <= value < edge b

    Returns (`statistic`): "" -> ndarray of shape (k, d, e + 1), whole numbers.
    """

    points: np.ndarray
    edges: np.ndarray
    reason: ClassVar[str] = "one row counts once in every column, in one bin of its nearest center"
    whole: ClassVar[tuple[str, ...]] = ("",)
    on_grid: ClassVar[tuple[str, ...]] = ("points",)

    def statistic(self, block: Block) -> dict[str, np.ndarray]:
        k, (d, e) = len(self.points), self.edges.shape
        labels = block.nearest(self.points)
        counts = np.zeros((k, d, e + 1))
        for j, (column, edges) in enumerate(zip(block.x.T, self.edges, strict=True)):
            bins = np.searchsorted(edges, column, side="right")
            counts[:, j] = bincount(labels * (e + 1) + bins, minlength=k * (e + 1)).reshape(k, e + 1)
        return {"": counts}

    def sensitivity(self, norm: float, neighboring: Neighboring) -> dict[str, float]:
        if norm == math.inf:
            return {"": 1.0}
        entries = len(self.edges) * (1 if neighboring is Neighboring.ADD_REMOVE else 2)
        return {"": float(entries) ** (1 / norm)}
