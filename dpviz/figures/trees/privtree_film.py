"""Tell a run of PrivTree as a film: for every depth the question and the halving, then the leaves' counts."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpviz.figures.kit.acts import (
    CENTER,
    Crowd,
    counts,
    crowd,
    hurried,
    index,
    lit,
    noised,
    piles,
    shake,
    sparks,
)
from dpviz.figures.kit.events import Act, Event
from dpviz.figures.kit.layers import disc_sizes
from dpviz.figures.kit.shots import Shot
from dpviz.figures.kit.view import View, xy
from dpviz.figures.trees.dpm_film import region_of
from dpviz.numbers import counted, number, plural
from dpviz.trace import Step

__all__ = ["along_columns", "events"]

EARLIER, BOX, LEAF = "earlier", "box", "leaf"  # names of layers


def along_columns(view: View) -> View:
    """Return a view along two columns, because boxes are boxes only there."""
    return dataclasses.replace(view, axes=view.axes or (0, 1)) if view.trace.domain.n_features > 1 else view


def events(view: View, shots: Sequence[Shot]) -> list[tuple[Event, ...]]:
    """Return the events of every shot: ask and halve; at last, count the leaves, add noise, search."""
    view, steps = along_columns(view), view.trace.steps
    people = crowd(view)
    levels = [step for step in steps if step.kind == "halving-level"]
    told = [_halved(view, steps[shot.step], steps[shot.step + 1], people) for shot in shots[:-1]]
    return [*told, _counted(view, steps[-1], levels, people)]


def _true(view: View) -> dict[int, float]:
    """Return the true count of every node; none unless hidden layers are on."""
    steps = view.trace.steps
    if not view.hidden or not steps[0].hidden:
        return {}
    nodes = np.concatenate([step.released["nodes"] for step in steps if step.kind == "halving-level"])
    return dict(zip(nodes.tolist(), steps[0].hidden[0].statistic["counts"].tolist(), strict=True))


def _halved(view: View, step: Step, below: Step, people: Crowd) -> tuple[Event, ...]:
    released, true = step.released, _true(view)
    level, halved = int(released["level"]), released["halved"]
    middles = view.plane((released["low"] + released["high"]) / 2)
    still: list[Act] = [{"layer": EARLIER}, {"layer": BOX}]
    known: list[Act] = []
    if true:
        values = np.array([true[int(node)] for node in released["nodes"]])
        known = counts(view, middles, values, np.zeros(len(values)), color=[view.colors.hidden] * 2, lift=0)
    within = region_of(people.rows, released["low"], released["high"]) if len(people.rows) else np.empty(0, dtype=int)
    ask = Event(
        "ask", f"Depth {level}: which boxes hold enough {plural(view.noun)}?",
        "a box is worth halving only if it holds many; the counts stay secret", hurried(level + 1, 1.4),
        (*still, *lit(view.colors, people.some(within >= 0)), *known), (0.6, 0.3), pays=0,
    )  # fmt: skip
    paid = "this one payment is for the whole tree" if level == 0 else "the whole tree is paid already"
    words = f"{int(halved.sum()):,} of {counted(len(halved), 'box', 'boxes')} seem full enough; {paid}"
    if not halved.any():
        words = "no box seems to hold enough any more, so all stay whole"
    new: list[Act] = [{"layer": EARLIER}, {"layer": BOX}]
    if below.kind == "halving-level":
        ends = _cuts(view, released, below)
        look = {"line": {"color": view.colors.ink, "width": 2.4}, "marker": {"color": view.colors.ink}, "name": "cut"}
        new.append({"look": look, "from": xy(ends[0]), "to": xy(ends[1]), "rays": True, "span": [0.1, 0.9]})
    head, seconds = f"Depth {level}: noise decides, then halve", hurried(level + 1, 1.6)
    return ask, Event("halve", head, words, seconds, tuple(new), (0.3, 1), pays=float(level == 0))


def _cuts(view: View, released: Any, below: Step) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends (m, 2) of the cut of every box that is halved, on the plane."""
    child = {int(node): i for i, node in enumerate(below.released["nodes"])}
    lower = [child[2 * int(node)] for node in released["nodes"][released["halved"]]]
    parents = released["high"][released["halved"]]
    low, high = below.released["low"][lower], below.released["high"][lower]
    cut = high < parents - 1e-12  # the halved column
    ends = view.plane(np.where(cut, high, low)), view.plane(high)
    if view.trace.domain.n_features == 1:
        return ends[0] - [0, 1], ends[1] + [0, 1]
    return ends


def _counted(view: View, step: Step, levels: Sequence[Step], people: Crowd) -> tuple[Event, ...]:
    released, colors, sd = step.released, view.colors, step.released["counts_sd"]
    at = view.plane(released["coreset_points"])
    seen = np.flatnonzero(released["leaf_counts"] > 0)  # the leaves that are drawn
    base: list[Act] = [{"layer": EARLIER}]
    filled: list[Act] = []
    discs: Act = {"layer": LEAF, "size": [0, None], "shake": shake(sd)}
    if view.hidden and step.hidden and len(seen) == len(at):
        true = step.hidden[0].statistic["leaves"][seen]
        box = {int(node): (low, high) for level in levels for node, low, high in zip(*_boxes(level), strict=True)}
        low, high = (np.array([box[int(node)][end] for node in released["leaves"][seen]]) for end in (0, 1))
        home = region_of(people.rows, low, high) if len(people.rows) and len(seen) else np.full(len(people.rows), -1)
        known = home >= 0
        filled = [piles(colors, at, true, **({"fill": 2} if known.any() else {}))]
        filled += sparks(colors, people.some(known), {"act": 1, "index": index(home[known])})
        discs |= {"size": [np.rint(disc_sizes(true)).astype(np.uint8), None], "color": [colors.hidden, colors.released]}
    add = Event(
        "count", "Each leaf counts its rows", "the counts stay secret", 2.6 if filled else 1.2, (*base, *filled),
        (0.6, 0.4), pays=0,
    )  # fmt: skip
    tail = f"each moves by about ±{number(sd, 2)}; leaves with a count of 0 or less are left out"
    head, tail = noised(sd > 0, "Noise shakes the counts", tail)
    noise = Event("noise", head, tail, 1.8, (*base, discs), (0.4, 0.8))
    k = len(released["centers"])
    words = f"k-means on {counted(len(at), 'leaf', 'leaves')} gives {counted(k, 'center')}; no row is read"
    acts: tuple[Act, ...] = (*base, {"layer": LEAF}, {"layer": CENTER, "size": [0, None], "wave": 0.3})
    return add, noise, Event("search", "Search at no cost", words, 1.8, acts, (0.8, 1), pays=0)


def _boxes(level: Step) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return level.released["nodes"], level.released["low"], level.released["high"]
