"""NSM's first look at the rows: how far they reach, how far most of them do, in which directions they spread."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Generator

import numpy as np

from dpviz.domain import Domain
from dpviz.geometry import random_projection
from dpviz.postprocessing.spread import Spread, symmetric
from dpviz.privacy.curator import Curator, Noisy
from dpviz.privacy.queries import NormHistogram, Projection, SecondMoment
from dpviz.trace import Step

__all__ = ["Look", "learn_radius", "look_around", "outer_bin"]

BINS = 16  # shells of the norm histogram, each sqrt(2) wider than the next one in
OUTSIDE = 0.15  # share of the rows beyond the near radius
PROJECTED = 32  # columns of the projection in which the summary of wide rows is taken


@dataclasses.dataclass(frozen=True)
class Look:
    """What is known of the rows before candidates are placed: released values only.

    Attributes
    ----------
    reach : float, how far rows reach; near : float, how far most of them do
    moment : Noisy, the second moment of rows clipped to `near`
    spread : Spread; n_rows : float, the number of rows it was computed with
    projection : Projection or None
    """

    reach: float
    near: float
    moment: Noisy
    spread: Spread
    n_rows: float
    projection: Projection | None


def learn_radius(curator: Curator, domain: Domain) -> Generator[Step, None, float]:
    """Yield the noisy histogram of norms; return how far rows reach."""
    noisy, edges = _norms(curator, domain, "radius")
    reach = float(edges[outer_bin(noisy.value, noisy.sd)])
    released = {"noisy_counts": noisy.value, "edges": edges, "noise_sd": noisy.sd, "radius": reach}
    yield Step("radius", f"Rows reach to {reach / domain.radius:.3g} of the declared radius", released)
    return reach


def look_around(
    curator: Curator, domain: Domain, reach: float, rng: np.random.Generator, *, projected: bool
) -> Generator[Step, None, Look]:
    """Yield how far most rows reach (where the radius is not known) and in which directions they spread."""
    d, near = curator.n_features, reach
    if "near" in curator.plan.costs:
        noisy, edges = _norms(curator, domain, "near")
        outside = np.cumsum(noisy.value)[:-1] <= OUTSIDE * curator.n_credible
        near = float(edges[int(np.argmin([*outside, False]))])
        released = {"noisy_counts": noisy.value, "edges": edges, "noise_sd": noisy.sd, "radius": near}
        yield Step("near", f"Most rows lie within {near / domain.radius:.3g} of the declared radius", released)
    projection = Projection(random_projection(d, PROJECTED, rng)) if projected else None
    p = d if projection is None else PROJECTED
    moment = curator.release("moment", SecondMoment(near, p, projection))
    n = curator.n_credible
    spread = Spread.of(symmetric(moment), moment.sd, n, near)
    released = {"moment": moment.value, "spread": spread.variances, "directions": spread.directions}
    title = "The noisy second moment: in which directions rows spread"
    yield Step("moment", title, {**released, "noise_sd": moment.sd})
    return Look(reach, near, moment, spread, n, projection)


def _norms(curator: Curator, domain: Domain, label: str) -> tuple[Noisy, np.ndarray]:
    noisy = curator.release(label, NormHistogram(domain.radius, BINS))
    return noisy, domain.radius * 2.0 ** (-np.arange(BINS) / 2)


def outer_bin(noisy_counts: np.ndarray, sd: float) -> int:
    """Return the bin whose outer edge becomes the radius: all bins outside hold no more than noise."""
    for i, tail in enumerate(np.cumsum(noisy_counts)):
        if tail > 2 * math.sqrt(i + 1) * sd:
            return i
    return len(noisy_counts) - 1
