"""Draw DPM's true scores of all candidate cuts: at the plane's margins, and as a strip per column. NOT PRIVATE."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz import escape
from dpviz.figures.kit.theme import Theme, base, tag
from dpviz.figures.kit.view import Panel, View, add_frames
from dpviz.trace import Step

__all__ = ["ROOM", "margins", "rails", "scored", "scores_table", "strips", "strips_panel"]

ROOM = 0.14  # room for the scores above a box and to its right, as a share of the box's side
# Shares of a box's side: gap between box and scores, height of the scores, length of a tick.
_GAP, _TALL, _TICK = 0.02, 0.11, 0.03


def scored(view: View) -> bool:
    """Return whether true scores are shown: the view must show hidden layers, and the run must have stored scores."""
    return view.hidden and any(step.hidden for step in view.trace.steps)


def margins(view: View, t: int) -> tuple[np.ndarray, np.ndarray]:
    """Return curves of the true scores at frame t for the plane's margins (NOT PRIVATE), and ticks that mark the cuts.

    Both have the shape (n, 2), in drawn coordinates, with NaN between lines. The curve of the first drawn column runs
    above the box, and that of the second to the right of it; the height shows the score, from the frame's lowest to its
    highest. The last frame makes no cut and shows the ticks of all cuts.
    """
    low, high = view.bounds()
    steps, domain, table = view.trace.steps, view.trace.domain, scores_table(view, t)
    regions = [steps[t]] if steps[t].kind == "region" else [step for step in steps if step.released.get("accepted")]
    tall = _TICK if table.empty else _TALL
    least, most = (table.score.min(), table.score.max()) if table.score.notna().any() else (0.0, 1.0)
    curves, ticks = [np.empty((0, 2))], [np.empty((0, 2))]
    for i, column in enumerate(dict.fromkeys(view.axes or (0,))):
        side = high[1 - i] - low[1 - i]
        foot, head = high[1 - i] + _GAP * side, high[1 - i] + (_GAP + tall) * side
        own = table[table.column == column]
        curve = np.column_stack([own.position, foot + (head - foot) * (own.score - least) / max(most - least, 1e-9)])
        cuts = [step.released["position"] for step in regions if step.released["column"] == column]
        at = np.array(cuts) * domain.half_width[column] + domain.middle[column]
        marks = np.stack([np.repeat(at, 3), np.tile([foot, head, np.nan], len(at))], axis=1)
        turned = slice(None, None, -1 if i else 1)
        curves += [curve[:, turned], np.full((1, 2), np.nan)]
        ticks.append(marks[:, turned])
    return np.concatenate(curves).astype(np.float32), np.concatenate(ticks)


def rails(view: View) -> tuple[float, float]:
    """Return the x on which the scores of the second drawn column stand, and the y on which those of the first do."""
    low, high = view.bounds()
    side = high - low
    return float(high[0] + _GAP * side[0]), float(high[1] + _GAP * side[1])


def strips(view: View, t: int, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return at most `most` tickets of each drawn column at step t, in drawn coordinates. NOT PRIVATE.

    All three arrays have the shape (m, 2): the feet of the tickets at the plane's margins, their ends by score, and
    their ends by chance. Each stands for some neighboring cuts, at the place of the likeliest of them.
    """
    low, high = view.bounds()
    table = scores_table(view, t)
    parts: list[np.ndarray] = []
    known = table[table.score.notna()]
    if known.empty:
        return np.empty((0, 2)), np.empty((0, 2)), np.empty((0, 2))
    for i, column in enumerate(dict.fromkeys(view.axes or (0,))):
        side, foot = high[1 - i] - low[1 - i], rails(view)[1 - i]
        own = known[known.column == column]
        likeliest = [rows[own.probability.to_numpy()[rows].argmax()] for rows in _groups(len(own), most)]
        best = own.iloc[likeliest]
        score = (best.score - known.score.min()) / max(known.score.max() - known.score.min(), 1e-9)
        for share in (np.zeros(len(best)), score, best.probability / table.probability.max()):
            ends = np.column_stack([best.position, foot + _TALL * side * share])
            parts.append(ends[:, ::-1] if i else ends)
    return tuple(np.concatenate(parts[kind::3]).astype(np.float32) for kind in range(3))  # type: ignore[return-value]


def _groups(n: int, most: int) -> list[np.ndarray]:
    return np.array_split(np.arange(n), min(n, most)) if n else []


