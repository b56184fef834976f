"""Read Feather and Arrow files, and convert Arrow tables."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.feather as feather

from dpviz.datasets.readers.columns import columns_of
from dpviz.datasets.readers.form import Form
from dpviz.datasets.readers.names import named, numbered
from dpviz.datasets.readers.table import (
    INDEX,
    NO_ROWS,
    Column,
    Limits,
    Table,
    TableError,
    faults_as,
    precision,
    refused,
    table_of,
)

__all__ = ["from_arrow", "read_arrow"]


def read_arrow(data: memoryview, name: str, form: Form, limits: Limits, advance: Callable[[float], None]) -> Table:
    """Read a Feather or Arrow file."""
    with faults_as(f"{name}: the Arrow file is damaged or cut off; write it again."):
        cells = feather.read_table(pa.BufferReader(pa.py_buffer(data)), memory_map=False)
        advance(0.5)
        return from_arrow(cells, name, form, limits)


def from_arrow(cells: pa.Table, name: str, form: Form, limits: Limits) -> Table:
    """Convert a table of typed Arrow columns."""
    if form.private:  # pandas' index keeps the old row numbers, so it would show that a writer dropped rows
        cells = cells.drop_columns([field for field in cells.column_names if field.startswith(INDEX)])
    n_rows, width = cells.num_rows, cells.num_columns
    if not width or (n_rows == 0 and not form.private):
        raise TableError(f"{name}: {NO_ROWS}")
    limits.check(name, n_rows, width)
    names, notes = (
        (numbered(width), []) if form.header is False else named(name, cells.column_names, sure=bool(form.header))
    )
    dtype = precision(n_rows, width, form)

    def made(public: str, at: int) -> list[Column]:
        if cells.column_names[at].startswith(INDEX):
            return [refused(public, "index")]
        return columns_of(public, cells.column(at), dtype, form)

    return table_of(name, [column for at, public in enumerate(names) for column in made(public, at)], n_rows, notes)
