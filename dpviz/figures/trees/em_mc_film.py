"""Tell a run of EM-MC as a film: cells picked by chance in each grid, candidates counted, groups averaged."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpviz.figures.kit.acts import (
    CENTER,
    Crowd,
    counts,
    hurried,
    index,
    lit,
    nearest,
    noised,
    piles,
    shake,
    sparks,
    tips,
)
from dpviz.figures.kit.events import Act, Event
from dpviz.figures.kit.layers import NOWHERE
from dpviz.figures.kit.shots import Shot
from dpviz.figures.kit.view import View, xy
from dpviz.numbers import counted, number
from dpviz.trace import Step

__all__ = ["told"]

CELL, PICKED, CANDIDATE = "cell", "cell of this grid", "candidate"  # names of layers
MOST_TURNS = 12  # maximum number of cells that appear one after another, while a ball runs over them


def told(
    view: View, shots: Sequence[Shot], people: Crowd, boxes: Sequence[np.ndarray], candidates: np.ndarray
) -> list[tuple[Event, ...]]:
    """Return the events of every shot.

    Parameters
    ----------
    view : that of the plane, in which cells are squares
    people : those whom the plane shows, in the space of the cells
    boxes : outlines (m, 5, 2) of the cells picked at each shot, on the plane
    candidates : (m, 2), on the plane
    """
    film: list[tuple[Event, ...]] = []
    covered = np.zeros(len(people.rows), dtype=bool)
    true = view.trace.steps[0].hidden[0].statistic["covered"] if view.hidden and view.trace.steps[0].hidden else None
    for shot, outlines in zip(shots, boxes, strict=True):
        step = view.trace.steps[shot.step]
        if step.kind == "cover":
            inside = _inside(step, people) & ~covered[:, None]
            known = None if true is None else true[step.released["grid"]][: len(outlines)]
            film.append(_picked(view, step, people, outlines, inside, known))
            covered |= inside.any(axis=1)
        elif step.kind == "cover-votes":
            film.append(_voted(view, step, people, candidates))
        else:
            film.append(_averaged(view, step))
    return film


def _inside(step: Step, people: Crowd) -> np.ndarray:
    """Return the mask (n, m) of the people in each of the cells that a step picks. NOT PRIVATE."""
    away = np.abs(people.rows[:, None] - step.released["cells"][None]).max(axis=2)
    return away <= step.released["side"] / 2


def _picked(
    view: View, step: Step, people: Crowd, outlines: np.ndarray, inside: np.ndarray, true: np.ndarray | None
) -> tuple[Event, ...]:
    released, colors, m = step.released, view.colors, len(outlines)
    grid, middles = int(released["grid"]) + 1, outlines[:, :4].mean(axis=1)
    edge = {"mode": "lines", "fill": "toself", "line": {"color": colors.released, "width": 2}, "name": "cell"}
    look = {**edge, "fillcolor": "rgba(0,0,0,0)"}
    acts: list[Act] = [{"layer": CELL}]
    if m <= MOST_TURNS:
        acts += [
            {"look": look, "to": xy(box), "opacity": [0, 1], "span": [(i + 0.5) / (m + 1), (i + 1) / (m + 1)]}
            for i, box in enumerate(outlines)
        ]
        ball = {"marker": {"size": 13, "color": colors.released}, "name": "ball"}
        acts.append({"look": ball, "run": True, "to": xy(middles), "span": [0, 1]} if m else {"layer": PICKED})
    else:
        acts.append({"layer": PICKED, "opacity": [0, 1]})
    how = "one payment picks in all grids" if grid == 1 else "paid with the first grid"
    pick = Event(
        "pick", f"Grid {grid}: pick {counted(m, 'cell')} by chance",
        f"fuller cells are likelier, but chance hides everybody; {how}", hurried(grid, 2.4), tuple(acts), (1, 0.5),
        pays=float(grid == 1),
    )  # fmt: skip
    rows = people.some(np.flatnonzero(inside.any(axis=1)))
    numbers = [] if true is None else counts(view, middles, true, np.zeros(m), color=[colors.hidden] * 2, lift=0.06)
    cover = Event(
        "cover", f"Grid {grid}: everybody inside it is covered",
        "who is covered counts no more in later picks; who that is stays secret",
        hurried(grid, 1.6 if len(rows.rows) else 0.8),
        ({"layer": CELL}, {"layer": PICKED}, *lit(colors, rows, wave=0.4, size=[0, 3.5]), *numbers), (0.5, 0.8),
        pays=0,
    )  # fmt: skip
    return pick, cover


def _sizes(votes: np.ndarray) -> np.ndarray:
    return np.clip(1.1 * np.sqrt(np.maximum(votes, 0)), 3, 22).round().astype(np.uint8)


def _voted(view: View, step: Step, people: Crowd, candidates: np.ndarray) -> tuple[Event, ...]:
    released, colors, sd = step.released, view.colors, step.released["noise_sd"]
    base: list[Act] = [{"layer": CELL}]
    filled: list[Act] = []
    discs: Act = {"layer": CANDIDATE, "size": [3, None], "shake": shake(sd)}
    if view.hidden and step.hidden:
        true = step.hidden[0].statistic["votes"]
        near = index(nearest(people.rows, released["candidates"]))
        filled = [piles(colors, candidates, true, **({"fill": 2} if len(people.rows) else {}))]
        filled[0]["size"] = [0, _sizes(true)]
        filled += sparks(colors, people, {"act": 1, "index": near})
        discs |= {"size": [_sizes(true), None], "color": [colors.hidden, colors.released]}
    vote = Event(
        "vote", "The cells' middles are candidates: everybody votes",
        f"each {view.noun} counts for the nearest; the counts stay secret",
        2.6 if filled else 1.2, (*base, *filled), (0.6, 0.4), pays=0,
    )  # fmt: skip
    tail = f"each count moves by about ±{number(sd, 2)}; k-means on the noisy counts then forms groups"
    head, tail = noised(sd > 0, "Noise shakes the counts", tail)
    return vote, Event("noise", head, tail, 1.8, (*base, discs), (0.4, 0.6))


def _averaged(view: View, step: Step) -> tuple[Event, ...]:
    released, colors, kept = step.released, view.colors, step.released["kept"]
    base: list[Act] = [{"layer": CELL}, {"layer": CANDIDATE}]
    true, summed = NOWHERE, []
    if view.hidden and step.hidden:
        statistic = step.hidden[0].statistic
        number_ = np.where(statistic["counts"] > 0, statistic["counts"], np.nan)
        true = view.plane((statistic["sums"] / number_[:, None])[kept])
        summed = [piles(colors, true, statistic["counts"][kept])]
    sd = released["noise_sd"]
    add = Event(
        "average", "Every group averages its rows", "their sums and their numbers stay secret", 1.8 if summed else 1.0,
        (*base, *summed), (0.6, 0.5), pays=0,
    )  # fmt: skip
    tail = f"{int(kept.sum())} of {counted(len(kept), 'group')} stand out from the noise and give a center"
    head, tail = noised(sd > 0, "Noise shakes the averages", tail)
    moving = tips(view, true, view.plane(released["centers"]), sd)
    return add, Event(
        "noise", head, tail, 2.0, (*base, moving, {"layer": CENTER, "opacity": [0, 1], "span": [0.6, 1]}), (0.5, 1)
    )
