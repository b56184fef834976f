"""Draw an item: our numbers with their intervals, the printed ones beside them, one panel per data set."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator, Sequence
from html import escape

import numpy as np
import pandas as pd

from dpviz.algorithms import ALGORITHMS
from dpviz.figures.kit.svg import ticks
from dpviz.figures.kit.theme import Style, Theme
from dpviz.figures.scenes.tradeoff import glyph, styles
from dpviz.numbers import number
from dpviz.papers.registry import Item
from dpviz.papers.results import COLUMNS
from dpviz.papers.verdicts import beside_printed
from dpviz.papers.words import axis_name, curve_name, measure_name, set_name

__all__ = ["Plot", "Point", "key_entries", "looks", "panel_svg", "panels", "picture_svg"]

WIDE, TALL = 300, 220
LEFT, RIGHT, TOP, BOTTOM = 80, 14, 28, 36
SIZE = 11  # size of a mark, in pixels
REFERENCE = "KMeans"
ROUNDING = 1e-9  # numbers below this share of the largest one are rounding errors
_COLUMNS = 3  # maximum number of panels in a row


@dataclasses.dataclass(frozen=True)
class Point:
    """A number at a point of a curve: ours with its half-width (NaN without an interval), or the printed one."""

    curve: str
    x: float
    value: float
    half: float = math.nan
    printed: bool = False


@dataclasses.dataclass(frozen=True)
class Plot:
    """One measure on one data set.

    Attributes
    ----------
    data, measure : titles
    axis : the parameter along which curves run; "" if their points are side by side
    points : the plotted points, in the order of the curves
    reference : KMeans' value, None if KMeans is a curve itself or was not run, or if the value is 0 except for rounding
    """

    data: str
    measure: str
    axis: str
    points: tuple[Point, ...]
    reference: float | None = None

    @property
    def words(self) -> str:
        """Return every number of the panel as text."""
        return f"{self.data}, {self.measure}: " + "; ".join(_in_words(point) for point in self.points)


def panels(item: Item, numbers: pd.DataFrame) -> list[Plot]:
    """Return an item's panels: one for each data set and each measure that is judged or printed."""
    wanted = dict.fromkeys((check.metric, check.axis) for check in item.checks)
    wanted |= dict.fromkeys((one.what, "") for one in item.printed if one.what not in {what for what, _ in wanted})
    about = {name for check in item.checks for name in check.data} if all(c.data for c in item.checks) else set()
    printed = beside_printed(item.printed, numbers)
    drawn = []
    for metric, axis in wanted:
        mine = numbers[numbers.metric == metric]
        free = [name for name in mine if name not in COLUMNS and mine[name].nunique() > 1]
        axis = axis or next(iter(free), "")
        for data, rows in mine.groupby("data", sort=False):
            if not about or data in about:
                other = printed[(printed.data == data) & (printed.what == metric)]
                drawn.append(_panel(str(data), metric, axis, [name for name in free if name != axis], rows, other))
    return [panel for panel in drawn if panel.points]


def _panel(data: str, metric: str, axis: str, split: list[str], rows: pd.DataFrame, printed: pd.DataFrame) -> Plot:
    own = rows[rows.label == REFERENCE]
    reference = float(own["mean"].iloc[0]) if len(own) == 1 else None
    rows = rows if reference is None else rows[rows.label != REFERENCE]
    other = printed[printed.label != REFERENCE]
    order = list(dict.fromkeys([*rows.label, *other.label]))
    points = []
    for row in rows.to_dict("records"):
        given = "".join(f", {axis_name(name)} {number(row[name])}" for name in split if pd.notna(row[name]))
        x = float(row[axis]) if axis else float(order.index(row["label"]))
        points.append(Point(curve_name(row["label"]) + given, x, float(row["mean"]), float(row["half"])))
    if not axis:
        points += [
            Point(curve_name(r.label), float(order.index(r.label)), r.printed, printed=True) for r in other.itertuples()
        ]
    finite = tuple(point for point in points if math.isfinite(point.value) and math.isfinite(point.x))
    if reference is not None and abs(reference) < ROUNDING * max((abs(point.value) for point in finite), default=0):
        reference = None  # on a logarithmic scale, KMeans' distance from itself would squeeze everything else
    return Plot(set_name(data), measure_name(metric).partition(" (")[0], axis, finite, reference)


