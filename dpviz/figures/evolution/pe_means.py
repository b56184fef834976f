"""Draw PE-means and related algorithms: trial points, votes, survivors, centers, and bars for the largest votes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.figures.kit.layers import NOWHERE, center, disc, disc_sizes, segments
from dpviz.figures.kit.pane import Pane
from dpviz.figures.kit.panels import closing, plane, reference
from dpviz.figures.kit.shots import Shot, split_title
from dpviz.figures.kit.theme import Theme
from dpviz.figures.kit.view import Panel, View, add_frames, moved, xy
from dpviz.figures.kit.votes import KEEP, MAX_TRIALS, TRIAL, VOTE, drawn, votes_panel, voting
from dpviz.numbers import counted, number
from dpviz.trace import Step, Trace

__all__ = ["LEGEND", "PANE", "add_layers", "layers", "lineage_table", "shots", "warning"]

LEGEND = (
    ("dot", "trial point"),
    ("disc", "survivor (area: votes)"),
    ("center", "released center"),
    ("path", "its path"),
    ("diamond", "KMeans"),
    ("ring", "person"),
)
# maximum number of trial points in all frames together; with more, a run of many rounds would exceed 2 MB
MAX_DRAWN = 45_000


def shots(trace: Trace) -> list[Shot]:
    """Return three pictures per round: trial points; noisy votes; survivors and centers."""
    return voting(trace, _words)


def _words(step: Step, phase: int) -> tuple[str, str]:
    released, (head, tail) = step.released, split_title(step)
    if phase == TRIAL:
        size, variations = len(released["population"]), released["variations"]
        if (released["group"] >= 0).any():
            return head, f"{size:,} trial points: the last centers and {variations:,} variations of each"
        return head, f"{size:,} public trial points; no row has been read yet"
    if phase == VOTE:
        noise = f"noise of standard deviation {number(released['noise_sd'], 2)} on every count"
        return head, f"each row votes for its nearest trial point; {noise}"
    if "signal_to_noise" in released and released["round"] < released["rounds"]:
        ratio, variations = released["signal_to_noise"], released["variations"]
        verdict = "stay" if ratio >= 1 else "are halved"
        tail += f"; signal-to-noise ratio {number(ratio, 2)}: the {variations:,} variations per center {verdict}"
    return head, tail


def warning(trace: Trace) -> str:
    """Return a sentence if even all votes of a cluster would not stand out from the noise, else ""."""
    released, n, k = trace.steps[0].released, trace.domain.n_public, len(trace.cluster_centers)
    if n is None or "noise_sd" not in released:
        return ""
    trials, sd = len(released["noisy_votes"]), released["noise_sd"]
    loudest = sd * math.sqrt(2 * math.log(max(trials, 2)))  # approximate expected maximum of this many Gaussian draws
    if n / k >= loudest:
        return ""
    return (
        f"{k} centers for {n:,} rows get about {number(n / k, 2)} votes each, but noise alone reaches "
        f"{number(loudest, 2)} among {trials:,} trial points (±{number(sd, 2)} on every count). "
        "Try fewer centers or a larger epsilon."
    )


def lineage_table(step: Step, key: str = "centers") -> pd.DataFrame:
    """Return the parent of each center: columns center, parent (a center of the previous step; -1 if none), share.

    Each survivor belongs to its nearest center. A center's parent is the previous center from which the largest share
    of its survivors' noisy votes descends; `share` is that share. Only released values are used; `key` is the name
    under which the centers are released.
    """
    released = step.released
    points, votes, group = (released[name][released["kept"]] for name in ("population", "noisy_votes", "group"))
    centers = released[key]
    k = len(centers)
    parents, shares = np.full(k, -1), np.zeros(k)
    if len(points) and (group >= 0).any():
        nearest = ((points[:, None] - centers[None]) ** 2).sum(axis=2).argmin(axis=1)
        weight = np.zeros((k, group.max() + 1))
        np.add.at(weight, (nearest[group >= 0], group[group >= 0]), votes[group >= 0])
        descended = weight.sum(axis=1) > 0
        parents[descended] = weight[descended].argmax(axis=1)
        shares[descended] = weight[descended].max(axis=1) / weight[descended].sum(axis=1)
    return pd.DataFrame({"center": range(k), "parent": parents, "share": shares})


def _origins(step: Step, now: np.ndarray, before: np.ndarray, key: str) -> np.ndarray:
    """Return the drawn position of each center's parent; NaN for a center without a parent."""
    if "population" not in step.released:
        return before if now.shape == before.shape else np.full_like(now, np.nan)
    return _at(before, lineage_table(step, key).parent.to_numpy())


