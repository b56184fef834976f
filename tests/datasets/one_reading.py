"""Make neighboring private files of every kind, and check that no record changes how another one is read.

`python -m tests.datasets.one_reading DRAWS [SEED]` draws pairs of files that differ in one record: added, removed,
changed or moved. Every record must give the same rows as in a file with the same first line and no other record, and
everything that may be shown of a file must be the same for both files. The command prints any difference, and then
exits with 1.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime
import gzip
import io
import json
import random
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import openpyxl
import pandas as pd

from dpviz.datasets import readers
from dpviz.datasets.drafting import draft
from dpviz.datasets.readers import Recoding, TableError, child, read_table

__all__ = ["KINDS", "Family", "Pair", "differences", "draw"]

CELLS = [
    '1,5', '7,5', '36,6', '1.234,5', '1,234.5', '1.5', '-2.25', '1.234', '1,234', '12.345.678', '1 234', '1\xa0234',
    "1'234", '5e3', '1e400', '-0.0', 'NaN', 'inf', 'NA', '-', '?', '', ' ', 'true', 'NO', 'word', 'male', 'low',
    '2020-01-31', '31.12.1999', '10:30', '\u0661\u0662', '\xbd', '0x1F', '12%', '$5', '=1+2', '\x1f', '\x0b',
    '\x85', '\u2028', '\ufeff7', 'e', "9" * 400, "x" * 300, '\xfcber',
]  # fmt: skip
LINES = [
    b'', b' ', b',', b';;;;;;', b'1,2,3,4,5', b'1;2;3;4;5', b'1', b'"1', b'1,"x', b'"a\nb",2', b'1,"2\n3",4',
    b'1\r2', b'a b c d', b'\xff\xfe', b'\xff,\xff', b'caf\xe9;1,5', b'\x00,\x00', b'\x00', b'PK\x03\x04', b'%PDF-',
    b'GIF8', b'{"a": 1}', b'[1, 2]', b'<html>', b'\xef\xbb\xbf1,2', b'#comment', b'1\t2\t3', b'a|b|c', b'""', b'"',
    b'",', b'"""', b'"1","2"', b"x" * 140_000,
]  # fmt: skip
KEYS = [
    'a', 'b', 'c', ' a', 'a ', 'A', 'b\n', 'HIV positive since', '', '1',
]  # fmt: skip
VALUES = [
    None, True, False, 1, 2.5, -3, 10**40, 10**400, '1,5', '1.234', 'word', 'male', '', '\ud800', '2020-01-31', [1],
    {}, {'a': 1},
]  # fmt: skip
RECORDS = [
    b'1', b'null', b'"x"', b'[1, 2]', b'[]', b'{}', b'{"a": 1 2}', b'{a: 1}', b'{"a": NaN, "b": Infinity}', b'x',
    b'tru', b'{"a": 1, "a": 2}', b"[" * 3000 + b"]" * 3000, b'{"a": ' + b"9" * 5000 + b"}", b'{"a": "\xff"}',
    b'{"a": 1}}{',
]  # fmt: skip
LONE = [  # malformed lines, for formats in which each line is a record
    b'{', b'{"a": "1', b'[[[', b']', b'"', b'\x00', b'\xff\xfe', b"[" * 100_000, b'{"a":\n1}', b'', b'  ',
]  # fmt: skip
RULES = (
    Recoding("b", "one-hot", ("male", "\u00fcber")),
    Recoding("b", "ordinal", ("low", "1", "true")),
    Recoding("b", "days", (), "1990-01-01", "2030-01-01", "ymd"),
    Recoding("b", "days", (), "1990-01-01", "2030-01-01", "dmy"),
    Recoding("b", "one-hot", ("NA", "-", "male")),
)
MARKS = ("NA", "-")


