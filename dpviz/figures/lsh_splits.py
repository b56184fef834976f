"""LSH-Splits: random hyperplanes through the middle, the growing tree of buckets, averages and centers."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from dpviz.figures.centers import marks, releases, sentences
from dpviz.figures.panels import plane, reference, spend_panel
from dpviz.figures.tree import tree_panel, tree_table
from dpviz.figures.view import Pane, Panel, View, add_frames, xy
from dpviz.trace import Trace

__all__ = ["PANE", "hyperplanes"]

_NONE = np.empty((0, 2))


def hyperplanes(view: View) -> list[np.ndarray]:
    """Return the two ends (2, 2) of every level's hyperplane in original units; empty where it is not a line."""
    if view.trace.domain.n_features != 2:
        return [_NONE for _ in view.trace.steps]
    view, found = dataclasses.replace(view, axes=(0, 1)), []
    for step in view.trace.steps:
        if not step.released.get("branched", np.array([False])).any():
            found.append(_NONE)
            continue
        x, y = step.released["direction"] / np.linalg.norm(step.released["direction"])
        found.append(view.plane(2 * view.trace.domain.radius * np.array([[y, -x], [-y, x]])))
    return found


def warning(trace: Trace) -> str:
    """Return a sentence if nothing could be split."""
    if len(trace.steps[-1].released["points"]) > 1:
        return ""
    return "Too little data for this epsilon: no bucket was split, so one average and one center remain. Spend more."


def _plane(view: View) -> Panel:
    trace, colors = view.trace, view.colors
    if trace.domain.n_features == 2:
        view = dataclasses.replace(view, axes=(0, 1))
    figure = plane(view, "Hyperplanes, averages, centers")
    first = len(figure.data)
    figure.add_scatter(mode="lines", line={"color": colors.released_soft, "width": 1}, hoverinfo="skip", name="earlier")
    figure.add_scatter(mode="lines", line={"color": colors.ink, "width": 3}, hoverinfo="skip", name="hyperplane")
    figure.add_scatter(
        mode="markers", name="noisy average", hoverinfo="skip", marker={"color": colors.released, "opacity": 0.5}
    )
    figure.add_scatter(
        mode="markers", name="released center",
        marker={"color": colors.released, "size": 12, "line": {"color": colors.ink, "width": 2}},
    )  # fmt: skip
    lines, updates = hyperplanes(view), []
    gap = np.full((1, 2), np.nan)
    for t, step in enumerate(trace.steps):
        said = step.released
        earlier = [np.concatenate([line, gap]) for line in lines[:t] if len(line)]
        points: dict[str, Any] = {**xy(_NONE), "marker": {"size": 4}}
        if "points" in said:
            size = np.clip(18 * np.sqrt(said["weights"] / said["weights"].max()), 4, 18).round(1).tolist()
            points = {**xy(view.plane(said["points"])), "marker": {"size": size}}
        centers = view.plane(said["centers"]) if "centers" in said else _NONE
        updates.append([xy(np.concatenate(earlier) if earlier else _NONE), xy(lines[t]), points, xy(centers)])
    reference(view, figure)
    add_frames(figure, list(range(first, first + 4)), updates)
    k = len(trace.cluster_centers)
    return Panel("plane", figure, f"A plane with noisy averages of buckets and {k} released centers at the end.")


def _tree(view: View, *, height: int = 306) -> Panel:
    levels = [step.released for step in view.trace.steps if step.kind == "split-level"]
    nodes = [int(node) for level in levels for node in level["nodes"]]
    counts = [float(count) for level in levels for count in level["noisy_counts"]]
    visits = [t for t, level in enumerate(levels) for _ in level["nodes"]]
    enough = [count >= 3 * levels[0]["smallest"] for count in counts]
    return tree_panel(
        view,
        tree_table(nodes, counts),
        visits=visits,
        current=[-1] * len(view.trace.steps),
        rejected=enough,  # large enough to split, but neither half was large enough to keep
        words=[f"level {visit}: about {count:,.0f} rows" for visit, count in zip(visits, counts, strict=True)],
        height=height,
    )


def panels(view: View) -> list[Panel]:
    """Return plane, tree and spend."""
    return [_plane(view), _tree(view), spend_panel(view, releases(view.trace))]


PANE = Pane(
    panels=panels,
    sentences=sentences,
    releases=releases,
    marks=marks,
    legend=(
        ("cut", "this level's hyperplane"),
        ("disc", "noisy average (area: noisy count)"),
        ("center", "released center"),
        ("hatch", "final bucket"),
        ("diamond", "KMeans"),
        ("ring", "person"),
    ),
    caution="Halves that hold too few rows by their noisy count are dropped: their rows are in no average. Hyperplanes "
    "are drawn in two dimensions only; in more they are not lines.",
    warning=warning,
)
