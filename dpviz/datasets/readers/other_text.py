"""Text that is no table of separated cells: each kind is recognized by its first lines and gets its own sentence."""

from __future__ import annotations

import re
from collections.abc import Callable

from dpviz.datasets.readers.lines import blocks, words
from dpviz.datasets.readers.names import is_value
from dpviz.datasets.readers.table import TableError

__all__ = ["refuse_other_text", "separated", "spaced"]

_LINES = 100  # of the first lines are looked at


def _is_markup(head: str) -> bool:
    return re.match(r"\s*<([?!]|[A-Za-z][\w:-]*[\s>/])", head) is not None


def refuse_other_text(head: str, name: str) -> None:
    """Refuse text in another form than separated cells.

    Raises
    ------
    TableError
        The sentence of the form that it has.
    """
    if _is_markup(head):
        raise TableError(f"{name}: the content is XML or HTML; save it as CSV with a header line.")


def spaced(head: str) -> int:
    """Return how many words every line has, where cells are separated by white space alone; else 0.

    The first line may have one less: R writes the names of rows, and no name for them. Numbers whose thousands are
    grouped by spaces are no such table: they stand below a name of one word.
    """
    lines = [words(line) for line in head.splitlines()[:_LINES] if line.strip()]
    widths = {len(line) for line in lines[1:]} or {len(line) for line in lines}
    if len(widths) != 1 or (width := widths.pop()) < 2 or len(lines[0]) not in (width, width - 1) or len(lines[0]) < 2:
        return 0
    return width if any(is_value(word) for line in lines for word in line) else 0


def separated(data: memoryview, width: int, advance: Callable[[float], None]) -> memoryview:
    """Return a table of white space as one of tabs; rows without a name for their own names get an empty one."""
    made, at, first = [], 0, True
    for block in blocks(data):
        lines = [words(line) for line in block.decode().splitlines() if line.strip()]
        if first and lines:
            first = False
            if len(lines[0]) == width - 1:
                lines[0].insert(0, "")
        made += ["\t".join(cell.replace("\t", " ") for cell in line) + "\n" for line in lines]
        made = ["".join(made)]
        at += len(block)
        advance(0.4 * at / data.nbytes)
    return memoryview("".join(made).encode())
