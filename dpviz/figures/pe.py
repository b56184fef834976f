"""PE-means and its relatives: guesses, votes, survivors and centers on the plane; the strongest votes as bars."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.figures.panels import ledger_panel, loss_panel, plane, reference, spend_panel
from dpviz.figures.theme import Theme, base, tag
from dpviz.figures.view import Pane, Panel, View, add_frames, thin, xy
from dpviz.trace import Step, Trace

__all__ = [
    "PANE",
    "add_layers",
    "disc_sizes",
    "drawn",
    "layers",
    "lineage_table",
    "marks",
    "releases",
    "sentences",
    "shots",
    "votes_table",
    "votes_panel",
    "warning",
]

GUESS, VOTE, KEEP = range(3)  # a generation takes three frames: guesses, noisy votes, survivors and centers
TOP = 20
MAX_GUESSES = 500
MAX_STRONG = 350  # of these, at most so many are the most voted ones; the rest is a fixed random sample
MAX_DRAWN = 45_000  # guesses over all frames: keeps a run of many rounds below 2 MB


def shots(trace: Trace) -> list[tuple[int, int]]:
    """Return (step, phase) of every frame; a step without a vote shows its centers in one frame."""
    return [
        (t, phase)
        for t, step in enumerate(trace.steps)
        for phase in (range(3) if "noisy_votes" in step.released else (KEEP,))
    ]


def sentences(trace: Trace) -> list[str]:
    """Return what is said at every frame."""
    lines = []
    for t, phase in shots(trace):
        step, said = trace.steps[t], trace.steps[t].released
        head, _, tail = step.title.partition(": ")
        if phase == GUESS:
            size, variations = len(said["population"]), said["variations"]
            tail = f"{size:,} public guesses, no data read yet"
            if (said["group"] >= 0).any():
                tail = f"{size:,} guesses: the last centers and {variations:,} variations of each"
        elif phase == VOTE:
            tail = (
                "each row votes for its nearest guess; "
                f"noise of standard deviation {said['noise_sd']:.1f} on every count"
            )
        elif "signal_to_noise" in said and said["round"] < said["rounds"]:
            verdict = "stay" if said["signal_to_noise"] >= 1 else "are halved"
            tail += f"; signal-to-noise {said['signal_to_noise']:.2g}: {said['variations']:,} variations each {verdict}"
        lines.append(f"{head} · {tail}" if tail else head)
    return lines


def releases(trace: Trace) -> list[int]:
    """Return how many releases exist at every frame: a round's guesses come before its votes."""
    before = [0, *(step.n_releases for step in trace.steps)]
    return [before[t] if phase == GUESS else before[t + 1] for t, phase in shots(trace)]


def marks(trace: Trace) -> list[int]:
    """Return the frames at which a step starts."""
    found = shots(trace)
    return [i for i, (t, _) in enumerate(found) if i == 0 or t != found[i - 1][0]]


def warning(trace: Trace) -> str:
    """Return a sentence if even a whole cluster's votes would not stand out from the noise."""
    said, n, k = trace.steps[0].released, trace.domain.n_public, len(trace.cluster_centers)
    if n is None or "noise_sd" not in said:
        return ""
    guesses, sd = len(said["noisy_votes"]), said["noise_sd"]
    loudest = sd * math.sqrt(2 * math.log(max(guesses, 2)))  # about the largest of so many Gaussian draws
    if n / k >= loudest:
        return ""
    return (
        f"{k} centers of {n:,} rows get about {n / k:,.0f} votes each, but noise alone reaches {loudest:,.0f} among "
        f"{guesses:,} guesses (±{sd:.0f} on every count). Try fewer centers or a larger epsilon."
    )


