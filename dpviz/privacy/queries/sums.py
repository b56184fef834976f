"""Sums of rows by nearest point."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpviz.geometry import Population, clip_ball, cluster_sums, nearest
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.queries.base import Projection, Query, one_entry, projected

if TYPE_CHECKING:
    from dpviz.privacy.rows import Block

__all__ = ["NearestSums"]


@dataclasses.dataclass(frozen=True, eq=False)
class NearestSums(Query):
    """Number and sum of the rows nearest to each of k public points, or of their offsets from it, clipped.

    Parameters
    ----------
    points : ndarray of shape (k, d), or (k, p) with a projection, on the grid
    radius : float, rows (or offsets) are clipped to this l2 norm before they are added
    projection : Projection or None; if given, rows are assigned in projected space, added in their own
    relative : bool, add offsets x - point instead of rows; not with a projection

    Returns (`local`): "sums" -> (k, d), "counts" -> (k,).
    """

    points: np.ndarray
    radius: float
    projection: Projection | None = None
    relative: bool = False
    reason: ClassVar[str] = "one row changes one count by 1 and one sum by itself or its offset, clipped"

    def local(self, block: Block) -> dict[str, np.ndarray]:  # noqa: D102
        seen = block.x if self.projection is None else projected(block, self.projection)
        labels = nearest(seen, Population(self.points))
        added = block.x - self.points[labels] if self.relative else block.x
        sums, counts = cluster_sums(clip_ball(added, self.radius), labels, len(self.points))
        return {"sums": sums, "counts": counts.astype(np.float64)}

    def sensitivity(self, norm: float, neighboring: Neighboring) -> dict[str, float]:  # noqa: D102
        columns = self.points.shape[1] if self.projection is None else self.projection.matrix.shape[0]
        reach = self.radius * (math.sqrt(columns) if norm == 1 else 1.0)
        if neighboring is not Neighboring.ADD_REMOVE:  # leaves one sum and enters another, or moves within one
            reach *= 2
        return {"sums": reach, "counts": one_entry(norm, neighboring)}
