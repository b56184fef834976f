"""Write what a file's reader is asked, and the table that it answers, in the frames of `dpviz.frames`.

No frame can make the receiver run code, even if a file has taken over the process that reads it.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from typing import IO

import numpy as np

from dpviz.datasets.readers.form import Form
from dpviz.datasets.readers.recode import Recoding
from dpviz.datasets.readers.table import Column, Limits, Table
from dpviz.frames import send

__all__ = [
    "ASKED",
    "ERROR",
    "FILE",
    "PROGRESS",
    "TABLE",
    "asked",
    "request",
    "send_table",
    "table_from",
]

ASKED, FILE, PROGRESS, ERROR, TABLE, VALUES = b"a", b"f", b"p", b"e", b"t", b"v"
_TYPES = {"<f4", "<f8", "<i8"}


def request(name: str, form: Form, limits: Limits) -> bytes:
    """Return the content of the frame that is sent before the file: name, form and limits."""
    return json.dumps([name, dataclasses.asdict(form), dataclasses.asdict(limits)]).encode()


def asked(content: bytes) -> tuple[str, Form, Limits]:
    """Return the name, the form and the limits of a file from the content that `request` has made."""
    name, form, limits = json.loads(content)
    rules = tuple(Recoding.parse(rule, name) for rule in form["recode"])
    return (
        name,
        Form(**form | {"recode": rules} | {key: tuple(form[key]) for key in ("names", "missing_marks")}),
        Limits(**limits),
    )


def send_table(out: IO[bytes], table: Table) -> None:
    """Write a table: first its description, then the numbers of each usable column and the category codes, if any."""
    columns = [
        [
            c.name,
            c.kind,
            c.reason,
            [None if part is None else part.dtype.str for part in (c.values, c.codes)],
            c.words,
            c.suggestion,
            c.doubt,
        ]
        for c in table.columns
    ]
    send(out, TABLE, json.dumps([table.n_rows, table.notes, columns]).encode())
    for column in table.columns:
        for part in (column.values, column.codes):
            if part is not None:
                send(out, VALUES, np.ascontiguousarray(part).data.cast("B"))


def table_from(name: str, content: bytes, rest: Iterator[tuple[bytes, bytes]]) -> Table:
    """Return the table whose description has just arrived; its numbers arrive in the next frames.

    Raises
    ------
    ValueError
        If the frames hold no table.
    """
    n_rows, notes, columns = json.loads(content)

    def numbers(dtype: str | None) -> np.ndarray | None:
        if dtype is None:
            return None
        letter, numbers = next(rest, (b"", b""))
        if letter != VALUES or dtype not in _TYPES or len(numbers) != n_rows * np.dtype(dtype).itemsize:
            raise ValueError("readers: a column's numbers are missing.")
        return np.frombuffer(numbers, dtype)

    parsed = [
        Column(
            str(name),
            str(kind),
            str(reason),
            numbers(values),
            numbers(codes),
            tuple(map(str, words)),
            str(rule),
            str(doubt),
        )
        for name, kind, reason, (values, codes), words, rule, doubt in columns
    ]
    return Table(name, tuple(parsed), int(n_rows), tuple(map(str, notes)))
