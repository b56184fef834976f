"""Read a table somebody dropped: CSV, TSV, Parquet or Excel. What is wrong is one sentence without a cell's value.

Nothing is evaluated, written to disk or logged. A message may name a line and a column, never what stands there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import BinaryIO

from dpviz.datasets.readers.apart import read_apart
from dpviz.datasets.readers.table import Column, Form, Limits, Stopped, Table, TableError, too_much
from dpviz.datasets.readers.text import read_text

__all__ = ["Column", "Form", "Limits", "Stopped", "Table", "TableError", "read_table"]

_APART = (b"PK\x03\x04", b"PAR1")  # workbooks and Parquet files
_REFUSED = {
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"%PDF": "a PDF document",
    b"\x1f\x8b": "a gzip archive; unpack it first",
    b"7z\xbc\xaf": "a 7z archive; unpack it first",
    b"PK\x05\x06": "an empty zip archive",
    b"\xd0\xcf\x11\xe0": "an old or password-protected Office file; save it as .xlsx without a password, or as CSV",
    b"SQLite format 3": "a SQLite database; export the table as CSV",
    b"ARROW1": "an Arrow file; save it as Parquet",
    b"PARE": "an encrypted Parquet file; save it without encryption",
}


def _ignore(fraction: float) -> None:
    """Report nothing."""


def read_table(
    source: bytes | bytearray | memoryview | BinaryIO,
    name: str,
    *,
    header: bool | None = None,
    private: bool = False,
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
    head = bytes(data[:16])
    for magic, what in _REFUSED.items():
        if head.startswith(magic):
            raise TableError(f"{name}: the content is {what}; a table in CSV, TSV, Parquet or Excel form is needed.")
    reader = read_apart if head.startswith(_APART) else read_text
    try:
        table = reader(data, name, Form(header, private), limits, advance)
    except MemoryError:
        raise too_much(name) from None
    advance(1.0)
    return table
