"""Check that tables as programs and people write them are read as they mean them."""

import shlex
import subprocess
import sys
from io import BytesIO

import numpy as np
import openpyxl
import pytest

from dpviz.datasets.identifiers import singles_out
from dpviz.datasets.readers import TableError, read_table
from tests.datasets.test_formats import workbook

NAN = np.nan
ENDS = {  # text -> its columns; a cell beyond the last name is none if it is blank
    "a separator at the end of every row": ("a,b\n1,2,\n3,4,\n", [[1, 3], [2, 4]]),
    "and of the names": ("a,b,\n1,2,\n3,4,\n", [[1, 3], [2, 4]]),
    "of some rows": ("a,b\n1,2,,\n3,4\n", [[1, 3], [2, 4]]),
    "with quotes": ('a,b\n"1",2,\n3,"4",""\n', [[1, 3], [2, 4]]),
    "with decimal commas": ("a;b\n1,5;2;\n3,5;4;\n", [[1.5, 3.5], [2, 4]]),
}
LACKING = {  # private text -> its columns, where only the row itself decides
    "a cell beyond the last name that holds something": ("a,b\n1,2,9\n3,4,\n", [[NAN, 3], [NAN, 4]]),
    "cells that a line lacks": ("a,b\n1\n3,4\n", [[1, 3], [NAN, 4]]),
    "a name more than cells": ("a,b,\n1,2\n3,4\n", [[1, 3], [2, 4]]),
    "white space, which has no blank cell": ("a b\n1\n3 4\n", [[NAN, 3], [NAN, 4]]),
}
MINUS = ["(4.50)", "4.50-", "\N{MINUS SIGN}4.50", "-4.50", " ( 4.50 ) ", "($4.50)"]


def columns(table, n=2):
    return [table.values(name).tolist() for name in table.usable[:n]]


@pytest.mark.parametrize("case", ENDS)
def test_a_blank_cell_beyond_the_last_name_is_no_cell(case):
    text, expected = ENDS[case]
    declared = {"private": True, "header": True, "decimal": "," if ";" in text else None}
    for form in ({}, declared):
        assert columns(read_table(text.encode(), "x.csv", **form)) == expected


@pytest.mark.parametrize("case", LACKING)
def test_a_private_line_with_other_cells_decides_for_itself_alone(case):
    text, expected = LACKING[case]
    assert np.array_equal(
        columns(read_table(text.encode(), "x.csv", private=True, header=True)), expected, equal_nan=True
    )


def test_a_cell_that_is_too_long_to_split_is_one_sentence():
    with pytest.raises(TableError, match="cannot be read as a table of separated cells"):
        read_table(b'a,b\n1,2,""\n3,4,""\n' + b"1" * 5_000_000 + b',4,""\n', "x.csv")
    with pytest.raises(TableError, match="a line is longer than 4 MB"):
        read_table(b'a,b\n1,2\n"' + b"1,2\n" * 1_200_000, "x.csv")


@pytest.mark.parametrize("words", ["xy", '"xy', '"x, y', '"x""y'])
def test_a_cell_may_be_long(words):
    content = f"a,b\n1,{words}{'z' * 200_000}{words[:1].strip('x')}\n2,z\n".encode()
    assert columns(read_table(content, "x.csv"))[0] == [1, 2]
    assert columns(read_table(content, "x.csv", private=True, header=True))[0] == [1, 2]


def test_a_public_line_that_may_be_shifted_is_refused_by_its_number():
    with pytest.raises(TableError, match="line 4 has 3 cells, but the first line has 2"):
        read_table(b"a,b\n1,2,\n3,4,\n5,6,7\n", "x.csv")


@pytest.mark.parametrize("written", MINUS)
def test_a_negative_number_is_read_as_people_write_it(written):
    content = f"a;b\n1;{written}\n2;3\n".encode()
    for form in ({}, {"private": True, "header": True}):
        assert columns(read_table(content, "x.csv", **form))[1] == [-4.5, 3]
    comma = content.replace(b".", b",")
    assert columns(read_table(comma, "x.csv"))[1] == [-4.5, 3]
    words = read_table(f"a,b\n1,{written}\n2,three\n".encode(), "x.csv").columns[1]
    assert words.values is None and words.kind == "mixed", "a text column stays as it is"


def test_brackets_in_words_stay():
    table = read_table(b"a,b\n1,(x3)\n2,x3-\n3,(x3)\n", "x.csv")
    assert table.columns[1].words == ("(x3)", "x3-")


@pytest.mark.parametrize("mark", ["#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?"])
def test_what_a_program_writes_for_an_error_is_a_missing_cell(mark):
    for form in ({}, {"private": True, "header": True}):
        values = columns(read_table(f"a,b\n1,{mark}\n2,3\n".encode(), "x.csv", **form))
        assert np.array_equal(values, [[1, 2], [NAN, 3]], equal_nan=True)


