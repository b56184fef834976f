"""Tell a run of DPM as a film: score, pick, cut and count for every region, then the averages."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpviz.figures.kit.events import Act, Event
from dpviz.figures.kit.layers import tint
from dpviz.figures.kit.panels import people_drawn, spend_table
from dpviz.figures.kit.shots import Shot
from dpviz.figures.kit.view import View, xy
from dpviz.figures.trees.dpm_scores import rails, scored, scores_table, strips
from dpviz.numbers import counted, plural
from dpviz.trace import Step

__all__ = ["APART", "best_chance", "events", "region_of"]

MAX_TICKETS = 28  # maximum number of tickets of a column
STOPS = 6  # points of each side of a region over which the ball runs
APART = 0.018  # share of the plane's side by which the parts of a region slide apart
OPEN, FINAL, REGION, CENTER = "open region", "final region", "region", "released center"  # names of layers
WHY = {
    "deepest level": "the deepest level is reached",
    "no rows left": "hardly anybody is left in it",
    "too narrow to cut": "it is too narrow to cut",
}


def events(view: View, shots: Sequence[Shot]) -> list[tuple[Event, ...]]:
    """Return the events of every shot; if the drawn columns change, pictures move without marks of their own."""
    d, steps = view.trace.domain.n_features, view.trace.steps
    still = d == 1 or (view.axes is None and d > 2)
    rows = np.empty((0, d))
    if view.hidden and view.people is not None and not still:
        rows = view.trace.domain.normalize(view.people[people_drawn(view.flat(view.people))[0]])
        rows = np.clip(rows, steps[0].released["low"], steps[0].released["high"])  # as the run reads them
    told: list[tuple[Event, ...]] = []
    epsilon, before = spend_table(view.trace).epsilon.to_numpy(), 0
    for shot in shots:
        step = steps[shot.step]
        if step.kind == "region":
            prices = np.zeros(step.n_releases - before)
            if not view.trace.noiseless:
                prices = np.diff(epsilon[before : step.n_releases + 1])
            before = step.n_releases
            told.append(_region(view, shot, step, rows, prices, still=still))
        elif "nodes" in step.released:
            told.append((_average(view, step, rows, still=still),))
        else:
            told.append((Event("merge", shot.head, shot.tail, 1.6),))
    return told


def best_chance(view: View, t: int) -> float:
    """Return the chance that the likeliest cut of step t had to be drawn, 0 without scores. NOT PRIVATE."""
    table = scores_table(view, t)
    return 0.0 if table.empty else float(table.probability.max())


def region_of(rows: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return for each row (n, d) the number of the box (m, d) that holds it, -1 if none does; z units."""
    inside = np.all((rows[:, None] >= low) & (rows[:, None] <= high), axis=2)
    return np.where(np.any(inside, axis=1), np.argmax(inside, axis=1), -1)


def _seconds(t: int, seconds: float) -> float:
    """Return the seconds of an event of region number t; after the third region they are fewer."""
    return round((1.2, 1.2, 0.8)[t] * seconds if t < 3 else 0.45 * seconds, 2)


