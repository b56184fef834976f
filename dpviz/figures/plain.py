"""Draw how the centers move from step to step: the simple picture that fits every trace."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpviz.figures.kit.acts import crowd, hurried, index, nearest, spokes
from dpviz.figures.kit.events import Event
from dpviz.figures.kit.layers import center, exact_center
from dpviz.figures.kit.mosaic import center_path
from dpviz.figures.kit.pane import Pane
from dpviz.figures.kit.panels import closing, plane, reference
from dpviz.figures.kit.shots import Shot
from dpviz.figures.kit.theme import tag
from dpviz.figures.kit.view import Panel, View, add_frames, moved, xy
from dpviz.numbers import counted, plural

__all__ = ["PANE", "REFERENCE", "events"]

PATH = "path"  # name of the layer of moves
LONG = 3  # number of iterations in which everybody's center is drawn; later, only that of people who change theirs


def panels(view: View, shots: list[Shot]) -> list[Panel]:
    """Return the panels: the plane and, if they exist, loss, spend and ledger."""
    trace, colors = view.trace, view.colors
    exact = trace.claimed.exact
    steps = len(trace.steps)
    figure = plane(view, f"{counted(len(trace.cluster_centers), 'center')} after {counted(steps, 'step')}")
    first = len(figure.data)
    look = exact_center(colors, view.against) if exact else center(colors, symbol="circle")
    figure.add_scatter(mode="lines", name=PATH, hoverinfo="skip", line={"color": look["marker"]["color"], "width": 1.6})
    figure.add_scatter(**look)
    path = [view.plane(centers) for centers in center_path(trace)]
    updates = []
    for t, now in enumerate(path):
        same = t > 0 and path[t - 1].shape == now.shape
        lines = (
            np.stack([path[t - 1], now, np.full_like(now, np.nan)], axis=1).reshape(-1, 2) if same else np.empty((0, 2))
        )
        updates.append([xy(lines), moved(path[t - 1], now) if same else xy(now)])
    if exact:
        tag(figure, colors, "NOT PRIVATE", below=True)
    else:
        reference(view, figure)
    add_frames(figure, [first, first + 1], updates)
    alt = f"A plane with {len(trace.cluster_centers)} centers after {len(path)} steps."
    return [Panel("plane", figure, alt), *closing(view, shots)]


def events(view: View, shots: Sequence[Shot]) -> list[tuple[Event, ...]]:
    """Return the events of a run without noise: start, then assign and move for every iteration of k-means."""
    path, means = center_path(view.trace), view.trace.parameters["objective"] == "means"
    layer = exact_center(view.colors, view.against)["name"]
    people = crowd(view, clipped=False)
    words = f"{view.against} takes the places of real {plural(view.noun)}, picked far apart by chance"
    start = ({"layer": layer, "size": [0, None], "wave": 0.5},)
    told: list[tuple[Event, ...]] = [(Event("start", "Start on real rows", words, 1.6, start, pays=0),)]
    before = np.full(len(people.rows), -1)
    for t, shot in enumerate(shots[1:], 1):
        own = nearest(people.rows, path[t - 1])
        some = np.flatnonzero((own != before) | (t <= LONG))
        lines = spokes(view.colors, people.some(some), {"layer": layer, "at": -1, "index": index(own[some])})
        what = "no noise hides who goes where" if t <= LONG else "few change sides by now"
        assign = Event(
            "assign", f"Each {view.noun} goes to the nearest center", f"{shot.head}: {what}",
            hurried(t, 1.6 if len(people.rows) else 0.8), (*lines, {"layer": layer, "at": -1}), (1, 0.6), pays=0,
        )  # fmt: skip
        before = own
        acts = ({"layer": PATH, "opacity": [0, 1]}, {"layer": layer, "streak": 0.4})
        words = f"{shot.head}: NOT PRIVATE, as every center follows from its rows without noise"
        move = Event("move", "Each center goes to the mean of its rows", words, hurried(t, 1.4), acts, (0.6, 1), pays=0)
        told.append((assign, move) if means else (Event("move", shot.head, words, 1.6, acts, pays=0),))
    return told


REFERENCE = Pane(
    draw=panels,
    events=events,
    legend=(("diamond", "KMeans center"), ("ring", "person")),
    caution="Every center was computed from raw rows without noise, so publishing it reveals people's rows. KMeans "
    "also depends on its start; this is the best of ten.",
)
PANE = Pane(
    draw=panels,
    legend=(("center", "released center"), ("path", "its move"), ("diamond", "KMeans"), ("ring", "person")),
    caution="A single run is one draw of the noise. Run with another seed before you trust a center.",
)
