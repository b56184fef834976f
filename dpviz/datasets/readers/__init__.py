"""Read a table somebody dropped: text, JSON, Parquet, Arrow, Stata or Excel, perhaps packed by gzip.

What is wrong is one sentence without a cell's value. Nothing is evaluated, written to disk or logged. A message may
name a line and a column, never what is there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import BinaryIO

from dpviz.datasets.readers.apart import read_apart
from dpviz.datasets.readers.formats import REFUSED, format_of
from dpviz.datasets.readers.recode import Recoding
from dpviz.datasets.readers.table import Column, Form, Limits, Stopped, Table, TableError, too_much
from dpviz.datasets.readers.text import read_text

__all__ = ["Column", "Form", "Limits", "Recoding", "Stopped", "Table", "TableError", "read_table"]


def _ignore(fraction: float) -> None:
    """Report nothing."""


def read_table(
    source: bytes | bytearray | memoryview | BinaryIO,
    name: str,
    *,
    header: bool | None = None,
    private: bool = False,
    sheet: str | None = None,
    header_row: int | None = None,
    recode: Sequence[Recoding] = (),
    limits: Limits | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> Table:
    """Read a table by its content; the name only serves the messages.

    Parameters
    ----------
    source : bytes, a buffer, or an open binary file
    name : str, how messages call the file
    header : whether the first line holds names of columns, as the owner has said; None: nobody has, and a first line
        that holds a value is refused
    private : no sentence and no kind of a column may follow from a cell or from the number of rows
    sheet : name or number of a workbook's sheet; None: the first that does not hold notes
    header_row : line or row where the table begins, counted from 1
    recode : which columns of words and dates become numbers, and how
    limits : Limits, the size guards
    on_progress : called with the fraction done, perhaps from other threads; may raise `Stopped`

    Raises
    ------
    TableError
        One sentence: what is wrong, where, what to do.
    """
    data = memoryview(source if isinstance(source, bytes | bytearray | memoryview) else source.read()).cast("B")
    limits, advance = limits or Limits(), on_progress or _ignore
    if data.nbytes == 0:
        raise TableError(f"{name}: the file is empty; drop a table with a header line and at least one row.")
    if data.nbytes > limits.bytes:
        raise TableError(f"{name}: the file is larger than {limits.bytes // 1_000_000:,} MB; drop a smaller one.")
    head = bytes(data[:64])
    for magic, what in REFUSED.items():
        if head.startswith(magic):
            raise TableError(f"{name}: the content is {what}; a table in CSV, TSV, Parquet or Excel form is needed.")
    reader = read_text if format_of(head) == "text" else read_apart
    try:
        table = reader(data, name, Form(header, private, sheet, header_row, tuple(recode)), limits, advance)
    except MemoryError:
        raise too_much(name) from None
    _check_recoded(table, recode)
    advance(1.0)
    return table


def _check_recoded(table: Table, recode: Sequence[Recoding]) -> None:
    """Refuse a rule for a column that is not there, or that makes a name twice."""
    names = [column.name for column in table.columns]
    for rule in recode:
        made = [column["name"] for column in rule.columns]
        if not set(made) <= set(names):
            raise TableError(f"{table.name}: there is no column {rule.column!r} to recode.")
        if any(names.count(name) > 1 for name in made):
            raise TableError(f"{table.name}: recoding {rule.column!r} makes a name that is there twice; rename one.")
