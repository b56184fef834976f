"""Draw the parts of a plane that several families share: layers, released centers, outlines, segments, discs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dpviz.figures.kit.panels import plane, reference
from dpviz.figures.kit.theme import Theme, halo
from dpviz.figures.kit.view import Panel, View, add_frames, xy

__all__ = [
    "NOWHERE",
    "TOP",
    "center",
    "disc",
    "disc_sizes",
    "exact_center",
    "layered",
    "outline",
    "paths",
    "segments",
    "tint",
    "true_tick",
    "waiting",
]

TOP = 20  # number of bars, which show only the largest counts
NOWHERE = np.empty((0, 2))
CIRCLE = np.stack([np.cos(np.linspace(0, 2 * np.pi, 73)), np.sin(np.linspace(0, 2 * np.pi, 73))], axis=1)
Look = dict[str, Any]  # properties of a scatter trace, which is named after its layer unless they include a name


def layered(
    view: View,
    title: str,
    looks: Mapping[str, Look],
    frames: Sequence[Mapping[str, dict[str, Any]]],
    alt: str,
    *,
    height: int = 508,
    beside: Callable[[View, go.Figure], None] | None = None,
    secret: Sequence[str] = (),
) -> Panel:
    """Draw a plane with named layers, the first at the bottom; a frame lists only the layers that it shows.

    Parameters
    ----------
    looks : layer -> its style
    frames : one mapping per frame, layer -> its contents (`view.xy` and other changes)
    alt : the panel's alternative text
    beside : function that draws marks that do not change, above the layers
    secret : symbols and names of the layers that show true values, for the figure's tag

    Raises
    ------
    ValueError
        If a frame names a layer that `looks` lacks.
    """
    if unknown := {layer for frame in frames for layer in frame} - set(looks):
        raise ValueError(f"layered: a frame may name only the layers in looks, {', '.join(looks)}; got {min(unknown)}.")
    figure = plane(view, title, height=height)
    first = len(figure.data)
    for layer, look in looks.items():
        figure.add_scatter(**{"hoverinfo": "skip", "name": layer, **look})
    if beside is not None:
        beside(view, figure)
    reference(view, figure, *secret)
    nothing = xy(NOWHERE)
    updates = [[frame.get(layer, nothing) for layer in looks] for frame in frames]
    add_frames(figure, list(range(first, first + len(looks))), updates)
    return Panel("plane", figure, alt)


def center(colors: Theme, **marker: Any) -> Look:
    """Return the style of released centers; `marker` changes properties of the mark, such as size or symbol."""
    edge = {"color": colors.ink, "width": 2}
    return {
        "mode": "markers",
        "name": "released center",
        "hoverinfo": None,
        "cliponaxis": False,  # a center may lie on the bounds
        "marker": {"color": colors.released, "size": 12, "line": edge, **marker},
    }


def exact_center(colors: Theme, against: str, symbol: str = "diamond-open", **marker: Any) -> Look:
    """Return the style of exact centers, shown in place of released ones; `against` names their method. NOT PRIVATE.

    A diamond stands for KMeans; the exact centers of another method are squares.
    """
    edge = {"color": colors.hidden, "width": 2}
    return {
        **center(colors, color=colors.hidden, symbol=symbol, line=edge, **marker),
        "name": f"{against} center (not private)",
    }


def disc(colors: Theme, opacity: float = 0.6) -> Look:
    """Return the style of released points: discs whose areas show their counts."""
    return {
        "mode": "markers",
        "marker": {"color": colors.released, "opacity": opacity, "line": {"color": colors.panel, "width": 0.8}},
    }


def true_tick(colors: Theme, size: int = 9) -> Look:
    """Return the style of true values next to noisy ones. NOT PRIVATE."""
    return {
        "mode": "markers",
        "hoverinfo": "skip",
        "marker": {"symbol": "line-ew-open", "size": size, "color": colors.hidden, "line": {"width": 2}},
    }


def waiting(figure: go.Figure, colors: Theme, x: float, y: float) -> int:
    """Add a text trace, centered at (x, y), for frames that show nothing yet; return its number."""
    font = {"color": colors.muted, "shadow": halo(colors)}
    figure.add_scatter(x=[x], y=[y], mode="text", text=[""], hoverinfo="skip", textfont=font)
    return len(figure.data) - 1


def tint(color: str, opacity: float) -> str:
    """Convert a hexadecimal color to rgba with this opacity."""
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def disc_sizes(noisy_counts: np.ndarray) -> np.ndarray:
    """Return marker sizes in pixels; the area grows with the noisy count."""
    return np.clip(1.1 * np.sqrt(np.maximum(noisy_counts, 0)), 3, 26).astype(np.float32)


def outline(view: View, root: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return the outline (73, 2), on the plane, of the points at + root u, |u| <= 1; root (d, d), at (d,), z units."""
    linear = (view.plane(root.T) - view.plane(np.zeros_like(root))).T  # (2, d)
    values, vectors = np.linalg.eigh(linear @ linear.T)
    return view.plane(at) + CIRCLE @ (vectors * np.sqrt(np.maximum(values, 0))).T


def segments(*points: np.ndarray) -> np.ndarray:
    """Return lines through corresponding rows of the arrays, shape (m, 2) each, with a NaN row after each line."""
    return np.stack([*points, np.full_like(points[0], np.nan)], axis=1).reshape(-1, 2)


def paths(lines: Sequence[np.ndarray]) -> np.ndarray:
    """Join lines (., 2) of any lengths into one array, with a NaN row after each line."""
    gap = np.full((1, 2), np.nan)
    return np.concatenate([part for line in lines for part in (line, gap)]) if len(lines) else NOWHERE
