"""What every pane shares: the view of a run, and the plane, loss, spend and ledger panels."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.figures.theme import Theme, base, tag
from dpviz.geometry import random_projection
from dpviz.privacy.accounting import spent
from dpviz.trace import Trace

__all__ = ["Panel", "View", "ledger_panel", "loss_panel", "plane", "spend_frame", "spend_panel", "thin"]

MAX_PEOPLE = 900
MAX_GUESSES = 750


@dataclasses.dataclass(frozen=True)
class View:
    """A run and how to look at it.

    Attributes
    ----------
    trace : Trace
    colors : Theme
    axes : two column numbers, or None for a fixed random projection
    columns, units : names and units of the columns
    people : raw rows to draw (DEMO), original units, or None
    reference : KMeans centers (k, d), original units, or None
    losses : loss of every step, or None; reference_loss likewise
    hidden : whether hidden layers are asked for
    """

    trace: Trace
    colors: Theme
    axes: tuple[int, int] | None
    columns: Sequence[str]
    units: Sequence[str]
    people: np.ndarray | None = None
    reference: np.ndarray | None = None
    losses: np.ndarray | None = None
    reference_loss: float | None = None
    hidden: bool = False

    def plane(self, Z: np.ndarray) -> np.ndarray:
        """Map z units (..., d) to the two drawn coordinates (..., 2), original units."""
        return self.flat(self.trace.domain.denormalize(Z))

    def flat(self, X: np.ndarray) -> np.ndarray:
        """Map original units (..., d) to the two drawn coordinates (..., 2)."""
        d = self.trace.domain.n_features
        if d == 1:
            return np.stack([X[..., 0], np.zeros(X.shape[:-1])], axis=-1)
        if self.axes is not None:
            return X[..., list(self.axes)]
        centered = X - self.trace.domain.middle
        return centered @ random_projection(d, 2, np.random.default_rng(0))  # public and fixed: never from the data

    def axis_titles(self) -> tuple[str, str]:
        """Return the two axis titles with units."""
        if self.trace.domain.n_features == 1:
            return self._title(0), ""
        if self.axes is None:
            return "fixed random direction 1", "fixed random direction 2"
        return self._title(self.axes[0]), self._title(self.axes[1])

    def _title(self, column: int) -> str:
        unit = self.units[column]
        return f"{self.columns[column]} ({unit})" if unit else str(self.columns[column])

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the public box (low, high) in drawn coordinates; for a projection, what it can reach at most."""
        domain = self.trace.domain
        if domain.n_features == 1:
            return np.array([domain.low[0], -1.0]), np.array([domain.high[0], 1.0])
        if self.axes is not None:
            return domain.low[list(self.axes)], domain.high[list(self.axes)]
        reach = np.linalg.norm((domain.high - domain.low) / 2) / np.sqrt(domain.n_features)
        return np.full(2, -2 * reach), np.full(2, 2 * reach)


@dataclasses.dataclass(frozen=True)
class Panel:
    """One figure of the player.

    Attributes
    ----------
    name : str, "plane", "side" or "wide": where the page puts it
    figure : go.Figure, its data is the last frame, so the page is right without any script
    alt : str, what is seen, for people who do not see it
    """

    name: str
    figure: go.Figure
    alt: str


def thin(n: int, most: int, seed: int = 0) -> np.ndarray:
    """Return the sorted indices of at most `most` of n things, always the same ones."""
    return np.arange(n) if n <= most else np.sort(np.random.default_rng(seed).choice(n, most, replace=False))


def xy(points: np.ndarray) -> dict[str, Any]:
    """Return x and y lists, NaN as None; [None] for no points, because an empty list leaves the old marks standing."""
    if len(points) == 0:
        return {"x": [None], "y": [None]}
    x, y = ([None if value != value else value for value in column] for column in np.round(points, 4).T.tolist())
    return {"x": x, "y": y}


