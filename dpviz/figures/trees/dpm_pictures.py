"""Draw DPM if the columns are the cells of a picture: each part of the rows as a picture, and the cell of each cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpviz.figures.kit.mosaic import add_pictures, add_words, corners, shades, sheet, words
from dpviz.figures.kit.shots import Shot
from dpviz.figures.kit.theme import tag
from dpviz.figures.kit.view import Panel, View, add_frames, xy
from dpviz.geometry import snap
from dpviz.numbers import counted
from dpviz.trace import Trace

__all__ = ["LEGEND", "parts_table", "pictures", "true_means"]

LEGEND = (
    ("box", "part (below it: its noisy count)"),
    ("cell", "pixel of the cut (dotted: rejected)"),
    ("shade", "released: middle of a pixel's range; at the end, the part's mean"),
    ("hidden_shade", "true mean of a part"),
)
_CORNERS = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]])


def parts_table(trace: Trace) -> pd.DataFrame:
    """Return the parts of the rows at each frame, one row per part: the regions made by the cuts before this frame.

    Columns: frame, node, place (that of the first final region in it, in the order of the tree), noisy_count, now (True
    for the region visited at this frame). After the last cut the parts are the final regions.
    """
    regions = {step.released["node"]: step.released for step in trace.steps if step.kind == "region"}
    finals = sorted(
        (node for node in regions if not regions[node]["accepted"]),
        key=lambda node: node / 2 ** (node.bit_length() - 1),
    )
    rows, parts = [], [1]
    for t, step in enumerate(trace.steps):
        here = step.released.get("node", 0)
        for node in parts:
            first = node
            while regions[first]["accepted"]:
                first *= 2
            count = float(regions[node]["noisy_count"])
            rows.append((t, node, finals.index(first), count, node == here))
        if step.kind == "region" and step.released["accepted"]:
            at = parts.index(here)
            parts[at : at + 1] = [2 * here, 2 * here + 1]
    return pd.DataFrame(rows, columns=["frame", "node", "place", "noisy_count", "now"])


def cells_left(trace: Trace, node: int) -> np.ndarray:
    """Return the middle (d,) of the range that cuts leave for each cell, original units; NaN without a cut."""
    released = next(step.released for step in trace.steps if step.released.get("node") == node)
    middle = trace.domain.denormalize((released["low"] + released["high"]) / 2)
    middle[~np.isin(np.arange(len(middle)), _cut_columns(trace, node))] = np.nan
    return middle


def true_means(trace: Trace, people: np.ndarray) -> dict[int, np.ndarray]:
    """Return for every region the TRUE mean (d,) of its people, original units (NOT PRIVATE); NaN if empty."""
    domain = trace.domain
    z, inside = snap(domain.clip(domain.normalize(people))), {1: np.ones(len(people), dtype=bool)}
    for step in trace.steps:
        if step.kind == "region" and step.released["accepted"]:
            node, column, position = (step.released[name] for name in ("node", "column", "position"))
            above = z[:, column] >= position
            inside |= {2 * node: inside[node] & ~above, 2 * node + 1: inside[node] & above}
    empty = np.full(people.shape[1], np.nan)
    return {node: people[mask].mean(axis=0) if mask.any() else empty for node, mask in inside.items()}


def pictures(view: View, shots: Sequence[Shot]) -> Panel:
    """Draw the parts of the rows at each cut as pictures, and the averages once they are released.

    When a part is cut, its lower half stays in the part's place. Before the averages, nothing is released about a cell
    without a cut: it is empty or, if hidden layers are on, shows the true mean (NOT PRIVATE).
    """
    trace, colors = view.trace, view.colors
    parts = parts_table(trace)
    final = parts[parts.frame == parts.frame.max()]
    cuts = sum(step.kind == "region" and step.released["accepted"] for step in trace.steps)
    most = max(len(final), len(trace.cluster_centers))
    figure = sheet(view, f"{counted(cuts, 'cut')} leave{'s' * (cuts == 1)} {counted(len(final), 'part')}", most)
    means = true_means(trace, view.people) if view.hidden and view.people is not None else {}
    add_pictures(view, figure, colors.hidden)
    add_pictures(view, figure, colors.released)
    for name, look in (
        ("part", {"color": colors.released_soft, "width": 1}),
        ("part of this step", {"color": colors.released, "width": 3.2}),
        ("cell of an earlier cut", {"color": colors.ink, "width": 1}),
        ("cell of the cut", {"color": colors.ink, "width": 3.2}),
    ):
        figure.add_scatter(mode="lines", line=look, hoverinfo="skip", name=name)
    add_words(view, figure)
    updates = [_frame(view, shot.step, parts[parts.frame == shot.step], most, means) for shot in shots]
    add_frames(figure, list(range(len(figure.data))), updates)
    if means:
        tag(figure, colors, "NOT PRIVATE ▦ true means of the parts", below=True)
    return Panel(
        "plane", figure, f"{counted(len(trace.cluster_centers), 'center')} as pictures, and the cells that are cut."
    )


def _frame(view: View, t: int, parts: pd.DataFrame, most: int, means: dict[int, np.ndarray]) -> list[dict[str, Any]]:
    """Return the contents that the traces of `pictures` have at step t."""
    trace = view.trace
    step, nothing = trace.steps[t], np.empty((0, trace.domain.n_features))
    places = parts.place.tolist()
    blank = {"z": shades(view, nothing, most)}
    earlier = [
        (place, column) for node, place in zip(parts.node, places, strict=True) for column in _cut_columns(trace, node)
    ]
    if step.kind != "region":
        centers = trace.domain.denormalize(step.released["centers"])
        released = {"z": shades(view, centers, most)}
        texts = words(view, [str(i + 1) for i in range(len(centers))], most)
        none, of_parts = xy(np.empty((0, 2))), earlier if "nodes" in step.released else []
        return [blank, released, none, none, xy(_cells(view, of_parts, most)), none, texts]
    known = [means[node] if means else cells_left(trace, node) for node in parts.node]
    shown = {"z": shades(view, np.array(known), most, places)}
    texts = words(view, [f"{max(count, 0):,.0f}" for count in parts.noisy_count], most, places)
    now = [(place, step.released["column"]) for place in parts.place[parts.now] if step.released["column"] >= 0]
    dash = "solid" if step.released["accepted"] else "2px,3px"
    return [
        *([shown, blank] if means else [blank, shown]),
        xy(_frames(view, places, most)),
        xy(_frames(view, parts.place[parts.now].tolist(), most)),
        xy(_cells(view, earlier, most)),
        {**xy(_cells(view, now, most)), "line": {"dash": dash}},
        texts,
    ]


def _cut_columns(trace: Trace, node: int) -> list[int]:
    """Return the columns of the cuts on the path from all rows down to a region."""
    columns = {step.released["node"]: step.released["column"] for step in trace.steps if step.kind == "region"}
    return [columns[node >> i] for i in range(node.bit_length() - 1, 0, -1)]


def _frames(view: View, places: Sequence[int], most: int) -> np.ndarray:
    """Return outlines of the pictures at these places, separated by NaN."""
    rows, columns = view.picture or (1, 1)
    return _boxes(corners(view, most)[list(places)] - 0.7, (columns + 0.4, rows + 0.4))


def _cells(view: View, cells: Sequence[tuple[int, int]], most: int) -> np.ndarray:
    """Return outlines of cells; a cell is given by the place of its picture and its column in the data."""
    _, columns = view.picture or (1, 1)
    at = corners(view, most)
    corner = [at[place] + (column % columns, column // columns) for place, column in cells]
    return _boxes(np.array(corner).reshape(-1, 2) - 0.5, (1.0, 1.0))


def _boxes(corner: np.ndarray, size: tuple[float, float]) -> np.ndarray:
    closed = corner[:, None] + _CORNERS * np.array(size)
    return np.concatenate([closed, np.full((len(closed), 1, 2), np.nan)], axis=1).reshape(-1, 2)
