"""Draw MST-KMeans: noisy bars of columns, the tree of pairs, a noisy table, and synthetic rows with their centers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpviz import escape
from dpviz.figures.kit.acts import CENTER, cells_counted, crowd, lit, noised, shake
from dpviz.figures.kit.events import Act, Event
from dpviz.figures.kit.layers import NOWHERE, center, disc, disc_sizes, layered, segments, tint
from dpviz.figures.kit.pane import Pane
from dpviz.figures.kit.panels import closing
from dpviz.figures.kit.shots import Shot
from dpviz.figures.kit.view import Panel, View, thin, xy
from dpviz.numbers import counted, number, plural
from dpviz.trace import Step, Trace

__all__ = ["PANE", "bars_table", "cells_table", "pairs_table"]

BAR, COLUMN, CANDIDATE, PICKED, CELL, ROW = (
    "bar", "column", "possible pair", "picked pair", "cell", "synthetic row",
)  # fmt: skip
_TALL, _RING = 0.22, 0.36  # height of the tallest bar and radius of the ring of columns, as shares of the plane's sides
_MOST_CELLS, _MOST_ROWS, _MOST_NAMES = 1500, 800, 16


def _step(trace: Trace, kind: str) -> Step | None:
    return next((step for step in trace.steps if step.kind == kind), None)


def _drawn(view: View) -> list[int]:
    """Return the columns that the plane shows, none if it shows other directions."""
    if view.trace.domain.n_features == 1:
        return [0]
    return [] if view.axes is None else list(dict.fromkeys(view.axes))


def _middles(view: View, column: int, bins: int) -> np.ndarray:
    """Return the middles (bins,) of a column's bins, original units."""
    domain = view.trace.domain
    at = (2 * np.arange(bins) + 1) / bins - 1
    return at * domain.box_z[column] * domain.half_width[column] + domain.middle[column]


def bars_table(view: View) -> pd.DataFrame:
    """Return one row per bin of a drawn column: column, at (original units), noisy_count, height (a share of 0 to 1).

    With hidden layers there are also count and true_height (NOT PRIVATE).
    """
    step, drawn = view.trace.steps[0], _drawn(view)
    noisy = np.asarray(step.released["noisy_counts"])[drawn]
    true = np.asarray(step.hidden[0].statistic["columns"])[drawn] if view.hidden and step.hidden else None
    bins, top = noisy.shape[1], max(float(noisy.max(initial=0)), 1.0)
    table = pd.DataFrame(
        {
            "column": np.repeat(drawn, bins),
            "at": np.concatenate([_middles(view, column, bins) for column in drawn]) if drawn else [],
            "noisy_count": noisy.ravel(),
            "height": np.maximum(noisy.ravel(), 0) / top,
        }
    )
    return table if true is None else table.assign(count=true.ravel(), true_height=true.ravel() / top)


def _bars(view: View, table: pd.DataFrame, height: str) -> np.ndarray:
    """Return the bars (., 2) as lines from two sides of the plane, each with a NaN row after it."""
    low, high = view.bounds()
    parts = [NOWHERE]
    for i, column in enumerate(_drawn(view)):
        own = table[table.column == column]
        foot = np.full((len(own), 2), low[1 - i])
        foot[:, i] = own["at"]
        head = foot.copy()
        head[:, 1 - i] += _TALL * (high - low)[1 - i] * own[height]
        parts.append(segments(foot, head))
    return np.concatenate(parts)


def _ring(view: View) -> np.ndarray:
    """Return the places (d, 2) of all columns on a ring in the plane."""
    low, high = view.bounds()
    turn = 2 * np.pi * np.arange(view.trace.domain.n_features) / view.trace.domain.n_features
    return (low + high) / 2 + _RING * (high - low) * np.stack([np.sin(turn), np.cos(turn)], axis=1)


def pairs_table(trace: Trace) -> pd.DataFrame:
    """Return the pairs of the tree in the order in which they were picked: columns one and other."""
    step = _step(trace, "tables")
    return pd.DataFrame([] if step is None else step.released["tables_of"], columns=["one", "other"], dtype=int)


