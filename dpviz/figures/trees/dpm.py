"""Draw DPM: nested boxes and cuts on the plane, the tree of regions, strips of true scores, and the price of a path."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from dpviz.figures.kit.layers import center
from dpviz.figures.kit.pane import Pane
from dpviz.figures.kit.panels import plane, reference, spend_panel
from dpviz.figures.kit.shots import Shot
from dpviz.figures.kit.theme import base
from dpviz.figures.kit.tree import tree_panel, tree_table
from dpviz.figures.kit.view import Panel, View, add_frames, thin, xy
from dpviz.figures.trees import dpm_film, dpm_pictures
from dpviz.figures.trees.dpm_scores import ROOM, margins, scored, strips_panel
from dpviz.numbers import counted, number
from dpviz.privacy.accounting import epsilon_of_mu
from dpviz.privacy.ledger import Release, spent
from dpviz.trace import Trace

__all__ = ["PANE", "budget_table", "pairs", "regions_table"]

MAX_MOVING = 250  # maximum number of people drawn if the two columns change from frame to frame
_NONE = np.empty((0, 2))


def shots(trace: Trace) -> list[Shot]:
    """Return one picture per step; the slider has ticks at accepted cuts and at the averages."""
    regions = sum(step.kind == "region" for step in trace.steps)
    pictures = []
    for t, step in enumerate(trace.steps):
        words = (f"Region {t + 1} of {regions}", step.title) if step.kind == "region" else (step.title, "")
        pictures.append(Shot(t, *words, step.n_releases, tick=bool(step.released.get("accepted", True))))
    return pictures


def regions_table(trace: Trace, axes: tuple[int, int]) -> pd.DataFrame:
    """Return one row per region in the order of visits, projected on two columns (exact for boxes), original units.

    Columns: frame, node, depth, noisy_count, final, reason, column (of the cut; -1 if none), x0, x1, y0, y1.
    """
    rows = []
    d = trace.domain.n_features
    for t, step in enumerate(trace.steps):
        if step.kind != "region":
            continue
        released = step.released
        (x0, y0), (x1, y1) = (trace.domain.denormalize(released[end])[list(axes)] for end in ("low", "high"))
        y0, y1 = (-1.0, 1.0) if d == 1 else (y0, y1)
        rows.append(
            {name: released[name] for name in ("node", "depth", "noisy_count", "reason", "column")}
            | {"frame": t, "final": not released["accepted"], "x0": x0, "x1": x1, "y0": y0, "y1": y1}
        )
    return pd.DataFrame(rows)


def pairs(view: View) -> list[tuple[int, int]]:
    """Return the two columns drawn in every frame: the chosen ones, or those of the region's latest cuts."""
    trace, d = view.trace, view.trace.domain.n_features
    if d == 1:
        return [(0, 0)] * len(trace.steps)
    if view.axes is not None or d == 2:
        return [view.axes or (0, 1)] * len(trace.steps)
    cut = {step.released["node"]: step.released["column"] for step in trace.steps if step.kind == "region"}
    often = [column for column, _ in Counter(c for c in cut.values() if c >= 0).most_common(2)]
    usual = [*often, *(i for i in range(d) if i not in often)]
    chosen = []
    for step in trace.steps:
        node = step.released.get("node", 0)
        # columns of this cut, of its parent's cut, and so on
        chain = [cut[node >> i] for i in range(node.bit_length())]
        wanted = list(dict.fromkeys([c for c in chain if c >= 0] + usual))[:2]
        chosen.append((min(wanted), max(wanted)))
    return chosen


def _entry_epsilon(entry: Release, delta: float) -> float:
    ratio = entry.sensitivity / entry.scale
    return epsilon_of_mu(ratio, delta) if entry.mechanism == "Gaussian" else ratio


