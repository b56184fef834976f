"""Draw EM-MC: the cells picked in grids from fine to coarse, the candidates with noisy votes, and the averages."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpviz.figures.kit.acts import crowd
from dpviz.figures.kit.events import Event
from dpviz.figures.kit.layers import NOWHERE, center, layered, tint
from dpviz.figures.kit.pane import Pane
from dpviz.figures.kit.panels import ledger_panel, spend_panel
from dpviz.figures.kit.shots import Shot
from dpviz.figures.kit.theme import base, tag
from dpviz.figures.kit.view import Panel, View, add_frames, xy
from dpviz.figures.trees.em_mc_film import told
from dpviz.numbers import counted
from dpviz.trace import Trace

__all__ = ["PANE", "cells_table", "covered_table"]


@dataclasses.dataclass(frozen=True)
class Projected(View):
    """View along two directions of the run's public projection (d, p), z units, in which cells are squares."""

    matrix: np.ndarray = dataclasses.field(default_factory=lambda: np.eye(2))

    def flat(self, X: np.ndarray) -> np.ndarray:
        """Map points (..., d) in original units to the drawn coordinates (..., 2)."""
        domain = self.trace.domain
        return _two((X - domain.middle) / domain.half_width @ self.matrix)

    def axis_titles(self) -> tuple[str, str]:
        """Return the two axis titles."""
        return "public random direction 1", "public random direction 2"

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the box that the grids cover."""
        return np.full(2, -self.trace.domain.radius), np.full(2, self.trace.domain.radius)


def _two(points: np.ndarray) -> np.ndarray:
    """Return the first two coordinates of points; if there is only one, the second is 0."""
    return points[..., :2] if points.shape[-1] > 1 else np.concatenate([points, np.zeros_like(points)], axis=-1)


def _seen(view: View) -> View:
    """Return a view in which cells are squares: of two columns, or of two directions of the run's public projection."""
    matrix = view.trace.steps[0].released.get("matrix")
    if matrix is not None:
        fields = {field.name: getattr(view, field.name) for field in dataclasses.fields(view)}
        return Projected(**{**fields, "axes": None}, matrix=matrix)
    return view if view.trace.domain.n_features == 1 else dataclasses.replace(view, axes=view.axes or (0, 1))


def cells_table(view: View) -> pd.DataFrame:
    """Return the picked cells in drawn coordinates, one row per cell: columns frame, grid, x0, x1, y0, y1."""
    rows = []
    seen, domain = _seen(view), view.trace.domain
    for t, step in enumerate(view.trace.steps):
        if step.kind != "cover":
            continue
        released = step.released
        reach = released["side"] / 2
        if "matrix" in released:
            low, high = _two(released["cells"] - reach), _two(released["cells"] + reach)
        else:
            axes = [0, 0] if domain.n_features == 1 else list(seen.axes or (0, 1))
            low, high = (domain.denormalize(released["cells"] + sign * reach)[:, axes] for sign in (-1, 1))
        if released["cells"].shape[1] == 1:
            low[:, 1], high[:, 1] = -1, 1
        rows += [
            {"frame": t, "grid": released["grid"], "x0": a[0], "x1": b[0], "y0": a[1], "y1": b[1]}
            for a, b in zip(low, high, strict=True)
        ]
    return pd.DataFrame(rows)


def covered_table(trace: Trace) -> pd.DataFrame:
    """Return how many rows each picked cell covers, a TRUE number (NOT PRIVATE): columns grid, pick, covered."""
    true = trace.steps[0].hidden[0].statistic["covered"]
    grid, pick = np.indices(true.shape)
    return pd.DataFrame({"grid": grid.ravel(), "pick": pick.ravel(), "covered": true.ravel()})


def _corners(cells: pd.DataFrame) -> np.ndarray:
    """Return the closed outlines (m, 5, 2) of cells."""
    return cells[["x0", "y0", "x1", "y0", "x1", "y1", "x0", "y1", "x0", "y0"]].to_numpy().reshape(-1, 5, 2)


def _squares(cells: pd.DataFrame) -> dict[str, Any]:
    corners = _corners(cells)
    return xy(np.concatenate([corners, np.full((len(corners), 1, 2), np.nan)], axis=1).reshape(-1, 2))


