"""Parse blocks of regular lines: each has as many cells as there are columns, and no quoted cell holds a separator.

Only such blocks, in which every cell ends with its line, may reach the parser of pandas: what it then reads in a cell
does not depend on the other cells.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd

from dpviz.datasets.readers.marks import MISSING
from dpviz.datasets.readers.numerals import plain_reader
from dpviz.datasets.readers.raw import Words

__all__ = ["BARE", "Wanted", "parsed", "plain", "regular"]

BARE = "\x1f"  # separator for tables with one cell per line: no regular block contains it
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n")
_EXPONENT = re.compile(rb"[0-9.,][eE][+-]*[\t ]")  # pandas reads "1e 5" as a number
_EMPTY = re.compile(rb"\n\n+")
_MARK = b"\xef\xbb\xbf"  # pandas drops this mark at the start of a block
# the exact parser of numbers, which is the only one since pandas 3.1
_EXACT: dict[str, Any] = (
    {} if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else {"float_precision": "round_trip"}
)
_GUESSED = 4096  # number of first bytes that show which columns hold text


@dataclasses.dataclass
class Wanted:
    """What is wanted of each column.

    Attributes
    ----------
    decimal : the decimal sign of numbers
    texts : positions of the columns that are wanted as text; a column that has a cell that is not a plain number joins
        them, whose following blocks are then not tried as numbers
    missing : marks of missing numbers besides the general ones
    general : the general ones, without those that the owner has declared to be values
    """

    decimal: str = "."
    texts: set[int] = dataclasses.field(default_factory=set)
    missing: tuple[str, ...] = ()
    general: tuple[str, ...] = MISSING

    @property
    def marks(self) -> list[str]:
        """Return every mark of a missing cell."""
        return ["", " ", *self.general, *self.missing]


def regular(block: bytes, separator: str, width: int) -> bytes | None:
    """Return a block of lines without quotes and empty lines, or None if the block is not regular.

    The block ends with a line end, and its lines end with "\\n".
    """
    sign = separator.encode()
    shape, line = block.translate(None, _all_but(sign)), sign * (width - 1) + b"\n"
    n_quotes = shape.count(b'"')
    if not n_quotes and (b"\n\n" in shape or shape.startswith(b"\n")):
        block = _EMPTY.sub(b"\n", block).lstrip(b"\n")
        shape = block.translate(None, _all_but(sign))
    shape = shape.replace(b'""', b"") if n_quotes else shape
    if not shape or shape != line * (len(shape) // len(line)) or block.startswith(_MARK):
        return None
    if n_quotes and (b"\n\n" in block or block.startswith(b"\n") or not _each_quotes_a_cell(block, sign, n_quotes)):
        return None
    if not _is_bare(block, sign) and _EXPONENT.search(block):
        return None
    if n_quotes and width == 1 and b'""' in block:  # without its quotes, an empty cell would be an empty line
        return None
    return block.replace(b'"', b"") if n_quotes else block


def _is_bare(block: bytes, sign: bytes) -> bool:
    """Return whether a block holds nothing but digits, signs of numbers and separators."""
    return not block.translate(None, b"0123456789+-.eE\n" + sign)


def _all_but(sign: bytes) -> bytes:
    """Return every byte that does not matter for the shape of a block."""
    kept = {*sign, *b'\n"', *_CONTROLS}
    return bytes(code for code in range(256) if code not in kept)


def _each_quotes_a_cell(block: bytes, sign: bytes, n_quotes: int) -> bool:
    """Return whether as many quotes begin a cell, and end one, as there are pairs of quotes."""
    begins = block.count(sign + b'"') + block.count(b'\n"') + block.startswith(b'"')
    ends = block.count(b'"' + sign) + block.count(b'"\n')
    return n_quotes == 2 * begins == 2 * ends


def parsed(block: bytes, separator: str, width: int, wanted: Wanted) -> list[Words | np.ndarray]:
    """Return the columns of a regular block: numbers, shape (n,), if every cell is a plain number or missing."""
    with suppress(ValueError):
        return _read(block, separator, width, wanted)
    columns: list[Words | np.ndarray] = []
    for part in (block[: block.find(b"\n", _GUESSED) + 1] or block, block):  # a column holds other cells than numbers
        every = _frame(part, separator, range(width), range(0), wanted)
        columns = [plain(Words.of(cells), at, wanted) for at, cells in every.items()]
        with suppress(ValueError):
            return _read(block, separator, width, wanted)
    return columns


def plain(words: Words, at: int, wanted: Wanted) -> Words | np.ndarray:
    """Return column `at` as numbers, or as it is if it is wanted as text; it is if a cell is not a plain number."""
    if at not in wanted.texts:
        try:
            return words.numbers(plain_reader(wanted.decimal, wanted.marks))
        except ValueError:
            wanted.texts.add(at)
    return words


def _read(block: bytes, separator: str, width: int, wanted: Wanted) -> list[Words | np.ndarray]:
    numeric = [at for at in range(width) if at not in wanted.texts]
    cells = _frame(block, separator, range(width), numeric, wanted)
    columns = [cells[at] if at in numeric else Words.of(cells[at]) for at in range(width)]
    # pandas reads true and false as 1 and 0 if a column holds no other words
    doubtful = [at for at in numeric if _are_truths(cells[at])]
    if doubtful and not _is_bare(block, separator.encode()):
        for at, again in _frame(block, separator, doubtful, range(0), wanted).items():
            columns[at] = plain(Words.of(again), at, wanted)
    return columns


def _frame(
    block: bytes, separator: str, columns: Sequence[int], numeric: Collection[int], wanted: Wanted
) -> dict[int, np.ndarray]:
    """Return some columns of a block: numbers, or cells of text."""
    width = block[: block.find(b"\n")].count(separator.encode()) + 1
    frame = pd.read_csv(
        io.BytesIO(block), sep=separator, header=None, names=range(width), usecols=columns, index_col=False,
        quoting=csv.QUOTE_NONE, dtype={at: float if at in numeric else object for at in columns},
        na_values=dict.fromkeys(numeric, wanted.marks), keep_default_na=False, skip_blank_lines=False,
        decimal=wanted.decimal if numeric else ".", low_memory=False, **_EXACT,
    )  # fmt: skip
    return {at: frame[at].to_numpy() for at in columns}


def _are_truths(values: np.ndarray) -> bool:
    """Return whether every number is 0 or 1."""
    parts = values[:99], values  # the first numbers usually decide
    return all(bool(((part == 0) | (part == 1) | np.isnan(part)).all()) for part in parts)
