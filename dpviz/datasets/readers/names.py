"""The first line of a table: names of columns, or the first person? A person's row must never become public names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dpviz.datasets.readers.marks import MISSING
from dpviz.datasets.readers.table import TableError

__all__ = ["is_value", "named", "numbered"]

_MARKS = {mark.lower() for mark in MISSING}
_MARKS |= {"--", "---", "n.a.", "nil", "true", "false", "inf", "-inf", "infinity", "-infinity", "unknown", "missing"}
_NUMBER = r"[+-]?(\d[\d.,' \u00a0\u2009\u202f\u2019_]*|[.,]\d+)([eE][+-]?\d+)?|0[xX][0-9a-fA-F]+"
_MONEY = r"(US[$]|[$€£¥₹₩]|USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|BRL|MXN|ZAR)"
_MONTH = r"(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}[.]?"
_VALUE = re.compile(
    rf"\(?({_MONEY}\s*)?[-+]?\s*({_MONEY}\s*)?({_NUMBER})\s*([%‰]|{_MONEY})?\)?"
    r"|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([T ].*)?"
    r"|\d{4}-\d{1,2}|\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?[aApP][mM])?"
    rf"|\d{{1,2}}[-. ]{{0,2}}{_MONTH}[-., ]{{0,2}}\d{{2,4}}|{_MONTH} ?\d{{1,2}}, ?\d{{4}}"
)


def is_value(text: str) -> bool:
    """Return whether a cell is a value rather than a name.

    Values are numbers, grouped ones too, percentages, amounts of money, dates, times, and marks for a missing cell.
    """
    text = text.strip()
    return text.lower() in _MARKS or _VALUE.fullmatch(text) is not None


def named(file: str, raw: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return unique column names and notes on what was renamed; no note holds a name.

    A value in the place of a name is refused: it may be the first row of a table without a header, and a row must
    not become public.
    """
    notes, names, taken = [], [], set()
    for position, text in enumerate(raw, 1):
        name = " ".join("".join(c if c.isprintable() else " " for c in text).split())[:60]
        if is_value(name):
            raise TableError(
                f"{file}: column {position} has a value for a name; add a header line, or start its name with a letter."
            )
        if not name:
            name = f"column {position}"
            notes.append(f"Column {position} has no name and is called '{name}'.")
        number, unique = 1, name
        while unique in taken:
            number += 1
            unique = f"{name} ({number})"
        if unique != name:
            notes.append(f"The name of column {position} is taken; it is called the same with ({number}) added.")
        names.append(unique)
        taken.add(unique)
    return names, notes


def numbered(n_columns: int) -> list[str]:
    """Return the names of the columns of a table that has none."""
    return [f"column {position}" for position in range(1, n_columns + 1)]
