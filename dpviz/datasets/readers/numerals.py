"""A cell of text as a number, by the declared signs and by this cell alone."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["FALSE", "LARGEST", "TRUE", "floats", "grouping", "number_pattern", "numbers"]

LARGEST = 1e30  # a larger magnitude counts as missing: no later step can overflow, in float32 either
TRUE, FALSE = ["true", "True", "TRUE", "yes", "Yes", "YES"], ["false", "False", "FALSE", "no", "No", "NO"]
_MARK = "\ufeff"  # a byte order mark, before the first cell of a text without a line of names
_SPACES = "' ’\u00a0\u202f"  # group thousands whatever the decimal sign is


def grouping(thousands: str) -> str:
    """Return the signs that may group thousands, as they stand inside a class of a pattern."""
    return _SPACES + thousands


def number_pattern(decimal: str, thousands: str) -> str:
    """Return the pattern of a number with a decimal sign and, before it, signs that group thousands."""
    sign = "," if decimal == "," else "[.]"
    whole = rf"(\d{{1,3}}([{grouping(thousands)}]\d{{3}})+|\d+)"
    return rf"^[\s{_MARK}]*[+-]?({whole}({sign}\d*)?|{sign}\d+)([eE][+-]?\d+)?\s*$"


def floats(cells: pa.ChunkedArray | pa.Array, dtype: type = float) -> np.ndarray:
    """Return cells of an Arrow type of numbers as numbers; a missing one becomes NaN."""
    return np.asarray(pc.cast(cells, pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=dtype)


def numbers(cells: pa.ChunkedArray | pa.Array, signs: tuple[str, str]) -> np.ndarray:
    """Return cells of text as numbers, shape (n,), float64.

    A cell is a number with these decimal and thousands signs, or one of the words for true and false, which are 1 and
    0. Any other cell is missing: NaN. Each cell is read by itself.
    """
    decimal, thousands = signs
    fits = pc.match_substring_regex(cells, number_pattern(decimal, thousands))
    bare = pc.replace_substring_regex(pc.if_else(fits, cells, None), rf"[\s{_MARK}{grouping(thousands)}]", "")
    values = floats(pc.replace_substring(bare, ",", ".")).copy()
    for words, value in ((TRUE, 1.0), (FALSE, 0.0)):
        values[pc.is_in(cells, value_set=pa.array(words, cells.type)).to_numpy(zero_copy_only=False)] = value
    values[~(np.abs(values) <= LARGEST)] = np.nan
    return values
