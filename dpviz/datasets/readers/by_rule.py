"""Apply the declared rules for text and dates to Arrow cells, one cell at a time; other values become missing cells."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpviz.datasets.readers.recode import ORDERS, Recoding, date_of

__all__ = ["numbers_by_rule", "rule_for_dates"]

_TRUE, _FALSE = {"true", "yes"}, {"false", "no"}
_DATE = r"^\s*(?P<a>\d{1,4})[-/.](?P<b>\d{1,2})[-/.](?P<c>\d{1,4})(?:[T ].*)?\s*$"


def numbers_by_rule(rule: Recoding, cells: pa.ChunkedArray | pa.Array) -> list[np.ndarray]:
    """Return the numbers of each column that a rule makes, shape (n,); missing and undeclared cells become NaN."""
    if pa.types.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    if rule.code == "days":
        return [_days(cells, rule.order)]
    places = _places(cells, rule.categories)
    known = places >= 0
    if rule.code == "ordinal":
        return [np.where(known, places, np.nan)]
    return [np.where(known, places == place, np.nan) for place in range(len(rule.categories))]


def rule_for_dates(cells: pa.ChunkedArray | pa.Array) -> str:
    """Return the rule that turns a public file's dates into days; "" if the order of day and month is uncertain."""
    n_cells, rules = len(cells) - cells.null_count, []
    for order in ORDERS:
        days = _days(cells, order)
        days = days[np.isfinite(days)]
        if len(days) == n_cells and n_cells and days.min() < days.max():
            first, last = date_of(days.min()), date_of(days.max())
            rules.append(Recoding("", "days", (), first, last, order).text)
        if not (pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)):
            break  # cells of a date type have no written order to detect
    return rules[0] if len(rules) == 1 else ""


def _places(cells: pa.ChunkedArray | pa.Array, categories: tuple[str, ...]) -> np.ndarray:
    """Return the position of each cell in the list of categories, -1 for any other cell."""
    if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type):
        words = pc.utf8_trim_whitespace(cells.cast(pa.string()))
        index = pc.fill_null(pc.index_in(words, value_set=pa.array(categories, pa.string())), -1)
        return np.asarray(index.to_numpy(zero_copy_only=False), dtype=np.int64)
    places = np.full(len(cells), -1, dtype=np.int64)
    numeric = (pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    if any(is_one(cells.type) for is_one in numeric):
        values = np.asarray(pc.cast(cells, pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=float)
        for place, word in enumerate(categories):
            places[values == _number(word)] = place
    return places


def _number(word: str) -> float:
    """Return the number that a category is written as (true is 1, false is 0); NaN for any other word."""
    if word.lower() in _TRUE | _FALSE:
        return float(word.lower() in _TRUE)
    try:
        return float(word)
    except ValueError:
        return float("nan")


def _days(cells: pa.ChunkedArray | pa.Array, order: str) -> np.ndarray:
    """Return the number of days from 1970-01-01 to each cell's date; NaN for a cell that is not a date."""
    if pa.types.is_date(cells.type) or pa.types.is_timestamp(cells.type):
        stamps = cells.cast(pa.timestamp("s"), safe=False).cast(pa.int64())
        seconds = np.asarray(pc.cast(stamps, pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=float)
        return np.floor(seconds / 86_400)
    if not (pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)):
        return np.full(len(cells), np.nan)
    whole = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    parts = pc.extract_regex(whole.cast(pa.string()), _DATE)
    fields = [pc.struct_field(parts, name) for name in "abc"]
    known = np.asarray(pc.is_valid(parts).to_numpy(zero_copy_only=False), dtype=bool)
    a, b, c = (pc.fill_null(field, "0").cast(pa.int64()).to_numpy(zero_copy_only=False) for field in fields)
    year, month, day = (np.where(known, (a, b, c)[place], 0) for place in ORDERS[order])
    known &= (year >= 1000) & (month >= 1) & (month <= 12) & (day >= 1)
    months = ((np.where(known, year, 1970) - 1970) * 12 + np.where(known, month, 1) - 1).astype("datetime64[M]")
    days = months.astype("datetime64[D]") + np.where(known, day, 1) - 1
    known &= days.astype("datetime64[M]") == months  # dates such as April 31 do not exist
    return np.where(known, days.astype(np.int64), np.nan)
