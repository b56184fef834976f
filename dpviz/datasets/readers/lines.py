"""Split each line of private text into cells, independently of the other lines.

A wrong encoding, quote or line break in one line cannot change another line.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator

import numpy as np

from dpviz.datasets.readers.raw import Words
from dpviz.datasets.readers.regular import BARE, Wanted, parsed, regular

__all__ = ["BLOCK", "LONGEST", "blocks", "cells_of", "ended", "fitted", "is_utf8", "mended", "split", "words"]

LONGEST = 1_000_000  # maximum length of a line, in bytes; a longer line becomes a row of missing cells
BLOCK = 4_000_000  # number of bytes that are split at a time
_WORD = re.compile(r'"([^"]*)"|(\S+)')

csv.field_size_limit(BLOCK)  # by default, Python refuses a cell with more than 131,072 characters


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


def ended(text: bytes) -> bytes:
    """Return text each of whose lines ends with "\\n"."""
    text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text
    return text if text.endswith(b"\n") or not text else text + b"\n"


def mended(text: bytes) -> bytes:
    """Return lines as UTF-8; a line that is not UTF-8 is read as Windows-1252."""
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
            cut += part[cut - 1 : cut] == b"\r" and data[at + cut : at + cut + 1] == b"\n"
            part = bytes(data[at : at + cut]) if cut > len(part) else part[:cut]
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
        return next(csv.reader((line,), delimiter=separator or BARE))
    except csv.Error:  # a cell is too long for the parser
        return []


def cells_of(
    data: memoryview, separator: str, width: int, wanted: Wanted, advance: Callable[[float], None]
) -> Iterator[list[Words | np.ndarray]]:
    """Yield `width` columns of cells for each block of lines, each line cut or filled up as `fitted` says.

    A column comes as numbers if all its cells in the block are plain numbers or missing, and otherwise as words.
    An empty line is not a row. Where white space separates cells, no cell is empty, so a shorter line becomes a row of
    missing cells; a line with one additional cell begins with a row name, as R writes it.
    """
    at = 0
    for block in blocks(data):
        at += len(block)
        text = mended(ended(block))
        bare = None if separator == " " or _has_long(text) else regular(text, separator or BARE, width)
        if bare is None:
            yield _one_by_one(text.decode(), separator, width)
        else:
            yield parsed(bare, separator or BARE, width, wanted)
        advance(0.9 * at / data.nbytes)


def _has_long(text: bytes) -> bool:
    """Return whether a line is longer than `LONGEST`."""
    at = 0
    while len(text) - at > LONGEST + 1:
        end = text.rfind(b"\n", at, at + LONGEST + 1)
        if end < 0:
            return True
        at = end + 1
    return False


def fitted(cells: list[str], width: int) -> list[str]:
    """Return `width` cells of a line: cells that it lacks at its end are blank, and blank cells beyond are none.

    If a cell beyond the last column holds something, the cells may be shifted, so all are blank.
    """
    if any(cell.strip() for cell in cells[width:]):
        return [""] * width
    return cells[:width] + [""] * (width - len(cells))


def _one_by_one(text: str, separator: str, width: int) -> list[Words | np.ndarray]:
    rows = []
    for line in text.split("\n"):
        if not line:
            continue
        cells = split(line, separator) if len(line.encode()) <= LONGEST else []
        if separator == " ":
            cells = cells[len(cells) == width + 1 :]
            cells = cells if len(cells) == width else []
        rows.append(fitted(cells, width))
    columns = zip(*rows, strict=True) if rows else [()] * width
    return [Words.of(column) for column in columns]
