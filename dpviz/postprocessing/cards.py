"""Describe each cluster of a release on a card: its size, its place in every column, and the noise of both.

Cards are made from released values and declared bounds alone, so they cost nothing and are the same in DEMO and
PRIVATE. Screen, page and CSV show the same cards. ± is one standard deviation of the noise, as in every table.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pandas as pd

from dpviz.datasets.readers.recode import DAYS, date_of
from dpviz.escape import cell
from dpviz.numbers import at, factor, round_to, spread_text, unlogged
from dpviz.postprocessing.at_bound import HIGH, LOW, WIDE, at_bounds, bound_text, flag, margin
from dpviz.postprocessing.explain import NO_SIZE, drowned
from dpviz.postprocessing.in_words import standing
from dpviz.postprocessing.regions import has_regions
from dpviz.postprocessing.released import center_noise, csv_text, noise_text, resolution, sizes_resolution, written
from dpviz.trace import Trace

__all__ = ["AT_BOUND", "Card", "Fact", "cards", "centers_csv", "noise_words", "widest"]

AT_BOUND = "at bound"  # heading of the CSV's last column


@dataclasses.dataclass(frozen=True)
class Fact:
    """One column of a card, in the data's units.

    Attributes
    ----------
    column, unit : the column's name, and its unit or ""
    value : the center's coordinate
    sd : standard deviation of its noise, or None if no formula is known
    low, high : the declared bounds
    step : resolution to which the value is written: a tenth of the noise or finer
    flag : words if the value is at a bound or if the noise fills the bounds, else ""
    wide : whether the noise fills the bounds
    """

    column: str
    unit: str
    value: float
    sd: float | None
    low: float
    high: float
    step: float
    flag: str
    wide: bool

    @property
    def typical(self) -> bool:
        """Return whether the column holds logarithms, so that a center is a typical value and its noise a factor."""
        return unlogged(self.unit) is not None

    def written(self, value: float, *, commas: bool = True) -> str:
        """Return a value of this column as text, a day as a date, and a logarithm as the value that it is of."""
        return date_of(value) if self.unit == DAYS else written(value, self.unit, self.step, commas=commas)

    def written_bound(self, bound: float) -> str:
        """Return a declared bound as text."""
        return bound_text(bound, self.unit)

    @property
    def noise(self) -> str:
        """Return the noise with two significant digits, of logarithms as a factor; "" if it is unknown."""
        return "" if self.sd is None else factor(self.sd) if self.typical else noise_text(self.sd)

    @property
    def named_unit(self) -> str:
        """Return the unit that follows a number and its noise: "days" after the noise of a date."""
        return "days" if self.unit == DAYS else unlogged(self.unit) or "" if self.typical else self.unit

    @property
    def text(self) -> str:
        """Return the value with its noise and unit: 58.1 ± 0.42 years; of logarithms, typical 3,570 EUR ×÷ 1.2."""
        if self.typical:
            noise = f" ×÷ {self.noise}" if self.noise else ""
            return f"typical {f'{self.written(self.value)} {self.named_unit}'.rstrip()}{noise}"
        noise = f" ± {self.noise}" if self.noise else ""
        unit = "" if self.unit == DAYS and not noise else self.named_unit
        return f"{self.written(self.value)}{noise} {unit}".rstrip()

    def share(self, value: float) -> float:
        """Return where a value lies between the bounds: 0 at the lower one, 1 at the upper one, never beyond them."""
        return float(np.clip((value - self.low) / (self.high - self.low), 0, 1))


@dataclasses.dataclass(frozen=True)
class Card:
    """One cluster of a release.

    Attributes
    ----------
    number : number of the cluster, from 1
    kind : "Cluster", or "Region" if the method releases regions
    words : how it differs from the others, in words
    facts : one entry per column
    note : what it means if it lies at a bound, else ""
    size, size_sd : noisy number of rows and its standard deviation, or None if unknown
    share : the size as a share of all positive sizes, or None
    """

    number: int
    kind: str
    words: str
    facts: tuple[Fact, ...]
    note: str = ""
    size: float | None = None
    size_sd: float | None = None
    share: float | None = None

    def size_written(self, *, commas: bool = True) -> str:
        """Return the noisy size as text, rounded to a tenth of its noise; "" if it is unknown."""
        if self.size is None:
            return ""
        return (at if commas else round_to)(self.size, sizes_resolution(self.size_sd))

    @property
    def size_noise(self) -> str:
        """Return the noise of the size with two significant digits; "" if it is unknown."""
        return noise_text(self.size_sd) if self.size_sd else ""

    def size_text(self, nouns: str = "rows") -> str:
        """Return the size with its noise and share: 1,012 ± 37 people, 37%."""
        if self.size is None:
            return "size not released"
        noise = f" ± {self.size_noise}" if self.size_noise else ""
        share = f", {100 * self.share:.0f}%" if self.share else ""
        return f"{self.size_written()}{noise} {nouns}{share}"


def cards(
    trace: Trace, columns: Sequence[str], units: Sequence[str] = (), *, scatter: np.ndarray | None = None
) -> tuple[Card, ...]:
    """Return a card for each center of a run, in their order.

    Parameters
    ----------
    scatter : ndarray of shape (k,) or None, z units, how far each center scatters over reruns; only rounds values
    """
    units = units or [""] * len(columns)
    domain, noise, centers = trace.domain, center_noise(trace), np.asarray(trace.cluster_centers)
    sd = None if noise.sd is None else noise.sd * domain.half_width
    steps, marks = resolution(trace, scatter), at_bounds(trace)
    words = standing(trace, columns)
    lost = drowned(trace) if trace.claimed.private else np.zeros(len(centers), dtype=bool)
    total = 0.0 if noise.sizes is None else float(np.maximum(noise.sizes, 0).sum())
    kind, made = "Region" if has_regions(trace) else "Cluster", []
    for c, center in enumerate(centers):
        facts = tuple(
            Fact(
                columns[j],
                units[j],
                float(center[j]),
                None if sd is None else float(sd[c, j]),
                float(domain.low[j]),
                float(domain.high[j]),
                float(steps[j]),
                flag(domain, int(marks[c, j]), j, units[j]),
                bool(marks[c, j] == WIDE),
            )
            for j in range(len(columns))
        )
        size = None if noise.sizes is None else float(noise.sizes[c])
        share = max(size, 0.0) / total if size is not None and total > 0 and not lost[c] else None
        line = NO_SIZE if lost[c] else f"{words[c]}." if len(centers) > 1 else "The middle of all rows."
        bounds = int(np.isin(marks[c], (LOW, HIGH)).sum())
        note = f"{_capital(margin(trace, bounds))}." if bounds else ""
        made.append(Card(c + 1, kind, _capital(line), facts, note, size, noise.sizes_sd, share))
    return tuple(made)


def _capital(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}"


def widest(some: Sequence[Card]) -> tuple[Card, Fact] | None:
    """Return the card and the column with the most noise, relative to the column's bounds; None if none is known."""
    known = [
        (fact.sd / (fact.high - fact.low), card, fact) for card in some for fact in card.facts if fact.sd is not None
    ]
    most = max(known, key=lambda one: one[0], default=None)
    return None if most is None else most[1:]


