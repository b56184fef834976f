"""Release a noisy summary of the rows: for each of many candidates, the number and the mean of the rows near it."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from dpviz.algorithms.nsm.corrections import Prior
from dpviz.geometry import bincount, clip_ball, snap
from dpviz.postprocessing.center_sd import members
from dpviz.postprocessing.spread import Leftover, Shape, Spread
from dpviz.privacy.curator import Curator, Noisy
from dpviz.privacy.queries import NearestSums, Projection, ShapedSums

__all__ = [
    "NARROWEST",
    "PointSummary",
    "about_middle",
    "about_points",
    "nearest_share",
    "scatter_of",
    "shaped",
    "sizes",
    "strong",
    "thinned",
]

THINNER = 0.5  # minimum distance between outside candidates, as a share of their distance from the kept ones
IN_ALL = 3.0  # the outside candidates' total must exceed this many standard deviations of its noise
NARROWEST = 2.0**-12  # smallest clipping radius of offsets, so that the noise is wider than the grid


@dataclasses.dataclass(frozen=True)
class PointSummary:
    """Released weighted points.

    Attributes
    ----------
    points : ndarray of shape (m, p)
    weights : ndarray of shape (m,), > 0
    noise_sd : float or ndarray of shape (m,), standard deviation of every weight's noise
    released : values that the step releases
    """

    points: np.ndarray
    weights: np.ndarray
    noise_sd: float | np.ndarray
    released: dict[str, Any]


def thinned(population: np.ndarray, heavy: np.ndarray, least: float) -> np.ndarray:
    """Return dropped candidates (m, p), thinned out more strongly the farther they lie from the kept ones.

    Where rows are sparse, a candidate must cover a large space, or noise hides its count. Beyond `least` from all kept
    ones, two candidates are at least half as far apart as the farther of them is from the kept ones.
    """
    away = cKDTree(population[heavy]).query(population)[0]
    outside = np.flatnonzero(away > least)
    outside = outside[np.argsort(away[outside], kind="stable")]
    chosen = []
    while len(outside):
        chosen.append(outside[0])
        apart = np.sqrt(((population[outside] - population[outside[0]]) ** 2).sum(axis=1))
        outside = outside[apart >= THINNER * away[outside]]
    return population[np.array(chosen, dtype=np.int64)]


def strong(counts: np.ndarray, sd: float, n_clusters: int, *, least: float, far: int = 0) -> tuple[np.ndarray, float]:
    """Return (mask, threshold) of the candidates whose noisy count exceeds what noise alone would give any of them.

    The last `far` candidates were placed without evidence, so each must exceed what noise alone gives any of them. If
    fewer than min(k, 3) candidates pass, all others with a positive count stay. There is no cut at the declared n,
    which would lose small clusters if that n is too low.
    """
    near = len(counts) - far
    threshold = math.sqrt(2 * math.log(max(near / n_clusters, least))) * sd
    heavy = counts > 0
    if far:
        heavy[near:] = counts[near:] > math.sqrt(2 * math.log(5 * far)) * sd
    passed = heavy & (counts > threshold)
    if passed.sum() >= min(n_clusters, 3):
        heavy = passed
    if not heavy.any():
        heavy[np.argmax(counts)] = True
    return heavy, threshold


def about_points(
    curator: Curator, label: str, population: np.ndarray, clip: float, n_clusters: int, *, least: float, thin: int = 0
) -> PointSummary:
    """Release counts and clipped offsets from candidates (m, p) that are close to their rows.

    The last `thin` candidates each cover a large space. If together they hold more rows than noise alone would suggest,
    each of them with a count above one standard deviation stays.
    """
    clip = max(clip, NARROWEST)
    noisy = curator.release(label, NearestSums(population, clip, relative=True))
    counts, sd, dense = noisy.value["counts"], noisy.sd["counts"], len(population) - thin
    heavy, threshold = strong(counts[:dense], sd, n_clusters, least=least)
    outside = counts[dense:]
    heavy = np.append(heavy, (outside > sd) & (outside.sum() > IN_ALL * sd * math.sqrt(thin)))
    at, weights = population[heavy], np.maximum(noisy.value["counts"][heavy], 1.0)
    prior = 0.8 * clip**2 / (population.shape[1] + 2)
    gain = prior / (prior + (noisy.sd["sums"] / weights) ** 2)
    return _summary(
        population, noisy, heavy, threshold, at + noisy.value["sums"][heavy] * (gain / weights)[:, None], clip
    )


def about_middle(
    curator: Curator,
    population: np.ndarray,
    middle: np.ndarray,
    clip: float,
    n_clusters: int,
    spread: Spread,
    projection: Projection | None,
    *,
    far: int,
) -> PointSummary:
    """Release counts and sums of clipped (projected) offsets from the middle; shrink means toward their candidates."""
    if projection is None:
        here = np.broadcast_to(middle, population.shape)
        noisy = curator.release("candidates", ShapedSums(population, here, clip, np.eye(len(middle))))
    else:
        noisy = curator.release("candidates", NearestSums(population, clip, projection, inner=True))
    heavy, threshold = strong(noisy.value["counts"], noisy.sd["counts"], n_clusters, least=3, far=far)
    at, weights = population[heavy], np.maximum(noisy.value["counts"][heavy], 1.0)
    prior = 0.5 * spread.variances
    gain = prior / (prior + (noisy.sd["sums"] / weights)[:, None] ** 2)
    offsets = (noisy.value["sums"][heavy] / weights[:, None] + middle - at) @ spread.directions
    return _summary(population, noisy, heavy, threshold, at + (offsets * gain) @ spread.directions.T, clip)


def shaped(
    curator: Curator,
    population: np.ndarray,
    middle: np.ndarray,
    reach: float,
    clip: float,
    n_clusters: int,
    spread: Spread,
    left: Leftover,
    *,
    far: int,
) -> PointSummary:
    """Release counts and stretched offsets from the candidates' predictions; shrink the residuals to the candidates.

    `clip` is the radius for candidates that predict nothing but the middle.
    """
    shape = Shape.of(left.variances, spread.directions)
    anchors = middle + snap(((population - middle) @ spread.directions * left.explained) @ spread.directions.T)
    if left.explained.any():
        clip = min(2 * math.sqrt(float(left.variances.sum())), 2 * reach * float(shape.stretch.max()))
    noisy = curator.release("candidates", ShapedSums(population, anchors, clip, shape.matrix))
    heavy, threshold = strong(noisy.value["counts"], noisy.sd["counts"], n_clusters, least=3, far=far)
    weights = np.maximum(noisy.value["counts"][heavy], 1.0)
    at = anchors[heavy] if left.explained.any() else population[heavy]
    prior = 0.5 * left.variances
    gain = prior / (prior + (noisy.sd["sums"] / weights)[:, None] ** 2 / shape.stretch**2)
    offsets = shape.undo(noisy.value["sums"][heavy]) / weights[:, None] + anchors[heavy] - at
    means = at + (offsets @ spread.directions * gain) @ spread.directions.T
    return _summary(population, noisy, heavy, threshold, means, clip)


def _summary(
    population: np.ndarray, noisy: Noisy, heavy: np.ndarray, threshold: float, means: np.ndarray, clip: float
) -> PointSummary:
    counts, sd = noisy.value["counts"], noisy.sd["counts"]
    longest = float(np.sqrt((population**2).sum(axis=1).max())) + clip
    points, weights = clip_ball(snap(means), longest), np.maximum(counts[heavy], 1.0)
    released = {
        "population": population,
        "noisy_votes": counts,
        "noise_sd": sd,
        "kept": heavy,
        "threshold": threshold,
        "means": points,
        "weights": weights,
    }
    return PointSummary(points, weights, sd, released)


def sizes(summary: PointSummary, centers: np.ndarray, typical: float) -> Prior | None:
    """Return prior sizes of clusters, estimated from all candidates' votes, kept or not; None without noise."""
    population, votes, sd = (summary.released[name] for name in ("population", "noisy_votes", "noise_sd"))
    if sd == 0:
        return None
    labels = members(population, centers)
    counts, cells = (bincount(labels, weights, len(centers)) for weights in (votes, None))
    return Prior(counts, 1 / (np.maximum(cells, 1) * sd**2) * (cells > 0), typical)


def nearest_share(summary: PointSummary, centers: np.ndarray) -> np.ndarray:
    """Return each center's share of the total weight, shape (k,); a point belongs to its nearest center."""
    labels = members(summary.points, centers)
    return bincount(labels, weights=summary.weights / summary.weights.sum(), minlength=len(centers))


def scatter_of(summary: PointSummary, centers: np.ndarray) -> float:
    """Return the weighted mean squared distance of points to their nearest center."""
    squares = cdist(summary.points, centers, "sqeuclidean").min(axis=1)
    return float((summary.weights * squares).sum() / summary.weights.sum())
