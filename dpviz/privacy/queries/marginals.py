"""Counts in equal bins of single columns and of pairs of columns, and the score by which a pair is chosen."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

import numpy as np

from dpviz.geometry import bincount, snap
from dpviz.privacy.block import Block
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.queries.base import Query, Score

__all__ = ["ColumnCounts", "PairScore", "PairTables"]


def _bins(block: Block, half: np.ndarray, parts: int) -> np.ndarray:
    """Return the bin of every row in every column, shape (d, n); it depends on that row and that column alone."""
    at = np.empty((len(half), block.n), dtype=np.int32)
    for bins, column, width in zip(at, block.x.T, half, strict=True):
        bins[:] = np.clip(np.floor((column + width) * (parts / (2 * width))), 0, parts - 1)
    return at


def _ones(entries: int, norm: float, neighboring: Neighboring) -> dict[str, float]:
    """Return the largest change of histograms to which every row adds 1 in one bin of each of `entries`."""
    if norm == math.inf:
        return {"": 1.0}
    return {"": float(entries * (1 if neighboring is Neighboring.ADD_REMOVE else 2)) ** (1 / norm)}


@dataclasses.dataclass(frozen=True, eq=False)
class ColumnCounts(Query):
    """Counts of the rows in every bin of every column: all one-way marginals.

    Parameters
    ----------
    half : ndarray of shape (d,), half-widths of the box around 0; rows outside are counted in the nearest bin
    parts : int, number of equal bins of each column

    Returns (`statistic`): "" -> ndarray of shape (d, parts), whole numbers.
    """

    half: np.ndarray
    parts: int
    reason: ClassVar[str] = "one row counts once in every column, in one of its bins"
    whole: ClassVar[tuple[str, ...]] = ("",)
    tally: ClassVar[str | None] = ""

    @property
    def times(self) -> int:
        return len(self.half)

    def statistic(self, block: Block) -> dict[str, np.ndarray]:
        bins = _bins(block, self.half, self.parts)
        return {"": np.stack([bincount(at, minlength=self.parts) for at in bins]).astype(np.float64)}

    def sensitivity(self, norm: float, neighboring: Neighboring) -> dict[str, float]:
        return _ones(len(self.half), norm, neighboring)


@dataclasses.dataclass(frozen=True, eq=False)
class PairTables(Query):
    """Counts of the rows in every cell of the tables of several pairs of columns: two-way marginals.

    Parameters
    ----------
    half, parts : as for `ColumnCounts`
    pairs : ndarray of shape (m, 2), int64, columns

    Returns (`statistic`): "" -> ndarray of shape (m, parts, parts), whole numbers; a pair's first column gives the row
    of its table.
    """

    half: np.ndarray
    parts: int
    pairs: np.ndarray
    reason: ClassVar[str] = "one row counts once in the table of every pair, in one of its cells"
    whole: ClassVar[tuple[str, ...]] = ("",)
    tally: ClassVar[str | None] = ""
    keep: ClassVar[bool] = True

    @property
    def times(self) -> int:
        return len(self.pairs)

    def statistic(self, block: Block) -> dict[str, np.ndarray]:
        bins, cells = _bins(block, self.half, self.parts), self.parts**2
        counts = np.empty((len(self.pairs), cells))
        for table, (first, second) in zip(counts, self.pairs, strict=True):
            table[:] = bincount(bins[first].astype(np.int64) * self.parts + bins[second], minlength=cells)
        return {"": counts.reshape(len(self.pairs), self.parts, self.parts)}

    def sensitivity(self, norm: float, neighboring: Neighboring) -> dict[str, float]:
        return _ones(len(self.pairs), norm, neighboring)


@dataclasses.dataclass(frozen=True, eq=False)
class PairScore(Score):
    """Score of each pair of columns: the sum of absolute differences between its table and a public prediction.

    One added row changes one cell of every table by 1, so it changes each score by at most 1, up or down: the scores of
    two pairs may move in opposite directions, and the range is 2.

    Parameters
    ----------
    tables : PairTables, the same object for all choices of a run
    prediction : ndarray of shape (m, parts, parts), on the 2^-24 grid, so that scores are added without rounding
    open : ndarray of shape (m,), bool; only these pairs are candidates
    """

    tables: PairTables
    prediction: np.ndarray
    open: np.ndarray
    reason: ClassVar[str] = "one row changes one cell of every table by 1, and so each score by at most 1, up or down"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.prediction == snap(self.prediction)).all():
            raise ValueError("PairScore: prediction must lie on the 2^-24 grid; call geometry.snap.")

    @property
    def query(self) -> Query:
        return self.tables

    def utility(self, statistic: dict[str, np.ndarray]) -> np.ndarray:
        """Return the utilities, one for each pair, in their order."""
        apart = np.abs(statistic[""] - self.prediction).sum(axis=(1, 2))
        return np.where(self.open, apart, -np.inf)

    def range(self, neighboring: Neighboring) -> float:
        return 2.0 if neighboring is Neighboring.ADD_REMOVE else 4.0
