"""Recognize what stands below the rows of a public table: totals, sources and notes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from dpviz.datasets.readers.lines import split

__all__ = ["drop_footers", "without_footers"]

_MOST = 10  # more lines of this kind are rows
_TAIL = 1 << 14  # number of last bytes in which they are looked for
_END = re.compile(rb"\r\n|\r|\n")
_TOTALS = {
    "total", "totals", "grand total", "subtotal", "sum", "overall", "summe", "gesamt", "gesamtsumme", "insgesamt",
    "zusammen", "somme", "totale", "totaal", "suma", "razem",
}  # fmt: skip
_NOTE = re.compile(
    r"\s*([*©]|\(c\)|(data )?sources?\b|notes?\b|remarks?\b|legend\b|copyright\b|last updated?\b|quellen?\b|"
    r"hinweise?\b|anmerkung(en)?\b|stand\b|fuente\b|bron\b|fonte\b)",
    re.IGNORECASE,
)


def _is_total(cells: Sequence[str]) -> bool:
    """Return whether the first cell that is not blank says that the line sums up the others."""
    first = next((cell for cell in cells if cell.strip()), "")
    return first.strip().rstrip(":").lower() in _TOTALS


def _is_note(cells: Sequence[str], width: int) -> bool:
    """Return whether a line is a sentence about the table: it has few cells, and begins as a source or a note does.

    A sentence may hold the sign that separates cells, so only a line with a cell for each column must begin so.
    """
    filled = [cell.strip() for cell in cells if cell.strip()]
    if width < 2 or not filled or filled[0] != cells[0].strip() or any(map(_is_number, filled[:1])):
        return False
    if _NOTE.match(filled[0]):
        return len(filled) < width or ":" in filled[0]
    return len(filled) == 1 and len(cells) < width and len(filled[0].split()) > 2


def without_footers(data: memoryview, separator: str, width: int) -> tuple[memoryview, list[str]]:
    """Return public text without the totals, sources and notes at its end, and sentences on what was left out.

    A line within a quotation is none of them, because the quotation's end is met first.
    """
    cut, kinds = data.nbytes, list[str]()
    for start, line in _backward(data):
        if not line.strip().strip(separator):
            continue
        kind = "" if line.count('"') % 2 else _kind(split(line, separator), width)
        if not kind:
            break
        cut, kinds = start, [*kinds, kind]
    if not kinds or len(kinds) > _MOST:
        return data, []
    return data[:cut], _remarks(kinds)


def drop_footers(columns: Sequence[list[Any]]) -> list[str]:
    """Remove the totals, sources and notes at the end of a public sheet; return sentences on what was left out."""
    kinds: list[str] = []
    for row in zip(*map(reversed, columns), strict=True):
        filled = max((place for place, cell in enumerate(row, 1) if cell is not None), default=0)
        kind = _kind(["" if cell is None else str(cell) for cell in row[:filled]], len(columns))
        if not kind:
            break
        kinds.append(kind)
    if not kinds or len(kinds) > _MOST or len(kinds) == len(columns[0]):
        return []
    for cells in columns:
        del cells[-len(kinds) :]
    return _remarks(kinds)


def _kind(cells: Sequence[str], width: int) -> str:
    """Return "total" or "note" for such a line, "" for a row."""
    return "total" if len(cells) <= width and _is_total(cells) else "note" if _is_note(cells, width) else ""


def _remarks(kinds: Sequence[str]) -> list[str]:
    """Return a sentence for each kind of lines that were left out."""
    totals, notes, sentences = kinds.count("total"), kinds.count("note"), []
    if totals:
        what = "The last line is a total of the others" if totals == 1 else f"{totals} last lines are totals of others"
        sentences.append(f"{what} and {'was' if totals == 1 else 'were'} left out.")
    if notes:
        what = "A line of notes or sources" if notes == 1 else f"{notes} lines of notes or sources"
        sentences.append(f"{what} at the end {'was' if notes == 1 else 'were'} left out.")
    return sentences


def _backward(data: memoryview) -> Iterator[tuple[int, str]]:
    """Yield the last whole lines, each with the place at which it starts, from the last one on."""
    first = max(0, data.nbytes - _TAIL)
    tail = bytes(data[first:])
    starts = [0, *(end.end() for end in _END.finditer(tail))]
    for at, after in reversed(list(zip(starts, [*starts[1:], len(tail)], strict=True))):
        if at:  # the first one may be cut, or the line of names
            yield first + at, tail[at:after].decode(errors="replace").rstrip("\r\n")


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"[-+\d.,\s%]+", cell) is not None
