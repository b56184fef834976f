"""Refuse text that is not a table of separated cells.

Each kind of text is recognized by its first lines; the error says how to make a table of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from dpviz.datasets.readers.lines import blocks, words
from dpviz.datasets.readers.names import is_value
from dpviz.datasets.readers.table import TableError

__all__ = ["as_csv", "refuse_other_text", "separated", "spaced"]

_LINES = 100  # number of first lines that are inspected


_MARKUP = re.compile(r"\s*<([?!]|[A-Za-z][\w:-]*[\s>/])")
_ARFF = re.compile(r"(\s*%.*\n|\s*\n)*\s*@relation\b", re.IGNORECASE)
_MATRIX = re.compile(r"%%MatrixMarket\b")
_PAIRS = re.compile(r"[+-]?\d[\d.]*( \d+:[^\s:]+)+ *\n[+-]?\d[\d.]*( \d+:[^\s:]+)+ *(\n|$)")


def as_csv(name: str, modules: str, table: str) -> str:
    """Return a shell command that converts a file to CSV; `table` is Python code that reads the table from FILE."""
    program = f"{table}.to_csv({name.split('.')[0] + '.csv'!r}, index=False)".replace("FILE", repr(name))
    return f'python -c "import {modules}; {program}"'


def _is_fixed_width(head: str) -> bool:
    """Return whether the lines after the first have equal lengths and contain spaces but no separator of cells."""
    lines = [line for line in head.splitlines()[:_LINES] if line.strip()]
    return (
        len(lines) > 2
        and len({len(line) for line in lines[1:]}) == 1
        and any(re.search(r"\S\s+\S", line) for line in lines[1:])
        and any(sign.isdigit() for sign in lines[1])
        and not any(set(line) & set(',;|\t"') for line in lines)
        and not any(map(is_value, lines[1:]))
        and not spaced(head)
    )


def refuse_other_text(head: str, name: str) -> None:
    """Refuse text that is not a table of separated cells.

    Raises
    ------
    TableError
        If the text has another format; the message names it.
    """
    if head.lower().lstrip('"').startswith("sep="):
        raise TableError(
            f"{name}: its first line says which sign separates cells, as Excel writes it, so the names are on line 2 "
            "(on the command line: --header-row 2, and --separator with that sign)."
        )
    if _MARKUP.match(head):
        raise TableError(f"{name}: the content is XML or HTML; save it as CSV with a header line.")
    if _ARFF.match(head):
        lines = [line.strip().lower() for line in head.splitlines()]
        first = str(lines.index("@data") + 2) if "@data" in lines else "N, the line below @data"
        raise TableError(
            f"{name}: the content is an ARFF file, which keeps its names outside the table (on the command line: "
            f"--no-header --header-row {first})."
        )
    if _MATRIX.match(head):
        advice = as_csv(name, "pandas, scipy.io", "pandas.DataFrame(scipy.io.mmread(FILE).toarray()).add_prefix('x')")
        raise TableError(f"{name}: the content is a sparse matrix; make a table of it: {advice}.")
    if _PAIRS.match(head):
        table = "pandas.DataFrame(sklearn.datasets.load_svmlight_file(FILE)[0].toarray()).add_prefix('x')"
        advice = as_csv(name, "pandas, sklearn.datasets", table)
        raise TableError(f"{name}: the content is a sparse matrix; make a table of it: {advice}.")
    if _is_fixed_width(head):
        advice = as_csv(name, "pandas", "pandas.read_fwf(FILE)")
        raise TableError(
            f"{name}: its columns have a fixed width and no separator; convert it to CSV: {advice} (with "
            "header=None after the name if the first line holds no names)."
        )


def spaced(head: str) -> int:
    """Return the number of words per line if white space alone separates cells, else 0.

    The first line may have one word fewer, because R writes row names without a heading. Numbers with spaces between
    thousands do not count as such a table, because their header is a single word.
    """
    lines = [words(line) for line in head.splitlines()[:_LINES] if line.strip()]
    widths = {len(line) for line in lines[1:]} or {len(line) for line in lines}
    if len(widths) != 1 or (width := widths.pop()) < 2 or len(lines[0]) not in (width, width - 1) or len(lines[0]) < 2:
        return 0
    return width if any(is_value(word) for line in lines for word in line) else 0


def separated(data: memoryview, width: int, advance: Callable[[float], None]) -> memoryview:
    """Return a table with tabs in place of white space; row names get an empty heading if they have none."""
    cells, at, first = [], 0, True
    for block in blocks(data):
        lines = [words(line) for line in block.decode().splitlines() if line.strip()]
        if first and lines:
            first = False
            if len(lines[0]) == width - 1:
                lines[0].insert(0, "")
        cells += ["\t".join(cell.replace("\t", " ") for cell in line) + "\n" for line in lines]
        cells = ["".join(cells)]
        at += len(block)
        advance(0.4 * at / data.nbytes)
    return memoryview("".join(cells).encode())
