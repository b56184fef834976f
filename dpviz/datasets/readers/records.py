"""Read JSON files: a list of records, or one record per line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from typing import Any

from dpviz.datasets.readers.cells import columns_of_cells
from dpviz.datasets.readers.form import Form
from dpviz.datasets.readers.names import cleaned, named, numbered
from dpviz.datasets.readers.other_text import as_csv
from dpviz.datasets.readers.table import NO_ROWS, Limits, Table, TableError, faults_as, precision, table_of

__all__ = ["read_json"]

LINES = (".jsonl", ".ndjson")  # endings of files with one record per line
_HEARD = 5000  # number of records between two checks whether to stop
_NO_RECORDS = (
    "{}: the content is JSON, but not a list of records or one record per line; save it as one of these, or as CSV."
)
_ASKED = (
    "{}: a record must not decide which keys are read: declare the keys of the first record to be the columns "
    "(--header), or name the columns (--columns)."
)
_ONE_TEXT = (
    "{}: one record whose quotes or brackets do not close would change how a JSON list is read, so private records are "
    "read from lines only: save one record per line in a file that ends in .jsonl."
)


def read_json(data: memoryview, name: str, form: Form, limits: Limits, advance: Callable[[float], None]) -> Table:
    """Read records; each key becomes a column, with a missing cell for every record that lacks the key.

    Private records come one per line: the end of a line is the only end of a record that no record can move.
    """
    return (_read_private if form.private else _read_public)(data, name, form, limits, advance)


def _read_public(data: memoryview, name: str, form: Form, limits: Limits, advance: Callable[[float], None]) -> Table:
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
                    columns[key] = []
                _put(columns[key], n_rows, cell)
            n_rows += 1
    for cells in columns.values():
        _pad(cells, n_rows)
    if not columns:
        raise TableError(f"{name}: {NO_ROWS}")
    width = len(columns)
    limits.check(name, n_rows, width)
    names, notes = (numbered(width), []) if form.header is False else named(name, list(columns), sure=bool(form.header))
    dtype = precision(n_rows, width, form)
    table = [
        column
        for public, cells in zip(names, columns.values(), strict=True)
        for column in columns_of_cells(public, cells, dtype, form)
    ]
    return table_of(name, table, n_rows, notes)


def _put(cells: list[Any], row: int, cell: Any) -> None:
    """Append a row's cell to a column, after missing cells for the rows without this key."""
    _pad(cells, row)
    cells.append(cell)


def _pad(cells: list[Any], n_rows: int) -> None:
    cells.extend([None] * (n_rows - len(cells)))


def _read_private(data: memoryview, name: str, form: Form, limits: Limits, advance: Callable[[float], None]) -> Table:
    """Read the declared keys or, if the owner has confirmed them, those of the first record; ignore all other keys.

    An invalid record becomes a row of missing cells.
    """
    if not name.lower().removesuffix(".gz").endswith(LINES):
        raise TableError(_ONE_TEXT.format(name))
    names, n_rows = list(form.names), 0
    notes: list[str] = []
    columns: dict[str, list[Any]] = {}
    for record in _each(bytes(data).decode("utf-8-sig", errors="replace")):
        if n_rows % _HEARD == 0:
            advance(min(0.9, n_rows / (n_rows + 50_000)))
            limits.check(name, n_rows, len(columns))
        if not names and form.header:
            names, notes = named(name, _cleaned_keys(record), sure=True)
        if not columns:
            if not names:
                break
            limits.check(name, 0, len(names))
            columns = {public: [] for public in names}
        for key, cell in _declared(record, columns).items():
            _put(columns[key], n_rows, cell)
        n_rows += 1
    if not names:
        raise TableError((_NO_RECORDS if form.header else _ASKED).format(name))
    columns = columns or {public: [] for public in names}
    for cells in columns.values():
        _pad(cells, n_rows)
    limits.check(name, n_rows, len(columns))
    table = [column for public in names for column in columns_of_cells(public, columns.pop(public), float, form)]
    return table_of(name, table, n_rows, notes)


