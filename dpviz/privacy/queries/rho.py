"""Statistics for rows that move by at most rho: positions, sums by a released companion, quadtree counts.

A companion is one released value per row, which `Curator.perturb_rows` draws and stores with the rows. A query may
group rows by companion: given the companions, a move changes neither other rows nor the grouping.
"""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

import numpy as np

from dpviz.geometry import GRID, Population, clip_ball, cluster_sums, nearest
from dpviz.geometry.quadtree import count_cells
from dpviz.privacy.block import Block
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.queries.base import KeyQuery, Query, one_entry

__all__ = ["NearRegionSums", "Positions", "QuadtreeCells", "CompanionSums", "near_regions"]

SNAPPED = GRID * (1 + 2.0**-20)  # the maximum that snapping and rounding add to a move, per coordinate


def moved(rho_distance: float, n_features: int, norm: float, snaps: int = 1) -> float:
    """Return the largest change of a row, in a norm, when it moves by at most rho (l2) before it is snapped."""
    if norm == math.inf:
        return rho_distance + snaps * SNAPPED
    rows = 1.0 if norm == 2 else math.sqrt(n_features)
    return rows * (rho_distance + snaps * SNAPPED * math.sqrt(n_features))


def near_regions(points: np.ndarray, regions: np.ndarray, reach: float) -> np.ndarray:
    """Return which points (n, d) lie within `reach` of a region center; each answer depends on its point alone."""
    offsets = points - regions[nearest(points, Population(regions))]
    squares = np.zeros(len(points))
    for column in offsets.T:
        squares += column * column
    return squares <= reach * reach


@dataclasses.dataclass(frozen=True, eq=False)
class Positions:
    """The rows themselves, for `Curator.perturb_rows`; allowed only if all neighbors have equally many rows.

    Parameters
    ----------
    rho_distance : float, z units
    """

    rho_distance: float
    reason: ClassVar[str] = "one row moves by at most rho, and snapping adds less than 2^-24 per column"

    def statistic(self, block: Block) -> np.ndarray:
        """Return the rows, shape (n, d)."""
        return block.x

    def sensitivity(self, n_features: int) -> float:
        """Return the l2 sensitivity under a move by at most rho."""
        return moved(self.rho_distance, n_features, 2)


@dataclasses.dataclass(frozen=True, eq=False)
class CompanionSums(Query):
    """Sum of the rows of every region, where a row's region is the one nearest to its COMPANION.

    Parameters
    ----------
    companion : str, name of the released value per row
    regions : ndarray of shape (m, d), on the grid
    rho_distance : float, z units

    Returns (`statistic`): "" -> ndarray of shape (m, d).
    """

    companion: str
    regions: np.ndarray
    rho_distance: float
    reason: ClassVar[str] = "a released noisy position decides a row's region, so a move by rho changes only one sum"
    on_grid: ClassVar[tuple[str, ...]] = ("regions",)

    def statistic(self, block: Block) -> dict[str, np.ndarray]:
        labels = nearest(block.companion(self.companion), Population(self.regions))
        return {"": cluster_sums(block.x, labels, len(self.regions))[0]}

    def sensitivity(self, norm: float, neighboring: Neighboring) -> dict[str, float]:
        d = self.regions.shape[1]
        if neighboring is Neighboring.MOVE_RHO:
            return {"": moved(self.rho_distance, d, norm)}
        corner = 1.0 if norm == math.inf else d ** (1 / norm)  # rows lie in the cube [-1, 1]^d
        return {"": corner if neighboring is Neighboring.ADD_REMOVE else 2 * corner}


@dataclasses.dataclass(frozen=True, eq=False)
class NearRegionSums(Query):
    """Number of rows and sum of clipped offsets of every region, over rows whose companion lies near some region.

    A row's region is the one nearest to the row itself, so a move may take it from one region to another.

    Parameters
    ----------
    companion : str, name of the released value per row
    regions : ndarray of shape (m, d), on the grid
    reach : float, rows whose companion is farther than this from every region are left out
    radius : float, offsets from the region's center are clipped to this l2 norm
    rho_distance : float, z units

    Returns (`statistic`): "counts" -> (m,), "sums" -> (m, d).
    """

    companion: str
    regions: np.ndarray
    reach: float
    radius: float
    rho_distance: float
    reason: ClassVar[str] = (
        "a row that moves to another region changes two counts by 1 and two sums by a clipped offset"
    )
    on_grid: ClassVar[tuple[str, ...]] = ("regions",)

    def statistic(self, block: Block) -> dict[str, np.ndarray]:
        inside = block.x[near_regions(block.companion(self.companion), self.regions, self.reach)]
        labels = nearest(inside, Population(self.regions))
        offsets = clip_ball(inside - self.regions[labels], self.radius)
        sums, counts = cluster_sums(offsets, labels, len(self.regions))
        return {"counts": counts.astype(np.float64), "sums": sums}

    def sensitivity(self, norm: float, neighboring: Neighboring) -> dict[str, float]:
        d, most = self.regions.shape[1], self.radius
        entry = most * (math.sqrt(d) if norm == 1 else 1.0)
        if neighboring is Neighboring.ADD_REMOVE:
            sums = entry
        elif neighboring is Neighboring.REPLACE:
            sums = 2 * entry
        else:  # a move takes the row to another region, or shifts its offset within one region
            sums = max(one_entry(norm, neighboring) * entry, min(2 * entry, moved(self.rho_distance, d, norm, 2)))
        return {"counts": one_entry(norm, neighboring), "sums": sums}


@dataclasses.dataclass(frozen=True, eq=False)
class QuadtreeCells(KeyQuery):
    """Row counts of the non-empty cells of several shifted quadtrees and levels.

    `geometry.quadtree.count_cells` describes the keys.

    Parameters
    ----------
    shifts : ndarray of shape (r, d), the shift of each tree
    levels : tuple of int
    """

    shifts: np.ndarray
    levels: tuple[int, ...]
    reason: ClassVar[str] = "a row is in one cell per tree and level; a moved row leaves one and enters another in each"

    @property
    def l0(self) -> int:
        return len(self.shifts) * len(self.levels)

    def statistic(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        return count_cells(block.x, self.shifts, self.levels)
