"""Lesson: split epsilon over rounds. One round has not converged; many leave each too little; one table needs none."""

from __future__ import annotations

import dataclasses
from functools import cached_property

import numpy as np

from dpviz.figures import Panel
from dpviz.figures.kit.theme import Theme
from dpviz.figures.scenes.lessons import GROUPS, Values, groups_panel, values_panel
from dpviz.lessons.ground import Ground, ground
from dpviz.lessons.lesson import Exhibit
from dpviz.numbers import counted, having, number, ratio_words
from dpviz.trace import Trace

__all__ = ["LEGEND", "ROUNDS", "RUNS", "panels", "run"]

SAMPLE, EPSILON = "town", 0.5
ROUNDS = (1, 2, 4, 8, 16, 30)
RUNS = 5  # runs for every number of rounds, whose mean loss is shown
LEGEND = GROUPS


@dataclasses.dataclass(frozen=True, eq=False)
class RoundRuns:
    """Runs of DP-Lloyd for every number of rounds, and of EUGkM, which publishes one table for the same promise.

    Attributes
    ----------
    loops : RUNS traces for every number of rounds
    tables : RUNS traces of EUGkM
    """

    ground: Ground
    loops: tuple[tuple[Trace, ...], ...]
    tables: tuple[Trace, ...]

    @cached_property
    def losses(self) -> list[float]:
        """Return the mean loss for every number of rounds, as a multiple of KMeans'."""
        return [self._loss(traces) for traces in self.loops]

    @cached_property
    def table(self) -> float:
        """Return the mean loss of one table, as a multiple of KMeans'."""
        return self._loss(self.tables)

    def _loss(self, traces: tuple[Trace, ...]) -> float:
        return float(np.mean([self.ground.ratio(trace.cluster_centers) for trace in traces]))

    @property
    def sds(self) -> list[float]:
        """Return the standard deviation of the noise on a cluster's count in every round, from the last release."""
        return [float(traces[0].steps[-1].released["counts_sd"]) for traces in self.loops]


def run(seed: int) -> Exhibit:
    """Run DP-Lloyd on the town with several numbers of rounds, and EUGkM, all with the same epsilon."""
    town, seeds = ground(SAMPLE), range(RUNS * seed, RUNS * (seed + 1))
    loops = tuple(
        tuple(town.run("dp-lloyd", one, epsilon=EPSILON, iterations=rounds) for one in seeds) for rounds in ROUNDS
    )
    runs = RoundRuns(town, loops, tuple(town.run("eugkm", one, epsilon=EPSILON) for one in seeds))
    losses, sds, groups = runs.losses, runs.sds, len(town.groups.means)
    best = int(np.argmin(losses))
    titles = tuple(
        f"{counted(rounds, 'round')} · ε {number(EPSILON / rounds)} for each, ±{number(sd)} people on each count; "
        f"{having(town.found(traces[0].cluster_centers), groups, 'neighborhoods')} a center; loss {ratio_words(loss)} "
        f"times KMeans', the mean of {RUNS} runs"
        for rounds, sd, loss, traces in zip(ROUNDS, sds, losses, loops, strict=True)
    )
    facts = {
        "people": f"{len(town.data.X):,}", "epsilon": number(EPSILON), "runs": RUNS,
        "best": ROUNDS[best], "least": ratio_words(losses[best]), "one": ratio_words(losses[0]),
        "most": ROUNDS[-1], "worst": ratio_words(losses[-1]), "sd_one": number(sds[0]), "sd_most": number(sds[-1]),
        "share": number(EPSILON / ROUNDS[-1], 2), "table": ratio_words(runs.table),
    }  # fmt: skip
    inside = 0 < best < len(ROUNDS) - 1 and losses[0] > 1.2 * losses[best] and losses[-1] > 1.5 * losses[best]
    right = 0 if inside and runs.table < losses[best] else 1
    return Exhibit(facts, titles, frozenset({right}), first=0, hint=len(ROUNDS) - 1, runs=runs)


def panels(runs: RoundRuns, colors: Theme) -> list[Panel]:
    """Return two panels: the centers of one run for every number of rounds, and the losses with that of one table."""
    town, losses = runs.ground, runs.losses
    view = town.view(runs.loops[-1][0], colors)
    shots = [traces[0].cluster_centers for traces in runs.loops]
    words = [f"{ratio_words(loss)}×" for loss in losses]
    claim = f"{having(town.found(shots[0]), len(town.groups.means), 'neighborhoods')} a center"
    values = Values(
        f"Mean loss: {words[0]} after 1 round, {words[-1]} after {ROUNDS[-1]}", "× KMeans", list(map(str, ROUNDS)),
        losses, words, line=(runs.table, f"one table: {ratio_words(runs.table)}×"), private=True,
    )  # fmt: skip
    return [groups_panel(view, f"1 round: {claim}", town.groups, shots), values_panel(colors, values)]
