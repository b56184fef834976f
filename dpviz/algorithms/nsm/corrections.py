"""Correct centers with noisy Lloyd steps: pool counts and moves, adapt the radius to distances, split clusters."""

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
    "far_out",
    "split_merge",
]

DISTANCES = 28  # number of bins in a distance histogram: quarter octaves over a span of seven octaves
FAR, EVIDENT = 0.003, 3.5  # least share of the rows, and of the noise's sd, that `far_out` takes for a group
FINEST = 2.0**-8  # smallest clipping radius for scatter, so that the noise is wider than the grid


@dataclasses.dataclass(frozen=True)
class Prior:
    """Released information about cluster sizes before the first correction.

    Attributes
    ----------
    counts : ndarray of shape (k,), number of rows of each cluster, estimated from the candidates' noisy votes
    precision : ndarray of shape (k,), inverse variance of their noise; 0 for a center without candidates
    typical : float, number of rows of each cluster if all had the same size
    """

    counts: np.ndarray
    precision: np.ndarray
    typical: float


@dataclasses.dataclass(frozen=True)
class Start:
    """Start of the corrections: centers, a first clipping radius, the noise's shape, and expected sizes."""

    centers: np.ndarray
    clip: float
    reach: float
    shape: Shape | None = None
    projection: Projection | None = None
    moment: Noisy | None = None
    middle: np.ndarray | None = None  # origin of the second moment
    prior: Prior | None = None


def correct(curator: Curator, domain_radius: float, begin: Start, *, pooled: bool) -> Iterator[Step]:
    """Yield noisy Lloyd steps; the first undoes the projection, or separates centers that share a cluster."""
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
        start = centers
        if begin.projection is not None and absolute:  # the rows' offsets from the projection's middle were added
            start = np.zeros((k, d)) + (0.0 if begin.projection.middle is None else begin.projection.middle)
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
    """Release a histogram of the (stretched) distances to the centers; return it with the best clipping radius."""
    matrix = None if shape is None else shape.matrix
    noisy = curator.release("distances", NearestDistances(centers, top, DISTANCES, matrix))
    k, d, n = *centers.shape, curator.n_credible
    noise = d * (k / (n * curator.plan.costs["step.sums"][0].gdp)) ** 2 / T
    edges = distance_edges(top)
    radius = clipping_radius(noisy.value, noisy.sd, edges, noise, n)
    return {"distances": noisy.value, "distance_edges": edges, "radius": radius}


def at_most(radius: float, most: float, reach: float) -> float:
    """Return `radius`, at most `most` but at least `reach` / 256, so that it is above 0 if points equal centers."""
    return max(min(radius, most), reach / 256)


class Tracker:
    """Track estimates of counts and centers across releases; use released values and their noise only.

    Parameters
    ----------
    n_clusters : int
    pooled : bool; if False, every step is used alone
    prior : Prior or None; with a prior, counts start from the candidates' counts and are shrunk toward the typical
        size, and the first step's moves are damped like later ones. A center's first move in a later step, or after a
        split, is not damped.
    """

    def __init__(self, n_clusters: int, *, pooled: bool, prior: Prior | None = None) -> None:
        self._pooled, self._prior = pooled, prior
        self._doubt = np.full(n_clusters, np.inf)  # variance of every center, per column
        self._counts = np.zeros(n_clusters) if prior is None else prior.counts * prior.precision
        self._precision: float | np.ndarray = 0.0 if prior is None else prior.precision

    def counts(self, noisy_counts: np.ndarray, sd: float) -> tuple[np.ndarray, float | np.ndarray]:
        """Return the precision-weighted mean of the counts so far (shrunk if there is a prior) and its sd."""
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
        """Return shifts (k, d) times their gain: a Kalman filter that estimates its drift from the shifts themselves.

        `noise` (k,) is the variance of a shift per column. A center drifts from step to step because Lloyd moves it.
        The drift's variance is the larger of the estimate from all centers, weighted by precision, and d / (d + 4)
        times the estimate from this center. A center's first shift is damped only if there is a prior and the shift
        comes in the first step.
        """
        if not self._pooled or not noise.any():
            return shifts
        d, doubt = shifts.shape[1], self._doubt
        first = self._prior is not None and not np.isfinite(doubt).any()
        if first:
            doubt = np.zeros(len(shifts))  # centers stay where the summary puts them until rows contradict it
        drifted = np.full(len(shifts), np.inf)
        known = moved & np.isfinite(doubt)
        if known.any():
            variance = (doubt + noise)[known]
            excess = (shifts[known] ** 2).sum(axis=1) / d - variance
            common = _excess(excess, variance)
            if first:  # at least the smallest drift that so few numbers can distinguish from 0
                common = max(common, float(variance.mean()) * math.sqrt(2 / (d * known.sum())))
            drifted[known] = doubt[known] + np.maximum(common, d / (d + 4) * np.maximum(excess, 0.0))
        gain = 1 / (1 + noise / drifted)
        self._doubt = np.where(moved, gain * noise, self._doubt)
        return shifts * np.where(moved, gain, 1.0)[:, None]

    def deviation(self, noise: np.ndarray) -> np.ndarray:
        """Return each center's standard deviation (k,) per column; before its first step, `noise` (k,)."""
        return np.where(np.isfinite(self._doubt), np.sqrt(self._doubt), noise)

    def forget(self, split: np.ndarray) -> None:
        """Forget the estimates of split centers (mask (k,)), which moved, and all counts, which predate the split."""
        self._doubt = np.where(split, np.inf, self._doubt)
        self._counts, self._precision = np.zeros(len(split)), 0.0


