"""Lesson: why not publish exact centers? Plain Lloyd's exact averages reveal some people; noise prevents this."""

from __future__ import annotations

import dataclasses

import numpy as np

from dpviz.algorithms import Algorithm
from dpviz.audits.reconstruct import exactly, published, read_off
from dpviz.figures import Panel
from dpviz.figures.kit.theme import Theme
from dpviz.figures.scenes.lessons import Values, values_panel
from dpviz.figures.scenes.reconstruction import legend, read_panel
from dpviz.lessons.ground import Ground, ground
from dpviz.lessons.lesson import Stage
from dpviz.numbers import number
from dpviz.trace import Trace

__all__ = ["LEGEND", "panels", "run"]

SAMPLE, CENTERS, ROUNDS, EPSILON = "town", 8, 25, 1.0
LEGEND = legend(exact=True)


@dataclasses.dataclass(frozen=True, eq=False)
class ReadRun:
    """A run without noise, and, for every round, the indices of the rows that could be read off by then."""

    ground: Ground
    trace: Trace
    read: tuple[np.ndarray, ...]


def run(seed: int) -> Stage:
    """Run plain Lloyd without noise, read off rows from its releases, and try the same on noisy centers."""
    there = ground(SAMPLE)
    method = there.algorithm("dp-lloyd", n_clusters=CENTERS, epsilon=EPSILON, iterations=ROUNDS, dead_cluster="keep")
    bare, read = _read(there, method, seed, "none")
    _, noisy = _read(there, method, seed, "seeded")
    rounds, people = len(read), len(there.data.X)
    counts = [len(rows) for rows in read]
    first = next((i for i, count in enumerate(counts) if count), rounds - 1)
    titles = tuple(
        f"Round {i + 1} of {rounds} · {count} of {people:,} rows read off exactly" for i, count in enumerate(counts)
    )
    who = there.data.X[read[-1][0]] if counts[-1] else np.full(2, np.nan)
    facts = {
        "people": f"{people:,}", "rounds": rounds, "read": counts[-1], "k": CENTERS,
        "first": first + 1, "noisy": len(noisy[-1]), "epsilon": number(EPSILON),
        "x": f"{who[0]:.3f}", "y": f"{who[1]:.3f}",
    }  # fmt: skip
    answer = {1} if counts[-1] and not len(noisy[-1]) else {0}
    return Stage(facts, titles, frozenset(answer), first=0, hint=first, runs=ReadRun(there, bare, tuple(read)))


def _read(there: Ground, method: Algorithm, seed: int, noise: str) -> tuple[Trace, list[np.ndarray]]:
    """Return a run and, for every round, the indices of the rows that could be read off exactly by then."""
    data = there.data
    trace = method.run(data.X, domain=data.domain, seed=seed, noise=noise, dataset_id=data.dataset_id)
    rounds = published(trace)
    reads = read_off(rounds, data.domain.radius)
    so_far = [[one for one in reads if one.round <= t] for t in range(len(rounds))]
    return trace, [exactly(some, data.X, data.domain) for some in so_far]


def panels(runs: ReadRun, colors: Theme) -> list[Panel]:
    """Return two panels: the rounds, with rings around people whose rows were read off, and how many these are."""
    there, trace = runs.ground, runs.trace
    view = there.view(trace, colors)
    steps = [step for step in trace.steps if step.kind == "noisy-iteration"]
    centers = [trace.domain.denormalize(np.asarray(step.released["centers"])) for step in steps]
    counts = [len(rows) for rows in runs.read]
    values = Values(
        f"Round {len(counts)}: {counts[-1]} of {len(there.data.X):,} rows read off exactly", "rows",
        [str(i + 1) for i in range(len(counts))], counts, [str(count) for count in counts], private=True,
    )  # fmt: skip
    return [read_panel(view, centers, [there.data.X[rows] for rows in runs.read]), values_panel(colors, values)]
