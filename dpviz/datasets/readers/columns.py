"""Turn columns of Arrow cells into numbers: a public column's format is detected, that of a private one is declared."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpviz.datasets.readers.by_rule import numbers_by_rule, rule_for_dates
from dpviz.datasets.readers.form import Form
from dpviz.datasets.readers.marks import LARGEST
from dpviz.datasets.readers.numerals import (
    bare_numbers,
    floats,
    number_pattern,
    numbers,
    signs_in,
    units_of,
    with_minus,
    without_marks,
)
from dpviz.datasets.readers.recode import recoded, rule_for_words
from dpviz.datasets.readers.table import MOST_GROUPS, Column, mixed, own_columns, refused, usable

__all__ = ["column_of", "columns_of", "kind_of", "own_numbers"]

_DATE = r"^\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([T ].*)?\s*$"


def kind_of(type_: pa.DataType) -> str:
    """Return the kind of an Arrow type."""
    if pa.types.is_dictionary(type_):
        return kind_of(type_.value_type)
    if pa.types.is_boolean(type_):
        return "true/false"
    if pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_decimal(type_):
        return "number"
    if pa.types.is_temporal(type_):
        return "date"
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        return "text"
    return "empty" if pa.types.is_null(type_) else "nested"


def column_of(name: str, cells: pa.ChunkedArray | pa.Array, dtype: type, form: Form, *, decimal: str = "?") -> Column:
    """Return a public file's Arrow column as numbers, parsed from text if necessary, or as refused with a reason.

    Parameters
    ----------
    dtype : type in which numbers are stored
    form : the declared form with its signs
    decimal : the decimal sign of the file's other columns, "," or "."; "?" if those columns do not settle it
    """
    if cells.null_count == len(cells):
        return refused(name, "empty")
    kind = kind_of(cells.type)
    if pa.types.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    if kind == "text":
        return _from_text(name, cells, dtype, form, decimal)
    if kind not in {"number", "true/false"}:
        suggestion = rule_for_dates(cells) if kind == "date" else ""
        return dataclasses.replace(refused(name, kind), suggestion=suggestion)
    return usable(name, kind, floats(cells, dtype))


def own_numbers(cells: pa.ChunkedArray | pa.Array, signs: tuple[str, str], marks: Sequence[str] = ()) -> np.ndarray:
    """Return a column of a private file as numbers, shape (n,), float64; a cell that is not a number becomes NaN.

    Only columns of numbers, of true/false values and of text can hold numbers. The number read from a cell depends only
    on the column's type, the declared form and this cell.
    """
    cells = without_marks(cells, marks)
    if pa.types.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    kind = kind_of(cells.type)
    if kind == "text":
        return numbers(cells, signs)
    values = floats(cells).copy() if kind in {"number", "true/false"} else np.full(len(cells), np.nan)
    values[~(np.abs(values) <= LARGEST)] = np.nan
    return values


def columns_of(
    name: str, cells: pa.ChunkedArray | pa.Array, dtype: type, form: Form, *, decimal: str = "?"
) -> list[Column]:
    """Return the column made from Arrow cells, or the columns that the owner's rule makes from them.

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


def _from_text(name: str, cells: pa.ChunkedArray | pa.Array, dtype: type, form: Form, decimal: str) -> Column:
    declared, doubt = form.declared_decimal(name), ""
    if declared is None:
        decimal, doubt = signs_in(with_minus(cells), decimal)
    else:
        decimal = declared
    groups = {",": ".", ".": ",", "?": ""}[decimal]
    groups = groups if form.thousands is None or name in dict(form.decimal_of) else form.thousands
    numbers = _written(name, cells, dtype, decimal, groups)
    return dataclasses.replace(numbers, doubt=doubt) if numbers.kind in ("number", "ambiguous") else numbers


def _written(name: str, cells: pa.ChunkedArray | pa.Array, dtype: type, decimal: str, groups: str) -> Column:
    """Return a text column as numbers with these signs, or as refused with a reason."""
    amounts = with_minus(cells)
    if _all(amounts, number_pattern(decimal, groups)):
        signs = units_of(amounts)
        if len(signs - {""}) > 1 or {"", "%"} <= signs:
            return refused(name, "units")
        return usable(name, "number", bare_numbers(amounts, groups).astype(dtype))
    either = f"({number_pattern(',', '.')})|({number_pattern('.', ',')})"
    if _all(amounts, either):
        return refused(name, "ambiguous")
    if _all(cells, _DATE):
        return dataclasses.replace(refused(name, "date"), suggestion=rule_for_dates(cells))
    fits = pc.match_substring_regex(amounts, either)
    if not pc.any(fits).as_py():
        codes, words = _codes(cells)
        return dataclasses.replace(refused(name, "text"), codes=codes, words=words, suggestion=rule_for_words(words))
    return mixed(name, pc.index(fits, False).as_py() + 1)


def _codes(cells: pa.ChunkedArray | pa.Array) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """Return each cell's category code, -1 if missing, and the categories, or None for more than `MOST_GROUPS`."""
    encoded = pc.dictionary_encode(cells)
    encoded = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
    if len(encoded.dictionary) > MOST_GROUPS:
        return None, ()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    codes.setflags(write=False)
    return codes, tuple(map(str.strip, encoded.dictionary.to_pylist()))


def _all(cells: pa.ChunkedArray | pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(cells, pattern)).as_py())