def votes_table(step: Step, *, hidden: bool, part: str = "votes") -> pd.DataFrame:
    """Return the strongest guesses by NOISY votes: columns rank, noisy_votes, kept, and true_votes when asked.

    `part` names the votes in the hidden statistic.
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
        table["true_votes"] = step.hidden[0].statistic[part][order]
    return table


def lineage_table(step: Step, key: str = "centers") -> pd.DataFrame:
    """Return where each center comes from: columns center, parent (in the step before, -1: none), share.

    A center's survivors are those nearest to it; its parent is the previous center that most of their noisy votes
    descend from, and `share` how many of them. All from released values; `key` names the centers there.
    """
    said = step.released
    points, votes, group = (said[name][said["kept"]] for name in ("population", "noisy_votes", "group"))
    centers = said[key]
    k = len(centers)
    parents, shares = np.full(k, -1), np.zeros(k)
    if len(points) and (group >= 0).any():
        nearest = ((points[:, None] - centers[None]) ** 2).sum(axis=2).argmin(axis=1)
        weight = np.zeros((k, group.max() + 1))
        np.add.at(weight, (nearest[group >= 0], group[group >= 0]), votes[group >= 0])
        found = weight.sum(axis=1) > 0
        parents[found] = weight[found].argmax(axis=1)
        shares[found] = weight[found].max(axis=1) / weight[found].sum(axis=1)
    return pd.DataFrame({"center": range(k), "parent": parents, "share": shares})


def drawn(said: Mapping[str, Any], most: int) -> np.ndarray:
    """Return which guesses are drawn: the most voted ones and a fixed sample of the others."""
    order = np.argsort(-said["noisy_votes"], kind="stable")
    strong = min(max(int(said["kept"].sum()), most // 3), MAX_STRONG, most)
    return np.concatenate([order[:strong], order[strong:][thin(max(len(order) - strong, 0), most - strong)]])


def disc_sizes(noisy_votes: np.ndarray) -> np.ndarray:
    """Return marker sizes in pixels whose area follows the noisy votes."""
    return np.clip(1.1 * np.sqrt(np.maximum(noisy_votes, 0)), 3, 26).astype(np.float32)


def _paths(step: Step, now: np.ndarray, before: np.ndarray, key: str) -> np.ndarray:
    """Return drawn segments from each center's parent to the center, with NaN rows between them."""
    if "population" not in step.released:
        same = now.shape == before.shape
        return np.stack([before, now, np.full_like(now, np.nan)], axis=1).reshape(-1, 2) if same else np.empty((0, 2))
    parent = lineage_table(step, key).parent.to_numpy()
    mine = parent >= 0
    ends = now[mine]
    return np.stack([before[parent[mine]], ends, np.full_like(ends, np.nan)], axis=1).reshape(-1, 2)


def add_layers(figure: go.Figure, colors: Theme) -> list[int]:
    """Add guesses, votes, survivors, paths and centers to a plane; return the numbers of these traces."""
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
    return list(range(first, len(figure.data)))