def plane(view: View, title: str, *, height: int = 478) -> go.Figure:
    """Return a plane with the public bounds; people if they are asked for. Draw more, then call `reference`."""
    colors = view.colors
    figure = base(colors, title, height=height)
    low, high = view.bounds()
    pad = 0.04 * (high - low)
    x_title, y_title = view.axis_titles()
    figure.update_xaxes(range=[low[0] - pad[0], high[0] + pad[0]], title_text=x_title)
    figure.update_yaxes(range=[low[1] - pad[1], high[1] + pad[1]], title_text=y_title)
    if view.trace.domain.n_features == 1:
        figure.update_yaxes(showticklabels=False)
    if view.trace.domain.scale == "common":
        figure.update_xaxes(constrain="domain", constraintoward="left")
        figure.update_yaxes(scaleanchor="x", constrain="domain", constraintoward="top")
        figure.update_layout(meta={"ar": float((high - low)[1] / (high - low)[0]), "h": height})
    figure.add_shape(
        type="rect",
        x0=low[0],
        x1=high[0],
        y0=low[1],
        y1=high[1],
        line={"color": colors.line, "dash": "dot", "width": 1},
    )
    if view.hidden and view.people is not None:
        chosen = view.flat(view.people[thin(len(view.people), MAX_PEOPLE)])
        figure.add_scatter(
            **xy(chosen), mode="markers", name="person", hoverinfo="skip",
            marker={"symbol": "circle-open", "size": 3.5, "color": colors.person, "opacity": 0.55},
        )  # fmt: skip
    return figure


def reference(view: View, figure: go.Figure) -> None:
    """Draw the KMeans centers as hollow diamonds, last, and tag the figure."""
    if not view.hidden:
        return
    shown = []
    if view.reference is not None:
        figure.add_scatter(
            **xy(view.flat(view.reference)), mode="markers", name="KMeans (not private)",
            marker={"symbol": "diamond-open", "size": 20, "color": view.colors.hidden, "line": {"width": 2.2}},
        )  # fmt: skip
        shown.append("\u25c7 KMeans")
    if view.people is not None:
        shown.append("\u25cb people")
    tag(figure, view.colors, "NOT PRIVATE  " + " \u00b7 ".join(shown), inside=True)


def add_frames(figure: go.Figure, traces: list[int], per_frame: list[list[dict[str, Any]]]) -> None:
    """Attach frames named "0", "1", ... that change the numbered traces only; the last one is the figure's data."""
    kinds = [type(figure.data[index]) for index in traces]
    figure.frames = [
        go.Frame(name=str(i), traces=traces, data=[kind(**update) for kind, update in zip(kinds, updates, strict=True)])
        for i, updates in enumerate(per_frame)
    ]
    for index, update in zip(traces, per_frame[-1], strict=True):
        figure.data[index].update(update)


def spend_frame(trace: Trace) -> pd.DataFrame:
    """Return epsilon spent after every release at the run's delta: columns release, label, epsilon."""
    delta = trace.claimed.delta
    values = [spent(trace.ledger[:i], delta).epsilon for i in range(len(trace.ledger) + 1)]
    labels = ["", *(entry.name for entry in trace.ledger)]
    return pd.DataFrame({"release": range(len(values)), "label": labels, "epsilon": values})


def spend_panel(view: View, frames: list[int], *, height: int = 160) -> Panel:
    """Return the epsilon curve; `frames[i]` is how many releases have happened at frame i."""
    table, colors = spend_frame(view.trace), view.colors
    figure = base(colors, "epsilon spent so far", height=height)
    everything = {"x": table.release.tolist(), "y": table.epsilon.tolist()}
    figure.add_scatter(
        **everything, mode="lines+markers", line={"color": colors.released_soft, "width": 1.6}, hoverinfo="skip"
    )
    figure.add_scatter(x=[0], y=[0], mode="lines+markers", line={"color": colors.released, "width": 2.4}, name="spent")
    figure.add_scatter(
        x=[0], y=[0], mode="text", text=[""], textposition="top left", cliponaxis=False, hoverinfo="skip"
    )
    figure.update_xaxes(title_text="release", range=[-0.3, len(table) - 0.5])
    figure.update_yaxes(title_text="epsilon", range=[0, 1.25 * float(table.epsilon.max())])
    updates = []
    for n in frames:
        here = float(table.epsilon[n])
        updates.append(
            [
                {"x": table.release[: n + 1].tolist(), "y": table.epsilon[: n + 1].tolist()},
                {"x": [n], "y": [here], "text": [f"{here:.2f}"]},
            ]
        )
    add_frames(figure, [1, 2], updates)
    return Panel("side", figure, f"Epsilon spent rises to {table.epsilon.iloc[-1]:.2f} over {len(table) - 1} releases.")


