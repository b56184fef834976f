"""Turn text and dates into numbers by declared rules; every undeclared value becomes a missing cell.

No category or bound ever comes from the cells of a private file. A rule reads nothing but its declarations and one cell
at a time.
"""

from __future__ import annotations

import csv
import dataclasses
import datetime
import io
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpviz.datasets.readers.marks import MISSING

__all__ = ["CODES", "DAYS", "MOST_CATEGORIES", "Recoding", "date_of", "recoded", "rule_for_dates", "rule_for_words"]

DAYS = "days since 1970-01-01"  # unit of a column of dates
CODES = ("one-hot", "ordinal", "days")
ORDERS = {"ymd": (0, 1, 2), "dmy": (2, 1, 0), "mdy": (2, 0, 1)}  # positions of year, month and day in a written date
MOST_CATEGORIES = 50
_TRUE, _FALSE = {"true", "yes"}, {"false", "no"}
_DATE = r"^\s*(?P<a>\d{1,4})[-/.](?P<b>\d{1,2})[-/.](?P<c>\d{1,4})(?:[T ].*)?\s*$"
_EPOCH = datetime.date(1970, 1, 1)


@dataclasses.dataclass(frozen=True)
class Recoding:
    """Rule that turns one column of text or dates into numbers; every part of the rule is public.

    Attributes
    ----------
    column : name of the column
    code : "one-hot" (a column of 0 and 1 for each category), "ordinal" (0, 1, 2, ... in the order of the categories)
        or "days" (days since 1970-01-01)
    categories : the declared words; () for "days"
    first, last : the declared bounds of a date, year-month-day
    order : order of year, month and day in written dates: "ymd", "dmy" or "mdy"

    Raises
    ------
    ValueError
        If the rule is not valid; the message says why.
    """

    column: str
    code: str
    categories: tuple[str, ...] = ()
    first: str = ""
    last: str = ""
    order: str = "ymd"

    def __post_init__(self) -> None:
        where = f"Recoding of column {self.column!r}"
        if self.code not in CODES:
            raise ValueError(f"{where}: choose one-hot, ordinal or days.")
        if self.code == "days":
            if self.order not in ORDERS:
                raise ValueError(f"{where}: the order of a date is ymd, dmy or mdy.")
            if _day(self.first, where) >= _day(self.last, where):
                raise ValueError(f"{where}: the first date must lie before the last.")
            return
        words = [word.strip() if isinstance(word, str) else "" for word in self.categories]
        if len(words) < 2 or len(words) > MOST_CATEGORIES or not all(words) or len(set(words)) < len(words):
            raise ValueError(f"{where}: give 2 to {MOST_CATEGORIES} different categories.")
        if taken := [word for word in words if word in MISSING]:
            raise ValueError(f"{where}: {taken[0]!r} stands for a missing cell and cannot be a category.")
        object.__setattr__(self, "categories", tuple(words))

    @classmethod
    def parse(cls, facts: Any, where: str) -> Recoding:
        """Return the rule that an entry of a data dictionary declares.

        Raises
        ------
        ValueError
            If an entry is wrong; the message names it.
        """
        keys = {field.name for field in dataclasses.fields(cls)}
        if not isinstance(facts, Mapping) or not {"column", "code"} <= set(facts) <= keys:
            raise ValueError(
                f"{where}: an entry of 'recode' must have column, code, and either categories or first and last."
            )
        listed = facts.get("categories", [])
        texts = [value for key, value in facts.items() if key != "categories"]
        if not isinstance(listed, list | tuple) or not all(isinstance(text, str) for text in (*texts, *listed)):
            raise ValueError(f"{where}: 'recode' must contain text, and categories must be a list of strings.")
        return cls(**{**facts, "categories": tuple(listed)})

    @classmethod
    def of(cls, column: str, rule: str) -> Recoding:
        """Return the rule for a column from text such as `one-hot:female,male` or `days:1900-01-01..2020-12-31`.

        A category with a comma must be quoted.

        Raises
        ------
        ValueError
            If the text does not have this format.
        """
        code, _, rest = rule.partition(":")
        if not column or not rest:
            raise ValueError(
                f"Recoding of column {column!r}: write one-hot:A,B,... or ordinal:A,B,... or days:FIRST..LAST "
                "(days-dmy, days-mdy for other orders)."
            )
        if code.startswith("days"):
            first, _, last = rest.partition("..")
            return cls(column, "days", (), first.strip(), last.strip(), code.partition("-")[2] or "ymd")
        return cls(column, code, tuple(next(csv.reader([rest], skipinitialspace=True))))

    @property
    def text(self) -> str:
        """Return the rule in the notation that `of` reads."""
        if self.code == "days":
            order = "" if self.order == "ymd" else f"-{self.order}"
            return f"days{order}:{self.first}..{self.last}"
        line = io.StringIO()
        csv.writer(line, lineterminator="").writerow(self.categories)
        return f"{self.code}:{line.getvalue()}"

    @property
    def facts(self) -> dict[str, Any]:
        """Return the rule as an entry of a data dictionary."""
        entry: dict[str, Any] = {"column": self.column, "code": self.code}
        if self.code == "days":
            return entry | {"first": self.first, "last": self.last, "order": self.order}
        return entry | {"categories": list(self.categories)}

    @property
    def columns(self) -> list[dict[str, Any]]:
        """Return the columns of numbers that the rule makes, each with name, low, high, unit and description."""
        if self.code == "one-hot":
            return [{"name": f"{self.column}: {word}", "low": 0, "high": 1} for word in self.categories]
        if self.code == "ordinal":
            words = ", ".join(f"{place} = {word}" for place, word in enumerate(self.categories))
            return [{"name": self.column, "low": 0, "high": len(self.categories) - 1, "description": words}]
        low, high = _day(self.first), _day(self.last)
        return [{"name": self.column, "low": low, "high": high, "unit": DAYS}]

    def numbers(self, cells: pa.ChunkedArray | pa.Array) -> list[np.ndarray]:
        """Return the numbers of each resulting column, shape (n,); missing and undeclared cells become NaN."""
        if pa.types.is_dictionary(cells.type):
            cells = cells.cast(cells.type.value_type)
        if self.code == "days":
            return [_days(cells, self.order)]
        places = _places(cells, self.categories)
        known = places >= 0
        if self.code == "ordinal":
            return [np.where(known, places, np.nan)]
        return [np.where(known, places == place, np.nan) for place in range(len(self.categories))]


