"""Read a text cell as a number, using the declared signs and nothing but this cell."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpviz.datasets.readers.marks import LARGEST

__all__ = [
    "FALSE", "MONEY", "TRUE", "bare_numbers", "floats", "number_pattern", "numbers", "numbers_of",
    "signs_in", "units_of", "with_minus", "without_marks",
]  # fmt: skip

TRUE, FALSE = ["true", "True", "TRUE", "yes", "Yes", "YES"], ["false", "False", "FALSE", "no", "No", "NO"]
MONEY = "(US[$]|[$€£¥₹₩]|USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|NZD|SEK|NOK|DKK|PLN|BRL|MXN|ZAR)"
_MARK = "\ufeff"  # byte order mark, which may precede the first cell
_SPACES = "' ’\u00a0\u202f"  # signs that may group thousands, whatever the decimal sign


def number_pattern(decimal: str, thousands: str) -> str:
    """Return the regular expression of a number with this decimal sign and, before it, signs that group thousands.

    A currency sign or code may precede or follow the number; a percent sign may follow it.
    """
    sign = "," if decimal == "," else "[.]"
    gap = r"[\s\x{a0}\x{202f}]*"
    whole = rf"(\d{{1,3}}([{_SPACES}{thousands}]\d{{3}})+|\d+)"
    amount = rf"({whole}({sign}\d*)?|{sign}\d+)([eE][+-]?\d+)?"
    return rf"^[\s{_MARK}]*[+-]?({MONEY}{gap})?[+-]?{amount}({gap}({MONEY}|%))?\s*$"


def with_minus(cells: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    """Return text cells with negative numbers written -3.5, which people also write (3.5), 3.5- or with U+2212."""
    unsigned = r"[^()+\-]*\d[^()+\-]*"
    cells = pc.replace_substring(cells, "\u2212", "-")
    cells = pc.replace_substring_regex(cells, rf"^\s*\(\s*({unsigned})\)\s*$", r"-\1")
    return pc.replace_substring_regex(cells, rf"^({unsigned})-\s*$", r"-\1")


def bare_numbers(cells: pa.ChunkedArray | pa.Array, thousands: str) -> np.ndarray:
    """Return the cells, which fit `number_pattern`, as numbers, shape (n,); a missing cell becomes NaN."""
    bare = pc.replace_substring_regex(cells, rf"{MONEY}|[%\s{_MARK}{_SPACES}{thousands}]", "")
    bare = pc.replace_substring_regex(bare, r"^[+-]([+-])", r"\1")
    return floats(pc.replace_substring(bare, ",", "."))


def signs_in(cells: pa.ChunkedArray | pa.Array, decimal: str) -> tuple[str, str]:
    """Return the decimal sign of a text column in a public file, and a cell that can be read as two different numbers.

    Parameters
    ----------
    decimal : the decimal sign of the file's other columns; "?" if they are undecided or differ

    Returns
    -------
    sign : "," or ".", or "?" if this column is undecided too
    doubt : a cell such as 1,234, which is another number if its comma is the decimal sign; "" if there is none, or if
        another cell, such as 1,234,567 or 1,234.5, shows which sign groups thousands
    """
    bare = pc.replace_substring_regex(pc.unique(cells), rf"{MONEY}|[%\s{_MARK}{_SPACES}]", "")

    def first(pattern: str) -> str:
        at = pc.index(pc.match_substring_regex(bare, f"^[+-]?({pattern})$"), True).as_py()
        return "" if at < 0 else bare[at].as_py()

    if decimal == "?":
        comma = first(r"(\d{1,3}([.]\d{3})+|\d{4,}|0),\d*|\d*,(\d{0,2}|\d{4,})")
        point = first(r"(\d{1,3}(,\d{3})+|\d{4,}|0)[.]\d*|\d*[.](\d{0,2}|\d{4,})")
        decimal = "," if comma and not point else "." if point and not comma else "?"
    group = {",": "[.]", ".": ","}.get(decimal, "[,.]")
    doubt = first(rf"[1-9]\d{{0,2}}{group}\d{{3}}")
    if doubt and decimal != "?" and first(rf"\d{{1,3}}({group}\d{{3}}){{2,}}|\d{{1,3}}({group}\d{{3}})+[{decimal}]\d*"):
        doubt = ""
    return decimal, doubt


def units_of(cells: pa.ChunkedArray | pa.Array) -> set[str]:
    """Return the set of currency and percent signs in a public column, with "" for numbers without a sign."""
    signs = pc.replace_substring_regex(cells, rf"^.*?({MONEY}|%).*$", r"\1")
    return {"" if any(sign.isdigit() for sign in word) else word for word in pc.unique(signs).to_pylist() if word}


def without_marks(cells: pa.ChunkedArray | pa.Array, marks: Sequence[str]) -> pa.ChunkedArray | pa.Array:
    """Return the cells without the declared marks of missing values; each cell is checked on its own."""
    if not marks:
        return cells
    if pa.types.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type):
        listed = pa.array([mark.strip() for mark in marks], cells.type)
        return pc.if_else(pc.is_in(pc.utf8_trim_whitespace(cells), value_set=listed), None, cells)
    if pa.types.is_integer(cells.type) or pa.types.is_floating(cells.type):
        values = pc.cast(cells, pa.float64(), safe=False)
        listed = pa.array(numbers_of(marks), pa.float64())
        return pc.if_else(pc.is_in(values, value_set=listed), None, cells)
    return cells


def numbers_of(marks: Sequence[str]) -> list[float]:
    """Return the values of those marks that are numbers."""
    numbers = []
    for mark in marks:
        with suppress(ValueError):
            numbers.append(float(mark.replace(",", ".")))
    return numbers


def floats(cells: pa.ChunkedArray | pa.Array, dtype: type = float) -> np.ndarray:
    """Return cells of an Arrow number type as numbers; a missing cell becomes NaN."""
    return np.asarray(pc.cast(cells, pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=dtype)


def numbers(cells: pa.ChunkedArray | pa.Array, signs: tuple[str, str]) -> np.ndarray:
    """Return text cells as numbers, shape (n,), float64.

    A cell may be a number with these decimal and thousands signs, perhaps with a currency or percent sign, or one of
    the words for true (1) and false (0). Any other cell is missing: NaN. Each cell is read on its own.
    """
    decimal, thousands = signs
    cells = with_minus(cells)
    fits = pc.match_substring_regex(cells, number_pattern(decimal, thousands))
    values = bare_numbers(pc.if_else(fits, cells, None), thousands).copy()
    for words, value in ((TRUE, 1.0), (FALSE, 0.0)):
        values[pc.is_in(cells, value_set=pa.array(words, cells.type)).to_numpy(zero_copy_only=False)] = value
    values[~(np.abs(values) <= LARGEST)] = np.nan
    return values
