"""Tell a run of NSM as a film, by the lines of its pseudo-code: measure, count and average, search, correct."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dpviz.figures.kit.acts import (
    Crowd,
    counts,
    crowd,
    hurried,
    index,
    nearest,
    noised,
    piles,
    shake,
    shaken,
    sparks,
    spokes,
)
from dpviz.figures.kit.events import Act, Event
from dpviz.figures.kit.layers import NOWHERE, disc_sizes, outline
from dpviz.figures.kit.shots import Shot
from dpviz.figures.kit.view import View, xy
from dpviz.figures.kit.votes import MAX_TRIALS, TRIAL, VOTE, drawn
from dpviz.numbers import counted, number, percent, plural
from dpviz.trace import Step

__all__ = ["events"]

SHAPE, TRIALS, VOTES, POINTS, FREE, PAID, STILL = "shape", "trials", "votes", "points", "free", "paid", "still"
CENTERS = "released center"
HEADS = {
    "boxes": "Quarter the full boxes",
    "look": "Do a few cells hold nearly all rows?",
    "candidates": "Scatter candidates",
    "zoom": "Look closer where rows were found",
}
PLACES = {"look": "cell", "boxes": "box"}  # what counts rows in a step; otherwise candidates
FLAT = 3  # with more columns than this, radii are measured along stretched directions


def events(view: View, shots: Sequence[Shot]) -> list[tuple[Event, ...]]:
    """Return the events of every shot."""
    people = crowd(view)
    return [
        _EVENTS[view.trace.steps[shot.step].kind](view, shot, view.trace.steps[shot.step], people) for shot in shots
    ]


def _true(view: View, step: Step, label: str) -> dict[str, np.ndarray] | None:
    """Return the true statistic of a step's release with this label; None unless hidden layers are on."""
    return next((dict(one.statistic) for one in step.hidden if one.label == label), None) if view.hidden else None


def middle(view: View) -> np.ndarray:
    """Return the released middle (d,) of the rows, z units; that of the bounds if it is not released."""
    found = (step.released["middle"] for step in view.trace.steps if step.kind == "mean")
    return next(found, np.zeros(view.trace.domain.n_features))


def _mean(view: View, shot: Shot, step: Step, people: Crowd) -> tuple[Event, ...]:
    released, true = step.released, _true(view, step, "mean")
    here, origin = view.plane(released["middle"][None]), view.plane(np.zeros((1, view.trace.domain.n_features)))
    place, acts = NOWHERE, [{"layer": SHAPE}]
    if true is not None:
        place = view.plane(true["sums"] / np.maximum(true["counts"], 1)[:, None])
        acts.append(piles(view.colors, place, true["counts"], **({"fill": 2} if len(people.rows) else {})))
        acts += sparks(view.colors, people, {"act": 1, "index": np.zeros(len(people.rows), dtype=np.uint8)})
    add = Event(
        "sum", f"Where is the middle of the {plural(view.noun)}?", "all rows are added up; their sum stays secret",
        2.4 if len(acts) > 1 else 1.2, tuple(acts), (1, 0.6), pays=0,
    )  # fmt: skip
    tail = f"±{number(released['noise_sd'], 2)} on the sum of every column; the next steps measure from this place"
    head, tail = noised(released["noise_sd"] > 0, "Noise moves their mean", tail)
    moving = shaken(view, origin, place, here, released["noise_sd"])
    return add, Event(
        "noise", head, tail, 1.8, (*moving, {"layer": CENTERS, "opacity": [0, 1], "span": [0.6, 1]}), (0.6, 1)
    )


def _measured(view: View, people: Crowd) -> list[Act]:
    """Return the middle as a dot, with lines to people, whose lengths and directions are measured."""
    look = {"marker": {"size": 7, "color": view.colors.released}, "name": "middle"}
    dot: Act = {"look": look, "to": xy(view.plane(middle(view)[None]))}
    return [dot, *spokes(view.colors, people, {"act": 0, "index": np.zeros(len(people.rows), dtype=np.uint8)})]


