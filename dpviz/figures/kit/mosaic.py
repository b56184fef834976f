"""Draw centers as pictures, side by side, if the columns are a picture's cells; one frame per step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dpviz.figures.kit.shots import Shot, complete
from dpviz.figures.kit.theme import base, halo, tag
from dpviz.figures.kit.view import Panel, View, add_frames, thin
from dpviz.numbers import counted, plural
from dpviz.trace import Step, Trace

__all__ = ["add_pictures", "add_words", "center_path", "corners", "known_centers", "mosaic", "sheet", "shades", "words"]

_WIDER = 1.5  # ratio of pictures per row to rows
_GAP = 2  # number of cells between two pictures
_FEW = 3  # if there are at most this many rows of pictures, the gap has room for text
_TALL = 508  # height in pixels, the same as that of a plane


def corners(view: View, most: int) -> np.ndarray:
    """Return the column and the row, shape (most, 2), at which each place on a sheet for `most` pictures begins."""
    (rows, columns), wide, place = _size(view), _wide(most), np.arange(most)
    return np.column_stack([place % wide * (columns + _GAP), place // wide * (rows + _below(most))])


def shades(view: View, pictures: np.ndarray, most: int, places: Sequence[int] | None = None) -> list[list[Any]]:
    """Return a sheet for `most` pictures that shows `pictures` (m, d), original units, at `places`.

    The places are 0, 1, ... by default. Each value is scaled to lie from 0 to 1 between its declared bounds; NaN cells
    and the gaps between pictures are None.
    """
    rows, columns = _size(view)
    cells = np.full(_extent(view, most), np.nan)
    domain = view.trace.domain
    scaled = np.clip((pictures - domain.low) / (domain.high - domain.low), 0, 1).reshape(-1, rows, columns)
    at = corners(view, most)[list(range(len(scaled)) if places is None else places)]
    for shade, (left, top) in zip(scaled, at, strict=True):
        cells[top : top + rows, left : left + columns] = shade
    return [[None if np.isnan(cell) else cell for cell in line] for line in cells.round(3).tolist()]


def words(view: View, texts: Sequence[str], most: int, places: Sequence[int] | None = None) -> dict[str, Any]:
    """Return the words of `add_words` for a frame: text below each picture, or a note if there are no centers yet."""
    rows, columns = _size(view)
    if not len(texts):
        tall, wide = _extent(view, most)
        return {"x": [wide / 2], "y": [tall / 2], "text": ["no center is released yet"]}
    at = corners(view, most)[list(range(len(texts)) if places is None else places)]
    x, y = at.T + np.array([[columns / 2 - 0.5], [rows + _below(most) / 2 - 0.6]])
    return {"x": x.tolist(), "y": y.tolist(), "text": list(texts)}


def sheet(view: View, title: str, most: int) -> go.Figure:
    """Return an empty sheet for `most` pictures, with cells of width 1 and the first row on top."""
    colors, (tall, wide) = view.colors, _extent(view, most)
    figure = base(colors, title, height=_TALL, margin_left=8)
    figure.update_xaxes(visible=False, range=[-1.5, wide + 0.5], constrain="domain", constraintoward="left")
    figure.update_yaxes(visible=False, range=[tall + 0.5, -1.5], scaleanchor="x", constrain="domain")
    figure.update_yaxes(constraintoward="top")
    figure.update_layout(plot_bgcolor=colors.grid, meta={"ar": (tall + 2) / (wide + 2), "h": _TALL})
    return figure


def add_pictures(view: View, figure: go.Figure, ink: str) -> None:
    """Add a trace of pictures: the closer a value is to its upper bound, the darker its cell, in shades of `ink`."""
    figure.add_heatmap(
        colorscale=[[0, view.colors.panel], [1, ink]], zmin=0, zmax=1, showscale=False, xgap=0, ygap=0, hoverinfo="skip"
    )


def add_words(view: View, figure: go.Figure) -> None:
    """Add the trace that shows text below the pictures."""
    figure.add_scatter(
        mode="text", hoverinfo="skip", name="number",
        textfont={"size": 13, "color": view.colors.ink, "shadow": halo(view.colors)},
    )  # fmt: skip


def mosaic(view: View, path: Sequence[np.ndarray], title: str) -> Panel:
    """Draw the centers of every frame, `path` (k, d) in original units, as numbered pictures in place of the plane.

    The centers are released or, if the run makes no promise, exact and tagged NOT PRIVATE. If hidden layers are on, a
    frame without centers shows some of the rows (NOT PRIVATE).
    """
    colors, exact = view.colors, view.trace.claimed.exact
    (rows, columns), most = _size(view), max([len(centers) for centers in path] + [1])
    some = _some_rows(view, most) if any(not len(centers) for centers in path) else np.empty((0, rows * columns))
    figure = sheet(view, title, most)
    add_pictures(view, figure, colors.hidden if exact else colors.released)
    add_words(view, figure)
    nothing, updates = some[:0], []
    for centers in path:
        texts = words(view, [str(i + 1) for i in range(len(centers))], most)
        updates.append([{"z": shades(view, centers, most)}, texts])
        if len(some):
            updates[-1].append({"z": shades(view, nothing if len(centers) else some, most)})
            texts["text"] = texts["text"] if len(centers) else [""]
    if len(some):
        add_pictures(view, figure, colors.hidden)
    add_frames(figure, list(range(len(figure.data))), updates)
    if len(some) and not exact:
        tag(figure, colors, f"NOT PRIVATE ▦ some {plural(view.noun)}, until a center is released", below=True)
    elif exact:
        tag(figure, colors, "NOT PRIVATE")
    return Panel("plane", figure, f"{counted(len(path[-1]), 'center')} as pictures of {rows} by {columns} cells.")


def known_centers(view: View, shots: Sequence[Shot]) -> Panel:
    """Draw as pictures the centers known at each stop of the player; the last centers are the result."""
    trace, known = view.trace, center_path(view.trace)
    nothing = np.empty((0, trace.domain.n_features))
    path = [trace.domain.denormalize(known[step]) if step >= 0 else nothing for step in complete(shots)]
    last = np.asarray(trace.cluster_centers)
    return mosaic(view, [*path[:-1], last], f"{counted(len(last), 'center')} as pictures")


def _some_rows(view: View, most: int) -> np.ndarray:
    """Return at most `most` rows that have every value, original units (NOT PRIVATE); none without hidden layers."""
    people = view.people if view.hidden and view.people is not None else np.empty((0, view.trace.domain.n_features))
    whole = people[np.isfinite(people).all(axis=1)]
    return whole[thin(len(whole), most)]


def _centers(step: Step, exact: bool) -> np.ndarray | None:
    """Return the step's centers (k, d), z units: released centers, or the hidden ones of a run without a promise."""
    if not exact:
        return step.released.get("centers")
    return next((h.statistic["centers"] for h in step.hidden if "centers" in h.statistic), None)


def center_path(trace: Trace) -> list[np.ndarray]:
    """Return for every step the latest centers so far, shape (k, d), z units; (0, d) if there are none yet."""
    known, path = np.empty((0, trace.domain.n_features)), []
    for step in trace.steps:
        centers = _centers(step, trace.claimed.exact)
        known = known if centers is None else centers
        path.append(known)
    return path


def _size(view: View) -> tuple[int, int]:
    if view.picture is None:
        raise ValueError("mosaic: the columns of these data are not declared as the cells of a picture.")
    return view.picture


def _extent(view: View, most: int) -> tuple[int, int]:
    """Return the height and the width of a sheet, in cells; each row has a gap below it for text."""
    (rows, columns), wide = _size(view), _wide(most)
    return math.ceil(most / wide) * (rows + _below(most)), wide * (columns + _GAP) - _GAP


def _below(most: int) -> int:
    """Return the number of cells left free below a picture for its text."""
    return _GAP if math.ceil(most / _wide(most)) <= _FEW else 2 * _GAP


def _wide(most: int) -> int:
    return math.ceil(most / math.ceil(most / math.ceil(math.sqrt(_WIDER * most))))
