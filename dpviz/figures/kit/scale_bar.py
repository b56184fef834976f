"""Draw a map: a plane whose columns share one unit, with a scale bar in place of its axes."""

from __future__ import annotations

import math

import plotly.graph_objects as go

from dpviz.figures.kit.view import View
from dpviz.numbers import number

__all__ = ["as_map"]

EDGE = 0.01  # room around the public box, as a share of its sides
ROOM = 0.08  # room above or beside a box that is more than an edge: something else is drawn there
FOOT, HEAD = 24, 42  # heights in pixels of the line below the plane, with scale bar and tag, and of the caption


def as_map(view: View, figure: go.Figure) -> None:
    """Give the figure of a plane a scale bar and a tag below it in place of axes, if the drawn columns share a unit."""
    units = {view.units[column] for column in view.axes or ()}
    meta = figure.layout.meta or {}
    shaped = "ar" in meta  # neither stretched nor, without two fixed columns, of changing axes
    if view.axes is None or view.trace.domain.n_features < 2 or len(units) != 1 or not shaped or "projected" in meta:
        return
    low, high = view.bounds()
    for i, axis in enumerate((figure.layout.xaxis, figure.layout.yaxis)):
        side, end = high[i] - low[i], axis.range[1]
        axis.range = [low[i] - EDGE * side, end if end > high[i] + ROOM * side else high[i] + EDGE * side]
        axis.update(showticklabels=False, ticks="", title_text="", showline=False)
    length, (unit,) = _round(float(high[0] - low[0]) / 4), units
    line = {"color": view.colors.muted, "width": 1.5}
    figure.add_shape(type="line", x0=low[0], x1=low[0] + length, y0=-0.025, y1=-0.025, yref="paper", line=line)
    figure.add_annotation(
        text=f"{number(length)} {unit}".strip(), x=low[0] + length, y=0, yref="paper", xanchor="left", yanchor="top",
        xshift=6, showarrow=False, font={"size": 12, "color": view.colors.muted},
    )  # fmt: skip
    for note in figure.layout.annotations:
        if "NOT PRIVATE" in (note.text or ""):
            note.update(
                xref="x domain", x=1, xanchor="right", xshift=None, yref="y domain", y=0, yanchor="top", yshift=-1
            )
    figure.update_layout(margin={"l": 2, "r": 2, "b": FOOT, "t": HEAD})


def _round(length: float) -> float:
    """Return the largest length of 1, 2 or 5 times a power of ten that is at most this one."""
    power = 10.0 ** math.floor(math.log10(length))
    return max(m * power for m in (1, 2, 5) if m * power <= length)