def _region(
    view: View, shot: Shot, step: Step, rows: np.ndarray, prices: np.ndarray, *, still: bool
) -> tuple[Event, ...]:
    """Return the events of a region; `prices` (m,) is by how much epsilon rises with each of the step's releases."""
    released, colors = step.released, view.colors
    if released["column"] < 0:
        words = (
            f"about {_size(released['noisy_count'])} {plural(view.noun)}; {WHY[released['reason']]}, so it stays whole"
        )
        acts: tuple[Act, ...] = ({"layer": OPEN}, {"layer": FINAL, "opacity": [0.4, 1]}, {"layer": REGION})
        return (Event("final", f"{shot.head}: final", words, _seconds(shot.step, 1.4), () if still else acts),)
    inside = _inside(rows, released)
    dots: Act = {
        "look": {"marker": {"symbol": "circle-open", "size": 3.5, "color": colors.person}, "name": "rows"},
        "to": {"layer": "person", "index": inside.astype(np.uint16)},
    }
    base: list[Act] = [{"layer": FINAL, "at": -1}, {"layer": OPEN}, *([dots] if len(inside) else []), {"layer": REGION}]
    counting, picking = float(prices[:-3].sum()), float(prices[-3])  # the whole is counted before its first cut
    whole = Event(
        "whole", f"{shot.head}: count everybody, with noise",
        f"about {_size(released['noisy_count'])} {plural(view.noun)}", _seconds(shot.step, 1.2),
        () if still else ({"layer": OPEN}, {"layer": REGION}), pays=counting,
    )  # fmt: skip
    feet, scores, chances = strips(view, shot.step, MAX_TICKETS) if scored(view) else [np.empty((0, 2))] * 3
    look = {"line": {"color": tint(colors.hidden, 0.55), "width": 2.4}, "marker": {"color": tint(colors.hidden, 0.55)}}
    tickets: Act = {"look": {**look, "name": "ticket"}, "from": xy(feet), "rays": True}
    rising = [{**tickets, "to": xy(scores)}] if len(feet) else []
    bought = [{**tickets, "to": xy(chances)}] if len(feet) else []
    first = "good cuts run through empty places near the middle; their scores stay secret"
    score = Event(
        "score", f"{shot.head}: where to cut?", first, _seconds(shot.step, 1.3), () if still else (*base, *rising),
        (0.6, 0.25), pays=0.0,
    )  # fmt: skip
    chance = best_chance(view, shot.step) if scored(view) else 0.0
    words = f"the best cut had 1 chance in {1 / chance:,.0f}" if chance else "better cuts are likelier"
    ball: Act = {"look": {"marker": {"size": 15, "color": colors.released}, "name": "ball"}, "run": True,
                 "to": xy(_way(view, released)), "span": [0, 0.8]}  # fmt: skip
    ends = _ends(view, released)
    line: Act = {"look": {"line": {"color": colors.ink, "width": 3.5}, "marker": {"color": colors.ink}}, "rays": True,
                 "from": xy(ends[:1]), "to": xy(ends[1:]), "span": [0.78, 1]}  # fmt: skip
    cuts = [line] if len(ends) else []
    pick = Event(
        "pick", f"{shot.head}: pick one by chance", f"{words}; chance hides each {view.noun}'s part",
        _seconds(shot.step, 1.8), () if still else (*base, *bought, *cuts, ball), (0.25, 0.25), pays=picking,
    )  # fmt: skip
    count = dataclasses.replace(_counted(view, shot, step, rows, base[:2], still=still), pays=float(prices[-2:].sum()))
    return (*([whole] if len(prices) > 3 else []), score, pick, count)


def _counted(view: View, shot: Shot, step: Step, rows: np.ndarray, base: list[Act], *, still: bool) -> Event:
    released, colors = step.released, view.colors
    low, high = view.bounds()
    boxes, away = _halves(view, released), np.zeros(2)
    axes = list(view.axes or (0, 1))
    if released["column"] in axes:
        away[axes.index(released["column"])] = APART
    away = away * (high - low)
    accepted = bool(released["accepted"])
    acts: list[Act] = list(base)
    inside = _inside(rows, released)
    dot = {"marker": {"symbol": "circle-open", "size": 3.5, "color": colors.hidden}, "name": "rows"}
    upper = rows[inside, released["column"]] >= released["position"] if len(inside) else np.empty(0, dtype=bool)
    back = np.minimum(away, boxes[0][0] - low)  # as far as the plane has room, so that nothing slides out of it there
    for side, box in enumerate(boxes):
        shift = (side * 2 * away - back).tolist()
        mine = inside[upper == bool(side)].astype(np.uint16)
        fill = {"fill": "toself", "fillcolor": tint(colors.released, 0.1)}
        edge = {**fill, "mode": "lines", "line": {"color": colors.released, "width": 2.4}, "name": "part"}
        acts.append({"look": edge, "to": xy(box), "shift": shift, "span": [0, 0.6]})
        if len(mine):
            acts.append({"look": dot, "to": {"layer": "person", "index": mine}, "shift": shift, "span": [0, 0.6]})
    middles = np.array([box[:4].mean(axis=0) for box in boxes])
    noisy = [round(float(count)) for count in released["child_counts"]]
    true = [round(float(h.statistic["count"])) for h in step.hidden if h.label == "count"][-2:] if view.hidden else []
    font = {"size": 17, "color": colors.released, "shadow": f"0 0 2px {colors.panel}"}
    number: Act = {"look": {"textfont": font, "mode": "text", "name": "counts"}, "to": xy(middles), "span": [0.2, 1],
                   "count": [true or noisy, noisy]}  # fmt: skip
    if true:
        number["color"] = [colors.hidden, colors.released]
    if not accepted:
        acts.append({"layer": FINAL, "opacity": [0, 1], "span": [0.5, 1]})
    a, b = (_size(count) for count in noisy)
    head, words = f"{shot.head}: cut, and count both sides", f"about {a} and {b} {plural(view.noun)}, with noise"
    if not accepted:
        head = f"{shot.head}: too few on one side, it stays whole"
        words = f"about {a} and {b}, with noise; both sides need at least {_size(released['smallest'])}"
    return Event("count", head, words, _seconds(shot.step, 1.6), () if still else (*acts, number), (0.25, 0.3))


