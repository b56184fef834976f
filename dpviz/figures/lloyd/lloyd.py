"""Draw the Lloyd family: the radius, each center's noisy move, its shortening and return to the bounds, the noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dpviz.figures.kit.layers import center, layered, segments, true_tick
from dpviz.figures.kit.pane import Pane
from dpviz.figures.kit.panels import MAX_PEOPLE, closing
from dpviz.figures.kit.shots import Shot, in_phases
from dpviz.figures.kit.theme import base, tag
from dpviz.figures.kit.view import Panel, View, add_frames, moved, thin, xy
from dpviz.figures.lloyd.lloyd_film import ASSIGN, FAR, LOST, MOVE, RAW, drawn_ends, events, outside
from dpviz.numbers import counted, number, plus_minus
from dpviz.trace import Step, Trace

__all__ = ["PANE", "counts_table", "moves_table", "outside", "shadow", "shots"]

CORNERS = 900  # maximum number of corners of all outlines of one kind in a frame; an outline has at most 48


def shots(trace: Trace) -> list[Shot]:
    """Return one picture of the start and three per iteration; the releases are made at the second of the three."""
    return in_phases(
        trace,
        lambda step: range(3) if "raw" in step.released else (MOVE,),
        lambda step, phase: _words(step, phase, trace),
        asking=ASSIGN,
    )


def _words(step: Step, phase: int, trace: Trace) -> tuple[str, str]:
    released, domain = step.released, trace.domain
    if "raw" not in released:
        return "Start", step.title
    head = f"Iteration {released['round']} of {released['rounds']}"
    if phase == ASSIGN and released["constrained"]:
        reach = domain.length(released["radius"])
        if released.get("pulls_from_afar"):
            return head, f"every row pulls its nearest center, a row beyond {reach} only as if it lay at {reach}"
        return head, f"only rows within {reach} of their center count, and each adds its offset from that center"
    if phase == ASSIGN:
        return (
            head,
            "every row counts at its nearest center; one distant row can change a sum by the domain's full radius",
        )
    if phase == RAW:
        typical = released["sums_sd"] / max(float(np.median(released["noisy_counts"])), 1.0)
        moves = domain.length(typical)
        return (
            head,
            f"noisy sum / noisy count; the noise moves the center of a median-sized cluster by {moves} per column",
        )
    table = moves_table(step)
    count = {"shortened to the radius": int(table.shortened.sum()), "back into the bounds": int(table.returned.sum())}
    words = ", ".join(f"{times} {what}" for what, times in count.items() if times)
    dead = int(released["dead"].sum())
    tail = "every center moves to its noisy mean" + f" ({words})" * bool(words)
    low = "too low to move a center" if released.get("pulls_from_afar") else "at most 1"
    return head, tail + (f"; {dead} noisy count{'s are' if dead > 1 else ' is'} {low}" if dead else "")


def warning(trace: Trace) -> str:
    """Return a sentence if an average cluster has fewer rows than four standard deviations of a count's noise."""
    n, k = trace.domain.n_public, len(trace.cluster_centers)
    sd = next((step.released["counts_sd"] for step in trace.steps if "counts_sd" in step.released), 0.0)
    if n is None or n / k >= 4 * sd:
        return ""
    return (
        f"{k} centers for {n:,} rows hold about {number(n / k, 2)} rows each, but every count has noise of "
        f"±{number(sd, 2)}. Try fewer centers, fewer iterations, or a larger epsilon."
    )


def moves_table(step: Step) -> pd.DataFrame:
    """Return one row per center: the raw and the final length of its move (z units), shortened, returned, dead."""
    released = step.released
    raw, short, last = (
        np.linalg.norm(released[name] - released["start"], axis=1) for name in ("raw", "clipped", "centers")
    )
    return pd.DataFrame(
        {
            "center": range(len(raw)),
            "raw": raw,
            "final": last,
            "shortened": short < raw * (1 - 1e-9),
            "returned": np.linalg.norm(released["centers"] - released["clipped"], axis=1) > 1e-4,
            "dead": released["dead"],
        }
    )


