"""Tell runs of Stemmer-Kaplan and related algorithms as films: cells, averages, weights, swaps, k centers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from dpviz.figures.kit.acts import (
    CENTER,
    Crowd,
    arrows,
    counts,
    crowd,
    hurried,
    index,
    lit,
    nearest,
    noised,
    piles,
    shake,
    sparks,
    spokes,
    tips,
)
from dpviz.figures.kit.events import Act, Event
from dpviz.figures.kit.layers import NOWHERE, disc_sizes
from dpviz.figures.kit.shots import Shot
from dpviz.figures.kit.view import View, xy
from dpviz.numbers import counted, number, plural
from dpviz.privacy.queries import cell_centers
from dpviz.trace import Step

__all__ = ["CELLS", "COUNTED", "middles", "told"]

COUNTED = ("buckets", "cubes")  # kinds of steps that count the rows in cells
CELLS = 0  # the first of the two pictures of a table
FILLED = ("cells 0", "cells 1", "cells 2", "cells 3", "outlines")  # names of layers
GRID, DROPPED, CANDIDATES, FREE, PAID = "grid", "dropped", "candidates", "free", "paid"
LONG = 3  # number of tables in which people light up

Corners = Callable[[View, Step, np.ndarray], np.ndarray]


def told(view: View, shots: Sequence[Shot], corners: Corners) -> list[tuple[Event, ...]]:
    """Return the events of every shot; `corners` gives the outlines (m, 6, 2) of a step's cells with given keys."""
    people = crowd(view)
    seen: Counter[tuple[str, int]] = Counter()
    film: list[tuple[Event, ...]] = []
    for shot in shots:
        step = view.trace.steps[shot.step]
        seen[step.kind, shot.phase] += 1
        turn = seen[step.kind, shot.phase]
        if step.kind in COUNTED and (shot.phase == CELLS or step.kind == "cubes"):
            film.append(_cells(view, shot, step, people, turn, middles(corners(view, step, step.released["keys"]))))
        elif step.kind == "reports":
            film.append(_reported(view, shot, step, turn, middles(corners(view, step, step.released["keys"]))))
        else:
            film.append(_EVENTS.get(step.kind, _plain)(view, shot, step, people, turn))
    return film


def middles(corners: np.ndarray) -> np.ndarray:
    """Return the middles (m, 2) of outlines (m, 6, 2), whose last point is a gap."""
    return corners[:, :4].mean(axis=1) if len(corners) else NOWHERE


def _plain(view: View, shot: Shot, step: Step, people: Crowd, turn: int) -> tuple[Event, ...]:
    return (Event("step", shot.head, shot.tail, hurried(turn, 1.2)),)


def _shown(*names: str, opacity: Sequence[float] = (0, 1), at: int = 0) -> list[Act]:
    return [{"layer": name, "opacity": list(opacity), "at": at} for name in names]


def _true_counts(view: View, step: Step) -> np.ndarray | None:
    """Return the true counts of the cells that a step shows; None unless hidden layers are on. NOT PRIVATE."""
    truth = next((one.statistic for one in step.hidden if one.label in COUNTED), None)
    if not view.hidden or truth is None:
        return None
    if step.kind == "cubes":
        return np.asarray(truth["cubes"])
    known = dict(zip(map(tuple, truth["keys"].tolist()), truth["counts"].tolist(), strict=True))
    return np.array([known[key] for key in map(tuple, step.released["keys"].tolist())])


def _cells(view: View, shot: Shot, step: Step, people: Crowd, turn: int, at: np.ndarray) -> tuple[Event, ...]:
    released, sd = step.released, step.released["noise_sd"]
    before: list[Act] = [{"layer": CANDIDATES, "at": -1}] if shot.step else []
    rows = lit(view.colors, people, wave=0.5) if turn <= LONG and len(at) else []
    count = Event(
        "count", f"{shot.head}: count the {plural(view.noun)} in each cell of a shifted grid",
        "where the grid lies was drawn without looking; the counts stay secret", hurried(turn, 1.8),
        (*_shown(GRID), *rows, *before), (0.8, 0.5), pays=0,
    )  # fmt: skip
    kept = released["kept"] if step.kind == "cubes" else np.ones(len(released["keys"]), dtype=bool)
    true = _true_counts(view, step)
    drawn = kept if len(at) else np.zeros(0, dtype=bool)
    rolled = (
        counts(view, at[drawn], released["noisy_counts"][kept], None if true is None else true[kept], lift=0)
        if drawn.any()
        else []
    )
    many, least = counted(int(kept.sum()), "cell"), number(released["threshold"])
    tail = f"±{number(sd, 2)}; only counts of at least {least} are kept: {many}"
    if kept.any() and not drawn.any():
        tail += ", in directions that the plane does not show"
    head, tail = noised(sd > 0, f"{shot.head}: noise, and a threshold for crowded cells", tail)
    after: list[Act] = [{"layer": CANDIDATES}]
    acts = ({"layer": GRID}, *_shown(*FILLED), *after, *rolled)
    return count, Event("noise", head, tail, hurried(turn, 1.8), acts, (0.5, 0.8))


