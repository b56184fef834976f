"""Axis-aligned regions: half-interval histograms, the score of a cut, the two sides of a cut, sums inside a region."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar, Self

import numpy as np

from dpviz.geometry import GRID, bincount, clip_ball, snap_toward_zero
from dpviz.privacy.block import Block
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.queries.base import Predicate, Query, Score

__all__ = ["Below", "HalfIntervalCounts", "RegionSum", "SplitScore"]

_ROWS = 1024  # number of rows that fit in the cache
_ROUND = 1 + 2.0**-40  # a factor that exceeds the rounding error of a norm in float64


@dataclasses.dataclass(frozen=True, eq=False)
class HalfIntervalCounts(Query):
    """Counts of the rows in each half-interval of every column, which suffice to score every cut of a region.

    Column i is divided into `intervals` equal intervals, each into two halves: a row has code floor((x_i - low_i) /
    half_i), exact because x, low and half are whole multiples of 2^-24. Cut j lies in the middle of interval j: the
    rows below it have codes 0..2j, and those of its interval have codes 2j and 2j + 1.

    Parameters
    ----------
    low : ndarray of shape (d,), on the grid; no row lies below it
    half : ndarray of shape (d,), half an interval, on the grid; no row lies at low + 2 intervals half or above
    intervals : int, number of intervals per column

    Returns (`statistic`): "" -> ndarray of shape (d, 2 intervals).
    """

    low: np.ndarray
    half: np.ndarray
    intervals: int
    reason: ClassVar[str] = "one row counts in one half-interval of every column"
    on_grid: ClassVar[tuple[str, ...]] = ("low", "half")
    keep: ClassVar[bool] = True

    @classmethod
    def over(cls, half_widths: np.ndarray, interval: float) -> Self:
        """Divide the box with these half-widths (d,) into intervals of the public share `interval` of each width."""
        high = snap_toward_zero(half_widths)
        intervals = max(1, int(1 / interval + 1e-9))
        return cls(-high, (np.floor(high / intervals / GRID) + 1) * GRID, intervals)

    @property
    def cuts(self) -> np.ndarray:
        """Return the positions of the cuts, shape (d, intervals)."""
        return self.low[:, None] + self.half[:, None] * (2 * np.arange(self.intervals) + 1)

    def statistic(self, block: Block) -> dict[str, np.ndarray]:
        codes = block.derived(self, self._codes)
        return {"": np.stack([bincount(column, minlength=2 * self.intervals) for column in codes.T])}

    def _codes(self, x: np.ndarray) -> np.ndarray:
        codes = np.empty(x.shape, dtype=np.uint8 if 2 * self.intervals <= 256 else np.uint16)
        for start in range(0, len(x), _ROWS):
            block = (x[start : start + _ROWS] - self.low) / self.half
            codes[start : start + _ROWS] = np.minimum(block, 2 * self.intervals - 1)
        return codes

    def sensitivity(self, norm: float, neighboring: Neighboring) -> dict[str, float]:
        entries = len(self.low) * (1 if neighboring is Neighboring.ADD_REMOVE else 2)
        return {"": 1.0 if norm == math.inf else float(entries) ** (1 / norm)}


@dataclasses.dataclass(frozen=True, eq=False)
class SplitScore(Score):
    """Score of each cut of a region, high if few rows are near the cut (emptiness) and many on both sides (centreness).

    With the region's NOISY count n, r rows below the cut, e rows in its interval and m = min(r, n - r), the utility is
    n times the paper's score: u = n c + alpha clip(n - e, 0, n), where n c = m t/q for m <= n q and
    n (t - 2q)/(1 - 2q) + m (1 - t)/(1/2 - q) above. Given n, one added row changes u by at least -(t/q + alpha) and at
    most t/q, whatever the true count is.

    Parameters
    ----------
    histogram : HalfIntervalCounts, the same object for all regions of a run
    noisy_count : float, n; noise may have made it negative
    low, high : ndarray of shape (d,), the region; only cuts strictly inside are candidates
    t, q, alpha : floats with t >= 2 q > 0
    double : bool; if true, the declared range is 2 (t/q + alpha), as in the published code, instead of 2 t/q + alpha
    """

    histogram: HalfIntervalCounts
    noisy_count: float
    low: np.ndarray
    high: np.ndarray
    t: float
    q: float
    alpha: float
    double: bool = False
    reason: ClassVar[str] = "given the noisy count, one row moves a cut's score between -(t/q + alpha) and t/q"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (0 < 2 * self.q <= self.t and self.q < 0.5 and self.alpha >= 0 and math.isfinite(self.noisy_count)):
            raise ValueError(
                f"SplitScore: the range holds for 0 < 2 q <= t, q < 1/2, alpha >= 0 and a finite count; got t = "
                f"{self.t}, q = {self.q}, alpha = {self.alpha}, count = {self.noisy_count}."
            )

    @property
    def query(self) -> Query:
        return self.histogram

    @property
    def inside(self) -> np.ndarray:
        """Return the mask of the cuts that lie strictly inside the region, shape (d, intervals)."""
        cuts = self.histogram.cuts
        return (self.low[:, None] < cuts) & (cuts < self.high[:, None])

    def utility(self, statistic: dict[str, np.ndarray]) -> np.ndarray:
        """Return the utilities; that of cut j of column i is at index i intervals + j."""
        n, halves = self.noisy_count, statistic[""]
        below = np.cumsum(halves, axis=1)[:, ::2]
        smaller = np.minimum(below, n - below)
        outer = smaller * (self.t / self.q)
        inner = n * (self.t - 2 * self.q) / (1 - 2 * self.q) + smaller * (1 - self.t) / (0.5 - self.q)
        utility = np.where(smaller <= n * self.q, outer, inner) + self.parts(statistic)["emptiness"].reshape(
            below.shape
        )
        return np.where(self.inside, utility, -np.inf).ravel()

    def parts(self, statistic: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return "emptiness", alpha times the number of rows outside each cut's interval, shaped as `utility`."""
        n, halves = self.noisy_count, statistic[""]
        return {"emptiness": self.alpha * np.clip(n - (halves[:, ::2] + halves[:, 1::2]), 0, n).ravel()}

    def range(self, neighboring: Neighboring) -> float:
        slope = self.t / self.q
        width = 2 * (slope + self.alpha) if self.double else 2 * slope + self.alpha
        return width if neighboring is Neighboring.ADD_REMOVE else 2 * width


