"""Draw DP-EM: its Gaussians as ellipses, round by round, and the paths of their means."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpviz.figures.kit.acts import CENTER, arrows, crowd, hurried, lit, noised, shaken
from dpviz.figures.kit.events import Act, Event
from dpviz.figures.kit.layers import NOWHERE, center, layered, outline, paths, segments
from dpviz.figures.kit.pane import Pane
from dpviz.figures.kit.panels import closing
from dpviz.figures.kit.shots import Shot
from dpviz.figures.kit.view import Panel, View, moved, xy
from dpviz.trace import Step, Trace

__all__ = ["PANE", "ellipses"]

_SD = 2.0  # length of an ellipse's half-axes, in standard deviations


def ellipses(view: View, step: Step, which: np.ndarray) -> np.ndarray:
    """Return the outlines of the Gaussians `which` at two standard deviations, on the plane, as one line with gaps."""
    lines = []
    for mean, covariance in zip(step.released["centers"][which], step.released["covariances"][which], strict=True):
        values, vectors = np.linalg.eigh(covariance)
        lines.append(outline(view, _SD * vectors * np.sqrt(np.maximum(values, 0)), mean))
    return paths(lines) if lines else NOWHERE


def warning(trace: Trace) -> str:
    """Return a sentence if most Gaussians contain hardly any rows, else ""."""
    dead = trace.steps[-1].released["dead"]
    if dead.mean() < 0.5:
        return ""
    return f"{int(dead.sum())} of {len(dead)} Gaussians show hardly more rows than noise alone would. Choose fewer."


def _plane(view: View) -> Panel:
    trace, colors = view.trace, view.colors
    looks = {
        "Gaussian, 2 standard deviations": {"mode": "lines", "line": {"color": colors.released, "width": 1.8}},
        "Gaussian without rows": {"mode": "lines", "line": {"color": colors.released_soft, "width": 1, "dash": "dot"}},
        "move": {"mode": "lines", "line": {"color": colors.released, "width": 1.2}},
        "center": center(colors),
    }
    frames = []
    for step in trace.steps:
        dead = step.released.get("dead", np.zeros(len(step.released["centers"]), dtype=bool))
        frame = {
            "Gaussian, 2 standard deviations": xy(ellipses(view, step, ~dead)),
            "Gaussian without rows": xy(ellipses(view, step, dead)),
            "center": xy(view.plane(step.released["centers"])),
        }
        if "start" in step.released:
            ends = view.plane(step.released["start"]), view.plane(step.released["centers"])
            frame |= {"move": xy(segments(*ends)), "center": moved(*ends)}
        frames.append(frame)
    alt = (
        f"A plane with {len(trace.cluster_centers)} ellipses of released Gaussians after {len(trace.steps) - 1} rounds."
    )
    dead, k = int(np.sum(trace.steps[-1].released["dead"])), len(trace.cluster_centers)
    rows = f"{dead} of {k} Gaussians {'has' if dead == 1 else 'have'} no" if dead else f"All {k} Gaussians have"
    title = f"{rows} rows of their own"
    return layered(view, title, looks, frames, alt)


def events(view: View, shots: Sequence[Shot]) -> list[tuple[Event, ...]]:
    """Return the events of every shot: start; then share, noise for every round."""
    people, outlines = crowd(view), ("Gaussian, 2 standard deviations", "Gaussian without rows")  # names of layers
    told: list[tuple[Event, ...]] = []
    for shot in shots:
        released = view.trace.steps[shot.step].released
        if "start" not in released:
            acts: tuple[Act, ...] = ({"layer": outlines[0], "opacity": [0, 1]}, {"layer": CENTER, "size": [0, None]})
            told.append((Event("start", "Start without looking at anybody", shot.head, 1.4, acts, pays=0),))
            continue
        turn = int(released["round"])
        before: list[Act] = [{"layer": name, "at": -1} for name in (*outlines, CENTER)]
        rows = lit(view.colors, people, wave=0.5) if turn <= 3 else []
        head, tail = (
            "Every row shares itself among the Gaussians",
            "by how likely each makes it; the shares stay secret",
        )
        step = view.trace.steps[shot.step]
        moves: list[Act] = []
        if view.hidden and step.hidden:
            true, start = step.hidden[0].statistic, released["start"]
            mean = start + true["sums"] / np.maximum(true["counts"], 1)[:, None]  # sums are of offsets from the start
            moved = np.flatnonzero(~np.asarray(released["dead"]))  # the others stay where they are
            old, new = view.plane(start[moved]), view.plane(mean[moved])
            before.insert(-1, arrows(view.colors.hidden, old, new, span=[0.3, 1]))
            moves = shaken(view, old, new, view.plane(released["centers"][moved]), released["counts_sd"])
        share = Event("share", head, f"Round {turn}: {tail}", hurried(turn, 1.6), (*rows, *before), (1, 0.6), pays=0)
        words = "each Gaussian takes the noisy mean and shape of its share"
        head, words = noised(released["sums_sd"] > 0, "Noise shakes sums, shapes and counts", words)
        gone: list[Act] = [{"layer": name, "at": -1, "opacity": [1, 0]} for name in outlines]
        drawn: list[Act] = [{"layer": name, "opacity": [0, 1], "shake": 4} for name in outlines]
        acts = (*gone, *drawn, {"layer": "move", "opacity": [0, 1]}, *moves, {"layer": CENTER, "streak": 0.4})
        told.append((share, Event("noise", head, f"Round {turn}: {words}", hurried(turn, 2.0), acts, (0.6, 1))))
    return told


def panels(view: View, shots: list[Shot]) -> list[Panel]:
    """Return the panels: plane, loss (if hidden layers are on), spend and ledger."""
    return [_plane(view), *closing(view, shots)]


PANE = Pane(
    draw=panels,
    events=events,
    legend=(
        ("circle", "Gaussian, 2 standard deviations"),
        ("center", "its mean: released center"),
        ("path", "its move"),
        ("diamond", "KMeans"),
        ("ring", "person"),
    ),
    caution="Noise alone can make an ellipse round. With more than two columns, an ellipse is a Gaussian's shadow: "
    "two that overlap here may be far apart.",
    warning=warning,
)
