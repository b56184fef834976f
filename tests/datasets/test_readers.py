"""Check the readers: a broken file is refused in a sentence that shows no cell, and a good file is read exactly."""

import io
import itertools
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.datasets.readers import Limits, Stopped, TableError, excel, read_table
from dpviz.datasets.readers.text import _lines as lines_of
from tests.broken_files import CELL, inside, make_files, workbook

FILES = make_files()


def test_the_corpus_is_large():
    assert len(FILES) >= 40


@pytest.mark.parametrize("name", FILES)
def test_a_broken_file_gets_its_sentence(name):
    file, content, expected = FILES[name]
    content = content() if callable(content) else content
    if isinstance(expected, tuple):
        columns = {column.name: column for column in read_table(content, file).columns}
        column = columns[expected[0]]
        assert (column.kind, column.values) == (expected[1], None)
        said = column.reason
        assert said.endswith(".")
    elif expected[0].isupper():
        said = " ".join(read_table(content, file).notes)
        assert said == expected
    else:
        with pytest.raises(TableError) as caught:
            read_table(content, file)
        said = str(caught.value)
        assert said == f"{file}: {expected}" and caught.value.__cause__ is None
    assert CELL not in said and "SENTINEL" not in said and "\n" not in said


@pytest.mark.filterwarnings("error")
def test_the_size_guards_hold():
    csv = b"a,b\n" + b"1,2\n" * 100
    for limits, words in (
        (Limits(bytes=10), "larger than"),
        (Limits(columns=1), "at most 1 columns"),
        (Limits(rows=99), "at most 99 rows"),
        (Limits(cells=150), "at most 150 cells"),
    ):
        with pytest.raises(TableError, match=words):
            read_table(csv, "x.csv", limits=limits)
    assert read_table(csv, "x.csv", limits=Limits(rows=100, cells=200)).n_rows == 100
    buffer = io.BytesIO()
    pq.write_table(pa.table({"a": np.zeros(3_000_000)}), buffer)
    assert len(buffer.getvalue()) < 1_000_000
    with pytest.raises(TableError, match="at most 2,000,000 cells"):
        read_table(buffer.getvalue(), "x.parquet", limits=Limits(cells=2_000_000))


@pytest.mark.parametrize("private", [True, False])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("closed", [True, False])
def test_the_limit_on_rows_is_the_number_that_it_states(private, header, end, closed):
    """Exactly as many rows as allowed are read, and one more is refused, with or without a line end after the last."""
    form = {"header": True} if header else {"header": False, "n_columns": 2}
    for separator in ",", " ":
        lines = ["a,b"] * header + ["1,2"] * 1000
        text = (end.join(lines) + end * closed).replace(",", separator).encode()
        form["separator"] = separator
        assert read_table(text, "x.csv", private=private, limits=Limits(rows=1000), **form).n_rows == 1000
        with pytest.raises(TableError, match="at most 999 rows"):
            read_table(text, "x.csv", private=private, limits=Limits(rows=999), **form)


def test_a_line_end_between_two_blocks_counts_once():
    block = b"x" * ((1 << 22) - 1)
    assert [lines_of(memoryview(block + end)) for end in (b"\r\n", b"\r\nx", b"\n\r", b"")] == [1, 2, 2, 1]


