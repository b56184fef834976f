"""PE-means and its relatives: guesses, votes, survivors and centers on the plane; the strongest votes as bars."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from dpviz.figures.panels import ledger_panel, loss_panel, plane, reference, spend_panel
from dpviz.figures.theme import base, tag
from dpviz.figures.view import Pane, Panel, View, add_frames, thin, xy
from dpviz.trace import Step, Trace

__all__ = ["PANE", "disc_sizes", "drawn", "lineage_frame", "marks", "releases", "shots", "votes_frame"]

GUESS, VOTE, KEEP = range(3)  # a generation takes three frames: guesses, noisy votes, survivors and centers
TOP = 20
MAX_GUESSES = 500
MAX_STRONG = 350  # of these, at most so many are the most voted ones; the rest is a fixed random sample
MAX_DRAWN = 120_000  # guesses over all frames: keeps a run of many rounds below 2 MB


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
        lines.append(f"{head} \u00b7 {tail}" if tail else head)
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
        f"{guesses:,} guesses (\u00b1{sd:.0f} on every count). Try fewer centers or a larger epsilon."
    )


def votes_frame(step: Step, *, hidden: bool, part: str = "votes") -> pd.DataFrame:
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


def lineage_frame(step: Step) -> pd.DataFrame:
    """Return where each center comes from: columns center, parent (in the step before, -1: none), share.

    A center's survivors are those nearest to it; its parent is the previous center that most of their noisy votes
    descend from, and `share` how many of them. All from released values.
    """
    said = step.released
    points, votes, group = (said[name][said["kept"]] for name in ("population", "noisy_votes", "group"))
    centers = said["centers"]
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


def _paths(step: Step, now: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Return drawn segments from each center's parent to the center, with NaN rows between them."""
    if "population" not in step.released:
        same = now.shape == before.shape
        return np.stack([before, now, np.full_like(now, np.nan)], axis=1).reshape(-1, 2) if same else np.empty((0, 2))
    parent = lineage_frame(step).parent.to_numpy()
    mine = parent >= 0
    ends = now[mine]
    return np.stack([before[parent[mine]], ends, np.full_like(ends, np.nan)], axis=1).reshape(-1, 2)


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
    frames = shots(trace)
    most = min(MAX_GUESSES, MAX_DRAWN // len(frames))
    none = np.empty((0, 2))
    blank = xy(none)
    before, updates = none, []
    for t, phase in frames:
        step, said = trace.steps[t], trace.steps[t].released
        now = view.plane(said["centers"]) if "centers" in said else none
        guesses = votes = survivors = paths = blank
        if "population" in said and said["population"].shape[1] == trace.domain.n_features:  # else: projected
            shown, points = drawn(said, most), view.plane(said["population"])
            counts = said["noisy_votes"]
            sizes = disc_sizes(counts)
            guesses = xy(points[shown])
            if phase == VOTE:
                some = shown[counts[shown] > 0]
                votes = {**xy(points[some]), "marker": {"size": sizes[some]}} if len(some) else blank
            elif phase == KEEP:
                some = shown[said["kept"][shown]]
                survivors = {**xy(points[some]), "marker": {"size": sizes[some]}} if len(some) else blank
        if phase == KEEP and len(before):
            paths = xy(_paths(step, now, before))
        updates.append([guesses, votes, survivors, paths, xy(now if phase == KEEP else before)])
        if phase == KEEP:
            before = now
    reference(view, figure)
    add_frames(figure, list(range(first, first + 5)), updates)
    k = len(trace.cluster_centers)
    return Panel("plane", figure, f"A plane with {k} released centers after {len(trace.steps)} rounds of voting.")


def _votes(view: View, *, height: int = 168) -> Panel:
    trace, colors = view.trace, view.colors
    tables = {t: votes_frame(s, hidden=view.hidden) for t, s in enumerate(trace.steps) if "noisy_votes" in s.released}
    true = all("true_votes" in table for table in tables.values())
    figure = base(colors, f"Noisy votes, top {TOP}", height=height)
    figure.add_bar(name="noisy votes", hovertemplate="%{y:.0f}<extra></extra>")
    if true:
        tag(figure, colors, "NOT PRIVATE \u2015 true")
        figure.add_scatter(
            mode="markers", name="true votes (not private)", hoverinfo="skip",
            marker={"symbol": "line-ew-open", "size": 11, "color": colors.hidden, "line": {"width": 2}},
        )  # fmt: skip
    top = max(float(table.noisy_votes.max()) for table in tables.values())
    figure.update_yaxes(range=[0, 1.12 * max(top, 1.0)])
    figure.update_xaxes(showticklabels=False, ticks="", showgrid=False, range=[0.4, TOP + 0.6])
    updates: list[list[dict[str, Any]]] = []
    for t, phase in shots(trace):
        if phase == GUESS:
            bars: dict[str, Any] = {"x": [None], "y": [None]}
            ticks = bars
        else:
            table = tables[min(t, max(tables))]  # a step without a vote keeps the last one's
            pale = ~table.kept if phase == KEEP else np.zeros(len(table), dtype=bool)
            color = [colors.released_soft if p else colors.released for p in pale]
            height_ = table.noisy_votes.round(1).tolist()
            bars = {"x": table["rank"].tolist(), "y": height_, "marker": {"color": color}}
            ticks = {"x": table["rank"].tolist(), "y": table.true_votes.tolist()} if true else {}
        updates.append([bars, ticks] if true else [bars])
    add_frames(figure, [0, 1] if true else [0], updates)
    return Panel("side", figure, f"The {TOP} strongest noisy vote counts of each round; pale ones are dropped.")


def panels(view: View) -> list[Panel]:
    """Return plane, votes, loss (when hidden layers are asked for), spend and ledger."""
    done = releases(view.trace)
    found = [_plane(view), _votes(view)]
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
        ("path", "where it came from"),
        ("diamond", "KMeans"),
        ("ring", "person"),
    ),
    caution="One run is one draw of the noise. Press Run with another seed before you believe a center. "
    f"At most {MAX_GUESSES} guesses are drawn; all of them are voted on.",
    warning=warning,
)
