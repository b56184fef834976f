"""PE-means: guesses, votes, survivors and centers on the plane; the strongest votes as bars."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dpviz.figures.panels import (
    MAX_GUESSES,
    Panel,
    View,
    add_frames,
    ledger_panel,
    loss_panel,
    plane,
    reference,
    spend_panel,
    thin,
    xy,
)
from dpviz.figures.theme import base, tag
from dpviz.trace import Step, Trace

__all__ = ["marks", "panels", "releases", "sentences", "votes_frame"]

PHASES = 3  # guesses, noisy votes, survivors and centers: three frames a generation
TOP = 20


def sentences(trace: Trace) -> list[str]:
    """Return what is said at every frame."""
    rounds, lines = len(trace.steps), []
    for t, step in enumerate(trace.steps, start=1):
        said = step.released
        size, kept = len(said["population"]), int(said["kept"].sum())
        where = "public guesses, no data read yet" if t == 1 else "guesses around the last centers"
        ratio = said["signal_to_noise"]
        verdict = f"signal-to-noise {ratio:.2g}, so {said['variations']:,} variations each "
        verdict += "stay" if ratio >= 1 else "are halved"
        lines += [
            f"Round {t} of {rounds} \u00b7 {size:,} {where}",
            f"Round {t} of {rounds} \u00b7 each row votes for its nearest guess; "
            f"noise of standard deviation {said['noise_sd']:.1f} on every count",
            f"Round {t} of {rounds} \u00b7 {kept:,} guesses keep enough votes; "
            f"k-means on them gives {len(said['centers'])} centers; {verdict}",
        ]
    return lines


def marks(trace: Trace) -> list[int]:
    """Return the frames at which a round starts."""
    return list(range(0, PHASES * len(trace.steps), PHASES))


def releases(trace: Trace) -> list[int]:
    """Return how many releases have happened at every frame."""
    return [t + (phase > 0) for t in range(len(trace.steps)) for phase in range(PHASES)]


def votes_frame(step: Step, *, hidden: bool) -> pd.DataFrame:
    """Return the strongest guesses by NOISY votes: columns rank, noisy_votes, kept, and true_votes when asked."""
    order = np.argsort(-step.released["noisy_votes"], kind="stable")[:TOP]
    table = pd.DataFrame(
        {
            "rank": range(1, len(order) + 1),
            "noisy_votes": step.released["noisy_votes"][order],
            "kept": step.released["kept"][order],
        }
    )
    if hidden and step.hidden:
        table["true_votes"] = step.hidden[0].statistic["votes"][order]
    return table


def _plane(view: View) -> Panel:
    trace, colors = view.trace, view.colors
    figure = plane(view, "Guesses, survivors, centers")
    first = len(figure.data)
    soft = {"color": colors.released_soft, "size": 3.2, "opacity": 0.75}
    figure.add_scatter(mode="markers", marker=soft, name="guess", hoverinfo="skip")
    figure.add_scatter(
        mode="markers", name="noisy votes", hoverinfo="skip", marker={"color": colors.released, "opacity": 0.22}
    )
    figure.add_scatter(
        mode="markers", name="survivor", hoverinfo="skip",
        marker={"color": colors.released, "opacity": 0.6, "line": {"color": colors.panel, "width": 0.8}},
    )  # fmt: skip
    figure.add_scatter(mode="lines", name="path", hoverinfo="skip", line={"color": colors.released, "width": 1.6})
    figure.add_scatter(
        mode="markers", name="released center",
        marker={"color": colors.released, "size": 12, "line": {"color": colors.ink, "width": 2}},
    )  # fmt: skip
    updates: list[list[dict[str, Any]]] = []
    for t, step in enumerate(trace.steps):
        said = step.released
        votes, points = said["noisy_votes"], view.plane(said["population"])
        order = np.argsort(-votes, kind="stable")
        strong, rest = order[:300], order[300:]
        shown = np.concatenate([strong, rest[thin(len(rest), MAX_GUESSES - 300)]])
        sizes = np.clip(1.1 * np.sqrt(np.maximum(votes, 0)), 3, 26)
        voted = shown[votes[shown] > 0]
        kept = shown[said["kept"][shown]]
        before = None if t == 0 else view.plane(trace.steps[t - 1].released["centers"])
        old = xy(np.empty((0, 2)) if before is None else before)
        blank: dict[str, Any] = xy(np.empty((0, 2)))
        now = view.plane(said["centers"])
        guesses = xy(points[shown])
        survivors = xy(points[kept]) | {"marker": {"size": np.round(sizes[kept], 1).tolist()}}
        updates += [
            [guesses, blank, blank, blank, old],
            [guesses, xy(points[voted]) | {"marker": {"size": np.round(sizes[voted], 1).tolist()}}, blank, blank, old],
            [guesses, blank, survivors, xy(_paths(said, now, before)), xy(now)],
        ]
    reference(view, figure)
    add_frames(figure, list(range(first, first + 5)), updates)
    k = len(trace.cluster_centers)
    return Panel("plane", figure, f"A plane with {k} released centers after {len(trace.steps)} rounds of voting.")


def _paths(said: Any, now: np.ndarray, before: np.ndarray | None) -> np.ndarray:
    """Return segments from each center's nearest previous center, None-separated as NaN rows."""
    if before is None:
        return np.empty((0, 2))
    start = before[((now[:, None] - before[None]) ** 2).sum(axis=2).argmin(axis=1)]
    return np.stack([start, now, np.full_like(now, np.nan)], axis=1).reshape(-1, 2)


