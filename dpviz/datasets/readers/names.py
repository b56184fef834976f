"""Decide whether the first line holds names or the first person; a person's row must never become public names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress

from dpviz.datasets.readers.form import Form
from dpviz.datasets.readers.marks import MISSING
from dpviz.datasets.readers.numerals import MONEY as _MONEY
from dpviz.datasets.readers.table import TableError

__all__ = ["ask_header", "cleaned", "confirmed", "is_value", "named", "numbered", "width_of"]

_MARKS = {mark.lower() for mark in MISSING}
_MARKS |= {"--", "---", "n.a.", "nil", "true", "false", "inf", "-inf", "infinity", "-infinity", "unknown", "missing"}
_NUMBER = r"[+-]?(\d[\d.,' \u00a0\u2009\u202f\u2019_]*|[.,]\d+)([eE][+-]?\d+)?|0[xX][0-9a-fA-F]+"
_MONTH = r"(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}[.]?"
_VALUE = re.compile(
    rf"\(?({_MONEY}\s*)?[-+\u2212]?\s*({_MONEY}\s*)?({_NUMBER})\s*([%‰]|{_MONEY})?\)?-?"
    r"|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([T ].*)?"
    r"|\d{4}-\d{1,2}|\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?[aApP][mM])?"
    rf"|\d{{1,2}}[-. ]{{0,2}}{_MONTH}[-., ]{{0,2}}\d{{2,4}}|{_MONTH} ?\d{{1,2}}, ?\d{{4}}"
)


_MAY_NAME = re.compile(r"(1\d|20)\d\d|[A-Za-z]+|\d{1,2} ?%|100 ?%")


def is_value(text: str) -> bool:
    """Return whether a cell is a value rather than a name.

    Values are numbers (with or without grouped thousands), percentages, amounts of money, dates, times, and marks for a
    missing cell.
    """
    text = text.strip()
    return text.lower() in _MARKS or _VALUE.fullmatch(text) is not None


def cleaned(text: str) -> str:
    """Return a name without unprintable characters, at most 60 characters long."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:60]


def confirmed(file: str, first: Sequence[str], form: Form) -> tuple[list[str], list[str]]:
    """Return a private file's column names from its first line, and notes about renamed columns.

    Raises
    ------
    TableError
        If the line is not declared to hold names, or holds a value in place of a name. The message quotes nothing from
        the line.
    """
    if form.header is None:
        with suppress(TableError):
            names, notes = named(file, first)
            # the line holds all declared names, so it is not a person's row
            if form.names and set(form.names) <= set(names):
                return names, notes
        raise TableError(ask_header(file))
    return named(file, first, sure=bool(form.header))


def ask_header(file: str) -> str:
    """Return the question whether the first line of a private file holds names."""
    return (
        f"{file}: does the first line hold the names of the columns, or the first person? Give --header or "
        f"--no-header; until you do, nothing from the file is shown."
    )


def named(file: str, raw: Sequence[str], *, sure: bool = False) -> tuple[list[str], list[str]]:
    """Return unique column names, and notes about renamed columns; no note quotes a name.

    A value in place of a name is refused, because it may come from the first row of a table without a header, and a row
    must not become public. If the owner is `sure` that the line holds names, even a year, a word that marks a missing
    cell (NA) or a whole percentage is accepted as a name.
    """
    notes, names, taken = [], [], set()
    for position, text in enumerate(raw, 1):
        name = cleaned(text)
        if is_value(name) and not (sure and _MAY_NAME.fullmatch(name)):
            raise TableError(
                f"{file}: column {position} has a value instead of a name; add a header line, or start its name "
                f"with a letter (on the command line: {'' if sure else '--header if these are names, '}--no-header if "
                "it is a row, --header-row N if the names are further down)."
            )
        if not name:
            name = f"column {position}"
            notes.append(f"Column {position} has no name and is called '{name}'.")
        number, unique = 1, name
        while unique in taken:
            number += 1
            unique = f"{name} ({number})"
        if unique != name:
            notes.append(f"The name of column {position} is already taken; ({number}) is added to it.")
        names.append(unique)
        taken.add(unique)
    return names, notes


def numbered(n_columns: int) -> list[str]:
    """Return names for the columns of a table without names: column 1, column 2, and so on."""
    return [f"column {position}" for position in range(1, n_columns + 1)]


def width_of(file: str, form: Form) -> int:
    """Return the number of cells per line of a private file without names.

    Raises
    ------
    TableError
        If the owner has not declared this number.
    """
    if form.n_columns is None:
        raise TableError(
            f"{file}: without a line of names the number of cells per line is unknown; declare it (on the command "
            f"line: --n-columns)."
        )
    return form.n_columns
