"""Draw rho-distance privacy: noisy points, levels of quadtree cells, regions, centers, and discs of radius rho."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz import escape
from dpviz.figures.kit.acts import CENTER, hurried, noised
from dpviz.figures.kit.events import Act, Event
from dpviz.figures.kit.layers import (
    NOWHERE,
    TOP,
    center,
    disc,
    disc_sizes,
    layered,
    outline,
    paths,
    segments,
    tint,
    waiting,
)
from dpviz.figures.kit.pane import Pane
from dpviz.figures.kit.panels import closing
from dpviz.figures.kit.shots import Shot, one_a_step, split_title
from dpviz.figures.kit.theme import Theme, base, tag
from dpviz.figures.kit.view import Panel, View, add_frames, thin, xy
from dpviz.numbers import counted, number
from dpviz.trace import Step, Trace

__all__ = ["PANE", "amount_table", "losses_panel", "moves_table", "ruler"]

MAX_POINTS = 700  # maximum number of noisy points drawn
MAX_PEOPLE = 14  # maximum number of people drawn with a disc and an arrow
MAX_OTHERS = 120  # maximum number of cells drawn in a pale color because they are not chosen
RINGS = "rho around a person (not private)"  # name of a layer
POINTS, ALONE = "noisy point", "far from every region, or in a small one: stays as it is"  # names of layers
PROMISE = "for moves of up to rho"


def shots(trace: Trace) -> list[Shot]:
    """Return one picture per step."""
    return one_a_step(trace, split_title)


def amount_table(step: Step) -> pd.DataFrame:
    """Return the released counts of a step's fullest cells or regions: columns rank, count, kept."""
    released = step.released
    counts = released["counts"] if step.kind == "level" else released["noisy_counts"]
    order = np.argsort(-counts, kind="stable")[:TOP]
    return pd.DataFrame({"rank": range(1, len(order) + 1), "count": counts[order], "kept": released["kept"][order]})


def moves_table(trace: Trace) -> pd.DataFrame:
    """Return how far some people are from their noisy points: columns row, distance (z units), rho. NOT PRIVATE.

    The table is empty if the trace holds no hidden values.
    """
    first = trace.steps[0]
    if not first.hidden:
        return pd.DataFrame({"row": [], "distance": [], "rho": []})
    true, noisy = first.hidden[0].statistic["noisy_points"], first.released["noisy_points"]
    chosen = thin(len(true), MAX_PEOPLE, seed=1)
    away = np.linalg.norm(noisy[chosen] - true[chosen], axis=1)
    return pd.DataFrame({"row": chosen, "distance": away, "rho": first.released["rho"]})


def _boxes(view: View, centers: np.ndarray, side: float) -> np.ndarray:
    """Return closed squares on the plane, shape (m * 6, 2), separated by NaN; none if the plane is a projection."""
    if len(centers) == 0 or view.axes is None:
        return NOWHERE
    axes, half = list(view.axes), side / 2
    middle = centers[:, axes]
    edges = [
        np.clip(middle + np.array(corner) * half, -view.trace.domain.box_z[axes], view.trace.domain.box_z[axes])
        for corner in ((-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1))
    ]
    seen = (np.ptp(np.stack(edges), axis=0) > 0).all(axis=1)
    scale, origin = view.trace.domain.half_width[axes], view.trace.domain.middle[axes]
    return segments(*(edge[seen] * scale + origin for edge in edges)) if seen.any() else NOWHERE


def ruler(view: View, figure: go.Figure, rho: float, noise_sd: float) -> None:
    """Draw, in a corner and to scale, the longest hidden move and how far noise moves a point."""
    if view.axes is None or not view.trace.domain.one_scale:
        return
    d, low, high = view.trace.domain.n_features, *view.bounds()
    thrown = noise_sd * math.sqrt(d)
    radii = np.array([rho, thrown]) * float(view.trace.domain.half_width.max())
    at = low + np.maximum(radii.max() + 0.02 * (high - low).max(), np.array([0.06, 0.2]) * (high - low))
    at = np.minimum(at, (low + high) / 2)
    for radius, dash, fill in ((radii[1], "dot", None), (radii[0], "solid", view.colors.ink)):
        figure.add_shape(
            type="circle", x0=at[0] - radius, x1=at[0] + radius, y0=at[1] - radius, y1=at[1] + radius,
            line={"color": view.colors.ink, "width": 1.4, "dash": dash}, fillcolor=fill, opacity=0.55,
        )  # fmt: skip
    hidden, noise = (escape.figure(view.trace.domain.length(length)) for length in (rho, thrown))
    figure.add_annotation(
        text=f"● rho {hidden}: moves of up to this length are hidden<br>"
        f"◌ {noise}: how far the noise moves a person<br><b>Not hidden: who, and roughly where</b>",
        xref="x domain", yref="y domain", x=0, y=0, yshift=-42, xanchor="left", yanchor="top", align="left",
        showarrow=False, font={"size": 11, "color": view.colors.ink},
    )  # fmt: skip
    more, meta = 52, figure.layout.meta or {}  # space for the text, below the axis
    figure.update_layout(height=figure.layout.height + more, margin_b=figure.layout.margin.b + more)
    if "h" in meta:
        figure.update_layout(meta={**meta, "h": meta["h"] + more})


