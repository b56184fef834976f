"""Check that text is read in one way: with and without Arrow, and in regular blocks as in any others."""

import itertools
import json
import random
import subprocess
import sys

import numpy as np
import pytest

from dpviz.datasets.readers import lines, read_table, rows
from dpviz.datasets.readers.numerals import number_reader
from dpviz.datasets.readers.raw import Words
from dpviz.datasets.readers.regular import Wanted, parsed, regular
from tests.datasets.odd_texts import draw, found, seen
from tests.serving import ROOT

WITHOUT_ARROW = """
import json, random, sys
sys.modules["pyarrow"] = None  # an import of it fails
from dpviz.datasets import readers
from dpviz.datasets.readers import child
readers.read_apart = child.read  # a second process would find Arrow
from tests.datasets.odd_texts import seen
from tests.datasets.one_reading import differences, draw
rng = random.Random(3)
print(json.dumps([seen(300, 3), [differences(draw(rng, [kind])) for kind in ["text"] * 60 + ["json"] * 30]]))
"""


@pytest.mark.slow
def test_text_is_read_in_the_same_way_without_arrow():
    command = [sys.executable, "-W", "ignore", "-c", WITHOUT_ARROW]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    tables, differences = json.loads(done.stdout)
    assert tables == seen(300, 3)
    assert not any(differences)


@pytest.mark.slow
@pytest.mark.parametrize("size", [60, 250])
def test_a_table_is_read_in_the_same_way_in_blocks_of_any_size(size, monkeypatch):
    whole = seen(300, 4)
    monkeypatch.setattr(lines, "BLOCK", size)
    assert seen(300, 4) == whole


@pytest.mark.slow
def test_a_regular_table_is_read_as_row_by_row(monkeypatch):
    tables = seen(600, 5)
    for module in (lines, rows):
        monkeypatch.setattr(module, "regular", lambda block, separator, width: None)
    rng = random.Random(5)
    for table in tables:
        content, form = draw(rng)
        assert found(content, form) == table, (content, form)


@pytest.mark.parametrize(
    ("block", "width", "bare"),
    [(b'1,"2"\n"3",4\n', 2, b"1,2\n3,4\n"), (b"1,2\n\n\n3,4\n", 2, b"1,2\n3,4\n"), (b"\n1\n", 1, b"1\n")],
)
def test_quotes_and_empty_lines_that_do_not_matter_are_left_out(block, width, bare):
    assert regular(block, ",", width) == bare


@pytest.mark.parametrize(
    "block",
    [
        b"1,2\n3\n", b"1,2,3\n", b"1\n2,3,4\n", b'1,"2\n3",4\n', b'"1,2",3\n', b'a"b"c,2\n', b'"a""b",2\n', b'"a"b,2\n',
        b' "a",2\n', b'"a,2\n"b,3\n', b'a",""b"\n', b'","b"\n', b'"\n",2\n', b"1\x002,3\n", b"1\x0b,3\n",
        b"\xef\xbb\xbf1,2\n", b"1e 5,2\n", b"x 1E+\t5,2\n", b"\n", b"",
    ],
)  # fmt: skip
def test_a_block_that_the_parser_could_read_otherwise_is_not_regular(block):
    assert regular(block, ",", 2) is None


def cells_like_numbers():
    rng = random.Random(0)
    yield from map("".join, itertools.product(" +-.e1", repeat=4))
    for letters in ("\t +-.,eE0123456789_xXdfiInNaAtTyY()%$'", " +-.,e0129"):
        yield from ("".join(rng.choices(letters, k=rng.randint(1, 9))) for _ in range(1000))
    yield from (
        "1e400",
        "-1e400",
        "9" * 400,
        "." + "0" * 400 + "1",
        "1e-400",
        "2.2250738585072014e-308",
        "tRuE",
        "True",
    )


@pytest.mark.slow
@pytest.mark.parametrize("decimal", [".", ","])
def test_the_parser_reads_no_number_that_a_cell_alone_does_not_hold(decimal):
    number, thousands = 0, {".": ",", ",": "."}[decimal]
    read = number_reader((decimal, thousands))
    for cell in cells_like_numbers():
        block = regular(cell.encode() + b"\n", "\x1f", 1)
        if block is None:
            continue
        (column,) = parsed(block, "\x1f", 1, Wanted(decimal))
        if isinstance(column, Words):
            continue
        value, number = column[0] if abs(column[0]) <= 1e30 else np.nan, number + 1
        assert np.array_equal(value, read(cell), equal_nan=True), cell
    assert number > 250


def test_a_column_that_turns_out_to_be_text_is_read_again(monkeypatch):
    monkeypatch.setattr(lines, "BLOCK", 40)
    (column,) = rows.columns_in(memoryview(b"1.5\n" * 30 + b"$5\n"), ",", 1, 0, Wanted(), lambda share: None)
    assert column.kind == "text"
    assert len(column) == 31


@pytest.mark.parametrize("size", range(40, 48))  # of 8, the length of a row, so some end within a quotation
def test_a_quotation_may_go_on_in_the_next_block(monkeypatch, size):
    monkeypatch.setattr(lines, "BLOCK", size)
    assert read_table(b"a,b\n" + b'1,"x\ny"\n' * 30, "x.csv").columns[1].words == ("x\ny",)