def _radius(view: View, shot: Shot, step: Step, people: Crowd) -> tuple[Event, ...]:
    released, d = step.released, view.trace.domain.n_features
    rings = [outline(view, edge * np.eye(d), middle(view))[::3] for edge in released["edges"]]
    look = {"mode": "lines", "line": {"color": view.colors.released_soft, "width": 1}, "name": "shells"}
    gap = np.full((1, 2), np.nan)
    shells: Act = {"look": look, "to": xy(np.concatenate([part for ring in rings for part in (ring, gap)]))}
    before: list[Act] = [{"layer": SHAPE, "at": -1}] if shot.step else []
    ask = Event(
        "measure", f"How far out are the {plural(view.noun)}?",
        f"everybody counts in one of {len(rings)} shells around the middle; the counts stay secret", 2.2,
        (*_measured(view, people), {**shells, "opacity": [0, 1], "span": [0, 0.4]}, *before), (1, 0.6), pays=0,
    )  # fmt: skip
    most = "most rows" if step.kind == "near" else "the rows"
    share = percent(released["radius"] / view.trace.domain.radius)
    tail = f"±{number(released['noise_sd'], 2)} each; {most} seem to lie within {share} of the declared radius"
    head, tail = noised(released["noise_sd"] > 0, "Noise shakes the counts of the shells", tail)
    shape: Act = {"layer": SHAPE, "opacity": [0, 1], "shake": shake(released["noise_sd"])}
    return ask, Event("noise", head, tail, 1.8, (shape,), (0.6, 1))


def _moment(view: View, shot: Shot, step: Step, people: Crowd) -> tuple[Event, ...]:
    released = step.released
    before: list[Act] = [{"layer": SHAPE, "at": -1, "opacity": [1, 0.3]}] if shot.step else []
    ask = Event(
        "measure", f"In which directions do the {plural(view.noun)} spread?",
        "everybody's offset from the middle counts in one matrix, which stays secret", 2.2,
        (*_measured(view, people), *before), (1, 0.6), pays=0,
    )  # fmt: skip
    head, tail = noised(released["noise_sd"] > 0, "Noise shakes the matrix", shot.tail)
    shape: Act = {"layer": SHAPE, "opacity": [0, 1], "shake": 4}
    return ask, Event("noise", head, tail, 1.8, (shape,), (0.6, 1))