def _cleaned_keys(record: Any) -> list[str]:
    """Return a record's keys as clean column names, without repetitions."""
    return list(dict.fromkeys(map(cleaned, record))) if isinstance(record, dict) else []


def _declared(record: Any, names: Collection[str]) -> dict[str, Any]:
    """Return a record's cells by declared name; if two keys give one name, a key that equals the name wins."""
    if not isinstance(record, dict):
        return {}
    cells: dict[str, Any] = {}
    for key, cell in record.items():
        public = key if key in names else cleaned(key)
        if public in names and (public == key or public not in record):
            cells.setdefault(public, cell)
    return cells


def _each(text: str) -> Iterator[Any]:
    """Yield each line that is not blank, parsed on its own; None if it cannot be parsed."""
    for line in text.split("\n"):
        if line.strip():
            yield _parsed(line)


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _refuse_whole(text: str, name: str) -> None:
    """Refuse a single object that holds a whole table; the message gives the command that turns it into records."""
    try:
        whole = json.loads(text) if text.startswith("{") else None
    except (ValueError, RecursionError):
        return
    if not isinstance(whole, dict) or not any(isinstance(cell, dict | list) for cell in whole.values()):
        return
    if isinstance(whole.get("features"), list):
        opened = "gzip.open" if name.endswith(".gz") else "open"
        hint = as_csv(name, "gzip, json, pandas", f"pandas.json_normalize(json.load({opened}(FILE))['features'])")
        raise TableError(f"{name}: the content is a map (GeoJSON or ESRI); make a table of its features: {hint}.")
    code = _table_in(whole, "gzip.open" if name.endswith(".gz") else "open")
    hint = as_csv(name, "gzip, json, pandas" if "json.load" in code else "pandas", code)
    raise TableError(f"{name}: the content is one JSON object, and a list of records is needed; make a table: {hint}.")


def _table_in(whole: dict[str, Any], opened: str) -> str:
    """Return Python code that makes a table of an object: of its records, its lists of cells, or its columns."""
    loaded = f"json.load({opened}(FILE))"
    plain = re.compile(r"[\w .-]+", re.ASCII)  # nothing else may reach a shell
    lists = {key: cell[0] for key, cell in whole.items() if plain.fullmatch(key) and isinstance(cell, list) and cell}
    if key := next((key for key, first in lists.items() if isinstance(first, dict)), ""):
        return f"pandas.json_normalize({loaded}[{key!r}])"
    if not (key := next((key for key, first in lists.items() if isinstance(first, list)), "")):
        return "pandas.read_json(FILE)"
    cells = f"pandas.DataFrame((d := {loaded})[{key!r}]"
    if isinstance(whole.get("columns"), list):
        return f"{cells}, columns=d['columns'])"
    with suppress(KeyError, TypeError):  # as the portals of cities write it
        if all(isinstance(column["name"], str) for column in whole["meta"]["view"]["columns"]):
            return f"{cells}, columns=[one['name'] for one in d['meta']['view']['columns']])"
    return f"{cells}).add_prefix('column ')"


def _records(data: bytes, name: str) -> Iterator[dict[str, Any]]:
    """Yield the records: the objects in a list, or one object per line; refuse anything else."""
    text = data.decode("utf-8-sig").strip()
    _refuse_whole(text, name)
    lines = (json.loads(line) for line in text.splitlines() if line.strip())
    for record in json.loads(text) if text.startswith("[") and text.endswith("]") and not _lists(text) else lines:
        if not isinstance(record, dict):
            raise TableError(_NO_RECORDS.format(name))
        yield record


def _lists(text: str) -> bool:
    """Return whether the text begins with two lines that are separate lists."""
    return re.fullmatch(r"\[[^\n]*\]\s*\n\[[^\n]*\].*", text, re.DOTALL) is not None
