"""Draw a dashed ring around each group without a center, with the group's size on a free side of the ring."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from dpviz.figures.kit.theme import halo
from dpviz.figures.kit.view import View, xy
from dpviz.numbers import counted, plural

__all__ = ["SIDES", "places", "rings"]

SIDES = {  # side of the ring at which a label stands, best first -> the label's offset from the ring's middle, in radii
    "top center": (0, 1),
    "bottom center": (0, -1),
    "middle right": (1, 0),
    "middle left": (-1, 0),
    "top right": (0.75, 0.75),
    "top left": (-0.75, 0.75),
    "bottom right": (0.75, -0.75),
    "bottom left": (-0.75, -0.75),
}
WIDE = 300.0  # width in pixels of a plane on a phone: labels that do not overlap there overlap nowhere
LETTER, LINE = 6.6, 16.0  # width of a letter and height of a line at size 12, in pixels
MARK = 11.0  # radius of the mark of a center or a diamond, in pixels


def rings(view: View, figure: go.Figure, means: np.ndarray, radii: np.ndarray, sizes: np.ndarray) -> None:
    """Draw dashed rings around groups, with sizes (g,) as labels; means and radii (g, d) in original units."""
    low, high = view.bounds()
    if view.axes is None or means.shape[1] == 1:
        width = np.broadcast_to(0.06 * (high - low), (len(means), 2))
    else:
        width = np.maximum(2 * radii[:, list(view.axes)], 0.03 * (high - low))
    angle = np.linspace(0, 2 * np.pi, 41)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    middle = view.flat(means)
    drawn = middle[:, None] + width[:, None] * circle[None]
    broken = np.concatenate([drawn, np.full((len(drawn), 1, 2), np.nan)], axis=1).reshape(-1, 2)
    figure.add_scatter(
        **xy(broken), mode="lines", name="group without a center (not private)", hoverinfo="skip",
        line={"color": view.colors.hidden, "width": 2, "dash": "dash"},
    )  # fmt: skip
    text = [counted(int(size), view.noun, plural(view.noun)) for size in sizes]
    marks = [view.flat(view.trace.cluster_centers), *([] if view.reference is None else [view.flat(view.reference)])]
    sides = places(middle, width, text, np.concatenate(marks), low, high)
    figure.add_scatter(
        **xy(middle + width * np.array([SIDES[side] for side in sides])), mode="text", hoverinfo="skip",
        text=text, textposition=sides, textfont={"color": view.colors.hidden, "size": 12, "shadow": halo(view.colors)},
    )  # fmt: skip


def places(
    middle: np.ndarray, width: np.ndarray, text: list[str], marks: np.ndarray, low: np.ndarray, high: np.ndarray
) -> list[str]:
    """Return for each ring the side of `SIDES` where its label overlaps least with other labels, marks and the rim.

    Parameters
    ----------
    middle, width : ndarrays of shape (g, 2), the rings' middles and half widths
    text : labels of the rings
    marks : ndarray of shape (m, 2), positions of the other marks
    low, high : corners of the drawn box; all positions are in drawn coordinates
    """
    scale = WIDE / float((high - low).max())
    middle, width, marks, top = middle * scale, width * scale, marks * scale, high * scale
    taken: list[tuple[np.ndarray, np.ndarray]] = []
    dots = [(mark - MARK, mark + MARK) for mark in marks]
    rings = []
    for place, radius, words in zip(middle, width, text, strict=True):
        half = np.array([LETTER * len(words), LINE]) / 2
        options = []
        for side, toward in SIDES.items():
            at = place + radius * np.array(toward) + half * np.sign(toward)
            box = (at - half, at + half)
            out = np.maximum(box[1] - top, 0).sum() + np.maximum(low * scale - box[0], 0).sum()
            covered = sum(_shared(box, other) for other in taken) + sum(_shared(box, dot) for dot in dots) / 2
            options.append((covered + LINE * out, side, box))
        _, side, box = min(options, key=lambda option: option[0])
        taken.append(box)
        rings.append(side)
    return rings


def _shared(one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray]) -> float:
    """Return the area, in square pixels, that two boxes share; a box is given by its low and its high corner."""
    return float(np.prod(np.maximum(np.minimum(one[1], other[1]) - np.maximum(one[0], other[0]), 0)))