def _summary(view: View, shot: Shot, step: Step, people: Crowd) -> tuple[Event, ...]:
    released = step.released
    seen = released["population"].shape[1] == view.trace.domain.n_features
    at = view.plane(released["population"]) if seen else NOWHERE
    if shot.phase == TRIAL:
        words = f"{len(released['population']):,} places, from public and released values only"
        head = HEADS[step.kind]
        acts: tuple[Act, ...] = (
            {"layer": POINTS, "at": -1, "opacity": [1, 0]},
            {"layer": TRIALS, "size": [0, None], "wave": 0.6},
        )
        return (Event("scatter", head, words, 1.4, acts, pays=0),)
    if shot.phase == VOTE:
        return _voted(view, step, people, at)
    kept = released["kept"]
    some = drawn(released, MAX_TRIALS)
    some = some[released["noisy_votes"][some] > 0]
    lose = np.flatnonzero(~kept[some])
    sizes = np.rint(disc_sizes(released["noisy_votes"][some[lose]])).astype(np.uint8)
    falling: Act = {
        "layer": VOTES, "at": -1, "to": {"layer": VOTES, "at": -1, "index": index(lose)}, "size": [sizes, sizes],
        "opacity": [1, 0], "fall": 110, "span": [0, 0.9], "wave": 0.3,
    }  # fmt: skip
    still = np.rint(disc_sizes(released["noisy_votes"][kept])).astype(np.uint8)
    stay: Act = {"layer": POINTS, "to": xy(at[kept]), "size": [still, still]} if seen else {"layer": POINTS}
    if step.kind == "look":
        words = step.title.split(": ")[1].capitalize()
        fullest: Act = {"layer": TRIALS, "at": -1, "opacity": [1, 0.3]}
        acts = (fullest, {"layer": VOTES, "at": -1, "opacity": [1, 0.3]}, stay)
        return (Event("cut", step.title.split(":")[0], words, 1.4, acts, (0.6, 0.8), pays=0),)
    if step.kind == "boxes":
        words = f"{kept.sum():,} of {len(kept):,} seem to hold many; all others stay whole and are counted again"
        pale: Act = {"layer": VOTES, "at": -1, "opacity": [1, 0.3]}
        acts = ({"layer": TRIALS, "at": -1, "opacity": [1, 0.3]}, pale, stay)
        return (Event("cut", "The full boxes are quartered next", words, 1.4, acts, (0.6, 0.8), pays=0),)
    least = f"above {released['threshold']:.0f}" if released["threshold"] else "above 0 over all levels"
    cut = Event(
        "cut", "The weak drop out", f"{kept.sum():,} of {len(kept):,} have a noisy count {least}", 1.4,
        ({"layer": TRIALS, "at": -1, "opacity": [1, 0.3]}, *([falling] if len(lose) and seen else []), stay),
        (0.6, 0.8), pays=0,
    )  # fmt: skip
    move = Event(
        "move", "Each goes to the noisy mean of its rows",
        "a summary of all rows in a few discs; from now on it is free to use", 1.6,
        ({"layer": PAID, "opacity": [0, 1]}, {"layer": POINTS, "streak": 0.3}), (0.8, 1), pays=0,
    )  # fmt: skip
    return cut, move


def _voted(view: View, step: Step, people: Crowd, at: np.ndarray) -> tuple[Event, ...]:
    released, colors, boxes = step.released, view.colors, step.kind in ("boxes", "look")
    sd, true = released["noise_sd"], _true(view, step, step.kind)
    trials: Act = {"layer": TRIALS}
    filled: list[Act] = []
    some = drawn(released, MAX_TRIALS)
    some = some[released["noisy_votes"][some] > 0]
    discs: Act = {"layer": VOTES, "size": [0, None], "shake": shake(sd), "opacity": [1, 1]}
    full: list[Act] = []
    if true is not None and len(at):
        votes_true = true[step.kind if boxes else "counts"]
        chosen = np.flatnonzero(votes_true > 0)
        place = np.full(len(at), -1)
        place[chosen] = np.arange(len(chosen))
        votes = place[nearest(people.rows, released["population"])]
        known = votes >= 0  # a row on a border of two candidates may count for the other one
        fill = {"fill": 2} if known.any() else {}
        filled = [piles(colors, at[chosen], votes_true[chosen], **fill)]
        filled += sparks(colors, people.some(known), {"act": 1, "index": index(votes[known])})
        full = [piles(colors, at[chosen], votes_true[chosen], opacity=[1, 0])]
        full[0]["size"] = [full[0]["size"][1]] * 2
        discs |= {
            "size": [np.rint(disc_sizes(votes_true[some])).astype(np.uint8), None],
            "color": [colors.hidden, colors.released],
        }
    counter = PLACES.get(step.kind, "candidate")
    vote = Event(
        "vote", f"Each {counter} counts the rows nearest to {'its middle' if boxes else 'it'}",
        "the counts stay secret" if boxes else "and adds up their offsets; counts and sums stay secret",
        2.6 if len(filled) > 1 else 1.2, (trials, *filled), (0.6, 0.4), pays=0,
    )  # fmt: skip
    tail = f"each count moves by about ±{number(sd, 2)}; from here on, all may be published"
    head, tail = noised(sd > 0, "Noise shakes the counts" if boxes else "Noise shakes counts and sums", tail)
    return vote, Event("noise", head, tail, 1.8, (trials, *full, discs), (0.4, 0.6))


