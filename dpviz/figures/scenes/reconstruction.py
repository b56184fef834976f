"""Draw rings around the people whose rows were reconstructed from exact centers, round by round. NOT PRIVATE."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from dpviz.figures.kit.layers import center, exact_center, layered
from dpviz.figures.kit.view import Panel, View, xy
from dpviz.numbers import counted

__all__ = ["legend", "read_panel"]


def legend(exact: bool) -> tuple[tuple[str, str], ...]:
    """Return the key of a picture with `exact` or released centers, as (symbol, words) pairs."""
    centers = ("square", "exact center of this round") if exact else ("center", "released center of this round")
    return centers, ("hidden_ring", "read off exactly"), ("ring", "person")


def read_panel(view: View, centers: Sequence[np.ndarray], read: Sequence[np.ndarray]) -> Panel:
    """Draw a plane with one frame per round: centers (k, d) and reconstructed rows (m, d), original units."""
    colors = view.colors
    view = dataclasses.replace(view, reference=None, missed=None)
    looks = {
        "read off": {
            "mode": "markers",
            "name": "read off exactly (not private)",
            "marker": {"symbol": "circle-open", "size": 15, "color": colors.hidden, "line": {"width": 2.4}},
        },
        "center": exact_center(colors, "Lloyd's", symbol="square-open") if view.trace.noiseless else center(colors),
    }
    frames = [
        {"center": xy(view.flat(at)), "read off": xy(view.flat(rows)) if len(rows) else xy(np.empty((0, 2)))}
        for at, rows in zip(centers, read, strict=True)
    ]
    alt = f"{len(read[-1])} people are ringed: their rows follow from the published sums and counts."
    kind = "exact" if view.trace.noiseless else "noisy"
    title = f"{len(centers[0])} {kind} centers, published in {counted(len(centers), 'round')}"
    return layered(view, title, looks, frames, alt, height=420, secret=["□ center"] * view.trace.noiseless)
