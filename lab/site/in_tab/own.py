"""Hold the visitor's own file in the worker's memory: its columns, and its rows within declared bounds."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from dpviz.datasets import Dataset, from_table
from dpviz.datasets.dictionary import complete, domain_of
from dpviz.datasets.drafting import draft
from dpviz.datasets.meanings import meaning_of
from dpviz.datasets.readers import Limits, Table, TableError, read_table, too_large
from dpviz.datasets.readers.form import NUMBERS
from dpviz.domain import Domain

from .forms import answered

__all__ = ["NAME", "Read", "declared", "domain", "opened", "private", "public"]

NAME = "file:"  # the name of the data that the form's columns describe
MOST = 12  # maximum number of columns that are ticked at first
HEAD = 1 << 17  # number of bytes of a private file in which its line of names must end
TEXT = (".csv", ".tsv", ".txt")  # endings of private files that are read here

Read = Callable[[int, int], Any]  # returns a buffer with the file's bytes from one place up to another


@dataclasses.dataclass(frozen=True, eq=False)
class _File:
    """The open file.

    Attributes
    ----------
    table : its rows or, of a private file, its names alone
    facts : the dictionary that was drafted for it
    form : how it is read
    size : number of bytes
    """

    table: Table
    facts: dict[str, Any]
    form: dict[str, Any]
    size: int

    @property
    def private(self) -> bool:
        return bool(self.form["private"])


_MOST_ROWS = 10**9

_files: list[_File] = []  # the open file, if there is one


def opened(asked: str, read: Read) -> str:
    """Open a file; return its `columns` with what is proposed for each, and `notes` on its form, or `refused`.

    Parameters
    ----------
    asked : JSON with the file's `name` and `size` in bytes, how its `numbers` look ("": as detected), and whether it is
        `private`; the first line of a private file must be said to hold `names`, and nothing but this line is read
    read : function that returns bytes of the file
    """
    return answered(asked, lambda form: _opened(form, read))


def _opened(form: dict[str, Any], read: Read) -> dict[str, Any]:
    _files.clear()
    public.cache_clear()
    name = str(form["name"])[-60:]
    if form["size"] > Limits().bytes:
        raise too_large(name, Limits())
    how: dict[str, Any] = {"private": bool(form["private"])}
    if form["numbers"]:
        how |= dict(zip(("decimal", "thousands"), NUMBERS[form["numbers"]], strict=True))
    if how["private"]:
        how["header"] = True
        table = read_table(_names(name, form, read), name, **how)
    else:
        table = read_table(bytes(read(0, form["size"])), name, **how)
    if table.doubtful:
        raise TableError(
            f"{name}: in column {table.doubtful[0].name!r} a sign may group thousands or be the decimal sign; say how "
            "numbers look, and open the file again."
        )
    facts = draft(table, {}, private=how["private"])
    _files.append(_File(table, facts, how, form["size"]))
    rows = None if how["private"] else table.n_rows
    return {"name": name, "columns": _proposed(facts, how["private"]), "notes": [*table.notes], "rows": rows}


def _names(name: str, form: dict[str, Any], read: Read) -> bytes:
    """Return the first line of a private file that is not empty.

    Raises
    ------
    TableError
        If the line is not said to hold names, or the file is not text.
    """
    if not form["names"]:
        raise TableError(
            f"{name}: a private file needs a first line with the names of its columns; say that it has one, or add it."
        )
    if not name.lower().endswith(TEXT):
        raise TableError(f"{name}: a private file must be text here, with an ending such as .csv or .tsv.")
    head = bytes(read(0, min(form["size"], HEAD + 1)))
    start = len(head) - len(head.lstrip(b"\r\n"))
    ends = [place for place in (head.find(b"\n", start), head.find(b"\r", start)) if place >= 0]
    return head[: min(ends)] if ends else head


def _proposed(facts: dict[str, Any], private: bool) -> list[dict[str, Any]]:
    """Return a line of the form for each column, and the reason for each that is left out.

    Of a private file only the names say anything: what they suggest is shown beside empty bounds.
    """
    lines = []
    for place, column in enumerate([*facts["columns"], *facts["left_out"]]):
        meaning = meaning_of(column["name"])
        known = column["low"] is not None
        why = column.get("reason", "")
        likely = private and not (meaning is not None and (meaning.reason or meaning.rule))
        if private and meaning is not None and not why:
            hint = "" if meaning.low is None else f", such as {meaning.low:g} to {meaning.high:g}"
            why = meaning.reason or f"Its name suggests {meaning.words}{hint}."
        lines.append(
            {
                "name": column["name"],
                "low": repr(column["low"]) if known else "",
                "high": repr(column["high"]) if known else "",
                "unit": meaning.unit if meaning is not None and (known or private) else "",
                "use": (known or likely) and place < min(MOST, len(facts["columns"])),
                "why": why,
                "usable": known or private,
            }
        )
    return lines


@lru_cache(maxsize=1)
def public(columns: str) -> Dataset:
    """Return the open file's rows as public data.

    Parameters
    ----------
    columns : JSON with a list of the chosen columns, each with the texts of its `name`, `low`, `high` and `unit`

    Raises
    ------
    ValueError
        If no file is open, or the columns do not declare a domain.
    """
    file, facts = _shown(columns)
    return from_table(file.table, facts)


def _shown(columns: str) -> tuple[_File, dict[str, Any]]:
    """Return the open public file, and the dictionary that the form declares for it."""
    if not _files:
        raise TableError("Open a file first.")
    file = _files[0]
    if file.private:
        raise TableError("This file is private: its rows are shown nowhere. Nothing was read.")
    chosen = _columns(columns)
    drafted = {column["name"]: column for column in [*file.facts["columns"], *file.facts["left_out"]]}
    taken = any(one[end] == drafted[one["name"]][end] for one in chosen for end in ("low", "high"))
    facts = {"title": file.facts["title"], "columns": chosen, "n_public": file.table.n_rows, "declared": not taken}
    return file, _complete(facts)


def domain(form: dict[str, Any]) -> Domain:
    """Return what the form declares for the open file, whether it is private or public; no row is read.

    Parameters
    ----------
    form : as for `declared`

    Raises
    ------
    ValueError
        If no file is open, or the declaration is incomplete or wrong.
    """
    private = bool(_files) and _files[0].private
    return domain_of(declared(form) if private else _shown(json.dumps(form["columns"]))[1])


def declared(form: dict[str, Any]) -> dict[str, Any]:
    """Return the dictionary that a form declares for the open private file; no byte of the file is read.

    Parameters
    ----------
    form : texts of the form: `columns` as in `public`, `n_public` and `rows_per_person`

    Raises
    ------
    ValueError
        If no private file is open, or the declaration is incomplete or wrong.
    """
    if not _files or not _files[0].private:
        raise TableError("Open a private file first.")
    counts = {"n_public": "The number of rows, rounded,", "rows_per_person": "Rows per person"}
    whole = {}
    for name, words in counts.items():
        text = form[name].strip().replace(",", "")
        if not (text.isascii() and text.isdecimal() and 0 < int(text) < _MOST_ROWS):
            raise TableError(f"{words} must be a whole number, at least 1; got {form[name]!r}.")
        whole[name] = int(text)
    facts = {"title": "own file", "columns": _columns(json.dumps(form["columns"])), "declared": True, **whole}
    return _complete(facts)


def private(form: dict[str, Any], read: Read) -> Dataset:
    """Read the open private file within the declared bounds, under a new random name.

    Raises
    ------
    ValueError
        If the declaration is wrong, or the file cannot be read; no message depends on a cell.
    """
    facts = declared(form)
    file = _files[0]
    table = read_table(bytes(read(0, file.size)), file.table.name, **file.form)
    return from_table(table, facts, private=True)


def _columns(text: str) -> list[dict[str, Any]]:
    columns = json.loads(text)
    if not columns:
        raise TableError("Tick the columns to use for clustering, and give each a low and a high bound.")
    for column in columns:
        for end in ("low", "high"):
            try:
                column[end] = float(column[end].strip())
            except ValueError:
                raise TableError(
                    f"Column {column['name']!r}: {end} must be a number, written like -1234.5; got {column[end]!r}."
                ) from None
    return list(columns)


def _complete(facts: dict[str, Any]) -> dict[str, Any]:
    try:
        return complete(facts, "Your columns")
    except ValueError as problem:
        raise TableError(str(problem)) from None
