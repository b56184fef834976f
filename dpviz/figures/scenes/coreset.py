"""Draw a coreset that is clustered again: its weighted points with the centers for any k, and the cost of each k."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpviz.figures.kit.layers import NOWHERE, center, disc_sizes, segments
from dpviz.figures.kit.panels import distance_title, plane, reference
from dpviz.figures.kit.theme import base, tag
from dpviz.figures.kit.view import Panel, View, xy
from dpviz.numbers import number, percent
from dpviz.trace import Coreset

__all__ = ["LEGEND", "elbow_panel", "plane_panel", "printed"]

MOST_RAYS = 200  # maximum number of points for which lines to their centers are drawn
LEGEND = (
    ("disc", "released point (area: noisy weight)"),
    ("dashed", "to the nearest center, at no cost"),
    ("center", "center for this k"),
    ("ring", "person"),
)


def plane_panel(view: View, coreset: Coreset, centers: np.ndarray) -> Panel:
    """Draw the weighted points and the centers (k, d), original units."""
    colors = view.colors
    figure = plane(view, f"{len(centers)} centers of {len(coreset.points)} released points", height=380)
    at, to = view.flat(coreset.points), view.flat(centers)
    domain = view.trace.domain
    z, c = domain.normalize(coreset.points), domain.normalize(centers)
    nearest = ((z[:, None] - c) ** 2).sum(axis=2).argmin(axis=1)
    line = {"color": colors.released, "width": 1, "dash": "4px,4px"}
    rays = segments(at, to[nearest]) if len(at) <= MOST_RAYS else NOWHERE  # more lines would be unreadable
    figure.add_scatter(**xy(rays), mode="lines", line=line, hoverinfo="skip", name="nearest")
    figure.add_scatter(
        **xy(at), mode="markers", name="released point", customdata=coreset.weights,
        hovertemplate="%{customdata:.0f} rows, noisy<extra></extra>",
        marker={
            "color": colors.released, "opacity": 0.6, "size": disc_sizes(coreset.weights),
            "line": {"color": colors.panel, "width": 0.8},
        },
    )  # fmt: skip
    figure.add_scatter(**xy(to), **center(colors))
    reference(view, figure)
    return Panel("plane", figure, f"{len(coreset.points)} weighted points and {len(centers)} centers chosen on them.")


def _saving(table: pd.DataFrame, n_clusters: int) -> str:
    """State by how much the last of the k centers lowers the coreset's cost."""
    cost = dict(zip(table.k, table.coreset, strict=True))
    if n_clusters not in cost or not cost.get(n_clusters - 1):
        return f"k = 1 costs {number(float(table.coreset.iloc[0]))}"
    saved = 1 - cost[n_clusters] / cost[n_clusters - 1]
    return f"Going from {n_clusters - 1} to {n_clusters} centers lowers the cost by {percent(saved)}"


def elbow_panel(view: View, table: pd.DataFrame, n_clusters: int, cost: str) -> Panel:
    """Draw the cost of each k on the coreset and, if hidden layers are on, on the rows.

    `table` has the columns k, coreset and, in DEMO, rows.
    """
    colors = view.colors
    figure = base(colors, _saving(table, n_clusters), height=300)
    figure.add_scatter(
        x=table.k.tolist(), y=table.coreset.tolist(), mode="lines+markers", name="on the coreset",
        line={"color": colors.released, "width": 2}, hovertemplate="k = %{x}: %{y:,.3~r}<extra>coreset</extra>",
    )  # fmt: skip
    if view.hidden and "rows" in table:
        tag(figure, colors, "NOT PRIVATE ○ rows")
        figure.add_scatter(
            x=table.k.tolist(), y=table.rows.tolist(), mode="lines+markers", name="on the rows (not private)",
            line={"color": colors.hidden, "width": 1.4, "dash": "dot"}, marker={"symbol": "circle-open", "size": 8},
            hovertemplate="k = %{x}: %{y:,.3~r}<extra>rows, not private</extra>",
        )  # fmt: skip
    here = table[table.k == n_clusters]
    figure.add_scatter(
        x=here.k.tolist(), y=here.coreset.tolist(), mode="markers", hoverinfo="skip",
        marker={"color": colors.released, "size": 13, "line": {"color": colors.ink, "width": 2}},
    )  # fmt: skip
    figure.update_yaxes(
        title_text=distance_title(cost != "k-means"), range=[0, 1.1 * float(table.drop(columns="k").to_numpy().max())]
    )
    figure.update_xaxes(title_text="k", range=[0.5, len(table) + 0.5], dtick=1 if len(table) <= 12 else 2)
    words = f"k = {n_clusters} costs {number(float(here.coreset.iloc[0]))} on the coreset" if len(here) else ""
    return Panel("side", figure, f"A curve: cost falls as k grows. {words}")


def printed(view: View, coreset: Coreset, centers: np.ndarray, table: pd.DataFrame, cost: str) -> list[Panel]:
    """Return both panels for one k as JSON, for storing and sending."""
    panels = plane_panel(view, coreset, centers), elbow_panel(view, table, len(centers), cost)
    return [panel.printed() for panel in panels]
