"""Draw PrivTree: the halved boxes at each depth, the tree, and the centers computed from the leaves."""

from __future__ import annotations

import numpy as np

from dpviz.figures.kit.layers import NOWHERE, center, disc, disc_sizes, layered
from dpviz.figures.kit.pane import Pane
from dpviz.figures.kit.panels import ledger_panel, spend_panel
from dpviz.figures.kit.shots import Shot
from dpviz.figures.kit.tree import tree_panel, tree_table
from dpviz.figures.kit.view import Panel, View, xy
from dpviz.figures.trees.privtree_film import along_columns, events
from dpviz.numbers import counted
from dpviz.trace import Step, Trace

__all__ = ["PANE", "counts_of_nodes", "squares"]

_MOST = 1500  # maximum number of boxes drawn per frame
_NODES = 300  # maximum number of nodes of the tree that are drawn: the shallowest ones


def squares(view: View, step: Step, which: np.ndarray) -> np.ndarray:
    """Return the outlines of the boxes of one depth on the plane, with a NaN row after each box."""
    if not which.any():
        return NOWHERE
    low, high = (view.plane(step.released[end][which][:_MOST]) for end in ("low", "high"))
    if view.trace.domain.n_features == 1:
        low, high = low - [0, 1], high + [0, 1]
    (x0, y0), (x1, y1) = low.T, high.T
    gap = np.full_like(x0, np.nan)
    xs, ys = np.stack([x0, x1, x1, x0, x0, gap], axis=1), np.stack([y0, y0, y1, y1, y0, gap], axis=1)
    return np.stack([xs.ravel(), ys.ravel()], axis=1)


def counts_of_nodes(trace: Trace) -> dict[int, float]:
    """Return a dict from node to noisy count: a leaf's own count, or the sum over the leaves below a node."""
    last = trace.steps[-1].released
    counts: dict[int, float] = {}
    for leaf, count in zip(last["leaves"].tolist(), last["leaf_counts"].tolist(), strict=True):
        for up in range(leaf.bit_length()):
            counts[leaf >> up] = counts.get(leaf >> up, 0.0) + count
    return counts


def _plane(view: View) -> Panel:
    trace, colors = view.trace, view.colors
    view = along_columns(view)
    looks = {
        "earlier": {"mode": "lines", "line": {"color": colors.released_soft, "width": 1}},
        "box": {"mode": "lines", "line": {"color": colors.released, "width": 1.8}},
        "leaf": disc(colors, 0.5),
        "center": center(colors),
    }
    levels = [step for step in trace.steps if step.kind == "halving-level"]
    frames, earlier = [], NOWHERE
    for step in levels:
        every = np.ones(len(step.released["nodes"]), dtype=bool)
        now = squares(view, step, every)
        frames.append({"earlier": xy(earlier), "box": xy(now)})
        earlier = np.concatenate([earlier, now])
    last = trace.steps[-1].released
    frames.append(
        {
            "earlier": xy(earlier),
            "leaf": {
                **xy(view.plane(last["coreset_points"])),
                "marker": {"size": disc_sizes(last["coreset_weights"])},
            },
            "center": xy(view.plane(last["centers"])),
        }
    )
    alt = (
        f"A plane with {len(last['leaves'])} final boxes and {len(trace.cluster_centers)} released centers at the end."
    )
    n, k = len(last["leaves"]), len(trace.cluster_centers)
    title = f"{counted(n, 'final box', 'final boxes')} give{'s' * (n == 1)} {counted(k, 'center')}"
    return layered(view, title, looks, frames, alt)


def _tree(view: View) -> Panel:
    trace = view.trace
    counts = counts_of_nodes(trace)
    nodes = sorted(counts)[:_NODES]
    drawn = set(nodes)
    nodes = [node for node in nodes if node == 1 or node ^ 1 in drawn]  # a node is drawn only together with its sibling
    depth = [node.bit_length() - 1 for node in nodes]
    return tree_panel(
        view,
        tree_table(nodes, [counts[node] for node in nodes]),
        visits=depth,
        current=[-1] * len(trace.steps),
        rejected=[False] * len(nodes),
        words=[f"depth {at}: about {counts[node]:,.0f} rows" for node, at in zip(nodes, depth, strict=True)],
    )


def panels(view: View, shots: list[Shot]) -> list[Panel]:
    """Return the panels: plane, tree, spend and ledger."""
    return [_plane(view), _tree(view), spend_panel(view, shots), ledger_panel(view, shots)]


PANE = Pane(
    draw=panels,
    events=events,
    cells=True,
    legend=(
        ("box", "box of this depth"),
        ("disc", "leaf (area: noisy count)"),
        ("center", "released center"),
        ("diamond", "KMeans"),
        ("ring", "person"),
    ),
    caution="Noise alone may halve a box, or leave a crowded one whole. With more than two columns, boxes are seen "
    "from one side, so they overlap in the picture.",
)
