"""Read Feather and Arrow files, and convert Arrow tables."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.feather as feather

from dpviz.datasets.readers.columns import columns_of
from dpviz.datasets.readers.form import Form
from dpviz.datasets.readers.names import named, numbered
from dpviz.datasets.readers.raw import Raw, Words
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

__all__ = ["from_arrow", "kind_of", "raw_of", "read_arrow"]

_PART = 1 << 18  # number of cells of text that are held as Python's strings at a time


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
        return columns_of(public, raw_of(cells.column(at)), dtype, form)

    return table_of(name, [column for at, public in enumerate(names) for column in made(public, at)], n_rows, notes)


def kind_of(type_: pa.DataType) -> str:
    """Return the kind of an Arrow type."""
    if pa.types.is_dictionary(type_):
        return kind_of(type_.value_type)
    if pa.types.is_boolean(type_):
        return "true/false"
    if pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_decimal(type_):
        return "number"
    if pa.types.is_date(type_) or pa.types.is_timestamp(type_):
        return "date"
    if pa.types.is_temporal(type_):
        return "time"
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        return "text"
    return "empty" if pa.types.is_null(type_) else "nested"


def raw_of(cells: pa.ChunkedArray | pa.Array) -> Raw:
    """Return a column of Arrow cells, each read independently of the others."""
    if pa.types.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    kind = kind_of(cells.type) if cells.null_count < len(cells) else "empty"
    if kind == "text":
        chunks = cells.chunks if isinstance(cells, pa.ChunkedArray) else [cells]
        parts = [chunk.slice(at, _PART) for chunk in chunks for at in range(0, len(chunk), _PART)]
        return Raw(kind, None, tuple(map(_words, parts)))
    if kind in ("number", "true/false"):
        return Raw(kind, _floats(cells))
    if kind == "date":
        return Raw(kind, np.floor(_floats(cells.cast(pa.timestamp("s"), safe=False).cast(pa.int64())) / 86_400))
    return Raw(kind, np.full(len(cells), np.nan))


def _words(cells: pa.Array) -> Words:
    encoded = pc.dictionary_encode(cells)
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return Words(Words.of(encoded.dictionary.to_pylist()).cells, codes)


def _floats(cells: pa.ChunkedArray | pa.Array) -> np.ndarray:
    return np.asarray(pc.cast(cells, pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=float)
