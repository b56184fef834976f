"""Draw a binary tree of noisy counts: areas show counts, leaves are hatched, and a click on a node goes to its step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpviz.figures.kit.layers import tint
from dpviz.figures.kit.theme import base
from dpviz.figures.kit.view import Panel, View, add_frames

__all__ = ["tree_table", "tree_panel"]

_HEIGHT = 0.5  # height of a bar, in levels
_LEVELS = 9  # number of levels up to which there is room for numbers
_LABELED = 0.07  # smallest share of the picture's width at which a node shows its count


def tree_table(nodes: Sequence[int], noisy_counts: Sequence[float]) -> pd.DataFrame:
    """Return where each node is drawn, one row per node, in the order of `nodes`, which is that of the visits.

    The root is 1, and the children of i are 2i and 2i + 1. A node has room in proportion to its noisy count, but at
    least 3% of all leaves' counts, and at least that of its children, which stand in its middle: noise may make them
    larger than their parent together. Columns: node, depth, noisy_count, x (its middle), width (94% of its noisy count,
    and something to see if that is 0 or negative), final (a leaf).
    """
    counts = dict(zip(nodes, noisy_counts, strict=True))
    final = {node for node in nodes if 2 * node not in counts and 2 * node + 1 not in counts}
    least = 0.03 * max(sum(max(counts[leaf], 0.0) for leaf in final), 1.0)
    room: dict[int, float] = {}
    for node in sorted(counts, reverse=True):  # children before parents
        inside = sum(room.get(child, 0.0) for child in (2 * node, 2 * node + 1))
        room[node] = max(counts[node], least, inside)
    start = {1: 0.0}
    for node in sorted(counts):
        children = [child for child in (2 * node, 2 * node + 1) if child in room]
        at = start[node] + (room[node] - sum(room[child] for child in children)) / 2
        for child in children:
            start[child], at = at, at + room[child]
    rows = [
        {
            "node": node,
            "depth": node.bit_length() - 1,
            "noisy_count": counts[node],
            "x": start[node] + room[node] / 2,
            "width": max(0.94 * counts[node], 0.3 * least),
            "final": node in final,
        }
        for node in nodes
    ]
    return pd.DataFrame(rows)


def tree_panel(
    view: View,
    table: pd.DataFrame,
    *,
    visits: Sequence[int],
    current: Sequence[int],
    rejected: Sequence[bool],
    words: Sequence[str],
) -> Panel:
    """Draw the tree as bars. Node i lights up at frame `visits[i]`; frame t points at node `current[t]` (-1: none).

    `rejected[i]` is true if a cut of node i was tried and rejected; `words[i]` appears when the pointer is on node i.
    """
    colors, n, deepest = view.colors, len(table), int(table.depth.max())
    finals = int(table.final.sum())
    figure = base(colors, "The tree so far; width is noisy count", height=290, margin_left=6)
    figure.update_layout(margin={"r": 6, "b": 6}, bargap=0)
    left, right = (table.x - table.width / 2).min(), (table.x + table.width / 2).max()
    figure.update_xaxes(visible=False, range=[left - 0.02 * (right - left), right + 0.02 * (right - left)])
    figure.update_yaxes(visible=False, range=[-deepest - 0.95, 0.3])

    figure.add_bar(
        x=table.x, y=[_HEIGHT] * n, base=-table.depth - _HEIGHT, width=table.width, customdata=list(visits),
        hovertext=list(words), hoverinfo="text",
        marker={"line": {"width": 0}, "pattern": {"size": 6, "solidity": 0.3}},  # hatched in the bar's own color
    )  # fmt: skip
    figure.add_scatter(
        mode="text", hoverinfo="skip", textposition="bottom center", cliponaxis=False,
        textfont={"size": 11, "color": colors.muted},
    )  # fmt: skip
    figure.add_scatter(
        mode="markers", hoverinfo="skip", marker={"symbol": "triangle-down", "size": 11, "color": colors.ink}
    )
    wide = (table.width >= _LABELED * (right - left)).to_numpy() & (deepest <= _LEVELS)
    shapes = np.where(table.final, np.where(list(rejected), "/", "-"), "")
    updates: list[list[dict[str, Any]]] = []
    for t, at in enumerate(current):
        lit = np.asarray(visits) <= t
        fill = np.where(lit, colors.released, tint(colors.released, 0)).tolist()  # no node before its time
        label = _counts(table, np.flatnonzero(lit & (wide | (np.arange(n) == at))))
        arrow = {"x": [None], "y": [None]} if at < 0 else {"x": [table.x[at]], "y": [0.12 - table.depth[at]]}
        updates.append(
            [{"marker": {"color": fill, "pattern": {"shape": np.where(lit, shapes, "").tolist()}}}, label, arrow]
        )
    add_frames(figure, [0, 1, 2], updates)
    return Panel(
        "side", figure, f"A tree of {n} nodes by noisy count; {finals} of them are final. Click a node to go there."
    )


def _counts(table: pd.DataFrame, nodes: np.ndarray) -> dict[str, Any]:
    """Return the content of the trace that shows the noisy counts of these nodes below their bars."""
    if not len(nodes):
        return {"x": [None], "y": [None], "text": [""]}
    return {
        "x": table.x[nodes].round(1).tolist(),
        "y": (-table.depth[nodes] - _HEIGHT).tolist(),
        "text": [f"{count:,.0f}" for count in table.noisy_count[nodes]],
    }