def _solve(view: View, shot: Shot, step: Step, people: Crowd) -> tuple[Event, ...]:
    released = step.released
    look = {
        "line": {"color": view.colors.released, "width": 1},
        "marker": {"color": view.colors.released},
        "name": "to center",
    }
    acts: list[Act] = [{"layer": POINTS}]
    if "coreset_points" in released:
        near = nearest(released["coreset_points"], released["centers"])
        start = view.plane(released["coreset_points"])
        acts.append(
            {
                "look": look,
                "from": xy(start),
                "to": {"layer": CENTERS, "index": index(near)},
                "rays": True,
                "span": [0, 0.7],
            }
        )
        acts.append({"layer": FREE, "opacity": [0, 1], "span": [0.6, 1]})
    acts.append({"layer": CENTERS, "size": [0, None], "span": [0.3, 0.9]})
    words = "k-means tries many starts on the noisy discs alone: no row is read and nothing is spent"
    return (Event("search", "Search at no cost", words, 2.6, tuple(acts), pays=0),)


def _correction(view: View, shot: Shot, step: Step, people: Crowd) -> tuple[Event, ...]:
    released, colors, true = step.released, view.colors, _true(view, step, "step")
    turn = view.trace.steps.index(step) - next(i for i, one in enumerate(view.trace.steps) if one.kind == step.kind) + 1
    old = len(released["start"]) > 0 and bool(released["start"].any(axis=1).all())  # zeros mark the first average
    at = view.plane(released["start"])
    before: list[Act] = [{"layer": SHAPE}, {"layer": STILL, "at": -1}, {"layer": CENTERS, "at": -1}]
    lines, filled = [], []
    if old and len(people.rows):
        near = index(nearest(people.rows, released["start"]))
        origin: Act = {"look": {"marker": {"size": 0.1}, "name": "start"}, "to": xy(at)}
        lines = [origin, *spokes(colors, people, {"act": 0, "index": near})]
        if true is not None:
            filled = [piles(colors, at, true["counts"], fill=1, span=[0, 0.9])]
            filled += sparks(colors, people, {"act": 0, "index": near}, span=[0, 0.9])
    words = "a row that is far away pulls less than it would"
    if view.trace.domain.n_features <= FLAT:
        reach = view.trace.domain.length(released["radius"])
        words = f"who is farther than {reach} from it pulls as if that far away"
    assign = Event(
        "assign", f"Each {view.noun} goes to the nearest center", f"{shot.head}: {words}",
        hurried(turn, 1.6 if lines else 0.9), (*lines, *before), (1, 0.6), pays=0,
    )  # fmt: skip
    add = Event(
        "sum", "Every center counts its rows and adds up their offsets", f"{shot.head}: both stay secret",
        hurried(turn, 1.8 if filled else 0.9), (*filled, *before), (0.6, 0.5), pays=0,
    )  # fmt: skip
    known = true["counts"] if true is not None else None
    rolling = counts(view, at, released["noisy_counts"], known) if old else []
    still: list[Act] = [{"layer": SHAPE, "opacity": [1, 0.4]}, *({"layer": name} for name in (FREE, PAID, STILL))]
    moving: Act = {"layer": CENTERS, "streak": 0.4, "shake": 2, "span": [0.3, 1]}
    sure = f"{int(released['moved'].sum())} of {counted(len(released['moved']), 'center')}"
    noise = Event(
        "noise", "Noise shakes them, and the centers go where the result points",
        f"{shot.head}: {sure} move; a noisy count too small to trust moves none", hurried(turn, 2.2),
        (*still, moving, *rolling), (0.5, 1),
    )  # fmt: skip
    return assign, add, noise


_EVENTS: dict[str, Callable[[View, Shot, Step, Crowd], tuple[Event, ...]]] = {  # kind of step -> its events
    "mean": _mean,
    "radius": _radius,
    "near": _radius,
    "moment": _moment,
    "look": _summary,
    "boxes": _summary,
    "candidates": _summary,
    "zoom": _summary,
    "solve": _solve,
    "correction": _correction,
}
