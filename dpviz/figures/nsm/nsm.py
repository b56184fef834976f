"""Draw NSM: reach and spread of the rows, candidates with noisy counts, the free search, and the paid corrections."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpviz.figures.kit.layers import (
    NOWHERE,
    center,
    disc,
    disc_sizes,
    layered,
    outline,
    paths,
    segments,
    tint,
    true_tick,
    waiting,
)
from dpviz.figures.kit.pane import Pane
from dpviz.figures.kit.panels import closing
from dpviz.figures.kit.shots import Shot, split_title
from dpviz.figures.kit.theme import base, tag
from dpviz.figures.kit.view import Panel, View, add_frames, moved, xy
from dpviz.figures.kit.votes import MAX_TRIALS, TRIAL, VOTE, drawn, votes_panel, voting
from dpviz.figures.nsm.nsm_film import events
from dpviz.numbers import counted, number, percent
from dpviz.trace import Step, Trace

__all__ = ["PANE", "bulk", "radius_table", "strength_table"]

FLAT = 3  # with more columns than this, a ball's shadow on the plane says little about the ball
SHORT = 30  # letters of a title beside which a tag has room


def _mean_words(step: Step, phase: int, trace: Trace) -> tuple[str, str]:
    released = step.released
    off = float(np.linalg.norm(released["middle"])) / trace.domain.radius
    return "Mean", (
        f"the noisy sum of all rows (±{number(released['noise_sd'], 2)} in every column) places their mean "
        f"{percent(off)} of the radius away from the middle of the bounds; the next steps measure from there"
    )


def _radius_words(step: Step, phase: int, trace: Trace) -> tuple[str, str]:
    released = step.released
    return "Radius", (
        f"noisy counts in {len(released['edges'])} shells (±{number(released['noise_sd'], 2)} each) show that rows "
        f"lie within {percent(released['radius'] / trace.domain.radius)} of the declared radius"
    )


def _near_words(step: Step, phase: int, trace: Trace) -> tuple[str, str]:
    released = step.released
    return "Near", (
        f"noisy counts in {len(released['edges'])} shells (±{number(released['noise_sd'], 2)} each) show that most "
        f"rows lie within {percent(released['radius'] / trace.domain.radius)} of the declared radius; rows farther out "
        "count as if they were at that distance"
    )


def _moment_words(step: Step, phase: int, trace: Trace) -> tuple[str, str]:
    table = strength_table(step, hidden=False)
    return "Directions", (
        f"the noisy second moment: {int(table.signal.sum())} of {len(table)} directions stand out from the noise"
    )


def _summary_words(step: Step, phase: int, trace: Trace) -> tuple[str, str]:
    released = step.released
    head, size = step.kind.capitalize(), len(released["population"])
    if phase == TRIAL:
        return head, f"{size:,} points, placed from public and released values only"
    if phase == VOTE:
        return head, (
            "each row is counted at its nearest point and adds its offset from that point; noise of standard "
            f"deviation {number(released['noise_sd'], 2)} on every count"
        )
    kept = f"{int(released['kept'].sum()):,} of {size:,}"
    if not released["threshold"]:
        return head, f"{kept} have a positive count over all levels and move to the noisy mean of their rows"
    return head, (
        f"{kept} stay and move to the noisy mean of their rows; below {released['threshold']:.0f} a count may be noise "
        "alone"
    )


def _look_words(step: Step, phase: int, trace: Trace) -> tuple[str, str]:
    released = step.released
    if phase == TRIAL:
        return "First look", f"the middles of {len(released['population']):,} cells, from released values alone"
    if phase == VOTE:
        return "First look", (
            f"each row is counted at its nearest middle; noise of standard deviation {number(released['noise_sd'], 2)} "
            "on every count"
        )
    return "First look", f"{step.title[0].lower()}{step.title[1:]}"


def _boxes_words(step: Step, phase: int, trace: Trace) -> tuple[str, str]:
    released = step.released
    size, level = len(released["population"]), sum(one.kind == "boxes" for one in trace.steps[: step.index + 1])
    head = f"Boxes, level {level}"
    if phase == TRIAL:
        return head, f"the middles of {size:,} boxes, which public and released values alone decide"
    if phase == VOTE:
        return head, (
            "each row is counted at its nearest middle; noise of standard deviation "
            f"{number(released['noise_sd'], 2)} on every count"
        )
    return head, (
        f"{int(released['kept'].sum()):,} of {size:,} seem to hold many rows and are quartered; all others stay whole "
        "and are counted again"
    )


def _solve_words(step: Step, phase: int, trace: Trace) -> tuple[str, str]:
    points = f"{len(step.released['coreset_points'])} " if "coreset_points" in step.released else ""
    words = f"k-means with restarts and swaps on the {points}noisy points: no row is read and nothing is spent"
    return "Search at no cost", words


def _correction_words(step: Step, phase: int, trace: Trace) -> tuple[str, str]:
    head, tail = split_title(step)
    seen = trace.domain.n_features <= FLAT and step is not trace.steps[-1]
    disc = "; a row outside its disc pulls as if it were on the rim" if seen else ""
    if "split" in step.released and step.released["split"].any():
        split = int(step.released["split"].sum())
        disc = f"; {split} dashed centers changed when wide clusters were split and close ones merged, at no cost"
    return head, f"{tail} to the noisy mean of their rows{disc}"


WORDS = {
    "mean": _mean_words,
    "radius": _radius_words,
    "near": _near_words,
    "moment": _moment_words,
    "look": _look_words,
    "boxes": _boxes_words,
    "candidates": _summary_words,
    "zoom": _summary_words,
    "solve": _solve_words,
    "correction": _correction_words,
}


def shots(trace: Trace) -> list[Shot]:
    """Return three pictures of a step with counts (points, noisy counts, kept points), and one of every other step."""
    return voting(trace, lambda step, phase: WORDS[step.kind](step, phase, trace))


def radius_table(step: Step, *, hidden: bool) -> pd.DataFrame:
    """Return the shells, outermost first: columns reach (outer edge, z units), noisy_counts, outside, true_counts.

    `outside` marks the shells beyond the learned radius; `true_counts` exists only if `hidden`.
    """
    released = step.released
    table = pd.DataFrame(
        {
            "reach": released["edges"],
            "noisy_counts": released["noisy_counts"],
            "outside": released["edges"] > released["radius"],
        }
    )
    if hidden and step.hidden:
        (table["true_counts"],) = step.hidden[0].statistic.values()
    return table


def bulk(step: Step) -> float:
    """Return 2 sd sqrt(p / 2), the largest eigenvalue of a second moment that consists of noise alone (Wigner)."""
    return float(2 * step.released["noise_sd"] * np.sqrt(len(step.released["moment"]) / 2))


def strength_table(step: Step, *, hidden: bool) -> pd.DataFrame:
    """Return the eigenvalues of the second moment, largest first: columns direction, strength, signal, true_strength.

    `signal` is true for an eigenvalue larger than noise alone would give.
    """
    moment = step.released["moment"]
    strength = np.linalg.eigvalsh((moment + moment.T) / 2)[::-1]
    table = pd.DataFrame({"direction": range(1, len(strength) + 1), "strength": strength})
    table["signal"] = strength > bulk(step)
    if hidden and step.hidden:
        (true,) = step.hidden[0].statistic.values()
        table["true_strength"] = np.linalg.eigvalsh(true)[::-1]
    return table


def _reach(view: View, step: Step) -> np.ndarray:
    """Return discs around the centers before a correction; the radius limits the offset that a row contributes."""
    released, root = step.released, step.released["radius"] * np.eye(view.trace.domain.n_features)
    return paths([outline(view, root, at) for at in released["start"]])


def _shape(view: View, step: Step) -> np.ndarray:
    """Return the outline that a step has learned: the radius, or two standard deviations; empty if it is projected."""
    released, d = step.released, view.trace.domain.n_features
    middle = next((earlier.released["middle"] for earlier in view.trace.steps if earlier.kind == "mean"), np.zeros(d))
    if step.kind in ("radius", "near"):
        return outline(view, released["radius"] * np.eye(d), middle)
    if len(released["spread"]) != d:
        return NOWHERE
    return outline(view, 2 * released["directions"] * np.sqrt(released["spread"]), middle)


def _spokes(view: View, step: Step) -> np.ndarray:
    """Return lines from the noisy points to their nearest centers."""
    points, centers = step.released["coreset_points"], step.released["centers"]
    nearest = ((points[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    return segments(view.plane(points), view.plane(centers[nearest]))


def _layers(view: View, step: Step, phase: int) -> dict[str, dict]:
    """Return the layers that the plane shows at this step and phase; other layers are empty."""
    released, d = step.released, view.trace.domain.n_features
    if step.kind == "mean":
        return {"centers": xy(view.plane(released["middle"][None]))}
    if step.kind in ("radius", "near", "moment"):
        return {"shape": xy(_shape(view, step))}
    if "population" in released and released["population"].shape[1] == d:
        visible, at, sizes = (
            drawn(released, MAX_TRIALS),
            view.plane(released["population"]),
            disc_sizes(released["noisy_votes"]),
        )
        heavy = released["kept"]
        voted = visible[released["noisy_votes"][visible] > 0]
        if phase == TRIAL:
            return {"trials": xy(at[visible])}
        if phase == VOTE:
            return {"trials": xy(at[visible]), "votes": {**xy(at[voted]), "marker": {"size": sizes[voted]}}}
        if step.kind in ("boxes", "look"):
            return {"points": {**xy(at[heavy]), "marker": {"size": sizes[heavy]}}}
        means = view.plane(released["means"])
        points = {**moved(at[heavy], means), "marker": {"size": sizes[heavy]}}
        return {"paid": xy(segments(at[heavy], means)), "points": points}
    if step.kind == "solve" and "coreset_points" in released:
        sizes = disc_sizes(released["coreset_weights"])
        points = {**xy(view.plane(released["coreset_points"])), "marker": {"size": sizes}}
        return {"points": points, "free": xy(_spokes(view, step)), "centers": xy(view.plane(released["centers"]))}
    if step.kind == "correction":
        start, now, moves = view.plane(released["start"]), view.plane(released["centers"]), released["moved"]
        split = released.get("split", np.zeros(len(now), dtype=bool))
        # a start of zeros in every column marks the first average
        paid = moves & ~split & released["start"].any(axis=1)
        return {
            "shape": xy(_reach(view, step) if d <= FLAT and step is not view.trace.steps[-1] else NOWHERE),
            "free": xy(segments(start, now)[np.repeat(split, 3)]),
            "paid": xy(segments(start, now)[np.repeat(paid, 3)]),
            "still": xy(now[~moves]),
            "centers": moved(start[moves], now[moves]),
        }
    return {}


def _plane(view: View, shots: list[Shot]) -> Panel:
    trace, colors = view.trace, view.colors
    line = {"color": colors.released, "width": 1.6}
    released = center(colors)
    looks = {
        "shape": {
            "mode": "lines",
            "fill": "toself",
            "fillcolor": tint(colors.released, 0.1),
            "line": {**line, "width": 1},
        },
        "trials": {"mode": "markers", "marker": {"color": colors.released_soft, "size": 3.2, "opacity": 0.75}},
        "votes": {"mode": "markers", "marker": {"color": colors.released, "opacity": 0.22}},
        "points": disc(colors),
        "free": {"mode": "lines", "line": {**line, "width": 1, "dash": "4px,4px"}},
        "paid": {"mode": "lines", "line": {**line, "width": 2.2}},
        "still": {"mode": "markers", "marker": {**released["marker"], "color": colors.released_soft}},
        "centers": released,
    }
    frames = [_layers(view, trace.steps[shot.step], shot.phase) for shot in shots]
    alt = f"A plane with {len(trace.cluster_centers)} released centers after free k-means and paid corrections."
    points = next(len(step.released["weights"]) for step in reversed(trace.steps) if "weights" in step.released)
    paid = sum(step.kind == "correction" for step in trace.steps)
    k = len(trace.cluster_centers)
    title = f"{counted(points, 'noisy point')} and {counted(paid, 'correction')} give {counted(k, 'center')}"
    return layered(view, title, looks, frames, alt)


def _bars(
    view: View, shots: list[Shot], title: str, kind: str, table: pd.DataFrame, cut: dict[str, list[float]]
) -> go.Figure:
    """Draw bars (columns x, y, strong and possibly true) and the line `cut`, both absent before the step of `kind`."""
    trace, colors = view.trace, view.colors
    figure = base(colors, title, height=132)
    figure.add_bar(hovertemplate="%{y:,.3~r}<extra></extra>")
    figure.add_scatter(mode="lines", line={"color": colors.ink, "width": 1.6}, hoverinfo="skip")
    color = [colors.released if strong else colors.released_soft for strong in table.strong]
    bars = [{"x": table.x.tolist(), "y": table.y.round(1).tolist(), "marker": {"color": color}}, cut]
    if "true" in table:
        tag(figure, colors, "NOT PRIVATE ― true", below=len(title) > SHORT)
        figure.add_scatter(name="true (not private)", **true_tick(colors))
        bars.append({"x": table.x.tolist(), "y": table.true.tolist()})
    values = table.filter(["y", "true"]).to_numpy()
    top = 1.12 * max(float(values.max()), 1.0)
    figure.update_yaxes(range=[min(1.12 * values.min(), 0), top])
    figure.update_xaxes(range=[table.x.min() - 0.7, table.x.max() + 0.7], showgrid=False)
    last = waiting(figure, colors, float(table.x.mean()), top / 2)
    empty: list[dict] = [*[xy(NOWHERE)] * len(bars), {"text": ["appears at a later step"]}]
    full = [*bars, {"text": [""]}]
    since = next(t for t, step in enumerate(trace.steps) if step.kind == kind)
    add_frames(figure, list(range(last + 1)), [full if shot.step >= since else empty for shot in shots])
    return figure


def _radius(view: View, shots: list[Shot], step: Step) -> Panel:
    table = radius_table(step, hidden=view.hidden)
    n, share = len(table), table.reach / view.trace.domain.radius
    table = table.assign(x=np.arange(n)[::-1], strong=~table.outside)
    table = table.rename(columns={"noisy_counts": "y", "true_counts": "true"})
    at, top = n - 0.5 - table.outside.sum(), table.y.max()
    learned = share[~table.outside].max()
    title = f"{'Rows' if step.kind == 'radius' else 'Most rows'} lie within {percent(learned)} of the radius"
    figure = _bars(view, shots, title, step.kind, table, {"x": [at, at], "y": [0, top]})
    every = slice(0, None, 3)
    figure.update_xaxes(
        title_text="share of the declared radius",
        tickvals=table.x[every],
        ticktext=[f"{s:.0%}" for s in share[every]],
    )
    return Panel(
        "plane",
        figure,
        f"Bars: noisy counts by norm; the learned radius is {percent(learned)} of the declared one.",
    )


def _strength(view: View, shots: list[Shot], step: Step) -> Panel:
    table = strength_table(step, hidden=view.hidden).rename(columns={"strength": "y", "true_strength": "true"})
    table = table.assign(x=table.direction, strong=table.signal)
    edge = bulk(step)
    ends = [0.3, len(table) + 0.7]
    title = f"{int(table.signal.sum())} of {len(table)} directions stand out"
    figure = _bars(view, shots, title, "moment", table, {"x": ends, "y": [edge, edge]})
    figure.update_xaxes(title_text="direction, strongest first", dtick=-(-len(table) // 10))
    return Panel(
        "side", figure, f"Bars: {int(table.signal.sum())} of {len(table)} directions stand out from the noise."
    )


def panels(view: View, shots: list[Shot]) -> list[Panel]:
    """Return the panels: plane, bars of the summary, loss (if hidden layers are on), spend and ledger."""
    draw = {"radius": _radius, "near": _radius, "moment": _strength}
    learned = [draw[step.kind](view, shots, step) for step in view.trace.steps if step.kind in draw]
    return [_plane(view, shots), *learned, votes_panel(view, shots, "counts"), *closing(view, shots)]


PANE = Pane(
    draw=panels,
    shots=shots,
    events=events,
    legend=(
        ("dot", "candidate"),
        ("disc", "noisy mean (area: count)"),
        ("dashed", "free"),
        ("path", "paid move"),
        ("center", "released center"),
        ("diamond", "KMeans"),
        ("ring", "person"),
    ),
    caution="Free means that no row is read again, not that the result is right: restarts and swaps fit the noisy "
    "points, noise included. A single run is one draw of the noise.",
)
