"""Convert columns of Python values, such as workbooks and JSON files contain."""

from __future__ import annotations

import datetime
import math
from typing import Any

import numpy as np

from dpviz.datasets.readers.columns import column_of, columns_of, own_numbers
from dpviz.datasets.readers.form import Form
from dpviz.datasets.readers.marks import LARGEST
from dpviz.datasets.readers.numerals import numbers_of
from dpviz.datasets.readers.raw import Raw
from dpviz.datasets.readers.recode import recoded
from dpviz.datasets.readers.table import Column, mixed, own_columns, refused

__all__ = ["columns_of_cells"]

_ERRORS = {"#DIV/0!", "#N/A", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", ""}
_DATES, _TIMES = (datetime.date,), (datetime.time, datetime.timedelta)


def columns_of_cells(name: str, cells: list[Any], dtype: type, form: Form) -> list[Column]:
    """Return a column made from Python values, or the columns that its owner's rule makes from them."""
    cells = [None if _is_mark(cell, form) else cell for cell in cells] if form.missing_marks else cells
    if recoded(form.recode, name):
        return columns_of(name, Raw.text([_as_text(cell) for cell in cells]), dtype, form)
    if form.private:
        return own_columns(name, [_own(cells, form.signs_of(name))], form)
    return [_column(name, cells, dtype, form)]


def _is_mark(cell: Any, form: Form) -> bool:
    """Return whether a cell is one of the declared marks for a missing cell."""
    if isinstance(cell, str):
        return cell.strip() in form.missing_marks
    return isinstance(cell, int | float) and not isinstance(cell, bool) and cell in numbers_of(form.missing_marks)


def _own(cells: list[Any], signs: tuple[str, str]) -> np.ndarray:
    """Return the cells of a private file as numbers; each cell is read independently of the others."""
    values = np.full(len(cells), np.nan)
    texts: list[str | None] = [None] * len(cells)
    for row, cell in enumerate(cells):
        if isinstance(cell, int | float):
            values[row] = cell if abs(cell) <= LARGEST else np.nan
        elif isinstance(cell, str):
            texts[row] = _utf8(cell)
    written = own_numbers(Raw.text(texts), signs)
    return np.where(np.isnan(values), written, values)


def _utf8(text: str) -> str:
    """Return text that can be stored: a single surrogate becomes a question mark."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def _as_text(cell: Any) -> str | None:
    """Return a cell as a person would write it, whatever the other cells are."""
    if cell is None or isinstance(cell, dict | list):
        return None
    if isinstance(cell, datetime.date):
        return cell.isoformat()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).lower() if isinstance(cell, bool) else _utf8(str(cell))


def _column(name: str, cells: list[Any], dtype: type, form: Form) -> Column:
    """Return a column of a public file; if it mixes several kinds of values, it is refused with a reason."""
    if any(isinstance(cell, dict | list) for cell in cells):
        return refused(name, "nested")
    cells = [None if isinstance(cell, str) and cell.strip() in _ERRORS else cell for cell in cells]
    cells = [_utf8(cell) if isinstance(cell, str) else cell for cell in cells]
    kinds = {
        bool
        if isinstance(c, bool)
        else float
        if isinstance(c, int | float)
        else str
        if isinstance(c, str)
        else _TIMES
        if isinstance(c, _TIMES)
        else _DATES
        for c in cells
        if c is not None
    }
    if not kinds:
        return refused(name, "empty")
    if len(kinds) > 1 and not kinds <= {_DATES, _TIMES}:
        first = next(c for c in cells if c is not None)
        row = next(i for i, c in enumerate(cells, 1) if c is not None and type(c) is not type(first))
        return mixed(name, row)
    if kinds <= {_DATES, _TIMES}:
        return refused(name, "date" if kinds == {_DATES} else "time")
    if kinds == {str}:
        return column_of(name, Raw.text(cells), dtype, form)
    numbers = [float(cell) if cell is not None and abs(cell) <= LARGEST else math.nan for cell in cells]
    return column_of(name, Raw("number" if kinds == {float} else "true/false", np.array(numbers)), dtype, form)
