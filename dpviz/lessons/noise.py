"""Lesson: what epsilon changes. Eight runs are made at every ε; each time the noise moves the centers elsewhere."""

from __future__ import annotations

import dataclasses

import numpy as np

from dpviz.atlas.cells import STORY
from dpviz.atlas.files import Chart
from dpviz.figures import Panel
from dpviz.figures.kit.theme import Theme
from dpviz.figures.scenes.reruns import LEGEND as CLOUDS
from dpviz.figures.scenes.reruns import Cloud, clouds
from dpviz.lessons.ground import Ground, ground, odds
from dpviz.lessons.lesson import Stage
from dpviz.numbers import fraction, length, number
from dpviz.postprocessing.bet import odds_of_any
from dpviz.runs.reruns import Reruns, rerun, spread
from dpviz.trace import Trace

__all__ = ["EPSILONS", "LEGEND", "STORED", "panels", "run"]

STORED = STORY  # the sample and the method of page Start
SAMPLE, METHOD = STORED
EPSILONS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
RUNS = 8
LEGEND = (("disc", "a center of one run"), ("hoop", "centers of the first run"), *CLOUDS[2:])


@dataclasses.dataclass(frozen=True, eq=False)
class NoiseRuns:
    """Eight runs at every ε, and the whole trace of one of them."""

    ground: Ground
    trace: Trace
    runs: tuple[Reruns, ...]

    @property
    def scatter(self) -> list[float]:
        """Return how far a center scatters over the runs, per column, in km: the median over centers, for each ε."""
        domain = self.ground.data.domain
        return [
            float(np.median(spread(some.centers, self.ground.reference, domain)) * domain.half_width.max())
            for some in self.runs
        ]


def run(seed: int, stored: Chart | None = None) -> Stage:
    """Run the method of page Start on its town, eight times for every ε, or take these runs from the stored ones."""
    town = ground(SAMPLE)
    algorithms = {epsilon: town.algorithm(METHOD, epsilon=epsilon) for epsilon in EPSILONS}
    seeds = range(RUNS * seed, RUNS * (seed + 1))
    runs = NoiseRuns(
        town,
        town.run(METHOD, seeds[0], epsilon=EPSILONS[-1]),
        tuple(_taken(stored, epsilon, seeds) or rerun([town.data], one, seeds) for epsilon, one in algorithms.items()),
    )
    scatter = runs.scatter
    words = [f"±{length(km, 'km', 2)}" for km in scatter]
    whole = [sum(town.found(centers) == len(town.groups.means) for centers in some.centers) for some in runs.runs]
    promises = [one.guarantee(town.data.domain.n_features, town.data.n_public) for one in algorithms.values()]
    titles = tuple(
        f"ε {fraction(epsilon)} · {RUNS} runs: a center scatters by {words[i]}; all {len(town.groups.means)} "
        f"neighborhoods are found in {whole[i]} of {RUNS}; a bet on one person is right at most {odds(promises[i])}"
        for i, epsilon in enumerate(EPSILONS)
    )
    centers = sorted({len(released) for released in runs.runs[0].centers})
    few, many = promises[0], promises[-1]
    facts = {
        "centers": " or ".join(map(str, centers)),
        "runs": RUNS, "people": f"{len(town.data.X):,}", "few": fraction(EPSILONS[0]), "many": fraction(EPSILONS[-1]),
        "scatter_few": words[0], "scatter_many": words[-1], "times": number(scatter[0] / scatter[-1], 2),
        "whole_few": whole[0], "whole_many": whole[-1], "odds_few": few.odds, "odds_many": many.odds,
        "any_few": odds_of_any(few), "any_many": odds_of_any(many),
    }  # fmt: skip
    right = {1} if scatter[0] > 4 * scatter[-1] else {0}
    return Stage(facts, titles, frozenset(right), first=len(EPSILONS) - 1, hint=0, runs=runs)


def _taken(stored: Chart | None, epsilon: float, seeds: range) -> Reruns | None:
    stop = stored.at(epsilon) if stored is not None and stored.seeds >= seeds.stop else None
    if stop is None:
        return None
    return Reruns(tuple(seeds), stop.centers[seeds.start : seeds.stop], stop.losses[seeds.start : seeds.stop])


def panels(runs: NoiseRuns, colors: Theme) -> list[Panel]:
    """Return two panels: a map with the centers of all runs, and a dot for the loss of every run."""
    view = runs.ground.view(runs.trace, colors, kmeans=True)
    drawn = [
        Cloud(f"ε {fraction(epsilon)}", some.centers, some.losses / runs.ground.loss)
        for epsilon, some in zip(EPSILONS, runs.runs, strict=True)
    ]
    far = length(runs.scatter[-1], "km", 2)
    return clouds(view, drawn, f"At ε {fraction(EPSILONS[-1])}, a center scatters by ±{far} over {RUNS} runs")