def counts_table(step: Step, *, hidden: bool) -> pd.DataFrame:
    """Return the NOISY counts of the centers: columns center, noisy_counts, sd, dead and, if `hidden`, true_counts."""
    released = step.released
    table = pd.DataFrame(
        {
            "center": range(1, len(released["noisy_counts"]) + 1),
            "noisy_counts": released["noisy_counts"],
            "sd": released["counts_sd"],
            "dead": released["dead"],
        }
    )
    if hidden and step.hidden:
        table["true_counts"] = step.hidden[0].statistic["counts"]
    return table


def shadow(view: View, radius: np.ndarray, around: np.ndarray) -> np.ndarray:
    """Return the outlines on the plane, shape (., 2), of balls given in z units, with a NaN row after each outline.

    The balls have radii `radius` (k,) and centers `around` (k, d). A linear map turns a ball into an ellipse on the
    plane: the image of a disk under the map's polar part.
    """
    d = view.trace.domain.n_features
    linear = view.plane(np.eye(d)) - view.plane(np.zeros((1, d)))
    values, vectors = np.linalg.eigh(linear.T @ linear)
    half = vectors * np.sqrt(np.maximum(values, 0)) @ vectors.T
    angle = np.linspace(0, 2 * np.pi, int(np.clip(CORNERS // max(len(radius), 1), 9, 48)))
    circle = np.append(np.stack([np.cos(angle), np.sin(angle)], axis=1) @ half, [[np.nan, np.nan]], axis=0)
    return (view.plane(around)[:, None] + radius[:, None, None] * circle[None]).reshape(-1, 2)


def _plane(view: View, shots: list[Shot]) -> Panel:
    trace, colors = view.trace, view.colors
    looks = {
        "radius": {"mode": "lines", "line": {"color": colors.released_soft, "width": 1.4}},
        "noise, 1 standard deviation": {
            "mode": "lines", "fill": "toself", "fillcolor": "rgba(0,0,0,0)",
            "line": {"color": colors.released, "width": 1, "dash": "dot"},
        },
        "noisy move": {"mode": "lines", "line": {"color": colors.released, "width": 1.2, "dash": "dash"}},
        "move": {"mode": "lines", "line": {"color": colors.released, "width": 2}},
        "center": center(colors),
    }  # fmt: skip
    if view.hidden and view.people is not None:
        marker = {"symbol": "x-thin-open", "size": 6, "color": colors.hidden, "line": {"width": 1.2}}
        looks["lost"] = {"mode": "markers", "name": LOST, "marker": marker}
    frames = [_layers(view, trace.steps[shot.step], shot.phase) for shot in shots]
    k, rounds = len(trace.cluster_centers), len(trace.steps) - 1
    alt = f"A plane with {k} released centers after {rounds} noisy iterations."
    short = sum(int(moves_table(step).shortened.sum()) for step in trace.steps if "raw" in step.released)
    beside = f"; {counted(short, 'move')} shortened" if short else ""
    title = f"{counted(k, 'center')} after {counted(rounds, 'noisy iteration')}{beside}"
    return layered(view, title, looks, frames, alt)


def _layers(view: View, step: Step, phase: int) -> dict[str, dict[str, Any]]:
    """Return the layers that the plane shows at this step and phase; other layers are empty."""
    released, domain = step.released, view.trace.domain
    if "raw" not in released:
        return {"center": xy(view.plane(released["centers"]))}
    start, now = released["start"], released["centers"]
    if phase == MOVE:
        old, new = view.plane(start), view.plane(now)
        return {"move": xy(segments(old, new)), "center": moved(old, new)}
    layers = {"center": xy(view.plane(start))}
    if released["constrained"]:
        layers["radius"] = xy(shadow(view, np.full(len(start), released["radius"]), start))
    if phase == RAW:
        ends, spread = drawn_ends(view, step), released["sums_sd"] / np.maximum(np.abs(released["noisy_counts"]), 1.0)
        layers["noisy move"] = xy(segments(view.plane(start), view.plane(ends)))
        layers["noise, 1 standard deviation"] = xy(shadow(view, np.minimum(spread, FAR * domain.radius), ends))
    elif view.hidden and view.people is not None:
        Z = domain.clip(domain.normalize(view.people[thin(len(view.people), MAX_PEOPLE)]))
        layers["lost"] = xy(view.plane(Z[outside(step, Z)]))
    return layers


def _counts(view: View, shots: list[Shot]) -> Panel:
    trace, colors = view.trace, view.colors
    tables = {t: counts_table(s, hidden=view.hidden) for t, s in enumerate(trace.steps) if "noisy_counts" in s.released}
    true = all("true_counts" in table for table in tables.values())
    least = tables[max(tables)].nsmallest(1, "noisy_counts").iloc[0]
    figure = base(colors, f"Smallest count: {plus_minus(least.noisy_counts, least.sd)}", height=150)
    figure.add_bar(
        name="noisy count",
        hovertemplate="center %{x}: %{y:.0f}<extra></extra>",
        error_y={"type": "data", "array": [], "color": colors.muted, "thickness": 1.2, "width": 3},
    )
    if true:
        tag(figure, colors, "NOT PRIVATE ― true")
        figure.add_scatter(name="true count (not private)", **true_tick(colors, 11))
    every = pd.concat(tables.values())
    low, high = (every.noisy_counts - every.sd).min(), (every.noisy_counts + every.sd).max()
    figure.update_yaxes(range=[1.1 * min(low, 0.0), 1.1 * max(high, 1.0)])
    figure.update_xaxes(
        title_text="center", range=[0.4, every.center.max() + 0.6], tick0=1, dtick=1 + every.center.max() // 10
    )
    none: dict[str, Any] = {"x": [None], "y": [None]}
    updates: list[list[dict[str, Any]]] = []
    for shot in shots:
        words = ""
        if shot.phase == ASSIGN or shot.step not in tables:
            bars = ticks = none
            words = "counts appear at the next step" if shot.phase == ASSIGN else "no row is counted here"
        else:
            table = tables[shot.step]
            color = [colors.released_soft if dead else colors.released for dead in table.dead]
            x, y = table.center.tolist(), table.noisy_counts.round(1).tolist()
            bars = {"x": x, "y": y, "marker": {"color": color}, "error_y": {"array": table.sd.tolist()}}
            ticks = {"x": x, "y": table.true_counts.tolist()} if true else {}
        updates.append([bars, *([ticks] if true else []), {"text": [words]}])
    middle = (every.center.max() + 1) / 2, 0.5 * max(high, 1.0)
    figure.add_scatter(
        x=[middle[0]], y=[middle[1]], mode="text", text=[""], hoverinfo="skip", textfont={"color": colors.muted}
    )
    add_frames(figure, [0, 1, 2] if true else [0, 1], updates)
    return Panel(
        "side", figure, "Bars: the noisy number of rows at each center, with one standard deviation of the noise."
    )


def panels(view: View, shots: list[Shot]) -> list[Panel]:
    """Return the panels: plane, counts, loss (if hidden layers are on), spend and ledger."""
    return [_plane(view, shots), _counts(view, shots), *closing(view, shots)]


PANE = Pane(
    draw=panels,
    shots=shots,
    events=events,
    legend=(
        ("center", "released center"),
        ("path", "its move"),
        ("dashed", "its noisy move, before it is shortened and folded back"),
        ("circle", "radius"),
        ("haze", "noise of a move, 1 standard deviation"),
        ("cross", "person outside every radius"),
        ("diamond", "KMeans"),
        ("ring", "person"),
    ),
    caution="The start matters more than the noise: run with another seed. With more than two columns, circles are "
    "shadows of balls, so a person inside a circle may still be outside the ball.",
    warning=warning,
)