def budget_table(trace: Trace) -> pd.DataFrame:
    """Return, for every frame, what the path of the current region has paid.

    Columns: frame, level (-1 for the average), count, split, average, and total: the path's composed epsilon, which may
    be less than the sum of its parts.
    """
    delta = trace.claimed.delta
    paths: dict[int, tuple[int, ...]] = {1: (0,)}
    rows, before = [], 0
    for t, step in enumerate(trace.steps):
        if step.kind == "region":
            node = step.released["node"]
            for child, entry in enumerate(
                e for e in trace.ledger[before : step.n_releases] if len(e.path) > len(paths[node])
            ):
                paths[2 * node + child] = entry.path
            path, ledger = paths[node], trace.ledger[: step.n_releases]
        else:
            ledger = trace.ledger
            path = max((e.path for e in ledger if e.label == "average"), key=len)
        before = step.n_releases
        mine = [entry for entry in ledger if entry.path == path[: len(entry.path)]]
        total = spent(mine, delta).epsilon
        levels = {level: {"count": 0.0, "split": 0.0, "average": 0.0} for level in (-1, *range(len(path)))}
        for entry in mine:
            level = -1 if entry.label == "average" else len(entry.path) - 1
            levels[level][entry.label] += _entry_epsilon(entry, delta)
        rows += [{"frame": t, "level": level, **paid, "total": total} for level, paid in levels.items()]
    return pd.DataFrame(rows)


def _outline(boxes: pd.DataFrame) -> dict[str, Any]:
    """Return boxes as closed rectangles, separated by gaps."""
    corners = boxes[["x0", "y0", "x1", "y0", "x1", "y1", "x0", "y1", "x0", "y0"]].to_numpy().reshape(-1, 5, 2)
    return xy(np.concatenate([corners, np.full((len(corners), 1, 2), np.nan)], axis=1).reshape(-1, 2))


def _around(table: pd.DataFrame, node: int) -> np.ndarray:
    """Return the mask of the regions on the path to a node, and of the siblings of these regions."""
    path = {node >> i for i in range(node.bit_length())}
    return table.node.isin(path | {p ^ 1 for p in path if p > 1}).to_numpy()


def _marks(view: View, t: int, table: pd.DataFrame) -> tuple[list[dict[str, Any]], pd.DataFrame]:
    """Return the contents of a frame, in the order of the plane's traces, and the regions that react to the pointer."""
    step, d = view.trace.steps[t], view.trace.domain.n_features
    released, region = step.released, step.kind == "region"
    everywhere, final = np.ones(len(table), dtype=bool), table.final.to_numpy()
    visited, now = (table.frame <= t).to_numpy(), table[(table.frame == t).to_numpy()]
    around = _around(table, released["node"]) if region else ~everywhere
    visible = everywhere if d <= 2 else around
    cut, noise = {**xy(_NONE), "line": {"dash": "solid"}}, xy(_NONE)
    centers: dict[str, Any] = {**xy(_NONE), "marker": {"size": 12}}
    if not region:
        noise, centers = _centers(view, released)
    elif released["column"] in (view.axes or (0, 0)):
        dash = "solid" if released["accepted"] else "2px,5px"
        cut = {**xy(_cut(view, released, now.iloc[0])), "line": {"dash": dash}}
    scores = []
    if scored(view):
        curves, ticks = margins(view, t)
        scores, cut = [xy(curves)], {**cut, **xy(np.concatenate([_points(cut), [[np.nan, np.nan]], ticks]))}
    boxes = table[visible & visited & final], table[around & visited], now
    return [*map(_outline, boxes), cut, noise, centers, *scores], table[visible & (final if d <= 2 else visited)]


