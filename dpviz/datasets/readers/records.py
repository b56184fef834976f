"""JSON: a list of records, or one record a line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from dpviz.datasets.readers.cells import columns_of_cells
from dpviz.datasets.readers.names import named, numbered
from dpviz.datasets.readers.table import NO_ROWS, Form, Limits, Table, TableError, faults_as, precision, table_of

__all__ = ["read_json"]

_HEARD = 5000  # records between two chances to stop


def read_json(data: memoryview, name: str, form: Form, limits: Limits, advance: Callable[[float], None]) -> Table:
    """Read records; a key is a column, and a record without it has a missing cell there."""
    columns: dict[str, list[Any]] = {}
    n_rows = 0
    with faults_as(f"{name}: the text is not valid JSON; save it again, or as CSV with a header line."):
        for record in _records(bytes(data), name):
            if n_rows % _HEARD == 0:
                advance(min(0.9, n_rows / (n_rows + 50_000)))
                limits.check(name, n_rows, len(columns))
            for key, cell in record.items():
                if key not in columns:
                    limits.check(name, n_rows, len(columns) + 1)
                    columns[key] = [None] * n_rows
                columns[key].append(cell)
            n_rows += 1
            for cells in columns.values():
                if len(cells) < n_rows:
                    cells.append(None)
    if not columns:
        raise TableError(f"{name}: {NO_ROWS}")
    width = len(columns)
    limits.check(name, n_rows, width)
    names, notes = (numbered(width), []) if form.header is False else named(name, list(columns))
    dtype = precision(n_rows, width, form)
    found = [
        column
        for public, cells in zip(names, columns.values(), strict=True)
        for column in columns_of_cells(public, cells, dtype, form)
    ]
    return table_of(name, found, n_rows, notes)


def _records(data: bytes, name: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of a list, or of lines; anything else is refused."""
    text = data.decode("utf-8-sig").strip()
    lines = (json.loads(line) for line in text.splitlines() if line.strip())
    for record in json.loads(text) if text.startswith("[") and text.endswith("]") and not _lists(text) else lines:
        if not isinstance(record, dict):
            raise TableError(
                f"{name}: the content is JSON but no list of records and no record a line; save it so, or as CSV."
            )
        yield record


def _lists(text: str) -> bool:
    """Return whether every line is a list of its own."""
    return re.fullmatch(r"\[[^\n]*\]\s*\n\[[^\n]*\].*", text, re.DOTALL) is not None