@dataclasses.dataclass(frozen=True, eq=False)
class Below(Predicate):
    """Part 0: rows with x_column < position; part 1: all other rows."""

    column: int
    position: float

    def assign(self, block: Block) -> np.ndarray:
        return (block.column(self.column) >= self.position).astype(np.int64)


@dataclasses.dataclass(frozen=True, eq=False)
class RegionSum(Query):
    """Sum of offsets x - middle, each clipped to a box of half-widths `half` and to the l2 norm `radius`.

    Parameters
    ----------
    middle, half : ndarrays of shape (d,), on the grid
    radius : float
    """

    middle: np.ndarray
    half: np.ndarray
    radius: float
    reason: ClassVar[str] = "one row adds its offset from the region's middle, at most half the region's diagonal"
    on_grid: ClassVar[tuple[str, ...]] = ("middle", "half")

    def statistic(self, block: Block) -> dict[str, np.ndarray]:
        offsets = np.clip(block.x - self.middle, -self.half, self.half)
        if self.radius < float(np.linalg.norm(self.half)):
            offsets = clip_ball(offsets, self.radius)
        return {"": offsets.sum(axis=0)}  # exact in any order, because all terms are multiples of 2^-24

    def sensitivity(self, norm: float, neighboring: Neighboring) -> dict[str, float]:
        long = self.radius * (math.sqrt(len(self.half)) if norm == 1 else 1.0)
        reach = min(float(np.linalg.norm(self.half, norm)) * _ROUND, long)
        return {"": reach if neighboring is Neighboring.ADD_REMOVE else 2 * reach}