@dataclasses.dataclass(frozen=True)
class Family:
    """A kind of file: the owner's declaration, and a function that writes records.

    Attributes
    ----------
    kind : format of the file
    name : name of the file
    form : the declaration, as `read_table` takes it
    write : function that returns the content of a file with the given records
    """

    kind: str
    name: str
    form: dict[str, Any]
    write: Callable[[Sequence[Any]], bytes]


@dataclasses.dataclass(frozen=True)
class Pair:
    """Two neighboring files, given by their records."""

    family: Family
    one: tuple[Any, ...]
    other: tuple[Any, ...]


def draw(rng: random.Random, kinds: Sequence[str] = ()) -> Pair:
    """Return a pair of neighboring files of one of the given kinds or, by default, of any kind."""
    family, record = KINDS[rng.choice(list(kinds or KINDS))](rng)
    one = [record(rng, 0.15) for _ in range(rng.randint(0, 4))]
    other, at = list(one), rng.randint(0, len(one))
    move = rng.choice(["add", "add", "remove", "change", "move"]) if one else "add"
    if move == "add":
        other.insert(at, record(rng, 0.8))
    else:
        taken = other.pop(min(at, len(one) - 1))
        if move != "remove":
            other.insert(rng.randint(0, len(other)), taken if move == "move" else record(rng, 0.8))
    return Pair(family, tuple(one), tuple(other))


def differences(pair: Pair) -> list[str]:
    """Return every effect of a record other than its own rows; [] if every record is read independently."""
    family = pair.family
    empty, first = _outcome(family, ())
    alone = {repr(record): _outcome(family, (record,)) for record in (*pair.one, *pair.other)}
    seen = [f"alone: {form} is not {empty}" for form, _ in alone.values() if form != empty]
    for which, records in (("one", pair.one), ("other", pair.other)):
        form, X = _outcome(family, records)
        rows = [alone[repr(record)][1] for record in records]
        if form != empty:
            seen.append(f"{which}: {form} is not {empty}")
        elif first is not None and not any(row is None for row in rows):
            wanted = np.concatenate([first, *(row[len(first) :] for row in rows)])
            if not np.array_equal(X, wanted, equal_nan=True):
                seen.append(f"{which}: rows are {X.tolist()}, alone they are {wanted.tolist()}")
    return seen


def _outcome(family: Family, records: Sequence[Any]) -> tuple[Any, Any]:
    """Return everything that may be shown of a file, and its rows, which are None if the file is refused."""
    try:
        table = read_table(family.write(records), family.name, private=True, **family.form)
    except TableError as refusal:
        return str(refusal), None
    words = [(column.codes, column.words, column.doubt) for column in table.columns]
    form = (repr(table), words, json.dumps(draft(table, {}, private=True)))
    types = [column.values.dtype for column in table.columns if column.values is not None]
    return (form, types), table.matrix(table.usable)


def _signs(rng: random.Random) -> dict[str, Any]:
    decimal = rng.choice([None, None, ".", ","])
    form = {"decimal": decimal, "thousands": rng.choice([None, "", "." if decimal == "," else ","])}
    form |= {"decimal_of": {"a": rng.choice(".,")}} if rng.random() < 0.2 else {}
    return form | ({"missing_marks": ("-5", "word")} if rng.random() < 0.2 else {})


def _rules(rng: random.Random, names: Sequence[str]) -> dict[str, Any]:
    rule = rng.choice(RULES) if "b" in names and rng.random() < 0.3 else None
    form: dict[str, Any] = {"recode": () if rule is None else (rule,)}
    return form | ({"no_missing_marks": MARKS} if rule is RULES[-1] or rng.random() < 0.1 else {})


_Made = tuple[Family, Callable[[random.Random, float], Any]]


