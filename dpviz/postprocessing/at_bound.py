"""Say where a released center lies at a declared bound, which may be cutting values off.

Only the release and the declared bounds are used, so this costs nothing. Where noise is stated, a center is at a bound
if it lies within three of its standard deviations of that bound: noise alone cannot tell it from a center on the bound.
A column in which six of them do not fit between the bounds is as noisy as it is wide, and no bound is named there.
Without stated noise there is no measure of "close", so only a center that reads as the bound itself counts; centers for
another k, from the same release, are measured by the largest noise of the run's own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpviz.datasets.readers.recode import DAYS, date_of
from dpviz.domain import Domain
from dpviz.numbers import listed, number, unlogged
from dpviz.postprocessing.center_sd import stated
from dpviz.postprocessing.regions import has_regions
from dpviz.trace import Trace

__all__ = [
    "DIGITS",
    "FILLED",
    "HIGH",
    "LIKE",
    "LOW",
    "WIDE",
    "at_bounds",
    "bound_text",
    "bounds_sentence",
    "bounds_words",
    "flag",
    "margin",
]

LOW, HIGH, WIDE = -1, 1, 2
DIGITS = 1e-4  # precision of coordinates whose noise is unknown, as a share of the width of a column's bounds
REACH = 3.0  # number of standard deviations within which a center is at a bound
MOST = 3  # maximum number of bounds and of columns named in one sentence
LIKE = "run_sd"  # noise (d,), z units, of the run's own centers, in a step that reads its release again for another k
FILLED = "the noise is as wide as your bounds"


def at_bounds(trace: Trace) -> np.ndarray:
    """Return, for each center and column, shape (k, d), `LOW` or `HIGH` at that bound, `WIDE` for noise, else 0.

    Columns that no value can leave (`Domain.closed`) and middles of regions are never at a bound. Bounds taken from the
    data cut nothing off, so they are not named either.
    """
    domain, centers = trace.domain, np.asarray(trace.cluster_centers)
    marks = np.zeros(centers.shape, dtype=int)
    if has_regions(trace):
        return marks
    width, sd = domain.high - domain.low, stated(trace)
    if sd is None and LIKE in trace.steps[-1].released:
        sd = np.broadcast_to(trace.steps[-1].released[LIKE], centers.shape)
    reach = np.broadcast_to(DIGITS * width / 2, centers.shape)
    wide = np.zeros(centers.shape, dtype=bool)
    if sd is not None:
        reach = np.maximum(reach, REACH * sd * domain.half_width)
        wide = ~(2 * reach <= width)
    if domain.origin == "declared":
        marks[centers - domain.low <= reach] = LOW
        marks[(domain.high - centers <= reach) & (domain.high - centers < centers - domain.low)] = HIGH
    marks[wide] = WIDE
    marks[:, list(domain.closed)] = 0
    return marks


def bounds_words(trace: Trace, columns: Sequence[str], units: Sequence[str] = ()) -> list[str]:
    """Return for each center what `at_bounds` says, with its columns; "" if that is nothing."""
    return [_words(trace, row[None], columns, units) for row in at_bounds(trace)]


def bounds_sentence(trace: Trace, columns: Sequence[str], units: Sequence[str] = ()) -> str:
    """Return one sentence on all centers; "" if `at_bounds` says nothing."""
    marks = at_bounds(trace)
    words, at = _words(trace, marks, columns, units), int(np.isin(marks, (LOW, HIGH)).any(axis=1).sum())
    if at:
        return f"{at} of {len(marks)} centers {'has' if at == 1 else 'have'} {words}."
    return f"{words[0].upper()}{words[1:]}." if words else ""


def flag(domain: Domain, mark: int, column: int, unit: str = "") -> str:
    """Return the words for one mark of `at_bounds` in a column; "" for the mark 0."""
    if mark == WIDE:
        return FILLED
    if not mark:
        return ""
    bound = float((domain.low if mark == LOW else domain.high)[column])
    named = "" if unit == DAYS else unit if (plain := unlogged(unit)) is None else plain
    return f"at your bound of {f'{bound_text(bound, unit)} {named}'.rstrip()}"


def bound_text(bound: float, unit: str) -> str:
    """Return a declared bound as text, without its unit: a day as a date, a logarithm as the value that it is of."""
    if unit == DAYS:
        return date_of(bound)
    return number(bound if unlogged(unit) is None else math.expm1(bound), 6)


def margin(trace: Trace, bounds: int) -> str:
    """Return what it means that centers lie at this many bounds."""
    ends = "; the ± does not cover that" if stated(trace) is not None else ""
    return f"the bound{'s' * (bounds != 1)} may be cutting values off{ends}"


def _words(trace: Trace, marks: np.ndarray, columns: Sequence[str], units: Sequence[str]) -> str:
    """Return a phrase on the marks (k', d) of some centers: first the bounds, then the columns that noise fills."""
    domain = trace.domain
    at = [
        f"{columns[j]} {flag(domain, side, j, units[j] if units else '')}"
        for side in (LOW, HIGH)
        for j in np.flatnonzero((marks == side).any(axis=0)).tolist()
    ]
    wide = np.flatnonzero((marks == WIDE).any(axis=0)).tolist()
    parts = []
    if at:
        parts.append(f"{_first(at)}: {margin(trace, len(at))}")
    if wide:
        where = "" if len(wide) == domain.n_features else f"in {_first([columns[j] for j in wide])}, "
        parts.append(f"{where}{FILLED}")
    return "; ".join(parts)


def _first(words: Sequence[str]) -> str:
    more = [f"{len(words) - MOST} more"] if len(words) > MOST else []
    return listed([*words[:MOST], *more])
