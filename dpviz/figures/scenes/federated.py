"""Draw the messages of a federated run byte by byte, and the rows of each client."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.colors import sample_colorscale

from dpviz.figures.kit.layers import center
from dpviz.figures.kit.panels import plane
from dpviz.figures.kit.theme import Theme, base, tag
from dpviz.figures.kit.view import View, thin, xy
from dpviz.numbers import counted

__all__ = ["plot_clients", "plot_words", "words_table"]

MAX_WORDS = 24
MAX_PEOPLE = 800


def words_table(payload: bytes, word_bytes: int) -> pd.DataFrame:
    """Return the words of a payload: one row per word, one column per byte, most significant byte first."""
    table = np.frombuffer(payload, dtype=np.uint8).reshape(-1, word_bytes)[:, ::-1]
    return pd.DataFrame(table, columns=[f"byte {i + 1}" for i in range(word_bytes)])


def plot_words(colors: Theme, payload: bytes, word_bytes: int, title: str, *, hidden: bool) -> go.Figure:
    """Draw every byte as a square, which is darker for larger values; at most 24 words are drawn."""
    table = words_table(payload, word_bytes).iloc[:MAX_WORDS]
    n_words = min(len(table), MAX_WORDS)
    figure = base(colors, title, height=46 + 11 * max(n_words, 6), margin_left=6)
    figure.add_heatmap(
        z=table.to_numpy(), zmin=0, zmax=255, xgap=1.5, ygap=1.5, showscale=False,
        colorscale=[[0, colors.grid], [1, colors.hidden if hidden else colors.released]],
        hovertemplate="word %{y}, byte %{x}: %{z}<extra></extra>",
    )  # fmt: skip
    figure.update_layout(margin={"r": 6, "b": 6})
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False, autorange="reversed")
    if hidden:
        tag(figure, colors)
    return figure


def plot_clients(view: View, parts: Sequence[np.ndarray], chosen: int) -> go.Figure:
    """Draw each client's people as rings in its own shade, the chosen client's as dots, and the released centers."""
    colors = view.colors
    sizes = " to ".join(f"{size:,}" for size in sorted({min(map(len, parts)), max(map(len, parts))}))
    figure = plane(view, f"{counted(len(parts), 'client')} hold {sizes} rows each", height=360)
    n = sum(map(len, parts))
    tones = sample_colorscale([[0, colors.person], [1, colors.hidden]], np.linspace(0, 1, max(len(parts), 2)))
    for i, part in enumerate(parts):
        few = part[thin(len(part), max(1, round(MAX_PEOPLE * len(part) / n)))]
        figure.add_scatter(
            **xy(view.flat(few)), mode="markers", name=f"client-{i + 1} (not private)", hoverinfo="name",
            marker={
                "symbol": "circle" if i == chosen else "circle-open",
                "size": 5 if i == chosen else 4,
                "color": colors.hidden if i == chosen else tones[i],
                "opacity": 0.9 if i == chosen else 0.55,
            },
        )  # fmt: skip
    figure.add_scatter(**xy(view.flat(view.trace.cluster_centers)), **center(colors))
    tag(figure, colors, f"NOT PRIVATE  ● client-{chosen + 1}", below=True)
    return figure
