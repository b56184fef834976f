"""Draw Choose-k: the winner's start and moves; in the film, small pictures of candidates, of which all but one fall."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from dpviz.figures.kit.acts import CENTER
from dpviz.figures.kit.events import Act, Event
from dpviz.figures.kit.layers import paths, tint
from dpviz.figures.kit.shots import Shot, in_phases, split_title
from dpviz.figures.kit.view import View, xy
from dpviz.figures.lloyd import lloyd
from dpviz.figures.lloyd.lloyd_film import MOVE, PATH
from dpviz.trace import Step, Trace

__all__ = ["PANE", "candidates_table"]

FALL = 90  # pixels by which a loser falls
SMALL = 0.76  # share of its cell that a small picture fills


def shots(trace: Trace) -> list[Shot]:
    """Return one picture of the choice and one per iteration of the winner."""
    return in_phases(trace, lambda step: (MOVE,), lambda step, phase: split_title(step), asking=-1)


def candidates_table(step: Step) -> pd.DataFrame:
    """Return one row per candidate that counted: k, noisy score, and whether it won. NOT PRIVATE."""
    secret: Mapping[str, np.ndarray] = step.hidden[0].statistic
    won = np.arange(len(secret["sizes"])) == secret["winner"][0]
    return pd.DataFrame({"k": secret["sizes"], "score": secret["scores"], "won": won})


def _cells(view: View, many: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower corners (many, 2) and the size (2,) of the cells of a grid over the plane."""
    low, high = view.bounds()
    across = math.ceil(math.sqrt(many))
    down = math.ceil(many / across)
    size = (high - low) / [across, down]
    place = np.stack([np.arange(many) % across, down - 1 - np.arange(many) // across], axis=1)
    return low + place * size, size


def _small(view: View, step: Step) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return, per candidate, its centers in a small picture and the outline of that picture, both on the plane."""
    low, high = view.bounds()
    ends = view.plane(step.hidden[0].statistic["ends"])
    table = candidates_table(step)
    corners, size = _cells(view, len(table))
    corners = corners + (1 - SMALL) / 2 * size
    points = np.split(ends, np.cumsum(table.k)[:-1])
    dots = [corner + SMALL * size * (one - low) / (high - low) for corner, one in zip(corners, points, strict=True)]
    box = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]])
    return dots, [corner + SMALL * size * box for corner in corners]


def events(view: View, shots: Sequence[Shot]) -> list[tuple[Event, ...]]:
    """Return the events of every shot: the starts, the candidates and the choice; then the winner's moves."""
    told: list[tuple[Event, ...]] = []
    for shot in shots:
        step = view.trace.steps[shot.step]
        told.append(
            (_moved(shot),) if "raw" in step.released else (_started(step), _tried(view, step), _chosen(view, step))
        )
    return told


def _started(step: Step) -> Event:
    acts: tuple[Act, ...] = ({"layer": CENTER, "opacity": [0, 0]},)
    released = step.released
    tail = f"for every k from {released['k_min']} to {released['k_max']}, spread over the bounds; nobody is looked at"
    if released["k_min"] == released["k_max"]:
        tail = f"several for k = {released['k_min']}, spread over the bounds; nobody is looked at"
    return Event("start", "Starts are known to everybody", tail, 1.2, acts, pays=0)


def _secret(view: View, step: Step) -> bool:
    return view.hidden and bool(step.hidden) and view.picture is None and len(candidates_table(step)) > 0


def _looks(view: View) -> tuple[Act, Act]:
    color = view.colors.hidden
    dot = {"marker": {"size": 5, "color": color}, "name": "candidate"}
    frame = {"mode": "lines", "line": {"color": tint(color, 0.5), "width": 1}, "name": "small picture"}
    return dot, frame


def _tried(view: View, step: Step) -> Event:
    released = step.released
    acts: list[Act] = [{"layer": CENTER, "opacity": [0, 0]}]
    if _secret(view, step):
        dots, frames = _small(view, step)
        dot, frame = _looks(view)
        acts += [
            {"look": frame, "to": xy(paths(frames)), "opacity": [0, 1], "span": [0, 0.3]},
            {"look": dot, "to": xy(np.concatenate(dots)), "size": [0, 5], "wave": 0.7},
        ]
    tail = f"noisy k-means from random starts, {released['tries']} times on average; how often stays secret"
    return Event("try", "A secret number of candidates run", tail, 2.6, tuple(acts), (0.5, 0.25))


def _chosen(view: View, step: Step) -> Event:
    released = step.released
    acts: list[Act] = [{"layer": CENTER, "size": [0, None], "span": [0.6, 1]}]
    if _secret(view, step):
        won = candidates_table(step).won.to_numpy()
        dots, frames = _small(view, step)
        dot, frame = _looks(view)
        first = int(np.argmax(won))
        others = [i for i in range(len(won)) if i != first]
        down: Act = {"opacity": [1, 0], "fall": FALL, "span": [0, 0.7]}
        if others:
            acts += [
                {"look": frame, "to": xy(paths([frames[i] for i in others])), **down},
                {"look": dot, "to": xy(np.concatenate([dots[i] for i in others])), **down},
            ]
        acts += [
            {"look": frame, "to": xy(paths([frames[first]])), "opacity": [1, 0], "span": [0.5, 0.9]},
            {"look": dot, "to": xy(dots[first]), "opacity": [1, 0], "span": [0.5, 0.9]},
        ]
    tail = f"k = {released['k']} is published with its noisy cost; the others and their number stay secret"
    return Event("choose", "The smallest noisy cost times k^(2/d) wins", tail, 2.4, tuple(acts), (0.25, 1), pays=0)


def _moved(shot: Shot) -> Event:
    acts: tuple[Act, ...] = ({"layer": PATH, "opacity": [0, 1]}, {"layer": CENTER, "streak": 0.4})
    return Event("move", shot.head, shot.tail, 1.2, acts, pays=0)


PANE = dataclasses.replace(
    lloyd.PANE,
    shots=shots,
    events=events,
    warning=lambda trace: "",  # the method's own advice and doubts say more
    legend=(
        ("center", "released center"),
        ("path", "its move"),
        ("diamond", "KMeans"),
        ("ring", "person"),
    ),
    caution="Noise and chance decide which k are tried at all: run with another seed. A narrow winner may lose "
    "the next time.",
)
