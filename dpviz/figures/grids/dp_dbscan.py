"""Draw DP-DBSCAN: noisy cells, the dense cells among them, and the borders of the regions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dpviz.figures.kit.acts import cells_counted, crowd
from dpviz.figures.kit.events import Event
from dpviz.figures.kit.layers import NOWHERE, center, disc, disc_sizes, layered, segments
from dpviz.figures.kit.pane import Pane
from dpviz.figures.kit.panels import ledger_panel, spend_panel
from dpviz.figures.kit.shots import Shot
from dpviz.figures.kit.view import Panel, View, xy
from dpviz.numbers import counted
from dpviz.trace import Trace

__all__ = ["PANE", "border_table"]

_MOST = 3000  # maximum number of cells drawn: those with the largest noisy counts


def border_table(trace: Trace) -> pd.DataFrame:
    """Return the borders of the regions, one row per segment, for data with two columns.

    Columns: region (from 1), x0, y0, x1, y1 in z units; the table is empty if the data do not have two columns.
    """
    first, last = trace.steps[0].released, trace.steps[-1].released
    parts = np.asarray(first["parts"])
    names = ["region", "x0", "y0", "x1", "y1"]
    if len(parts) != 2:
        return pd.DataFrame(columns=names)
    spans = np.pad(np.asarray(last["span_of_cell"]).reshape(parts), 1, constant_values=-1)
    half = trace.domain.box_z
    width = 2 * half / parts
    rows: list[list[float]] = []
    for dx, dy in ((0, 1), (0, -1), (1, 0), (-1, 0)):
        other = np.roll(spans, (-dx, -dy), axis=(0, 1))
        for i, j in np.argwhere((spans >= 0) & (other != spans)):
            low = -half + (np.array([i, j]) - 1) * width
            x0, y0 = low + width * [max(dx, 0), max(dy, 0)]
            step = width * [abs(dy), abs(dx)]
            rows.append([spans[i, j] + 1, x0, y0, x0 + step[0], y0 + step[1]])
    return pd.DataFrame(rows, columns=names)


def warning(trace: Trace) -> str:
    """Return a sentence if no cell is dense, so that the only region is the fullest neighborhood, else ""."""
    dense, last = trace.steps[1].released, trace.steps[-1].released
    at = np.asarray(dense["dense"])
    if at.sum() > 1 or len(last["noisy_counts"]) > 1 or (np.asarray(dense["nearby"]) >= dense["threshold"])[at].any():
        return ""
    return "No cell reaches this density at this epsilon, so the only region is the fullest neighborhood."


def _seen(counts: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return the numbers of the chosen cells that are drawn, the fullest first."""
    at = np.flatnonzero(chosen & (counts > 0))
    return at[np.argsort(-counts[at], kind="stable")[:_MOST]]


def _plane(view: View) -> Panel:
    trace, colors = view.trace, view.colors
    first, second, last = (step.released for step in trace.steps)
    looks = {
        "cell": disc(colors, 0.35),
        "dense cell": disc(colors, 0.8),
        "border": {"mode": "lines", "line": {"color": colors.released, "width": 2.4}},
        "center": center(colors) | {"name": "middle of a region"},
    }
    places, counts = view.plane(first["cells"]), np.asarray(first["noisy_counts"])

    def drawn(chosen: np.ndarray) -> dict[str, object]:
        at = _seen(counts, chosen)
        return {**xy(places[at]), "marker": {"size": disc_sizes(counts[at])}}

    table = border_table(trace)
    lines = NOWHERE
    if len(table):
        lines = segments(*(view.plane(table[list(end)].to_numpy(dtype=float)) for end in (("x0", "y0"), ("x1", "y1"))))
    dense = drawn(np.asarray(second["dense"]))
    cells = drawn(np.asarray(last["span_of_cell"]) >= 0)
    frames = [
        {"cell": drawn(np.ones(len(counts), dtype=bool))},
        {"cell": drawn(np.ones(len(counts), dtype=bool)), "dense cell": dense},
        {"dense cell": cells, "border": xy(lines), "center": xy(view.plane(last["centers"]))},
    ]
    n = len(last["noisy_counts"])
    alt = (
        f"A plane with noisy cells; the dense ones form {n} region{'s' * (n != 1)}, "
        "whose borders are drawn in the last step."
    )
    many = int(np.sum(second["dense"]))
    title = f"{counted(many, 'dense cell')} of {len(counts):,} form{'s' * (many == 1)} {counted(n, 'region')}"
    return layered(view, title, looks, frames, alt)


def events(view: View, shots: Sequence[Shot]) -> list[tuple[Event, ...]]:
    """Return the events of every shot: count and noise; dense cells; regions of adjacent ones."""
    step = view.trace.steps[0]
    counts, true = np.asarray(step.released["noisy_counts"]), None
    if view.hidden and step.hidden:
        true = step.hidden[0].statistic["cells"][_seen(counts, np.ones(len(counts), dtype=bool))]
    dense = ({"layer": "cell"}, {"layer": "dense cell", "opacity": [0, 1]})
    joined = (
        {"layer": "dense cell"},
        {"layer": "border", "opacity": [0, 1], "span": [0, 0.6]},
        {"layer": "middle of a region", "size": [0, None], "span": [0.5, 1]},
    )
    return [
        cells_counted(view, crowd(view), "cell", step.released["counts_sd"], true),
        (Event("dense", "Keep the dense cells", shots[1].head, 2.0, dense, (0.6, 0.6), pays=0),),
        (Event("join", "Join neighbors to regions", shots[2].head, 2.2, joined, (0.6, 1), pays=0),),
    ]


def panels(view: View, shots: list[Shot]) -> list[Panel]:
    """Return the panels: plane, spend and ledger; there is no loss, because the run releases regions."""
    return [_plane(view), spend_panel(view, shots), ledger_panel(view, shots)]


PANE = Pane(
    draw=panels,
    events=events,
    legend=(
        ("disc", "cell (area: noisy count)"),
        ("path", "border of a region"),
        ("center", "middle of a region"),
        ("diamond", "KMeans"),
        ("ring", "person"),
    ),
    caution="Noise may split a thin region or close a narrow gap. The middle of a region need not lie inside it. "
    "With more than two columns, borders are not drawn and cells overlap.",
    warning=warning,
)
