"""Sum rows by their nearest point."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

import numpy as np

from dpviz.geometry import Population, bincount, clip_ball, cluster_sums, in_cache, nearest, product, snap
from dpviz.privacy.block import Block
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.queries.base import COARSE, Projection, Query, one_entry, projected

__all__ = ["ClippedCost", "NearestDistances", "NearestScatter", "NearestSums", "ShapedSums"]


@dataclasses.dataclass(frozen=True, eq=False)
class NearestSums(Query):
    """Number of the rows nearest to each of k public points, and the sum of these rows or of their offsets, clipped.

    Parameters
    ----------
    points : ndarray of shape (k, d), or (k, p) with a projection, on the grid
    radius : float, rows (or offsets) are clipped to this l2 norm before they are added
    projection : Projection or None; if given, rows are assigned in projected space, and their offsets from its middle
        are clipped and added
    relative : bool; if true, offsets x - point are added instead of rows; not together with a projection unless `inner`
    inner : bool; if true, projected rows are added instead of rows in their own columns

    Returns (`statistic`): "sums" -> (k, d), or (k, p) if `inner`; "counts" -> (k,).
    """

    points: np.ndarray
    radius: float
    projection: Projection | None = None
    relative: bool = False
    inner: bool = False
    reason: ClassVar[str] = "one row changes one count by 1 and one sum by itself or its offset, clipped"
    whole: ClassVar[tuple[str, ...]] = ("counts",)
    tally: ClassVar[str | None] = "counts"
    on_grid: ClassVar[tuple[str, ...]] = ("points",)

    def statistic(self, block: Block) -> dict[str, np.ndarray]:
        seen = block.x if self.projection is None else projected(block, self.projection)
        labels = block.nearest(self.points) if self.projection is None else nearest(seen, Population(self.points))
        rows = seen if self.inner or self.projection is None else self.projection.centered(block.x)
        sums = np.zeros((len(self.points), rows.shape[1]))
        for part in in_cache(*rows.shape):
            added = rows[part] - self.points[labels[part]] if self.relative else rows[part]
            sums += cluster_sums(clip_ball(added, self.radius), labels[part], len(self.points))[0]
        return {"sums": sums, "counts": bincount(labels, minlength=len(self.points)).astype(np.float64)}

    def sensitivity(self, norm: float, neighboring: Neighboring) -> dict[str, float]:
        matrix = None if self.projection is None or self.inner else self.projection.matrix
        columns = self.points.shape[1] if matrix is None else matrix.shape[0]
        reach = self.radius * (math.sqrt(columns) if norm == 1 else 1.0)
        if neighboring is not Neighboring.ADD_REMOVE:  # a row leaves one sum and enters another, or moves within one
            reach *= 2
        return {"sums": reach, "counts": one_entry(norm, neighboring)}


@dataclasses.dataclass(frozen=True, eq=False)
class NearestScatter(Query):
    """Sum of squared distances of the rows nearest to each of k public points, each clipped to a radius.

    Parameters
    ----------
    points : ndarray of shape (k, d), or (k, p) with a projection, on the grid
    radius : float, offsets x - point are clipped to this l2 norm and truncated to 2^-12 before they are squared
    projection : Projection or None; if given, distances are those in projected space

    Returns (`statistic`): "" -> (k,).
    """

    points: np.ndarray
    radius: float
    projection: Projection | None = None
    reason: ClassVar[str] = "one row adds its squared distance, at most radius^2, to one sum"
    on_grid: ClassVar[tuple[str, ...]] = ("points",)

    def statistic(self, block: Block) -> dict[str, np.ndarray]:
        seen = block.x if self.projection is None else projected(block, self.projection)
        labels = block.nearest(self.points) if self.projection is None else nearest(seen, Population(self.points))
        return {"": bincount(labels, weights=_squares(self, seen, labels), minlength=len(self.points))}

    def sensitivity(self, norm: float, neighboring: Neighboring) -> dict[str, float]:
        return {"": self.radius**2 * one_entry(norm, neighboring)}


@dataclasses.dataclass(frozen=True, eq=False)
class ClippedCost(Query):
    """Sum, over all rows, of the squared distance to the nearest of k public points, each distance clipped to a radius.

    Parameters
    ----------
    points : ndarray of shape (k, d), on the grid
    radius : float, as for `NearestScatter`

    Returns (`statistic`): "" -> (1,).
    """

    points: np.ndarray
    radius: float
    reason: ClassVar[str] = "one row adds its squared distance, at most radius^2"
    on_grid: ClassVar[tuple[str, ...]] = ("points",)

    def statistic(self, block: Block) -> dict[str, np.ndarray]:
        return {"": np.array([_squares(self, block.x, block.nearest(self.points)).sum()])}

    def sensitivity(self, norm: float, neighboring: Neighboring) -> dict[str, float]:
        return {"": self.radius**2}  # a changed row takes one square from the sum and adds another; neither is negative


def _squares(query: NearestScatter | ClippedCost, rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the squared distances (n,) of rows to their points, clipped; multiples of 2^-24, exact in any order."""
    squares = np.empty(len(rows))
    for part in in_cache(*rows.shape):
        offsets = np.trunc(clip_ball(rows[part] - query.points[labels[part]], query.radius) / COARSE) * COARSE
        squares[part] = np.einsum("ij,ij->i", offsets, offsets)
    return squares


