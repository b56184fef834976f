"""Check in every format that no row of a private file changes how another is read, and catch former faults."""

import csv
import io
import random

import numpy as np
import pytest

from dpviz.datasets.readers import Column, TableError, cells, columns, excel, lines, parquet, records, table, text
from dpviz.datasets.readers.form import Form
from dpviz.datasets.readers.raw import Words
from dpviz.datasets.readers.regular import Wanted
from tests.datasets.one_reading import KINDS, Family, Pair, differences, draw


def found(kind, draws, seed=0):
    """Return the first difference found between neighboring files of a kind, or None."""
    rng = random.Random(seed)
    return next(filter(None, (differences(draw(rng, [kind])) for _ in range(draws))), None)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_a_record_is_read_by_itself(kind):
    assert not found(kind, {"text": 400, "json": 300}.get(kind, 50), seed=2)


def sign_of_all_rows(patch):
    read = text._read_private

    def guess(data, name, form, limits, advance):
        patch.setattr(type(form), "signs", property(lambda self: (",", ".") if b",5" in bytes(data) else (".", ",")))
        return read(data, name, form, limits, advance)

    patch.setattr(text, "_read_private", guess)


def separator_of_all_rows(patch):
    split = text.cells_of

    def guess(data, separator, *rest):
        return split(data, text._delimiter(bytes(data[:20_000]).decode(errors="ignore")) or separator, *rest)

    patch.setattr(text, "cells_of", guess)


def encoding_of_all_rows(patch):
    patch.setattr(
        lines, "mended", lambda block: block if lines.is_utf8(block) else block.decode("cp1252", "replace").encode()
    )


def quotes_over_lines(patch):
    def rows(block, separator, width):
        read = csv.reader(io.StringIO(block), delimiter=separator if separator.strip() else ",")
        kept = [row if len(row) == width else [None] * width for row in read if row]
        return [Words.of(column) for column in (zip(*kept, strict=True) if kept else [()] * width)]

    patch.setattr(lines, "_one_by_one", rows)


def keys_of_all_records(patch):
    each = records._each

    def mixed(content):
        every = list(each(content))
        first = list(dict.fromkeys(key for record in every if isinstance(record, dict) for key in record))
        return [dict.fromkeys(first), *every] if first else every

    patch.setattr(records, "_each", mixed)


def kinds_of_all_rows(patch):
    for module in (text, cells, parquet, table):
        made = module.own_columns

        def judged(name, values, form, made=made):
            return [
                Column(c.name, "text", "It holds text.")
                if c.values is not None and len(c.values) and np.isnan(c.values).all()
                else c
                for c in made(name, values, form)
            ]

        patch.setattr(module, "own_columns", judged)


def ragged_is_refused(patch):
    split = lines.split

    def strict(line, separator):
        if line.count(separator or "\0") > 3:
            raise TableError("a line has not as many cells as the first line")
        return split(line, separator)

    patch.setattr(lines, "split", strict)


def wide_is_refused(patch):
    read = excel._read_rows

    def strict(rows, name, width, form, limits):
        return read(rows, name, width, type(form)(), limits)

    patch.setattr(excel, "_read_rows", strict)


def column_without_all_numbers_is_none(patch):
    number = columns.own_numbers

    def whole(column, signs, marks=()):
        values = number(column, signs, marks)
        return np.full(len(values), np.nan) if np.isnan(values).any() else values

    patch.setattr(columns, "own_numbers", whole)


def precision_of_all_rows(patch):
    made = table.usable
    small = lambda name, kind, values, private=False: made(  # noqa: E731
        name, kind, values.astype(np.float32 if len(values) > 2 else np.float64), private=private
    )
    patch.setattr(table, "usable", small)


PLANTED = {
    sign_of_all_rows: "text",
    separator_of_all_rows: "text",
    encoding_of_all_rows: "text",
    quotes_over_lines: "text",
    ragged_is_refused: "text",
    keys_of_all_records: "json",
    wide_is_refused: "excel",
    kinds_of_all_rows: "parquet",
    column_without_all_numbers_is_none: "arrow",
    precision_of_all_rows: "stata",
}


# the minus sign of the first row is read only if its bytes are, and few random files have such a pair of rows
ENCODED = Pair(
    Family(
        "text", "x.csv", {"header": True, "separator": ",", "recode": ()},
        lambda records: b"\n".join([b"a,b", *records]),
    ),
    ("\N{MINUS SIGN}5,1".encode(),),
    ("\N{MINUS SIGN}5,1".encode(), "é,2".encode("cp1252")),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("rule", PLANTED, ids=lambda rule: rule.__name__)
def test_an_old_rule_is_caught(rule, monkeypatch):
    rule(monkeypatch)
    assert differences(ENCODED) if rule is encoding_of_all_rows else found(PLANTED[rule], 600)


def test_a_row_in_another_encoding_changes_no_other_row():
    assert differences(ENCODED) == []


def test_a_private_table_has_one_precision_whatever_its_number_of_rows():
    for n in (10, table.FRUGAL_CELLS + 1):
        assert table.precision(n, 1, Form(private=True)) is np.float64
    assert table.precision(10, 1, Form(private=False)) is np.float64
    assert table.precision(table.FRUGAL_CELLS + 1, 1, Form(private=False)) is np.float32


@pytest.mark.parametrize("other", ["3,4", '"3",4'])
def test_a_line_that_is_too_long_is_missing_whether_or_not_a_quote_is_near(other, monkeypatch):
    monkeypatch.setattr(lines, "LONGEST", 30)
    data = f"1,2\n1,{'2' * 60}\n{other}\n".encode()
    blocks = lines.cells_of(memoryview(data), ",", 2, Wanted(texts={0, 1}), lambda share: None)
    first, second = (
        [part.cells[code] for part in column for code in part.codes] for column in zip(*blocks, strict=True)
    )
    assert [first[0], first[2], second[0], second[2]] == ["1", "3", "2", "4"]
    assert not first[1] and not second[1], "missing"
