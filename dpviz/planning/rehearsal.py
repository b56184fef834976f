"""Rehearse a run on stand-in people, with no private data: noise per center, loss relative to KMeans, and time."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpviz import params
from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.algorithms.kmeans import KMeans
from dpviz.metrics import normalized_loss
from dpviz.planning.facts import Facts
from dpviz.postprocessing.released import center_noise
from dpviz.postprocessing.verdict import groups_of
from dpviz.privacy.accounting import default_delta, mu_of_epsilon
from dpviz.privacy.guarantee import Notion
from dpviz.runs.reruns import spread

__all__ = ["EPSILONS", "STOPS", "Rehearsal", "memory", "middle_of", "offered", "rehearse", "stops_around"]

STOPS = (0.25, 0.5, 1.0, 2.0, 4.0)
EPSILONS = 0.01, 100.0  # range of epsilon that every algorithm accepts
REPEATS = 8
# Ratio of peak memory to the size of the rows: 4.9 (DPM) to 7.9 (NSM), measured on 500,000 rows of 8 columns
_COPIES = 8.0


@dataclasses.dataclass(frozen=True)
class Rehearsal:
    """The result of an algorithm at one ε on made-up people.

    Attributes
    ----------
    slug : the algorithm
    epsilon : its budget
    noise : tuple of d floats or None, the formula's standard deviation of a typical center per column, data units
    scatter : tuple of d floats or None, the measured spread of centers over the repeats, same units
    ratio, ratio_low, ratio_high : the ratio of the loss to KMeans' loss: its geometric mean over the repeats, and its
        lowest and highest value
    seconds : time of one run with all the declared people
    capped : whether there are too few stand-ins, so that they see more noise than the declared people would
    found : int, number of repeats in which every group of the made-up people has its own center
    centers : released centers of each repeat, arrays (k', d), data units
    """

    slug: str
    epsilon: float
    noise: tuple[float, ...] | None
    scatter: tuple[float, ...] | None
    ratio: float
    ratio_low: float
    ratio_high: float
    seconds: float
    capped: bool = False
    found: int = 0
    centers: tuple[np.ndarray, ...] = dataclasses.field(default=(), repr=False, compare=False)

    @property
    def by_formula(self) -> bool:
        """Return whether the standard deviation of each center's noise follows from a formula."""
        return self.noise is not None

    @property
    def best(self) -> tuple[float, ...] | None:
        """Return a center's sd per column: by formula if there is one, else from runs; None if unknown."""
        return self.noise or self.scatter


def middle_of(epsilon: float) -> float:
    """Return the ε in the middle of a plan's curve: 1 if the usual curve covers ε, else ε itself."""
    return 1.0 if STOPS[0] <= epsilon <= STOPS[-1] else epsilon


def stops_around(epsilon: float) -> tuple[float, ...]:
    """Return the ε values of a plan's curve: from 1/4 to 4 times the middle one, within the range of epsilon."""
    middle = middle_of(epsilon)
    return tuple(middle * stop for stop in STOPS if EPSILONS[0] <= middle * stop <= EPSILONS[1])


def offered() -> list[str]:
    """Return the slugs of methods with an epsilon that release centers and promise central DP to one person."""
    return [
        slug
        for slug, cls in ALGORITHMS.items()
        if cls.notion is Notion.CENTRAL and "epsilon" in params.specs(cls) and not cls.regions
    ]


def rehearse(
    facts: Facts,
    slug: str,
    epsilon: float,
    repeats: int = REPEATS,
    on_step: Callable[[int, int], None] = lambda done, all: None,
) -> Rehearsal:
    """Run an algorithm `repeats` times on stand-ins at the noise that the declared number of people would see.

    Only the ratio of noise to people matters: if more people are declared than stand in, μ (or ε, without a μ) is
    raised in proportion, which keeps the ratio.
    """
    cls = ALGORITHMS[slug]
    data = facts.stand_in()
    real = _make(cls, facts, epsilon)
    algorithm = dataclasses.replace(real, **_louder(real, facts, epsilon))
    kmeans = KMeans(n_clusters=facts.n_clusters).run(data.X, domain=data.domain, seed=0).cluster_centers
    best, groups = normalized_loss(data.X, kmeans, data.domain), groups_of(data.X, data.domain, kmeans)
    traces, losses, begun = [], [], time.process_time()
    for seed in range(repeats):
        on_step(seed, repeats)
        traces.append(algorithm.run(data.X, domain=data.domain, seed=seed, dataset_id=data.dataset_id))
    seconds = (time.process_time() - begun) / repeats
    losses = [normalized_loss(data.X, trace.cluster_centers, data.domain) for trace in traces]
    known = [center_noise(trace).sd for trace in traces]
    half = data.domain.half_width
    sizes = data.domain.n_features, facts.n_people
    centers = tuple(np.asarray(trace.cluster_centers) for trace in traces)
    moved = spread(centers, centers[0], data.domain)
    ratios = [loss / best if best > 0 else 1.0 for loss in losses]
    return Rehearsal(
        slug,
        epsilon,
        _typical([sd for sd in known if sd is not None], half),
        tuple((float(np.nanmedian(moved)) * half).tolist()) if np.isfinite(moved).any() else None,
        float(np.exp(np.mean(np.log(np.maximum(ratios, 1e-12))))),
        min(ratios),
        max(ratios),
        seconds * real.work(*sizes) / algorithm.work(data.domain.n_features, facts.n_rows),
        facts.n_people > facts.n_rows and algorithm.epsilon == EPSILONS[1],  # type: ignore[attr-defined]
        sum(bool(groups.found_by(data.domain.normalize(one)).all()) for one in centers),
        centers,
    )


def _make(cls: type[Algorithm], facts: Facts, epsilon: float) -> Algorithm:
    delta = default_delta(facts.n_people)
    values: dict[str, Any] = {"n_clusters": facts.n_clusters, "epsilon": epsilon, "delta": delta}
    return cls(**{name: value for name, value in values.items() if name in params.specs(cls)})


def _louder(real: Algorithm, facts: Facts, epsilon: float) -> dict[str, Any]:
    """Return the ε, as a parameter, at which `n_rows` people see the noise per person that `n_people` would see."""
    share = facts.n_people / facts.n_rows
    if share == 1:
        return {}
    delta = real.resolved_delta(facts.n_people)
    if real.guarantee(facts.domain.n_features, facts.n_people).mu is None:
        return {"epsilon": min(epsilon * share, EPSILONS[1])}
    wanted = share * mu_of_epsilon(epsilon, delta)
    low, high = epsilon, EPSILONS[1]
    if mu_of_epsilon(high, delta) <= wanted:
        return {"epsilon": high}
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if mu_of_epsilon(middle, delta) < wanted else (low, middle)
    return {"epsilon": high}


def _typical(known: Sequence[np.ndarray], half: np.ndarray) -> tuple[float, ...] | None:
    """Return the median over centers of the noise's standard deviation, per column in data units, or None.

    `known` holds the standard deviations of each run's centers, shape (k,) or (k, d), z units; `half` converts them.
    """
    if not known:
        return None
    each = np.concatenate([np.broadcast_to(sd.reshape(len(sd), -1), (len(sd), len(half))) for sd in known])
    return tuple(float(value) for value in np.median(each, axis=0) * half)


def memory(facts: Facts) -> float:
    """Return the approximate number of bytes that a run needs at its peak, from the declared size alone."""
    return _COPIES * 8 * facts.n_people * facts.domain.n_features