def _excess(excess: np.ndarray, variance: np.ndarray) -> float:
    """Return the mean of `excess`, squares minus noise variance, weighted by inverse squared variance; at least 0."""
    return max(0.0, float((excess / variance**2).sum() / (variance**-2).sum()))


def distance_edges(top: float) -> np.ndarray:
    """Return the outer edges (bins,) of a distance histogram, from the outside in."""
    return top * 2.0 ** (-np.arange(DISTANCES) / 4)


def far_out(noisy_counts: np.ndarray, sd: float, edges: np.ndarray) -> tuple[float, float, float]:
    """Return what a released histogram of distances shows of rows that lie far from all centers.

    The outermost cells that together hold clearly more rows than their noise alone would suggest are the far ones.

    Parameters
    ----------
    noisy_counts, sd, edges : the histogram with its noise and outer edges, from the outside in

    Returns
    -------
    rows, away, squares : the share of the rows that are far, how many times as far as the median row they begin, and
        their share of all squared distances; 0, 1, 0 if no cells stand out
    """
    middles, inward = edges * 2.0 ** (-1 / 8), np.cumsum(noisy_counts)
    n_rows, noise = max(inward[-1], 1.0), sd * np.sqrt(np.arange(1, len(edges) + 1))
    found = np.flatnonzero((inward >= EVIDENT * noise) & (inward >= FAR * n_rows))
    if not len(found):
        return 0.0, 1.0, 0.0
    last, seen = found[0], np.cumsum(np.maximum(noisy_counts, 0.0))
    median, squares = np.searchsorted(seen, seen[-1] / 2), noisy_counts * middles**2
    share = float(squares[: last + 1].sum() / max(squares.sum(), 1e-300))
    return float(inward[last] / n_rows), float(middles[last] / middles[median]), min(max(share, 0.0), 1.0)


def clipping_radius(noisy_counts: np.ndarray, sd: float, edges: np.ndarray, noise: float, n_rows: float) -> float:
    """Return the clipping radius with the smallest error.

    The noise variance grows with the square of the radius, and the bias with the distances that the radius cuts off.
    The bias is assumed to be spread over all clusters.

    Parameters
    ----------
    noisy_counts, sd, edges : the released histogram of distances with its noise and outer edges, from the outside in
    noise : noise variance of a mean, summed over all columns, at a clipping radius of 1
    n_rows : float, credible number of rows
    """
    counts, outer = np.maximum(noisy_counts, 0.0), 0
    tails = np.cumsum(noisy_counts)
    while outer + 1 < len(edges) and tails[outer] <= 2 * math.sqrt(outer + 1) * sd:
        outer += 1  # noise alone explains this shell
    counts[:outer] = 0.0
    middles = edges * 2.0 ** (-1 / 8)
    lost = np.array([(counts[:i] * np.maximum(middles[:i] - edge, 0.0)).sum() for i, edge in enumerate(edges)])
    return float(edges[np.argmin(noise * edges**2 + (lost / n_rows) ** 2)])


def split_merge(
    centers: np.ndarray, counts: np.ndarray, scatter: np.ndarray, doubt: float, moment: np.ndarray, bulk: float
) -> tuple[np.ndarray, np.ndarray]:
    """Move centers from pairs that share a cluster to clusters that share a center; use released values only.

    A cluster is taken to be two if its spread exceeds the median cluster's by more than noise alone would explain. The
    centers of the cluster's halves are placed along the direction in which the second moment most exceeds what the
    centers explain, at a distance set by the excess. A split is paired with the cheapest merge (Ward's criterion) as
    long as the two together gain enough; each center takes part at most once.

    Parameters
    ----------
    centers : ndarray of shape (k, d)
    counts : ndarray of shape (k,), number of rows of each cluster
    scatter : ndarray of shape (k,), sum of the squared distances of each cluster's rows
    doubt : float, the amount by which a gain must exceed its cost
    moment : ndarray of shape (d, d), symmetric
    bulk : float, the value below which eigenvalues of `moment` are noise

    Returns
    -------
    centers : ndarray of shape (k, d)
    split : ndarray of shape (k,), bool, the centers that took part in a split or a merge
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