def loss_panel(view: View, steps: list[int], *, height: int = 172) -> Panel:
    """Return the loss of every step beside KMeans; `steps[i]` is the step shown at frame i (-1: none yet)."""
    colors, losses = view.colors, view.losses
    figure = base(colors, "Loss after each step", height=height)
    tag(figure, colors)
    if losses is None:
        raise ValueError("figures: loss_panel needs losses.")
    rounds = list(range(1, len(losses) + 1))
    figure.add_scatter(
        x=rounds, y=losses.tolist(), mode="lines+markers", hovertemplate="step %{x}: %{y:.4g}<extra></extra>",
        line={"color": colors.person, "width": 1.6}, marker={"symbol": "circle-open", "size": 8},
    )  # fmt: skip
    figure.add_scatter(
        x=[None], y=[None], mode="markers+text", textposition="top center", cliponaxis=False, hoverinfo="skip",
        marker={"symbol": "circle-open", "size": 13, "color": colors.hidden, "line": {"width": 2.4}},
    )  # fmt: skip
    if view.reference_loss is not None:
        figure.add_hline(
            y=view.reference_loss, line={"color": colors.hidden, "dash": "dot", "width": 1.6},
            annotation={"text": "KMeans", "font": {"color": colors.hidden, "size": 12}},
            annotation_position="bottom right",
        )  # fmt: skip
    figure.update_xaxes(title_text="step", range=[0.6, len(losses) + 0.6])
    top = float(np.nanmax([*losses, view.reference_loss or 0]))
    figure.update_yaxes(title_text="z\u00b2 per row", range=[0, 1.2 * top])
    add_frames(
        figure,
        [1],
        [
            [
                {"x": [None], "y": [None], "text": [""]}
                if step < 0 or np.isnan(losses[step])
                else {"x": [step + 1], "y": [float(losses[step])], "text": [f"{losses[step]:.3g}"]}
            ]
            for step in steps
        ],
    )
    return Panel("side", figure, f"Loss falls to {losses[-1]:.3g}; not private.")


def ledger_panel(view: View, frames: list[int], *, height: int = 78) -> Panel:
    """Return one segment per release, lit once it has happened; width is its share of the cost."""
    trace, colors = view.trace, view.colors
    n = len(trace.ledger)
    figure = base(colors, f"Ledger: {n} releases", height=height, margin_left=6)
    figure.update_layout(margin={"l": 6, "r": 6, "t": 30, "b": 6}, barmode="stack", bargap=0)
    figure.update_xaxes(visible=False, range=[0, max(n, 1)])
    figure.update_yaxes(visible=False)
    labels = [f"{entry.name} {entry.occurrence + 1}" if n <= 12 else "" for entry in trace.ledger]
    first_frame = [next((i for i, count in enumerate(frames) if count > j), len(frames) - 1) for j in range(n)]
    figure.add_bar(
        orientation="h", y=[0] * n, x=[0.96] * n, base=[j + 0.02 for j in range(n)], text=labels, textposition="inside",
        insidetextanchor="middle", textangle=0, customdata=first_frame, constraintext="none",
        hovertext=[
            f"{entry.name} {entry.occurrence + 1}: {entry.mechanism}, sensitivity {entry.sensitivity:.3g}, "
            f"scale {entry.scale:.3g}"
            for entry in trace.ledger
        ],
        hoverinfo="text", marker={"color": [colors.released] * n}, textfont={"size": 12, "color": [colors.bg] * n},
    )  # fmt: skip
    add_frames(
        figure,
        [0],
        [
            [
                {
                    "marker": {"color": [colors.released if j < count else colors.grid for j in range(n)]},
                    "textfont": {"size": 12, "color": [colors.bg if j < count else colors.muted for j in range(n)]},
                }
            ]
            for count in frames
        ],
    )
    return Panel("wide", figure, f"{n} releases, in order.")
