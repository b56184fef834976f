"""Draw raw rows, only for public data and DEMO: thumbnails, and what declared bounds cut off from each column."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dpviz import escape
from dpviz.datasets import Dataset
from dpviz.domain import Domain
from dpviz.figures.kit.theme import Theme, base, tag
from dpviz.figures.kit.view import Panel, thin
from dpviz.geometry import random_projection
from dpviz.numbers import counted

__all__ = ["bounds_table", "bounds_panel", "thumbnail"]

_BINS = 40


def thumbnail(data: Dataset, colors: Theme, *, width: int = 220, height: int = 132, most: int = 260) -> str:
    """Return an SVG that shows at most `most` people in the declared bounds; three or more columns are projected."""
    domain, rng = data.domain, np.random.default_rng(0)
    Z = domain.normalize(data.X[thin(len(data.X), most)])
    Z = domain.clip(Z[np.isfinite(Z).all(axis=1)])
    reach = np.array([*domain.box_z, 1.0])[:2]
    if Z.shape[1] == 1:
        Z = np.column_stack([Z, rng.uniform(-0.5, 0.5, len(Z))])
    elif Z.shape[1] > 2:
        Z = Z @ random_projection(Z.shape[1], 2, rng)
        Z -= (Z.max(axis=0) + Z.min(axis=0)) / 2
        reach = np.abs(Z).max(axis=0)
    room = np.array([width, height]) / 2 - 6
    scale = (room / reach).min() if domain.one_scale else room / reach  # a map keeps its aspect ratio
    x, y = (Z * scale + [width / 2, height / 2]).T
    people = "".join(f'<circle cx="{a:.0f}" cy="{height - b:.0f}" r="2"/>' for a, b in zip(x, y, strict=True))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
        f'<rect width="{width}" height="{height}" fill="{colors.panel}"/>'
        f'<g fill="none" stroke="{colors.person}" stroke-width="1">{people}</g></svg>'
    )


def bounds_table(X: np.ndarray, domain: Domain, columns: list[str]) -> pd.DataFrame:
    """Return the bars of the histograms, one row per bar: column, left, right, rows, inside. NOT PRIVATE.

    Parameters
    ----------
    X : ndarray of shape (n, d), original units; cells that are not finite are ignored
    """
    frames = []
    for j, name in enumerate(columns):
        cells = X[:, j][np.isfinite(X[:, j])]
        low, high = domain.low[j], domain.high[j]
        if len(cells):
            low, high = min(low, cells.min()), max(high, cells.max())
        rows, edges = np.histogram(cells, _edges(cells, low, high))
        middle = (edges[:-1] + edges[1:]) / 2
        inside = (middle >= domain.low[j]) & (middle <= domain.high[j])
        frames.append(
            pd.DataFrame({"column": name, "left": edges[:-1], "right": edges[1:], "rows": rows, "inside": inside})
        )
    return pd.concat(frames, ignore_index=True)


def _edges(cells: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return the edges of about 40 bars; if values are evenly spaced, every bar covers equally many possible values."""
    values = np.unique(cells)
    step = np.diff(values).min() if len(values) > 1 else 0.0
    places = (values - values[:1]) / (step or 1.0)
    if not step or np.abs(places - np.round(places)).max() > 1e-3:
        return np.linspace(low, high, _BINS + 1)
    wide = step * np.ceil((high - low) / (_BINS * step) - 1e-9)
    first = values[0] - step / 2
    return np.arange(first - wide * np.ceil((first - low) / wide), high + wide, wide)


def bounds_panel(X: np.ndarray, domain: Domain, columns: list[str], colors: Theme) -> Panel:
    """Draw histograms of the first four columns; bars outside the declared bounds are hatched. NOT PRIVATE."""
    names = columns[:4]
    table = bounds_table(X, domain, names)
    plot = 118 * len(names) - 48
    layout = base(colors, "", height=plot + 90).layout
    figure = make_subplots(rows=len(names), cols=1, vertical_spacing=48 / plot if names[1:] else 0)
    figure.update_layout(layout)
    for row, name in enumerate(names, 1):
        bars = table[table.column == name]
        pattern = {"shape": ["" if inside else "/" for inside in bars.inside], "size": 5, "fgcolor": colors.hidden}
        figure.add_trace(
            go.Bar(
                x=(bars.left + bars.right) / 2, y=bars.rows, width=bars.right - bars.left,
                marker={"color": colors.panel, "line": {"color": colors.person, "width": 1}, "pattern": pattern},
                hovertemplate="%{x:,.3~r}: %{y} rows<extra></extra>",
            ),
            row=row, col=1,
        )  # fmt: skip
        for bound in (domain.low[row - 1], domain.high[row - 1]):
            figure.add_vline(x=bound, line={"color": colors.released, "width": 2}, row=row, col=1)
        figure.update_xaxes(
            layout.xaxis.to_plotly_json()
            | {"title": {"text": escape.figure(name), "standoff": 0, "font": layout.xaxis.title.font}},
            row=row,
            col=1,
        )
        figure.update_yaxes(layout.yaxis.to_plotly_json() | {"nticks": 3}, row=row, col=1)
    cells = X[:, : len(names)]
    low, high = (np.broadcast_to(edge, X.shape[1])[: len(names)] for edge in (domain.low, domain.high))
    outside, every = int(((cells < low) | (cells > high)).sum()), int(np.isfinite(cells).sum())
    title = f"{outside:,} of {counted(every, 'cell')} lie{'s' * (outside == 1)} outside the bounds"
    figure.update_layout(title_text=title, bargap=0)
    tag(figure, colors)
    return Panel("plane", figure, f"Histograms of {', '.join(names)}; {title}. Not private.")
