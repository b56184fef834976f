"""Read Parquet files: check the footer before unpacking anything, and skip columns that cannot be used."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dpviz.datasets.readers.arrow import kind_of, raw_of
from dpviz.datasets.readers.columns import columns_of, own_numbers
from dpviz.datasets.readers.form import Form
from dpviz.datasets.readers.names import named, numbered
from dpviz.datasets.readers.recode import recoded
from dpviz.datasets.readers.table import (
    INDEX,
    Column,
    Limits,
    Table,
    TableError,
    faults_as,
    own_columns,
    precision,
    refused,
    table_of,
    usable,
)

__all__ = ["read_parquet"]

_BATCH = 131_072


def read_parquet(data: memoryview, name: str, form: Form, limits: Limits, advance: Callable[[float], None]) -> Table:
    """Read the columns of a Parquet file that hold numbers, true/false values, words or dates."""
    with faults_as(f"{name}: the Parquet file is damaged or cut off; write it again."):
        file = pq.ParquetFile(pa.BufferReader(pa.py_buffer(data)))
        schema, n_rows = file.schema_arrow, file.metadata.num_rows
        if form.private:
            schema = pa.schema([field for field in schema if not field.name.startswith(INDEX)])
        if len(set(schema.names)) < len(schema.names):
            raise TableError(f"{name}: two columns have the same name; rename one.")
        if not schema.names or (n_rows == 0 and not form.private):
            raise TableError(f"{name}: the table has no rows; at least one is needed.")
        limits.check(name, n_rows, len(schema.names))
        width = len(schema.names)
        names, notes = (
            (numbered(width), []) if form.header is False else named(name, schema.names, sure=bool(form.header))
        )
        recode = {
            field.name: public for public, field in zip(names, schema, strict=True)
            if recoded(form.recode, public) or (not form.private and _has_words(field))
        }  # fmt: skip
        columns = {
            field.name: None if field.name in recode else _without_reading(public, field, n_rows, form)
            for public, field in zip(names, schema, strict=True)
        }
        wanted = {
            public: field
            for public, (field, column) in zip(names, columns.items(), strict=True)
            if column is None and field not in recode
        }
        values = {field: np.empty(n_rows, precision(n_rows, width, form)) for field in wanted.values()}
        at = 0
        for batch in file.iter_batches(_BATCH, columns=list(wanted.values())):
            for public, field in wanted.items():
                values[field][at : at + batch.num_rows] = own_numbers(
                    raw_of(batch.column(field)), form.signs_of(public), form.missing_marks
                )
            at += batch.num_rows
            advance(0.9 * at / max(n_rows, 1))
        if wanted and at != n_rows:
            raise TableError(f"{name}: the Parquet file is damaged or cut off; write it again.")
        dtype = precision(n_rows, width, form)
        by_name = {
            field: columns_of(public, raw_of(file.read([field]).column(0)), dtype, form)
            for field, public in recode.items()
        }
    pa.default_memory_pool().release_unused()
    parsed = [
        column
        for public, field in zip(names, schema, strict=True)
        for column in by_name.get(field.name)
        or [columns[field.name] or _finished(public, field, values[field.name], form)]
    ]
    return table_of(name, parsed, n_rows, notes)


def _has_words(field: pa.Field) -> bool:
    """Return whether a column may hold dates, or words that name known groups."""
    return kind_of(field.type) in {"text", "date"} and not field.name.startswith(INDEX)


def _without_reading(name: str, field: pa.Field, n_rows: int, form: Form) -> Column | None:
    """Return a column whose type alone says that it cannot be used, or None if the column must be read."""
    kind = "text" if pa.types.is_dictionary(field.type) else kind_of(field.type)
    if form.private:
        return (
            None if kind in {"number", "true/false", "text"} else own_columns(name, [np.full(n_rows, np.nan)], form)[0]
        )
    if field.name.startswith(INDEX):
        return refused(name, "index")
    return None if kind in {"number", "true/false"} else refused(name, kind)


def _finished(name: str, field: pa.Field, values: np.ndarray, form: Form) -> Column:
    if form.private:
        return own_columns(name, [values], form)[0]
    return usable(name, kind_of(field.type), values)
