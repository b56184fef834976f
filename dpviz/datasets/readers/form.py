"""Define the declared format of a file; given this format, every cell can be read independently."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from dpviz.datasets.readers.marks import MISSING
from dpviz.datasets.readers.recode import Recoding

__all__ = ["FORM_ENTRIES", "NUMBERS", "SEPARATORS", "Form", "with_form"]

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar", " ": "white space"}
NUMBERS = {"1,234.5": (".", ","), "1.234,5": (",", "."), "1234.5": (".", ""), "1234,5": (",", "")}  # decimal, thousands
_MOST_COLUMNS = 200
_MOST_MARKS = 50
_MOST_BELOW = 50
_DECLARED: dict[str, tuple[type, str]] = {
    "header": (bool, "true or false"),
    "sheet": (str, "a sheet's name or number, as text"),
    "header_row": (int, "a whole number, at least 1"),
    "separator": (str, "one of , ; | a tab or a space"),
    "decimal": (str, '"." or ","'),
    "decimal_of": (dict, 'names of columns, each with "." or ","'),
    "thousands": (str, '"", "." or ",", but not the decimal sign'),
    "n_columns": (int, f"a whole number from 1 to {_MOST_COLUMNS}"),
    "missing_marks": (
        list,
        f"a list of at most {_MOST_MARKS} strings that stand for a missing cell, none of them a category",
    ),
    "no_missing_marks": (list, f"a list of some of {' '.join(MISSING)}, which then stand for themselves"),
    "lines_below": (int, f"a whole number of lines below the names, from 1 to {_MOST_BELOW}"),
}
FORM_ENTRIES = frozenset(_DECLARED)  # entries of a data dictionary


@dataclasses.dataclass(frozen=True)
class Form:
    """The owner's declarations about a file, all of them public.

    Undeclared properties of a public file are detected from its content. In a private file they have the defaults
    below, or follow from the line of names that the owner has confirmed; they never follow from the rows, so that no
    row affects how another row is read.

    Attributes
    ----------
    header : bool or None, True if the first line holds names of columns (or the keys of the first JSON record are names
        of columns); None means undeclared: a first line that may be a person is then refused
    private : if True, no message may depend on the number of rows or on a cell
    sheet : name or number of a workbook's sheet; None means the first that does not hold notes
    header_row : line of a text file or row of a sheet where the table begins, counted from 1; None means the first
    recode : rules that turn columns of text and dates into numbers
    separator : the separator of cells in a text file, one of `SEPARATORS`; for a private file, None means the separator
        of the confirmed names, or a comma if there are no names
    decimal : "." or ","; for a private file, None means "."
    thousands : the sign that groups thousands besides spaces and apostrophes: ".", ",", or "" for none; None means the
        one that is not the decimal sign
    names : declared names of columns; if there are any, no other key of private JSON records is read
    n_columns : number of cells in each line of a private file without a line of names
    missing_marks : marks of a missing value besides `marks.MISSING`, such as "k. A." or "-999"
    no_missing_marks : those of `marks.MISSING` that are words of this file, such as "NA" for Namibia
    lines_below : number of lines (rows of a sheet) directly below the names that are skipped, such as one of units;
        None means none, except in a public file with two lines that say what kinds its columns have
    decimal_of : names of columns whose decimal sign is not `decimal`, and their signs; the other sign groups their
        thousands

    Raises
    ------
    ValueError
        If an entry is wrong; the message names it.
    """

    header: bool | None = None
    private: bool = False
    sheet: str | None = None
    header_row: int | None = None
    recode: tuple[Recoding, ...] = ()
    separator: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    names: tuple[str, ...] = ()
    n_columns: int | None = None
    missing_marks: tuple[str, ...] = ()
    decimal_of: tuple[tuple[str, str], ...] = ()
    no_missing_marks: tuple[str, ...] = ()
    lines_below: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "missing_marks", tuple(self.missing_marks))
        object.__setattr__(self, "no_missing_marks", tuple(self.no_missing_marks or ()))
        object.__setattr__(self, "decimal_of", tuple(dict(self.decimal_of or ()).items()))
        right = {
            "header_row": self.header_row is None or self.header_row >= 1,
            "separator": self.separator in (None, *SEPARATORS),
            "decimal": self.decimal in (None, ".", ","),
            "decimal_of": all(isinstance(name, str) and sign in (".", ",") for name, sign in self.decimal_of),
            "thousands": self.thousands in (None, "", ".", ",") and self.thousands != (self.decimal or "."),
            "n_columns": self.n_columns is None or 1 <= self.n_columns <= _MOST_COLUMNS,
            "missing_marks": len(self.missing_marks) <= _MOST_MARKS
            and all(isinstance(mark, str) and mark.strip() for mark in self.missing_marks)
            and not {word for rule in self.recode for word in rule.categories} & set(self.missing_marks),
        }
        right |= {
            "no_missing_marks": {*self.no_missing_marks} <= {*MISSING} - {*self.missing_marks},
            "lines_below": self.lines_below is None
            or (1 <= self.lines_below <= _MOST_BELOW and self.header is not False),
        }
        if wrong := next((key for key, fits in right.items() if not fits), None):
            raise ValueError(f"The format of the file: {wrong} must be {_DECLARED[wrong][1]}.")
        for rule in self.recode:
            if taken := [word for word in rule.categories if word in self.general_marks]:
                raise ValueError(
                    f"Recoding of column {rule.column!r}: {taken[0]!r} stands for a missing cell; if it is a category "
                    f"of this file, say so (on the command line: --no-missing-marks={taken[0]})."
                )

    @classmethod
    def checked(cls, facts: Any, where: str) -> dict[str, Any]:
        """Check and return the entry `form` of a data dictionary, without empty values.

        Raises
        ------
        ValueError
            If an entry is wrong; the message names it.
        """
        if not isinstance(facts, Mapping) or not FORM_ENTRIES.issuperset(facts):
            raise ValueError(f"{where}: 'form' may contain only {', '.join(sorted(FORM_ENTRIES))}.")
        entries = {key: value for key, value in facts.items() if value not in (None, [], {})}
        for key, value in entries.items():
            if type(value) is not _DECLARED[key][0]:
                raise ValueError(f"{where}: form: {key} must be {_DECLARED[key][1]}.")
        try:
            cls(**entries)
        except ValueError as problem:
            raise ValueError(f"{where}: {str(problem)[0].lower()}{str(problem)[1:]}") from None
        return entries

    @property
    def facts(self) -> dict[str, Any]:
        """Return the form as entries of a data dictionary."""
        entries = {key: getattr(self, key) for key in sorted(FORM_ENTRIES)}
        lists = {key: list(getattr(self, key)) for key in ("missing_marks", "no_missing_marks")}
        entries |= lists | {"decimal_of": dict(self.decimal_of)}
        return {key: entry for key, entry in entries.items() if entry not in (None, [], {})}

    @property
    def general_marks(self) -> tuple[str, ...]:
        """Return the marks of a missing cell that need no declaration."""
        return tuple(mark for mark in MISSING if mark not in self.no_missing_marks)

    @property
    def signs(self) -> tuple[str, str]:
        """Return the decimal sign, and the thousands separator or ""."""
        decimal = self.decimal or "."
        return decimal, {".": ",", ",": "."}[decimal] if self.thousands is None else self.thousands

    def declared_decimal(self, name: str) -> str | None:
        """Return the declared decimal sign of a column, or None if none is declared."""
        return dict(self.decimal_of).get(name, self.decimal)

    def signs_of(self, name: str) -> tuple[str, str]:
        """Return the decimal sign and the thousands separator of one column, as `signs` does for all."""
        own = dict(self.decimal_of).get(name)
        return self.signs if own is None else (own, ".,"[own == "."])

    @property
    def example(self) -> str:
        """Return a made-up number in the declared format, for comparison with the owner's numbers."""
        decimal, thousands = self.signs
        return f"1{thousands}234{decimal}5"


def with_form(facts: Mapping[str, Any] | None, **entries: Any) -> dict[str, Any]:
    """Return all `FORM_ENTRIES`: those given, and the others from a data dictionary."""
    declared = (facts or {}).get("form", {})
    return {key: declared.get(key) if entries.get(key) is None else entries[key] for key in FORM_ENTRIES}