def scores_table(view: View, t: int) -> pd.DataFrame:
    """Return the TRUE scores of the candidate cuts at frame t (NOT PRIVATE); empty if there are no candidates.

    Columns: column, position (original units), emptiness, centreness, score (their sum, the paper's f), probability (of
    the exponential mechanism). Cuts outside the region have score NaN and probability 0.
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
    """Draw emptiness, centreness and score of every cut, and the chosen cut, step by step."""
    trace = view.trace
    drawn = 1 if trace.domain.n_features == 1 else 2
    tables = [scores_table(view, t) for t in range(len(trace.steps))]
    figure = _empty(view.colors, drawn, "The true scores of the cuts, and their chances")
    updates, layouts = [], []
    for step, table in zip(trace.steps, tables, strict=True):
        probability = table.groupby("column").probability.sum().sort_values(ascending=False)
        chosen = [step.released["column"]] if step.released.get("column", -1) >= 0 else []
        usual = [c for c in (*probability.index, *range(drawn)) if c not in chosen]
        columns = sorted((chosen + list(dict.fromkeys(usual)))[:drawn])
        updates.append([update for column in columns for update in _strip(view, step, table, column)])
        layouts.append({name: _axis(view, column) for name, column in zip(("xaxis", "xaxis2"), columns, strict=False)})
    add_frames(figure, list(range(6 * drawn)), updates, layouts)
    figure.update_layout(layouts[-1])
    return Panel(
        "side", figure, "Curves: true emptiness, centreness and score of every cut, with the released cut. Not private."
    )


def _empty(colors: Theme, strips: int, title: str) -> go.Figure:
    """Return empty strips side by side, each with six traces: bars, three curves, the released cut, and a note."""
    figure = base(colors, title, height=168)
    tag(figure, colors, "NOT PRIVATE ┅ scores", below=True)
    figure.update_layout(bargap=0, barmode="overlay")
    figure.update_yaxes(title_text="score, chance", range=[0, 6.6])
    if strips == 2:
        figure.update_layout(
            xaxis={"domain": [0, 0.48]},
            xaxis2={**figure.layout.xaxis.to_plotly_json(), "domain": [0.52, 1]},
        )
    for axis in ({"xaxis": "x"}, {"xaxis": "x2"})[:strips]:
        figure.add_bar(hoverinfo="skip", marker={"color": colors.hidden, "opacity": 0.35}, **axis)
        for name, dash, width in (("5 × emptiness", "dash", 1.2), ("centreness", "dot", 1.2), ("score", "dot", 2.4)):
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
    return figure


def _strip(view: View, step: Step, table: pd.DataFrame, column: int) -> list[dict[str, Any]]:
    """Return the contents of a column's six traces at a step; `table` holds the step's scores for all columns."""
    domain, intervals = view.trace.domain, view.trace.steps[0].released["intervals"]
    low, high = float(domain.low[column]), float(domain.high[column])
    rows = table[table.column == column]
    blank: dict[str, Any] = {"x": [None], "y": [None]}
    stem = blank
    if rows.empty:  # the bars have length 0
        x, bars, lines = np.linspace(low, high, intervals, dtype=np.float32), np.zeros(intervals), [blank] * 3
        word = "too few rows<br>to cut" if step.kind == "region" else "no cut here:<br>regions are<br>averaged"
    else:
        x = rows.position.astype(np.float32).to_numpy()
        bars = (6 * rows.probability / table.probability.max()).round(3).to_numpy()
        parts = ("emptiness", "centreness", "score")
        lines = [{"x": x, "y": rows[part].astype(np.float32).to_numpy()} for part in parts]
        word = "too narrow<br>to cut along<br>this column" if rows.score.isna().all() else ""
    if step.released.get("column", -1) == column:
        at = step.released["position"] * domain.half_width[column] + domain.middle[column]
        stem = {"x": [at, at], "y": [0, 6.2]}
    note = {"x": [(low + high) / 2], "y": [3.3], "text": [word]}
    return [{"x": x, "y": bars.astype(np.float32), "width": (high - low) / intervals}, *lines, stem, note]


def _axis(view: View, column: int) -> dict[str, Any]:
    """Return the range and the title of the axis of a strip."""
    domain, unit = view.trace.domain, view.units[column]
    title = escape.figure(f"{view.columns[column]}{f' ({unit})' if unit else ''}")
    return {"range": [float(domain.low[column]), float(domain.high[column])], "title": {"text": title}}