def _plane(view: View) -> Panel:
    trace, colors = view.trace, view.colors
    looks = {
        "noisy point": {"mode": "markers", "marker": {"color": colors.released_soft, "size": 3.4, "opacity": 0.8}},
        "far from every region, or in a small one: stays as it is": {
            "mode": "markers",
            "marker": {"color": colors.released, "size": 4.2, "symbol": "triangle-up", "opacity": 0.8},
        },
        "other cell": {"mode": "lines", "line": {"color": colors.line, "width": 1}},
        "chosen cell": {
            "mode": "lines", "fill": "toself", "line": {"color": colors.released, "width": 1.2},
            "fillcolor": tint(colors.released, 0.12),
        },
        "region": disc(colors),
        "center": center(colors),
    }  # fmt: skip
    if view.hidden:
        line = {"color": colors.hidden, "width": 1.3}
        looks["discs"] = {
            "mode": "lines",
            "name": RINGS,
            "line": {**line, "dash": "solid"},
        }
        looks["arrows"] = {
            "mode": "lines",
            "name": "person to noisy point (not private)",
            "line": {**line, "dash": "dot"},
        }
    noisy = trace.steps[0].released
    k, rho = len(trace.cluster_centers), trace.domain.length(noisy["rho"])
    return layered(
        view,
        f"Moves up to {rho} are hidden; {counted(k, 'center')}",
        looks,
        _layers(view),
        f"A map with {k} released centers. Moves up to {rho} are hidden; nothing else is.",
        beside=lambda view, figure: ruler(view, figure, noisy["rho"], noisy["noise_sd"]),
    )


def events(view: View, shots: Sequence[Shot]) -> list[tuple[Event, ...]]:
    """Return the events of every shot: rho and noise; then cells, regions and the search, all on released points."""
    told: list[tuple[Event, ...]] = []
    still: list[Act] = [{"layer": RINGS}] * view.hidden
    paid = 0
    for shot in shots:
        step = view.trace.steps[shot.step]
        pays, shown = float(shot.releases > paid), view.hidden
        paid = shot.releases
        if step.kind == "noisy-points":
            rho = view.trace.domain.length(step.released["rho"])
            rings: list[Act] = [{"layer": RINGS, "opacity": [0, 1]}] if shown else []
            first: list[Act] = [{"layer": POINTS, "opacity": [0, 0]}]
            words = f"moves of up to {rho} are hidden; who is here, and roughly where, is not"
            ask = Event("rho", "What is hidden: moves of up to rho", words, 2.0, (*first, *rings), (1, 0.8), pays=0)
            ways: list[Act] = [{"layer": "person to noisy point (not private)", "opacity": [0, 1]}] if shown else []
            head, tail = noised(step.released["noise_sd"] > 0, "Noise moves every point", shot.tail or shot.head)
            acts = (*still, {"layer": POINTS, "opacity": [0, 1], "shake": 6}, *ways)
            told.append((ask, Event("noise", head, tail, 2.2, acts, (0.8, 0.5), pays=pays)))
        elif step.kind == "cluster":
            acts = (
                *still,
                {"layer": POINTS},
                {"layer": ALONE},
                {"layer": "region"},
                {"layer": CENTER, "size": [0, None], "wave": 0.3},
            )
            words = shot.tail or "k-means on released points: no row is read"
            told.append((Event("search", "Search at no cost", words, 2.2, acts, (0.6, 1), pays=pays),))
        else:
            layers = ("other cell", "chosen cell", "region")
            new: list[Act] = [{"layer": name, "opacity": [0, 1], "span": [0, 0.7]} for name in layers]
            told.append(
                (
                    Event(
                        step.kind,
                        shot.head,
                        shot.tail,
                        hurried(shot.step, 1.6),
                        (*still, {"layer": POINTS}, {"layer": ALONE}, *new),
                        (0.5, 0.5),
                        pays=pays,
                    ),
                )
            )
    return told


