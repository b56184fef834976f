"""Lesson: what epsilon changes. Stored runs at every ε are counted; each time the noise moves the centers elsewhere."""

from __future__ import annotations

import dataclasses
import itertools
from functools import cache
from typing import Any

import numpy as np

from dpviz.algorithms import ALGORITHMS
from dpviz.atlas.cells import PEOPLE, STORY, opened
from dpviz.atlas.files import Chart, read
from dpviz.figures import Panel
from dpviz.figures.kit.theme import Theme
from dpviz.figures.scenes.reruns import LEGEND as CLOUDS
from dpviz.figures.scenes.reruns import Cloud, clouds
from dpviz.lessons.ground import Ground, ground, odds
from dpviz.lessons.lesson import Exhibit
from dpviz.numbers import fraction, length, number
from dpviz.postprocessing.bet import odds_of_any
from dpviz.runs.reruns import Reruns, rerun, spread
from dpviz.trace import Trace

__all__ = ["DRAWN", "EPSILONS", "LEGEND", "panels", "run"]

SAMPLE, METHOD = STORY  # the sample and the method of page Start
EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
ONE = EPSILONS.index(1.0)
DRAWN = 8
FEWER = PEOPLE[SAMPLE][0]  # people in the smallest edition of the sample
LEGEND = (("disc", "a center of one run"), ("hoop", "centers of the first run"), *CLOUDS[2:])


@dataclasses.dataclass(frozen=True, eq=False)
class Everything:
    """All runs at every ε, measured once for all draws.

    Attributes
    ----------
    runs : all runs, for each ε
    whole : ndarray of shape (ε, runs), whether a run finds all groups
    scatter : how far a center scatters over all runs, in km, for each ε
    times : how many times as far it scatters with fewer people, for each ε
    """

    runs: tuple[Reruns, ...]
    whole: np.ndarray
    scatter: list[float]
    times: list[float]


@dataclasses.dataclass(frozen=True, eq=False)
class NoiseRuns:
    """All runs, the whole trace of one of them, and the indices of those that are drawn."""

    ground: Ground
    trace: Trace
    every: Everything
    shown: slice


def run(seed: int) -> Exhibit:
    """Take the stored runs of page Start's method on its town, and draw eight of them; without any, make eight.

    The first draw is the first one in which no larger ε finds all groups in fewer of the runs that are drawn.
    """
    town, every = ground(SAMPLE), _everything()
    blocks = [slice(i, i + DRAWN) for i in range(0, every.whole.shape[1] - DRAWN + 1, DRAWN)]
    grow = [bool((np.diff(every.whole[:, block].sum(axis=1)) >= 0).all()) for block in blocks]
    start = grow.index(True) if any(grow) else 0
    runs = NoiseRuns(town, town.run(METHOD, 0, epsilon=EPSILONS[-1]), every, blocks[(start + seed) % len(blocks)])
    algorithms = {epsilon: town.algorithm(METHOD, epsilon=epsilon) for epsilon in EPSILONS}
    scatter, whole, count = every.scatter, every.whole.sum(axis=1).tolist(), every.whole.shape[1]
    words = [f"±{length(km, 'km', 2)}" for km in scatter]
    promises = [one.guarantee(town.data.domain.n_features, town.data.n_public) for one in algorithms.values()]
    titles = tuple(
        f"ε {fraction(epsilon)} · {count} runs, {DRAWN} of them drawn: a center scatters by {words[i]}; all "
        f"{len(town.groups.means)} neighborhoods are found in {whole[i]} of {count}; a bet on one person is right at "
        f"most {odds(promises[i])}"
        for i, epsilon in enumerate(EPSILONS)
    )
    centers = sorted({len(released) for released in every.runs[0].centers})
    least, most = promises[0], promises[-1]
    facts = {
        "centers": " or ".join(map(str, centers)), "drawn": DRAWN,
        "runs": count, "people": f"{len(town.data.X):,}", "few": fraction(EPSILONS[0]), "many": fraction(EPSILONS[-1]),
        "scatter_few": words[0], "scatter_many": words[-1], "times": number(scatter[0] / scatter[-1], 2),
        "whole_few": whole[0], "whole_many": whole[-1], "odds_few": least.odds, "odds_many": most.odds,
        "any_few": odds_of_any(least), "any_many": odds_of_any(most), "fewer": FEWER,
        "farther_one": number(every.times[ONE], 2), "farther_many": number(every.times[-1], 2),
    }  # fmt: skip
    grows = all(less < more for less, more in itertools.pairwise(whole))
    right = {3} if grows and scatter[0] > 4 * scatter[-1] else {0}
    return Exhibit(facts, titles, frozenset(right), first=len(EPSILONS) - 1, hint=0, runs=runs)


@cache
def _everything() -> Everything:
    town = ground(SAMPLE)
    runs, few = _runs(None), _runs(FEWER)
    hits = [[town.found(centers) == len(town.groups.means) for centers in some.centers] for some in runs]
    scatter, far = [_scatter(some) for some in runs], [_scatter(some) for some in few]
    return Everything(runs, np.array(hits), scatter, [one / other for one, other in zip(far, scatter, strict=True)])


def _scatter(some: Reruns) -> float:
    """Return how far a center scatters over runs, in km: the median over centers."""
    town = ground(SAMPLE)
    return float(np.median(spread(some.centers, town.reference, town.data.domain)) * town.data.domain.half_width.max())


def _runs(people: int | None) -> tuple[Reruns, ...]:
    """Return the stored runs with this number of people at every ε, or the first eight of them, made now."""
    chart, data = read(SAMPLE, METHOD, people), opened(SAMPLE, people).data
    budgets: list[dict[str, Any]] = [{"epsilon": epsilon} for epsilon in EPSILONS]
    return tuple(
        _taken(chart, budget["epsilon"])
        or rerun([data], ALGORITHMS[METHOD](n_clusters=data.n_clusters, **budget), range(DRAWN))
        for budget in budgets
    )


def _taken(chart: Chart | None, epsilon: float) -> Reruns | None:
    stop = None if chart is None else chart.at(epsilon)
    return None if stop is None else Reruns(tuple(range(len(stop.losses))), stop.centers, stop.losses)


def panels(runs: NoiseRuns, colors: Theme) -> list[Panel]:
    """Return two panels: a map with the centers of all runs, and a dot for the loss of every run."""
    view = runs.ground.view(runs.trace, colors, kmeans=True)
    drawn = [
        Cloud(f"ε {fraction(epsilon)}", some.centers[runs.shown], some.losses[runs.shown] / runs.ground.loss)
        for epsilon, some in zip(EPSILONS, runs.every.runs, strict=True)
    ]
    far, count = length(runs.every.scatter[-1], "km", 2), runs.every.whole.shape[1]
    return clouds(
        view, drawn, f"At ε {fraction(EPSILONS[-1])}, a center scatters by ±{far} over {count} runs", first=True
    )