@pytest.mark.parametrize("sign", [",", ";", "|", "\t"])
def test_the_line_in_which_excel_tells_the_separator_is_no_row(sign):
    content = f"sep={sign}\r\na{sign}b\r\n1{sign}2\r\n3{sign}4\r\n".encode()
    assert columns(read_table(content, "x.csv")) == [[1, 3], [2, 4]]
    with pytest.raises(TableError, match="--header-row 2, and --separator"):
        read_table(content, "x.csv", private=True, header=True)
    below = read_table(content, "x.csv", private=True, header=True, header_row=2, separator=sign)
    assert columns(below) == [[1, 3], [2, 4]]


def test_two_lines_of_kinds_below_the_names_are_no_rows():
    content = b"a\tb\tkind\ncontinuous\tc\td\n\t\tclass\n1.5\t1\tx\n4\t2\ty\n"
    table = read_table(content, "x.tab")
    assert columns(table) == [[1.5, 4], [1, 2]] and "two lines below the names" in " ".join(table.notes)
    with pytest.raises(TableError, match="there is no row"):
        read_table(b"a\tb\nc\tc\n\t\n", "x.tab")
    with pytest.raises(TableError, match="mixes numbers and other cells, first in row 1"):  # a single line may be a row
        read_table(b"a\tb\nd\tc\n1\t2\n", "x.tab")


def test_the_first_sheet_that_excel_shows_is_read():
    content = workbook(("hidden", [["a"], [6]]), ("shown", [["a"], [106]]))
    book = openpyxl.load_workbook(BytesIO(content))
    book["hidden"].sheet_state = "hidden"
    out = BytesIO()
    book.save(out)
    table = read_table(out.getvalue(), "x.xlsx")
    assert columns(table, 1) == [[106]] and "sheet 2, 'shown', was read" in " ".join(table.notes)
    private = read_table(out.getvalue(), "x.xlsx", private=True, header=True)
    assert columns(private, 1) == [[106]] and "shown" not in " ".join(private.notes)
    assert columns(read_table(out.getvalue(), "x.xlsx", sheet="hidden"), 1) == [[6]]


WHOLE = {
    '{"columns": ["a", "b"], "index": [0, 1], "data": [[1, 2], [3, 4]]}': [[1, 3], [2, 4]],
    '{"meta": {"view": {"columns": [{"name": "a"}, {"name": "b"}]}}, "data": [[1, 2], [3, 4]]}': [[1, 3], [2, 4]],
    '{"count": 2, "data": [{"a": 1, "b": {"c": 2}}, {"a": 3, "b": {"c": 4}}]}': [[1, 3], [2, 4]],
    '{"x": [[1, 2], [3, 4]]}': [[1, 3], [2, 4]],
    '{"a": {"0": 1, "1": 3}, "b": {"0": 2, "1": 4}}': [[1, 3], [2, 4]],
}


@pytest.mark.slow
@pytest.mark.parametrize("text", WHOLE)
def test_the_printed_way_out_of_a_json_object_works(text, tmp_path):
    with pytest.raises(TableError) as caught:
        read_table(text.encode(), "x.json")
    (tmp_path / "x.json").write_text(text)
    words = shlex.split(str(caught.value).split("make a table: ")[1].removesuffix("."))
    subprocess.run([sys.executable, *words[1:]], cwd=tmp_path, check=True)
    assert columns(read_table((tmp_path / "x.csv").read_bytes(), "x.csv")) == WHOLE[text]


def test_no_key_of_a_file_reaches_a_shell():
    with pytest.raises(TableError) as caught:
        read_table(b'{"$(touch x)": [[1, 2], [3, 4]], "`y`": [{"a": 1}]}', "x.json")
    assert "touch" not in str(caught.value) and "`" not in str(caught.value)


def test_a_name_that_means_numbers_is_no_row_number_and_pid_is():
    text = "age,pid,rank\n" + "".join(f"{18 + j},{j // 4},{j}\n" for j in range(40))
    table = read_table(text.encode(), "x.csv")
    assert [singles_out(table, name, private=False) for name in table.usable] == [False, True, True]


@pytest.mark.parametrize(
    ("head", "what"),
    [
        (b"\0" * 12 + b"\xc2\xea\x81\x60" + b"\xb3" * 60, "a SAS table"),
        (b"HEADER RECORD*******LIBRARY HEADER RECORD!!!!!!!" + b"0" * 40, "a SAS transport file"),
        (b"ASCII SPSS PORT FILE" + b" " * 60, "a portable SPSS file"),
        (b"$FL2@(#) SPSS DATA FILE" + b" " * 60, "an SPSS file"),
    ],
)
def test_a_table_of_another_program_is_named(head, what):
    with pytest.raises(TableError, match=f"the content is {what}"):
        read_table(head, "x.bin")
