"""Turn columns of cells into numbers: a public column's format is detected, that of a private one is declared."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

import numpy as np

from dpviz.datasets.readers.by_rule import numbers_by_rule, rule_for_dates
from dpviz.datasets.readers.form import Form
from dpviz.datasets.readers.marks import LARGEST
from dpviz.datasets.readers.numerals import (
    WHITE,
    bare_number,
    number_pattern,
    number_reader,
    numbers_of,
    signs_in,
    unit_of,
    with_minus,
)
from dpviz.datasets.readers.raw import Raw
from dpviz.datasets.readers.recode import MOST_CATEGORIES, recoded, rule_for_words
from dpviz.datasets.readers.table import MOST_GROUPS, Column, mixed, own_columns, refused, usable

__all__ = ["column_of", "columns_of", "own_numbers", "without_marks"]

_DATE = re.compile(
    rf"[{WHITE}]*([0-9]{{4}}[-/.][0-9]{{1,2}}[-/.][0-9]{{1,2}}|[0-9]{{1,2}}[-/.][0-9]{{1,2}}[-/.][0-9]{{2,4}})([T ].*)?"
    rf"[{WHITE}]*"
)


def column_of(name: str, cells: Raw, dtype: type, form: Form, *, decimal: str = "?") -> Column:
    """Return a public file's column as numbers, parsed from text if necessary, or as refused with a reason.

    Parameters
    ----------
    dtype : type in which numbers are stored
    form : the declared form with its signs
    decimal : the decimal sign of the file's other columns, "," or "."; "?" if those columns do not settle it
    """
    if cells.kind == "text":
        return _from_text(name, cells, dtype, form, decimal)
    if cells.kind in ("number", "true/false") and cells.values is not None:
        return usable(name, cells.kind, cells.values.astype(dtype))
    suggestion = rule_for_dates(cells) if cells.kind == "date" else ""
    return dataclasses.replace(refused(name, cells.kind), suggestion=suggestion)


def own_numbers(cells: Raw, signs: tuple[str, str], marks: Sequence[str] = ()) -> np.ndarray:
    """Return a column of a private file as numbers, shape (n,), float64; a cell that is not a number becomes NaN.

    Only columns of numbers, of true/false values and of text can hold numbers. The number read from a cell depends only
    on the column's type, the declared form and this cell.
    """
    cells = without_marks(cells, marks)
    if cells.kind == "text":
        return cells.numbers(number_reader(signs))
    if cells.kind not in ("number", "true/false") or cells.values is None:
        return np.full(len(cells), np.nan)
    return np.where(np.abs(cells.values) <= LARGEST, cells.values, np.nan)


def columns_of(name: str, cells: Raw, dtype: type, form: Form, *, decimal: str = "?") -> list[Column]:
    """Return the column made from cells, or the columns that the owner's rule makes from them.

    In a private file, the columns of a rule exist whatever the cells contain; in a public file, the words of one-hot
    columns are kept as well, because they can name known groups.
    """
    rule, cells = recoded(form.recode, name), without_marks(cells, form.missing_marks)
    if form.private:
        return own_columns(
            name, [own_numbers(cells, form.signs_of(name))] if rule is None else numbers_by_rule(rule, cells), form
        )
    if rule is None:
        return [column_of(name, cells, dtype, form, decimal=decimal)]
    columns = [
        usable(column["name"], "number", np.asarray(values, dtype=dtype))
        for column, values in zip(rule.columns, numbers_by_rule(rule, cells), strict=True)
    ]
    columns = [refused(column.name, "unknown") if column.values is None else column for column in columns]
    if rule.code != "one-hot":
        return columns
    original = column_of(name, cells, dtype, form, decimal=decimal)
    return [dataclasses.replace(original, kind="recoded", reason="It was recoded.", values=None, doubt=""), *columns]


def without_marks(cells: Raw, marks: Sequence[str]) -> Raw:
    """Return the cells without the declared marks of missing values; each cell is checked on its own."""
    return cells.without({mark.strip() for mark in marks}, numbers_of(marks)) if marks else cells


def _from_text(name: str, cells: Raw, dtype: type, form: Form, decimal: str) -> Column:
    if not any(len(part.cells) for part in cells.parts):
        return refused(name, "empty")
    declared, doubt = form.declared_decimal(name), ""
    if declared is None:
        decimal, doubt = signs_in(map(with_minus, cells), decimal)
    else:
        decimal = declared
    groups = {",": ".", ".": ",", "?": ""}[decimal]
    groups = groups if form.thousands is None or name in dict(form.decimal_of) else form.thousands
    numbers = _written(name, cells, dtype, decimal, groups, form.general_marks)
    return dataclasses.replace(numbers, doubt=doubt) if numbers.kind in ("number", "ambiguous") else numbers


def _written(name: str, cells: Raw, dtype: type, decimal: str, groups: str, marks: Sequence[str]) -> Column:
    """Return a text column as numbers with these signs, or as refused with a reason."""
    number = number_pattern(decimal, groups).fullmatch
    if all(number(with_minus(cell)) for cell in cells):
        units = {unit_of(cell) for cell in cells}
        if len(units - {""}) > 1 or {"", "%"} <= units:
            return refused(name, "units")
        values = cells.numbers(lambda cell: bare_number(with_minus(cell), groups))
        return usable(name, "number", values.astype(dtype))
    patterns = number_pattern(",", "."), number_pattern(".", ",")

    def fits(cell: str) -> bool:
        amount = with_minus(cell)
        return any(pattern.fullmatch(amount) for pattern in patterns)

    if all(map(fits, cells)):
        return refused(name, "ambiguous")
    if all(map(_DATE.fullmatch, cells)):
        return dataclasses.replace(refused(name, "date"), suggestion=rule_for_dates(cells))
    if not any(map(fits, cells)):
        codes, words = _codes(cells)
        why = "many" if codes is None or len(words) > MOST_CATEGORIES else ""
        suggestion = rule_for_words(words, marks)
        return dataclasses.replace(refused(name, "text", why), codes=codes, words=words, suggestion=suggestion)
    row = int(np.flatnonzero(cells.numbers(lambda cell: float(fits(cell))) == 0)[0])
    return mixed(name, row + 1, next(cell for cell in cells if not fits(cell)))


def _codes(cells: Raw) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """Return each cell's category code, -1 if missing, and the categories, or None for more than `MOST_GROUPS`."""
    place_of: dict[str, int] = {}
    for cell in cells:
        place_of.setdefault(cell, len(place_of))
        if len(place_of) > MOST_GROUPS:
            return None, ()
    codes = np.nan_to_num(cells.numbers(lambda cell: float(place_of[cell])), nan=-1.0).astype(np.int64)
    codes.setflags(write=False)
    return codes, tuple(map(str.strip, place_of))
