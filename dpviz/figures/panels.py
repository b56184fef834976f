"""Panels that every family shares: the plane with its public bounds, loss, spend and ledger."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.figures.theme import base, tag
from dpviz.figures.view import Panel, View, add_frames, thin, xy
from dpviz.privacy.ledger import spent
from dpviz.trace import Trace

__all__ = ["ledger_table", "ledger_panel", "loss_panel", "plane", "reference", "spend_table", "spend_panel", "whole"]

MAX_PEOPLE = 800


def plane(view: View, title: str, *, height: int = 508) -> go.Figure:
    """Return a plane with the public bounds; people if they are asked for. Draw more, then call `reference`."""
    colors = view.colors
    figure = base(colors, title, height=height)
    low, high = view.bounds()
    pad = 0.04 * (high - low)
    x_title, y_title = view.axis_titles()
    figure.update_xaxes(range=[low[0] - pad[0], high[0] + pad[0]], title_text=x_title, fixedrange=False)
    figure.update_yaxes(range=[low[1] - pad[1], high[1] + pad[1]], title_text=y_title, fixedrange=False)
    if view.trace.domain.n_features == 1:
        figure.update_yaxes(showticklabels=False)
    if view.trace.domain.scale == "common":  # equal scales; the transport fits the height to the width by `meta`
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
            **xy(view.flat(view.reference)), mode="markers", name=f"{view.against} (not private)",
            marker={"symbol": "diamond-open", "size": 20, "color": view.colors.hidden, "line": {"width": 2.2}},
        )  # fmt: skip
        shown.append(f"◇ {view.against}")
    if view.missed is not None and len(view.missed[2]):
        _rings(view, figure, *view.missed)
        shown.append("◌ no center")
    if view.people is not None:
        shown.append("○ people")
    tag(figure, view.colors, "NOT PRIVATE  " + " · ".join(shown), inside=True)


def _rings(view: View, figure: go.Figure, means: np.ndarray, radii: np.ndarray, sizes: np.ndarray) -> None:
    """Ring the groups that got no center, dashed, each with its size."""
    low, high = view.bounds()
    if view.axes is None or means.shape[1] == 1:
        width = np.broadcast_to(0.06 * (high - low), (len(means), 2))
    else:
        width = np.maximum(2 * radii[:, list(view.axes)], 0.03 * (high - low))
    angle = np.linspace(0, 2 * np.pi, 41)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    middle = view.flat(means)
    rings = middle[:, None] + width[:, None] * circle[None]
    broken = np.concatenate([rings, np.full((len(rings), 1, 2), np.nan)], axis=1).reshape(-1, 2)
    figure.add_scatter(
        **xy(broken), mode="lines", name="group without a center (not private)", hoverinfo="skip",
        line={"color": view.colors.hidden, "width": 2, "dash": "dash"},
    )  # fmt: skip
    figure.add_scatter(
        **xy(middle + np.stack([0 * width[:, 0], width[:, 1]], axis=1)), mode="text", hoverinfo="skip",
        text=[f"{size:,} without a center" for size in sizes], textposition="top center",
        textfont={"color": view.colors.hidden, "size": 12},
    )  # fmt: skip


def spend_table(trace: Trace) -> pd.DataFrame:
    """Return epsilon spent after every release at the run's delta: columns release, label, epsilon."""
    delta = trace.claimed.delta
    values = [spent(trace.ledger[:i], delta).epsilon for i in range(len(trace.ledger) + 1)]
    labels = ["", *(entry.name for entry in trace.ledger)]
    return pd.DataFrame({"release": range(len(values)), "label": labels, "epsilon": values})


def ledger_table(trace: Trace) -> pd.DataFrame:
    """Return one row a release: release, label, mechanism, sensitivity, scale, share, epsilon, reason.

    `share` is the part of mu^2 it takes where every release is Gaussian, else NaN; `epsilon` is the total so far.
    """
    gaussian = all(entry.mechanism == "Gaussian" for entry in trace.ledger)
    squares = np.array([(entry.sensitivity / entry.scale) ** 2 if gaussian else np.nan for entry in trace.ledger])
    return pd.DataFrame(
        {
            "release": range(1, len(trace.ledger) + 1),
            "label": [f"{entry.name} {entry.occurrence + 1}" for entry in trace.ledger],
            "mechanism": [entry.mechanism for entry in trace.ledger],
            "sensitivity": [entry.sensitivity for entry in trace.ledger],
            "scale": [entry.scale for entry in trace.ledger],
            "share": squares / squares.sum(),
            "epsilon": spend_table(trace).epsilon.to_numpy()[1:],
            "reason": [entry.reason for entry in trace.ledger],
        }
    )


def spend_panel(view: View, frames: list[int], *, height: int = 160) -> Panel:
    """Return the epsilon curve; `frames[i]` is how many releases have happened at frame i."""
    table, colors = spend_table(view.trace), view.colors
    figure = base(colors, "ε spent so far", height=height)
    releases, epsilon = table.release.tolist(), table.epsilon.tolist()
    marks = "lines+markers" if len(table) <= 40 else "lines"
    figure.add_scatter(
        x=releases, y=epsilon, mode=marks, line={"color": colors.released_soft, "width": 1.6}, hoverinfo="skip"
    )
    figure.add_scatter(
        x=[0], y=[0], mode=marks, line={"color": colors.released, "width": 2.4},
        name="spent", hovertemplate="after release %{x}: ε = %{y:.3g}<extra></extra>",
    )  # fmt: skip
    figure.add_scatter(
        x=[0], y=[0], mode="text", text=[""], textposition="top left", cliponaxis=False, hoverinfo="skip"
    )
    figure.update_xaxes(title_text="release", range=[-0.3, len(table) - 0.5], dtick=whole(len(table)))
    figure.update_yaxes(title_text="ε", range=[0, 1.25 * max(epsilon)])
    updates: list[list[dict[str, Any]]] = [
        [
            {"x": np.arange(n + 1, dtype=np.uint16), "y": np.asarray(epsilon[: n + 1], dtype=np.float32)},
            {"x": [n], "y": [epsilon[n]], "text": [f"{epsilon[n]:.2f}"]},
        ]
        for n in frames
    ]
    add_frames(figure, [1, 2], updates)
    return Panel("side", figure, f"Epsilon spent rises to {epsilon[-1]:.2f} over {len(table) - 1} releases.")


