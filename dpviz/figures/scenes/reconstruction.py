"""Draw rings around the rows that were computed from exact centers, round by round. NOT PRIVATE."""

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
    rings = (("marked_ring", "a person's row, computed"), ("thin_ring", "computed, but nobody's row")) if exact else ()
    return centers, *rings, ("ring", "person")


def read_panel(
    view: View, centers: Sequence[np.ndarray], read: Sequence[np.ndarray], wrong: Sequence[np.ndarray]
) -> Panel:
    """Draw a plane with one frame per round: centers (k, d) and computed rows (m, d), original units.

    `read` holds the computed rows that are people's, and `wrong` those that are nobody's.
    """
    colors = view.colors
    view = dataclasses.replace(view, reference=None, missed=None)
    looks = {
        "read off": {
            "mode": "markers",
            "name": "a person's row, computed (not private)",
            "marker": {"symbol": "circle-open-dot", "size": 15, "color": colors.hidden, "line": {"width": 2.4}},
        },
        "wrong": {
            "mode": "markers",
            "name": "computed, but nobody's row",
            "marker": {"symbol": "circle-open", "size": 15, "color": colors.hidden, "line": {"width": 1}},
        },
        "center": exact_center(colors, "Lloyd's", symbol="square-open") if view.trace.noiseless else center(colors),
    }
    frames = [
        {"center": xy(view.flat(at)), "read off": _flat(view, rows), "wrong": _flat(view, others)}
        for at, rows, others in zip(centers, read, wrong, strict=True)
    ]
    computed = counted(len(read[-1]) + len(wrong[-1]), "row")
    alt = f"{computed} are ringed: they follow from the published sums and counts; {len(read[-1])} are people's rows."
    alt += view.placed(centers[-1], "Centers of the last round")
    kind = "exact" if view.trace.noiseless else "noisy"
    title = f"{len(centers[0])} {kind} centers, published in {counted(len(centers), 'round')}"
    return layered(view, title, looks, frames, alt, height=420, secret=["□ center"] * view.trace.noiseless)


def _flat(view: View, rows: np.ndarray) -> dict[str, np.ndarray]:
    return xy(view.flat(rows)) if len(rows) else xy(np.empty((0, 2)))
