"""Draw continual release: each evening's noisy cells and centers, and the cost of a new run every evening instead."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dpviz.figures.kit.acts import CENTER, hurried, noised, piles, shake, sizes
from dpviz.figures.kit.events import Act, Event
from dpviz.figures.kit.layers import NOWHERE, center, disc, disc_sizes, layered, segments
from dpviz.figures.kit.pane import Pane
from dpviz.figures.kit.panels import ledger_panel, loss_panel, spend_panel, whole
from dpviz.figures.kit.shots import Shot, one_a_step, split_title
from dpviz.figures.kit.theme import base
from dpviz.figures.kit.view import Panel, View, add_frames, moved, xy
from dpviz.numbers import chance, counted, number
from dpviz.privacy.accounting import epsilon_of_mu
from dpviz.privacy.ledger import spent
from dpviz.trace import Trace

__all__ = ["PANE", "days_table"]


def days_table(trace: Trace) -> pd.DataFrame:
    """Return one row per day: day, counts_sd, epsilon (spent so far), anew (epsilon if each evening had a new run).

    A new run every evening would release a table of all days so far, with the same noise as the tree on that evening.
    Half of the mu^2 of such a run, 2 / counts_sd^2, pays for the counts and half for the sums, and a row of the first
    day pays every evening.
    """
    rows, anew, delta = [], 0.0, trace.claimed.delta
    for step in trace.steps[1:]:
        anew += 2 / float(step.released["counts_sd"]) ** 2
        rows.append(
            {
                "day": int(step.released["day"]),
                "counts_sd": float(step.released["counts_sd"]),
                "epsilon": spent(trace.ledger[: step.n_releases], delta).epsilon,
                "anew": epsilon_of_mu(anew**0.5, delta),
            }
        )
    return pd.DataFrame(rows)


def warning(trace: Trace) -> str:
    """Return a sentence if hardly any cell's count stands out from its noise on the last day, else ""."""
    last = trace.steps[-1].released
    if np.mean(last["cell_counts"] > 3 * last["counts_sd"]) > 0.02:
        return ""
    return "Too little data for this epsilon: hardly any cell's count stands out from its noise. Use fewer days."


def _plane(view: View) -> Panel:
    colors = view.colors
    looks = {
        "cell": disc(colors, 0.45),
        "move": {"mode": "lines", "line": {"color": colors.released, "width": 1.6}},
        "center": center(colors),
    }
    frames, before = [], NOWHERE
    for step in view.trace.steps:
        if "centers" not in step.released:
            places = view.plane(step.released["cells"])
            frames.append({"cell": {**xy(places), "marker": {"size": np.full(len(places), 3, dtype=np.float32)}}})
            continue
        now = view.plane(step.released["centers"])
        weights = np.asarray(step.released["coreset_weights"])
        frame = {
            "cell": {**xy(view.plane(step.released["coreset_points"])), "marker": {"size": disc_sizes(weights)}},
            "center": moved(before, now) if len(before) else xy(now),
        }
        frames.append(frame | ({"move": xy(segments(before, now))} if len(before) else {}))
        before = now
    alt = f"A plane with noisy cells and {len(before)} released centers, day by day."
    last = view.trace.steps[-1].released
    cells = len(last["coreset_points"])
    verb = "gives" if cells == 1 else "give"
    title = f"Day {int(last['day'])}: {counted(cells, 'noisy cell')} {verb} {counted(len(before), 'center')}"
    return layered(view, title, looks, frames, alt)


