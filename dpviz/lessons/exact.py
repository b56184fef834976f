"""Lesson: why not publish exact centers? They reveal some people; noise that hides a person ruins the averages."""

from __future__ import annotations

import dataclasses

import numpy as np

from dpviz.audits.locate import belief, blind, without
from dpviz.audits.reconstruct import exactly, published, read_off, wrongly
from dpviz.figures import Panel
from dpviz.figures.kit.theme import Theme
from dpviz.figures.scenes.lessons import Values, values_panel
from dpviz.figures.scenes.reconstruction import legend, read_panel
from dpviz.lessons.ground import Ground, ground
from dpviz.lessons.lesson import Exhibit
from dpviz.numbers import counted, length, number
from dpviz.trace import Trace

__all__ = ["LEGEND", "panels", "run"]

SAMPLE, CENTERS, ROUNDS, EPSILON, MUCH = "town", 8, 25, 1.0, 100.0
LEGEND = legend(exact=True)


@dataclasses.dataclass(frozen=True, eq=False)
class ReadRun:
    """A run without noise; for every round, the people whose rows are computed by then, and computed rows of nobody.

    `off` holds, for ε `MUCH` and `EPSILON` and a blind guess, the distance within which half of the guesses lie about
    the first of these people, by an attacker who knows everybody else; original units.
    """

    ground: Ground
    trace: Trace
    read: tuple[np.ndarray, ...]
    wrong: tuple[np.ndarray, ...]
    off: tuple[float, ...]


def run(seed: int) -> Exhibit:
    """Run plain Lloyd without noise, compute rows from its releases, and attack it with much and with little ε."""
    there = ground(SAMPLE)
    bare = _run(there, EPSILON, seed, "none")
    rounds = published(bare)
    reads = read_off(rounds, there.data.domain.radius)
    by_then = [[one for one in reads if one.round <= t] for t in range(len(rounds))]
    read = [exactly(some, there.data.X, there.data.domain) for some in by_then]
    wrong = [wrongly(some, there.data.X, there.data.domain) for some in by_then]
    first = next((i for i, rows in enumerate(read) if len(rows)), len(read) - 1)
    computed = [counted(len(rows) + len(others), "row") for rows, others in zip(read, wrong, strict=True)]
    titles = tuple(
        f"Round {i + 1} of {len(read)} · {some} computed, {len(rows)} of them people's"
        for i, (some, rows) in enumerate(zip(computed, read, strict=True))
    )
    who = int(read[-1][0])
    place, noisy = there.data.X[who], {epsilon: _run(there, epsilon, seed, "seeded") for epsilon in (MUCH, EPSILON)}
    off = (*(_off(there, trace, who) for trace in noisy.values()), _off(there, None, who))
    found = [int(there.found(trace.cluster_centers)) for trace in (bare, noisy[EPSILON])]
    facts = {
        "people": f"{len(there.data.X):,}", "rounds": len(read), "read": len(read[-1]), "k": CENTERS,
        "computed": computed[-1], "first": first + 1, "epsilon": number(EPSILON),
        "much": number(MUCH), "x": f"{place[0]:.3f}", "y": f"{place[1]:.3f}", "exact": found[0], "found": found[1],
        "groups": len(there.groups.means),
        **{name: length(value, "km", 2) for name, value in zip(("near", "far", "blind"), off, strict=True)},
    }  # fmt: skip
    runs = ReadRun(there, bare, tuple(read), tuple(wrong), off)
    return Exhibit(facts, titles, frozenset({1}), first=0, hint=first, runs=runs)


def _run(there: Ground, epsilon: float, seed: int, noise: str) -> Trace:
    method = there.algorithm("dp-lloyd", n_clusters=CENTERS, epsilon=epsilon, iterations=ROUNDS, dead_cluster="keep")
    data = there.data
    return method.run(data.X, domain=data.domain, seed=seed, noise=noise, dataset_id=data.dataset_id)


def _off(there: Ground, trace: Trace | None, who: int) -> float:
    """Return the distance within which half of the guesses lie; without a run, the guesses are blind."""
    domain = there.data.domain
    Z = domain.clip(domain.normalize(there.data.X))
    where = blind(domain) if trace is None else belief(without(published(trace), np.delete(Z, who, axis=0)), domain)
    return where.off(Z[who]) * float(np.ptp(domain.denormalize(np.eye(2))[:, 0]))


def panels(runs: ReadRun, colors: Theme) -> list[Panel]:
    """Return two panels: the rounds, with rings around computed rows, and how many of these are people's."""
    there, trace = runs.ground, runs.trace
    view = there.view(trace, colors)
    steps = [step for step in trace.steps if step.kind == "noisy-iteration"]
    centers = [trace.domain.denormalize(np.asarray(step.released["centers"])) for step in steps]
    counts = [len(rows) for rows in runs.read]
    values = Values(
        f"Round {len(counts)}: {counts[-1]} people's rows computed", "rows",
        [str(i + 1) for i in range(len(counts))], counts, [str(count) for count in counts], private=True,
    )  # fmt: skip
    return [
        read_panel(view, centers, [there.data.X[rows] for rows in runs.read], runs.wrong),
        values_panel(colors, values),
    ]