def _layers(view: View) -> list[dict[str, dict[str, Any]]]:
    """Return for each step the layers that the map shows; other layers are empty."""
    trace = view.trace
    noisy = trace.steps[0].released
    drawn = thin(len(noisy["noisy_points"]), MAX_POINTS)
    points = view.plane(noisy["noisy_points"][drawn])
    discs, arrows = _people(view) if view.hidden else ({}, {})
    near, frames = np.ones(len(drawn), dtype=bool), []
    for step in trace.steps:
        released, layers = step.released, {"discs": discs} if view.hidden else {}
        if step.kind == "noisy-points" and view.hidden:
            layers["arrows"] = arrows
        elif step.kind == "split":
            near = released["near"][drawn]
            layers["region"] = {**xy(view.plane(released["regions"])), "marker": {"size": 4.0}}
        elif step.kind == "level":
            cells, mask = released["cells"], released["kept"]
            layers["chosen cell"] = xy(_boxes(view, cells[mask], released["side"]))
            layers["other cell"] = xy(_boxes(view, cells[~mask][:MAX_OTHERS], released["side"]))
        elif step.kind == "regions":
            mask = released["kept"]
            near = ~released["themselves"][drawn] if "themselves" in released else near
            layers |= _regions(view, released["means"][mask], released["noisy_counts"][mask])
        elif step.kind == "cluster":
            layers["center"] = xy(view.plane(released["centers"]))
            if len(released["coreset_points"]) < len(noisy["noisy_points"]):
                heavy = np.flatnonzero(released["coreset_weights"] != 1)
                layers |= _regions(view, released["coreset_points"][heavy], released["coreset_weights"][heavy])
        layers["noisy point"] = xy(points[near])
        layers["far from every region, or in a small one: stays as it is"] = xy(points[~near])
        frames.append(layers)
    return frames


def _regions(view: View, points: np.ndarray, weights: np.ndarray) -> dict[str, dict[str, Any]]:
    """Return the layer of regions: discs whose areas show weights; no layer if there are no regions."""
    return {"region": {**xy(view.plane(points)), "marker": {"size": disc_sizes(weights)}}} if len(points) else {}


def _people(view: View) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return discs of radius rho around some people, and lines from them to their noisy points. NOT PRIVATE."""
    rows = moves_table(view.trace).row.to_numpy(dtype=int)
    first = view.trace.steps[0]
    if len(rows) == 0:
        return xy(NOWHERE), xy(NOWHERE)
    true, noisy = first.hidden[0].statistic["noisy_points"][rows], first.released["noisy_points"][rows]
    root = first.released["rho"] * np.eye(view.trace.domain.n_features)
    return xy(paths([outline(view, root, at) for at in true])), xy(segments(view.plane(true), view.plane(noisy)))


def _amounts(view: View) -> Panel | None:
    """Draw the largest counts of each level's cells, then of the regions, as bars; None if a run has neither."""
    trace, colors = view.trace, view.colors
    tables = {t: amount_table(s) for t, s in enumerate(trace.steps) if s.kind in ("level", "regions")}
    if not tables:
        return None
    last = max(tables)
    things = "regions" if trace.steps[last].kind == "regions" else "cells"
    mask = trace.steps[last].released["kept"]
    figure = base(colors, f"{int(np.sum(mask)):,} of {len(mask):,} {things} hold enough rows", height=150)
    figure.add_bar(name="released count", hovertemplate="%{y:.0f}<extra></extra>")
    figure.add_scatter(mode="lines", name="threshold", hoverinfo="skip", line={"color": colors.ink, "width": 1.2})
    top = max((float(table["count"].max()) for table in tables.values() if len(table)), default=1.0)
    figure.update_yaxes(type="log", range=[0, math.log10(max(top, 2.0)) + 0.15], dtick=1)
    figure.update_xaxes(showticklabels=False, ticks="", showgrid=False, range=[0.4, TOP + 0.6])
    words = waiting(figure, colors, (TOP + 1) / 2, math.sqrt(max(top, 2.0)))
    none = xy(NOWHERE)
    updates: list[list[dict[str, Any]]] = []
    for t, step in enumerate(trace.steps):
        known = [s for s in tables if s <= t and (step.kind == "cluster" or s == t)]
        table = tables[known[-1]] if known else None
        if table is None or len(table) == 0:
            empty = "counts appear at a later step" if table is None else "no cell is left"
            updates.append([none, none, {"text": [empty]}])
            continue
        color = [colors.released if full else colors.released_soft for full in table.kept]
        bars = {"x": table["rank"].tolist(), "y": table["count"].clip(lower=0.5).tolist(), "marker": {"color": color}}
        threshold = trace.steps[known[-1]].released.get("threshold")
        line = none if threshold is None else {"x": [0.4, TOP + 0.6], "y": [threshold, threshold]}
        updates.append([bars, line, {"text": [""]}])
    add_frames(figure, list(range(words + 1)), updates)
    return Panel(
        "side", figure, f"Bars: the {TOP} fullest cells of each quadtree level, then the {TOP} largest regions."
    )


