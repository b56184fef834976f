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

__all__ = ["CODES", "DAYS", "MOST_CATEGORIES", "ORDERS", "Recoding", "date_of", "recoded", "rule_for_words"]

DAYS = "days since 1970-01-01"  # unit of a column of dates
CODES = ("one-hot", "ordinal", "days")
ORDERS = {"ymd": (0, 1, 2), "dmy": (2, 1, 0), "mdy": (2, 0, 1)}  # positions of year, month and day in a written date
MOST_CATEGORIES = 50
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


def recoded(rules: Iterable[Recoding], name: str) -> Recoding | None:
    """Return the rule for the column `name`, or None if there is none."""
    return next((rule for rule in rules if rule.column == name), None)


def date_of(days: float) -> str:
    """Return the date (year-month-day) that a number in the unit `DAYS` stands for."""
    return (_EPOCH + datetime.timedelta(round(days))).isoformat()


def rule_for_words(words: Iterable[str], marks: Iterable[str]) -> str:
    """Return a rule that makes a column for each word of a public column, as text for `Recoding.of`; "" for none.

    `marks` are the words that stand for a missing cell; where they are among the words, there is no rule.
    """
    listed = sorted(words)
    fits = 2 <= len(listed) <= MOST_CATEGORIES and len(set(listed)) == len(listed)
    return Recoding("", "one-hot", tuple(listed)).text if fits and not {"", *marks} & set(listed) else ""


def _day(text: str, where: str = "Recoding") -> int:
    """Return the number of days from 1970-01-01 to a date."""
    try:
        return (datetime.date.fromisoformat(text) - _EPOCH).days
    except ValueError:
        raise ValueError(f"{where}: its first and last date must be written like 1970-12-31.") from None
