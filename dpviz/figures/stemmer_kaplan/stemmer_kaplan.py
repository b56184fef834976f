"""Draw Stemmer-Kaplan and related algorithms: shifted grids, crowded cells, candidates, weights, k centers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from dpviz.domain import Domain
from dpviz.figures.kit.events import Event
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
    true_tick,
)
from dpviz.figures.kit.pane import Pane
from dpviz.figures.kit.panels import ledger_panel, loss_panel, loss_title, spend_panel
from dpviz.figures.kit.shots import Shot, in_phases, split_title
from dpviz.figures.kit.theme import base, tag
from dpviz.figures.kit.view import Panel, View, add_frames, moved, xy
from dpviz.figures.stemmer_kaplan.stemmer_kaplan_film import CELLS, COUNTED, told
from dpviz.geometry import inertia
from dpviz.metrics import mean_distance
from dpviz.numbers import counted, number
from dpviz.privacy.queries import cell_centers
from dpviz.trace import Step, Trace

__all__ = [
    "PANE",
    "bucket_table",
    "cell_corners",
    "events",
    "loss_table",
    "losses_panel",
    "plane_panel",
    "weight_table",
]

AVERAGES = CELLS + 1  # after its crowded cells, a table's second picture shows their averages
# Opacities of the cells: one for each quarter of a table's cells, by ascending noisy count.
SHADES = (0.12, 0.26, 0.42, 0.6)
MOST_LINES = 80  # maximum number of grid lines drawn per direction


def shots(trace: Trace) -> list[Shot]:
    """Return the pictures of a run; each table first shows its cells, and then their averages."""
    return in_phases(
        trace,
        lambda step: (CELLS, AVERAGES) if step.kind == "buckets" else (AVERAGES,),
        lambda step, phase: _words(step, phase, trace.domain),
        asking=CELLS,
        due=lambda step: 1,
    )


def _words(step: Step, phase: int, domain: Domain) -> tuple[str, str]:
    released, (head, tail) = step.released, split_title(step)
    if step.kind == "cubes":
        what = "they are halved" if released["kept"].any() else "this shift ends here"
        return (
            head,
            f"{tail}: noisy count above {number(released['threshold'])} (±{number(released['noise_sd'], 2)}); {what}",
        )
    if step.kind != "buckets":
        return head, tail
    if phase == CELLS:
        cells = f"{len(released['keys'])} cell{'s' * (len(released['keys']) != 1)}"
        where = f"{len(released['offset'])} random directions" if released["projected"] else "the domain"
        return head, (
            f"a shifted grid of width {domain.length(released['width'])} over {where}: {cells} have a "
            f"noisy count (±{number(released['noise_sd'], 2)}) of at least {number(released['threshold'])}, and all "
            "others are withheld"
        )
    dropped = len(released["precise"]) - int(released["precise"].sum())
    return head, f"noisy averages of the largest cells become {int(released['precise'].sum())} candidates" + (
        f"; {dropped} are too noisy and are dropped" if dropped else ""
    )


def warning(trace: Trace) -> str:
    """Return a sentence if no cell was crowded enough, else ""."""
    tables = [step.released for step in trace.steps if step.kind in COUNTED]
    if any(table["kept"].any() for table in tables):
        return ""
    lowest = min(table["threshold"] for table in tables)
    return (
        f"Every bucket is below the threshold of {number(lowest)} rows, so there is no candidate. Use more rows, fewer "
        "scales or fewer repetitions."
    )


def bucket_table(step: Step, *, hidden: bool) -> pd.DataFrame:
    """Return the released cells of a table, largest noisy count first: rank, noisy_count, kept (and true_count)."""
    released = step.released
    order = np.argsort(-released["noisy_counts"], kind="stable")
    table = pd.DataFrame(
        {
            "rank": range(1, len(order) + 1),
            "noisy_count": released["noisy_counts"][order],
            "kept": released["kept"][order],
        }
    )
    truth = next((h.statistic for h in step.hidden if h.label in COUNTED), None)
    if hidden and truth is not None and step.kind == "cubes":
        table["true_count"] = truth["cubes"][order]
    elif hidden and truth is not None:
        true = dict(zip(map(tuple, truth["keys"].tolist()), truth["counts"].tolist(), strict=True))
        table["true_count"] = [true[key] for key in map(tuple, released["keys"][order].tolist())]
    return table


def weight_table(step: Step, *, hidden: bool) -> pd.DataFrame:
    """Return the candidates, largest noisy weight first: rank, noisy_count, kept (positive); true_count if `hidden`."""
    noisy = step.released["noisy_weights"]
    order = np.argsort(-noisy, kind="stable")
    table = pd.DataFrame({"rank": range(1, len(order) + 1), "noisy_count": noisy[order], "kept": noisy[order] > 0})
    if hidden and step.hidden:
        table["true_count"] = next(iter(step.hidden[0].statistic.values()))[order]
    return table


def loss_table(view: View) -> pd.DataFrame:
    """Return the parts of the loss: columns what, loss (z units); rows KMeans, all candidates, chosen. NOT PRIVATE.

    No choice of k candidates has a smaller loss than all candidates together. What the chosen k lose beyond that is the
    price of the choice; what all candidates lose beyond KMeans is the price of the candidates.
    """
    trace = view.trace
    if view.people is None or view.reference_loss is None:
        raise ValueError("figures: loss_table needs people and a reference loss.")
    Z = trace.domain.normalize(view.people)
    Z = Z[np.isfinite(Z).all(axis=1)]
    last = trace.steps[-1].released
    cost = mean_distance if view.against == "KMedians" else lambda Z, centers: inertia(Z, centers) / len(Z)
    losses = [cost(Z, last[name]) for name in ("candidates", "centers")]
    return pd.DataFrame(
        {
            "what": [view.against, "all candidates", f"{len(last['centers'])} chosen"],
            "loss": [view.reference_loss, *losses],
        }
    )


def cell_corners(view: View, step: Step, keys: np.ndarray) -> np.ndarray:
    """Return cells as closed rectangles in drawn coordinates, shape (m, 6, 2); the last point of each is NaN.

    The result is empty if the plane does not show the columns of the grid.
    """
    released, d = step.released, view.trace.domain.n_features
    if released["projected"] or (view.axes is None and d > 2):
        return np.empty((0, 6, 2))
    axes = [0] if d == 1 else list(view.axes or (0, 1))
    low = keys[:, axes] * released["width"] - released["offset"][axes]
    high = low + released["width"]
    domain = view.trace.domain
    low, high = (
        np.clip(edge, -domain.box_z[axes], domain.box_z[axes]) * domain.half_width[axes] + domain.middle[axes]
        for edge in (low, high)
    )
    if d == 1:
        low, high = (np.column_stack([edge, np.full(len(edge), y)]) for edge, y in ((low, -1.0), (high, 1.0)))
    x0, y0, x1, y1 = low[:, 0], low[:, 1], high[:, 0], high[:, 1]
    nan = np.full(len(x0), np.nan)
    return np.stack([np.stack([x0, x1, x1, x0, x0, nan], axis=1), np.stack([y0, y0, y1, y1, y0, nan], axis=1)], axis=2)


def _grid_lines(view: View, step: Step) -> np.ndarray:
    """Return the lines of a table's shifted grid inside the public bounds, in drawn coordinates."""
    released, d = step.released, view.trace.domain.n_features
    if released["projected"] or (view.axes is None and d > 2):
        return np.empty((0, 2))
    domain, (low, high) = view.trace.domain, view.bounds()
    lines = []
    for direction, axis in enumerate([0] if d == 1 else list(view.axes or (0, 1))):
        reach, width, offset = domain.box_z[axis], released["width"], released["offset"][axis]
        edges = np.arange(np.ceil((-reach + offset) / width), np.floor((reach + offset) / width) + 1) * width - offset
        at = edges[:MOST_LINES] * domain.half_width[axis] + domain.middle[axis]
        ends = [np.empty((len(at), 2)), np.empty((len(at), 2))]
        for end, limit in zip(ends, (low, high), strict=True):
            end[:, direction], end[:, 1 - direction] = at, limit[1 - direction]
        lines.append(segments(*ends))
    return np.concatenate(lines)