def _at(points: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Return points[index]; NaN for -1 and for an index without a point."""
    return np.vstack([points, np.full((1, 2), np.nan)])[np.where(index < len(points), index, -1)]


def add_layers(figure: go.Figure, colors: Theme) -> list[int]:
    """Add traces for trial points, votes, survivors, paths and centers to a plane; return their numbers."""
    first = len(figure.data)
    soft = {"color": colors.released_soft, "size": 3.2, "opacity": 0.75}
    figure.add_scatter(mode="markers", marker=soft, name="trial point", hoverinfo="skip")
    figure.add_scatter(
        mode="markers", name="noisy votes", hoverinfo="skip", marker={"color": colors.released, "opacity": 0.22}
    )
    figure.add_scatter(name="survivor", hoverinfo="skip", **disc(colors))
    figure.add_scatter(mode="lines", name="path", hoverinfo="skip", line={"color": colors.released, "width": 1.6})
    figure.add_scatter(**center(colors))
    return list(range(first, len(figure.data)))


def layers(
    trace: Trace, shots: Sequence[Shot], flat: Callable[[np.ndarray], np.ndarray], key: str
) -> list[list[dict[str, Any]]]:
    """Return the content of the traces of `add_layers` at every shot; `flat` maps points (m, p) to the plane.

    `key` is the name under which the centers are released.
    """
    most = min(MAX_TRIALS, MAX_DRAWN // len(shots))
    blank = xy(NOWHERE)
    before, updates = NOWHERE, []
    for shot in shots:
        step, phase = trace.steps[shot.step], shot.phase
        released = step.released
        now = flat(released[key])
        trials = votes = survivors = paths = blank
        if "population" in released:
            visible, points, sizes = (
                drawn(released, most),
                flat(released["population"]),
                disc_sizes(released["noisy_votes"]),
            )
            trials = xy(points[visible])
            if phase == TRIAL and len(before):  # trial points are variations of the previous centers
                trials = moved(_at(before, released["group"][visible]), points[visible])
            if phase == VOTE:
                some = visible[released["noisy_votes"][visible] > 0]
                votes = {**xy(points[some]), "marker": {"size": sizes[some]}} if len(some) else blank
            elif phase == KEEP:
                some = visible[released["kept"][visible]]
                survivors = {**xy(points[some]), "marker": {"size": sizes[some]}} if len(some) else blank
        centers = xy(before)
        if phase == KEEP:
            origins = _origins(step, now, before, key)
            known = np.isfinite(origins).all(axis=1)
            centers, paths = moved(origins, now), xy(segments(origins[known], now[known]))
        updates.append([trials, votes, survivors, paths, centers])
        if phase == KEEP:
            before = now
    return updates


def survivors(trace: Trace) -> np.ndarray:
    """Return the mask, shape (m,), of the trial points that survive the last vote."""
    return next(step.released["kept"] for step in reversed(trace.steps) if "kept" in step.released)


def _plane(view: View, shots: Sequence[Shot]) -> Panel:
    trace = view.trace
    mask, k = survivors(trace), len(trace.cluster_centers)
    figure = plane(view, f"In the end {mask.sum():,} of {len(mask):,} trial points give {counted(k, 'center')}")
    traces = add_layers(figure, view.colors)
    reference(view, figure)
    add_frames(figure, traces, layers(trace, shots, view.plane, "centers"))
    return Panel("plane", figure, f"A plane with {k} released centers after {len(trace.steps)} rounds of voting.")


def panels(view: View, shots: list[Shot]) -> list[Panel]:
    """Return the panels: plane, votes, loss (if hidden layers are on), spend and ledger."""
    return [_plane(view, shots), votes_panel(view, shots), *closing(view, shots, "round")]


PANE = Pane(
    draw=panels,
    shots=shots,
    legend=LEGEND,
    caution="A single run is one draw of the noise. Run with another seed before you trust a center. "
    f"At most {MAX_TRIALS} trial points are drawn; all of them receive votes.",
    warning=warning,
)