def noise_words(trace: Trace, some: Sequence[Card]) -> str:
    """Return the sentences on noise that stand above the cards; "" if the run makes no promise."""
    if not trace.claimed.private or not some:
        return ""
    most = widest(some)
    if most is None:
        return center_noise(trace).meaning
    card, fact = most
    if fact.wide:
        where = f"In {fact.column} the noise is as wide as your bounds."
    else:
        amount = spread_text(fact.sd or 0.0, fact.unit) if fact.typical else f"±{fact.noise} {fact.named_unit}".rstrip()
        where = f"The widest noise is {amount}, in {fact.column} of {card.kind.lower()} {card.number}."
    sign = "± and ×÷ are" if any(one.typical for one in some[0].facts) else "± is"
    return f"{where} {sign} one standard deviation of the noise {center_noise(trace).meaning}."


def centers_csv(
    trace: Trace, columns: Sequence[str], units: Sequence[str] = (), *, scatter: np.ndarray | None = None
) -> str:
    """Return the cards as CSV: a line with the promise, then one line per cluster and column.

    The columns are cluster, size, size ±, column, value, ±, unit and at bound. Numbers are rounded to a tenth of their
    noise and written without commas, days as dates; `centers_json` gives all digits. A value of a column of logarithms
    is typical, with a factor as its ±, and its unit says so. No text can act as a formula.
    """
    lines = [
        (
            card.number,
            card.size_written(commas=False),
            "" if card.size_sd is None else noise_text(card.size_sd, commas=False),
            cell(fact.column),
            fact.written(fact.value, commas=False),
            "" if fact.sd is None else fact.noise if fact.typical else noise_text(fact.sd, commas=False),
            cell(f"{fact.named_unit} (typical; ± is a factor)".lstrip() if fact.typical else fact.named_unit),
            cell(fact.flag),
        )
        for card in cards(trace, columns, units, scatter=scatter)
        for fact in card.facts
    ]
    heads = ["cluster", "size", "size ±", "column", "value", "±", "unit", AT_BOUND]
    return csv_text(trace, pd.DataFrame(lines, columns=heads))