def recoded(rules: Iterable[Recoding], name: str) -> Recoding | None:
    """Return the rule for the column `name`, or None if there is none."""
    return next((rule for rule in rules if rule.column == name), None)


def date_of(days: float) -> str:
    """Return the date (year-month-day) that a number in the unit `DAYS` stands for."""
    return (_EPOCH + datetime.timedelta(round(days))).isoformat()


def rule_for_words(words: Iterable[str]) -> str:
    """Return a rule that makes a column for each word of a public column, as text for `Recoding.of`; "" for none."""
    listed = sorted(words)
    fits = 2 <= len(listed) <= MOST_CATEGORIES and len(set(listed)) == len(listed)
    return Recoding("", "one-hot", tuple(listed)).text if fits and not {"", *MISSING} & set(listed) else ""


def rule_for_dates(cells: pa.ChunkedArray | pa.Array) -> str:
    """Return the rule that turns a public file's dates into days; "" if the order of day and month is uncertain."""
    n_cells, rules = len(cells) - cells.null_count, []
    for order in ORDERS:
        days = _days(cells, order)
        days = days[np.isfinite(days)]
        if len(days) == n_cells and n_cells and days.min() < days.max():
            first, last = ((_EPOCH + datetime.timedelta(int(day))).isoformat() for day in (days.min(), days.max()))
            rules.append(Recoding("", "days", (), first, last, order).text)
        if not (pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)):
            break  # cells of a date type have no written order to detect
    return rules[0] if len(rules) == 1 else ""


def _day(text: str, where: str = "Recoding") -> int:
    """Return the number of days from 1970-01-01 to a date."""
    try:
        return (datetime.date.fromisoformat(text) - _EPOCH).days
    except ValueError:
        raise ValueError(f"{where}: its first and last date must be written like 1970-12-31.") from None


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
