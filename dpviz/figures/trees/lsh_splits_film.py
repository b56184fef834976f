"""Tell a run of LSH-Splits as a film: a blind cut and noisy counts at every level, then averages and k-means."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpviz.figures.kit.acts import CENTER, Crowd, counts, hurried, index, lit, noised, piles, sparks, tips
from dpviz.figures.kit.events import Act, Event
from dpviz.figures.kit.layers import NOWHERE
from dpviz.figures.kit.shots import Shot
from dpviz.figures.kit.view import View, thin
from dpviz.figures.trees.dpm_film import APART
from dpviz.numbers import counted, number
from dpviz.trace import Step

__all__ = ["nodes_of", "told"]

EARLIER, PLANE, AVERAGE = "earlier", "hyperplane", "noisy average"  # names of layers
ANGLES = 720  # number of directions in which a bucket's wedge is searched for
OUT = 0.55  # share of the radius at which a bucket's count stands
LONG, FEW = 3, 150  # number of levels in which all people slide; number of those who do later
MOST_SIDES = 4  # number of levels in which counts are written on the plane


def nodes_of(rows: np.ndarray, levels: Sequence[Step], depth: int) -> np.ndarray:
    """Return for each of the rows (n, d) in z units its node at a depth, whether or not a bucket was split there."""
    node = np.ones(len(rows), dtype=object)
    for step in levels[:depth]:
        node = 2 * node + (rows @ step.released["direction"] >= 0)
    return node


def told(view: View, shots: Sequence[Shot], people: Crowd) -> list[tuple[Event, ...]]:
    """Return the events of every shot; `view` is that of the plane, `people` those whom it shows."""
    steps = view.trace.steps
    levels = [step for step in steps if step.kind == "split-level"]
    film: list[tuple[Event, ...]] = []
    paid = 0
    for shot in shots:
        step = steps[shot.step]
        if step.kind == "split-level":
            film.append(_split(view, step, levels, people, pays=float(shot.releases > paid)))
        else:
            film.append(_averaged(view, step, levels, people))
        paid = shot.releases
    return film


def _split(view: View, step: Step, levels: Sequence[Step], people: Crowd, *, pays: float) -> tuple[Event, ...]:
    released, colors, level = step.released, view.colors, int(step.released["level"])
    split = released["nodes"][released["branched"]]
    head, long = f"Level {level}", LONG if view.trace.domain.n_features == 2 else 1
    if not len(split):
        words = "no bucket is large enough to cut again"
        return (Event("final", f"{head}: stop", words, 0.8, ({"layer": EARLIER}, {"layer": PLANE}), pays=pays),)
    node = nodes_of(people.rows, levels, level)
    mine = people.some(np.isin(node, split))
    if level >= long:
        mine = mine.some(thin(len(mine.rows), FEW))
    upper = mine.rows @ released["direction"] >= 0
    base: list[Act] = [{"layer": EARLIER}]
    cut = Event(
        "cut", f"{head}: cut blindly", "the direction was drawn before anybody was looked at, so it costs nothing",
        hurried(level + 1, 1.4),
        (*base, *(lit(colors, mine) if level < long else []), {"layer": PLANE, "opacity": [0, 1]}), (0.6, 0.4),
        pays=0,
    )  # fmt: skip
    across = view.plane(released["direction"]) - view.plane(np.zeros(view.trace.domain.n_features))
    low, high = view.bounds()
    across = APART * float((high - low).min()) * across / max(float(np.linalg.norm(across)), 1e-12)
    apart = [
        act
        for side in (0, 1)
        for act in lit(colors, mine.some(upper == bool(side)), shift=((2 * side - 1) * across).tolist(), span=[0, 0.6])
    ]
    below = levels[level + 1] if level + 1 < len(levels) else None
    rolled = _sides(view, step, below, levels) if below is not None and level < MOST_SIDES else []
    kept = 0 if below is None else len(below.released["nodes"])
    tail = f"±{number(released['count_sd'], 2)} each; {kept} of {2 * len(split)} sides hold enough to stay"
    what, tail = noised(released["count_sd"] > 0, f"{head}: count both sides, with noise", tail)
    count = Event(
        "count", what, tail, hurried(level + 1, 1.8), (*base, *apart, {"layer": PLANE}, *rolled), (0.4, 0.6), pays=pays
    )
    return cut, count


def _true(view: View, levels: Sequence[Step]) -> dict[int, float]:
    """Return the true count of every bucket whose rows were counted; none unless hidden layers are on."""
    if not view.hidden or not levels[0].hidden:
        return {}
    true = {1: float(levels[0].hidden[0].statistic["count"])}
    for step in levels:
        tried = step.released["nodes"][step.released["noisy_counts"] >= 3 * step.released["smallest"]]
        sides = [2 * int(node) + side for node in tried for side in (0, 1)]
        values = [float(one.statistic["count"]) for one in step.hidden if one.label == "count"]
        true |= dict(zip(reversed(sides), reversed(values), strict=False))  # the first value may be that of all rows
    return true


def _sides(view: View, step: Step, below: Step, levels: Sequence[Step]) -> list[Act]:
    """Return the counts of the sides that stay, which roll from true to noisy; none unless there are two columns.

    They stand on a ring around the plane; a narrow side that no angle of the ring meets shows no count.
    """
    if view.trace.domain.n_features != 2:
        return []
    nodes, released = below.released["nodes"], step.released
    angle = np.linspace(0, 2 * np.pi, ANGLES, endpoint=False)
    ring = view.trace.domain.radius * OUT * np.column_stack([np.cos(angle), np.sin(angle)])
    at = nodes_of(ring, levels, int(released["level"]) + 1)
    met = np.isin(nodes, at)
    if not met.any():
        return []
    places = view.plane(np.array([ring[at == node].mean(axis=0) for node in nodes[met]]))
    known = _true(view, levels)
    true = np.array([known[int(node)] for node in nodes[met]]) if known else None
    return counts(view, places, below.released["noisy_counts"][met], true, lift=0)


def _averaged(view: View, step: Step, levels: Sequence[Step], people: Crowd) -> tuple[Event, ...]:
    released, colors = step.released, view.colors
    base: list[Act] = [{"layer": EARLIER}]
    noisy, true, summed = view.plane(released["points"]), NOWHERE, []
    if view.hidden and step.hidden:
        sums = np.array([one.statistic["sum"] for one in step.hidden if one.label == "sum"])
        true = view.plane(sums / released["weights"][:, None])
        inside = _true(view, levels)
        summed = [piles(colors, true, np.array([inside[int(node)] for node in released["nodes"]]))]
        home = _homes(people.rows, levels, released["nodes"])
        known = home >= 0
        summed += sparks(colors, people.some(known), {"act": 1, "index": index(home[known])})
    add = Event(
        "average", "Every bucket averages its rows", "rows of dropped sides are in none; the averages stay secret",
        2.4 if summed else 1.2,
        (*base, *summed), (0.6, 0.4), pays=0,
    )  # fmt: skip
    tail = f"{counted(len(noisy), 'noisy average')} may be published"
    head, tail = noised(bool((released["sd"] > 0).all()), "Noise shakes the averages", tail)
    moving: Act = {"layer": AVERAGE, "opacity": [0, 1], "span": [0.6, 1]}
    dots = tips(view, true, noisy, float(released["coreset_sd"][0]))
    noise = Event("noise", head, tail, 1.8, (*base, dots, moving), (0.4, 0.8))
    words = f"k-means on the averages gives {counted(len(released['centers']), 'center')}; no row is read"
    acts: tuple[Act, ...] = (*base, {"layer": AVERAGE}, {"layer": CENTER, "size": [0, None], "wave": 0.3})
    return add, noise, Event("search", "Search at no cost", words, 1.8, acts, (0.8, 1), pays=0)


def _homes(rows: np.ndarray, levels: Sequence[Step], nodes: np.ndarray) -> np.ndarray:
    """Return for each of the rows (n, d) in z units the number of its final bucket; -1 if its side was dropped."""
    place = {int(node): i for i, node in enumerate(nodes)}
    home = np.full(len(rows), -1)
    for depth in range(len(levels)):
        at = nodes_of(rows, levels, depth)
        home = np.where(home < 0, [place.get(int(node), -1) for node in at], home)
    return home
