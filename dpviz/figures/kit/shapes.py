"""Draw centers in the shape of their data, as HTML with SVG: pictures, points on a map, or bars between bounds.

`SHAPES` maps each shape that a data set can declare to the function that draws it. Each function draws released values;
pictures and maps also show the reference's values, with a tag, if there are any (DEMO).
"""

from __future__ import annotations

import base64
import dataclasses
import html
from collections.abc import Callable

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from dpviz.datasets import Dataset
from dpviz.figures.kit.panels import FLATTEST
from dpviz.figures.kit.theme import Theme
from dpviz.metrics import reference_name
from dpviz.numbers import number
from dpviz.postprocessing.in_words import center_words
from dpviz.postprocessing.released import center_noise
from dpviz.trace import Trace

__all__ = ["SHAPES", "Drawing", "drawn", "partners"]

LEFT, TOP = 34, 8  # width of the margin on the left of the map and above it, in pixels
MOST_BARS = 8  # maximum number of columns drawn as bars; the table of numbers has all columns
TAG = '<span class="dp-tag">NOT PRIVATE</span>'


@dataclasses.dataclass(frozen=True)
class Drawing:
    """Centers and what is needed to draw them; `reference` holds exact centers (k, d), original units, or None."""

    trace: Trace
    data: Dataset
    colors: Theme
    reference: np.ndarray | None = None

    @property
    def against(self) -> str:
        """Return the possessive form of the reference's name: KMeans' or KMedians'."""
        return f"{reference_name(self.trace)}'"

    @property
    def names(self) -> list[str]:
        """Return the names of the centers: their numbers and, if known, their noisy sizes."""
        sizes = center_noise(self.trace).sizes
        if sizes is None:
            return [f"{i + 1}" for i in range(len(self.trace.cluster_centers))]
        return [f"{i}, about {max(size, 0):,.0f} rows" for i, size in enumerate(sizes, 1)]


def drawn(drawing: Drawing) -> str:
    """Return the centers as HTML, in the shape that their data set declares."""
    return SHAPES[drawing.data.shape](drawing)


def partners(drawing: Drawing) -> dict[int, int]:
    """Return a dict from center to reference center, matched one to one with the smallest total distance in z units."""
    if drawing.reference is None:
        return {}
    normalize = drawing.trace.domain.normalize
    ours, theirs = linear_sum_assignment(cdist(normalize(drawing.trace.cluster_centers), normalize(drawing.reference)))
    return dict(zip(ours.tolist(), theirs.tolist(), strict=True))


def _image(svg: str, alt: str, look: str = "") -> str:
    data = base64.b64encode(svg.encode()).decode()
    return f'<img class="{look}" alt="{html.escape(alt)}" src="data:image/svg+xml;base64,{data}">'


def _svg(width: float, height: float, body: str) -> str:
    size = f'width="{width:.1f}" height="{height:.1f}" viewBox="0 0 {width:.1f} {height:.1f}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{body}</svg>'


def _picture(values: np.ndarray, size: tuple[int, int], drawing: Drawing, color: str) -> str:
    """Return one picture: the higher a value lies between its declared bounds, the darker its cell."""
    domain, (rows, columns), side = drawing.trace.domain, size, 11
    shade = np.clip((values - domain.low) / (domain.high - domain.low), 0, 1).reshape(rows, columns)
    cells = "".join(
        f'<rect x="{side * j}" y="{side * i}" width="{side}" height="{side}" fill="{color}" fill-opacity="{a:.2f}"/>'
        for (i, j), a in np.ndenumerate(shade)
        if a >= 0.005
    )
    paper = f'<rect width="{side * columns}" height="{side * rows}" fill="{drawing.colors.panel}"/>'
    return _svg(side * columns, side * rows, paper + cells)


def pictures(drawing: Drawing) -> str:
    """Return every center as a picture, next to the reference center matched with it."""
    size, pairs, cards = drawing.data.picture or (1, len(drawing.data.columns)), partners(drawing), []
    for i, (center, name) in enumerate(zip(drawing.trace.cluster_centers, drawing.names, strict=True)):
        images = _image(_picture(center, size, drawing, drawing.colors.released), f"Center {name}", "ours")
        if i in pairs and drawing.reference is not None:
            other = _picture(drawing.reference[pairs[i]], size, drawing, drawing.colors.hidden)
            images += _image(other, f"{drawing.against} center beside center {i + 1}", "theirs")
        cards.append(f"<figure><div>{images}</div><figcaption>{name}</figcaption></figure>")
    words = (
        f"The released center is on the left, {drawing.against} on the right {TAG}"
        if pairs
        else "Every center as a picture."
    )
    return f'<p class="dp-small">{words}</p><div class="dp-pictures">{"".join(cards)}</div>'


