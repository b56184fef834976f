"""Two worlds that differ in one person: their centers and KMeans' on one plane, step by step. NOT PRIVATE."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from dpviz.figures.kit.layers import center, layered
from dpviz.figures.kit.view import Panel, View, moved, xy

__all__ = ["LEGEND", "worlds_panel"]

LEGEND = (
    ("center", "released center"),
    ("disc", "20 runs with Alex"),
    ("hoop", "20 runs without"),
    ("diamond", "KMeans"),
    ("cross", "Alex"),
    ("ring", "person"),
)


def worlds_panel(
    view: View,
    alex: np.ndarray,
    elsewhere: np.ndarray | None,
    ones: tuple[np.ndarray, np.ndarray],
    clouds: tuple[Sequence[np.ndarray], Sequence[np.ndarray]],
    plain: tuple[np.ndarray, np.ndarray],
) -> Panel:
    """Return a plane with five frames: one run in each world with the same noise, a cloud of each, and both clouds.

    Parameters
    ----------
    alex, elsewhere : where Alex is in the first and in the second world (d,), None: nowhere; original units
    ones, clouds, plain : of both worlds: centers of one run, of many runs, and of KMeans, original units
    """
    colors = view.colors
    view = dataclasses.replace(view, reference=None, missed=None)
    low, high = view.bounds()
    below = "bottom" if view.flat(alex[None])[0, 1] > (low[1] + high[1]) / 2 else "top"  # the name stays inside
    looks = {
        "with": {"mode": "markers", "marker": {"color": colors.released, "size": 8, "opacity": 0.5}},
        "without": {
            "mode": "markers",
            "marker": {"symbol": "circle-open", "color": colors.ink, "size": 9, "line": {"width": 1.4}},
        },
        "center": center(colors),
        "KMeans": {
            "mode": "markers",
            "name": "KMeans (not private)",
            "marker": {"symbol": "diamond-open", "size": 20, "color": colors.hidden, "line": {"width": 2.2}},
        },
        "Alex": {
            "mode": "markers+text",
            "text": ["Alex"],
            "textposition": f"{below} center",
            "textfont": {"color": colors.hidden, "size": 13},
            "marker": {"symbol": "x-open", "size": 14, "color": colors.hidden, "line": {"width": 2.6}},
        },
    }
    one, other = (view.flat(points) for points in ones)
    here, there = (xy(view.flat(np.concatenate(list(cloud)))) for cloud in clouds)
    first, second = (view.flat(points) for points in plain)
    spot = xy(view.flat(alex[None]))
    away = {} if elsewhere is None else {"Alex": xy(view.flat(elsewhere[None]))}
    glide = moved(one, other) if one.shape == other.shape else xy(other)
    shift = moved(first, second) if first.shape == second.shape else xy(second)
    frames = [
        {"center": xy(one), "KMeans": xy(first), "Alex": spot},
        {"center": glide, "KMeans": shift, **away},
        {"with": here, "KMeans": xy(first), "Alex": spot},
        {"without": there, "KMeans": xy(second), **away},
        {"with": here, "without": there, "KMeans": xy(first), "Alex": spot},
    ]
    alt = "Two worlds, with and without one person: the clouds of released centers overlap."
    return layered(view, "Alex in, Alex out", looks, frames, alt, height=440)
