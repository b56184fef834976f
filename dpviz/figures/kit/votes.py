"""Draw votes for trial points: the order of pictures, the choice of drawn points, and bars for the largest votes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpviz.figures.kit.layers import TOP, true_tick, waiting
from dpviz.figures.kit.shots import Shot, in_phases
from dpviz.figures.kit.theme import base, tag
from dpviz.figures.kit.view import Panel, View, add_frames, thin
from dpviz.trace import Step, Trace

__all__ = ["TRIAL", "KEEP", "MAX_TRIALS", "VOTE", "drawn", "voting", "votes_panel", "votes_table"]

TRIAL, VOTE, KEEP = range(3)  # the three pictures of a round: trial points, noisy votes, then survivors and centers
MAX_TRIALS = 500
MAX_STRONG = 350  # maximum number of points drawn for their votes; the other drawn points are a fixed random sample


def voting(trace: Trace, words: Callable[[Step, int], tuple[str, str]]) -> list[Shot]:
    """Return the pictures of a run: three per round, with trial points before votes; one for any other step."""
    return in_phases(trace, lambda step: range(3) if "noisy_votes" in step.released else (KEEP,), words, asking=TRIAL)


def votes_table(step: Step, *, hidden: bool, part: str = "votes") -> pd.DataFrame:
    """Return the trial points with the most NOISY votes: columns rank, noisy_votes, kept and, if `hidden`, true_votes.

    `part` is the name of the votes in a hidden statistic of several parts.
    """
    order = np.argsort(-step.released["noisy_votes"], kind="stable")[:TOP]
    table = pd.DataFrame(
        {
            "rank": range(1, len(order) + 1),
            "noisy_votes": step.released["noisy_votes"][order],
            "kept": step.released["kept"][order],
        }
    )
    if hidden and step.hidden:
        true = step.hidden[0].statistic
        table["true_votes"] = (true[part] if part in true else next(iter(true.values())))[order]
    return table


def drawn(released: Mapping[str, Any], most: int) -> np.ndarray:
    """Return the indices of the trial points to draw: those with the most votes, and a fixed sample of the others."""
    order = np.argsort(-released["noisy_votes"], kind="stable")
    strong = min(max(int(released["kept"].sum()), most // 3), MAX_STRONG, most)
    return np.concatenate([order[:strong], order[strong:][thin(max(len(order) - strong, 0), most - strong)]])


def votes_panel(view: View, shots: Sequence[Shot], word: str = "votes") -> Panel:
    """Draw the largest noisy votes of the latest round as bars, and the threshold for keeping points if it is released.

    `word` is the name of the votes in the picture and in the hidden statistic.
    """
    trace, colors = view.trace, view.colors
    steps = {t: step for t, step in enumerate(trace.steps) if "noisy_votes" in step.released}
    tables = {t: votes_table(step, hidden=view.hidden, part=word) for t, step in steps.items()}
    true = all("true_votes" in table for table in tables.values())
    figure = base(colors, f"The {TOP} largest noisy {word} of a round", height=150)
    figure.add_bar(name=f"noisy {word}", hovertemplate="%{y:.0f}<extra></extra>")
    figure.add_scatter(mode="lines", name="keep threshold", hoverinfo="skip", line={"color": colors.ink, "width": 1.6})
    if true:
        tag(figure, colors, "NOT PRIVATE ― true", below=True)
        figure.add_scatter(name=f"true {word} (not private)", **true_tick(colors, 6))
    top, most = max(float(table.noisy_votes.max()) for table in tables.values()), max(map(len, tables.values()))
    figure.update_yaxes(range=[0, 1.12 * max(top, 1.0)])
    figure.update_xaxes(showticklabels=False, ticks="", showgrid=False, range=[0.4, most + 0.6])
    nothing: dict[str, Any] = {"x": [None], "y": [None]}
    updates: list[list[dict[str, Any]]] = []
    for shot in shots:
        last = max((voted for voted in tables if voted <= shot.step), default=None)
        if last is None or shot.phase == TRIAL:
            updates.append([*[nothing] * (3 if true else 2), {"text": [f"{word} appear at the next step"]}])
            continue
        table, threshold = tables[last], steps[last].released.get("threshold")
        ranks = table["rank"].tolist()
        pale = ~table.kept if shot.phase == KEEP else np.zeros(len(table), dtype=bool)
        color = [colors.released_soft if p else colors.released for p in pale]
        bars = {"x": ranks, "y": table.noisy_votes.round(1).tolist(), "marker": {"color": color}}
        line = nothing if threshold is None or shot.phase != KEEP else {"x": [0.4, most + 0.6], "y": [threshold] * 2}
        updates.append([bars, line, *([{"x": ranks, "y": table.true_votes.tolist()}] if true else []), {"text": [""]}])
    last_trace = waiting(figure, colors, (most + 1) / 2, 0.5 * max(top, 1.0))
    add_frames(figure, list(range(last_trace + 1)), updates)
    return Panel("side", figure, f"Bars: the {TOP} strongest noisy {word} of each round; pale ones are dropped.")
