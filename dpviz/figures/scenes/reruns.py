"""Draw clouds of released centers from several runs, and the runs' losses as a dot plot with one dot per run."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpviz.figures.kit.layers import center, layered
from dpviz.figures.kit.theme import base, tag
from dpviz.figures.kit.view import Panel, View, add_frames, xy
from dpviz.numbers import counted, number, percent, ratio_words

__all__ = ["LEGEND", "Cloud", "clouds", "dots_table", "numbers_of_centers", "one_by_one"]

LEGEND = (
    ("disc", "a center of a rerun"),
    ("hoop", "centers of the run above"),
    ("diamond", "KMeans"),
    ("ring", "person"),
)
CLOSE = 1.1  # position of the dot plot's dashed line, in multiples of the loss of KMeans or KMedians
_BINS = 34  # number of stacks of dots
_TICKS = (0.1, 0.2, 0.5, 0.8, 0.9, 1.0, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1e3, 1e4, 1e5, 1e6)


@dataclasses.dataclass(frozen=True, eq=False)
class Cloud:
    """The results of several runs.

    Attributes
    ----------
    label : the setting that the runs share, such as "ε 1"
    centers : one array (k', d) per run, original units
    ratios : ndarray of shape (runs,), the runs' losses divided by that of KMeans (or KMedians) on the same people, or
        None
    """

    label: str
    centers: tuple[np.ndarray, ...]
    ratios: np.ndarray | None = None


def dots_table(ratios: np.ndarray, low: float, high: float) -> pd.DataFrame:
    """Return the position of each run's dot: columns run, ratio, x (the ratio of its stack), height (1 is the lowest).

    All stacks are equally wide on a log axis from `low` to `high`; within a stack, runs with less loss are lower.
    """
    edges = np.linspace(np.log(low), np.log(high), _BINS + 1)
    middle = (edges[:-1] + edges[1:]) / 2
    column = np.clip(np.searchsorted(edges, np.log(ratios), side="right") - 1, 0, _BINS - 1)
    order = np.lexsort((ratios, column))
    table = pd.DataFrame(
        {"run": order + 1, "ratio": ratios[order], "column": column[order], "x": np.exp(middle[column[order]])}
    )
    table["height"] = table.groupby("column").cumcount() + 1
    return table.drop(columns="column").sort_values("run", ignore_index=True)


def numbers_of_centers(runs: Sequence[np.ndarray]) -> str:
    """Return how many centers these runs release, as text: "5 centers", or "5 to 7 centers"."""
    few, many = min(map(len, runs), default=0), max(map(len, runs), default=0)
    return f"{few} to {counted(many, 'center')}" if few < many else counted(many, "center")


def unlike(runs: Sequence[np.ndarray], k: int, against: str) -> str:
    """Return why the runs' losses cannot be compared with the loss of k centers, or "" if they can."""
    return f"{numbers_of_centers(runs)} where {against} has {k}: not comparable" if {*map(len, runs)} - {k} else ""


def clouds(view: View, in_turn: Sequence[Cloud], title: str, note: str = "", *, first: bool = False) -> list[Panel]:
    """Draw a plane and, if there are losses, a dot plot, with one frame per cloud and the same axes in all frames.

    `note`, such as "simulated", is written in the picture unless hidden layers are on. The rings mark the first run of
    the cloud shown if `first`, and otherwise the view's run.
    """
    every = [np.concatenate([*cloud.centers, np.empty((0, view.trace.domain.n_features))]) for cloud in in_turn]
    frames: list[dict[str, Any]] = [{"cloud": xy(view.flat(points))} for points in every]
    if first:
        frames = [{**frame, "own": xy(view.flat(one.centers[0]))} for frame, one in zip(frames, in_turn, strict=True)]
    last = in_turn[-1]
    alt = f"The centers of {len(last.centers)} runs each for {', '.join(cloud.label for cloud in in_turn)}."
    panels = [_plane(view, frames, title, note, alt)]
    if any(cloud.ratios is not None for cloud in in_turn):
        panels.append(_dots(view, in_turn, [None] * len(in_turn), note))
    return panels


def one_by_one(view: View, cloud: Cloud, title: str, note: str = "") -> list[Panel]:
    """Draw reruns with one frame per run; each of these results might just as well have been released."""
    everything = xy(view.flat(np.concatenate(cloud.centers)))
    frames = [{"cloud": everything, "one": xy(view.flat(centers))} for centers in cloud.centers]
    panels = [_plane(view, frames, title, note, f"{len(frames)} runs, one after the other.", pale=True)]
    if cloud.ratios is not None:
        panels.append(_dots(view, [cloud] * len(frames), list(range(len(frames))), note))
    return panels


def _plane(view: View, frames: list[dict], title: str, note: str, alt: str, *, pale: bool = False) -> Panel:
    colors = view.colors
    dot = {"color": colors.released, "size": 7, "opacity": 0.25 if pale else 0.5}
    looks: dict[str, dict[str, Any]] = {
        "own": {
            "mode": "markers",
            "name": "center of the first run" if "own" in frames[0] else "center of the run above",
            "marker": {"symbol": "circle-open", "color": colors.ink, "size": 13, "line": {"width": 2}},
        },
        "cloud": {"mode": "markers", "name": "center of a rerun", "marker": dot},
        "one": {**center(colors), "name": "center of this rerun", "hoverinfo": "skip"},
    }
    own = xy(view.flat(np.asarray(view.trace.cluster_centers)))
    if not pale:
        del looks["one"]
    panel = layered(view, title, looks, [{"own": own, **frame} for frame in frames], alt, height=420)
    if note and not view.hidden:
        tag(panel.figure, colors, note, below=True)
    return panel


def _closeness(view: View, ratios: Sequence[np.ndarray]) -> str:
    """State how many runs come close to the reference, from the worst to the best cloud; NOT PRIVATE."""
    if not ratios:
        return "No run yet"
    near = sorted({int((values <= CLOSE).sum()) for values in ratios})
    runs = counted(len(ratios[-1]), "run")
    span = " to ".join(map(str, near[:: len(near) - 1 or 1]))
    lead = "Depending on ε, " if len(near) > 1 else ""
    verb = "is" if near == [1] else "are"
    return f"{lead}{span} of {runs} {verb} within {percent(CLOSE - 1)} of {view.against}"


def _dots(view: View, in_turn: Sequence[Cloud], now: Sequence[int | None], note: str) -> Panel:
    """Draw the losses as a dot plot; `now` is the number of the marked run in each frame."""
    colors, ratios = view.colors, [cloud.ratios for cloud in in_turn]
    known = [values for values in ratios if values is not None and len(values)]
    finite = np.concatenate([values[np.isfinite(values)] for values in known]) if known else np.ones(1)
    low, high = min(float(finite.min()), 0.97), max(float(finite.max()), 1.3)
    low, high = low / 1.02, high * 1.02
    tables = [dots_table(values, low, high) if values is not None else None for values in ratios]
    top = max([8, *(int(table.height.max()) for table in tables if table is not None and len(table))])
    size = int(np.clip(150 / top, 5, 11))
    every = [centers for cloud in in_turn for centers in cloud.centers]
    apart = "" if view.reference is None else unlike(every, len(view.reference), view.against)
    title = apart or _closeness(view, known)
    figure = base(colors, title, height=250, margin_left=12)
    figure.add_scatter(
        mode="markers", name="one run", marker={"color": colors.released, "size": size},
        hovertemplate=f"%{{text}} × {view.against}<extra></extra>", text=[],
    )  # fmt: skip
    figure.add_scatter(
        mode="markers", name="this run", hoverinfo="skip",
        marker={"color": colors.released, "size": size + 5, "line": {"color": colors.ink, "width": 2}},
    )  # fmt: skip
    for place, dash in ((1.0, "solid"), (CLOSE, "dash")):
        figure.add_shape(
            type="line", x0=np.log(place), x1=np.log(place), y0=0, y1=top + 1,
            line={"color": colors.hidden, "width": 1.6, "dash": dash},
        )  # fmt: skip
    ticks = _ticks(low, high)
    figure.update_xaxes(
        range=[np.log(low), np.log(high)], tickvals=np.log(ticks).tolist(), ticktext=[number(t) for t in ticks],
        title_text=f"times that of {view.against} (dashed: 1.1)",
    )  # fmt: skip
    figure.update_yaxes(range=[0, top + 1], visible=False)
    updates: list[list[dict[str, Any]]] = []
    for table, run in zip(tables, now, strict=True):
        if table is None:
            updates.append([{"x": [None], "y": [None], "text": [""]}, {"x": [None], "y": [None]}])
            continue
        x, y = np.log(table.x.to_numpy()), table.height.to_numpy(dtype=float)
        marked = {"x": [None], "y": [None]} if run is None else {"x": [float(x[run])], "y": [float(y[run])]}
        updates.append([{"x": x, "y": y, "text": [ratio_words(ratio) for ratio in table.ratio]}, marked])
    add_frames(figure, [0, 1], updates)
    tag(figure, colors, note if note and not view.hidden else "NOT PRIVATE", below=True)
    return Panel("side", figure, f"A dot plot: {view.measure.lower()} of each run. {title}.")


def _ticks(low: float, high: float) -> list[float]:
    """Return at most seven round ratios between `low` and `high`, and 1 if it lies between them."""
    inside = [tick for tick in _TICKS if low <= tick <= high]
    keep = inside[:: -(-len(inside) // 7)]
    return sorted({*keep, 1.0} if low <= 1 <= high else keep)