def loss_panel(view: View, steps: list[int], *, height: int = 172, name: str = "step") -> Panel:
    """Return the loss of every step beside KMeans; `steps[i]` is the step shown at frame i (-1: none yet)."""
    colors, losses = view.colors, view.losses
    what, against = "k-median cost" if view.against == "KMedians" else "Loss", view.against
    figure = base(colors, f"{what} after each {name}", height=height)
    tag(figure, colors)
    if losses is None:
        raise ValueError("figures: loss_panel needs losses.")
    rounds = list(range(1, len(losses) + 1))
    values = [None if np.isnan(loss) else float(loss) for loss in losses]
    figure.add_scatter(
        x=rounds, y=values, mode="lines+markers" if len(rounds) <= 40 else "lines",
        hovertemplate=f"{name} %{{x}}: %{{y:.4g}}<extra></extra>",
        line={"color": colors.person, "width": 1.6}, marker={"symbol": "circle-open", "size": 8},
    )  # fmt: skip
    figure.add_scatter(
        x=[None], y=[None], mode="markers+text", cliponaxis=False, hoverinfo="skip",
        marker={"symbol": "circle-open", "size": 13, "color": colors.hidden, "line": {"width": 2.4}},
    )  # fmt: skip
    if view.reference_loss is not None:
        figure.add_hline(
            y=view.reference_loss, line={"color": colors.hidden, "dash": "dot", "width": 1.6},
            annotation={"text": against, "font": {"color": colors.hidden, "size": 12}},
            annotation_position="bottom right",
        )  # fmt: skip
    figure.update_xaxes(title_text=name, range=[0.6, len(losses) + 0.6], dtick=whole(len(losses)))
    top = max([value for value in values if value is not None] + [view.reference_loss or 0.0])
    unit = "z" if view.against == "KMedians" else "z²"
    figure.update_yaxes(title_text=f"{unit} per row", range=[0, 1.25 * top])
    best, updates = view.reference_loss, []
    for step in steps:
        here = values[step] if step >= 0 else None
        text = "" if here is None else f"{here / best:.2f}×" if best else f"{here:.3g}"
        side = "left" if step > len(losses) / 2 else "right"  # of the ring, so that it stays inside
        place = {"x": [None if here is None else step + 1], "y": [here]}
        updates.append([{**place, "text": [text], "textposition": f"top {side}"}])
    add_frames(figure, [1], updates)
    beside = f", {losses[-1] / best:.2f} times {against}'" if best else ""
    return Panel("side", figure, f"{what} ends at {losses[-1]:.3g}{beside}. Not private.")


def ledger_panel(view: View, frames: list[int], *, height: int = 74) -> Panel:
    """Return one segment per release, lit once it has happened; as wide as its share of mu^2 where that exists."""
    table, colors = ledger_table(view.trace), view.colors
    n = len(table)
    shared = bool(n) and not table.share.isna().any()
    width = table.share.to_numpy() * n if shared else np.ones(n)
    gap = min(0.004 * n, 0.3 * width.min()) if n else 0.0
    equal = shared and np.ptp(width) < 1e-9
    words = ", equal shares of μ²" if equal else ", width = share of μ²" if shared else ", in order"
    figure = base(colors, f"Ledger: {n} release{'s' * (n != 1)}{words}", height=height)
    figure.update_layout(
        margin={"l": 6, "r": 6, "t": 30, "b": 6}, bargap=0, uniformtext={"minsize": 11, "mode": "hide"}
    )
    figure.update_xaxes(visible=False, range=[0, max(n, 1)])
    figure.update_yaxes(visible=False)
    first_frame = [next((i for i, count in enumerate(frames) if count > j), len(frames) - 1) for j in range(n)]
    figure.add_bar(
        orientation="h", y=[0] * n, x=(width - gap).tolist(), base=(np.cumsum(width) - width + gap / 2).tolist(),
        text=table.label.tolist(), textposition="inside", insidetextanchor="middle",
        textangle=0, customdata=first_frame, hoverinfo="text",
        marker={"cmin": 0, "cmax": 1, "colorscale": [[0, colors.grid], [1, colors.released]]},
        hovertext=[
            f"{row.label}: {row.mechanism}, sensitivity {row.sensitivity:.3g}, scale {row.scale:.3g}, "
            f"ε so far {row.epsilon:.3g}"
            for row in table.itertuples()
        ],
    )  # fmt: skip
    updates = [
        [
            {
                "marker": {"color": (np.arange(n) < count).astype(np.uint8)},
                **(
                    {"textfont": {"size": 12, "color": [colors.bg if j < count else colors.muted for j in range(n)]}}
                    if n <= 40
                    else {}
                ),
            }
        ]
        for count in frames
    ]
    add_frames(figure, [0], updates)
    return Panel("wide", figure, f"{n} releases in order, all of them made at the end.")


def whole(n: int) -> int:
    """Return a tick distance that keeps ticks on whole numbers."""
    return next(step for step in (1, 2, 5, 10, 20, 50, 100, 200, 500, 10**6) if n / step <= 10)