def so_far(view: View) -> dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Return for every day the drawn cells' true counts (p,) on the evening before and now, and their means (p, d).

    They add up the true tables of all days so far, z units (NOT PRIVATE); none unless hidden layers are on.
    """
    first, *days = view.trace.steps
    cells = np.asarray(first.released["cells"])
    found: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
    totals = {0: (np.zeros(len(cells)), np.zeros_like(cells, dtype=float))}
    for step in days:
        if not (view.hidden and step.hidden):
            return {}
        released, true, day = step.released, step.hidden[0].statistic, int(step.released["day"])
        before = totals[day & (day - 1)]  # the days before those of tonight's table
        counts, sums = totals[day] = before[0] + true["counts"], before[1] + true["sums"]
        at = np.flatnonzero(released["cell_counts"] > released["counts_sd"])
        at = at if len(at) else np.array([np.argmax(released["cell_counts"])])
        means = cells[at] + sums[at] / np.maximum(counts[at], 1)[:, None]
        found[day] = totals[day - 1][0][at], counts[at], means
    return found


def events(view: View, shots: Sequence[Shot]) -> list[tuple[Event, ...]]:
    """Return the events of every shot: the public cells; then arrive and noise for every day."""
    told: list[tuple[Event, ...]] = []
    paid, colors, true = 0, view.colors, so_far(view)
    for shot in shots:
        released = view.trace.steps[shot.step].released
        if "centers" not in released:
            acts: tuple[Act, ...] = ({"layer": "cell", "size": [0, None], "wave": 0.6},)
            told.append((Event("scatter", "Lay out public cells", shot.head, 1.4, acts, pays=0),))
            continue
        day, sd = int(released["day"]), float(released["counts_sd"])
        before: list[Act] = [{"layer": "cell", "at": -1}, *([{"layer": CENTER, "at": -1}] if day > 1 else [])]
        cells: Act = {"layer": "cell", "shake": shake(sd), "opacity": [0.4, 1]}
        if day in true:
            earlier, counts, means = true[day]
            at, full = view.plane(means), counts > 0
            grow = [sizes(earlier[full]), sizes(counts[full])]
            before.insert(1, piles(colors, at[full], counts[full], size=grow, span=[0.2, 1]))
            cells |= {"from": xy(at), "size": [sizes(counts), None], "color": [colors.hidden, colors.released]}
        words = "who arrived today is counted in a cell; the counts stay secret"
        arrive = Event(
            "arrive", f"Day {day}: people arrive", words, hurried(day, 1.2), tuple(before), (0.8, 0.5), pays=0
        )
        tables = counted(int(released["runs"]), "table")
        tail = f"{tables} added up cover all days so far, ±{number(sd, 2)} on every cell"
        head, tail = noised(sd > 0, f"Day {day}: noise, then tonight's centers", tail)
        still: list[Act] = [{"layer": "move", "opacity": [0, 1]}] if day > 1 else []
        last: Act = {"layer": CENTER, "streak": 0.4} if day > 1 else {"layer": CENTER, "size": [0, None]}
        noise = Event(
            "noise", head, tail, hurried(day, 1.8), (cells, *still, last), (0.5, 0.9), pays=float(shot.releases > paid)
        )
        told.append((arrive, noise))
        paid = shot.releases
    return told


def _spend(view: View, shots: list[Shot]) -> Panel:
    """Draw epsilon by day, for the tree and for a new run every evening with the same noise."""
    table, colors, trace = days_table(view.trace), view.colors, view.trace
    first, last = float(table.epsilon.iloc[0]), table.iloc[-1]
    title = f"{counted(len(table), 'day')}: ε {number(last.epsilon)}; a new run each day: {number(last.anew)}"
    figure = base(colors, title, height=172)
    days = table.day.to_numpy()
    figure.add_scatter(
        x=days, y=table.anew, mode="lines", line={"color": colors.muted, "width": 1.6, "dash": "dot"},
        name="a new run each day, same noise",
        hovertemplate="day %{x}: ε = %{y:,.3~r} with a new run each day<extra></extra>",
    )  # fmt: skip
    figure.add_scatter(
        x=days, y=table.epsilon, mode="lines", line={"color": colors.released, "width": 2.4}, name="the tree",
        hovertemplate="day %{x}: ε = %{y:,.3~r} spent<extra></extra>",
    )  # fmt: skip
    figure.add_scatter(
        x=[1], y=[first], mode="markers+text", text=[""], cliponaxis=False, hoverinfo="skip",
        marker={"color": colors.released, "size": 10}, textposition="top center",
    )  # fmt: skip
    top = float(max(last.anew, last.epsilon))
    figure.add_annotation(
        x=float(days[-1]), y=float(last.anew), text=f"a new run each day {number(last.anew)}", showarrow=False,
        xanchor="right", yanchor="bottom", font={"color": colors.muted, "size": 12},
    )  # fmt: skip
    figure.update_xaxes(title_text="day", range=[0.4, days[-1] + 0.6], tick0=1, dtick=whole(len(days)))
    figure.update_yaxes(title_text=f"ε at δ {chance(trace.claimed.delta)}", range=[0, 1.3 * top])
    updates = []
    for shot in shots:
        day = max(int(trace.steps[shot.step].released.get("day", 0)), 0)
        if not day:
            updates.append([{"x": [None], "y": [None], "text": [""]}])
            continue
        here = float(table.epsilon.iloc[day - 1])
        side = "bottom left" if 2 * day >= len(days) else "bottom right"
        updates.append([{"x": [day], "y": [here], "text": [number(here)], "textposition": side}])
    add_frames(figure, [2], updates)
    return Panel(
        "side",
        figure,
        f"Lines: the tree has spent ε {number(last.epsilon)} after {len(days)} days; a new run every evening with the "
        f"same noise would spend {number(last.anew)}.",
    )


def panels(view: View, shots: list[Shot]) -> list[Panel]:
    """Return the panels: plane, loss (if hidden layers are on), spend and ledger."""
    drawn = [_plane(view)]
    if view.hidden and view.losses is not None and not np.isnan(view.losses).all():
        drawn.append(loss_panel(view, shots, name="day"))
    sums = spend_panel if view.trace.noiseless else _spend
    return [*drawn, sums(view, shots), ledger_panel(view, shots)]


PANE = Pane(
    draw=panels,
    events=events,
    legend=(
        ("disc", "cell (area: noisy count so far)"),
        ("center", "released center"),
        ("path", "its move since yesterday"),
        ("diamond", "KMeans"),
        ("ring", "person"),
    ),
    caution="KMeans, the loss and the people drawn are those of all days, even on the first evening. On a day whose "
    "number is not a power of two, several tables are added, so the noise rises and falls from day to day.",
    warning=warning,
    shots=lambda trace: one_a_step(trace, split_title),
)