def places(drawing: Drawing) -> str:
    """Return a map of the centers with their noise, on a grid in the data's units, and a list of their coordinates."""
    trace, colors, unit = drawing.trace, drawing.colors, html.escape(drawing.data.units[0])
    low, high, sd = trace.domain.low, trace.domain.high, center_noise(trace).sd
    scale = np.full(2, min(520 / (high[0] - low[0]), 420 / (high[1] - low[1])))
    step, stretched = np.full(2, _round_step(float((high - low).max()) / 8)), ""
    sides = scale * (high - low)
    short = int(sides.argmin())
    if sides[short] < FLATTEST * sides.max():  # the short side of a long strip is stretched, as in the plane
        scale[short] *= FLATTEST * sides.max() / sides[short]
        step[short] = _round_step(float((high - low)[short]) / 4)
        stretched = (
            f" ({number(step[short])} {unit} along {html.escape(drawing.data.columns[short])}, which is stretched)"
        )
    width, height = scale * (high - low)

    def at(point: np.ndarray) -> tuple[float, float]:
        x, y = scale * (point - low)
        return float(LEFT + x), float(TOP + height - y)

    parts = [f'<rect x="{LEFT}" y="{TOP}" width="{width:.1f}" height="{height:.1f}" fill="{colors.panel}"/>']
    for value in _ticks(low[0], high[0], step[0]):
        x, y = at(np.array([value, low[1]]))
        parts.append(f'<path d="M{x:.1f} {TOP}v{height:.1f}" stroke="{colors.line}"/>')
        parts.append(_text(x, y + 16, number(value, 6), colors.muted))
    for value in _ticks(low[1], high[1], step[1]):
        x, y = at(np.array([low[0], value]))
        parts.append(f'<path d="M{LEFT} {y:.1f}h{width:.1f}" stroke="{colors.line}"/>')
        parts.append(_text(x - 16, y + 4, number(value, 6), colors.muted))
    for i, center in enumerate(trace.cluster_centers):
        x, y = at(center)
        if sd is not None:
            rx, ry = np.minimum(2 * sd[i] * trace.domain.half_width, high - low) * scale
            disc = f'cx="{x:.1f}" cy="{y:.1f}" rx="{rx:.1f}" ry="{ry:.1f}"'
            parts.append(f'<ellipse {disc} fill="{colors.released}" fill-opacity=".18"/>')
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9" fill="{colors.released}"/>')
        parts.append(_text(x, y + 4, str(i + 1), colors.bg))
    for x, y in map(at, () if drawing.reference is None else drawing.reference):
        look = f'fill="none" stroke="{colors.hidden}" stroke-width="2" stroke-dasharray="4 3"'
        parts.append(f'<path d="M{x:.1f} {y - 14:.1f}l14 14-14 14-14-14z" {look}/>')
    body = f'<g font-family="sans-serif" font-size="12">{"".join(parts)}</g>'
    alt = f"{len(trace.cluster_centers)} centers on a grid of {number(step.max())} {drawing.data.units[0]}"
    key = f"A grid of {number(step.max())} {unit}{stretched}. "
    key += "A pale disc reaches two standard deviations of its center's noise. " if sd is not None else ""
    key += f"Dashed: {reference_name(drawing.trace)} {TAG}" if drawing.reference is not None else ""
    lines = "".join(f"<li>{html.escape(words)}</li>" for words in coordinates(drawing))
    picture = _image(_svg(width + LEFT + 12, height + TOP + 24, body), alt)
    return f'<div class="dp-places"><div>{picture}<p class="dp-small">{key}</p></div><ol>{lines}</ol></div>'


def _text(x: float, y: float, words: str, color: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" fill="{color}">{words}</text>'


def _ticks(low: float, high: float, step: float) -> np.ndarray:
    return np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step


def coordinates(drawing: Drawing) -> list[str]:
    """Return each center's coordinates in the data's units and, if the map is a declared projection, in degrees."""
    columns, units = drawing.data.columns, drawing.data.units
    lines = []
    earth = drawing.data.projection
    for center in drawing.trace.cluster_centers:
        words = ", ".join(
            f"{value:.2f} {unit} {name}" for value, unit, name in zip(center, units, columns, strict=True)
        )
        if earth is not None:
            latitude, longitude = earth.backward(*center)
            words += f" ({latitude:.4f}, {longitude:.4f})"
        lines.append(words)
    return lines


def bars(drawing: Drawing) -> str:
    """Return a table with a row per center; in each column, a bar shows where the value lies between its bounds."""
    trace, data = drawing.trace, drawing.data
    domain, columns = trace.domain, list(data.columns)[:MOST_BARS]
    shares = np.clip((trace.cluster_centers - domain.low) / (domain.high - domain.low), 0, 1)
    rows = []
    for center, share, name, words in zip(
        trace.cluster_centers, shares, drawing.names, center_words(trace, data.columns, data.units), strict=True
    ):
        cells = "".join(
            f'<td><span class="bar"><i style="width:{100 * part:.0f}%"></i></span>'
            f"{number(value)} {html.escape(unit)}</td>"
            for value, part, unit, _ in zip(center, share, data.units, columns, strict=False)
        )
        rows.append(f"<tr data-lit><th scope=row>{name}</th>{cells}<td>{html.escape(words)}</td></tr>")
    heads = "".join(f"<th scope=col>{html.escape(name)}</th>" for name in ("center", *columns, "in words"))
    more = f" {len(data.columns) - MOST_BARS} more columns are in the table." if data.columns[MOST_BARS:] else ""
    return (
        '<div class="dp-table dp-bars" tabindex="0" role="region" aria-label="Centers as bars"><table>'
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
        f'<p class="dp-small">A full bar is the upper declared bound, an empty one the lower.{more}</p>'
    )


def _round_step(wanted: float) -> float:
    """Round a number up to 1, 2 or 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(wanted))
    return float(power * next(m for m in (1, 2, 5, 10) if m * power >= wanted * (1 - 1e-9)))


SHAPES: dict[str, Callable[[Drawing], str]] = {"picture": pictures, "map": places, "bars": bars}
