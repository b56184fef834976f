"""Store rows as JSON lines or CSV: each row is appended as one line in one write, and a torn last line is dropped."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from dpviz.sweeps.sweep import COLUMNS

__all__ = ["RowFile", "read_rows", "table"]


_DIGITS = 19  # a whole number with fewer digits than this fits in 64 bits


class RowFile:
    """An append-only file of rows. An interrupted sweep leaves at most one torn line, which is removed on opening.

    Parameters
    ----------
    path : a name ending in .csv or .jsonl
    """

    def __init__(self, path: Path) -> None:
        self._csv = _is_csv(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        length = _whole_lines(path.read_bytes())
        if length != path.stat().st_size:
            os.ftruncate(self._file, length)
        if self._csv and length == 0:
            self._write(COLUMNS)

    def append(self, row: Mapping[str, Any]) -> None:
        """Add one row, in one write."""
        if self._csv:
            self._write(["" if row[name] is None else row[name] for name in COLUMNS])
        else:
            os.write(self._file, (json.dumps(dict(row), allow_nan=False) + "\n").encode())

    def _write(self, cells: Any) -> None:
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(cells)
        os.write(self._file, line.getvalue().encode())

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def __enter__(self) -> RowFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_rows(path: Path) -> pd.DataFrame:
    """Return the first row of each key in a file, with the columns COLUMNS; lines that are not rows are skipped.

    Raises
    ------
    ValueError
        If the file is not empty but holds no row.
    """
    text = path.read_bytes() if path.is_file() else b""
    text = text[: _whole_lines(text)]
    if _is_csv(path):
        try:
            rows: list[dict[str, Any]] = list(csv.DictReader(io.StringIO(text.decode(errors="replace"))))
        except csv.Error:  # a cell of more than 128 kB, or an invalid byte
            raise ValueError(f"sweep: {path.name} cannot be read as rows of a sweep; choose another file.") from None
    else:
        rows = [row for row in map(_parse, text.splitlines()) if row is not None]
    by_key: dict[str, dict[str, Any]] = {}
    for row in rows:
        key = row.get("key")
        if isinstance(key, str) and len(key) == 24 and row.get("status") in ("ok", "failed") and _has_parameters(row):
            by_key.setdefault(key, row)
    if rows and not by_key:
        raise ValueError(f"sweep: {path.name} holds no rows of a sweep; choose another output file.")
    return table(list(by_key.values()))


def table(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return rows as a table with the columns COLUMNS; columns without text hold numbers, NaN if missing."""
    frame = pd.DataFrame(rows, columns=list(COLUMNS)).astype(object)
    return pd.DataFrame({name: _typed(column, name in _TEXT) for name, column in frame.items()})


def _typed(column: pd.Series, text: bool) -> pd.Series:
    return (
        column.where(column.notna(), "").astype(str) if text else pd.to_numeric(column, errors="coerce").astype(float)
    )


_TEXT = frozenset(
    {"key", "data", "bounds", "label", "algorithm", "name", "notion", "neighboring", "preset", "parameters"}
    | {"status", "reason", "version"}
)


def _is_csv(path: Path) -> bool:
    if path.suffix not in (".csv", ".jsonl"):
        raise ValueError(f"sweep: the name of the rows' file must end in .csv or .jsonl; got {path.name!r}.")
    return path.suffix == ".csv"


def _whole_lines(text: bytes) -> int:
    return text.rfind(b"\n") + 1


def _parse(line: bytes | str) -> dict[str, Any] | None:
    try:
        row = json.loads(line, parse_int=_whole)
    except (ValueError, RecursionError):  # a torn line, or brackets nested too deeply
        return None
    return row if isinstance(row, dict) else None


def _whole(digits: str) -> float:
    """Parse a whole number; one with too many digits becomes a float, possibly infinite."""
    return int(digits) if len(digits) < _DIGITS else float(digits)


def _has_parameters(row: Mapping[str, Any]) -> bool:
    text = row.get("parameters") or "{}"
    return isinstance(text, str) and _parse(text) is not None