def _text(rng: random.Random) -> _Made:
    separator, names = rng.choice([",", ",", ";", "\t", "|", " "]), ["a", "b", "größe"][: rng.randint(1, 3)]
    eol, header, style = rng.choice([b"\n", b"\r\n", b"\r"]), rng.random() < 0.7, rng.randrange(4)
    ending, packed = rng.choice(["x.csv", "x.txt", "x.tsv", "x"]), rng.random() < 0.1
    declared = header is False or len(names) == 1 or rng.random() < 0.3
    form: dict[str, Any] = {"header": header, "separator": separator if declared else None}
    form |= _signs(rng) | _rules(rng, names if header else [])
    first = [separator.join(names).encode()] if header else []
    if not header:
        form["n_columns"] = len(names)
    elif rng.random() < 0.2:
        form["lines_below"] = rng.randint(1, 2)
        first += [b"cm", b'"open, "kg'][: form["lines_below"]]
    end = rng.choice([b"", eol])

    def record(rng: random.Random, nasty: float) -> bytes:
        if rng.random() < nasty / 2:
            return rng.choice(LINES)
        cells = []
        for _ in names:
            usual = f"{rng.uniform(0, 99):.3f}" if style < 2 else str(rng.randint(0, 99)) + ",5" * (style == 3)
            cell = rng.choice(CELLS) if rng.random() < nasty else usual
            cells.append(f'"{cell}"' if rng.random() < (0.5 if style == 1 or separator in cell else 0.03) else cell)
        line = separator.join(cells)
        return line.encode("cp1252" if rng.random() < 0.1 and line.isprintable() else "utf-8", errors="replace")

    def write(records: Sequence[bytes]) -> bytes:
        text = eol.join([*first, *records]) + end
        return gzip.compress(text, 1) if packed else text

    return Family("text", ending + ".gz" * packed, form, write), record


def _json(rng: random.Random) -> _Made:
    names = ["a", "b", "c"][: rng.randint(1, 3)]
    header = rng.random() < 0.5
    form: dict[str, Any] = {"header": True if header else rng.choice([None, False])}
    form["names"] = () if header else tuple(names)
    form |= _signs(rng) | _rules(rng, names)
    first = [json.dumps(dict.fromkeys(names, 1)).encode()] if header else []
    name = rng.choice(["x.jsonl", "x.ndjson"])

    def record(rng: random.Random, nasty: float) -> bytes:
        if rng.random() < nasty / 3:
            return rng.choice(RECORDS[:-1] + LONE)
        keys = [rng.choice(KEYS) if rng.random() < nasty else key for key in names]
        keys += rng.choices(KEYS, k=rng.randint(0, 2)) if rng.random() < nasty else []
        rng.shuffle(keys)
        cells = {key: rng.choice(VALUES) if rng.random() < nasty else rng.uniform(0, 9) for key in keys}
        return json.dumps(cells, ensure_ascii=rng.random() < 0.5 or '"\\ud' in json.dumps(cells)).encode()

    def write(records: Sequence[bytes]) -> bytes:
        return b"\n".join([*first, *records]) + b"\n"

    return Family("json", name, form, write), record


def _workbook(rng: random.Random) -> _Made:
    names, header = ["a", "b", "c"][: rng.randint(1, 3)], rng.random() < 0.7
    form: dict[str, Any] = {"header": header} | _signs(rng) | _rules(rng, names if header else [])
    if not header:
        form["n_columns"] = len(names)
    elif rng.random() < 0.2:
        form["lines_below"] = 1
    units = [["cm"] * len(names)] * form.get("lines_below", 0)
    others = [None, "NA", True, "1,5", "1.234", "word", "male", "#DIV/0!", 1e300, "=1+1", "\u0661", ""]
    others += [datetime.datetime(2020, 1, 31)]

    def record(rng: random.Random, nasty: float) -> tuple[Any, ...]:
        row = tuple(rng.choice(others) if rng.random() < nasty else round(rng.uniform(0, 9), 3) for _ in names)
        return row + (rng.choice([1, "x"]),) * rng.choice([0, 1, 300]) if rng.random() < nasty / 4 else row

    def write(records: Sequence[tuple[Any, ...]]) -> bytes:
        book, buffer = openpyxl.Workbook(), io.BytesIO()
        for row in [names] * header + units + list(records):
            book.active.append(row)
        book.save(buffer)
        return buffer.getvalue()

    return Family("excel", "x.xlsx", form, write), record