def _shaded(view: View, step: Step) -> dict[str, dict]:
    """Return the crowded cells, shaded by noisy count, and the outlines of the cells with an average."""
    released = step.released
    drawn = released["kept"] if step.kind == "cubes" else np.ones(len(released["keys"]), dtype=bool)
    corners = cell_corners(view, step, released["keys"][drawn])
    if len(corners) == 0:
        return {}
    order = np.argsort(np.argsort(released["noisy_counts"][drawn], kind="stable"), kind="stable")
    shade = order * len(SHADES) // len(order)
    layers = {f"cells {i}": xy(corners[shade == i].reshape(-1, 2)) for i in range(len(SHADES))}
    averaged = released["kept"][drawn] if "kept" in released else drawn
    return layers | {"outlines": xy(corners[averaged].reshape(-1, 2))}


def _candidates(points: np.ndarray, sizes: np.ndarray | float = 7.0) -> dict:
    return {**xy(points), "marker": {"size": sizes}} if len(points) else xy(points)


# There is one function per kind of step: it takes the candidates so far, as points of the plane of shape (m, 2), and
# returns the step's layers and the new candidates.
Drawn = tuple[dict[str, dict], np.ndarray]


def _cells(view: View, step: Step, phase: int, points: np.ndarray) -> Drawn:
    return {"grid": xy(_grid_lines(view, step)), **_shaded(view, step)}, points


