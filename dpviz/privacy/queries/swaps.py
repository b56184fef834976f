"""k-means costs of whole sets of public points, for choosing among them by the exponential mechanism."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from dpviz.geometry import GRID, clip_ball
from dpviz.privacy.block import Block
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.queries.base import COARSE, Projection, Query, Score, inside_ball, projected

__all__ = ["SetCosts", "SetScore", "SwapCosts", "SwapScore"]

_ENTRIES = 2_000_000  # maximum number of distances held at a time
_WORDS = "one row adds its squared distance, at most the largest in the ball, to the cost of every set"


def _distances(block: Block, points: np.ndarray, radius: float, projection: Projection | None) -> Iterator[np.ndarray]:
    """Yield exact squared distances (rows, m): clipped rows and points are first truncated to multiples of 2^-12."""
    seen = clip_ball(block.x if projection is None else projected(block, projection), radius)
    at = np.trunc(points / COARSE) * COARSE
    height = max(1, _ENTRIES // max(len(at), 1))
    for start in range(0, len(seen), height):
        x = np.trunc(seen[start : start + height] / COARSE) * COARSE
        yield (x * x).sum(axis=1)[:, None] - 2 * (x @ at.T) + (at * at).sum(axis=1)


def _largest(radius: float) -> float:
    """Return the largest squared distance within the ball, rounded up to the grid."""
    return math.ceil((2 * radius) ** 2 / GRID) * GRID


@dataclasses.dataclass(frozen=True, eq=False)
class SwapCosts(Query):
    """Cost of every set that leaves out one chosen point and takes in another: sums of squared distances.

    Parameters
    ----------
    points : ndarray of shape (m, d), or (m, p) with a projection, inside the ball
    chosen : ndarray of shape (k,), the current set of distinct indices
    radius : float, rows are clipped to this l2 norm; no squared distance exceeds (2 radius)^2
    projection : Projection or None

    Returns (`statistic`): "" -> ndarray of shape (k, m): the cost without chosen[i] and with points[j]. Taking in a
    point of the current set changes nothing, whichever point is left out.
    """

    points: np.ndarray
    chosen: np.ndarray
    radius: float
    projection: Projection | None = None
    reason: ClassVar[str] = _WORDS

    def __post_init__(self) -> None:
        super().__post_init__()
        inside_ball(type(self).__name__, self.points, self.radius)

    def statistic(self, block: Block) -> dict[str, np.ndarray]:
        k, m = len(self.chosen), len(self.points)
        costs = np.zeros((k, m))
        for squares in _distances(block, self.points, self.radius, self.projection):
            own = squares[:, self.chosen]
            nearest = own.argmin(axis=1)
            rows = np.arange(len(own))
            first = own[rows, nearest]
            own[rows, nearest] = np.inf
            second = own.min(axis=1) if k > 1 else np.full(len(own), _largest(self.radius))
            smaller = np.minimum(first[:, None], squares)
            costs += smaller.sum(axis=0)
            for i in range(k):
                mine = nearest == i
                left = np.minimum(second[mine, None], squares[mine])
                costs[i] += left.sum(axis=0) - smaller[mine].sum(axis=0)
            costs[:, self.chosen] += first.sum() - self._replaced(squares, first, second, nearest)
        return {"": costs}

    def _replaced(self, squares: np.ndarray, first: np.ndarray, second: np.ndarray, nearest: np.ndarray) -> np.ndarray:
        """Return the counted costs of swaps that take in a chosen point, shape (k, k); such swaps change nothing."""
        counted = np.zeros((len(self.chosen), len(self.chosen)))
        for i in range(len(self.chosen)):
            base = np.where(nearest == i, second, first)
            counted[i] = np.minimum(base[:, None], squares[:, self.chosen]).sum(axis=0)
        return counted

    def sensitivity(self, norm: float, neighboring: Neighboring) -> dict[str, float]:
        entries = 1.0 if norm == math.inf else (len(self.chosen) * len(self.points)) ** (1 / norm)
        return {"": _largest(self.radius) * entries}


@dataclasses.dataclass(frozen=True, eq=False)
class SetCosts(Query):
    """Cost of every listed set of points: the sum over rows of the squared distance to the set's nearest point.

    Parameters
    ----------
    points, radius, projection : as for `SwapCosts`
    sets : ndarray of shape (s, k), indices of points

    Returns (`statistic`): "" -> ndarray of shape (s,).
    """

    points: np.ndarray
    sets: np.ndarray
    radius: float
    projection: Projection | None = None
    reason: ClassVar[str] = _WORDS

    def __post_init__(self) -> None:
        super().__post_init__()
        inside_ball(type(self).__name__, self.points, self.radius)

    def statistic(self, block: Block) -> dict[str, np.ndarray]:
        costs = np.zeros(len(self.sets))
        for squares in _distances(block, self.points, self.radius, self.projection):
            for i, chosen in enumerate(self.sets):
                costs[i] += squares[:, chosen].min(axis=1).sum()
        return {"": costs}

    def sensitivity(self, norm: float, neighboring: Neighboring) -> dict[str, float]:
        entries = 1.0 if norm == math.inf else len(self.sets) ** (1 / norm)
        return {"": _largest(self.radius) * entries}


def _range(radius: float, neighboring: Neighboring) -> float:
    """Return the range of changes: an added row raises each cost by 0 to D; a changed row moves it either way."""
    return _largest(radius) * (1 if neighboring is Neighboring.ADD_REMOVE else 2)


@dataclasses.dataclass(frozen=True, eq=False)
class _MinusCost(Score):
    """The negative costs of a query.

    Parameters
    ----------
    costs : SwapCosts or SetCosts
    """

    costs: SwapCosts | SetCosts
    reason: ClassVar[str] = _WORDS

    @property
    def query(self) -> Query:
        return self.costs

    def utility(self, statistic: dict[str, np.ndarray]) -> np.ndarray:
        return -statistic[""].ravel()

    def range(self, neighboring: Neighboring) -> float:
        return _range(self.costs.radius, neighboring)


@dataclasses.dataclass(frozen=True, eq=False)
class SwapScore(_MinusCost):
    """The negative cost after a swap; candidate i m + j leaves out chosen[i] and takes in points[j]."""

    costs: SwapCosts


@dataclasses.dataclass(frozen=True, eq=False)
class SetScore(_MinusCost):
    """The negative cost of each listed set."""

    costs: SetCosts
