"""Split each line of private text into cells, independently of the other lines.

A wrong encoding, quote or line break in one line cannot change another line.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from typing import AnyStr

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

__all__ = ["blocks", "cells_of", "fitted", "is_utf8", "mended", "split", "words"]

LONGEST = 1_000_000  # maximum length of a line, in bytes; a longer line becomes a row of missing cells
BLOCK = 4_000_000  # number of bytes that are split at a time
_WORD = re.compile(r'"([^"]*)"|(\S+)')
_BARE = "\x1f"  # separator for tables with one cell per line: no cell contains it


def words(line: str) -> list[str]:
    """Return the cells of a line in which white space separates them; quoted text is one cell."""
    return [quoted or bare for quoted, bare in _WORD.findall(line)]


def is_utf8(text: bytes) -> bool:
    """Return whether the bytes are valid UTF-8."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def mended(text: bytes) -> bytes:
    """Return text as UTF-8 with "\\n" at line ends; a line that is not UTF-8 is read as Windows-1252."""
    text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if is_utf8(text):
        return text
    lines = (line if is_utf8(line) else line.decode("cp1252", errors="replace").encode() for line in text.split(b"\n"))
    return b"\n".join(lines)


def blocks(data: memoryview) -> Iterator[bytes]:
    """Yield the text in blocks of whole lines, unchanged."""
    at = 0
    while at < data.nbytes:
        part = bytes(data[at : at + BLOCK])
        if at + BLOCK < data.nbytes:
            cut = max(part.rfind(b"\n"), part.rfind(b"\r")) + 1
            while not cut:  # the line is longer than a block
                more = bytes(data[at + len(part) : at + len(part) + BLOCK])
                ends = [place for place in (more.find(b"\n"), more.find(b"\r")) if place >= 0]
                cut = len(part) + min(ends) + 1 if ends else 0 if more else len(part)
                part += more
            part = part[:cut]
        yield part
        at += len(part)


def split(line: str, separator: str) -> list[str]:
    """Return the cells of one line; an open quotation ends with the line.

    Parameters
    ----------
    separator : " " for white space, "" if the line is one cell
    """
    if separator == " ":
        return words(line)
    if '"' not in line:
        return line.split(separator) if separator else [line]
    try:
        return next(csv.reader((line,), delimiter=separator or _BARE))
    except csv.Error:  # a cell is too long for the parser
        return []


def cells_of(
    data: memoryview, separator: str, width: int, advance: Callable[[float], None]
) -> Iterator[list[pa.StringArray]]:
    """Yield `width` columns of cells for each block of lines, each line cut or filled up as `fitted` says.

    An empty line is not a row. Where white space separates cells, no cell is empty, so a shorter line becomes a row of
    missing cells; a line with one additional cell begins with a row name, as R writes it.
    """
    at = 0
    for block in blocks(data):
        at += len(block)
        text = mended(block)
        if b'"' in text or separator == " ":
            yield _one_by_one(text.decode(), separator, width)
        else:
            yield _at_once(text, separator or _BARE, width)
        advance(0.9 * at / data.nbytes)


def fitted(cells: list[AnyStr], width: int, blank: AnyStr) -> list[AnyStr]:
    """Return `width` cells of a line: cells that it lacks at its end are blank, and blank cells beyond are none.

    If a cell beyond the last column holds something, the cells may be shifted, so all are blank.
    """
    if any(cell.strip() for cell in cells[width:]):
        return [blank] * width
    return cells[:width] + [blank] * (width - len(cells))


def _one_by_one(text: str, separator: str, width: int) -> list[pa.StringArray]:
    rows = []
    for line in text.split("\n"):
        if not line:
            continue
        cells = split(line, separator) if len(line.encode()) <= LONGEST else []
        if separator == " ":
            cells = cells[len(cells) == width + 1 :]
            cells = cells if len(cells) == width else []
        rows.append(fitted(cells, width, ""))
    columns = zip(*rows, strict=True) if rows else [()] * width
    return [pa.array(column, pa.string()) for column in columns]


def _at_once(text: bytes, separator: str, width: int) -> list[pa.StringArray]:
    """Use Arrow to split a block without quotes, after lines with another number of cells are fitted."""
    if not text.endswith(b"\n"):
        text += b"\n"
    marks = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(marks == ord("\n"))
    lengths = np.diff(ends, prepend=-1) - 1
    signs = np.diff(np.searchsorted(np.flatnonzero(marks == ord(separator)), ends), prepend=0)
    wrong = (lengths > 0) & ((signs != width - 1) | (lengths > LONGEST))
    if wrong.any() or (lengths == 0).any():
        sign = separator.encode()
        rows = []
        for line, other in zip(text.split(b"\n"), wrong, strict=False):
            if other:
                cells = line.split(sign) if len(line) <= LONGEST else []
                line = sign.join(fitted(cells, width, b"")) or b" "
            rows.append(line and line + b"\n")
        text = b"".join(rows)
    if not text:
        return [pa.array([], pa.string())] * width
    names = [f"f{place}" for place in range(width)]
    table = arrow_csv.read_csv(
        io.BytesIO(text),
        read_options=arrow_csv.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=names),
        parse_options=arrow_csv.ParseOptions(delimiter=separator, quote_char=False, ignore_empty_lines=False),
        convert_options=arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), null_values=[], strings_can_be_null=False, check_utf8=False
        ),
    )
    return [column.combine_chunks() for column in table.columns]