GOOD = {
    "plain": ("a,b\n1,2.5\n-0.0,1e-3\n", {"a": [1, -0.0], "b": [2.5, 0.001]}),
    "tabs": ("a\tb\n1\t2\n", {"a": [1], "b": [2]}),
    "bars": ("a|b\n1|2\n", {"a": [1], "b": [2]}),
    "one column": ("a\n1\n\n3\n", {"a": [1, 3]}),
    "one row": ("a,b\n1,2", {"a": [1], "b": [2]}),
    "old line ends": ("a,b\r1,2\r3,4\r", {"a": [1, 3], "b": [2, 4]}),
    "quoted line breaks": ('a,"b\nc"\n"1",2\n', {"a": [1], "b c": [2]}),
    "English thousands": ('a,b\n"1,234",1\n"12,345.5",2\n', {"a": [1234, 12345.5], "b": [1, 2]}),
    "continental thousands": ("a;b\n1.234,5;1\n12.345;2\n", {"a": [1234.5, 12345], "b": [1, 2]}),
    "Swiss thousands": ("a;b\n1'234.5;1\n12'345;2\n", {"a": [1234.5, 12345], "b": [1, 2]}),
    "spaces": ("a;b\n 1\u00a0234 ;1\n2;2\n", {"a": [1234, 2], "b": [1, 2]}),
    "booleans": ("a,b\ntrue,1\nNO,2\n", {"a": [1, 0], "b": [1, 2]}),
    "missing": ("a,b\n1,NA\n,4\ninf,1e99\n", {"a": [1, np.nan, np.nan], "b": [np.nan, 4, np.nan]}),
    "byte order mark": ("\ufeffa,b\n1,2\n", {"a": [1], "b": [2]}),
    "blank lines first": ("\n\na,b\n1,2\n", {"a": [1], "b": [2]}),
    "trailing separator": ("a,b,\n1,2,\n3,4,\n", {"a": [1, 3], "b": [2, 4]}),
}


@pytest.mark.parametrize("name", GOOD)
def test_good_text_is_read_to_the_bit(name):
    text, expected = GOOD[name]
    table = read_table(text.encode(), "x.csv")
    assert table.usable == tuple(expected)
    for column, values in expected.items():
        found = table.values(column)
        assert np.array_equal(found, values, equal_nan=True) and not found.flags.writeable
        assert np.array_equal(np.signbit(found), np.signbit(values)) or np.isnan(values).any()


def test_the_name_does_not_matter_the_content_does():
    frame = pd.DataFrame({"a": [1.5, 2.5], "b": [3, 4]})
    buffer = io.BytesIO()
    frame.to_excel(buffer, index=False)
    for content in (frame.to_csv(index=False).encode(), frame.to_parquet(), buffer.getvalue()):
        table = read_table(io.BytesIO(content), "strange.name")
        assert table.matrix(["b", "a"]).tolist() == [[3, 1.5], [4, 2.5]]


def test_excel_numbers_booleans_and_error_cells():
    frame = pd.DataFrame({"a": [1.5, "#DIV/0!", 2], "b": [True, None, False], "c": ["1 234", "5", None]})
    buffer = io.BytesIO()
    frame.to_excel(buffer, index=False)
    table = read_table(buffer.getvalue(), "x.xlsx")
    assert np.array_equal(
        table.matrix(["a", "b", "c"]), [[1.5, 1, 1234], [np.nan, np.nan, 5], [2, 0, np.nan]], equal_nan=True
    )


def test_parquet_types():
    columns = {
        "small": pa.array([1, None, 3], pa.int8()),
        "decimal": pa.array([Decimal(1), Decimal(2), None], pa.decimal128(12, 2)),
        "flag": pa.array([True, None, False]),
        "category": pa.array(["x", "y", "x"]).dictionary_encode(),
        "day": pa.array([0, 1, 2], pa.date32()),
        "__index_level_0__": pa.array([7, 8, 9]),
        "nothing": pa.nulls(3),
    }
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    table = read_table(buffer.getvalue(), "x.parquet")
    kinds = {column.name: column.kind for column in table.columns}
    assert list(kinds.values()) == ["number", "number", "true/false", "text", "date", "index", "empty"]
    assert np.array_equal(table.matrix(table.usable), [[1, 1, 1], [np.nan, 2, np.nan], [3, np.nan, 0]], equal_nan=True)


def test_missing_cells_are_filled_row_by_row_or_stay_missing():
    table = read_table(b"a,b\n1,\n,2\n3,4\n", "x.csv")
    assert table.missing(["a", "b"]) == 2 and table.missing(["a"]) == 1
    X = table.matrix(["a", "b"], {"a": 9.0})
    assert np.array_equal(X, [[1, np.nan], [9, 2], [3, 4]], equal_nan=True) and not X.flags.writeable
    for bad in ([], ["c"]):
        with pytest.raises(TableError):
            table.matrix(bad)


def test_above_a_million_cells_numbers_take_half_the_memory():
    small = read_table(b"a\n" + b"1.1\n" * 1000, "x.csv")
    large = read_table(b"a,b\n" + b"1.1,2\n" * 500_001, "x.csv")
    assert small.matrix(["a"]).dtype == np.float64 and large.matrix(["a", "b"]).dtype == np.float32


