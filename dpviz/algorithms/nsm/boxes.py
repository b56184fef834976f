"""Count rows in boxes, level by level, and quarter boxes that hold many: NSM's other summary for up to 3 columns."""

from __future__ import annotations

import dataclasses
from collections.abc import Generator

import numpy as np

from dpviz.algorithms.nsm.summary import NARROWEST, PointSummary
from dpviz.domain import Domain
from dpviz.geometry import Population, clip_ball, snap
from dpviz.privacy.curator import Curator, Noisy
from dpviz.privacy.queries import NearestSums, NearestVotes
from dpviz.trace import Step

__all__ = ["MOST", "Boxes", "count_boxes"]

EVIDENT = 2.0  # a full box's count exceeds this many standard deviations of its own noise
USEFUL = 3.0  # and this many of the last counts' noise, so that a quarter is still worth counting
MOST = 2000  # maximum number of boxes
WEAK = {1: 0.0, 2: 0.0, 3: 2.5}  # boxes stay with more than this many standard deviations of noise, by columns


@dataclasses.dataclass(frozen=True)
class Boxes:
    """Disjoint boxes, made by quartering, with the counts that they have so far.

    Attributes
    ----------
    reach : float, radius of the ball around 0 that holds all rows; boxes outside are left out
    low, high : ndarrays of shape (m, d), bounds of the boxes
    totals : ndarray of shape (m,), sum of a box's noisy counts, each times its weight
    weights : ndarray of shape (m,), sum of these weights, which are inverse variances in units of a level's
    """

    reach: float
    low: np.ndarray
    high: np.ndarray
    totals: np.ndarray
    weights: np.ndarray

    @classmethod
    def first(cls, half: np.ndarray, outer: float, reach: float) -> Boxes:
        """Return the box with half-widths `half` (d,) around 0, quartered where it meets the ball that holds the rows.

        Boxes that meet the ball of radius `reach` are quartered until they are no wider than this ball, at least once.
        The other boxes within the radius `outer` stay whole, because a few rows may lie farther out than `reach`.
        """
        whole = cls(outer, -half[None], half[None].astype(np.float64), np.zeros(1), np.zeros(1))
        boxes = whole.quartered(np.array([True]))
        while (wide := (boxes.high - boxes.low).max(axis=1) > 2 * reach).any():
            wide &= _from_middle(boxes.low, boxes.high) < reach
            if not wide.any():
                break
            boxes = boxes.quartered(wide)
        return boxes

    @property
    def counts(self) -> np.ndarray:
        """Return the mean of every box's noisy counts, weighted by precision; 0 for a box not yet counted."""
        return self.totals / np.maximum(self.weights, 1e-300)

    def places(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the middles (m, d) of the boxes, moved into the ball, and their half-diagonals' squares (m,)."""
        middles = clip_ball(snap((self.low + self.high) / 2), self.reach)
        return middles, ((self.high - self.low) ** 2).sum(axis=1) / 4

    def counted(self, noisy_counts: np.ndarray, weight: float) -> Boxes:
        """Return the same boxes with one more noisy count each."""
        return dataclasses.replace(self, totals=self.totals + weight * noisy_counts, weights=self.weights + weight)

    def full(self, sd: float, last_sd: float) -> np.ndarray:
        """Return the mask of the boxes to quarter, the fullest if there are too many.

        `sd` is the standard deviation of a level's counts, `last_sd` that of the last counts.
        """
        counts = self.counts
        full = counts > np.maximum(EVIDENT * sd / np.sqrt(self.weights), USEFUL * last_sd)
        fullest = np.argsort(-np.where(full, counts, -np.inf), kind="stable")
        full[fullest[max((MOST - len(counts)) // 3, 0) :]] = False
        return full

    def quartered(self, full: np.ndarray) -> Boxes:
        """Return the boxes that are not full, then the quarters of the full ones, which have not been counted yet."""
        low, high = self.low[full], self.high[full]
        for _ in range(2):
            low, high = _halved(low, high)
        inside = _from_middle(low, high) <= self.reach
        uncounted = np.zeros(int(inside.sum()))
        new = (low[inside], high[inside], uncounted, uncounted)
        old = (self.low[~full], self.high[~full], self.totals[~full], self.weights[~full])
        return Boxes(self.reach, *(np.concatenate(both) for both in zip(old, new, strict=True)))


def _from_middle(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the distance (m,) from 0 to the nearest point of every box."""
    return np.sqrt((np.clip(0.0, low, high) ** 2).sum(axis=1))


def _halved(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the halves of boxes, cut in the middle of the widest column, the first one if several are equally wide."""
    width, every = high - low, np.arange(len(low))
    column = (width > width.max(axis=1, keepdims=True) * (1 - 1e-9)).argmax(axis=1)
    middle = (low[every, column] + high[every, column]) / 2
    below, above = high.copy(), low.copy()
    below[every, column] = above[every, column] = middle
    return np.concatenate([low, above]), np.concatenate([below, high])


def count_boxes(curator: Curator, domain: Domain, reach: float) -> Generator[Step, None, PointSummary]:
    """Yield the counts of boxes, level by level; return counts and means about the middles of the last boxes.

    A row counts at the nearest middle. A box that seems to hold many rows is quartered; all others are counted again at
    every level, and a box's counts are averaged. So boxes are small where rows are dense and large where they are
    sparse, and a few rows far out still have counts of their own.

    Parameters
    ----------
    reach : float, radius of a ball around 0 that holds nearly all rows
    """
    costs = curator.plan.costs
    ratio = costs["zoom.counts"][0].gdp / costs["boxes"][0].gdp  # of a level's noise to that of the last counts
    boxes, sd = Boxes.first(domain.box_z, domain.radius, reach), 0.0
    for level in range(1, len(costs["boxes"]) + 1):
        middles, _ = boxes.places()
        noisy = curator.release("boxes", NearestVotes(Population(middles)))
        boxes, sd = boxes.counted(noisy.value, 1.0), noisy.sd
        full = boxes.full(sd, sd / ratio)
        released = {"population": middles, "noisy_votes": noisy.value, "noise_sd": sd, "kept": full}
        title = f"Level {level}: {int(full.sum()):,} of {len(full):,} boxes seem to hold many rows and are quartered"
        yield Step("boxes", title, released)
        boxes = boxes.quartered(full)
    middles, squares = boxes.places()
    rows = np.maximum(np.where(boxes.weights > 0, boxes.counts, 1.0), 1e-9)
    clip = max(float(np.sqrt(np.average(squares, weights=rows))), NARROWEST)
    noisy = curator.release("zoom", NearestSums(middles, clip, relative=True))
    boxes = boxes.counted(noisy.value["counts"], ratio**2)
    summary = _summary(boxes, sd, middles, np.minimum(squares, clip**2), noisy)
    enough = "a positive count" if not WEAK[domain.n_features] else "a count well above its noise"
    title = f"A closer look: {len(summary.points):,} of {len(middles):,} boxes have {enough}"
    yield Step("zoom", title, summary.released)
    return summary


def _summary(boxes: Boxes, sd: float, middles: np.ndarray, squares: np.ndarray, noisy: Noisy) -> PointSummary:
    """Return the boxes that hold enough rows; means are shrunk to the middles in proportion to their noise.

    Up to 2 columns any positive count is enough: a box that noise alone may explain can hold a few rows far out, which
    cost more than a center in vain. With 3 columns there are too many empty boxes for that. `squares` (m,) are the
    squared half-diagonals, of which a third is the rows' expected squared distance.
    """
    counts, noise = boxes.counts, sd / np.sqrt(boxes.weights)
    kept = counts > WEAK[middles.shape[1]] * noise
    kept[np.argmax(counts)] = True
    weights = np.maximum(counts[kept], 1e-3)
    mass = np.maximum(np.maximum(counts, noise)[kept], 1e-3)
    prior = squares[kept] / (3 * middles.shape[1])
    gain = prior / (prior + (noisy.sd["sums"] / mass) ** 2)
    longest = float(np.sqrt((middles**2).sum(axis=1).max() + squares.max()))
    means = clip_ball(snap(middles[kept] + noisy.value["sums"][kept] * (gain / mass)[:, None]), longest)
    released = {"population": middles, "noisy_votes": noisy.value["counts"], "noise_sd": noisy.sd["counts"]}
    released |= {"kept": kept, "threshold": 0.0, "means": means, "weights": weights}
    return PointSummary(means, weights, noise[kept], released)
