"""Read an uploaded table: text, JSON, Parquet, Arrow, Stata or Excel, perhaps compressed with gzip.

An error is one sentence that may name a line and a column but never quotes a cell. The content is never evaluated,
written to disk or logged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import BinaryIO

from dpviz.datasets.readers.apart import read_apart
from dpviz.datasets.readers.form import Form
from dpviz.datasets.readers.formats import (
    FORMATS,
    REFUSED,
    declared_format,
    has_types,
    is_first_record,
    unplaced,
)
from dpviz.datasets.readers.recode import Recoding
from dpviz.datasets.readers.table import Column, Limits, Stopped, Table, TableError, too_large, too_much

__all__ = [
    "Column", "Form", "Limits", "Recoding", "Stopped", "Table", "TableError", "check_usable", "has_types",
    "read_table", "too_large",
]  # fmt: skip


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
    separator: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    names: Sequence[str] = (),
    n_columns: int | None = None,
    missing_marks: Sequence[str] | None = None,
    decimal_of: Mapping[str, str] | Sequence[tuple[str, str]] | None = None,
    no_missing_marks: Sequence[str] | None = None,
    lines_below: int | None = None,
    words: bool = False,
    limits: Limits | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> Table:
    """Read a table; the format of a public file is detected, that of a private file is declared (see `Form`).

    Parameters
    ----------
    source : bytes, a buffer, or an open binary file
    name : str, the file's name in messages; for a public file it serves no other purpose
    header, private, sheet, header_row, recode, separator, decimal, thousands, names, n_columns, missing_marks,
        decimal_of, no_missing_marks, lines_below :
        the declared format, see `Form`
    words : if True, accept a public table without a column of numbers if a rule could make numbers of one
    limits : Limits, the size guards
    on_progress : called with the fraction done, perhaps from other threads; may raise `Stopped`

    Raises
    ------
    TableError
        If the table cannot be used; the message says what is wrong, where, and what to do.
    """
    data = memoryview(source if isinstance(source, bytes | bytearray | memoryview) else source.read()).cast("B")
    limits, advance = limits or Limits(), on_progress or _ignore
    if data.nbytes == 0 and not private:  # an empty private file must not differ from its neighbor with one row
        raise TableError(f"{name}: the file is empty; drop a table with a header line and at least one row.")
    if data.nbytes > limits.bytes:
        raise too_large(name, limits)
    form = Form(
        header, private, sheet, header_row, tuple(recode), separator, decimal, thousands, tuple(names), n_columns,
        tuple(missing_marks or ()), decimal_of or (), tuple(no_missing_marks or ()), lines_below,  # type: ignore[arg-type]
    )  # fmt: skip
    head = bytes(data[:64])
    for magic, what in REFUSED.items():
        if head.startswith(magic) and not is_first_record(name, head, form):
            raise TableError(f"{name}: the content is {what}; {FORMATS}.")
    kind = declared_format(name, head, form)
    if problem := "" if kind == "gzip" else unplaced(kind, form):
        raise TableError(f"{name}: {problem} (on the command line: --sheet and --header-row).")
    try:
        if kind == "text" and not private:
            from dpviz.datasets.readers.text import is_split_slowly, read_text  # not before a file needs pandas

            table = (read_apart if is_split_slowly(data) else read_text)(data, name, form, limits, advance)
        else:
            table = read_apart(data, name, form, limits, advance)
    except MemoryError:
        raise too_much(name) from None
    _check_recoded(table, recode)
    if not (words and any(column.suggestion for column in table.columns)):
        check_usable(table)
    advance(1.0)
    return table


_MENDS = {  # kind of column -> how to turn it into numbers
    "text": "declare its numbers (on the command line: --recode COLUMN=one-hot:A,B,...)",
    "date": "declare its numbers (on the command line: --recode COLUMN=days:FIRST..LAST)",
    "time": "write its times as numbers, such as 8.5 for 08:30",
    "mixed": "say what stands for a missing cell, or where the names stand if they take two lines (on the command "
    "line: --missing-marks A,B or --header-row 2)",
    "nested": "write one number in each cell",
    "units": "write its numbers in one unit",
}


def check_usable(table: Table) -> None:
    """Refuse a public table without a column of numbers; in a private table, all columns count as numbers.

    The message omits the column's name, which may be a cell of the first row.

    Raises
    ------
    TableError
        If there is no such column; the message says why the first column cannot be used, and what to do.
    """
    if not table.usable:
        first = table.columns[0]
        mend = f"; {_MENDS[first.kind]}" if first.kind in _MENDS else ""
        raise TableError(
            f"{table.name}: no column can be used for clustering; column 1 was refused: "
            f"{first.reason[0].lower()}{first.reason[1:].split('. ')[0].rstrip('.')}{mend}."
        )


def _check_recoded(table: Table, recode: Sequence[Recoding]) -> None:
    """Refuse a rule for a missing column, and rules that make the same name twice."""
    names = [column.name for column in table.columns]
    for rule in recode:
        recoded = [column["name"] for column in rule.columns]
        if not set(recoded) <= set(names):
            raise TableError(f"{table.name}: there is no column {rule.column!r} to recode.")
        if any(names.count(name) > 1 for name in recoded):
            raise TableError(
                f"{table.name}: recoding {rule.column!r} makes a name that exists already; rename one column."
            )
