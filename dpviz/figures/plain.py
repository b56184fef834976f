"""Draw centers that move from step to step, the plain picture that fits every trace."""

from __future__ import annotations

import numpy as np

from dpviz.figures.kit.layers import center, exact_center
from dpviz.figures.kit.panels import closing, plane, reference
from dpviz.figures.kit.shots import Shot
from dpviz.figures.kit.theme import tag
from dpviz.figures.kit.view import Pane, Panel, View, add_frames, moved, xy
from dpviz.numbers import counted
from dpviz.trace import Step, Trace

__all__ = ["PANE", "REFERENCE", "center_path"]


def _centers(step: Step, exact: bool) -> np.ndarray | None:
    """Return the step's centers (k, d), z units: released ones, or the non-private reference's hidden ones."""
    if not exact:
        return step.released.get("centers")
    return next((h.statistic["centers"] for h in step.hidden if "centers" in h.statistic), None)


def center_path(trace: Trace) -> list[np.ndarray]:
    """Return the centers (k, d) known by every step, z units; (0, d) before the first."""
    known, path = np.empty((0, trace.domain.n_features)), []
    for step in trace.steps:
        centers = _centers(step, trace.claimed.exact)
        known = known if centers is None else centers
        path.append(known)
    return path


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
