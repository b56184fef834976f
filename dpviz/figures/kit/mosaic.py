"""Draw centers as pictures, side by side, for data whose columns are a picture's cells; one frame per step."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpviz.figures.kit.theme import base, halo, tag
from dpviz.figures.kit.view import Panel, View, add_frames
from dpviz.numbers import counted

__all__ = ["mosaic", "tiles"]

_WIDER = 1.5  # ratio of pictures per row to rows
_GAP = 2  # cells between two pictures
_TALL = 508  # height in pixels, the same as a plane's


def tiles(view: View, cluster_centers: np.ndarray, most: int) -> np.ndarray:
    """Return centers (k, d), original units, as one sheet of pictures, with room for `most` of them.

    Each cell is scaled from 0 to 1 between its declared bounds; the gaps between the pictures are NaN.
    """
    rows, columns = _size(view)
    wide = _wide(most)
    sheet = np.full((math.ceil(most / wide) * (rows + _GAP), wide * (columns + _GAP) - _GAP), np.nan)
    domain = view.trace.domain
    shades = np.clip((cluster_centers - domain.low) / (domain.high - domain.low), 0, 1)
    for i, shade in enumerate(shades.reshape(-1, rows, columns)):
        top, left = i // wide * (rows + _GAP), i % wide * (columns + _GAP)
        sheet[top : top + rows, left : left + columns] = shade
    return sheet


def mosaic(view: View, path: Sequence[np.ndarray], title: str) -> Panel:
    """Draw the centers (k, d) of every frame in `path`, original units, as numbered pictures in place of the plane.

    Only released centers are drawn; those of a run without a promise are tagged.
    """
    colors, exact = view.colors, view.trace.claimed.exact
    (rows, columns), most = _size(view), max([len(centers) for centers in path] + [1])
    ink = colors.hidden if exact else colors.released
    figure = base(colors, title, height=_TALL, margin_left=8)
    figure.add_heatmap(
        colorscale=[[0, colors.panel], [1, ink]], zmin=0, zmax=1, showscale=False, xgap=0, ygap=0, hoverinfo="skip"
    )
    figure.add_scatter(
        mode="text", hoverinfo="skip", name="number",
        textfont={"size": 13, "color": colors.ink, "shadow": halo(colors)},
    )  # fmt: skip
    high, wide = tiles(view, np.empty((0, len(view.columns))), most).shape
    figure.update_xaxes(visible=False, range=[-1.5, wide + 0.5], constrain="domain", constraintoward="left")
    figure.update_yaxes(visible=False, range=[high + 0.5, -1.5], scaleanchor="x", constrain="domain")
    figure.update_yaxes(constraintoward="top")
    figure.update_layout(plot_bgcolor=colors.grid, meta={"ar": (high + 2) / (wide + 2), "h": _TALL})
    updates = []
    for centers in path:
        sheet = tiles(view, centers, most).round(3)
        place = np.arange(len(centers))
        number = {
            "x": (place % _wide(most) * (columns + _GAP) + columns / 2 - 0.5).tolist(),
            "y": (place // _wide(most) * (rows + _GAP) + rows + 0.4).tolist(),
            "text": [str(i + 1) for i in place],
        }
        if not len(centers):
            number = {"x": [wide / 2], "y": [high / 2], "text": ["no center is released yet"]}
        cells = [[None if np.isnan(cell) else cell for cell in line] for line in sheet.tolist()]
        updates.append([{"z": cells}, number])
    add_frames(figure, [0, 1], updates)
    if exact:
        tag(figure, colors, "NOT PRIVATE")
    return Panel("plane", figure, f"{counted(len(path[-1]), 'center')} as pictures of {rows} by {columns} cells.")


def _size(view: View) -> tuple[int, int]:
    if view.picture is None:
        raise ValueError("mosaic: the columns of these data are not declared as the cells of a picture.")
    return view.picture


def _wide(most: int) -> int:
    return math.ceil(most / math.ceil(most / math.ceil(math.sqrt(_WIDER * most))))