def _buckets(view: View, step: Step, phase: int, points: np.ndarray) -> Drawn:
    layers, _ = _cells(view, step, phase, points)
    if phase == CELLS:
        return layers, points
    here, precise = view.plane(step.released["averages"]), step.released["precise"]
    return layers | {"dropped": xy(here[~precise])}, np.concatenate([points, here[precise]])


def _cubes(view: View, step: Step, phase: int, points: np.ndarray) -> Drawn:
    layers, _ = _cells(view, step, phase, points)
    released = step.released
    if released["projected"]:
        return layers, points
    middles = cell_centers(released["keys"][released["kept"]], released["width"], released["offset"])
    points = np.concatenate([points, view.plane(middles)])
    return layers | {"candidates": _candidates(points, 4.0)}, points


def _filter(view: View, step: Step, phase: int, points: np.ndarray) -> Drawn:
    d = view.trace.domain.n_features
    balls = zip(step.released["points"], step.released["radii"], strict=True)
    return {"balls": xy(paths([outline(view, radius * np.eye(d), at) for at, radius in balls]))}, points


def _averages(view: View, step: Step, phase: int, points: np.ndarray) -> Drawn:
    here = view.plane(step.released["averages"])
    return {"paid": xy(segments(view.plane(step.released["anchors"]), here))}, np.concatenate([points, here])


def _weights(view: View, step: Step, phase: int, points: np.ndarray) -> Drawn:
    sizes = disc_sizes(step.released["noisy_weights"])
    return {"candidates": _candidates(view.plane(step.released["candidates"]), sizes)}, points


def _search(view: View, step: Step, phase: int, points: np.ndarray) -> Drawn:
    released = step.released
    if "centers" not in released:
        return {}, points
    points = view.plane(released["candidates"])
    layers = {"candidates": _candidates(points, 4.0), "centers": xy(view.plane(released["centers"]))}
    if step.kind == "swap" and released["moves"]:
        layers["paid"] = xy(segments(view.plane(released["out"][None]), view.plane(released["in"][None])))
    return layers, points


def _recover(view: View, step: Step, phase: int, points: np.ndarray) -> Drawn:
    start, now = step.released["start"], view.plane(step.released["centers"])
    if start.shape != step.released["centers"].shape:
        return {"centers": xy(now)}, points
    return {"centers": moved(view.plane(start), now), "paid": xy(segments(view.plane(start), now))}, points


def _choose(view: View, step: Step, phase: int, points: np.ndarray) -> Drawn:
    released = step.released
    at, centers = view.plane(released["candidates"]), view.plane(released["centers"])
    nearest = ((released["candidates"][:, None] - released["centers"]) ** 2).sum(axis=2).argmin(axis=1)
    sizes = disc_sizes(released["weights"]) if "weights" in released else 7.0
    free = segments(at, centers[nearest])
    return {"candidates": _candidates(at, sizes), "centers": xy(centers), "free": xy(free)}, points


