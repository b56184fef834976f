"""Draw what the rows of a public file say about the number of clusters: the loss, and whether halves agree."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from dpviz.figures.kit.theme import Theme, base, tag
from dpviz.figures.kit.view import Panel
from dpviz.numbers import number, percent

__all__ = ["agreement_panel", "loss_panel"]


def loss_panel(colors: Theme, loss: Sequence[float], k: int) -> Panel:
    """Draw the loss of 1 to m centers as a share of the loss of one, with the visitor's `k`; NOT PRIVATE."""
    figure = _curve(colors, "KMeans' loss, as a share of one center's", loss, k, [percent(one) for one in loss])
    figure.update_yaxes(range=[0, 1.08], tickvals=[0, 0.5, 1], ticktext=["0%", "50%", "100%"])
    return Panel("side", figure, f"The loss falls to {percent(loss[-1])} at k = {len(loss)}.")


def agreement_panel(colors: Theme, agreement: Sequence[float], enough: float, k: int) -> Panel:
    """Draw the adjusted Rand index of the clusterings of two halves for each k, and the line `enough`; NOT PRIVATE."""
    words = [number(one, 2) for one in agreement]
    figure = _curve(colors, "Do halves of the rows agree? (1 is the same)", agreement, k, words)
    figure.add_hline(y=enough, line={"color": colors.muted, "width": 1, "dash": "dash"})
    figure.update_yaxes(range=[min(0.0, *agreement), 1.08], tickvals=[0, 0.5, 1])
    return Panel("side", figure, f"Agreement of halves: {', '.join(words[1:])} for k = 2 to {len(agreement)}.")


def _curve(colors: Theme, title: str, values: Sequence[float], k: int, words: list[str]) -> go.Figure:
    figure = base(colors, title, height=260)
    tag(figure, colors)
    ks = list(range(1, len(values) + 1))
    figure.add_scatter(
        x=ks, y=list(values), mode="lines+markers", customdata=words, name="rows",
        line={"color": colors.hidden, "width": 1.4, "dash": "dot"},
        marker={"symbol": "circle-open", "size": [13 if one == k else 8 for one in ks]},
        hovertemplate="k = %{x}: %{customdata}<extra></extra>",
    )  # fmt: skip
    figure.update_xaxes(title_text="number of clusters k", range=[0.5, len(values) + 0.5], dtick=1)
    return figure