def panels(view: View, shots: list[Shot]) -> list[Panel]:
    """Return the panels: map, counts, loss (if hidden layers are on), spend and ledger."""
    trace = view.trace
    drawn = [_plane(view)]
    amounts = _amounts(view)
    if amounts is not None:
        drawn.append(amounts)
    *loss, spend, ledger = closing(view, shots)
    spend.figure.update_layout(title_text=f"ε {number(trace.claimed.epsilon)}, {PROMISE}")
    spend.figure.update_yaxes(title_text="ε (rho-dist)")
    ledger.figure.update_layout(title_text=f"{ledger.figure.layout.title.text}, {PROMISE}")
    return [*drawn, *loss, spend, ledger]


def losses_panel(colors: Theme, table: pd.DataFrame) -> Panel:
    """Draw the losses of several methods as multiples of KMeans' loss, and name their promises. NOT PRIVATE.

    Parameters
    ----------
    table : columns method, promise, loss; one row per run
    """
    best = float(table.loss[table.promise == "not private"].mean()) or 1.0
    table = table.assign(loss=table.loss / best)
    means = table[table.promise != "not private"].groupby("method", sort=False).loss.mean()
    title = f"Lowest loss: {means.idxmin()}, {number(means.min())} × KMeans" if len(means) else "No private run yet"
    figure = base(colors, title, height=260, margin_left=8)
    tag(figure, colors)
    names = list(dict.fromkeys(zip(table.method, table.promise, strict=True)))
    for place, (method, promise) in enumerate(reversed(names)):
        own = table[(table.method == method) & (table.promise == promise)]
        hollow = promise == "not private"
        figure.add_scatter(
            x=own.loss, y=[place] * len(own), mode="markers", name=method, hovertemplate="%{x:,.3~r}<extra></extra>",
            marker={
                "symbol": "diamond-open" if hollow else "circle", "size": 11,
                "color": colors.hidden if hollow else colors.released, "line": {"width": 2},
            },
        )  # fmt: skip
        figure.add_annotation(
            x=0, xref="paper", y=place + 0.2, xanchor="left", yanchor="bottom", showarrow=False, align="left",
            text=f"<b>{method}</b>, {promise}: {number(own.loss.mean())} ×", font={"size": 12, "color": colors.ink},
        )  # fmt: skip
    figure.update_xaxes(type="log", title_text="loss, × KMeans (log scale)")
    figure.update_yaxes(visible=False, range=[-0.4, len(names) - 0.2])
    words = "; ".join(f"{method} {number(own.loss.mean())}" for method, own in table.groupby("method", sort=False))
    return Panel("side", figure, f"Dots: mean loss as a multiple of KMeans': {words}. Not private.")


PANE = Pane(
    draw=panels,
    events=events,
    shots=shots,
    cells=True,
    legend=(
        ("dot", "noisy point"),
        ("box", "chosen quadtree cell"),
        ("disc", "region (area: rows)"),
        ("center", "released center"),
        ("diamond", "KMeans"),
        ("dotted", "person to noisy point"),
        ("hidden_ring", "rho around a person"),
        ("ring", "person"),
    ),
    caution="This is rho-distance privacy, a weaker promise than differential privacy: it hides moves of up to rho. "
    "Who is in the data, and roughly where, is not protected, and no ε here is comparable to an ε of DP. "
    f"At most {MAX_POINTS} noisy points are drawn; the run uses all of them.",
)
