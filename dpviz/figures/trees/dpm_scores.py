"""DPM's true scores of every cut that was offered, as strips, one a column. NOT PRIVATE."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dpviz import escape
from dpviz.figures.kit.theme import base, tag
from dpviz.figures.kit.view import Panel, View, add_frames

__all__ = ["scores_table", "strips_panel"]


def scores_table(view: View, t: int) -> pd.DataFrame:
    """Return the TRUE scores of the cuts offered at frame t (NOT PRIVATE): empty where no cut was offered.

    Columns: column, position (original units), emptiness, centreness, score (their sum, the paper's f), probability (of
    the exponential mechanism). Scores of cuts outside the region are NaN, their probability is 0.
    """
    step = view.trace.steps[t]
    names = ["column", "position", "emptiness", "centreness", "score", "probability"]
    true = next((h.statistic for h in step.hidden if h.label == "split"), None)
    if true is None:
        return pd.DataFrame(columns=names)
    released, domain = step.released, view.trace.domain
    scale = next(e.scale for e in view.trace.ledger[: step.n_releases][::-1] if e.label == "split")
    gap = true["utility"] - true["utility"].max()
    weight = np.exp(gap / scale) if scale else (gap == 0).astype(np.float64)
    column, at = np.divmod(np.arange(len(weight)), released["intervals"])
    width = 2 * domain.box_z / released["intervals"]
    z = (at + 0.5) * width[column] - domain.box_z[column]
    n = released["noisy_count"]
    out = np.where(np.isfinite(true["utility"]), 1.0, np.nan)
    return pd.DataFrame(
        {
            "column": column,
            "position": z * domain.half_width[column] + domain.middle[column],
            "emptiness": out * true["emptiness"] / n,
            "centreness": out * (np.nan_to_num(true["utility"], neginf=0) - true["emptiness"]) / n,
            "score": out * np.nan_to_num(true["utility"], neginf=0) / n,
            "probability": weight / weight.sum(),
        }
    )


def strips_panel(view: View) -> Panel:
    """Return emptiness, centreness and score of every cut with the chosen one, step by step."""
    trace, colors = view.trace, view.colors
    strips = 1 if trace.domain.n_features == 1 else 2
    figure = base(colors, "Score of every cut", height=190)
    tag(figure, colors, "NOT PRIVATE ┅ scores")
    figure.update_layout(bargap=0, barmode="overlay")
    figure.update_yaxes(title_text="score; bars: chance", range=[0, 6.6])
    if strips == 2:
        figure.update_layout(
            xaxis={"domain": [0, 0.48]},
            xaxis2={**figure.layout.xaxis.to_plotly_json(), "domain": [0.52, 1]},
        )
    for strip in range(strips):
        axis = {"xaxis": "x" if strip == 0 else "x2"}
        figure.add_bar(hoverinfo="skip", marker={"color": colors.hidden, "opacity": 0.35}, **axis)
        for name, dash, width in (("5 x emptiness", "dash", 1.2), ("centreness", "dot", 1.2), ("score", "dot", 2.4)):
            figure.add_scatter(
                mode="lines", name=name,
                line={"color": colors.hidden if name == "score" else colors.person, "dash": dash, "width": width},
                hovertemplate=f"{name}: %{{y:.2f}}<extra></extra>", **axis,
            )  # fmt: skip
        figure.add_scatter(
            mode="lines+markers", name="released cut", hoverinfo="skip", line={"color": colors.ink, "width": 3},
            marker={"size": [0, 10], "color": colors.ink}, **axis,
        )  # fmt: skip
        figure.add_scatter(mode="text", hoverinfo="skip", textfont={"color": colors.muted}, **axis)
    updates, layouts = [], []
    blank: dict[str, Any] = {"x": [None], "y": [None]}
    intervals = trace.steps[0].released["intervals"]
    for t, step in enumerate(trace.steps):
        table = scores_table(view, t)
        probability = table.groupby("column").probability.sum().sort_values(ascending=False)
        released = step.released
        chosen = [released["column"]] if released.get("column", -1) >= 0 else []
        usual = [c for c in (*probability.index, *range(strips)) if c not in chosen]
        columns = sorted((chosen + list(dict.fromkeys(usual)))[:strips])
        update, layout = [], {}
        for strip, column in enumerate(columns):
            rows = table[table.column == column]
            low, high = float(trace.domain.low[column]), float(trace.domain.high[column])
            word = (
                "too few rows<br>to cut" if step.kind == "region" else "no cut here:<br>regions are<br>averaged"
            ) * rows.empty
            if len(rows):
                x = rows.position.astype(np.float32).to_numpy()
                bars = (6 * rows.probability / table.probability.max()).round(3).to_numpy()
                word = "too narrow<br>to cut along<br>this column" if rows.score.isna().all() else ""
            else:  # bars without a length
                x = np.linspace(low, high, intervals, dtype=np.float32)
                bars = np.zeros(intervals)
            lines = [
                {"x": x, "y": rows[part].astype(np.float32).to_numpy()} if len(rows) else blank
                for part in ("emptiness", "centreness", "score")
            ]
            stem = blank
            if column in chosen:
                at = released["position"] * trace.domain.half_width[column] + trace.domain.middle[column]
                stem = {"x": [at, at], "y": [0, 6.2]}
            note = {"x": [(low + high) / 2], "y": [3.3], "text": [word]}
            width = (high - low) / intervals
            update += [{"x": x.tolist(), "y": bars.tolist(), "width": width}, *lines, stem, note]
            unit = f" ({view.units[column]})" if view.units[column] else ""
            layout["xaxis" if strip == 0 else "xaxis2"] = {
                "range": [low, high],
                "title": {"text": escape.figure(f"{view.columns[column]}{unit}")},
            }
        updates.append(update)
        layouts.append(layout)
    add_frames(figure, list(range(6 * strips)), updates, layouts)
    figure.update_layout(layouts[-1])
    return Panel(
        "wide", figure, "True emptiness, centreness and score of every cut, with the released cut. Not private."
    )