def _centers(view: View, released: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return ellipses that show the noise of the centers, if there is any, and the centers with sizes by weight."""
    flat, domain = view.plane(released["centers"]), view.trace.domain
    if "weights" not in released:
        return xy(_NONE), {**xy(flat), "marker": {"size": 12.0}}
    size = np.clip(18 * np.sqrt(released["weights"] / released["weights"].max()), 7, 18).round(1).tolist()
    ellipses = _ellipses(flat, released["sd"], domain.half_width[list(view.axes or (0, 0))], domain.n_features)
    return xy(ellipses), {**xy(flat), "marker": {"size": size}}


def _plane(view: View) -> Panel:
    trace, colors, d = view.trace, view.colors, view.trace.domain.n_features
    columns = pairs(view)
    follow = view.axes is None and d > 2
    seen = [dataclasses.replace(view, axes=pair) for pair in columns]
    accepted = sum(step.released["accepted"] for step in trace.steps if step.kind == "region")
    finals = int(regions_table(trace, columns[-1]).final.sum())
    title = f"{counted(accepted, 'cut')} leave{'s' * (accepted == 1)} {counted(finals, 'region')}"
    figure = plane(seen[-1], title)
    if follow:  # each frame shows two columns of its own, so the bounds and ratio of the base picture do not fit
        figure.layout.shapes, figure.layout.meta = (), None
        figure.update_yaxes(scaleanchor=None, constrain=None)
    first = len(figure.data)
    line = {"color": colors.released, "width": 1}
    figure.add_scatter(
        mode="lines", fill="toself", fillcolor=_alpha(colors.released, 0.14), line=line, name="final region",
        hoverinfo="skip",
    )  # fmt: skip
    figure.add_scatter(mode="lines", line=line, hoverinfo="skip", name="open region")
    figure.add_scatter(mode="lines", line={"color": colors.released, "width": 3.2}, hoverinfo="skip", name="region")
    figure.add_scatter(mode="lines", line={"color": colors.ink, "width": 3.5}, hoverinfo="skip", name="cut")
    figure.add_scatter(
        mode="lines", line={"color": colors.released, "width": 1.4, "dash": "dot"}, hoverinfo="skip", name="noise"
    )
    figure.add_scatter(**center(colors, size=None))  # each frame has its own sizes
    tables = {pair: regions_table(trace, pair) for pair in set(columns)}
    frames = [_marks(one, t, tables[pair]) for t, (one, pair) in enumerate(zip(seen, columns, strict=True))]
    updates, hits = [marks for marks, _ in frames], [hit for _, hit in frames]
    if scored(view):
        figure.add_scatter(mode="lines", line={"color": colors.hidden, "width": 1.6}, hoverinfo="skip", name="score")
        figure.update_layout(_axes(seen[-1]))
    traces = list(range(first, len(figure.data)))
    # the rings would not follow a change of columns
    still = dataclasses.replace(seen[-1], missed=None if follow else view.missed)
    reference(still, figure, *["┅ score"] * scored(view))
    if follow:
        layers = {"person": view.people, "KMeans (not private)": view.reference}
        moving = [(i, points) for i, data in enumerate(figure.data) if (points := layers.get(data.name)) is not None]
        traces += [i for i, _ in moving]
        for t, update in enumerate(updates):
            update += [xy(seen[t].flat(points[thin(len(points), MAX_MOVING)])) for _, points in moving]
    add_frames(figure, traces, updates, [_axes(one) for one in seen] if follow else None)
    boxes = [
        np.round(h[["x0", "y0", "x1", "y1", "frame"]].to_numpy(), 6).tolist() for h in (hits if d > 2 else hits[-1:])
    ]
    figure.update_layout(meta={**(figure.layout.meta or {}), "regions": boxes})
    k = len(trace.cluster_centers)
    return Panel("plane", figure, f"A plane with boxes nested by repeated cuts; {k} released centers at the end.")


def _points(line: Mapping[str, Any]) -> np.ndarray:
    return np.column_stack([line["x"], line["y"]])


def _alpha(color: str, alpha: float) -> str:
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha})"


def _axes(view: View) -> dict[str, Any]:
    """Return the ranges and titles of the plane's axes as the layout of a frame, with room for the scores."""
    low, high = view.bounds()
    pad, more = 0.04 * (high - low), (ROOM if scored(view) else 0.04) * (high - low)
    return {
        axis: {"range": [low[i] - pad[i], high[i] + more[i]], "title": {"text": title}}
        for i, (axis, title) in enumerate(zip(("xaxis", "yaxis"), view.axis_titles(), strict=True))
    }


def _cut(view: View, released: Any, box: pd.Series) -> np.ndarray:
    """Return the two ends of the line that draws a cut."""
    axes, domain = view.axes or (0, 0), view.trace.domain
    column = released["column"]
    at = released["position"] * domain.half_width[column] + domain.middle[column]
    if column == axes[0]:
        return np.array([[at, box.y0], [at, box.y1]])
    return np.array([[box.x0, at], [box.x1, at]])


def _ellipses(centers: np.ndarray, sd: np.ndarray, half_width: np.ndarray, d: int) -> np.ndarray:
    """Return an ellipse around each center at one standard deviation of its noise, with gaps between ellipses."""
    angle = np.linspace(0, 2 * np.pi, 25)
    circle = np.column_stack([np.cos(angle), np.sin(angle) * (d > 1)])
    curves = centers[:, None] + sd[:, None, None] * half_width * circle
    return np.concatenate([curves, np.full((len(curves), 1, 2), np.nan)], axis=1).reshape(-1, 2)


def _tree(view: View) -> Panel:
    trace = view.trace
    regions = [(t, step) for t, step in enumerate(trace.steps) if step.kind == "region"]
    table = tree_table([s.released["node"] for _, s in regions], [s.released["noisy_count"] for _, s in regions])
    number = {t: i for i, (t, _) in enumerate(regions)}
    return tree_panel(
        view,
        table,
        visits=[t for t, _ in regions],
        current=[number.get(t, -1) for t in range(len(trace.steps))],
        rejected=[step.released["reason"] == "one side too small" for _, step in regions],
        words=[step.title for _, step in regions],
    )


def _budget(view: View) -> Panel:
    trace, colors = view.trace, view.colors
    table, delta = budget_table(trace), trace.claimed.delta
    costs = trace.plan.costs
    deepest = len(costs["count"]) - 1
    parts = {name: [cost.pure for cost in costs[name]] for name in ("count", "split")}
    planned = [c + s for c, s in zip(parts["count"], [*parts["split"], 0.0], strict=True)]
    planned.append(epsilon_of_mu(costs["average"][0].gdp, delta))
    figure = base(colors, f"A full path costs ε {number(trace.claimed.epsilon)}", height=150)
    where = list(range(deepest + 2))
    figure.add_bar(x=where, y=planned, marker={"color": colors.released_soft}, hoverinfo="skip", width=0.86)
    for name, opacity in (("count", 1.0), ("choice of cut", 0.55), ("average", 1.0)):
        figure.add_bar(
            name=name, width=0.86, marker={"color": colors.released, "opacity": opacity},
            hovertemplate=f"{name}: ε %{{y:,.3~r}}<extra></extra>",
        )  # fmt: skip
    figure.add_scatter(mode="text", x=[-0.4], y=[1.1 * max(planned)], textposition="bottom right", hoverinfo="skip")
    figure.update_layout(barmode="overlay")
    figure.update_xaxes(tickvals=where, ticktext=[*map(str, where[:-1]), "average"], title_text="level")
    figure.update_xaxes(range=[-0.6, deepest + 1.6], showgrid=False)
    figure.update_yaxes(title_text="ε", range=[0, 1.15 * max(planned)])
    updates = []
    for _, rows in table.groupby("frame"):
        paid = rows.set_index("level").reindex(where[:-1], fill_value=0.0)  # the number of bars never changes
        count, choice, average = paid["count"].tolist(), paid.split.tolist(), float(rows.average.sum())
        updates.append(
            [
                {"x": where[:-1], "y": count},
                {"x": where[:-1], "y": choice, "base": count},
                {"x": where[-1:], "y": [average]},
                {"text": [f"ε = {number(rows.total.iloc[0])} of {number(trace.claimed.epsilon)}"]},
            ]
        )
    add_frames(figure, [1, 2, 3, 4], updates)
    alt = f"Bars: epsilon per level of the tree; a full path costs {number(trace.claimed.epsilon)}."
    return Panel("wide", figure, alt)


def panels(view: View, shots: list[Shot]) -> list[Panel]:
    """Return the panels: plane, tree, budget and, if hidden layers are on, true scores."""
    drawn = [_plane(view), _tree(view), spend_panel(view, shots)]
    if not view.trace.noiseless:
        drawn.append(_budget(view))
    if scored(view):
        drawn.append(strips_panel(view))
    return drawn


PANE = Pane(
    draw=panels,
    shots=shots,
    events=dpm_film.events,
    legend=(
        ("box", "region"),
        ("cut", "cut (dotted: rejected)"),
        ("hatch", "final region"),
        ("center", "released center (area: noisy count; dotted: noise)"),
        ("diamond", "KMeans"),
        ("ring", "person"),
    ),
    caution="The score curves are computed from the raw rows and are never released; only the chosen cut and the noisy "
    "counts are. More centers always lower the loss, and DPM chooses how many: compare its loss only with that "
    "of as many centers.",
    pictures=dpm_pictures.pictures,
    picture_legend=dpm_pictures.LEGEND,
    cells=True,
    follows=True,
    unpinned="each cut's column and the column before it",
)
