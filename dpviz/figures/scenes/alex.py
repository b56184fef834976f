"""Draw, in a plane and in a magnified view of one KMeans center, two worlds that differ in one person. NOT PRIVATE."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from dpviz.domain import Domain
from dpviz.figures.kit.layers import center, layered
from dpviz.figures.kit.theme import Theme, base, halo, tag
from dpviz.figures.kit.view import Panel, View, add_frames, moved, xy
from dpviz.numbers import counted, length

__all__ = ["PRESENT", "Lens", "alex_look", "cloud_looks", "legend", "lens_of", "lens_panel", "nearest", "worlds_panel"]

PRESENT = ("with Alex", "without Alex")  # the two worlds if the question is whether Alex is in the data
_LARGEST = 6  # exponent of the largest magnification of a lens, a power of ten
_TALL = 340  # height of a lens, in pixels


def legend(names: tuple[str, str], runs: int) -> tuple[tuple[str, str], ...]:
    """Return the key of a plane with clouds of this many runs in each of two worlds, which have `names`."""
    return (
        ("center", "released center"),
        ("disc", f"{runs} runs {names[0]}"),
        ("circle", f"{runs} runs {names[1]}"),
        ("diamond", "KMeans"),
        ("hidden_ring", "Alex"),
        ("ring", "person"),
    )


def alex_look(colors: Theme, name: str, side: str) -> dict[str, Any]:
    """Return the style of the person in question: a ring with a label at its "top" or "bottom"."""
    return {
        "mode": "markers+text",
        "text": [name],
        "textposition": f"{side} center",
        "textfont": {"color": colors.hidden, "size": 13, "shadow": halo(colors)},
        "marker": {"symbol": "circle-open", "size": 18, "color": colors.hidden, "line": {"width": 3}},
    }


def cloud_looks(colors: Theme) -> dict[str, dict[str, Any]]:
    """Return the styles of the centers of many runs: filled with Alex in the data, hollow without."""
    hollow = {"symbol": "circle-open", "color": colors.released, "size": 7, "opacity": 0.75, "line": {"width": 1.2}}
    return {
        "with": {"mode": "markers", "marker": {"color": colors.released, "size": 7, "opacity": 0.45}},
        "without": {"mode": "markers", "marker": hollow},
    }


@dataclasses.dataclass(frozen=True, eq=False)
class Lens:
    """The KMeans center that one person moves farthest, and the magnification at which the move becomes visible.

    Attributes
    ----------
    here : the center (d,) with the person, original units
    there : the center (d,) without the person, original units
    times : magnification of the plane, a power of ten
    """

    here: np.ndarray
    there: np.ndarray
    times: int


def nearest(centers: np.ndarray, place: np.ndarray, domain: Domain) -> np.ndarray:
    """Return the center of (k, d) that is nearest to a point (d,), original units; distances are in z units."""
    gaps = np.linalg.norm(domain.normalize(centers) - domain.normalize(place[None]), axis=1)
    return np.asarray(centers)[int(gaps.argmin())]


def lens_of(view: View, plain: tuple[np.ndarray, np.ndarray]) -> Lens:
    """Return the lens for KMeans' centers (k, d) with and without the person, original units."""
    domain = view.trace.domain
    here, there = (domain.normalize(centers) for centers in plain)
    one, other = linear_sum_assignment(cdist(here, there))
    most = int(np.linalg.norm(here[one] - there[other], axis=1).argmax())
    ends = plain[0][one[most]], plain[1][other[most]]
    low, high = view.bounds()
    share = float((np.abs(view.flat(ends[0]) - view.flat(ends[1])) / (high - low)).max())
    power = np.floor(np.log10(0.5 / share)) if share > 0 else 3
    return Lens(*ends, times=10 ** int(np.clip(power, 0, _LARGEST)))


def lens_panel(
    view: View,
    lens: Lens,
    frames: Sequence[tuple[np.ndarray, Sequence[np.ndarray]]],
    names: tuple[str, str] = PRESENT,
) -> Panel:
    """Draw the lens: the KMeans center in both worlds, which have `names`, and the released center in every frame.

    If a released center is outside the lens, a ray at the edge shows its direction.

    Parameters
    ----------
    frames : for each frame, a center of KMeans (d,) and the released centers (d,) of the same group, original units
    """
    colors, domain = view.colors, view.trace.domain
    low, high = view.bounds()
    half = (high - low) / 2 / lens.times
    if domain.one_scale:
        half = np.full(2, half.max())
    middle = (view.flat(lens.here) + view.flat(lens.there)) / 2
    here, there = domain.normalize(np.stack([lens.here, lens.there]))
    shift = domain.length(float(np.linalg.norm(here - there)), 2)
    figure = base(colors, f"Alex moves a KMeans center by {shift}", height=_TALL)
    unit = view.units[0] if view.units else ""
    wide = f"{lens.times:,} : 1"
    if domain.one_scale:
        wide += f", {length(float(2 * half[0]), unit, 2)} from edge to edge"
    figure.update_xaxes(range=[middle[0] - half[0], middle[0] + half[0]], showticklabels=False, title_text=wide)
    figure.update_yaxes(range=[middle[1] - half[1], middle[1] + half[1]], showticklabels=False)
    figure.update_layout(meta={"ar": 1.0, "h": _TALL})
    ends = np.stack([view.flat(lens.here), view.flat(lens.there)])
    upper = int(ends[1, 1] > ends[0, 1])
    words = [f" <br>{name}" if upper != i else f"{name}<br> " for i, name in enumerate(names)]
    figure.add_scatter(
        **xy(ends), mode="markers+text", text=words, hoverinfo="skip", name="either",
        textposition=["bottom center" if upper != i else "top center" for i in range(2)],
        textfont={"color": colors.muted, "size": 13, "shadow": halo(colors)},
        marker={"symbol": "circle", "size": 5, "color": colors.muted},
    )  # fmt: skip
    looks: dict[str, dict[str, Any]] = {
        "outside": {"mode": "lines", "line": {"color": colors.released, "width": 2.5}},
        "released": center(colors),
        "KMeans": {
            "mode": "markers",
            "name": "KMeans (not private)",
            "marker": {"symbol": "diamond-open", "size": 20, "color": colors.hidden, "line": {"width": 2.2}},
        },
    }
    for layer, look in looks.items():
        figure.add_scatter(**{"hoverinfo": "skip", "name": layer, **look})
    updates = [[*_released(view, points, middle, half), xy(view.flat(kmeans[None]))] for kmeans, points in frames]
    add_frames(figure, [1, 2, 3], updates)
    tag(figure, colors)
    alt = f"A {lens.times:,}-to-1 lens on the KMeans center that Alex moves farthest."
    return Panel("side", figure, alt)