def cells_table(view: View) -> pd.DataFrame:
    """Return the cells with a positive count in the drawn columns' table, the largest first: x, y, noisy_count.

    It is empty if the tree does not hold that pair. With hidden layers there is also count (NOT PRIVATE).
    """
    step, drawn = _step(view.trace, "tables"), _drawn(view)
    names = ["x", "y", "noisy_count"]
    pairs = [] if step is None else np.asarray(step.released["tables_of"]).tolist()
    if step is None or len(drawn) != 2 or sorted(drawn) not in pairs:
        return pd.DataFrame(columns=names, dtype=float)
    at = pairs.index(sorted(drawn))
    tables = [np.asarray(step.released["noisy_tables"])[at]]
    if view.hidden and step.hidden:
        tables.append(np.asarray(step.hidden[0].statistic["tables"])[at])
        names.append("count")
    tables = [table if drawn[0] < drawn[1] else table.T for table in tables]
    x, y = (_middles(view, column, len(tables[0])) for column in drawn)
    grid = np.meshgrid(x, y, indexing="ij")
    found = pd.DataFrame(np.stack([*grid, *tables], axis=-1).reshape(-1, len(names)), columns=names)
    return found[found.noisy_count > 0].nlargest(_MOST_CELLS, "noisy_count", keep="first")


def warning(trace: Trace) -> str:
    """Return a sentence if hardly any cell's count stands out from its noise, else ""."""
    step = _step(trace, "tables")
    if step is None or np.mean(step.released["noisy_tables"] > 3 * step.released["tables_sd"]) > 0.005:
        return ""
    return "Too little data for this epsilon: hardly any cell's count stands out from its noise. Use fewer bins."


def _plane(view: View) -> Panel:
    trace, colors = view.trace, view.colors
    line = {"mode": "lines", "line": {"color": colors.released, "width": 4}}
    looks: dict[str, dict[str, Any]] = {
        BAR: {**line, "line": {"color": tint(colors.released, 0.7), "width": 5}},
        CANDIDATE: {"mode": "lines", "line": {"color": tint(colors.muted, 0.35), "width": 1}},
        PICKED: line,
        COLUMN: {
            "mode": "markers+text", "textposition": "top center", "textfont": {"color": colors.ink},
            "marker": {"color": colors.panel, "size": 13, "line": {"color": colors.ink, "width": 2}},
        },
        CELL: disc(colors, 0.45),
        ROW: {"mode": "markers", "marker": {"color": colors.released, "size": 4, "opacity": 0.55}},
        "center": center(colors),
    }  # fmt: skip
    ring, cells, pairs = _ring(view), cells_table(view), pairs_table(trace)
    names = [escape.figure(str(name)) for name in view.columns] if len(ring) <= _MOST_NAMES else [""] * len(ring)
    tree = {
        COLUMN: {**xy(ring), "text": names},
        PICKED: xy(segments(ring[pairs["one"]], ring[pairs["other"]])),
    }
    frames: list[dict[str, Any]] = []
    for step in trace.steps:
        released = step.released
        if step.kind == "marginals":
            frames.append({BAR: xy(_bars(view, bars_table(view), "height"))})
        elif step.kind == "pairs":
            every = np.asarray(released["candidates"])[thin(len(released["candidates"]), 300)]
            frames.append({**tree, CANDIDATE: xy(segments(ring[every[:, 0]], ring[every[:, 1]]))})
        elif step.kind == "tables":
            discs = {**xy(cells[["x", "y"]].to_numpy()), "marker": {"size": disc_sizes(cells.noisy_count.to_numpy())}}
            frames.append({CELL: discs} if len(cells) else tree)
        else:
            rows = np.asarray((_step(trace, "synthetic-rows") or step).released["rows"])
            frame = {ROW: xy(view.plane(rows[thin(len(rows), _MOST_ROWS)]))}
            frames.append(frame | ({"center": xy(view.plane(released["centers"]))} if "centers" in released else {}))
    k, n = len(trace.cluster_centers), len(rows)
    alt = f"A plane with {min(n, _MOST_ROWS)} of {n:,} synthetic rows, and {k} released centers at the end."
    return layered(view, f"{n:,} synthetic rows give {counted(k, 'center')}", looks, frames, alt)


def events(view: View, shots: Sequence[Shot]) -> list[tuple[Event, ...]]:
    """Return the events of every shot: count and noise; pick; count and noise; draw; search."""
    tellers = {"marginals": _marginals, "pairs": _picked, "tables": _tables, "synthetic-rows": _rows}
    return [tellers.get(view.trace.steps[shot.step].kind, _search)(view, view.trace.steps[shot.step]) for shot in shots]


def _marginals(view: View, step: Step) -> tuple[Event, ...]:
    colors, sd, table = view.colors, float(step.released["counts_sd"]), bars_table(view)
    many = counted(view.trace.domain.n_features, "column")
    count = Event(
        "count", "Every column counts its rows in equal bins", "where bins end was known before; counts stay secret",
        1.8, ({"layer": BAR, "opacity": [0, 0]}, *lit(colors, crowd(view), wave=0.5)), (1, 0.5), pays=0,
    )  # fmt: skip
    acts: list[Act] = [{"layer": BAR, "opacity": [0, 1], "shake": shake(sd)}]
    if "count" in table and len(table):
        look = {"mode": "lines", "line": {"color": tint(colors.hidden, 0.7), "width": 5}, "name": "true counts"}
        ends = [xy(_bars(view, table, height)) for height in ("true_height", "height")]
        acts.insert(0, {"look": look, "from": ends[0], "to": ends[1], "opacity": [1, 0], "span": [0, 0.8]})
    words = f"{many}; each bin's count moves by about ±{number(sd, 2)}"
    head, tail = noised(sd > 0, "Noise shakes every bar", words)
    return count, Event("noise", head, tail, 2.0, tuple(acts), (0.5, 0.7))


