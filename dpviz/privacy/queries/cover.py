"""Cover rows with few cells of public grids, and split rows by a hyperplane."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from dpviz.frozen import ReadOnly
from dpviz.privacy.block import Block
from dpviz.privacy.queries.base import Predicate, Projection, projected

__all__ = ["CellCover", "Side"]


@dataclasses.dataclass(frozen=True, eq=False)
class CellCover(ReadOnly):
    """Maximum coverage: cells with many rows are picked grid by grid, and rows in a picked cell are not counted again.

    Parameters
    ----------
    half : ndarray of shape (p,), half-widths of the box that the grids divide; rows outside are counted in the nearest
        cell
    sides : tuple of floats, width of each grid's cells
    shifts : ndarray of shape (grids, p), each in [0, side)
    picks : int, number of cells picked in every grid
    projection : Projection or None, applied to rows first
    """

    half: np.ndarray
    sides: tuple[float, ...]
    shifts: np.ndarray
    picks: int
    projection: Projection | None = None
    reason: ClassVar[str] = "a row counts in one cell of each grid until a cell that holds it is picked"

    def shape(self, grid: int) -> tuple[int, ...]:
        """Return the number of cells along each column."""
        return tuple((np.floor(2 * self.half / self.sides[grid]) + 2).astype(int).tolist())

    def size(self, grid: int) -> int:
        """Return the public number of cells, occupied or not."""
        return int(np.prod(self.shape(grid), dtype=np.int64))

    def cells(self, block: Block, grid: int) -> np.ndarray:
        """Return the cell of every row, shape (n,), which depends on that row and public values only."""
        rows = block.x if self.projection is None else projected(block, self.projection)
        at = np.floor((rows + (self.half + self.shifts[grid])) / self.sides[grid]).astype(np.int64)
        return np.ravel_multi_index(tuple(at.T), self.shape(grid), mode="clip")

    def middles(self, grid: int, cells: np.ndarray) -> np.ndarray:
        """Return the middles of cells (m,), clipped to the box, shape (m, p)."""
        at = np.stack(np.unravel_index(cells, self.shape(grid)), axis=1)
        middles = (at + 0.5) * self.sides[grid] - self.half - self.shifts[grid]
        return np.clip(middles, -self.half, self.half)


@dataclasses.dataclass(frozen=True, eq=False)
class Side(Predicate):
    """Part 1: rows on the positive side of the hyperplane through 0 whose normal is a column of the projection."""

    projection: Projection
    column: int

    def assign(self, block: Block) -> np.ndarray:
        def positive(x: np.ndarray) -> np.ndarray:
            return (projected(Block(x), normal)[:, 0] >= 0).astype(np.int64)

        normal = Projection(self.projection.matrix[:, [self.column]])
        return block.derived((self.projection, self.column), positive)