def _plane(view: View) -> Panel:
    trace, colors, seen = view.trace, view.colors, _seen(view)
    looks = {
        "cell": {"mode": "lines", "line": {"color": colors.released_soft, "width": 1}},
        "cell of this grid": {
            "mode": "lines", "fill": "toself", "fillcolor": tint(colors.released, 0.2),
            "line": {"color": colors.released, "width": 2},
        },
        "candidate": {"mode": "markers", "marker": {"color": colors.released, "opacity": 0.6}},
        "center": center(colors),
    }  # fmt: skip
    cells, frames = cells_table(view), []
    flat = _two if "matrix" in trace.steps[0].released else seen.plane
    candidates: dict[str, Any] = {**xy(NOWHERE), "marker": {"size": 4}}
    for t, step in enumerate(trace.steps):
        released = step.released
        if "candidates" in released:
            votes = released["noisy_votes"]
            size = np.clip(1.1 * np.sqrt(np.maximum(votes, 0)), 3, 22).round(1).tolist()
            candidates = {**xy(flat(released["candidates"])), "marker": {"size": size}}
        earlier, now = (_squares(cells[mask]) for mask in (cells.frame < t, cells.frame == t))
        frame = {"cell": earlier, "cell of this grid": now, "candidate": candidates}
        if "centers" in released:
            frame["center"] = xy(seen.plane(released["centers"]))
        frames.append(frame)
    alt = f"A plane with {len(cells)} picked cells and {len(trace.cluster_centers)} released centers at the end."
    k = len(trace.cluster_centers)
    panel = layered(seen, f"{counted(len(cells), 'picked cell')} lead to {counted(k, 'center')}", looks, frames, alt)
    if isinstance(seen, Projected):
        panel.figure.update_layout(meta={**(panel.figure.layout.meta or {}), "projected": True})  # no map
    return panel


def events(view: View, shots: Sequence[Shot]) -> list[tuple[Event, ...]]:
    """Return the events of every shot (`em_mc_film`)."""
    seen, cells = _seen(view), cells_table(view)
    first, votes = view.trace.steps[0].released, next(s for s in view.trace.steps if s.kind == "cover-votes")
    people = crowd(seen)
    if "matrix" in first:
        people = people._replace(rows=people.rows @ first["matrix"])
    flat = _two if "matrix" in first else seen.plane
    boxes = [_corners(cells[cells.frame == shot.step]) for shot in shots]
    return told(seen, shots, people, boxes, flat(votes.released["candidates"]))


def _covered(view: View) -> Panel:
    trace, colors = view.trace, view.colors
    table = covered_table(trace)
    figure = base(colors, f"{counted(int(table.covered.sum()), 'row')} covered", height=200)
    tag(figure, colors, "NOT PRIVATE ― true")
    picks, grids = int(table.pick.max()) + 1, int(table.grid.max()) + 1
    figure.add_bar(x=list(range(len(table))), y=table.covered.tolist(), hovertemplate="%{y:,}<extra></extra>")
    figure.update_layout(bargap=0.15)
    figure.update_xaxes(
        tickvals=[picks * (grid + 0.5) - 0.5 for grid in range(grids)], title_text="grid, fine to coarse",
        ticktext=[str(grid + 1) for grid in range(grids)], showgrid=False,
    )  # fmt: skip
    figure.update_yaxes(title_text="rows", range=[0, 1.1 * max(int(table.covered.max()), 1)])
    updates = []
    for t in range(len(trace.steps)):
        color = [colors.hidden if grid <= t else colors.grid for grid in table.grid]
        updates.append([{"marker": {"color": color}}])
    add_frames(figure, [0], updates)
    return Panel("side", figure, "Bars: true numbers of newly covered rows, pick by pick. Not private.")


def panels(view: View, shots: list[Shot]) -> list[Panel]:
    """Return the panels: plane, covered rows (if hidden layers are on), spend and ledger."""
    hidden = [_covered(view)] if view.hidden and view.trace.steps[0].hidden else []
    return [_plane(view), *hidden, spend_panel(view, shots), ledger_panel(view, shots)]


PANE = Pane(
    draw=panels,
    events=events,
    cells=True,
    legend=(
        ("box", "picked cell"),
        ("disc", "candidate (area: noisy votes)"),
        ("center", "released center"),
        ("diamond", "KMeans"),
        ("ring", "person"),
    ),
    caution="Because of the noise, some picked cells cover hardly anyone. With more than three columns, the plane "
    "shows two public random directions, not columns.",
    unpinned="public random directions",
)