def looks(plots: Sequence[Plot]) -> dict[str, Style]:
    """Return the style of each curve, which is the same in all panels."""
    slugs = {cls.name: slug for slug, cls in ALGORITHMS.items() if slug != "kmeans"}  # KMeans is drawn as a line
    names = list(dict.fromkeys(point.curve for panel in plots for point in panel.points))
    return styles(
        pd.DataFrame({"series": names, "algorithm": [slugs.get(name.partition(", then ")[0], "") for name in names]})
    )


def panel_svg(panel: Plot, look: dict[str, Style], colors: Theme) -> str:
    """Return one panel as SVG text."""
    return _svg(WIDE, TALL, "".join(_drawn(panel, look, colors)), colors, panel.words)


def key_entries(plots: Sequence[Plot], colors: Theme) -> list[tuple[str, str]]:
    """Return the entries of some panels' key: each mark's name, and the mark as SVG text of 16 x 16 pixels."""
    look = looks(plots)
    entries = [(name, glyph(style, colors)) for name, style in look.items()]
    if any(panel.reference is not None for panel in plots):
        line = f'<path d="M0 8h16" stroke="{colors.hidden}" stroke-width="1.5" stroke-dasharray="2 2"/>'
        entries.append((REFERENCE, _svg(16, 16, line, colors, REFERENCE)))
    if any(point.printed for panel in plots for point in panel.points):
        entries.append(("hollow: as printed", _hollow(glyph(next(iter(look.values())), colors), colors)))
    return entries


def picture_svg(title: str, plots: Sequence[Plot], colors: Theme) -> str:
    """Return the whole picture as one SVG file: title, key, panels, and a note that nothing in it is private."""
    look = looks(plots)
    columns = min(_COLUMNS, max(len(plots), 1))
    width = max(columns, 2) * WIDE
    key, tall = _key(key_entries(plots, colors), width)
    top = 34 + tall
    parts = [
        f'<text x="8" y="22" font-size="15" font-weight="600">{escape(title)}</text>',
        f'<g transform="translate(0 30)">{key}</g>',
    ]
    for place, panel in enumerate(plots):
        x, y = place % columns * WIDE, top + place // columns * TALL
        parts.append(f'<g transform="translate({x} {y})">{"".join(_drawn(panel, look, colors))}</g>')
    height = top + math.ceil(len(plots) / columns) * TALL + 24
    note = "Ours: mean and 95% interval over seeds. NOT PRIVATE: measured on raw rows."
    parts.append(f'<text x="8" y="{height - 8}" fill="{colors.muted}">{note}</text>')
    return _svg(width, height, "".join(parts), colors, title)


def _svg(width: int, height: int, inside: str, colors: Theme, words: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escape(words)}" font-family="system-ui,sans-serif" font-size="12" '
        f'fill="{colors.ink}"><rect width="{width}" height="{height}" fill="{colors.bg}"/>{inside}</svg>'
    )


def _key(entries: list[tuple[str, str]], width: int) -> tuple[str, int]:
    """Return the key, broken into lines that fit a picture's width, and its height."""
    x, y, parts = 8, 12, []
    for name, mark in entries:
        needed = 34 + round(6.7 * len(name))
        if x > 8 and x + needed > width:
            x, y = 8, y + 18
        parts.append(
            f'<g transform="translate({x} {y})">{_placed(mark, 8, 0, 16)}<text x="22" y="4">{escape(name)}</text></g>'
        )
        x += needed
    return "".join(parts), y + 12