def _reported(view: View, shot: Shot, step: Step, turn: int, at: np.ndarray) -> tuple[Event, ...]:
    released, sd = step.released, step.released["noise_sd"]
    true = None
    if view.hidden and step.hidden:
        every = np.sum([one.statistic["counts"] for one in step.hidden], axis=0)
        flat = np.ravel_multi_index(tuple((released["keys"] - released["low"]).astype(int).T), tuple(released["shape"]))
        true = every[flat]
    ask = Event(
        "ask", f"{shot.head}: ask {released['users']:,} {plural(view.noun)} for their cell",
        "each shakes the answer before it leaves: nobody, not even a curator, ever sees a true one", hurried(turn, 2.0),
        (*_shown(GRID), *([{"layer": CANDIDATES, "at": -1}] if shot.step else [])), (1, 0.6),
    )  # fmt: skip
    rolled = counts(view, at, released["noisy_counts"], true, lift=0) if len(at) else []
    tail = f"±{number(sd, 2)} on each estimate; {counted(len(released['keys']), 'cell')} stand out from the noise"
    acts = ({"layer": GRID}, *_shown(*FILLED), {"layer": CANDIDATES}, *rolled)
    add = Event("add", f"{shot.head}: add up the noisy answers", tail, hurried(turn, 2.0), acts, (0.6, 0.8), pays=0)
    return ask, add


def _averaged(view: View, shot: Shot, step: Step, people: Crowd, turn: int) -> tuple[Event, ...]:
    released, colors = step.released, view.colors
    base: list[Act] = [{"layer": GRID}, *_shown(*FILLED, opacity=(1, 1)), {"layer": CANDIDATES, "at": -1}]
    noisy, true = view.plane(released["averages"]), NOWHERE
    summed: list[Act] = []
    truth = next((one.statistic for one in step.hidden if one.label == "averages"), None)
    if view.hidden and truth is not None and len(noisy):
        anchors = cell_centers(released["keys"][released["kept"]], released["width"], released["offset"])
        sums = truth["averages"] / released["noisy_counts"][released["kept"]][:, None]
        true = view.plane(sums if released["projected"] else anchors + sums)
        look = {"marker": {"symbol": "circle-open", "size": 12, "color": colors.hidden}, "name": "true averages"}
        summed = [{"look": look, "to": xy(true), "size": [0, 12]}]
    add = Event(
        "average", f"{shot.head}: average the {plural(view.noun)} in each crowded cell",
        "the true averages stay secret", hurried(turn, 1.4), (*base, *summed), (0.6, 0.5), pays=0,
    )  # fmt: skip
    sure = int(released["precise"].sum())
    tail = f"{counted(sure, 'average')} precise enough to become {'a candidate' if sure == 1 else 'candidates'}"
    sds = released["average_sd"]
    head, tail = noised(not len(sds) or bool((sds > 0).all()), f"{shot.head}: noise moves the averages", tail)
    moving = [tips(view, true, noisy, 30)] if len(noisy) else []
    late: list[Act] = [{"layer": name, "opacity": [0, 1], "span": [0.6, 1]} for name in (DROPPED, CANDIDATES)]
    return add, Event("noise", head, tail, hurried(turn, 1.6), (*base, *moving, *late), (0.5, 0.8))


def _anchored(view: View, shot: Shot, step: Step, people: Crowd, turn: int) -> tuple[Event, ...]:
    released = step.released
    start, ends = view.plane(released["anchors"]), view.plane(released["averages"])
    base: list[Act] = [{"layer": CANDIDATES, "at": -1}]
    ask = Event(
        "ask", f"{shot.head}: one noisy bit from each of {released['users']:,} {plural(view.noun)}",
        "on which side of the middle of your cell are you? Each shakes the answer before it leaves", hurried(turn, 1.8),
        tuple(base), (1, 0.6),
    )  # fmt: skip
    moved = [arrows(view.colors.released, start, ends, span=[0, 0.7])] if len(start) else []
    late: list[Act] = [{"layer": CANDIDATES, "opacity": [0, 1], "span": [0.6, 1]}]
    words = f"{counted(len(ends), 'middle')} move to the averages that the bits give; they become candidates"
    return ask, Event(
        "add", f"{shot.head}: add up the bits", words, hurried(turn, 1.8), (*base, *moved, *late), (0.6, 0.8), pays=0
    )


