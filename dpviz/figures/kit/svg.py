"""Draw a run as a static SVG for print: centers in the public bounds, without scripts or libraries."""

from __future__ import annotations

import numpy as np

from dpviz.figures.kit.theme import LIGHT
from dpviz.figures.kit.view import View
from dpviz.numbers import number

__all__ = ["plane_svg", "ticks"]

WIDTH, LEFT, BOTTOM, TOP, RIGHT = 640, 62, 46, 10, 14


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return up to `most` + 1 round numbers between two values, spaced by 1, 2 or 5 times a power of ten."""
    raw = (high - low) / most
    size = 10.0 ** np.floor(np.log10(raw))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= raw)
    return [float(value) for value in np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step]


def plane_svg(view: View) -> str:
    """Return an SVG of the run's centers in the public box; they are hollow diamonds if the run makes no promise."""
    low, high = view.bounds()
    pad = 0.04 * (high - low)
    low, high = low - pad, high + pad
    same = len(set(view.units)) == 1 and view.trace.domain.one_scale
    wide = WIDTH - LEFT - RIGHT
    tall = float(np.clip(wide * (high[1] - low[1]) / (high[0] - low[0]), 220, 640)) if same else 380.0
    if view.trace.domain.n_features == 1:
        tall = 120.0
    height = TOP + tall + BOTTOM

    def at(points: np.ndarray) -> np.ndarray:
        share = (np.atleast_2d(points) - low) / (high - low)
        return np.stack([LEFT + wide * share[:, 0], TOP + tall * (1 - share[:, 1])], axis=1)

    marks = []
    for x in ticks(low[0], high[0]):
        px = at(np.array([x, low[1]]))[0, 0]
        marks.append(
            f'<path d="M{px:.1f} {TOP}v{tall:.1f}"/><text x="{px:.1f}" y="{TOP + tall + 18:.1f}">{number(x)}</text>'
        )
    if view.trace.domain.n_features > 1:
        for y in ticks(low[1], high[1]):
            py = at(np.array([low[0], y]))[0, 1]
            marks.append(
                f'<path d="M{LEFT} {py:.1f}h{wide}"/>'
                f'<text x="{LEFT - 8}" y="{py + 4:.1f}" text-anchor="end">{number(y)}</text>'
            )
    titles = view.axis_titles()
    exact = view.trace.claimed.exact
    centers = at(view.flat(np.asarray(view.trace.cluster_centers)))
    dots = "".join(_dot(x, y, number, exact) for number, (x, y) in enumerate(centers, 1))
    middle = TOP + tall / 2
    scale = "".join(marks).replace("<text", '<text stroke="none"')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" role="img" '
        f'aria-label="{len(centers)} centers in the public bounds" font-family="system-ui,sans-serif" font-size="13">'
        '<g stroke="currentColor" stroke-opacity=".15" fill="currentColor" text-anchor="middle">'
        f"{scale}</g>"
        f'<rect x="{LEFT}" y="{TOP}" width="{wide}" height="{tall:.1f}" fill="none" stroke="currentColor" '
        'stroke-opacity=".4"/>'
        f'<text x="{LEFT + wide / 2}" y="{height - 8:.0f}" text-anchor="middle" fill="currentColor">{titles[0]}</text>'
        f'<text transform="translate(15 {middle:.0f}) rotate(-90)" text-anchor="middle" fill="currentColor">{titles[1]}'
        f"</text>{dots}</svg>"
    )


def _dot(x: float, y: float, number: int, exact: bool) -> str:
    """Return a center with its number: filled if released, hollow if exact."""
    shape = (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="7" fill="{LIGHT.released}" stroke="{LIGHT.ink}" stroke-width="1.5"/>'
        if not exact
        else f'<path d="M{x:.1f} {y - 8:.1f}l8 8-8 8-8-8z" fill="none" stroke="{LIGHT.hidden}" stroke-width="2"/>'
    )
    return f'{shape}<text x="{x + 11:.1f}" y="{y + 4:.1f}" fill="currentColor">{number}</text>'