def _released(
    view: View, points: Sequence[np.ndarray], middle: np.ndarray, half: np.ndarray
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return rays toward the released centers outside the lens, and the released centers inside it."""
    inside: list[np.ndarray] = []
    x: list[float | None] = []
    y: list[float | None] = []
    for point in points:
        way = (view.flat(point) - middle) / half
        far = float(np.abs(way).max())
        if far <= 1:
            inside.append(view.flat(point))
            continue
        for share in (0.84, 0.96):
            x.append(float(middle[0] + share * half[0] * way[0] / far))
            y.append(float(middle[1] + share * half[1] * way[1] / far))
        x.append(None)
        y.append(None)
    return {"x": x, "y": y}, xy(np.array(inside) if inside else np.empty((0, 2)))


def worlds_panel(
    view: View,
    alex: np.ndarray,
    elsewhere: np.ndarray | None,
    ones: tuple[np.ndarray, np.ndarray],
    clouds: tuple[Sequence[np.ndarray], Sequence[np.ndarray]],
    plain: tuple[np.ndarray, np.ndarray],
    names: tuple[str, str] = PRESENT,
) -> Panel:
    """Draw a plane in five frames: a run in each world with the same noise, many runs in each world, and both together.

    Parameters
    ----------
    alex : Alex's place (d,) in the first world, original units
    elsewhere : Alex's place (d,) in the second world, original units, or None if that world lacks Alex
    ones : centers of one run in both worlds, original units
    plain : centers of KMeans in both worlds, original units
    clouds : centers of many runs in both worlds, original units; empty until they are computed
    names : the names of both worlds
    """
    colors = view.colors
    view = dataclasses.replace(view, reference=None, missed=None)
    low, high = view.bounds()
    # keeps the name inside the picture
    below = "bottom" if view.flat(alex[None])[0, 1] > (low[1] + high[1]) / 2 else "top"
    looks = {
        **cloud_looks(colors),
        "center": center(colors),
        "KMeans": {
            "mode": "markers",
            "name": "KMeans (not private)",
            "marker": {"symbol": "diamond-open", "size": 20, "color": colors.hidden, "line": {"width": 2.2}},
        },
        "Alex": alex_look(colors, "Alex", below),
    }
    one, other = (view.flat(points) for points in ones)
    here, there = (xy(view.flat(np.concatenate([ones[0][:0], *cloud]))) for cloud in clouds)
    first, second = (view.flat(points) for points in plain)
    spot = xy(view.flat(alex[None]))
    away = {} if elsewhere is None else {"Alex": xy(view.flat(elsewhere[None]))}
    glide = moved(one, other) if one.shape == other.shape else xy(other)
    shift = moved(first, second) if first.shape == second.shape else xy(second)
    frames = [
        {"center": xy(one), "KMeans": xy(first), "Alex": spot},
        {"center": glide, "KMeans": shift, **away},
        {"with": here, "KMeans": xy(first), "Alex": spot},
        {"without": there, "KMeans": xy(second), **away},
        {"with": here, "without": there, "KMeans": xy(first), "Alex": spot},
    ]
    alt = f"Two worlds, {' and '.join(names)}: one run of each with the same noise, and clouds of many runs."
    alt += "".join(view.placed(points, f"Centers {name}") for points, name in zip(ones, names, strict=True))
    return layered(view, _difference(view, ones, names), looks, frames, alt, height=400)


def _difference(view: View, ones: tuple[np.ndarray, np.ndarray], names: tuple[str, str]) -> str:
    """State how one person changes the released centers if the noise is the same."""
    domain = view.trace.domain
    here, there = (domain.normalize(centers) for centers in ones)
    if len(here) != len(there):
        return f"With the same noise: {counted(len(here), 'center')} {names[0]}, {len(there)} {names[1]}"
    gaps = cdist(here, there)
    far = float(gaps[linear_sum_assignment(gaps)].max(initial=0.0))
    return f"With the same noise, Alex moves centers by up to {domain.length(far, 2)}"
