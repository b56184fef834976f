"""Plain planes: centers that move from step to step. Fits every trace whose steps have centers."""

from __future__ import annotations

import numpy as np

from dpviz.figures.panels import Panel, View, add_frames, ledger_panel, loss_panel, plane, reference, spend_panel, xy
from dpviz.figures.theme import tag
from dpviz.trace import Step, Trace

__all__ = ["marks", "panels", "releases", "sentences"]


def _centers(step: Step, d: int) -> np.ndarray:
    """Return the step's centers (k, d), z units: released, the reference's hidden ones, or none yet."""
    if "centers" in step.released:
        return step.released["centers"]
    found = (h.statistic["centers"] for h in step.hidden if "centers" in h.statistic)
    return next(found, np.empty((0, d)))


def sentences(trace: Trace) -> list[str]:
    """Return what is said at every frame."""
    return [step.title for step in trace.steps]


def marks(trace: Trace) -> list[int]:
    """Return the frames that get a tick."""
    return list(range(len(trace.steps)))


def releases(trace: Trace) -> list[int]:
    """Return how many releases have happened at every frame."""
    return [step.n_releases for step in trace.steps]


def panels(view: View) -> list[Panel]:
    """Return the plane, and loss, spend and ledger where they exist."""
    trace, colors = view.trace, view.colors
    private = trace.claimed.private
    figure = plane(view, "Centers")
    first = len(figure.data)
    color, symbol = (colors.released, "circle") if private else (colors.hidden, "diamond-open")
    figure.add_scatter(mode="lines", hoverinfo="skip", line={"color": color, "width": 1.6})
    figure.add_scatter(
        mode="markers",
        name="released center" if private else "KMeans center (not private)",
        marker={
            "color": color,
            "symbol": symbol,
            "size": 12,
            "line": {"width": 2, "color": colors.ink if private else color},
        },
    )
    path = [view.plane(_centers(step, trace.domain.n_features)) for step in trace.steps]
    updates = []
    for t, now in enumerate(path):
        same = t > 0 and path[t - 1].shape == now.shape
        lines = (
            np.stack([path[t - 1], now, np.full_like(now, np.nan)], axis=1).reshape(-1, 2) if same else np.empty((0, 2))
        )
        updates.append([xy(lines), xy(now)])
    if private:
        reference(view, figure)
    else:
        tag(figure, colors, "NOT PRIVATE", inside=True)
    add_frames(figure, [first, first + 1], updates)
    found = [Panel("plane", figure, f"A plane with {len(trace.cluster_centers)} centers after {len(path)} steps.")]
    if view.hidden and view.losses is not None:
        found.append(loss_panel(view, list(range(len(path)))))
    if private:
        found += [spend_panel(view, releases(trace)), ledger_panel(view, releases(trace))]
    return found
