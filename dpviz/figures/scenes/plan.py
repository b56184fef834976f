"""Draw the noise per center against ε, one line per algorithm, before any budget is spent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest

import numpy as np

from dpviz.domain import Domain
from dpviz.figures.kit.theme import DARK, LIGHT, STYLES, Style, Theme, base
from dpviz.figures.kit.view import Panel
from dpviz.numbers import length, number

__all__ = ["cloud_panel", "noise_panel"]

Curve = Sequence[tuple[float, float]]  # (ε, noise) pairs, ascending
_PLAIN = Style(LIGHT.muted, DARK.muted, "circle-open", "dot")


def _known(curve: Curve) -> list[tuple[float, float]]:
    """Return the (ε, noise) pairs for which the noise is known."""
    return [(epsilon, noise) for epsilon, noise in curve if np.isfinite(noise) and noise > 0]


def _course(curve: Curve, unit: str) -> str:
    """State the noise at both ends of a curve and, if it is not least at the largest ε, where it is least."""
    (first, start), (last, end) = curve[0], curve[-1]
    best, least = min(curve, key=lambda pair: (pair[1], pair[0]))
    words = f"{length(start, unit, 2)} at ε {number(first)}"
    if first == last:
        return words
    middle = f", {length(least, unit, 2)} at ε {number(best)}, where it is least" if first < best < last else ""
    return f"{words}{middle}, {length(end, unit, 2)} at ε {number(last)}"


def _most_exact(curves: Mapping[str, Curve], names: Mapping[str, str], unit: str) -> str:
    """Name the algorithm with the least noise at the ε nearest to 1."""
    known = [(e, noise, slug) for slug, curve in curves.items() for e, noise in _known(curve)]
    if not known:
        return "No formula for the noise per center"
    nearest = min((e for e, _, _ in known), key=lambda e: abs(np.log(e)))
    noise, slug = min((noise, slug) for e, noise, slug in known if e == nearest)
    return f"Least noise per center at ε {number(nearest)}: {names[slug]}, ±{length(noise, unit, 2)}"


def noise_panel(
    colors: Theme,
    curves: Mapping[str, Curve],
    names: Mapping[str, str],
    unit: str,
    within: float | None = None,
) -> Panel:
    """Draw the noise of a typical center against ε, both on log axes.

    Parameters
    ----------
    curves : slug -> (ε, noise) pairs, ascending; noise that is not finite is left out
    names : slug -> its name on screen
    unit : unit of the noise
    within : wanted exactness of a center, drawn as a horizontal line, or None
    """
    figure = base(colors, _most_exact(curves, names, unit), height=340, margin_left=62)
    dark = colors.bg.lower() < "#7"
    points = [pair for curve in curves.values() for pair in _known(curve)]
    for slug, curve in curves.items():
        style = STYLES.get(slug, _PLAIN)
        color = style.dark if dark else style.light
        known = _known(curve)
        figure.add_scatter(
            x=[pair[0] for pair in known], y=[pair[1] for pair in known], mode="lines+markers", name=names[slug],
            line={"color": color, "width": 1.8, "dash": style.dash},
            marker={"color": color, "symbol": style.marker, "size": 9},
            customdata=[length(pair[1], unit, 2) for pair in known],
            hovertemplate=f"{names[slug]}, ε %{{x:g}}: ±%{{customdata}}<extra></extra>",
        )  # fmt: skip
    ends = sorted(((curve[-1][1], slug) for slug, curve in curves.items() if curve and curve[-1][1] > 0), reverse=True)
    values = [value for _, value in points] + ([within] if within else [])
    low, high = (min(values) / 1.6, max(values) * 1.6) if values else (0.1, 10.0)
    span, place = np.log10(high / low), np.inf
    for value, slug in ends:
        if not np.isfinite(value):
            continue
        place = min(place - 0.075 * span, np.log10(value))  # keeps the labels apart
        figure.add_annotation(
            x=np.log10(curves[slug][-1][0]), y=place, text=names[slug], showarrow=False, xanchor="left", xshift=9,
            font={"size": 12, "color": colors.ink},
        )  # fmt: skip
    if within:
        figure.add_shape(
            type="line", xref="x domain", x0=0, x1=1, y0=within, y1=within,
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
        type="log", range=[np.log10(low), np.log10(high)], tickvals=ticks,
        title_text="±" if unit == "km" else f"± {unit}".rstrip(),
        ticktext=[length(tick, unit) if unit == "km" else number(tick) for tick in ticks],
    )  # fmt: skip
    return Panel("wide", figure, _alt(curves, names, unit))


def cloud_panel(colors: Theme, people: np.ndarray, runs: Sequence[np.ndarray], domain: Domain) -> Panel:
    """Draw made-up people (n, d) and the centers (k', d) of each rehearsed run, in the first two columns.

    If there is only one column, the runs are drawn one above the other.
    """
    figure = base(colors, "", height=360, margin_left=62)
    flat = domain.n_features == 1
    x, y = 0, None if flat else 1
    many = people[:600]
    height = np.linspace(0.1, 0.9, max(len(runs), 1))
    figure.add_scatter(
        x=many[:, x], y=np.zeros(len(many)) if y is None else many[:, y], mode="markers", name="made-up person",
        marker={"color": colors.muted, "size": 4, "opacity": 0.45}, hoverinfo="skip",
    )  # fmt: skip
    figure.add_scatter(
        x=np.concatenate([run[:, x] for run in runs]),
        y=np.concatenate([np.full(len(run), height[i]) if y is None else run[:, y] for i, run in enumerate(runs)]),
        mode="markers", name="center of a rehearsed run", hoverinfo="skip",
        marker={"color": colors.released, "size": 8, "opacity": 0.6},
    )  # fmt: skip
    named = [
        f"{name}{f' ({unit})' * bool(unit)}" for name, unit in zip_longest(domain.columns, domain.units, fillvalue="")
    ]
    figure.update_xaxes(title_text=named[x] if named else "", range=[domain.low[x], domain.high[x]])
    if y is None:
        figure.update_yaxes(visible=False, range=[-0.1, 1])
    else:
        same = {"scaleanchor": "x"} if domain.one_scale else {}
        figure.update_yaxes(title_text=named[y] if named else "", range=[domain.low[y], domain.high[y]], **same)
    words = f"{len(runs)} rehearsed runs on made-up people, the centers of each drawn as dots."
    return Panel("cloud", figure, words)


def _alt(curves: Mapping[str, Curve], names: Mapping[str, str], unit: str) -> str:
    words = [f"{names[slug]} {_course(known, unit)}" for slug, curve in curves.items() if (known := _known(curve))]
    return f"Noise per center: {'; '.join(words)}."
