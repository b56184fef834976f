"""Noisy Lloyd steps made the most of: counts and moves pooled over steps, a radius that follows distances, splits."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from dpviz.geometry import clip_ball, snap
from dpviz.postprocessing.center_sd import AVERAGES, POOLED, declared
from dpviz.postprocessing.spread import Shape, symmetric
from dpviz.privacy.curator import Curator, Noisy
from dpviz.privacy.queries import NearestDistances, NearestScatter, NearestSums, Projection, ShapedSums
from dpviz.trace import Step

__all__ = [
    "DISTANCES",
    "Prior",
    "Start",
    "Tracker",
    "at_most",
    "clipping_radius",
    "correct",
    "distance_edges",
    "split_merge",
]

DISTANCES = 28  # quarter octaves of a distance histogram: seven octaves
FINEST = 2.0**-8  # smallest clipping radius of squared distances: noise needs steps of the grid below it


@dataclasses.dataclass(frozen=True)
class Prior:
    """What is known of the clusters' sizes before the first correction: released values only.

    Attributes
    ----------
    counts : ndarray of shape (k,), rows of each cluster by the candidates' noisy votes
    precision : ndarray of shape (k,), one over the variance of their noise; 0 where there was no candidate
    typical : float, rows of a cluster if all were of one size
    """

    counts: np.ndarray
    precision: np.ndarray
    typical: float


@dataclasses.dataclass(frozen=True)
class Start:
    """Where corrections start: centers, a first clipping radius, the shape of their noise, and what sizes to expect."""

    centers: np.ndarray
    clip: float
    reach: float
    shape: Shape | None = None
    projection: Projection | None = None
    moment: Noisy | None = None
    middle: np.ndarray | None = None  # that the moment is about
    prior: Prior | None = None


def correct(curator: Curator, domain_radius: float, begin: Start, *, pooled: bool) -> Iterator[Step]:
    """Yield noisy Lloyd steps; the first one leaves the projection, or parts centers that share a cluster."""
    centers, clip, shape, plan = begin.centers, begin.clip, begin.shape, curator.plan.costs
    k, d, T = len(centers), curator.n_features, len(plan["step.counts"])
    tracker = Tracker(k, pooled=pooled, prior=begin.prior)
    for step in range(1, T + 1):
        released: dict[str, Any] = {}
        if "distances" in plan:
            top = min(2 * begin.reach, clip * (8 if step == 1 else math.sqrt(2)))
            released = _distances(curator, centers, shape, top, T)
            clip = at_most(released["radius"], top, begin.reach)
        absolute = begin.projection is not None and step == 1
        query: NearestSums | ShapedSums = NearestSums(centers, clip, relative=True)
        if absolute:
            query = NearestSums(centers, begin.reach, begin.projection)
        elif shape is not None:
            query = ShapedSums(centers, centers, clip, shape.matrix)
        noisy = curator.release("step", query)
        counts, sd = tracker.counts(noisy.value["counts"], noisy.sd["counts"])
        moved, mass = counts > 2 * sd, np.maximum(counts, np.maximum(2 * sd, 1.0))
        shift = noisy.value["sums"] / mass[:, None]
        if not absolute:
            shift = tracker.shrink(shift, (noisy.sd["sums"] / mass) ** 2, moved)
            shift = shift if shape is None else shape.undo(shift)
        start = np.zeros((k, d)) if absolute else centers
        parts = step == 1 and "scatter" in plan
        scatter = curator.release("scatter", NearestScatter(centers, max(clip, FINEST))) if parts else None
        centers = start + np.where(moved[:, None], shift, 0.0)
        released |= {"start": start, "noisy_counts": noisy.value["counts"], "radius": query.radius, "moved": moved}
        if scatter is not None and begin.moment is not None:
            inside = scatter.value - np.where(moved, counts * (shift**2).sum(axis=1), 0.0)
            bulk = 2 * math.sqrt(d * begin.moment.sd**2 / 2)
            middle = np.zeros(d) if begin.middle is None else begin.middle
            moment = symmetric(begin.moment)
            centers, split = split_merge(centers - middle, counts, inside, 2 * scatter.sd, moment, bulk)
            centers = centers + middle
            released["split"] = split
            if split.any():
                tracker.forget(split)
        released["centers"] = centers = clip_ball(snap(centers), domain_radius)
        width = np.ones(d) if shape is None or absolute else shape.widths
        spread = np.outer(tracker.deviation(noisy.sd["sums"] / mass), width)
        released |= declared(spread, POOLED if pooled else AVERAGES)
        yield Step("correction", f"Noisy Lloyd step {step} of {T}: {int(moved.sum())} of {k} centers move", released)


def _distances(curator: Curator, centers: np.ndarray, shape: Shape | None, top: float, T: int) -> dict[str, Any]:
    """Release how far rows lie from their center, in the shape of the step; return it with the best radius."""
    matrix = None if shape is None else shape.matrix
    noisy = curator.release("distances", NearestDistances(centers, top, DISTANCES, matrix))
    k, d, n = *centers.shape, curator.n_credible
    noise = d * (k / (n * curator.plan.costs["step.sums"][0].gdp)) ** 2 / T
    edges = distance_edges(top)
    radius = clipping_radius(noisy.value, noisy.sd, edges, noise, n)
    return {"distances": noisy.value, "distance_edges": edges, "radius": radius}


def at_most(radius: float, most: float, reach: float) -> float:
    """Return a clipping radius: never more than `most`, and never 0, even if the points are the centers."""
    return max(min(radius, most), reach / 256)


class Tracker:
    """What earlier releases say about counts and centers; released values and their noise only.

    Parameters
    ----------
    n_clusters : int
    pooled : bool; False: every step stands alone
    prior : Prior or None; with it counts begin with the candidates' and are drawn to the typical one, and the first
        step's moves are damped as the later ones are. A center that moves for the first time in a later step, or
        after a split, goes all the way.
    """

    def __init__(self, n_clusters: int, *, pooled: bool, prior: Prior | None = None) -> None:
        self._pooled, self._prior = pooled, prior
        self._doubt = np.full(n_clusters, np.inf)  # variance of every center, per column
        self._counts = np.zeros(n_clusters) if prior is None else prior.counts * prior.precision
        self._precision: float | np.ndarray = 0.0 if prior is None else prior.precision

    def counts(self, noisy_counts: np.ndarray, sd: float) -> tuple[np.ndarray, float | np.ndarray]:
        """Return the counts of all releases so far, weighted by precision, and their standard deviation."""
        if not self._pooled or sd == 0:
            return noisy_counts, sd
        self._counts = self._counts + noisy_counts / sd**2
        self._precision = self._precision + sd**-2
        counts, variance = self._counts / self._precision, self._precision**-1
        if self._prior is None:
            return counts, self._precision**-0.5
        excess = counts - self._prior.typical
        between = _excess(excess**2 - variance, variance + np.zeros(len(counts)))
        gain = between / (between + variance)
        return self._prior.typical + gain * excess, np.sqrt(gain * variance)

    def shrink(self, shifts: np.ndarray, noise: np.ndarray, moved: np.ndarray) -> np.ndarray:
        """Return shifts (k, d) times their gain: a Kalman filter whose drift is estimated from the shifts themselves.

        `noise` (k,) is the variance of a shift per column. A center drifts from step to step by what Lloyd moves it:
        its variance is the larger of what all centers show, weighted by precision, and d / (d + 4) of what this one
        shows. A center's first shift is taken as it is, unless there is a prior and it comes in the first step.
        """
        if not self._pooled or not noise.any():
            return shifts
        d, doubt = shifts.shape[1], self._doubt
        first = self._prior is not None and not np.isfinite(doubt).any()
        if first:
            doubt = np.zeros(len(shifts))  # centers are where the summary has them, until rows tell otherwise
        drifted = np.full(len(shifts), np.inf)
        known = moved & np.isfinite(doubt)
        if known.any():
            variance = (doubt + noise)[known]
            excess = (shifts[known] ** 2).sum(axis=1) / d - variance
            common = _excess(excess, variance)
            if first:  # no less than what so few numbers can tell from nothing
                common = max(common, float(variance.mean()) * math.sqrt(2 / (d * known.sum())))
            drifted[known] = doubt[known] + np.maximum(common, d / (d + 4) * np.maximum(excess, 0.0))
        gain = 1 / (1 + noise / drifted)
        self._doubt = np.where(moved, gain * noise, self._doubt)
        return shifts * np.where(moved, gain, 1.0)[:, None]

    def deviation(self, noise: np.ndarray) -> np.ndarray:
        """Return the standard deviation (k,) of every center per column; `noise` (k,) where no step told of it yet."""
        return np.where(np.isfinite(self._doubt), np.sqrt(self._doubt), noise)

    def forget(self, split: np.ndarray) -> None:
        """Start anew after a split (k,): those centers are elsewhere, and all counts are of other clusters."""
        self._doubt = np.where(split, np.inf, self._doubt)
        self._counts, self._precision = np.zeros(len(split)), 0.0


def _excess(excess: np.ndarray, variance: np.ndarray) -> float:
    """Return by how much squares exceed the variance of their noise, weighted by its inverse square; at least 0."""
    return max(0.0, float((excess / variance**2).sum() / (variance**-2).sum()))


def distance_edges(top: float) -> np.ndarray:
    """Return the outer edges (bins,) of a distance histogram, from the outside in."""
    return top * 2.0 ** (-np.arange(DISTANCES) / 4)


def clipping_radius(noisy_counts: np.ndarray, sd: float, edges: np.ndarray, noise: float, n_rows: float) -> float:
    """Return the clipping radius that costs least: noise grows with its square, bias with what it cuts off.

    What is cut off is taken to be spread over all clusters.

    Parameters
    ----------
    noisy_counts, sd, edges : the released histogram of distances, from the outside in
    noise : the mean's noise variance (all columns) at radius 1
    n_rows : float, credible number of rows
    """
    counts, outer = np.maximum(noisy_counts, 0.0), 0
    tails = np.cumsum(noisy_counts)
    while outer + 1 < len(edges) and tails[outer] <= 2 * math.sqrt(outer + 1) * sd:
        outer += 1  # so far out there is no more than noise
    counts[:outer] = 0.0
    middles = edges * 2.0 ** (-1 / 8)
    lost = np.array([(counts[:i] * np.maximum(middles[:i] - edge, 0.0)).sum() for i, edge in enumerate(edges)])
    return float(edges[np.argmin(noise * edges**2 + (lost / n_rows) ** 2)])


def split_merge(
    centers: np.ndarray, counts: np.ndarray, scatter: np.ndarray, doubt: float, moment: np.ndarray, bulk: float
) -> tuple[np.ndarray, np.ndarray]:
    """Take centers from pairs that share a cluster to clusters that share a center; released values only.

    A cluster that spreads wider than the median cluster by more than noise explains holds two. Its halves lie along
    the strongest direction that centers leave unexplained in the second moment, as far out as the excess says. A
    split and the merge that costs least (Ward's criterion) are done together while that pays; each center takes part
    once.

    Parameters
    ----------
    centers : (k, d); counts : (k,) rows of each; scatter : (k,) sums of their squared distances
    doubt : by how much a gain must exceed its cost
    moment : (d, d) symmetric; bulk : eigenvalues below it say nothing

    Returns
    -------
    centers (k, d), split (k,) : bool, centers that took part
    """
    k, mass = len(centers), np.maximum(counts, 1.0)
    excess = scatter - mass * np.median(np.maximum(scatter, 0.0) / mass)
    values, directions = np.linalg.eigh(moment - (centers.T * mass) @ centers)
    ward = mass[:, None] * mass / (mass[:, None] + mass) * ((centers[:, None] - centers) ** 2).sum(axis=2)
    np.fill_diagonal(ward, np.inf)
    centers, split = centers.copy(), np.zeros(k, dtype=bool)
    strongest = zip(np.argsort(-excess), values[::-1], directions.T[::-1], strict=False)
    for wide, value, direction in strongest:
        free = ~split & (np.arange(k) != wide)
        if split[wide] or value <= bulk or free.sum() < 2:
            break
        cost = np.where(free[:, None] & free, ward, np.inf)
        a, b = np.unravel_index(cost.argmin(), cost.shape)
        gain = min(excess[wide], value)
        if gain <= cost[a, b] + doubt:
            break
        centers[a] = (mass[a] * centers[a] + mass[b] * centers[b]) / (mass[a] + mass[b])
        half = math.sqrt(gain / mass[wide]) * direction
        centers[wide], centers[b] = centers[wide] + half, centers[wide] - half
        split[[a, b, wide]] = True
    return centers, split
