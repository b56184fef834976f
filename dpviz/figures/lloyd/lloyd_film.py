"""Tell a run of the Lloyd family as a film: assign, sum, noise, move."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpviz.figures.kit.acts import (
    CENTER,
    Crowd,
    arrows,
    counts,
    crowd,
    hurried,
    index,
    nearest,
    noised,
    piles,
    shaken,
    sparks,
    spokes,
)
from dpviz.figures.kit.events import Act, Event
from dpviz.figures.kit.layers import NOWHERE
from dpviz.figures.kit.shots import Shot
from dpviz.figures.kit.view import View
from dpviz.trace import Step

__all__ = ["ASSIGN", "FAR", "LOST", "MOVE", "RAW", "drawn_ends", "events", "outside", "true_means"]

ASSIGN, RAW, MOVE = range(3)  # the three pictures of an iteration: rows that count, noisy moves, new centers
FAR = 3.0  # maximum length at which a move is drawn, in domain radii; a count near 0 would give a move of any length
RADIUS, HAZE, RAW_MOVE, PATH = "radius", "noise, 1 standard deviation", "noisy move", "move"  # names of layers
LOST = "person outside every radius (not private)"


def outside(step: Step, Z: np.ndarray) -> np.ndarray:
    """Return the mask (n,) of the rows Z (n, d), z units, that lie outside the radius of every center. NOT PRIVATE."""
    if not step.released["constrained"] or step.released.get("pulls_from_afar"):
        return np.zeros(len(Z), dtype=bool)
    squares = ((Z[:, None] - step.released["start"][None]) ** 2).sum(axis=2)
    return squares.min(axis=1) > step.released["radius"] ** 2


def drawn_ends(view: View, step: Step) -> np.ndarray:
    """Return the ends (k, d) of the noisy moves as they are drawn, in z units: the farthest ones are cut off."""
    start, most = step.released["start"], FAR * view.trace.domain.radius
    move = step.released["raw"] - start
    return start + move / np.maximum(np.linalg.norm(move, axis=1) / most, 1.0)[:, None]


def true_means(step: Step) -> np.ndarray:
    """Return the means (k, d) of the rows that count at each center, z units; NaN for none. NOT PRIVATE."""
    statistic = step.hidden[0].statistic
    number = np.where(statistic["counts"] > 0, statistic["counts"], np.nan)
    origin = step.released["start"] if step.released["constrained"] else 0.0
    return origin + statistic["sums"] / number[:, None]


def events(view: View, shots: Sequence[Shot]) -> list[tuple[Event, ...]]:
    """Return the events of every shot: start; assign; sum and noise; move."""
    everybody = crowd(view)
    told: list[tuple[Event, ...]] = []
    for shot in shots:
        step = view.trace.steps[shot.step]
        if "raw" not in step.released:
            told.append((_started(step),))
            continue
        people = everybody.some(~outside(step, everybody.rows))
        if shot.phase == ASSIGN:
            told.append((_assigned(view, shot, step, people),))
        elif shot.phase == RAW:
            told.append((_summed(view, shot, step, people), _shaken(view, shot, step)))
        else:
            told.append((_moved(shot, step),))
    return told


def _started(step: Step) -> Event:
    acts: tuple[Act, ...] = ({"layer": CENTER, "size": [0, None], "wave": 0.5},)
    head = "Start from public rows" if step.released.get("public") else "Start without looking at anybody"
    return Event("start", head, step.title, 1.2, acts, pays=0)


def _assigned(view: View, shot: Shot, step: Step, people: Crowd) -> Event:
    released, noun = step.released, view.noun
    reach: list[Act] = [{"layer": RADIUS, "opacity": [0, 1], "span": [0, 0.4]}] if released["constrained"] else []
    lost: list[Act] = [{"layer": LOST, "opacity": [0, 1], "span": [0.5, 1]}] if view.hidden and len(people.rows) else []
    near = {"layer": CENTER, "index": index(nearest(people.rows, released["start"]))}
    tail = "who goes where stays secret"
    if released["constrained"]:
        doing = "pulls harder than one" if released.get("pulls_from_afar") else "counts who is more than"
        tail = f"nobody {doing} {view.trace.domain.length(released['radius'])} away"
    return Event(
        "assign", f"Each {noun} goes to the nearest center", f"{shot.head}: {tail}",
        hurried(released["round"], 1.8 if len(people.rows) else 1.0),
        (*reach, *spokes(view.colors, people, near), *lost, {"layer": CENTER}), (1, 0.6), pays=0,
    )  # fmt: skip


def _secrets(view: View, step: Step) -> bool:
    return view.hidden and bool(step.hidden) and view.picture is None


def _summed(view: View, shot: Shot, step: Step, people: Crowd) -> Event:
    released, colors = step.released, view.colors
    acts: list[Act] = [{"layer": RADIUS}] if released["constrained"] else []
    if _secrets(view, step):
        start, means = view.plane(released["start"]), view.plane(true_means(step))
        near = index(nearest(people.rows, released["start"]))
        fill = {"fill": len(acts) + 1} if len(people.rows) else {}
        acts.append(piles(colors, start, step.hidden[0].statistic["counts"], span=[0, 0.7], **fill))
        acts += sparks(colors, people, {"act": len(acts) - 1, "index": near}, span=[0, 0.7])
        acts.append(arrows(colors.hidden, start, means, span=[0.6, 1]))
    return Event(
        "sum", "Every center counts its rows and adds them up",
        f"{shot.head}: each sum divided by its count leads to a mean; both stay secret",
        hurried(released["round"], 2.4 if len(acts) > 1 else 1.0), (*acts, {"layer": CENTER}), (0.6, 0.45), pays=0,
    )  # fmt: skip


def _shaken(view: View, shot: Shot, step: Step) -> Event:
    released, domain = step.released, view.trace.domain
    start, ends = view.plane(released["start"]), view.plane(drawn_ends(view, step))
    true = step.hidden[0].statistic["counts"] if _secrets(view, step) else None
    acts: list[Act] = [{"layer": RADIUS}] if released["constrained"] else []
    tips = NOWHERE if true is None else view.plane(true_means(step))
    acts += [
        {"layer": RAW_MOVE, "opacity": [0, 1], "span": [0.4, 1]},
        {"layer": HAZE, "opacity": [0, 1], "span": [0.5, 1]},
        *shaken(view, start, tips, ends, released["sums_sd"]),
        {"layer": CENTER},
        *counts(view, start, released["noisy_counts"], true),
    ]
    typical = released["sums_sd"] / max(float(np.median(released["noisy_counts"])), 1.0)
    tail = f"it moves the mean of a median-sized group by {domain.length(typical)}; now all may be published"
    head, tail = noised(released["sums_sd"] > 0, "Noise shakes the sums and the counts", tail)
    return Event(
        "noise", head, f"{shot.head}: {tail}", hurried(released["round"], 2.0), tuple(acts), (0.45, 1)
    )  # fmt: skip


def _moved(shot: Shot, step: Step) -> Event:
    gone: list[Act] = [{"layer": name, "at": -1, "opacity": [1, 0]} for name in (RADIUS, HAZE, RAW_MOVE)]
    acts: tuple[Act, ...] = (*gone, {"layer": PATH, "opacity": [0, 1]}, {"layer": CENTER, "streak": 0.4})
    return Event(
        "move",
        "The centers go there",
        f"{shot.head}: {shot.tail}",
        hurried(step.released["round"], 1.4),
        acts,
        pays=0,
    )