def _votes(view: View, *, height: int = 168) -> Panel:
    trace, colors = view.trace, view.colors
    tables = [votes_frame(step, hidden=view.hidden) for step in trace.steps]
    true = all("true_votes" in table for table in tables)
    figure = base(colors, f"Noisy votes, top {TOP}", height=height)
    figure.add_bar(name="noisy votes", hovertemplate="%{y:.0f}<extra></extra>")
    if true:
        tag(figure, colors, "NOT PRIVATE \u2015 true")
        figure.add_scatter(
            mode="markers", name="true votes (not private)", hoverinfo="skip",
            marker={"symbol": "line-ew-open", "size": 11, "color": colors.hidden, "line": {"width": 2}},
        )  # fmt: skip
    top = max(float(table.noisy_votes.max()) for table in tables)
    figure.update_yaxes(range=[0, 1.12 * max(top, 1.0)])
    figure.update_xaxes(showticklabels=False, range=[0.4, TOP + 0.6], title_text="strongest guesses")
    updates: list[list[dict[str, Any]]] = []
    for table in tables:
        for phase in range(PHASES):
            if phase == 0:
                bars: dict[str, Any] = {"x": [None], "y": [None]}
                ticks: dict[str, Any] = {"x": [None], "y": [None]}
            else:
                kept = table.kept if phase == 2 else np.ones(len(table), dtype=bool)
                color = [colors.released if k else colors.released_soft for k in kept]
                bars = {
                    "x": table["rank"].tolist(),
                    "y": table.noisy_votes.round(2).tolist(),
                    "marker": {"color": color},
                }
                ticks = {"x": table["rank"].tolist(), "y": table.true_votes.tolist()} if true else {}
            updates.append([bars, ticks] if true else [bars])
    add_frames(figure, [0, 1] if true else [0], updates)
    return Panel("side", figure, f"The {TOP} strongest noisy vote counts of each round.")


def panels(view: View) -> list[Panel]:
    """Return plane, votes, loss (when hidden layers are asked for), spend and ledger."""
    happened = releases(view.trace)
    steps = [t - (phase < 2) for t in range(len(view.trace.steps)) for phase in range(PHASES)]
    found = [_plane(view), _votes(view)]
    if view.hidden and view.losses is not None:
        found.append(loss_panel(view, steps))
    return [*found, spend_panel(view, happened), ledger_panel(view, happened)]
