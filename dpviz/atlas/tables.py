"""The atlas's Parquet files as tables of Arrow; this module alone imports Arrow, when a file is opened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

__all__ = ["Fault", "arrays", "of_people", "read", "write"]

Fault = pa.ArrowException


def _type(kind: Any) -> pa.DataType:
    """Return a type of Arrow from its name, a list with one kind, or a dictionary of kinds."""
    if isinstance(kind, list):
        return pa.list_(_type(kind[0]))
    if isinstance(kind, dict):
        return pa.struct([(name, _type(own)) for name, own in kind.items()])
    return pa.type_for_alias(kind)


def _schema(kinds: dict[str, Any]) -> pa.Schema:
    return pa.schema([(name, _type(kind)) for name, kind in kinds.items()])


def write(
    path: Path,
    rows: list[dict[str, Any]],
    kinds: dict[str, Any],
    facts: dict[str, Any],
    *,
    words: list[str],
    floats: list[str],
) -> None:
    """Write rows with columns of these kinds, and facts beside them.

    `words` names the columns with few distinct values, and `floats` those with many digits.
    """
    table = pa.Table.from_pylist(rows, _schema(kinds))
    pq.write_table(
        table.replace_schema_metadata({"dpviz": json.dumps(facts)}),
        path,
        compression="zstd",
        compression_level=19,
        use_dictionary=words,
        column_encoding=dict.fromkeys(floats, "BYTE_STREAM_SPLIT"),
        write_statistics=False,
        write_page_checksum=True,
    )


def read(path: Path, kinds: dict[str, Any]) -> tuple[pa.Table, dict[str, Any]]:
    """Return a file's table, with columns of these kinds, and its facts."""
    with pq.ParquetFile(path, page_checksum_verification=True) as file:
        table = file.read(use_threads=False)
    facts = json.loads((table.schema.metadata or {}).get(b"dpviz", b"{}"))
    return table.cast(_schema(kinds).with_metadata(table.schema.metadata)), facts


def of_people(table: pa.Table, people: int) -> pa.Table:
    """Return the rows of runs with this number of people."""
    return table.filter(pc.equal(table["people"], people))


def arrays(lists: pa.ChunkedArray) -> list[np.ndarray | None]:
    """Return a column of lists as arrays; a missing list is None."""
    ends = np.cumsum(pc.fill_null(pc.list_value_length(lists), 0).to_numpy())[:-1]
    values = np.split(lists.combine_chunks().flatten().to_numpy(), ends)
    return [None if missing else own for own, missing in zip(values, lists.is_null().to_pylist(), strict=True)]
