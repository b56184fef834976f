"""Take NSM's first look at the rows: their middle, the radii that hold all or most of them, and their spread."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Generator

import numpy as np

from dpviz.domain import Domain
from dpviz.geometry import Population, clip_ball, random_projection, snap
from dpviz.numbers import percent
from dpviz.postprocessing.spread import Spread, symmetric
from dpviz.privacy.curator import Curator, Noisy
from dpviz.privacy.queries import NearestSums, NearestVotes, NormHistogram, Projection, SecondMoment
from dpviz.trace import Step

__all__ = ["FirstLook", "crowded", "learn_middle", "learn_radius", "look_around", "outer_bin"]

BINS = 16  # number of shells in the norm histogram, each sqrt(2) times as wide as the next one inward
CELLS = {1: 32, 2: 8, 3: 8}  # cells per column of the first look, by the number of columns
# Boxes come next if the 6 fullest cells hold more than the first share of the rows, and the fullest at most the second
# one. With 3 columns these limits keep candidates for heavy tails, where they lose less (dpviz/papers/results/nsm.md).
FULLEST, CROWDED = 6, {1: (0.85, math.inf), 2: (0.85, math.inf), 3: (0.95, 0.88)}
OUTSIDE = 0.15  # share of the rows beyond the near radius
PROJECTED = 32  # number of columns of the projection in which wide rows are summarized


@dataclasses.dataclass(frozen=True)
class FirstLook:
    """Released information about the rows before candidates are placed.

    Attributes
    ----------
    middle : ndarray of shape (p,), a point near the rows' mean, or 0; the origin of everything that follows (0 with a
        projection, which subtracts its own middle)
    reach : float, radius of a ball that holds the rows
    near : float, radius of a ball that holds most of the rows
    moment : Noisy, the second moment of rows clipped to `near`
    spread : Spread, derived from `moment`
    n_rows : float, the number of rows assumed in `spread`
    projection : Projection or None
    """

    middle: np.ndarray
    reach: float
    near: float
    moment: Noisy
    spread: Spread
    n_rows: float
    projection: Projection | None


def learn_middle(curator: Curator, domain: Domain) -> Generator[Step, None, np.ndarray]:
    """Yield a noisy mean of all rows; return it, shrunk toward the middle of the domain according to its noise."""
    d = curator.n_features
    noisy = curator.release("mean", NearestSums(np.zeros((1, d)), domain.radius))
    n = curator.n_credible
    mean, sd = noisy.value["sums"][0] / n, noisy.sd["sums"] / n
    square = float((mean**2).sum())
    gain = max(0.0, 1 - d * sd**2 / square) if square else 0.0
    middle = clip_ball(snap(gain * mean)[None], domain.radius)[0]
    released = {"middle": middle, "noisy_sums": noisy.value["sums"][0], "noisy_counts": noisy.value["counts"]}
    away = float(np.linalg.norm(middle)) / domain.radius
    title = f"The rows' noisy mean is {away:.3g} of the radius away from the middle of the bounds"
    yield Step("mean", title, {**released, "noise_sd": noisy.sd["sums"], "gain": gain})
    return middle


def learn_radius(curator: Curator, domain: Domain, middle: np.ndarray) -> Generator[Step, None, float]:
    """Yield the noisy histogram of distances from the middle; return the radius that holds the rows."""
    noisy, edges = _norms(curator, domain, middle, "radius")
    reach = float(edges[outer_bin(noisy.value, noisy.sd)])
    released = {"noisy_counts": noisy.value, "edges": edges, "noise_sd": noisy.sd, "radius": reach}
    yield Step("radius", f"Rows lie within {reach / domain.radius:.3g} of the declared radius", released)
    return reach


def crowded(curator: Curator, domain: Domain, reach: float) -> Generator[Step, None, bool]:
    """Yield noisy counts of equal cells; return whether a few of them hold nearly all rows.

    Then candidates, which have one resolution, would see a few far rows or the crowd, but not both; boxes see both.
    """
    d = curator.n_features
    half = np.minimum(domain.box_z, reach)
    ticks = (2 * np.arange(CELLS[d]) + 1) / CELLS[d] - 1
    middles = np.stack(np.meshgrid(*(ticks * one for one in half), indexing="ij"), axis=-1).reshape(-1, d)
    middles = clip_ball(snap(middles), domain.radius)
    noisy = curator.release("look", NearestVotes(Population(middles)))
    fullest = np.argsort(-noisy.value, kind="stable")[:FULLEST]
    share, most = (float(part) / curator.n_credible for part in (noisy.value[fullest].sum(), noisy.value[fullest[0]]))
    crowd, alone = CROWDED[d]
    boxes = share > crowd and most <= alone
    kept = np.zeros(len(middles), dtype=bool)
    kept[fullest] = True
    chosen = "boxes" if boxes else "candidates"
    seem = percent(min(max(share, 0.0), 1.0))
    title = f"The {FULLEST} fullest of {len(middles)} cells seem to hold {seem} of the rows: {chosen} come next"
    released = {"population": middles, "noisy_votes": noisy.value, "noise_sd": noisy.sd, "kept": kept}
    yield Step("look", title, released)
    return boxes


def look_around(
    curator: Curator, domain: Domain, middle: np.ndarray, reach: float, rng: np.random.Generator, *, projected: bool
) -> Generator[Step, None, FirstLook]:
    """Yield the radius that holds most of the rows (if it is unknown) and the directions in which they spread."""
    d, near = curator.n_features, reach
    if "near" in curator.plan.costs:
        noisy, edges = _norms(curator, domain, middle, "near")
        outside = np.cumsum(noisy.value)[:-1] <= OUTSIDE * curator.n_credible
        near = float(edges[int(np.argmin([*outside, False]))])
        released = {"noisy_counts": noisy.value, "edges": edges, "noise_sd": noisy.sd, "radius": near}
        yield Step("near", f"Most rows lie within {near / domain.radius:.3g} of the declared radius", released)
    origin = middle if middle.any() else None
    projection = Projection(random_projection(d, PROJECTED, rng), origin) if projected else None
    p = d if projection is None else PROJECTED
    moment = curator.release("moment", SecondMoment(near, p, projection, origin if projection is None else None))
    n = curator.n_credible
    spread = Spread.of(symmetric(moment), moment.sd, n, near)
    released = {"moment": moment.value, "spread": spread.variances, "directions": spread.directions}
    title = "The noisy second moment: in which directions rows spread"
    yield Step("moment", title, {**released, "noise_sd": moment.sd})
    return FirstLook(middle if projection is None else np.zeros(p), reach, near, moment, spread, n, projection)


def _norms(curator: Curator, domain: Domain, middle: np.ndarray, label: str) -> tuple[Noisy, np.ndarray]:
    farthest = domain.radius + float(np.linalg.norm(middle))
    noisy = curator.release(label, NormHistogram(farthest, BINS, middle if middle.any() else None))
    return noisy, farthest * 2.0 ** (-np.arange(BINS) / 2)


def outer_bin(noisy_counts: np.ndarray, sd: float) -> int:
    """Return the bin whose outer edge becomes the radius; noise alone explains the counts of all bins outside it."""
    for i, tail in enumerate(np.cumsum(noisy_counts)):
        if tail > 2 * math.sqrt(i + 1) * sd:
            return i
    return len(noisy_counts) - 1
