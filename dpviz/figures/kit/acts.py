"""Make the acts that the films of several families share: drawn people, lines to centers, discs that noise shakes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dpviz.figures.kit.events import Act, Event
from dpviz.figures.kit.layers import disc_sizes, segments, tint
from dpviz.figures.kit.panels import people_drawn
from dpviz.figures.kit.theme import Theme
from dpviz.figures.kit.view import View, xy
from dpviz.numbers import number

__all__ = [
    "CENTER",
    "Crowd",
    "arrows",
    "cells_counted",
    "counts",
    "crowd",
    "hurried",
    "index",
    "lit",
    "nearest",
    "noised",
    "piles",
    "shake",
    "shaken",
    "sizes",
    "sparks",
    "spokes",
    "tips",
]

PERSON, CENTER = "person", "released center"  # names of layers
MOST_NUMBERS = 12  # maximum number of counts that are written beside their marks
ABOVE = 0.045  # share of the plane's height by which a count stands above its mark
MOST_SHAKEN = 9.0  # pixels by which marks shake at most


class Crowd(NamedTuple):
    """The people that a plane shows: their numbers (m,) in its layer, and their rows (m, d) in z units."""

    numbers: np.ndarray
    rows: np.ndarray

    def some(self, chosen: np.ndarray) -> Crowd:
        """Return those that a mask or an array of positions selects."""
        return Crowd(self.numbers[chosen], self.rows[chosen])


def crowd(view: View, *, clipped: bool = True) -> Crowd:
    """Return the people that the plane shows, without those whom a run skips; nobody unless hidden layers are on, or on
    rows that are pictures.

    If `clipped`, rows are clipped to the domain, as a private run reads them.
    """
    domain = view.trace.domain
    if not view.hidden or view.people is None or view.picture is not None:
        return Crowd(np.empty(0, dtype=np.uint16), np.empty((0, domain.n_features)))
    drawn, _ = people_drawn(view.flat(view.people))
    numbers = np.flatnonzero(np.isfinite(view.people[drawn]).all(axis=1)).astype(np.uint16)
    rows = domain.normalize(view.people[drawn][numbers])
    return Crowd(numbers, domain.clip(rows) if clipped else rows)


def nearest(rows: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return for each of the rows (n, d) the number of its nearest point (m, d)."""
    if not len(rows):
        return np.empty(0, dtype=int)
    squares = (points**2).sum(axis=1)
    return np.concatenate([(squares - 2 * part @ points.T).argmin(axis=1) for part in np.array_split(rows, 8)])


def hurried(number: int, seconds: float) -> float:
    """Return the seconds of an event of round `number`, counted from 1: fewer after the third one."""
    return max(round((1.0 if number <= 3 else 0.6 if number <= 6 else 0.35) * seconds, 2), 0.3)


def index(numbers: np.ndarray) -> np.ndarray:
    """Return numbers of marks in the fewest bytes."""
    return numbers.astype(np.uint8 if numbers.max(initial=0) < 256 else np.uint16)


def _from(people: Crowd) -> Act:
    """Return a reference to people's marks, which needs no numbers if they are all."""
    every = len(people.numbers) == 0 or int(people.numbers[-1]) == len(people.numbers) - 1
    return {"layer": PERSON} if every else {"layer": PERSON, "index": index(people.numbers)}


def spokes(colors: Theme, people: Crowd, to: Act) -> list[Act]:
    """Return the lines that grow from people to the marks `to`, which must list one mark a person; none for nobody."""
    line = {"line": {"color": tint(colors.hidden, 0.4), "width": 0.9}, "marker": {"color": tint(colors.hidden, 0.4)}}
    look = {**line, "name": "belongs to"}
    return [{"look": look, "from": _from(people), "to": to, "rays": True, "wave": 0.6}] * bool(len(people.numbers))


def sparks(colors: Theme, people: Crowd, to: Act, **more: Any) -> list[Act]:
    """Return the sparks that fly from people to the marks `to`, which must list one mark a person; none for nobody."""
    look = {"marker": {"size": 3.6, "color": colors.hidden}, "name": "row"}
    act = {"look": look, "from": _from(people), "to": to, "wave": 0.55, "streak": 0.22, "gone": True, **more}
    return [act] * bool(len(people.numbers))


def lit(colors: Theme, people: Crowd, **more: Any) -> list[Act]:
    """Return people's own marks in the color of secrets; none for nobody."""
    look = {"marker": {"symbol": "circle-open", "size": 3.5, "color": colors.hidden}, "name": "rows"}
    to = {"layer": PERSON, "index": index(people.numbers)}
    return [{"look": look, "to": to, **more}] * bool(len(people.numbers))


def piles(colors: Theme, at: np.ndarray, true: np.ndarray, **more: Any) -> Act:
    """Return discs at points (m, 2) of the plane whose areas show true counts (m,). NOT PRIVATE."""
    return _pile(colors, xy(at), true) | more