def _picked(view: View, step: Step) -> tuple[Event, ...]:
    """Return the event in which a ball runs over the picked pairs; true scores are tickets on their lines."""
    colors, ring = view.colors, _ring(view)
    pairs, every = (np.asarray(step.released[name]) for name in ("pairs", "candidates"))
    low, high = view.bounds()
    middle = ring[pairs].mean(axis=1)
    ball: Act = {"look": {"marker": {"size": 15, "color": colors.released}, "name": "ball"}, "run": True,
                 "to": xy(middle), "span": [0.2, 0.9]}  # fmt: skip
    acts: list[Act] = [{"layer": CANDIDATE}, {"layer": PICKED, "opacity": [0, 1], "span": [0.3, 1]}]
    if view.hidden and step.hidden:
        drawn = every[thin(len(every), 300)]
        scores = np.asarray(step.hidden[0].statistic["utility"])[thin(len(every), 300)]
        foot = ring[drawn].mean(axis=1)
        share = (scores - scores.min()) / max(float(np.ptp(scores)), 1e-9)
        look = {"line": {"color": tint(colors.hidden, 0.6), "width": 3}, "marker": {"color": tint(colors.hidden, 0.6)}}
        rise = np.stack([np.zeros(len(foot)), 0.09 * (high - low)[1] * share], axis=1)
        acts.append({"look": {**look, "name": "ticket"}, "from": xy(foot), "to": xy(foot + rise), "rays": True})
    tail = f"of {len(every):,} pairs, dependent ones are likelier; chance hides each {view.noun}'s part"
    head, tail = noised(not view.trace.noiseless, f"Draw {counted(len(pairs), 'pair')} that join all columns", tail)
    return (Event("pick", head, tail, 2.6, (*acts, {"layer": COLUMN}, ball), (0.25, 0.25)),)


def _tables(view: View, step: Step) -> tuple[Event, ...]:
    cells, sd = cells_table(view), float(step.released["tables_sd"])
    if len(cells):
        true = cells["count"].to_numpy() if "count" in cells else None
        return cells_counted(view, crowd(view), CELL, sd, true)
    tables = counted(len(step.released["tables_of"]), "table")
    words = f"{tables}, ±{number(sd, 2)} on each cell; none of them is that of the two columns drawn here"
    head, tail = noised(sd > 0, "Every picked pair is counted in a table, with noise", words)
    acts = ({"layer": PICKED, "shake": shake(sd)}, {"layer": COLUMN})
    return (Event("noise", head, tail, 2.0, acts, (0.5, 0.5)),)


def _rows(view: View, step: Step) -> tuple[Event, ...]:
    n = len(step.released["rows"])
    words = f"drawn from the noisy tables: no row is anybody's, and no {view.noun} is asked again"
    acts: tuple[Act, ...] = ({"layer": ROW, "fall": 120, "wave": 0.6, "opacity": [0, 1]},)
    head = f"{n:,} synthetic {plural('row')} fall"
    return (Event("draw", head, words, 2.6, acts, (0.4, 0.2), pays=0),)


def _search(view: View, step: Step) -> tuple[Event, ...]:
    acts: tuple[Act, ...] = ({"layer": ROW}, {"layer": CENTER, "size": [0, None], "wave": 0.3})
    words = "any number of runs, any k: synthetic rows may be used as often as one likes"
    return (Event("search", "k-means on the synthetic rows, at no cost", words, 2.0, acts, (0.3, 1), pays=0),)


def panels(view: View, shots: list[Shot]) -> list[Panel]:
    """Return the panels: plane, loss (if hidden layers are on), spend and ledger."""
    return [_plane(view), *closing(view, shots)]


PANE = Pane(
    draw=panels,
    events=events,
    legend=(
        ("dot", "synthetic row"),
        ("disc", "cell of a table (area: noisy count)"),
        ("path", "picked pair of columns"),
        ("center", "released center"),
        ("diamond", "KMeans"),
        ("ring", "person"),
    ),
    caution="A tree knows no dependence of three columns beyond its pairs, so some synthetic rows mix columns of two "
    "groups where nobody lives. Bars stand at the edges of the plane.",
    warning=warning,
    cells=True,
)
