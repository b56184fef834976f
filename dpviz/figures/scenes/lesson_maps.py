"""Draw the maps that only one lesson uses: a DEMO screen, positions of one person, repeated releases and their mean."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pandas as pd

from dpviz.figures.kit.layers import (
    NOWHERE,
    center,
    disc,
    disc_sizes,
    exact_center,
    layered,
    segments,
    tint,
    true_tick,
)  # fmt: skip
from dpviz.figures.kit.panels import MAX_PEOPLE
from dpviz.figures.kit.theme import Theme, base, tag
from dpviz.figures.kit.view import Panel, View, add_frames, thin, xy
from dpviz.figures.scenes.alex import alex_look
from dpviz.figures.scenes.lessons import circle
from dpviz.numbers import counted

__all__ = ["cuts_panel", "joined_panel", "mean_panel", "moved_panel", "screen_panel", "tickets_panel"]


def screen_panel(view: View, trials: np.ndarray, noisy_votes: np.ndarray) -> Panel:
    """Draw a plane in two frames: everything that DEMO shows of the last round, then the part that may be published.

    Parameters
    ----------
    trials : ndarray of shape (m, d), z units
    noisy_votes : ndarray of shape (m,)
    """
    colors = view.colors
    bare = dataclasses.replace(view, people=None, reference=None, hidden=False, missed=None)
    voted = noisy_votes > 0
    visible = {
        "votes": {**xy(view.plane(trials[voted])), "marker": {"size": disc_sizes(noisy_votes[voted])}},
        "center": xy(view.flat(np.asarray(view.trace.cluster_centers))),
    }
    hidden = {}
    if view.people is not None and view.reference is not None:
        _, high = view.bounds()
        hidden = {
            "people": xy(view.flat(view.people[thin(len(view.people), MAX_PEOPLE)])),
            "diamonds": xy(view.flat(view.reference)),
            "tag": {**xy(high[None, :]), "text": ["<b>NOT PRIVATE  ◇ KMeans · ○ people</b>"]},
        }
    color = colors.hidden
    looks = {
        "people": {
            "mode": "markers", "name": "person (not private)",
            "marker": {"symbol": "circle-open", "size": 3.5, "color": colors.person, "opacity": 0.55},
        },
        "votes": {**disc(colors, 0.35), "name": "noisy votes"},
        "center": center(colors),
        "diamonds": {
            "mode": "markers", "name": "KMeans (not private)",
            "marker": {"symbol": "diamond-open", "size": 20, "color": color, "line": {"width": 2.2}},
        },
        "tag": {"mode": "text", "textposition": "bottom left", "textfont": {"size": 11, "color": color}},
    }  # fmt: skip
    alt = "A map with people, KMeans' diamonds, noisy votes and released centers; then only what may be published."
    alt += view.placed(view.trace.cluster_centers)
    n, k = len(view.trace.steps), len(view.trace.cluster_centers)
    title = f"A DEMO screen after {counted(n, 'round')}, with {counted(k, 'center')}"
    return layered(bare, title, looks, [{**hidden, **visible}, visible], alt, height=430)


def moved_panel(
    view: View, title: str, noisy: np.ndarray, here: np.ndarray, there: np.ndarray, far: Sequence[float]
) -> Panel:
    """Draw a plane of noisy points (n, d) with one person and, in each frame, a circle in which this person might be.

    Parameters
    ----------
    here, there : ndarrays of shape (d,), the positions of the person and of their noisy point, original units
    far : radii of the circles, z units
    """
    colors = view.colors
    points = xy(view.flat(noisy[thin(len(noisy), MAX_PEOPLE)]))
    arrow = xy(view.flat(np.stack([here, there])))
    looks = {
        "noisy point": {"mode": "markers", "marker": {"color": colors.released_soft, "size": 3.4, "opacity": 0.8}},
        "within": {
            "mode": "lines", "fill": "toself", "fillcolor": tint(colors.ink, 0.08),
            "line": {"color": colors.ink, "width": 2},
        },
        "arrow": {
            "mode": "lines+markers", "name": "Alex and Alex's noisy point (not private)",
            "line": {"color": colors.hidden, "width": 1.6, "dash": "dot"},
            "marker": {"symbol": "circle-open", "size": 11, "color": colors.hidden, "line": {"width": 2.2}},
        },
    }  # fmt: skip
    frames = [
        {"noisy point": points, "within": xy(view.flat(here) + circle(view, radius)), "arrow": arrow} for radius in far
    ]
    return layered(view, title, looks, frames, "A map of noisy points, with circles around one person.", height=430)


def mean_panel(view: View, looks: np.ndarray, means: np.ndarray, target: np.ndarray) -> Panel:
    """Draw one center, magnified, with one frame per release: the center in every release so far, and their mean.

    Parameters
    ----------
    looks, means : ndarrays of shape (n, d), the center in every release and the mean up to that release, original units
    target : ndarray of shape (d,), the center without noise. NOT PRIVATE
    """
    colors, points, middle = view.colors, view.flat(looks), view.flat(target)
    aim = xy(middle[None, :])
    frames = [
        {"without": aim, "look": xy(points[: i + 1]), "mean": xy(view.flat(mean)[None, :])}
        for i, mean in enumerate(means)
    ]
    drawn = {
        "without": {
            "mode": "markers",
            "name": "the same method without noise (not private)",
            "marker": {"symbol": "square-open", "size": 20, "color": colors.hidden, "line": {"width": 2.2}},
        },
        "look": {"mode": "markers", "marker": {"color": colors.released, "size": 8, "opacity": 0.5}},
        "mean": {**center(colors), "name": "mean of the looks so far"},
    }
    aimed = dataclasses.replace(view, reference=None, missed=None)
    alt = f"One center in {len(looks)} runs; the mean of its positions approaches the position without noise."
    panel = layered(
        aimed,
        f"One center in {counted(len(looks), 'release')}",
        drawn,
        frames,
        alt,
        height=430,
        secret=["□ without noise"],
    )
    reach = 1.25 * float(np.abs(points - middle).max())
    panel.figure.update_xaxes(range=[middle[0] - reach, middle[0] + reach])
    panel.figure.update_yaxes(range=[middle[1] - reach, middle[1] + reach])
    panel.figure.update_layout(meta={**(panel.figure.layout.meta or {}), "ar": 1.0})
    return panel


def joined_panel(view: View, title: str, centers: np.ndarray, places: np.ndarray) -> Panel:
    """Draw a plane with one frame per place of Alex: exact centers with Alex there, and those one place before.

    Parameters
    ----------
    centers : ndarray of shape (1 + places, k, 2), exact centers without Alex, and with Alex at every place. NOT PRIVATE
    places : ndarray of shape (places, 2), where Alex is
    """
    colors = view.colors
    looks = {
        "moved": {"mode": "lines", "line": {"color": colors.hidden, "width": 1.6, "dash": "dot"}},
        "before": exact_center(colors, "exact", "square-open", size=19),
        "now": exact_center(colors, "KMeans", size=13),
        "alex": alex_look(colors, "Alex", "top"),
    }
    frames = [
        {
            "moved": xy(segments(view.flat(before), view.flat(now))),
            "before": xy(view.flat(before)), "now": xy(view.flat(now)), "alex": xy(view.flat(place)[None, :]),
        }
        for before, now, place in zip(centers, centers[1:], places, strict=False)
    ]  # fmt: skip
    alt = f"{centers.shape[1]} exact centers, and how they move as Alex walks through {len(places)} places."
    return layered(view, title, looks, frames, alt, height=430)


def cuts_panel(view: View, title: str, tables: Sequence[pd.DataFrame]) -> Panel:
    """Draw a plane with one frame per table: the cuts that were drawn, thicker where a cut was drawn more often.

    Parameters
    ----------
    tables : tables of the cuts of the first two columns, with the columns column, position (original units) and drawn
    """
    looks = {
        name: {"mode": "lines", "line": {"color": view.colors.ink, "width": width}}
        for name, width in (("once", 1.0), ("some", 2.4), ("often", 5.0))
    }
    frames = []
    for table in tables:
        several = [table[table.drawn == 1], table[table.drawn.between(2, 9)], table[table.drawn >= 10]]
        frames.append({name: xy(_lines(view, some)) for name, some in zip(looks, several, strict=True)})
    alt = (
        f"A map with the cuts that win in {tables[-1].drawn.sum()} draws: {(tables[-1].drawn > 0).sum()} at the last ε."
    )
    return layered(view, title, looks, frames, alt, height=430)


def _lines(view: View, table: pd.DataFrame) -> np.ndarray:
    """Return cuts across the plane as lines, with NaN between them."""
    low, high = view.bounds()
    ends = np.empty((2, len(table), 2))
    across = (table.column == 0).to_numpy()
    for end, edge in zip(ends, (low, high), strict=True):
        end[:] = edge
        end[across, 0], end[~across, 1] = table.position[across], table.position[~across]
    return segments(*ends) if len(table) else NOWHERE


def tickets_panel(colors: Theme, title: str, tables: Sequence[pd.DataFrame], draws: int) -> Panel:
    """Draw how often the best cuts were drawn, as bars, and how often that was expected. NOT PRIVATE.

    Parameters
    ----------
    tables : tables of the cuts from the best to the worst, with the columns probability and drawn
    """
    figure = base(colors, title, height=230)
    tag(figure, colors, below=True)
    shown = 16  # number of cuts drawn, from the best
    x = list(range(1, shown + 1))
    figure.add_bar(x=x, y=[0] * shown, width=0.7, hoverinfo="skip", marker={"color": colors.released})
    figure.add_scatter(x=x, y=[0] * shown, **true_tick(colors, 15))
    figure.update_xaxes(title_text="cut, from the best score down", tickvals=[1, *range(4, shown + 1, 4)])
    figure.update_xaxes(range=[0.3, shown + 0.7])
    figure.update_yaxes(title_text=f"of {draws}", range=[0, 1.06 * draws])
    updates = [
        [{"y": table.drawn[:shown].tolist()}, {"y": (draws * table.probability[:shown]).round(2).tolist()}]
        for table in tables
    ]
    add_frames(figure, [0, 1], updates)
    alt = f"Bars: how often each of the {shown} best cuts was drawn; ticks: how often that was expected. Not private."
    return Panel("side", figure, f"{title}. {alt}")


def ways_panel(
    view: View, title: str, people: Sequence[np.ndarray], centers: Sequence[np.ndarray], alex: Sequence[float]
) -> Panel:
    """Draw a plane with one frame per way to a k: its people and its centers, which are exact in the first two frames.

    Parameters
    ----------
    people : ndarrays of shape (n, 2), original units; the second one has Alex as its last row. NOT PRIVATE
    centers : ndarrays of shape (k, 2), original units
    alex : where Alex is
    """
    colors = view.colors
    looks = {
        "person": {
            "mode": "markers", "name": "person (not private)",
            "marker": {"symbol": "circle-open", "size": 4, "color": colors.person, "opacity": 0.55},
        },
        "exact": exact_center(colors, "KMeans", size=14),
        "released": center(colors),
        "alex": alex_look(colors, "Alex", "top"),
    }  # fmt: skip
    frames = []
    for i, (crowd, found) in enumerate(zip(people, centers, strict=True)):
        shown = crowd[thin(len(crowd), MAX_PEOPLE)]
        frames.append({"person": xy(view.flat(shown)), ("exact" if i < 2 else "released"): xy(view.flat(found))})
    frames[1]["alex"] = xy(view.flat(np.array([alex])))
    alt = f"People and the centers of {len(centers)} ways to choose their number, one after the other."
    alt += view.placed(centers[-1], "Centers of the last")
    return layered(view, title, looks, frames, alt, height=430, secret=["○ person"])
