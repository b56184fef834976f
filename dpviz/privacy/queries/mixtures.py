"""Soft groups: the share of every row in each of k public Gaussians, and moments weighted by these shares."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

import numpy as np

from dpviz.geometry import clip_ball
from dpviz.privacy.block import Block
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.queries.base import Query

__all__ = ["MixtureMoments"]

_SHARE = 2.0**-8  # shares are multiples of this step, so their products with multiples of 2^-16 lie on the grid
_OFFSET, _FACTOR = 2.0**-16, 2.0**-8
# log shares are multiples of 1/256, cut off at -16, so that one table of exponentials serves every row
_FINE, _FAR = 256, 16
_EXP = np.exp(-np.arange(_FAR * _FINE + 1) / _FINE)
_LARGEST = 2.0**1000  # log shares below this bound stay finite, and so do their differences times _FINE


@dataclasses.dataclass(frozen=True, eq=False)
class MixtureMoments(Query):
    """Sums over the rows, for each of k Gaussians, of their shares, weighted offsets and weighted second moments.

    A row's shares in the Gaussians are rounded down to multiples of 2^-8 and add up to at most 1. The row's offset x -
    mean is clipped to the radius; for the second moments, the offset is measured in units of `unit` and truncated to
    multiples of 2^-8.

    Parameters
    ----------
    means : ndarray of shape (k, d), on the grid
    whiten : ndarray of shape (k, d, d), lower triangular: |whiten @ (x - mean)|^2 is the squared Mahalanobis distance
    scores : ndarray of shape (k,), log weight + log determinant of whiten
    radius : float, offsets are clipped to this l2 norm
    diagonal : bool; if true, only the squares of the columns are summed, not all products, and `whiten` is diagonal

    Returns (`statistic`): "sums" -> (k, d); "scatters" -> (k, d, d), or (k, d) if `diagonal`, in units of unit^2;
    "counts" -> (k,).
    """

    means: np.ndarray
    whiten: np.ndarray
    scores: np.ndarray
    radius: float
    diagonal: bool = False
    reason: ClassVar[str] = (
        "one row divides a weight of 1, and adds its clipped offsets and their products with these weights"
    )
    on_grid: ClassVar[tuple[str, ...]] = ("means",)

    def __post_init__(self) -> None:
        super().__post_init__()
        with np.errstate(over="ignore", invalid="ignore"):
            farthest = 1 + np.abs(self.means)  # rows lie in the box [-1, 1]^d
            squares = ((np.abs(self.whiten) * farthest[:, None, :]).sum(axis=2) ** 2).sum(axis=1)
            if not (np.abs(self.scores) + squares < _LARGEST).all():  # otherwise inf or NaN would reveal a row
                raise ValueError(
                    "MixtureMoments: means, whiten and scores must keep the shares of every row of the box finite; "
                    "got numbers that are not finite, or too large."
                )

    @property
    def unit(self) -> float:
        """Return the largest power of 2 that is not above the radius."""
        return 2.0 ** math.floor(math.log2(self.radius))

    def shares(self, x: np.ndarray) -> np.ndarray:
        """Return the share of each row in each Gaussian, shape (k, n), multiples of 2^-8 that sum to at most 1."""
        logs = np.empty((len(self.means), len(x)))
        for j, (mean, whiten) in enumerate(zip(self.means, self.whiten, strict=True)):
            squares = np.zeros(len(x))
            for a in range(x.shape[1]):  # a fixed order, so shares depend on the row alone
                part = np.zeros(len(x))
                for b in (a,) if self.diagonal else range(a + 1):
                    part += whiten[a, b] * (x[:, b] - mean[b])
                squares += part * part
            logs[j] = self.scores[j] - squares / 2
        behind = np.minimum((logs.max(axis=0, initial=-np.inf) - logs) * _FINE, _FAR * _FINE)
        raw = _EXP[behind.astype(np.int64)]
        total = np.zeros(len(x))
        for one in raw:
            total += one
        return np.floor(raw / total / _SHARE) * _SHARE

    def statistic(self, block: Block) -> dict[str, np.ndarray]:
        shares = self.shares(block.x)
        k, d = self.means.shape
        sums = np.zeros((k, d))
        scatters = np.zeros((k, d) if self.diagonal else (k, d, d))
        for j, share in enumerate(shares):
            offsets = clip_ball(block.x - self.means[j], self.radius)
            fine = np.trunc(offsets / _OFFSET) * _OFFSET
            sums[j] = (share[:, None] * fine).sum(axis=0)  # exact in any order, as multiples of 2^-24
            factors = np.trunc(offsets / (self.unit * _FACTOR)) * _FACTOR
            for a in range(d):
                for b in (a,) if self.diagonal else range(a + 1):
                    moment = (share * factors[:, a] * factors[:, b]).sum()
                    if self.diagonal:
                        scatters[j, a] = moment
                    else:
                        scatters[j, a, b] = scatters[j, b, a] = moment
        return {"sums": sums, "scatters": scatters, "counts": shares.sum(axis=1)}

    def sensitivity(self, norm: float, neighboring: Neighboring) -> dict[str, float]:
        """Return bounds on the change by one row, which follow from its shares s: |s|_2 <= |s|_1 <= 1.

        So all s_j y_j together are no longer than the longest y_j, and all s_j y_j y_j^T together are no larger than
        the largest y_j y_j^T.

        If a row changes, the worst case for the sums is two opposite offsets from one Gaussian; for the scatters it is
        two outer products, whose inner product is never negative.
        """
        columns, alone = self.means.shape[1], neighboring is Neighboring.ADD_REMOVE
        square = (self.radius / self.unit) ** 2 * (columns if norm == 1 and not self.diagonal else 1.0)
        return {
            "sums": self.radius * (math.sqrt(columns) if norm == 1 else 1.0) * (1.0 if alone else 2.0),
            "scatters": square * (1.0 if alone or norm == math.inf else 2.0 ** (1 / norm)),
            "counts": 1.0 if alone or norm == math.inf else 2.0 ** (1 / norm),
        }
