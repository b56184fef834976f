"""Questions of the local model: each has one true answer per row, and only a randomized one is sent."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

import numpy as np

from dpviz.geometry import Population, cluster_sums, nearest
from dpviz.privacy.block import Block
from dpviz.privacy.local import public_hash
from dpviz.privacy.queries.base import Predicate, Projection, Question
from dpviz.privacy.queries.cells import cell_centers, cells

__all__ = ["ByUser", "CellOf", "NearestOf", "OffsetOf"]

_DECODED = 50_000  # number of people decoded at a time


@dataclasses.dataclass(frozen=True, eq=False)
class ByUser(Predicate):
    """A split of people into groups by a public hash of their numbers, so that no group depends on any row's values.

    Parameters
    ----------
    seed : int
    shares : tuple of float, expected shares of the groups, which add up to 1
    """

    seed: int
    shares: tuple[float, ...]
    by_user: ClassVar[bool] = True

    @property
    def parts(self) -> int:  # type: ignore[override]
        """Return the number of groups."""
        return len(self.shares)

    def assign(self, block: Block) -> np.ndarray:
        edges = np.cumsum(self.shares)[:-1] / math.fsum(self.shares)
        return np.searchsorted(edges, public_hash(self.seed, block.ids) / 2.0**64, side="right")


@dataclasses.dataclass(frozen=True, eq=False)
class CellOf(Question):
    """In which cell of a shifted grid do you lie?

    Cells are numbered within public bounds; anyone outside the bounds answers with a cell at the edge.

    Parameters
    ----------
    width, offset, projection : as for `OccupiedCells`
    low : ndarray of shape (p,), int64, the first cell in every direction
    shape : tuple of int, number of cells in every direction
    """

    width: float
    offset: np.ndarray
    low: np.ndarray
    shape: tuple[int, ...]
    projection: Projection | None = None
    reason: ClassVar[str] = "each report is randomized before it is sent"
    on_grid: ClassVar[tuple[str, ...]] = ("offset",)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def keys(self, answers: np.ndarray) -> np.ndarray:
        """Return the cells (m, p) that the answers (m,) stand for."""
        return np.stack(np.unravel_index(answers, self.shape), axis=1) + self.low

    def answers(self, block: Block) -> np.ndarray:
        steps = cells(block, self.width, self.offset, self.projection) - self.low
        return np.ravel_multi_index(tuple(np.clip(steps, 0, np.array(self.shape) - 1).T), self.shape)


@dataclasses.dataclass(frozen=True, eq=False)
class NearestOf(Question):
    """Which of these points is nearest to you? Ties go to the lowest index.

    Parameters
    ----------
    points : ndarray of shape (m, d), on the grid
    """

    points: np.ndarray
    reason: ClassVar[str] = "each report is randomized before it is sent"
    on_grid: ClassVar[tuple[str, ...]] = ("points",)

    @property
    def size(self) -> int:
        return len(self.points)

    def answers(self, block: Block) -> np.ndarray:
        return nearest(block.x, Population(self.points))


@dataclasses.dataclass(frozen=True, eq=False)
class OffsetOf(Question):
    """How far are you from your cell's anchor in one public random column, times your public random sign for that cell?

    People outside the listed cells answer 0. The random signs cancel the answers of people in other cells, so the sum
    of all people's reports, each multiplied by its sign for a cell, estimates that cell's sum of offsets.

    Parameters
    ----------
    cell : CellOf
    heavy : ndarray of shape (m,), the listed cells' numbers, sorted
    radius : float, offsets are clipped to [-radius, radius] per column; a power of two
    relative : bool; if true, offsets are measured from the cell's center, else from the origin
    seed : int, seed of the public hash that gives every person a column and signs (keyword)

    Estimates (`decode`): sums of offsets, shape (m, d).
    """

    cell: CellOf
    heavy: np.ndarray
    radius: float
    n_features: int
    relative: bool
    reason: ClassVar[str] = "each bit is randomized before it is sent"

    @property
    def spread(self) -> float:
        """Return radius sqrt(d), because the sum over n people is estimated as d times the reports of n/d people."""
        return self.radius * math.sqrt(self.n_features)

    @property
    def anchors(self) -> np.ndarray:
        """Return the points (m, d) from which offsets are measured."""
        if not self.relative:
            return np.zeros((len(self.heavy), self.n_features))
        return cell_centers(self.cell.keys(self.heavy), self.cell.width, self.cell.offset)

    def columns(self, ids: np.ndarray) -> np.ndarray:
        """Return every person's public column (n,)."""
        return (public_hash(self.seed, ids, 1) % np.uint64(self.n_features)).astype(np.int64)

    def signs(self, ids: np.ndarray) -> np.ndarray:
        """Return every person's public signs (n, m), +1 or -1."""
        words = np.stack([public_hash(self.seed, ids, 2 + i) for i in range(-(-len(self.heavy) // 64))], axis=1)
        shifts = np.arange(64, dtype=np.uint64)
        bits = (words[:, :, None] >> shifts) & np.uint64(1)
        return np.where(bits.reshape(len(ids), -1)[:, : len(self.heavy)] == 1, 1, -1).astype(np.int8)

    def _offsets(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Return (listed cell of every row or -1, offsets / radius (n, d))."""
        if len(self.heavy) == 0:
            return np.full(block.n, -1), np.zeros(block.x.shape)
        answers = self.cell.answers(block)
        labels = np.minimum(np.searchsorted(self.heavy, answers), len(self.heavy) - 1)
        labels = np.where(self.heavy[labels] == answers, labels, -1)
        return labels, np.clip((block.x - self.anchors[labels]) / self.radius, -1, 1)

    def answers(self, block: Block) -> np.ndarray:
        labels, offsets = self._offsets(block)
        listed = np.flatnonzero(labels >= 0)
        values = np.zeros(block.n)
        if len(listed):
            ids = block.ids[listed]
            chosen = offsets[listed, self.columns(ids)]
            values[listed] = chosen * self.signs(ids)[np.arange(len(listed)), labels[listed]]
        return values

    def decode(self, estimates: np.ndarray, ids: np.ndarray) -> np.ndarray:
        sums = np.zeros((len(self.heavy), self.n_features))
        if len(self.heavy) == 0:
            return sums
        columns = self.columns(ids)
        for start in range(0, len(ids), _DECODED):
            some = slice(start, start + _DECODED)
            offsets = self.signs(ids[some]) * estimates[some, None]
            for column in range(self.n_features):
                sums[:, column] += offsets[columns[some] == column].sum(axis=0)
        return sums * self.n_features * self.radius

    def truth(self, block: Block) -> dict[str, np.ndarray]:
        labels, offsets = self._offsets(block)
        inside = labels >= 0
        return {"sums": cluster_sums(offsets[inside] * self.radius, labels[inside], len(self.heavy))[0]}