def _drawn(panel: Plot, look: dict[str, Style], colors: Theme) -> Iterator[str]:
    """Yield the parts of a panel."""
    edges = [edge for point in panel.points for edge in _edges(point)]
    level = [] if panel.reference is None else [panel.reference]
    wide, tall = WIDE - LEFT - RIGHT, TALL - TOP - BOTTOM
    up = _Scale.over([*edges, *level], TOP + tall, -tall, least=4)
    xs = sorted({point.x for point in panel.points})
    along = _Scale.over(xs, LEFT, wide, least=8) if panel.axis else _Scale(-0.7, max(xs) + 0.7, LEFT, wide)
    yield f'<text x="12" y="16" font-weight="600">{escape(panel.data)}</text>'
    for value in up.ticks():
        y = up(value)
        yield f'<path d="M{LEFT} {y:.1f}h{wide}" stroke="{colors.grid}"/>'
        yield f'<text x="{LEFT - 5}" y="{y + 4:.1f}" text-anchor="end" fill="{colors.muted}">{_tick(value)}</text>'
    below = f'text-anchor="middle" fill="{colors.muted}"'
    for value in xs if panel.axis and len(xs) < 6 else []:
        yield f'<text x="{along(value):.1f}" y="{TOP + tall + 15}" {below}>{number(value)}</text>'
    under = f"{panel.measure}, over {axis_name(panel.axis)}" if panel.axis else panel.measure
    yield f'<text x="{LEFT + wide / 2:.0f}" y="{TALL - 6}" {below}>{escape(under)}</text>'
    yield f'<path d="M{LEFT} {TOP}v{tall}h{wide}" fill="none" stroke="{colors.line}"/>'
    for value in level:
        yield f'<path d="M{LEFT} {up(value):.1f}h{wide}" stroke="{colors.hidden}" stroke-dasharray="2 3"/>'
    curves = list(dict.fromkeys(point.curve for point in panel.points))
    for place, name in enumerate(curves):
        color = look[name].color(colors)
        mine = sorted((point for point in panel.points if point.curve == name), key=lambda one: (one.printed, one.x))
        aside = (place - (len(curves) - 1) / 2) * 3 if panel.axis else 0
        spots = [(along(one.x) + (9 if one.printed else aside), up(one.value)) for one in mine]
        line = "L".join(f"{x:.1f} {y:.1f}" for one, (x, y) in zip(mine, spots, strict=True) if not one.printed)
        if panel.axis and "L" in line:
            yield f'<path d="M{line}" fill="none" stroke="{color}" stroke-opacity=".6"/>'
        for one, (x, y) in zip(mine, spots, strict=True):
            if one.half > 0:
                low, _, high = map(up, _edges(one))
                yield f'<path d="M{x:.1f} {low:.1f}V{high:.1f}" stroke="{color}" stroke-width="1.5"/>'
            mark = glyph(look[name], colors)
            yield _placed(_hollow(mark, colors) if one.printed else mark, x, y, SIZE)


def _tick(value: float) -> str:
    """Return a number as text that is short enough to fit beside a panel."""
    size, word = (1e9, " billion") if value >= 1e9 else (1e6, " million") if value >= 1e6 else (1, "")
    return number(value / size) + word


def _edges(point: Point) -> list[float]:
    """Return the value, and the ends of its interval; a lower end below 0 is cut at a third of the value."""
    if not point.half > 0:
        return [point.value]
    low = point.value - point.half
    return [low if low > 0 or point.value <= 0 else point.value / 3, point.value, point.value + point.half]


def _placed(mark: str, x: float, y: float, size: int) -> str:
    """Return a mark of 16 x 16 pixels, centered at (x, y) in another picture."""
    where = f'x="{x - size / 2:.1f}" y="{y - size / 2:.1f}" width="{size}" height="{size}"'
    return mark.replace('width="16" height="16"', where, 1)


def _hollow(mark: str, colors: Theme) -> str:
    """Return a mark with only its outline in color."""
    return re.sub(r' fill="[^"]*"', f' fill="{colors.bg}" stroke-width="2"', mark, count=1)


def _in_words(point: Point) -> str:
    if point.printed:
        return f"{point.curve} printed {number(point.value)}"
    return f"{point.curve} {number(point.value)}" + (f" ± {number(point.half, 2)}" if point.half > 0 else "")


@dataclasses.dataclass(frozen=True)
class _Scale:
    """A map from values to pixels: `start` is the lowest value's pixel; the highest is `span` pixels away."""

    low: float
    high: float
    start: float
    span: float
    log: bool = False

    @classmethod
    def over(cls, values: Sequence[float], start: float, span: float, *, least: float) -> _Scale:
        """Return a scale for all values; it is logarithmic if the largest is at least `least` times the smallest."""
        low, high = min(values), max(values)
        if low > 0 and high / low >= least:
            pad = (high / low) ** 0.06
            return cls(low / pad, high * pad, start, span, log=True)
        pad = 0.08 * (high - low) or abs(high) * 0.1 or 1.0
        return cls(low - pad, high + pad, start, span)

    def __call__(self, value: float) -> float:
        low, high, at = np.log((self.low, self.high, value)) if self.log else (self.low, self.high, value)
        return float(self.start + self.span * (at - low) / (high - low))

    def ticks(self) -> list[float]:
        """Return at most six round values on the scale."""
        if self.log:
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            for digits in ((1, 2, 5), (1, 3), (1,)):
                places = [d * 10.0**p for p in powers for d in digits if self.low <= d * 10.0**p <= self.high]
                if len(places) <= 6:
                    break
            return places[:: math.ceil(len(places) / 6)] if places else []
        return ticks(self.low, self.high, 4)