_DRAW: dict[str, Callable[[View, Step, int, np.ndarray], Drawn]] = {  # kind of step -> its function
    "averages": _averages,
    "buckets": _buckets,
    "choose": _choose,
    "cubes": _cubes,
    "filter": _filter,
    "pick": _search,
    "recover": _recover,
    "reports": _cells,
    "swap": _search,
    "weights": _weights,
}


def _layers(view: View, shots: list[Shot]) -> list[dict[str, dict]]:
    """Return for each frame the layers that the plane shows; other layers are empty."""
    frames: list[dict[str, dict]] = []
    points = NOWHERE  # candidates so far
    for shot in shots:
        step = view.trace.steps[shot.step]
        layers: dict[str, dict] = {}
        if step.kind in _DRAW:
            layers, points = _DRAW[step.kind](view, step, shot.phase, points)
        frames.append({"candidates": _candidates(points)} | layers)
    return frames


def events(view: View, shots: Sequence[Shot]) -> list[tuple[Event, ...]]:
    """Return the events of every shot (`stemmer_kaplan_film`)."""
    return told(view, shots, cell_corners)


def plane_panel(view: View, shots: list[Shot]) -> Panel:
    """Draw the plane: cells, candidates, centers."""
    trace, colors = view.trace, view.colors
    line = {"color": colors.released, "width": 1.6}
    shades: dict[str, dict] = {
        f"cells {i}": {
            "mode": "lines", "fill": "toself", "fillcolor": colors.released, "opacity": opacity,
            "line": {"width": 0, "color": colors.released},
        }
        for i, opacity in enumerate(SHADES)
    }  # fmt: skip
    looks: dict[str, dict] = {
        "grid": {"mode": "lines", "line": {"color": colors.line, "width": 0.8}},
        **shades,
        "outlines": {"mode": "lines", "line": {**line, "width": 1.2}},
        "balls": {"mode": "lines", "fill": "toself", "fillcolor": colors.panel, "opacity": 0.7, "line": line},
        "dropped": {"mode": "markers", "marker": {"color": colors.released_soft, "size": 4}},
        "candidates": disc(colors, 0.75),
        "free": {"mode": "lines", "line": {**line, "width": 1, "dash": "4px,4px"}},
        "paid": {"mode": "lines", "line": {**line, "width": 2.2}},
        "centers": center(colors),
    }
    k = len(trace.cluster_centers)
    alt = f"A plane with {k} released centers, chosen among candidates from crowded cells."
    met = next((step.released["candidates"] for step in reversed(trace.steps) if "candidates" in step.released), ())
    words = f"{counted(len(met), 'candidate')} give{'s' * (len(met) == 1)}" if len(met) else "No cell is crowded;"
    return layered(view, f"{words} {counted(k, 'center')}", looks, _layers(view, shots), alt)


def _counts(view: View, shots: list[Shot]) -> Panel:
    trace, colors = view.trace, view.colors
    tables = {
        t: (weight_table if step.kind == "weights" else bucket_table)(step, hidden=view.hidden)
        for t, step in enumerate(trace.steps)
        if step.kind in (*COUNTED, "weights")
    }
    true = all("true_count" in table for table in tables.values())
    last = max(tables)
    things = "counts are above 0" if trace.steps[last].kind == "weights" else "cells are crowded"
    n_kept, met = int(tables[last].kept.sum()), len(tables[last])
    figure = base(colors, f"{n_kept} of {met} {things}" if met else "No cell is crowded", height=150)
    figure.add_bar(name="noisy count", hovertemplate="%{y:.0f}<extra></extra>")
    figure.add_scatter(mode="lines", name="threshold", line={"color": colors.ink, "width": 1.6}, hoverinfo="skip")
    if true:
        tag(figure, colors, "NOT PRIVATE ― true", below=True)
        figure.add_scatter(name="true count (not private)", **true_tick(colors, 11))
    figure.update_xaxes(showticklabels=False, ticks="", showgrid=False, range=[0.4, TOP + 0.6])
    highest = [float(table.noisy_count.max()) for table in tables.values() if len(table)]
    levels = [step.released["threshold"] for step in trace.steps if step.kind in COUNTED]
    figure.update_yaxes(type="log", dtick=1, range=[1, math.log10(1.3 * max([20.0, *highest, *levels]))])
    empty = {"x": [None], "y": [None]}
    updates, last = [], 0  # the first step is a table of cells
    for shot in shots:
        last = shot.step if shot.step in tables else last
        table = tables[last].head(TOP)
        pale = ~table.kept if shot.phase == AVERAGES else np.zeros(len(table), dtype=bool)
        bars = {
            "x": table["rank"].tolist(),
            "y": table.noisy_count.round(1).tolist(),
            "marker": {"color": [colors.released_soft if p else colors.released for p in pale]},
        }
        level = trace.steps[last].released.get("threshold")
        line = empty if level is None else {"x": [0.4, TOP + 0.6], "y": [level, level]}
        ticks = [{"x": table["rank"].tolist(), "y": table.true_count.tolist()}] if true else []
        updates.append([bars, line, *ticks] if len(table) else [empty, line, *([empty] if true else [])])
    add_frames(figure, [0, 1, 2] if true else [0, 1], updates)
    return Panel(
        "side",
        figure,
        f"Bars: the {TOP} largest noisy counts of each table, on a log axis; the line is the release threshold.",
    )


