"""Norms and second moments of rows."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

import numpy as np

from dpviz.geometry import bincount, clip_ball, in_cache
from dpviz.privacy.block import Block
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.queries.base import COARSE, Projection, Query, one_entry, projected

__all__ = ["NormHistogram", "SecondMoment"]


@dataclasses.dataclass(frozen=True, eq=False)
class NormHistogram(Query):
    """Histogram of the rows' norms on a log scale.

    Bin i holds R 2^(-(i+1)/2) < |x| <= R 2^(-i/2); the last bin also holds all smaller norms.

    Parameters
    ----------
    radius : float, R; longer rows are counted in bin 0
    bins : int
    middle : ndarray of shape (d,) or None; a public point from which norms are measured, None for 0

    Returns (`statistic`): "" -> ndarray of shape (bins,), whole numbers.
    """

    radius: float
    bins: int
    middle: np.ndarray | None = None
    reason: ClassVar[str] = "one row has one norm, so it counts in one bin"
    tally: ClassVar[str | None] = ""

    def statistic(self, block: Block) -> dict[str, np.ndarray]:
        squares = np.zeros(block.n)
        for i, column in enumerate(block.x.T):  # a fixed order, so the bin depends on the row alone
            offsets = column if self.middle is None else column - self.middle[i]
            squares += offsets * offsets
        edges = self.radius**2 * 2.0 ** -np.arange(self.bins)
        below = (squares[:, None] <= edges[None, 1:]).sum(axis=1)
        return {"": bincount(below, minlength=self.bins).astype(np.float64)}

    def sensitivity(self, norm: float, neighboring: Neighboring) -> dict[str, float]:
        return {"": one_entry(norm, neighboring)}


@dataclasses.dataclass(frozen=True, eq=False)
class SecondMoment(Query):
    """Sum of x x^T over rows clipped to a ball, as a full symmetric matrix.

    Noise is drawn on all d^2 entries; averaging the matrix with its transpose then halves the variance off the
    diagonal, which gives the symmetric Gaussian noise that the sensitivity |x x^T|_F = |x|^2 requires.

    Parameters
    ----------
    radius : float, rows are clipped to this l2 norm and truncated to 2^-12
    n_features : int, d (or p with a projection); public
    projection : Projection or None
    middle : ndarray of shape (d,) (or (p,)) or None; a public point that is subtracted from rows first

    Returns (`statistic`): "" -> ndarray of shape (d, d).
    """

    radius: float
    n_features: int
    projection: Projection | None = None
    middle: np.ndarray | None = None
    reason: ClassVar[str] = "one row changes the matrix by x x^T, whose Frobenius norm is |x|^2 <= radius^2"

    def statistic(self, block: Block) -> dict[str, np.ndarray]:
        rows = block.x if self.projection is None else projected(block, self.projection)
        if rows.shape[1] != self.n_features:
            raise ValueError(f"SecondMoment: n_features must be {rows.shape[1]}, as rows have; got {self.n_features}.")
        moment = np.zeros((self.n_features, self.n_features))
        for part in in_cache(*rows.shape):
            offsets = rows[part] if self.middle is None else rows[part] - self.middle
            coarse = np.trunc(clip_ball(offsets, self.radius) / COARSE) * COARSE
            moment += coarse.T @ coarse  # exact in any order while n radius^2 <= 2^29
        return {"": moment}

    def sensitivity(self, norm: float, neighboring: Neighboring) -> dict[str, float]:
        square = self.radius**2
        if norm == 1:
            square *= self.n_features
        if neighboring is Neighboring.ADD_REMOVE:
            return {"": square}
        # |x x^T - y y^T|_F^2 = |x|^4 + |y|^4 - 2 (x.y)^2; one entry is a square in [0, r^2] or a product in
        # [-r^2 / 2, r^2 / 2], where r is the radius
        return {"": square * (math.sqrt(2.0) if norm == 2 else 1.0 if norm == math.inf else 2.0)}
