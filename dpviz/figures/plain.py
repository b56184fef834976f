"""Draw how the centers move from step to step: the simple picture that fits every trace."""

from __future__ import annotations

import numpy as np

from dpviz.figures.kit.layers import center, exact_center
from dpviz.figures.kit.mosaic import center_path
from dpviz.figures.kit.pane import Pane
from dpviz.figures.kit.panels import closing, plane, reference
from dpviz.figures.kit.shots import Shot
from dpviz.figures.kit.theme import tag
from dpviz.figures.kit.view import Panel, View, add_frames, moved, xy
from dpviz.numbers import counted

__all__ = ["PANE", "REFERENCE"]


def panels(view: View, shots: list[Shot]) -> list[Panel]:
    """Return the panels: the plane and, if they exist, loss, spend and ledger."""
    trace, colors = view.trace, view.colors
    exact = trace.claimed.exact
    steps = len(trace.steps)
    figure = plane(view, f"{counted(len(trace.cluster_centers), 'center')} after {counted(steps, 'step')}")
    first = len(figure.data)
    look = exact_center(colors, view.against) if exact else center(colors, symbol="circle")
    figure.add_scatter(mode="lines", hoverinfo="skip", line={"color": look["marker"]["color"], "width": 1.6})
    figure.add_scatter(**look)
    path = [view.plane(centers) for centers in center_path(trace)]
    updates = []
    for t, now in enumerate(path):
        same = t > 0 and path[t - 1].shape == now.shape
        lines = (
            np.stack([path[t - 1], now, np.full_like(now, np.nan)], axis=1).reshape(-1, 2) if same else np.empty((0, 2))
        )
        updates.append([xy(lines), moved(path[t - 1], now) if same else xy(now)])
    if exact:
        tag(figure, colors, "NOT PRIVATE", below=True)
    else:
        reference(view, figure)
    add_frames(figure, [first, first + 1], updates)
    alt = f"A plane with {len(trace.cluster_centers)} centers after {len(path)} steps."
    return [Panel("plane", figure, alt), *closing(view, shots)]


REFERENCE = Pane(
    draw=panels,
    legend=(("diamond", "KMeans center"), ("ring", "person")),
    caution="Every center was computed from raw rows without noise, so publishing it reveals people's rows. KMeans "
    "also depends on its start; this is the best of ten.",
)
PANE = Pane(
    draw=panels,
    legend=(("center", "released center"), ("path", "its move"), ("diamond", "KMeans"), ("ring", "person")),
    caution="A single run is one draw of the noise. Run with another seed before you trust a center.",
)
