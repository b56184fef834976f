"""Rehearse a run on stand-in people, with no private data: groups found, noise per center, loss, and time."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dpviz import params
from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.algorithms.kmeans import KMeans
from dpviz.datasets import Dataset
from dpviz.domain import Domain
from dpviz.metrics import normalized_loss
from dpviz.planning.facts import Facts
from dpviz.postprocessing.released import center_noise
from dpviz.postprocessing.verdict import Groups, groups_of
from dpviz.privacy.accounting import default_delta, mu_of_epsilon
from dpviz.privacy.guarantee import Guarantee, Notion
from dpviz.runs.public import started
from dpviz.runs.reruns import spread

__all__ = ["EPSILONS", "STOPS", "Rehearsal", "memory", "middle_of", "offered", "rehearse", "same_run", "stops_around"]

STOPS = (0.25, 0.5, 1.0, 2.0, 4.0)
EPSILONS = 0.01, 100.0  # range of epsilon that every algorithm accepts
REPEATS = 8
# Ratio of peak memory to the size of the rows: 4.9 (DPM) to 7.9 (NSM), measured on 500,000 rows of 8 columns
_COPIES = 8.0


@dataclasses.dataclass(frozen=True, eq=False)
class Rehearsal:
    """Runs of an algorithm at one ε on made-up people, or on public rows.

    Attributes
    ----------
    facts : the public facts, with the town
    slug : the algorithm
    epsilon : its budget
    run : text that is the same for a run on the declared people and its rehearsal (`same_run`)
    centers : released centers of each run, arrays (k', d), data units
    sd : the noise that each run states for its centers, arrays (k', d), data units; () if no run states any
    found : ndarray of shape (runs, g), bool, whether each group has a center of its own
    sizes : ndarray of shape (g,), the people of each group, as a number of the declared people
    ratios : ndarray of shape (runs,), the loss of each run relative to KMeans' loss
    seconds : time of one run with all the declared people
    capped : whether there are too few stand-ins, so that they see more noise than the declared people would
    reference : whether KMeans without noise gives every group a center of its own
    """

    facts: Facts
    slug: str
    epsilon: float
    run: str
    centers: tuple[np.ndarray, ...]
    sd: tuple[np.ndarray, ...]
    found: np.ndarray
    sizes: np.ndarray
    ratios: np.ndarray
    seconds: float
    capped: bool = False
    reference: bool = True

    @property
    def runs(self) -> int:
        """Return the number of runs."""
        return len(self.centers)

    @property
    def whole(self) -> int:
        """Return the number of runs in which every group has a center of its own."""
        return int(self.found.all(axis=1).sum())

    @property
    def by_formula(self) -> bool:
        """Return whether the algorithm states the noise of its centers."""
        return bool(self.sd)

    @property
    def noise(self) -> np.ndarray | None:
        """Return the noise of a run's widest center per column, shape (d,), data units; None if it is unknown.

        It is the median over runs of the largest standard deviation that the run states, and without a formula the
        largest of `scatter`.
        """
        if self.sd:
            return np.median([sd.max(axis=0) for sd in self.sd], axis=0)
        scatter = self.scatter
        return None if scatter is None else scatter.max(axis=0)

    @property
    def scatter(self) -> np.ndarray | None:
        """Return how far each center scatters over the runs, shape (m, d), data units; None if there are too few."""
        moved = spread(self.centers, max(self.centers, key=len), self.facts.domain)
        moved = moved[np.isfinite(moved)]
        return moved[:, None] * self.facts.domain.half_width if len(moved) else None

    def extend(self, more: Rehearsal) -> Rehearsal:
        """Return this rehearsal with the runs of another one, which has other seeds."""
        weights = self.runs, more.runs
        return dataclasses.replace(
            self,
            centers=self.centers + more.centers,
            sd=self.sd + more.sd,
            found=np.concatenate([self.found, more.found]),
            ratios=np.concatenate([self.ratios, more.ratios]),
            seconds=float(np.average([self.seconds, more.seconds], weights=weights)),
        )


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
    first: int = 0,
    on_step: Callable[[int, int], None] = lambda done, all: None,
) -> Rehearsal:
    """Run an algorithm on stand-ins, with the seeds from `first` on, at the noise that the declared people would see.

    Only the ratio of noise to people matters: if more people are declared than stand in, μ (or ε, without a μ) is
    raised in proportion, which keeps the ratio. A method that takes public rows starts from some of the stand-ins.
    Apart from `seconds`, the result follows from the arguments alone.
    """
    cls = ALGORITHMS[slug]
    data = facts.stand_in()
    real = _make(cls, facts, epsilon)
    algorithm = started(dataclasses.replace(real, **_louder(real, facts, epsilon)), data)
    kmeans, best, groups = _reference(data, facts.n_clusters)
    traces, begun = [], time.process_time()
    for seed in range(first, first + repeats):
        on_step(seed - first, repeats)
        traces.append(algorithm.run(data.X, domain=data.domain, seed=seed, dataset_id=data.dataset_id))
    seconds = (time.process_time() - begun) / repeats
    losses = np.array([normalized_loss(data.X, trace.cluster_centers, data.domain) for trace in traces])
    stated = [center_noise(trace).sd for trace in traces]
    centers = tuple(np.asarray(trace.cluster_centers) for trace in traces)
    d = data.domain.n_features
    return Rehearsal(
        facts,
        slug,
        epsilon,
        same_run(slug, dataclasses.asdict(real), real.guarantee(d, facts.n_people), facts.domain),
        centers,
        tuple(
            np.broadcast_to(sd.reshape(len(sd), -1), one.shape) * data.domain.half_width
            for one, sd in zip(centers, stated, strict=True)
            if sd is not None
        ),
        np.array([groups.found_by(data.domain.normalize(one)) for one in centers]),
        groups.sizes * facts.n_people / facts.n_rows,
        losses / best if best > 0 else np.ones(repeats),
        seconds * real.work(d, facts.n_people) / algorithm.work(d, facts.n_rows),
        facts.n_people > facts.n_rows and algorithm.epsilon == EPSILONS[1],  # type: ignore[attr-defined]
        bool(groups.found_by(data.domain.normalize(kmeans)).all()),
    )


def _reference(data: Dataset, k: int) -> tuple[np.ndarray, float, Groups]:
    """Return KMeans' centers (k, d) on the stand-ins, their loss, and the groups: those of the town, or KMeans' own."""
    centers = KMeans(n_clusters=k).run(data.X, domain=data.domain, seed=0).cluster_centers
    return (
        centers,
        normalized_loss(data.X, centers, data.domain),
        groups_of(data.X, data.domain, centers, data.labels),
    )


def same_run(slug: str, parameters: Mapping[str, Any], promise: Guarantee, domain: Domain) -> str:
    """Return a text that is the same for two runs of a method with equal parameters, promise and public facts.

    Numbers are compared with 12 digits, as a form may have written and read them. δ is the promise's: an algorithm
    whose δ is None follows its rule.
    """
    chosen = sorted((name, value) for name, value in parameters.items() if name != "delta")
    bounds = [[float(f"{value:.12g}") for value in bound] for bound in (domain.low, domain.high)]
    facts = bounds, domain.scale, domain.weights, float(f"{domain.radius:.12g}"), domain.n_public
    return repr((slug, chosen, float(f"{promise.epsilon:.12g}"), float(f"{promise.delta:.12g}"), facts))


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


def memory(facts: Facts) -> float:
    """Return the approximate number of bytes that a run needs at its peak, from the declared size alone."""
    return _COPIES * 8 * facts.n_people * facts.domain.n_features
