"""Draw lessons: groups with the radius within which a center finds them, and a number for each frame."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dpviz.figures.kit.layers import CIRCLE, center, layered, paths
from dpviz.figures.kit.theme import Theme, base, tag
from dpviz.figures.kit.view import Panel, View, add_frames, xy
from dpviz.numbers import having
from dpviz.postprocessing.verdict import Groups

__all__ = ["GROUPS", "Values", "add_rings", "circle", "found_rings", "groups_panel", "values_panel"]

GROUPS = (
    ("center", "released center"),
    ("hidden_ring", "group found: a center lies within its radius"),
    ("dashed_ring", "group without a center"),
    ("ring", "person"),
)
FOUND, MISSED = "group that is found (not private)", "group without a center (not private)"  # names of layers


@dataclasses.dataclass(frozen=True, eq=False)
class Values:
    """A number for each frame, drawn as a figure of its own.

    Attributes
    ----------
    title, axis : the titles of the figure and of its y axis
    labels : names of the frames, shown on the x axis
    values : the number in each frame
    words : the values as text
    line : (value, name) of a horizontal line to compare with, or None
    private : True if the numbers depend on raw rows; the figure is then tagged NOT PRIVATE
    """

    title: str
    axis: str
    labels: Sequence[str]
    values: Sequence[float]
    words: Sequence[str]
    line: tuple[float, str] | None = None
    private: bool = False


def groups_panel(
    view: View,
    title: str,
    groups: Groups,
    shots: Sequence[np.ndarray],
    *,
    boxes: Sequence[tuple[np.ndarray, np.ndarray]] | None = None,
) -> Panel:
    """Draw a plane with one frame per shot: the shot's centers (k', d), original units, and the radius of every group.

    `boxes` holds the bounds (low, high) declared for every shot. The picture is then 2.2 times as wide as the view's
    bounds; wider boxes and more distant centers are cut off.
    """
    domain, colors = view.trace.domain, view.colors
    frames = []
    for i, centers in enumerate(shots):
        hits, missed = found_rings(view, groups, domain.normalize(centers))
        frames.append({"found": hits, "missed": missed, "center": xy(view.flat(centers))})
        if boxes is not None:
            low, high = (view.flat(edge) for edge in boxes[i])
            frames[-1]["box"] = xy(np.array([low, [high[0], low[1]], high, [low[0], high[1]], low]))
    looks: dict[str, dict[str, Any]] = dict(zip(("found", "missed"), _rings(colors), strict=True))
    if boxes is not None:
        looks["box"] = {"mode": "lines", "name": "declared bounds", "line": {"color": colors.released_soft, "width": 2}}
    looks["center"] = center(colors)
    last = int(groups.found_by(domain.normalize(shots[-1])).sum())
    alt = (
        f"In the end, {having(last, len(groups.means), 'groups')} one of {len(shots[-1])} released centers within "
        f"reach.{view.placed(shots[-1])}"
    )
    panel = layered(dataclasses.replace(view, missed=None), title, looks, frames, alt, height=430)
    if boxes is not None:
        low, high = view.bounds()
        half = 1.1 * (high - low)
        panel.figure.update_xaxes(range=[(low + high)[0] / 2 - half[0], (low + high)[0] / 2 + half[0]])
        panel.figure.update_yaxes(range=[(low + high)[1] / 2 - half[1], (low + high)[1] / 2 + half[1]])
    return panel


def found_rings(view: View, groups: Groups, centers: np.ndarray) -> list[dict[str, Any]]:
    """Return circles around the groups that are found by centers (k', d), z units, and around the groups that are not.

    `Groups.found_by` decides which groups are found, so solid rings mark exactly the groups that count as found.
    """
    hits = groups.found_by(centers)
    middles = view.flat(view.trace.domain.denormalize(groups.means))
    rings = [middle + circle(view, float(radius)) for middle, radius in zip(middles, groups.radii, strict=True)]
    return [
        xy(paths([ring for ring, there in zip(rings, hits, strict=True) if there == mine])) for mine in (True, False)
    ]


def add_rings(figure: go.Figure, colors: Theme) -> list[int]:
    """Add the two traces whose contents `found_rings` returns; return the traces' numbers."""
    first = len(figure.data)
    for look in _rings(colors):
        figure.add_scatter(hoverinfo="skip", **look)
    return [first, first + 1]


def _rings(colors: Theme) -> tuple[dict[str, Any], dict[str, Any]]:
    line = {"color": colors.hidden, "width": 2}
    return (
        {"mode": "lines", "name": FOUND, "line": line},
        {"mode": "lines", "name": MISSED, "line": {**line, "dash": "dash"}},
    )


def circle(view: View, radius: float) -> np.ndarray:
    """Return a circle (73, 2) around 0, in the units of the two drawn columns; the radius is given in z units."""
    width = np.broadcast_to(view.trace.domain.half_width, view.trace.domain.n_features)
    return radius * CIRCLE * (width[list(view.axes)] if view.axes is not None else width.max())


def values_panel(colors: Theme, numbers: Values) -> Panel:
    """Draw the numbers as a line; each frame marks its own number and writes it next to the mark."""
    figure = base(colors, numbers.title, height=230)
    n, values = len(numbers.values), np.asarray(numbers.values, dtype=float)
    x = list(range(n))
    color, symbol = (colors.person, "circle-open") if numbers.private else (colors.released, "circle")
    figure.add_scatter(
        x=x, y=values, mode="lines+markers", hoverinfo="skip", line={"color": color, "width": 1.6},
        marker={"symbol": symbol, "size": 8},
    )  # fmt: skip
    figure.add_scatter(
        mode="markers+text", cliponaxis=False, hoverinfo="skip", textfont={"size": 14, "color": colors.ink},
        marker={"symbol": "circle-open", "size": 15, "color": colors.ink, "line": {"width": 2.4}},
    )  # fmt: skip
    if numbers.private:
        tag(figure, colors, below=True)
    every = [*values, *([numbers.line[0]] if numbers.line else [])]
    if numbers.line:
        figure.add_hline(
            y=numbers.line[0],
            line={"color": colors.hidden, "dash": "dot", "width": 1.6},
            annotation={"text": numbers.line[1], "font": {"color": colors.hidden, "size": 12}},
            annotation_position="bottom right",
        )
    figure.update_xaxes(range=[-0.4, n - 0.6], tickvals=x, ticktext=list(numbers.labels))
    figure.update_yaxes(title_text=numbers.axis, range=[0, 1.28 * max(every)])
    updates = [
        [{"x": [i], "y": [value], "text": [word], "textposition": "top left" if 2 * i >= n else "top right"}]
        for i, (value, word) in enumerate(zip(values.tolist(), numbers.words, strict=True))
    ]
    add_frames(figure, [1], updates)
    legend = ", ".join(f"{label}: {word}" for label, word in zip(numbers.labels, numbers.words, strict=True))
    return Panel("side", figure, f"{numbers.title}. {legend}.{' Not private.' if numbers.private else ''}")