def layers(trace: Trace, flat: Callable[[np.ndarray], np.ndarray], key: str) -> list[list[dict[str, Any]]]:
    """Return what the traces of `add_layers` show at every frame; `flat` maps points (m, p) to the plane.

    `key` names the centers among the released values.
    """
    frames = shots(trace)
    most = min(MAX_GUESSES, MAX_DRAWN // len(frames))
    none = np.empty((0, 2))
    blank = xy(none)
    before, updates = none, []
    for t, phase in frames:
        step, said = trace.steps[t], trace.steps[t].released
        now = flat(said[key])
        guesses = votes = survivors = paths = blank
        if "population" in said:
            shown, points, sizes = drawn(said, most), flat(said["population"]), disc_sizes(said["noisy_votes"])
            guesses = xy(points[shown])
            if phase == VOTE:
                some = shown[said["noisy_votes"][shown] > 0]
                votes = {**xy(points[some]), "marker": {"size": sizes[some]}} if len(some) else blank
            elif phase == KEEP:
                some = shown[said["kept"][shown]]
                survivors = {**xy(points[some]), "marker": {"size": sizes[some]}} if len(some) else blank
        if phase == KEEP and len(before):
            paths = xy(_paths(step, now, before, key))
        updates.append([guesses, votes, survivors, paths, xy(now if phase == KEEP else before)])
        if phase == KEEP:
            before = now
    return updates


def _plane(view: View) -> Panel:
    trace = view.trace
    figure = plane(view, "Guesses, survivors, centers")
    traces = add_layers(figure, view.colors)
    reference(view, figure)
    add_frames(figure, traces, layers(trace, view.plane, "centers"))
    k = len(trace.cluster_centers)
    return Panel("plane", figure, f"A plane with {k} released centers after {len(trace.steps)} rounds of voting.")


def votes_panel(view: View, word: str = "votes", *, height: int = 168) -> Panel:
    """Return the strongest noisy votes of the last vote as bars, with the keep threshold where one is released.

    `word` is what the votes are called, in the picture and in the hidden statistic.
    """
    trace, colors = view.trace, view.colors
    steps = {t: step for t, step in enumerate(trace.steps) if "noisy_votes" in step.released}
    tables = {t: votes_table(step, hidden=view.hidden, part=word) for t, step in steps.items()}
    true = all("true_votes" in table for table in tables.values())
    figure = base(colors, f"Noisy {word}, top {TOP}", height=height)
    figure.add_bar(name=f"noisy {word}", hovertemplate="%{y:.0f}<extra></extra>")
    figure.add_scatter(mode="lines", name="keep threshold", hoverinfo="skip", line={"color": colors.ink, "width": 1.6})
    if true:
        tag(figure, colors, "NOT PRIVATE ― true")
        figure.add_scatter(
            mode="markers", name=f"true {word} (not private)", hoverinfo="skip",
            marker={"symbol": "line-ew-open", "size": 11, "color": colors.hidden, "line": {"width": 2}},
        )  # fmt: skip
    top, most = max(float(table.noisy_votes.max()) for table in tables.values()), max(map(len, tables.values()))
    figure.update_yaxes(range=[0, 1.12 * max(top, 1.0)])
    figure.update_xaxes(showticklabels=False, ticks="", showgrid=False, range=[0.4, most + 0.6])
    nothing: dict[str, Any] = {"x": [None], "y": [None]}
    updates: list[list[dict[str, Any]]] = []
    for t, phase in shots(trace):
        last = max((voted for voted in tables if voted <= t), default=None)
        if last is None or phase == GUESS:
            updates.append([nothing] * (3 if true else 2))
            continue
        table, threshold = tables[last], steps[last].released.get("threshold")
        ranks = table["rank"].tolist()
        pale = ~table.kept if phase == KEEP else np.zeros(len(table), dtype=bool)
        color = [colors.released_soft if p else colors.released for p in pale]
        bars = {"x": ranks, "y": table.noisy_votes.round(1).tolist(), "marker": {"color": color}}
        line = nothing if threshold is None or phase != KEEP else {"x": [0.4, most + 0.6], "y": [threshold] * 2}
        updates.append([bars, line, *([{"x": ranks, "y": table.true_votes.tolist()}] if true else [])])
    add_frames(figure, list(range(3 if true else 2)), updates)
    return Panel("side", figure, f"The {TOP} strongest noisy {word} of each round; pale ones are dropped.")


def panels(view: View) -> list[Panel]:
    """Return plane, votes, loss (when hidden layers are asked for), spend and ledger."""
    done = releases(view.trace)
    found = [_plane(view), votes_panel(view)]
    if view.hidden and view.losses is not None:
        found.append(loss_panel(view, [t - (phase != KEEP) for t, phase in shots(view.trace)], name="round"))
    return [*found, spend_panel(view, done), ledger_panel(view, done)]


PANE = Pane(
    panels=panels,
    sentences=sentences,
    releases=releases,
    marks=marks,
    legend=(
        ("dot", "guess"),
        ("disc", "survivor (area: votes)"),
        ("center", "released center"),
        ("path", "its path"),
        ("diamond", "KMeans"),
        ("ring", "person"),
    ),
    caution="One run is one draw of the noise. Press Run with another seed before you believe a center. "
    f"At most {MAX_GUESSES} guesses are drawn; all of them are voted on.",
    warning=warning,
)