@dataclasses.dataclass(frozen=True, eq=False)
class ShapedSums(Query):
    """Number of the rows nearest to each of k public points, and the sum of their stretched offsets, clipped.

    An offset from the point's anchor is multiplied by a public matrix before it is clipped, because noise that is equal
    in all stretched columns is small in the columns that were stretched most.

    Parameters
    ----------
    points : ndarray of shape (k, d), on the grid
    anchors : ndarray of shape (k, d), on the grid; origins of the offsets, often the points themselves
    radius : float, stretched offsets are clipped to this l2 norm before they are added
    matrix : ndarray of shape (d, d)

    Returns (`statistic`): "sums" -> (k, d) of (x - anchor) @ matrix; "counts" -> (k,).
    """

    points: np.ndarray
    anchors: np.ndarray
    radius: float
    matrix: np.ndarray
    reason: ClassVar[str] = "one row changes one count by 1 and one sum by its stretched offset, clipped"
    whole: ClassVar[tuple[str, ...]] = ("counts",)
    tally: ClassVar[str | None] = "counts"
    on_grid: ClassVar[tuple[str, ...]] = ("points", "anchors")

    def statistic(self, block: Block) -> dict[str, np.ndarray]:
        labels = block.nearest(self.points)
        sums = np.zeros((len(self.points), self.matrix.shape[1]))
        for part in in_cache(*block.x.shape):
            offsets = _stretched(block.x[part], self.anchors, labels[part], self.matrix)
            sums += cluster_sums(clip_ball(snap(offsets), self.radius), labels[part], len(self.points))[0]
        return {"sums": sums, "counts": bincount(labels, minlength=len(self.points)).astype(np.float64)}

    def sensitivity(self, norm: float, neighboring: Neighboring) -> dict[str, float]:
        reach = self.radius * (math.sqrt(self.matrix.shape[1]) if norm == 1 else 1.0)
        if neighboring is not Neighboring.ADD_REMOVE:  # a row leaves one sum and enters another, or moves within one
            reach *= 2
        return {"sums": reach, "counts": one_entry(norm, neighboring)}


@dataclasses.dataclass(frozen=True, eq=False)
class NearestDistances(Query):
    """Histogram of the rows' (stretched) distances to the nearest public point, in quarter octaves from the outside in.

    Bin i holds R 2^(-(i+1)/4) < |(x - point) @ matrix| <= R 2^(-i/4); the first bin also holds all larger distances,
    the last all smaller ones.

    Parameters
    ----------
    points : ndarray of shape (k, d), on the grid
    radius : float, R
    bins : int
    matrix : ndarray of shape (d, d), or None for unstretched distances

    Returns (`statistic`): "" -> ndarray of shape (bins,), whole numbers.
    """

    points: np.ndarray
    radius: float
    bins: int
    matrix: np.ndarray | None = None
    reason: ClassVar[str] = "one row has one distance, so it counts in one bin"
    whole: ClassVar[tuple[str, ...]] = ("",)
    tally: ClassVar[str | None] = ""
    on_grid: ClassVar[tuple[str, ...]] = ("points",)

    def statistic(self, block: Block) -> dict[str, np.ndarray]:
        labels, squares = block.nearest(self.points), np.zeros(block.n)
        for part in in_cache(*block.x.shape):
            offsets = _stretched(block.x[part], self.points, labels[part], self.matrix)
            for column in offsets.T:  # a fixed order, so the bin depends on the row alone
                squares[part] += column * column
        inner = self.radius**2 * 2.0 ** (-np.arange(self.bins - 1, 0, -1) / 2)  # in ascending order
        outside = np.searchsorted(inner, squares, side="left")  # number of inner edges below the square
        return {"": bincount(self.bins - 1 - outside, minlength=self.bins).astype(np.float64)}

    def sensitivity(self, norm: float, neighboring: Neighboring) -> dict[str, float]:
        return {"": one_entry(norm, neighboring)}


def _stretched(x: np.ndarray, anchors: np.ndarray, labels: np.ndarray, matrix: np.ndarray | None) -> np.ndarray:
    """Return (x - its anchor) @ matrix, shape (n, d), in which each row depends on the same row of x alone."""
    offsets = x - anchors[labels]
    if matrix is None:
        return offsets
    reach = math.sqrt(x.shape[1]) + float(np.sqrt((anchors**2).sum(axis=1).max()))
    return product(offsets, matrix, reach)
