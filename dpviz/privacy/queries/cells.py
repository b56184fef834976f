"""Queries on the cells of a randomly shifted grid: row counts, sums, and membership in public balls."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

import numpy as np

from dpviz.geometry import bincount, clip_ball, cluster_sums
from dpviz.privacy.block import Block
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.queries.base import KeyQuery, Predicate, Projection, Query, one_entry, projected

__all__ = ["OccupiedCells", "CellSums", "ListedCells", "InBalls", "cell_centers"]

_MOST = 5  # maximum number of coordinates in a key


def _half(p: int) -> int:
    """Return `half`, the bound of keys: p numbers clipped to [-half, half) together fit into 64 bits."""
    if p > _MOST:
        raise ValueError(f"cells: keys must have at most {_MOST} coordinates; got {p}.")
    return 2 ** (min(16, 64 // p) - 1)


def cell_centers(keys: np.ndarray, width: float, offset: np.ndarray) -> np.ndarray:
    """Return the centers (m, p) of the cells floor((z + offset) / width) = key; on the grid for widths of 2^-i."""
    return (keys + 0.5) * width - offset


def cells(block: Block, width: float, offset: np.ndarray, projection: Projection | None) -> np.ndarray:
    """Return the cell of every row, shape (n, p), int64: exact for a width 2^-i and an offset on the grid."""
    seen = block.x if projection is None else projected(block, projection)
    half = _half(len(offset))
    return np.clip(np.floor((seen + offset) / width), -half, half - 1).astype(np.int64)


def _codes(keys: np.ndarray) -> np.ndarray:
    """Return one number per key; the numbers sort in the same order as the keys."""
    half = _half(keys.shape[1])
    code = np.zeros(len(keys), dtype=np.uint64)
    for column in keys.T:
        code = code * np.uint64(2 * half) + (column + half).astype(np.uint64)
    return code


@dataclasses.dataclass(frozen=True, eq=False)
class OccupiedCells(KeyQuery):
    """Counts of the rows in every non-empty cell of a shifted grid.

    Parameters
    ----------
    width : float, side of a cell: a power of two, so that every row's cell is decided exactly
    offset : ndarray of shape (p,), on the 2^-24 grid; p <= 5
    projection : Projection or None; if given, the cells are those of projected space
    """

    width: float
    offset: np.ndarray
    projection: Projection | None = None
    reason: ClassVar[str] = "one row lies in one cell of the grid"
    on_grid: ClassVar[tuple[str, ...]] = ("offset",)

    @property
    def l0(self) -> int:
        return 1

    def statistic(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        keys = cells(block, self.width, self.offset, self.projection)
        _, first, counts = np.unique(_codes(keys), return_index=True, return_counts=True)
        return keys[first], counts.astype(np.float64)


def _listed(
    block: Block, keys: np.ndarray, width: float, offset: np.ndarray, projection: Projection | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return (mask (n,) of the rows in a listed cell, index of the cell of each of these rows)."""
    if len(keys) == 0:
        return np.zeros(block.n, dtype=bool), np.empty(0, dtype=np.int64)
    wanted, codes = _codes(keys), _codes(cells(block, width, offset, projection))
    labels = np.minimum(np.searchsorted(wanted, codes), len(wanted) - 1)
    inside = wanted[labels] == codes
    return inside, labels[inside]


@dataclasses.dataclass(frozen=True, eq=False)
class ListedCells(Query):
    """Counts of the rows in each listed cell of a shifted grid, including empty ones.

    Parameters
    ----------
    keys : ndarray of shape (m, p), int64, in lexicographic order
    width, offset, projection : as for `OccupiedCells`

    Returns (`statistic`): "" -> ndarray of shape (m,), whole numbers.
    """

    keys: np.ndarray
    width: float
    offset: np.ndarray
    projection: Projection | None = None
    reason: ClassVar[str] = "one row lies in one cell of the grid"
    on_grid: ClassVar[tuple[str, ...]] = ("offset",)
    whole: ClassVar[tuple[str, ...]] = ("",)

    def statistic(self, block: Block) -> dict[str, np.ndarray]:
        _, labels = _listed(block, self.keys, self.width, self.offset, self.projection)
        return {"": bincount(labels, minlength=len(self.keys)).astype(np.float64)}

    def sensitivity(self, norm: float, neighboring: Neighboring) -> dict[str, float]:
        return {"": one_entry(norm, neighboring)}


@dataclasses.dataclass(frozen=True, eq=False)
class CellSums(Query):
    """Sums of the clipped rows of each listed cell, or of their clipped offsets from its center.

    Parameters
    ----------
    keys : ndarray of shape (m, p), int64, in lexicographic order, as `OccupiedCells` releases them
    width, offset, projection : as for `OccupiedCells`
    radius : float, rows (or offsets) are clipped to this l2 norm before they are added
    relative : bool; if true, offsets from the cell's center are added instead of rows; not with a projection

    Returns (`statistic`): "" -> ndarray of shape (m, d).
    """

    keys: np.ndarray
    width: float
    offset: np.ndarray
    radius: float
    projection: Projection | None = None
    relative: bool = False
    reason: ClassVar[str] = "one row lies in one cell and changes its sum by itself or its offset, clipped"
    on_grid: ClassVar[tuple[str, ...]] = ("offset",)

    def statistic(self, block: Block) -> dict[str, np.ndarray]:
        inside, labels = _listed(block, self.keys, self.width, self.offset, self.projection)
        x = block.x[inside]
        added = x - cell_centers(self.keys, self.width, self.offset)[labels] if self.relative else x
        return {"": cluster_sums(clip_ball(added, self.radius), labels, len(self.keys))[0]}

    def sensitivity(self, norm: float, neighboring: Neighboring) -> dict[str, float]:
        columns = len(self.offset) if self.projection is None else self.projection.matrix.shape[0]
        reach = self.radius * (math.sqrt(columns) if norm == 1 else 1.0)
        return {"": reach if neighboring is Neighboring.ADD_REMOVE else 2 * reach}  # a row may move within one cell


@dataclasses.dataclass(frozen=True, eq=False)
class InBalls(Predicate):
    """Part 1: rows within `radii[i]` of some `points[i]`; part 0: all others.

    Parameters
    ----------
    points : ndarray of shape (m, d), on the grid
    radii : ndarray of shape (m,)
    """

    points: np.ndarray
    radii: np.ndarray
    on_grid: ClassVar[tuple[str, ...]] = ("points",)

    def assign(self, block: Block) -> np.ndarray:
        inside = np.zeros(block.n, dtype=bool)
        for point, radius in zip(self.points, self.radii, strict=True):
            squares = np.zeros(block.n)
            # a fixed order, so that the result depends on the row alone
            for column, at in zip(block.x.T, point, strict=True):
                squares += (column - at) ** 2
            inside |= squares <= radius * radius
        return inside.astype(np.int64)