_TYPES: dict[str, Sequence[Any]] = {
    "float": [None, 0.5, 1e300, float("nan"), float("inf"), -0.0],
    "int": [None, 1, -5, 2**40],
    "text": [None, "1,5", "1.234", "word", "male", "2020-01-31", "true", "", "\x00", "\u0661"],
    "bool": [None, True, False],
    "time": [None, pd.Timestamp("2020-01-31"), pd.Timestamp("1999-12-31")],
    "list": [None, [1], []],
}


def _columnar(kind: str, types: Sequence[str]) -> Callable[[random.Random], _Made]:
    def make(rng: random.Random) -> _Made:
        columns = {name: rng.choice(types) for name in ["a", "b", "c"][: rng.randint(1, 3)]}
        columns["a"] = "float"
        form = {"header": rng.choice([True, False])} | _signs(rng)
        form |= _rules(rng, list(columns) if form["header"] else [])
        left_out = rng.random() < 0.3  # the writer has left rows out and kept the numbers of the others

        def record(rng: random.Random, nasty: float) -> tuple[Any, ...]:
            cells = (_TYPES[type_] for type_ in columns.values())
            return tuple(rng.choice(every if rng.random() < nasty else every[1:3]) for every in cells)

        def write(records: Sequence[tuple[Any, ...]]) -> bytes:
            frame, buffer = pd.DataFrame(list(records), columns=list(columns)), io.BytesIO()
            for name, type_ in columns.items():
                if type_ in ("text", "list", "bool"):
                    frame[name] = frame[name].astype(object).where(frame[name].notna(), "" if kind == "stata" else None)
                elif type_ == "time":
                    frame[name] = pd.to_datetime(frame[name])
                elif type_ == "float" or frame[name].isna().all():
                    frame[name] = frame[name].astype(float)
            if kind == "stata":
                finite = frame.select_dtypes("number").columns
                frame[finite] = frame[finite].where(frame[finite].abs() < 1e200)
                frame.to_stata(buffer, write_index=False, version=118)
            elif kind == "arrow":
                frame.to_feather(buffer)
            else:
                if left_out and len(frame):
                    frame.index = frame.index + 3 + (frame.index > 0)
                frame.to_parquet(buffer)
            return buffer.getvalue()

        return Family(kind, {"parquet": "x.parquet", "arrow": "x.feather", "stata": "x.dta"}[kind], form, write), record

    return make


KINDS: dict[str, Callable[[random.Random], _Made]] = {
    "text": _text,
    "json": _json,
    "excel": _workbook,
    "parquet": _columnar("parquet", list(_TYPES)),
    "arrow": _columnar("arrow", list(_TYPES)),
    "stata": _columnar("stata", ["float", "int", "text"]),
}


def main() -> int:
    """Check the requested number of random pairs of files."""
    n_draws, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    readers.read_apart = child.read  # type: ignore[attr-defined]
    rng, bad, drawn = random.Random(seed), 0, collections.Counter[str]()
    weights = {"text": 8, "json": 5, "excel": 2, "parquet": 2, "arrow": 2, "stata": 1}
    for _ in range(n_draws):
        pair = draw(rng, rng.choices(list(weights), list(weights.values())))
        drawn[pair.family.kind] += 1
        if seen := differences(pair):
            bad += 1
            if bad <= 5:
                print(pair.family.kind, pair.family.name, pair.family.form, pair.one, pair.other, *seen, sep="\n  ")
    print(f"{n_draws:,} pairs ({', '.join(f'{n:,} {kind}' for kind, n in drawn.items())}): {bad} differ")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
