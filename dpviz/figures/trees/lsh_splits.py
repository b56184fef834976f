"""Draw LSH-Splits: random hyperplanes through the middle, the growing tree of buckets, the averages and the centers."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from dpviz.figures.kit.acts import crowd
from dpviz.figures.kit.events import Event
from dpviz.figures.kit.layers import NOWHERE, center, layered, paths
from dpviz.figures.kit.pane import Pane
from dpviz.figures.kit.panels import spend_panel
from dpviz.figures.kit.shots import Shot
from dpviz.figures.kit.tree import tree_panel, tree_table
from dpviz.figures.kit.view import Panel, View, xy
from dpviz.figures.trees.lsh_splits_film import told
from dpviz.numbers import counted

__all__ = ["PANE", "hyperplanes"]


def hyperplanes(view: View) -> list[np.ndarray]:
    """Return the ends (2, 2) of each level's hyperplane, original units; empty unless there are two columns."""
    if view.trace.domain.n_features != 2:
        return [NOWHERE for _ in view.trace.steps]
    view, lines = dataclasses.replace(view, axes=(0, 1)), []
    for step in view.trace.steps:
        if not step.released.get("branched", np.array([False])).any():
            lines.append(NOWHERE)
            continue
        x, y = step.released["direction"] / np.linalg.norm(step.released["direction"])
        lines.append(view.plane(2 * view.trace.domain.radius * np.array([[y, -x], [-y, x]])))
    return lines


def _seen(view: View) -> View:
    """Return the view of the plane: two columns are drawn as they are."""
    return dataclasses.replace(view, axes=(0, 1)) if view.trace.domain.n_features == 2 else view


def events(view: View, shots: Sequence[Shot]) -> list[tuple[Event, ...]]:
    """Return the events of every shot (`lsh_splits_film`)."""
    return told(_seen(view), shots, crowd(_seen(view)))


def _plane(view: View) -> Panel:
    trace, colors = view.trace, view.colors
    view = _seen(view)
    looks = {
        "earlier": {"mode": "lines", "line": {"color": colors.released_soft, "width": 1}},
        "hyperplane": {"mode": "lines", "line": {"color": colors.ink, "width": 3}},
        "noisy average": {"mode": "markers", "marker": {"color": colors.released, "opacity": 0.5}},
        "center": center(colors),
    }
    lines, frames = hyperplanes(view), []
    for t, step in enumerate(trace.steps):
        released = step.released
        earlier = paths([line for line in lines[:t] if len(line)])
        frame = {
            "earlier": xy(earlier),
            "hyperplane": xy(lines[t]),
            "noisy average": {**xy(NOWHERE), "marker": {"size": 4}},
        }
        if "points" in released:
            size = np.clip(18 * np.sqrt(released["weights"] / released["weights"].max()), 4, 18).round(1).tolist()
            frame["noisy average"] = {**xy(view.plane(released["points"])), "marker": {"size": size}}
        if "centers" in released:
            frame["center"] = xy(view.plane(released["centers"]))
        frames.append(frame)
    alt = f"A plane with noisy averages of buckets and {len(trace.cluster_centers)} released centers at the end."
    buckets, k = len(trace.steps[-1].released["points"]), len(trace.cluster_centers)
    title = f"{counted(buckets, 'bucket')} give{'s' * (buckets == 1)} {counted(k, 'center')}"
    return layered(view, title, looks, frames, alt)


def _tree(view: View) -> Panel:
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
        rejected=enough,  # these buckets were large enough to split, but neither half was large enough to keep
        words=[f"level {visit}: about {count:,.0f} rows" for visit, count in zip(visits, counts, strict=True)],
    )


def panels(view: View, shots: list[Shot]) -> list[Panel]:
    """Return the panels: plane, tree and spend."""
    return [_plane(view), _tree(view), spend_panel(view, shots)]


PANE = Pane(
    draw=panels,
    events=events,
    legend=(
        ("cut", "this level's hyperplane"),
        ("disc", "noisy average (area: noisy count)"),
        ("center", "released center"),
        ("hatch", "final bucket"),
        ("diamond", "KMeans"),
        ("ring", "person"),
    ),
    caution="Halves whose noisy count is too low are dropped: their rows are in no average. Hyperplanes are drawn only "
    "in two dimensions; in more they are not lines.",
)
