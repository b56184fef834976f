"""A public grid over the whole box: every cell is listed, whether it holds rows or not."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

import numpy as np

from dpviz.geometry import bincount
from dpviz.privacy.block import Block
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.queries.base import Query, one_entry

__all__ = ["GridCounts"]


@dataclasses.dataclass(frozen=True, eq=False)
class GridCounts(Query):
    """Counts of the rows in every cell of a regular grid over the box, including empty cells.

    Parameters
    ----------
    half : ndarray of shape (d,), half-widths of the box around 0; rows outside are counted in the nearest cell
    parts : tuple of d ints, the number of equal parts of each column

    Returns (`statistic`): "" -> ndarray of shape (product of parts,), whole numbers; the last column varies fastest.
    """

    half: np.ndarray
    parts: tuple[int, ...]
    reason: ClassVar[str] = "one row lies in one cell of the grid"
    whole: ClassVar[tuple[str, ...]] = ("",)
    tally: ClassVar[str | None] = ""

    @property
    def size(self) -> int:
        """Return the public number of cells."""
        return math.prod(self.parts)

    @property
    def middles(self) -> np.ndarray:
        """Return the middles of the cells, shape (size, d), in the order of the counts."""
        left, columns = np.arange(self.size), []
        for parts in reversed(self.parts):  # `unravel_index` accepts at most 64 columns
            columns.append(left % parts)
            left = left // parts
        at = np.stack(columns[::-1], axis=1)
        return (2 * at + 1) / np.array(self.parts) * self.half - self.half

    def statistic(self, block: Block) -> dict[str, np.ndarray]:
        cell = np.zeros(block.n, dtype=np.int64)  # a row's cell depends on that row alone
        for column, half, parts in zip(block.x.T, self.half, self.parts, strict=True):
            at = np.floor((column + half) * (parts / (2 * half))).astype(np.int64)
            cell = cell * parts + np.clip(at, 0, parts - 1)
        return {"": bincount(cell, minlength=self.size).astype(np.float64)}

    def sensitivity(self, norm: float, neighboring: Neighboring) -> dict[str, float]:
        return {"": one_entry(norm, neighboring)}
