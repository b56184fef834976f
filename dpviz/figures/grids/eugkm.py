"""Draw EUGkM: the noisy counts of the grid's cells, the centers computed from them, and the final Lloyd step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpviz.figures.kit.acts import CENTER, cells_counted, crowd
from dpviz.figures.kit.events import Act, Event
from dpviz.figures.kit.layers import center, disc, disc_sizes, layered, segments
from dpviz.figures.kit.pane import Pane
from dpviz.figures.kit.panels import closing
from dpviz.figures.kit.shots import Shot
from dpviz.figures.kit.view import Panel, View, moved, xy
from dpviz.trace import Trace

__all__ = ["PANE", "cells_table"]

_MOST = 3000  # maximum number of cells drawn: those with the largest noisy counts


def cells_table(view: View) -> pd.DataFrame:
    """Return one row per point: x, y, noisy_count and, with hidden layers, count, which is true (NOT PRIVATE).

    The counts of cells drawn at the same point are added.
    """
    step = view.trace.steps[0]
    place = view.plane(step.released["cells"])
    table = pd.DataFrame(
        {"x": place[:, 0].round(9), "y": place[:, 1].round(9), "noisy_count": step.released["noisy_counts"]}
    )
    if view.hidden and step.hidden:
        table["count"] = step.hidden[0].statistic["cells"]
    return table.groupby(["x", "y"], as_index=False, sort=True).sum()


def _seen(view: View) -> pd.DataFrame:
    """Return the rows of `cells_table` that are drawn."""
    table = cells_table(view)
    return table[table.noisy_count > 0].nlargest(_MOST, "noisy_count")


def warning(trace: Trace) -> str:
    """Return a sentence if hardly any cell's count stands out from its noise, else ""."""
    released = trace.steps[0].released
    if np.mean(released["noisy_counts"] > 2 * released["counts_sd"]) > 0.02:
        return ""
    return "Too little data for this epsilon: hardly any cell's count stands out from its noise. Use fewer cells."


def _plane(view: View) -> Panel:
    trace, colors = view.trace, view.colors
    looks = {
        "cell": disc(colors, 0.45),
        "move": {"mode": "lines", "line": {"color": colors.released, "width": 1.6}},
        "center": center(colors),
    }
    seen = _seen(view)
    cells: dict[str, Any] = {
        **xy(seen[["x", "y"]].to_numpy()),
        "marker": {"size": disc_sizes(seen.noisy_count.to_numpy())},
    }
    frames = []
    for step in trace.steps:
        frame = {"cell": cells}
        if "start" in step.released:
            ends = view.plane(step.released["start"]), view.plane(step.released["centers"])
            frame |= {"move": xy(segments(*ends)), "center": moved(*ends)}
        elif "centers" in step.released:
            frame["center"] = xy(view.plane(step.released["centers"]))
        frames.append(frame)
    k = len(trace.cluster_centers)
    alt = f"A plane with {len(seen)} cells, sized by noisy count, and {k} released centers at the end."
    counts = trace.steps[0].released["noisy_counts"]
    title = f"Noise leaves {int((counts > 0).sum()):,} of {len(counts):,} counts above 0"
    return layered(view, title, looks, frames, alt)


def events(view: View, shots: Sequence[Shot]) -> list[tuple[Event, ...]]:
    """Return the events of every shot: count and noise; search; at last, if the run has one, a step of Lloyd."""
    people = crowd(view)
    told: list[tuple[Event, ...]] = []
    for shot in shots:
        released = view.trace.steps[shot.step].released
        if "counts_sd" in released and "centers" not in released:
            seen = _seen(view)
            true = seen["count"].to_numpy() if "count" in seen else None
            told.append(cells_counted(view, people, "cell", released["counts_sd"], true))
        elif "start" in released:
            acts: tuple[Act, ...] = (
                {"layer": "cell"},
                {"layer": "move", "opacity": [0, 1]},
                {"layer": CENTER, "streak": 0.4, "shake": 4},
            )
            words = "rows near each center are added up and counted, with noise"
            told.append((Event("noise", "One noisy step of Lloyd moves the centers", words, 2.0, acts),))
        else:
            acts = ({"layer": "cell"}, {"layer": CENTER, "size": [0, None], "wave": 0.3})
            words = "k-means on the cells with a positive noisy count: no row is read"
            told.append((Event("search", "Search at no cost", words, 2.0, acts, (0.8, 1), pays=0),))
    return told


def panels(view: View, shots: list[Shot]) -> list[Panel]:
    """Return the panels: plane, loss (if hidden layers are on), spend and ledger."""
    return [_plane(view), *closing(view, shots)]


PANE = Pane(
    draw=panels,
    events=events,
    legend=(
        ("disc", "cell (area: noisy count)"),
        ("center", "released center"),
        ("path", "its move in the Lloyd step"),
        ("diamond", "KMeans"),
        ("ring", "person"),
    ),
    caution="By chance, many empty cells have a positive noisy count, and distant cells pull centers toward them. "
    "With more than two columns, the counts of cells at the same place in the picture are added.",
    warning=warning,
)
