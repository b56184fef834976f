"""Lloyd's update under a radius constraint: the pull of nearby rows on each center."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

import numpy as np

from dpviz.geometry import GRID, Population, cluster_sums, nearest, snap_toward_zero
from dpviz.privacy.block import Block
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.queries.base import Query, one_entry

__all__ = ["ClusterMoves"]


@dataclasses.dataclass(frozen=True, eq=False)
class ClusterMoves(Query):
    """Number of rows whose nearest center is within `radius`, and the sum of their offsets from it, for each center.

    By FastLloyd's radius constraint, a row farther away belongs to no center and adds nothing.

    Parameters
    ----------
    centers : ndarray of shape (k, d), on the grid
    radius : float
    step : float, offsets are truncated toward zero to multiples of this step; a power of 2, at least 2^-24

    Returns (`statistic`): "sums" -> (k, d), "counts" -> (k,).
    """

    centers: np.ndarray
    radius: float
    step: float = GRID
    reason: ClassVar[str] = "one row changes one count by 1 and one sum by its offset, at most the radius long"
    whole: ClassVar[tuple[str, ...]] = ("counts",)
    on_grid: ClassVar[tuple[str, ...]] = ("centers",)

    def statistic(self, block: Block) -> dict[str, np.ndarray]:
        labels = nearest(block.x, Population(self.centers))
        offsets = block.x - self.centers[labels]  # exact, because both are on the grid
        squares = np.zeros(len(offsets))
        for column in offsets.T:  # a fixed order, so a row's bits do not depend on its block
            squares += column * column
        near = np.sqrt(squares) <= self.radius * (1 - 2.0**-40)  # the margin exceeds the rounding error of a norm
        moves = offsets[near]
        if self.step > GRID:
            moves = snap_toward_zero(moves / (self.step / GRID)) * (self.step / GRID)
        sums, counts = cluster_sums(moves, labels[near], len(self.centers))
        return {"sums": sums, "counts": counts.astype(np.float64)}

    def sensitivity(self, norm: float, neighboring: Neighboring) -> dict[str, float]:
        reach = self.radius * (math.sqrt(self.centers.shape[1]) if norm == 1 else 1.0)
        if neighboring is not Neighboring.ADD_REMOVE:  # a row leaves one sum and enters another, or moves within one
            reach *= 2
        return {"sums": reach, "counts": one_entry(norm, neighboring)}

    def grid(self, part: str) -> float:
        return 1.0 if part in self.whole else self.step
