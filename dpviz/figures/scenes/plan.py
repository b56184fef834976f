"""Draw the noise per center over ε, one line per algorithm, before anything is spent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dpviz.figures.kit.theme import DARK, LIGHT, STYLES, Style, Theme, base
from dpviz.figures.kit.view import Panel
from dpviz.numbers import number

__all__ = ["noise_panel"]

_PLAIN = Style(LIGHT.muted, DARK.muted, "circle-open", "dot")


def noise_panel(
    colors: Theme,
    curves: Mapping[str, Sequence[tuple[float, float]]],
    names: Mapping[str, str],
    unit: str,
    within: float | None = None,
) -> Panel:
    """Return the noise of a typical center over ε, both on logarithms.

    Parameters
    ----------
    curves : slug -> (ε, noise) pairs, ascending; noise that is not finite is left out
    names : slug -> its name on screen
    unit : of the noise
    within : wanted accuracy of a center, drawn as a horizontal line, or None
    """
    figure = base(colors, "Noise per center", height=340, margin_left=62)
    dark = colors.bg.lower() < "#7"
    points = [pair for curve in curves.values() for pair in curve if np.isfinite(pair[1]) and pair[1] > 0]
    for slug, curve in curves.items():
        style = STYLES.get(slug, _PLAIN)
        color = style.dark if dark else style.light
        known = [pair for pair in curve if np.isfinite(pair[1]) and pair[1] > 0]
        figure.add_scatter(
            x=[pair[0] for pair in known], y=[pair[1] for pair in known], mode="lines+markers", name=names[slug],
            line={"color": color, "width": 1.8, "dash": style.dash},
            marker={"color": color, "symbol": style.marker, "size": 9},
            hovertemplate=f"{names[slug]}, ε %{{x:g}}: ±%{{y:,.3~r}}<extra></extra>",
        )  # fmt: skip
    ends = sorted(((curve[-1][1], slug) for slug, curve in curves.items() if curve and curve[-1][1] > 0), reverse=True)
    values = [value for _, value in points] + ([within] if within else [])
    low, high = (min(values) / 1.6, max(values) * 1.6) if values else (0.1, 10.0)
    span, place = np.log10(high / low), np.inf
    for value, slug in ends:
        if not np.isfinite(value):
            continue
        place = min(place - 0.075 * span, np.log10(value))  # labels do not meet
        figure.add_annotation(
            x=np.log10(curves[slug][-1][0]), y=place, text=names[slug], showarrow=False, xanchor="left", xshift=9,
            font={"size": 12, "color": colors.ink},
        )  # fmt: skip
    if within:
        figure.add_shape(
            type="line", x0=0.2, x1=10, y0=within, y1=within,
            line={"color": colors.released, "width": 1.6, "dash": "dash"},
        )  # fmt: skip
    epsilons = sorted({pair[0] for pair in points}) or [1.0]
    figure.update_xaxes(
        type="log", range=[np.log10(epsilons[0] / 1.15), np.log10(epsilons[-1] * 2.3)], tickvals=epsilons,
        ticktext=[number(value) for value in epsilons], title_text="privacy budget ε",
    )  # fmt: skip
    ticks = [digit * 10.0**power for power in range(-12, 13) for digit in (1, 2, 5)]
    ticks = [tick for tick in ticks if low <= tick <= high]
    figure.update_yaxes(
        type="log", range=[np.log10(low), np.log10(high)], title_text=f"± {unit}".rstrip(), tickvals=ticks,
        ticktext=[number(tick) for tick in ticks],
    )  # fmt: skip
    return Panel("wide", figure, _alt(curves, names, unit))


def _alt(curves: Mapping[str, Sequence[tuple[float, float]]], names: Mapping[str, str], unit: str) -> str:
    words = [
        f"{names[slug]} from {number(curve[0][1], 2)} to {number(curve[-1][1], 2)}"
        for slug, curve in curves.items()
        if curve
    ]
    return f"Noise per center falls with ε: {', '.join(words)} {unit}".rstrip() + "."
