"""Apply the declared rules for text and dates to cells, one cell at a time; other values become missing cells."""

from __future__ import annotations

import datetime
import math
import re

import numpy as np

from dpviz.datasets.readers.numerals import WHITE
from dpviz.datasets.readers.raw import Raw
from dpviz.datasets.readers.recode import ORDERS, Recoding, date_of

__all__ = ["numbers_by_rule", "rule_for_dates"]

_TRUE, _FALSE = {"true", "yes"}, {"false", "no"}
_DATE = re.compile(rf"[{WHITE}]*([0-9]{{1,4}})[-/.]([0-9]{{1,2}})[-/.]([0-9]{{1,4}})(?:[T ].*)?[{WHITE}]*")
_EPOCH = datetime.date(1970, 1, 1).toordinal()


def numbers_by_rule(rule: Recoding, cells: Raw) -> list[np.ndarray]:
    """Return the numbers of each column that a rule makes, shape (n,); missing and undeclared cells become NaN."""
    if rule.code == "days":
        return [_days(cells, rule.order)]
    places = _places(cells, rule.categories)
    known = places >= 0
    if rule.code == "ordinal":
        return [np.where(known, places, np.nan)]
    return [np.where(known, places == place, np.nan) for place in range(len(rule.categories))]


def rule_for_dates(cells: Raw) -> str:
    """Return the rule that turns a public file's dates into days; "" if the order of day and month is uncertain."""
    rules = []
    orders = ORDERS if cells.kind == "text" else list(ORDERS)[:1]  # cells of a date type have no written order
    present = np.concatenate([part.codes >= 0 for part in cells.parts]) if cells.kind == "text" else ...
    for order in orders:
        days = _days(cells, order)[present]
        if cells.kind != "text":
            days = days[np.isfinite(days)]
        if len(days) and np.isfinite(days).all() and days.min() < days.max():
            first, last = date_of(days.min()), date_of(days.max())
            rules.append(Recoding("", "days", (), first, last, order).text)
    return rules[0] if len(rules) == 1 else ""


def _places(cells: Raw, categories: tuple[str, ...]) -> np.ndarray:
    """Return the position of each cell in the list of categories, -1 for any other cell."""
    if cells.kind == "text":
        place_of = {word: float(place) for place, word in enumerate(categories)}
        return np.nan_to_num(cells.numbers(lambda cell: place_of.get(cell.strip(), math.nan)), nan=-1.0).astype(int)
    places = np.full(len(cells), -1, dtype=np.int64)
    if cells.kind in ("number", "true/false"):
        for place, word in enumerate(categories):
            places[cells.values == _number(word)] = place
    return places


def _number(word: str) -> float:
    """Return the number that a category is written as (true is 1, false is 0); NaN for any other word."""
    if word.lower() in _TRUE | _FALSE:
        return float(word.lower() in _TRUE)
    try:
        return float(word)
    except ValueError:
        return float("nan")


def _days(cells: Raw, order: str) -> np.ndarray:
    """Return the number of days from 1970-01-01 to each cell's date; NaN for a cell that is not a date."""
    if cells.kind == "text":
        return cells.numbers(lambda cell: _day(cell, ORDERS[order]))
    return cells.values if cells.kind == "date" and cells.values is not None else np.full(len(cells), np.nan)


def _day(cell: str, order: tuple[int, int, int]) -> float:
    if not (parts := _DATE.fullmatch(cell)):
        return math.nan
    year, month, day = (int(parts[place + 1]) for place in order)
    try:
        return datetime.date(year, month, day).toordinal() - _EPOCH if year >= 1000 else math.nan
    except ValueError:  # dates such as April 31 do not exist
        return math.nan