def _weighed(view: View, shot: Shot, step: Step, people: Crowd, turn: int) -> tuple[Event, ...]:
    released, colors, sd = step.released, view.colors, step.released["noise_sd"]
    at, local = view.plane(released["candidates"]), "users" in released
    filled: list[Act] = []
    discs: Act = {"layer": CANDIDATES, "size": [3, None], "shake": shake(min(float(sd), 60))}
    if view.hidden and step.hidden:
        true = np.sum([one.statistic["counts" if local else "weights"] for one in step.hidden], axis=0)
        true = true * (released["up"] if local else 1.0)
        near = index(nearest(people.rows, released["candidates"]))
        asked = people if not local else people.some(np.empty(0, dtype=int))  # who was asked is not recorded
        filled = [piles(colors, at, true, **({"fill": 1} if len(asked.rows) else {}))]
        filled += sparks(colors, asked, {"act": 0, "index": near})
        discs |= {"size": [np.rint(disc_sizes(true)).astype(np.uint8), None], "color": [colors.hidden, colors.released]}
    who = (
        f"{released['users']:,} {plural(view.noun)} are asked, and each shakes the answer"
        if local
        else f"each {view.noun} counts once"
    )
    vote = Event(
        "vote", "Who is nearest to which candidate?", f"{who}; the counts stay secret",
        2.6 if len(filled) > 1 else 1.4,
        (*filled, {"layer": FREE}, *([] if filled else _shown(CANDIDATES, opacity=(1, 1), at=-1))), (0.6, 0.4), pays=0,
    )  # fmt: skip
    head, tail = noised(sd > 0, "Noise shakes the counts", f"each count moves by about ±{number(sd, 2)}")
    return vote, Event("noise", head, tail, 1.8, (discs,), (0.4, 0.6))


def _chosen(view: View, shot: Shot, step: Step, people: Crowd, turn: int) -> tuple[Event, ...]:
    released = step.released
    near = {"layer": CENTER, "index": index(nearest(released["candidates"], released["centers"]))}
    line = arrows(view.colors.released, NOWHERE, NOWHERE, span=[0, 0.7])
    acts = (
        {"layer": CANDIDATES},
        {**line, "from": xy(view.plane(released["candidates"])), "to": near},
        {"layer": FREE, "opacity": [0, 1], "span": [0.6, 1]},
        {"layer": CENTER, "size": [0, None], "span": [0.3, 0.9]},
    )
    words = f"weighted k-means on the candidates gives {counted(len(released['centers']), 'center')}; no row is read"
    return (Event("search", "Search at no cost", words, 2.4, acts, (0.8, 1), pays=0),)


def _swapped(view: View, shot: Shot, step: Step, people: Crowd, turn: int) -> tuple[Event, ...]:
    released = step.released
    if "centers" not in released:
        return _plain(view, shot, step, people, turn)
    base: list[Act] = [
        {"layer": CANDIDATES},
        {"layer": CENTER, "at": -1, "opacity": [1, 0]},
        {"layer": CENTER, "opacity": [0, 1]},
    ]
    if released["moves"]:
        ends = view.plane(released["out"][None]), view.plane(released["in"][None])
        ball: Act = {
            "look": {"marker": {"size": 13, "color": view.colors.released}, "name": "ball"},
            "run": True,
            "to": xy(np.concatenate(ends)),
            "span": [0, 0.8],
        }
        base += [arrows(view.colors.released, *ends, span=[0, 0.8]), ball]
    words = "swaps that lower the loss more are likelier; chance hides everybody's part"
    head = f"{shot.head}: {'move one center to another candidate' if released['moves'] else 'keep all centers'}"
    return (Event("swap", head, words, hurried(turn, 1.8), tuple(base), (0.8, 0.8)),)


def _picked(view: View, shot: Shot, step: Step, people: Crowd, turn: int) -> tuple[Event, ...]:
    if "centers" not in step.released:
        return _plain(view, shot, step, people, turn)
    acts = ({"layer": CANDIDATES}, {"layer": CENTER, "at": -1, "opacity": [1, 0]}, {"layer": CENTER, "opacity": [0, 1]})
    return (
        Event("pick", "Pick one of the sets by chance", f"{shot.head}{'; ' * bool(shot.tail)}{shot.tail}", 2.0, acts),
    )


def _recovered(view: View, shot: Shot, step: Step, people: Crowd, turn: int) -> tuple[Event, ...]:
    released = step.released
    same = released["start"].shape == released["centers"].shape
    lines: list[Act] = []
    if same and len(people.rows):
        origin: Act = {
            "look": {"marker": {"size": 9, "color": view.colors.released}, "name": "start"},
            "to": xy(view.plane(released["start"])),
        }
        near = index(nearest(people.rows, released["start"]))
        lines = [origin, *spokes(view.colors, people, {"act": 0, "index": near})]
    before: list[Act] = [{"layer": CENTER, "at": -1}]
    add = Event(
        "sum", f"Each {view.noun} goes to the nearest chosen candidate", "sums and counts of each group stay secret",
        2.0 if lines else 1.2, (*lines, *before), (0.8, 0.6), pays=0,
    )  # fmt: skip
    acts: tuple[Act, ...] = ({"layer": PAID, "opacity": [0, 1]}, {"layer": CENTER, "streak": 0.4, "shake": 4})
    noise = Event("noise", "With noise, each group's average becomes its center", shot.head, 2.0, acts, (0.6, 1))
    return add, noise


_EVENTS: dict[str, Callable[[View, Shot, Step, Crowd, int], tuple[Event, ...]]] = {  # kind of step -> its events
    "averages": _anchored,
    "buckets": _averaged,
    "choose": _chosen,
    "pick": _picked,
    "recover": _recovered,
    "swap": _swapped,
    "weights": _weighed,
}