def losses_panel(view: View, shots: list[Shot]) -> Panel:
    """Draw the parts of the loss; they appear only in the last frame."""
    colors, table = view.colors, loss_table(view)
    times = table.loss / (view.reference_loss or 1.0)
    added = {"The cells add": times.iloc[1] - times.iloc[0], "The choice adds": times.iloc[2] - times.iloc[1]}
    most = max(added, key=lambda part: added[part])
    unit = f" × {view.against}" * bool(view.reference_loss)
    title = f"{most} {number(added[most], 2)}{unit}" if added[most] > 0 else f"As good as {view.against}"
    figure = base(colors, title, height=150, margin_left=110)
    tag(figure, colors, below=True)
    figure.add_bar(
        orientation="h", hoverinfo="skip", textposition="outside", cliponaxis=False, textfont={"color": colors.ink},
        marker={"color": "rgba(0,0,0,0)", "line": {"color": [colors.hidden, colors.person, colors.ink], "width": 2}},
    )  # fmt: skip
    figure.update_xaxes(title_text=loss_title(view), range=[0, 1.3 * float(times.max())])
    figure.update_yaxes(autorange="reversed", showgrid=False)
    bars = {"x": times.tolist(), "y": table.what.tolist(), "text": [number(loss) for loss in times]}
    nothing = {
        "x": [0.0] * len(table),
        "y": table.what.tolist(),
        "text": ["appears at the end", *[""] * (len(table) - 1)],
    }
    add_frames(figure, [0], [[nothing]] * (len(shots) - 1) + [[bars]])
    words = ", ".join(f"{row.what} {number(row.loss)}" for row in table.itertuples())
    return Panel("side", figure, f"Bars: final loss: {words}. Not private.")


def panels(view: View, shots: list[Shot]) -> list[Panel]:
    """Return the panels: plane, counts, the parts of the loss (if hidden layers are on), spend and ledger."""
    drawn = [plane_panel(view, shots), _counts(view, shots)]
    last = view.trace.steps[-1].released
    if view.hidden and view.people is not None and view.reference_loss is not None and "candidates" in last:
        drawn.append(losses_panel(view, shots))
    if view.hidden and view.losses is not None and np.isfinite(view.losses).sum() > 1:
        drawn.append(loss_panel(view, shots))
    return [*drawn, spend_panel(view, shots), ledger_panel(view, shots)]


PANE = Pane(
    draw=panels,
    shots=shots,
    events=events,
    cells=True,
    legend=(
        ("box", "crowded cell (shade: noisy count)"),
        ("disc", "candidate"),
        ("dashed", "to the nearest center, at no cost"),
        ("path", "swap"),
        ("center", "released center"),
        ("diamond", "KMeans"),
        ("ring", "person"),
    ),
    caution="An empty cell and a cell just below the threshold look the same to everybody. With "
    "more than four columns, cells lie along random directions that no plane shows; only their averages are drawn.",
    warning=warning,
)
