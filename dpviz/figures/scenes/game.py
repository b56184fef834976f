"""Draw the game: a released picture with a person to bet on, and the square of false alarms and misses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dpviz.domain import Domain
from dpviz.figures.kit.layers import center, exact_center
from dpviz.figures.kit.panels import bounded
from dpviz.figures.kit.theme import Theme, base, halo, tag
from dpviz.figures.kit.view import Panel, xy
from dpviz.figures.scenes.alex import alex_look, cloud_looks
from dpviz.postprocessing.bound import Bound

__all__ = ["Rates", "picture_panel", "square_panel"]

_ALARMS = np.concatenate([np.geomspace(1e-4, 0.05, 24), np.linspace(0.055, 1, 190)])
# (share, low, high) of false alarms and (share, low, high) of misses
Rates = tuple[tuple[float, float, float], tuple[float, float, float]]


def _flat(points: np.ndarray, axes: tuple[int, int] | None) -> np.ndarray:
    """Return the drawn coordinates (m, 2) of points (m, d); if there is only one column, the points form a line."""
    points = np.atleast_2d(points)
    return np.stack([points[:, 0], np.zeros(len(points))], axis=1) if axes is None else points[:, list(axes)]


def picture_panel(
    colors: Theme,
    domain: Domain,
    axes: tuple[int, int] | None,
    titles: tuple[str, str],
    centers: np.ndarray,
    places: Mapping[str, np.ndarray],
    clouds: tuple[np.ndarray, np.ndarray] | None = None,
    *,
    exact: bool = False,
) -> Panel:
    """Draw a released picture: only centers (k, d), and named points (d,) that the question is about.

    `clouds` holds the centers of many other runs, (m, d) with the person (drawn filled) and (m', d) without (drawn
    hollow). All coordinates are in original units. A picture with `exact` centers is not private.
    """
    low, high = (np.array([domain.low[0], -1.0]), np.array([domain.high[0], 1.0]))
    if axes is not None:
        low, high = domain.low[list(axes)], domain.high[list(axes)]
    figure = bounded(colors, "", low, high, titles, domain, height=430)
    figure.update_layout(margin_t=8)
    for points, look in zip(clouds or (), cloud_looks(colors).values(), strict=False):
        figure.add_scatter(**xy(_flat(points, axes)), hoverinfo="skip", **look)
    look = exact_center(colors, "KMeans", size=14) if exact else center(colors, symbol="circle", size=14)
    figure.add_scatter(**xy(_flat(centers, axes)), **look)
    for (name, place), side in zip(places.items(), ("top", "bottom"), strict=False):
        figure.add_scatter(**xy(_flat(place, axes)), hoverinfo="skip", **alex_look(colors, name, side))
    if exact or clouds is not None:
        tag(figure, colors, "NOT PRIVATE", below=True)
    where = f" and a place called {' and one called '.join(places)}" if places else ""
    return Panel("plane", figure, f"{len(centers)} released centers{where}.")


def square_panel(colors: Theme, bound: Bound, points: Sequence[tuple[str, Rates]]) -> Panel:
    """Draw the square of false alarms and misses, with the bound's curve and the players with their intervals."""
    height = 380
    figure = base(colors, f"No attacker wins more than {bound.odds} of 100 bets", height=height)
    figure.update_xaxes(title_text="false alarms", range=[-0.02, 1.02], tickformat=".0%", dtick=0.25)
    figure.update_yaxes(title_text="misses", range=[-0.02, 1.02], tickformat=".0%", dtick=0.25)
    figure.update_layout(meta={"ar": 1.0, "h": height})
    figure.add_scatter(
        x=[0, 1], y=[1, 0], mode="lines", name="coin", hoverinfo="skip",
        line={"color": colors.muted, "width": 1.4, "dash": "dot"},
    )  # fmt: skip
    figure.add_scatter(
        x=_ALARMS, y=bound.miss(_ALARMS), mode="lines", name="bound",
        line={"color": colors.released, "width": 2.4},
        hovertemplate="at %{x:.1%} false alarms no attacker has less than %{y:.1%} misses<extra></extra>",
    )  # fmt: skip
    for (name, (alarm, miss)), symbol in zip(points, ("circle", "x-thin-open"), strict=False):
        x, y = [alarm[1], alarm[2], None, alarm[0], alarm[0]], [miss[0], miss[0], None, miss[1], miss[2]]
        figure.add_scatter(x=x, y=y, mode="lines", hoverinfo="skip", line={"color": colors.muted, "width": 1.6})
        figure.add_scatter(
            x=[alarm[0]], y=[miss[0]], mode="markers+text", text=[name], name=name, textposition="top right",
            textfont={"size": 13, "color": colors.ink, "shadow": halo(colors)}, cliponaxis=False,
            marker={"symbol": symbol, "size": 11, "color": colors.ink, "line": {"width": 2.2, "color": colors.ink}},
        )  # fmt: skip
    words = "; ".join(f"{name}: {a[0]:.0%} false alarms, {m[0]:.0%} misses" for name, (a, m) in points)
    return Panel(
        "plane", figure, f"The bound as a curve of misses against false alarms. {words or 'Nobody has played'}."
    )