def _pile(colors: Theme, to: Act, true: np.ndarray) -> Act:
    ring = {"color": tint(colors.hidden, 0.16), "line": {"color": colors.hidden, "width": 1}}
    return {"look": {"marker": ring, "name": "true counts"}, "to": to, "size": [0, sizes(true)]}


def sizes(true: np.ndarray) -> np.ndarray:
    """Return the sizes of discs whose areas show true counts, in whole pixels; 0 for a count of 0. NOT PRIVATE."""
    return np.where(true > 0, np.rint(disc_sizes(true)), 0).astype(np.uint8)


def arrows(color: str, start: np.ndarray, ends: np.ndarray, **more: Any) -> Act:
    """Return lines that grow from points (m, 2) of the plane to others."""
    return {"look": _arrow(color), "from": xy(start), "to": xy(ends), "rays": True, **more}


def _arrow(color: str) -> Act:
    return {"line": {"color": color, "width": 2}, "marker": {"color": color}, "name": "arrow"}


def shake(sd: float) -> float:
    """Return the pixels by which marks shake for noise of this standard deviation on a count."""
    return round(min(2 + 0.12 * float(sd), MOST_SHAKEN), 1) if sd else 0.0


def tips(view: View, true: np.ndarray, noisy: np.ndarray, sd: float, **more: Any) -> Act:
    """Return dots that noise moves from true to noisy places (m, 2) of the plane, where they appear if none is true."""
    colors = view.colors
    dot = {"marker": {"size": 8, "color": colors.released}, "name": "noisy mean"}
    act: Act = {"look": dot, "to": xy(noisy), "shake": shake(sd), **more}
    return (
        {**act, "from": xy(true), "color": [colors.hidden, colors.released]} if len(true) else {**act, "size": [0, 8]}
    )


def shaken(view: View, start: np.ndarray, true: np.ndarray, noisy: np.ndarray, sd: float) -> list[Act]:
    """Return arrows and their tips, which noise moves from true to noisy places, all (m, 2) on the plane."""
    dots = tips(view, true, noisy, sd)
    if not len(true):
        return [dots]
    moving = {"to": xy(segments(start, noisy)), "from": xy(segments(start, true))}
    line = {**_arrow(view.colors.hidden), "mode": "lines"}
    amounts = [0, dots["shake"], 0] * len(true)
    return [{"look": line, **moving, "shake": amounts, "opacity": [1, 0], "span": [0, 0.8]}, dots]


def counts(
    view: View, at: np.ndarray, noisy: np.ndarray, true: np.ndarray | None, *, lift: float = ABOVE, **more: Any
) -> list[Act]:
    """Return numbers above points (m, 2) that roll from true to noisy counts; none if there are too many.

    Without true counts they show the noisy ones. `lift` is the share of the plane's height by which they stand higher.
    """
    colors = view.colors
    if not 0 < len(noisy) <= MOST_NUMBERS:
        return []
    low, high = view.bounds()
    font = {"size": 14, "color": colors.released, "shadow": f"0 0 2px {colors.panel}"}
    after = [round(float(count)) for count in noisy]
    before = after if true is None else [round(float(count)) for count in true]
    place = np.asarray(at) + [0, lift * (high - low)[1]]
    act: Act = {"look": {"textfont": font, "mode": "text", "name": "counts"}, "to": xy(place), "count": [before, after]}
    return [{**act, **({} if true is None else {"color": [colors.hidden, colors.released]}), **more}]


def cells_counted(
    view: View, people: Crowd, layer: str, sd: float, true: np.ndarray | None = None
) -> tuple[Event, Event]:
    """Return the events in which people count in the cells of a public grid, and noise shakes the layer of cells.

    `true` holds the true counts of the layer's cells (NOT PRIVATE), which noise then turns into the noisy ones.
    """
    colors, words = view.colors, "where the cells lie was known before; the counts stay secret"
    first: list[Act] = [{"layer": layer, "opacity": [0, 0]}, *lit(colors, people, wave=0.5)]
    cells: Act = {"layer": layer, "size": [0, None], "shake": shake(sd)}
    if true is not None:
        full = np.flatnonzero(true > 0)
        first.append(
            _pile(colors, {"layer": layer, "index": index(full)}, true[full]) | {"wave": 0.4, "span": [0.3, 1]}
        )
        cells |= {"size": [sizes(true), None], "color": [colors.hidden, colors.released]}
    count = Event("count", "Every cell counts its rows", words, 2.2, tuple(first), (1, 0.5), pays=0)
    tail = f"each count moves by about ±{number(sd, 2)}, those of empty cells, too; from here on, all may be published"
    head, tail = noised(sd > 0, "Noise shakes every count", tail)
    return count, Event("noise", head, tail, 2.0, (cells,), (0.5, 0.7))


def noised(private: bool, head: str, tail: str) -> tuple[str, str]:
    """Return the caption of an event that adds noise, or of one that should but has none."""
    if private:
        return head, tail
    return "No noise in this run", "the true values are released as they are, so nothing is promised"