def test_nothing_of_the_rows_is_in_a_repr():
    table = read_table(f"a,b\n{CELL},2\n".encode(), "x.csv")
    assert CELL not in repr(table) and "n_rows" not in repr(table)


def test_reading_reports_progress_and_can_be_stopped():
    content = b"a,b\n" + b"1.25,2.5\n" * 1_500_000
    seen = []
    read_table(content, "x.csv", on_progress=seen.append)
    assert seen[-1] == 1.0 and len(seen) > 3 and all(a <= b for a, b in itertools.pairwise(seen))
    heard = []

    def advance(fraction):
        heard.append(fraction)
        if len(heard) == 2:
            raise Stopped

    with pytest.raises(Stopped):
        read_table(content, "x.csv", on_progress=advance)
    assert len(heard) == 2 and heard[-1] < 1.0


cells = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False, width=64).map(repr),
    st.integers(-(10**12), 10**12).map(str),
    st.sampled_from(["", "NA", "nan", "-0.0", "1e400"]),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=20), st.sampled_from([",", ";", "\t", "|"]))
def test_what_is_written_is_read_back(rows, delimiter):
    text = "\n".join(["a" + delimiter + "b", *(delimiter.join(row) for row in rows)])
    expected = np.array([[float(cell or "nan") if cell != "NA" else np.nan for cell in row] for row in rows])
    expected[~(np.abs(expected) <= 1e30)] = np.nan
    try:
        table = read_table(text.encode(), "x.csv")
    except TableError as error:
        assert np.isnan(expected).all() and "no column can be used for clustering" in str(error)
        return
    for j, name in enumerate("ab"):
        if name in table.usable:
            assert np.array_equal(table.values(name), expected[:, j], equal_nan=True)
        else:
            assert np.isnan(expected[:, j]).all()


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.binary(max_size=300), st.text(alphabet="a1,;.\"' \n\r\t-=eä١\x00", max_size=80).map(str.encode)))
def test_no_bytes_raise_anything_but_one_sentence(content):
    for magic in (b"", b"PK\x03\x04", b"PAR1"):
        try:
            read_table(magic + content, "x.csv")
        except TableError as error:
            assert str(error).startswith("x.csv: ") and "\n" not in str(error)


def _sheet(rows):
    start = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    return inside(workbook(["a"], [1]), "xl/worksheets/sheet1.xml", start + rows + "</sheetData></worksheet>")


HOSTILE = {
    "a far first row": (
        lambda: _sheet('<row r="999999999999999"><c r="A999999999999999"><v>1</v></c></row>'),
        "are empty",
    ),
    "a far second row": (
        lambda: _sheet('<row r="1"><c r="A1" t="str"><v>a</v></c></row><row r="999999999999999"><c><v>1</v></c></row>'),
        "are empty",
    ),
    "many names": (
        lambda: inside(workbook(["a"], [1]), "xl/workbook.xml", "<workbook>" + "<sheet/>" * 200_000 + "</workbook>"),
        "too many sheets or defined names",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_workbook_is_refused_after_a_bounded_number_of_rows(name):
    make, words = HOSTILE[name]
    heard = []
    with pytest.raises(TableError, match=words):
        read_table(make(), "x.xlsx", on_progress=heard.append)
    assert len(heard) <= 50


def test_a_wide_empty_cell_is_not_padded_and_stop_is_heard_in_the_gap(monkeypatch):
    row = "".join(f'<row r="{i}"><c r="A{i}"><v>{i}</v></c><c r="ZZZ{i}"/></row>' for i in range(2, 2002))
    seen = []
    trimmed = excel._trimmed
    monkeypatch.setattr(excel, "_trimmed", lambda cells: seen.append(len(cells)) or trimmed(cells))
    table = read_table(_sheet('<row r="1"><c r="A1" t="str"><v>a</v></c></row>' + row), "x.xlsx")
    assert table.n_rows == 2000 and max(seen) <= Limits().columns + 1

    def stop(fraction):
        raise Stopped

    with pytest.raises(Stopped):
        read_table(HOSTILE["a far first row"][0](), "x.xlsx", on_progress=stop)