def _average(view: View, step: Step, rows: np.ndarray, *, still: bool) -> Event:
    released, colors = step.released, view.colors
    k = len(released["centers"])
    gathered: list[Act] = []
    if len(rows):
        where = region_of(rows, released["low"], released["high"])
        look = {"marker": {"symbol": "circle-open", "size": 3.5, "color": colors.hidden}, "name": "rows"}
        gathered = [
            {"look": look, "from": {"layer": "person"}, "to": {"layer": CENTER, "index": where.astype(np.int16)},
             "wave": 0.4, "gone": True, "span": [0, 0.7]}
        ]  # fmt: skip
    acts: list[Act] = [
        {"layer": FINAL}, *gathered, {"layer": "noise", "opacity": [0, 1], "span": [0.7, 1]},
        {"layer": CENTER, "size": [0, None], "span": [0.45, 0.85]},
    ]  # fmt: skip
    words = f"{counted(k, 'center')}: DPM chose their number itself"
    return Event("average", "Average every region, with noise", words, 3.0, () if still else tuple(acts), (0.3, 1))


def _size(noisy_count: float) -> str:
    return f"{max(round(float(noisy_count)), 0):,}"


def _inside(rows: np.ndarray, released: Mapping[str, Any]) -> np.ndarray:
    """Return the numbers of the rows (n, d) inside a step's region; z units."""
    return np.flatnonzero(region_of(rows, released["low"][None], released["high"][None]) == 0)


def _corners(view: View, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the closed outline (5, 2) of a box in z units, in drawn coordinates."""
    (x0, y0), (x1, y1) = view.plane(low), view.plane(high)
    return np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1], [x0, y0]])


def _halves(view: View, released: Mapping[str, Any]) -> list[np.ndarray]:
    low, high, column = released["low"], released["high"], released["column"]
    below, above = high.copy(), low.copy()
    below[column] = above[column] = released["position"]
    return [_corners(view, low, below), _corners(view, above, high)]


def _ends(view: View, released: Mapping[str, Any]) -> np.ndarray:
    """Return both ends (2, 2) of a cut's line; none if its column is not drawn."""
    axes = list(view.axes or (0, 1))
    if released["column"] not in axes:
        return np.empty((0, 2))
    box = _halves(view, released)[0]
    return box[[2, 1]] if axes.index(released["column"]) == 0 else box[[2, 3]]


def _way(view: View, released: Mapping[str, Any]) -> np.ndarray:
    """Return the points (m, 2) over which the ball runs: along both sides of the region and back to the drawn cut."""
    box, ends = _corners(view, released["low"], released["high"]), _ends(view, released)
    (x0, y0), (x1, y1) = box[0], box[2]
    right, top = rails(view) if scored(view) else (x1, y1)
    if not len(ends):
        return np.array([[x1, top]])
    upright = bool(np.isclose(ends[0, 0], ends[1, 0]))
    across = np.linspace(x1 if upright else x0, ends[0, 0] if upright else x1, STOPS)
    down = np.linspace(y0 if upright else y1, y1 if upright else ends[0, 1], STOPS)
    above, beside = np.column_stack([across, np.full(STOPS, top)]), np.column_stack([np.full(STOPS, right), down])
    return np.concatenate([beside, above] if upright else [above, beside])
