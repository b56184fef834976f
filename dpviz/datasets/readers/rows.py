"""Split public text into rows of cells; a quoted cell may hold separators and line ends."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator

import numpy as np

from dpviz.datasets.readers.lines import BLOCK, blocks, ended
from dpviz.datasets.readers.raw import Raw, Words
from dpviz.datasets.readers.regular import Wanted, parsed, plain, regular

__all__ = ["Ragged", "TooLong", "below", "columns_in"]

_END = re.compile(rb"\r\n|\r|\n")


class Ragged(Exception):
    """Raised for a row with more or fewer cells than there are columns; holds its number and its number of cells."""


class TooLong(Exception):
    """Raised for a line, or a cell with line ends, that is longer than a block."""


def below(data: memoryview, n_rows: int, separator: str) -> memoryview:
    """Return the text below its first rows; an empty line is not a row.

    Raises
    ------
    TooLong
        If a row is too long.
    """
    at = 0

    def lines() -> Iterator[str]:
        nonlocal at
        for end in _END.finditer(data):
            line, at = bytes(data[at : end.start()]), end.end()
            yield line.decode() + "\n"
        line, at = bytes(data[at:]), data.nbytes
        yield line.decode()

    rows = filter(None, _split(lines(), separator))
    for _ in range(n_rows):
        next(rows, None)
    return data[at:]


def columns_in(
    data: memoryview, separator: str, width: int, n_above: int, wanted: Wanted, advance: Callable[[float], None]
) -> list[Raw]:
    """Return the columns: as numbers if every cell is a plain number or missing, otherwise as text.

    Parameters
    ----------
    data : the text below the line of names
    n_above : the number of rows above it

    Raises
    ------
    Ragged, TooLong
        If a row does not have `width` cells, or is too long.
    """
    while True:
        parts: list[list[Words | np.ndarray]] = [[] for _ in range(width)]
        known = set(wanted.texts)
        for columns in _parts(data, separator, width, n_above, wanted, advance):
            for some, column in zip(parts, columns, strict=True):
                some.append(column)
        late = [at for at in wanted.texts - known if not isinstance(parts[at][0], Words)]
        if not late:
            return [_joined(some, wanted) for some in parts]


def _joined(parts: list[Words | np.ndarray], wanted: Wanted) -> Raw:
    numbers = [part for part in parts if isinstance(part, np.ndarray)]
    if len(numbers) == len(parts):
        values = np.concatenate(numbers) if numbers else np.empty(0)
        parts.clear()
        return Raw("number", values)
    marks = frozenset(wanted.marks)
    words = (part.without(marks.__contains__) for part in parts if isinstance(part, Words))
    return Raw("text", None, tuple(words))


def _parts(
    data: memoryview, separator: str, width: int, n_above: int, wanted: Wanted, advance: Callable[[float], None]
) -> Iterator[list[Words | np.ndarray]]:
    number, pending = n_above, _reported(data, advance)
    for text in pending:
        if (bare := regular(text, separator, width)) is not None:
            number += bare.count(b"\n")
            yield parsed(bare, separator, width, wanted)
        else:
            rows = []
            for record in filter(None, _records(text, pending, separator)):
                number += 1
                if len(record) != width:
                    raise Ragged(number, len(record))
                rows.append(record)
            if rows:
                yield [plain(Words.of(column), j, wanted) for j, column in enumerate(zip(*rows, strict=True))]


def _reported(data: memoryview, advance: Callable[[float], None]) -> Iterator[bytes]:
    """Yield the text in blocks of whole lines, each of which ends with "\\n"."""
    at = 0
    for block in blocks(data):
        if len(block) > BLOCK + 1:
            raise TooLong
        at += len(block)
        advance(0.9 * at / data.nbytes)
        yield ended(block)


def _records(text: bytes, pending: Iterator[bytes], separator: str) -> Iterator[list[str]]:
    """Yield the rows of a block; a row whose quotation is open at its end goes on in the blocks that follow."""
    at_end = False

    def lines() -> Iterator[str]:
        nonlocal at_end
        part = text
        while part:
            *whole, _ = part.decode().split("\n")
            for place, line in enumerate(whole, 1):
                at_end = place == len(whole)
                yield line + "\n"
            part = next(pending, b"")

    for record in _split(lines(), separator):
        yield record
        if at_end:
            return


def _split(lines: Iterator[str], separator: str) -> Iterator[list[str]]:
    """Yield the cells of each row."""
    try:
        yield from csv.reader(lines, delimiter=separator)
    except csv.Error:
        raise TooLong from None
