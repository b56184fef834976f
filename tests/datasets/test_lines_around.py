"""Check what stands around a table: lines below the names, footers, and marks that are words of the file."""

import datetime
from io import BytesIO

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpviz.cli import main
from dpviz.datasets.meanings import meaning_of
from dpviz.datasets.readers import Form, Recoding, TableError, read_table
from dpviz.domain import Domain

ROWS = [("a", 1.0, 4.0), ("b", 2.0, 5.5), ("c", 3.0, 6.0)]
FOOTERS = {
    "a total": (["Total,6,15.5"], ["The last line is a total of the others and was left out."]),
    "a total without a name": ([",Sum:,"], ["The last line is a total of the others and was left out."]),
    "a source": (["Source: Statistik Austria"], ["A line of notes or sources at the end was left out."]),
    "a source with commas": (["Quelle: eigene Erhebung, Stand 2024, vorläufig, gerundet"], ["A line of notes"]),
    "a quoted note": (['"Note: x, y, and z",,'], ["A line of notes or sources at the end was left out."]),
    "a sentence": (["Data are preliminary and may change."], ["A line of notes or sources at the end was left out."]),
    "all of them": (
        ["", "Total,6,15.5", "", "* revised", "© the authors", ""],
        [
            "The last line is a total of the others and was left out.",
            "2 lines of notes or sources at the end were left",
        ],
    ),
}
ROWS_TOO = {
    "a name that begins so": "Totally,3,1",
    "a word and no cells": "Vienna,,",
    "a number and no cells": "7",
    "within a quotation": '"d\nSource: e",4,7',
}


def text(rows=ROWS, below=(), head="name,x,y"):
    return "\n".join([head, *(",".join(map(str, row)) for row in rows), *below])


def read(content, name="x.csv", **form):
    return read_table(content if isinstance(content, bytes) else content.encode(), name, **form)


def sheet(*rows):
    book, buffer = openpyxl.Workbook(), BytesIO()
    for row in rows:
        book.active.append(row)
    book.save(buffer)
    return buffer.getvalue()


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", ["", "\n"])
@pytest.mark.parametrize("case", FOOTERS)
def test_what_stands_below_the_rows_of_a_public_table_is_left_out_with_a_remark(case, last, end):
    below, words = FOOTERS[case]
    table = read((text(below=below) + last).replace("\n", end))
    assert table.n_rows == 3 and table.values("y").tolist() == [4, 5.5, 6]
    assert all(any(note.startswith(one) for note in table.notes) for one in words)
    assert not any(cell in " ".join(table.notes) for cell in ("Austria", "15.5", "revised"))


@pytest.mark.parametrize("case", ROWS_TOO)
def test_a_last_row_is_no_footer(case):
    content = text(below=[ROWS_TOO[case]])
    try:
        table = read(content)
    except TableError as problem:
        assert "line 5 has 1 cell" in str(problem)
    else:
        assert table.n_rows == 4 and not any("left out" in note for note in table.notes)


def test_a_table_of_notes_keeps_its_rows():
    table = read(text([(f"Note: {i}", i, 2 * i) for i in range(12)]))
    assert table.n_rows == 12


@pytest.mark.parametrize("form", [{"header": True}, {"header": True, "decimal": ","}])
def test_in_a_private_file_every_line_below_the_names_is_a_row(form):
    table = read(text(below=["Total,6,15.5", "Source: x"]), private=True, **form)
    assert table.n_rows == 5


def test_footers_of_a_sheet():
    rows = [("name", "x", "y"), *ROWS, ("Total", 6, 15.5), (), ("Source: Statistik Austria",)]
    table = read(sheet(*rows), "x.xlsx")
    assert table.n_rows == 3 and len([note for note in table.notes if "left out" in note]) == 2
    private = read(sheet(*rows), "x.xlsx", private=True, header=True)
    assert private.n_rows == 5


@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_declared_lines_below_the_names_are_skipped(private, end):
    units = text([("", "cm", "kg"), ("", "(mean)", '"a"'), *ROWS]).replace("\n", end)
    table = read(units, private=private, header=True, lines_below=2)
    assert table.values("x").tolist() == [1, 2, 3] and table.values("y").tolist() == [4, 5.5, 6]
    below = read("title" + end + units, private=private, header=True, header_row=2, lines_below=2)
    assert below.values("x").tolist() == [1, 2, 3]


@pytest.mark.parametrize("private", [False, True])
def test_declared_rows_below_the_names_of_a_sheet_are_skipped(private):
    content = sheet(("name", "x", "y"), (None, "cm", "kg"), *ROWS)
    table = read(content, "x.xlsx", private=private, header=True, lines_below=1)
    assert table.values("x").tolist() == [1, 2, 3]


@pytest.mark.parametrize("other", ["NA,1", "-,2", '"open,3', "x" * 50 + ",4,5,6", ""])
def test_skipped_lines_and_unmarked_words_leave_each_private_row_alone(other):
    rule = Recoding("region", "one-hot", ("EU", "NA", "-"))
    form = {"private": True, "header": True, "recode": (rule,), "no_missing_marks": ("NA", "-"), "lines_below": 1}
    alone = read("region,x\n,cm\nEU,0\nNA,1\n-,2\n", **form)
    more = read(f"region,x\n,cm\nEU,0\nNA,1\n-,2\n{other}\n", **form)
    for name in ("region: EU", "region: NA", "region: -", "x"):
        np.testing.assert_array_equal(more.values(name)[:3], alone.values(name))
    assert [alone.values(f"region: {word}").tolist() for word in ("EU", "NA", "-")] == np.eye(3).tolist()


def test_a_mark_of_a_missing_cell_is_a_word_if_its_owner_says_so():
    content = "region,x\nEU,0\nNA,1\nAS,2\n-,3\n"
    before = read(content)
    assert before.columns[0].suggestion == "one-hot:AS,EU"
    after = read(content, no_missing_marks=("NA",))
    assert after.columns[0].suggestion == "one-hot:AS,EU,NA" and after.values("x").tolist() == [0, 1, 2, 3]
    rule = Recoding("region", "one-hot", ("EU", "NA", "AS"))
    with pytest.raises(ValueError, match="--no-missing-marks=NA"):
        read(content, recode=(rule,))
    assert read(content, recode=(rule,), no_missing_marks=("NA",)).values("region: NA").tolist()[:3] == [0, 1, 0]
    with pytest.raises(ValueError, match="no_missing_marks must be a list of some of NA"):
        Form(no_missing_marks=("EU",))
    with pytest.raises(ValueError, match="no_missing_marks"):
        Form(missing_marks=("NA",), no_missing_marks=("NA",))


def test_both_are_declared_on_the_command_line_and_written_into_the_dictionary(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.csv").write_text("region,x\n,cm\n" + "EU,0\nNA,1\nAS,2\n" * 40)
    declared = ["--header", "--lines-below", "1", "--no-missing-marks=NA", "--recode", "region=one-hot:EU,NA,AS",
                "--bounds", "x=0..2", "--n-public", "120", "--rows-per-person", "1"]  # fmt: skip
    assert main(["describe", "r.csv", "--private", *declared, "-o", "r.json"]) == 0
    assert '"no_missing_marks": [\n   "NA"\n  ]' in (tmp_path / "r.json").read_text()
    assert main(["run", "nsm", "--data", "r.csv", "--private", "--n-clusters", "3", "--epsilon", "50"]) == 0
    assert "NA" in capsys.readouterr().out


def test_times_and_columns_of_many_words_are_refused_with_their_reason():
    rows = "".join(f"{i},0{i % 10}:30,word {i}\n" for i in range(60))
    _, clock, words = read("n,t,w\n" + rows).columns
    assert clock.kind == "time" and "Write them as numbers, such as 8.5 for 08:30" in clock.reason
    assert words.kind == "text" and "more than the 50 different words" in words.reason and not words.suggestion
    book = sheet(("n", "t"), (1, datetime.time(8, 30)), (2, datetime.timedelta(hours=30)), (3, None))
    assert read(book, "x.xlsx").columns[1].kind == "time"
    buffer = BytesIO()
    pq.write_table(pa.table({"n": [1, 2], "t": pa.array([5, 6], pa.duration("s"))}), buffer)
    assert read(buffer.getvalue(), "x.parquet").columns[1].kind == "time"


@pytest.mark.parametrize("name", ["50%", "5 %", "100%", "2024", "NA"])
def test_a_confirmed_line_of_names_may_hold_a_percentage(name):
    content = f"a,{name}\n1,2\n3,4\n"
    assert read(content, private=True, header=True).usable == ("a", name)
    with pytest.raises(TableError, match="value instead of a name"):
        read(content)


def test_a_letter_alone_is_no_unit():
    assert meaning_of("C") is None and meaning_of("m") is None
    assert meaning_of("inside (C)").unit == "°C" and meaning_of("temp_c").unit == "°C"


def test_a_column_without_width_is_named():
    with pytest.raises(ValueError, match="column 'b' must have finite bounds"):
        Domain.box([0, 5], [1, 5], columns=["a", "b"])
    with pytest.raises(ValueError, match="column 2 must have finite bounds"):
        Domain.box([0, 5], [1, 5])


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ('"1,20,345"', "a number in lakhs: write it without signs between its digits"),
        ("12K", "a number with a word for its thousands"),
        ("150 cm", "a number with its unit: write the unit into the name"),
        ("<5", "a limit in place of a number"),
        ("10-20", "a range of numbers"),
        ("01-JAN-60", "a date with a month's name: write it as 2020-01-31"),
        ("k. A.", "Say which cells stand for a missing one"),
    ],
)
def test_the_first_cell_that_is_no_number_is_told_by_what_it_looks_like(cell, words):
    column = read(f"n,x\n1,2\n2,{cell}\n3,4\n").columns[1]
    start = "first in row 2. " if words.startswith("Say") else "first in row 2. That cell looks like "
    assert column.kind == "mixed" and f"{start}{words}" in column.reason and cell not in column.reason


@pytest.mark.parametrize("units", [",(cm),[kg]", ",EUR/month,%", ",m²,°C"])
def test_a_line_of_units_below_the_names_of_a_public_table_is_skipped_with_a_remark(units):
    content = text([units.split(","), *ROWS])
    table = read(content)
    assert table.values("x").tolist() == [1, 2, 3] and "which holds units, was skipped" in " ".join(table.notes)
    private = read(content, private=True, header=True)
    assert private.n_rows == 4 and np.isnan(private.values("x")[0])


@pytest.mark.parametrize("row", ["d,cm,kg", "x,NA,-", "x,k. A.,7", "x,1,cm", "x,unknown,missing", ",age,pay"])
def test_a_first_row_that_may_be_a_person_is_no_line_of_units(row):
    table = read_table(text([row.split(","), *ROWS]).encode(), "x.csv", words=True)
    assert table.n_rows == 4 and not any("units" in note for note in table.notes)


def test_a_line_of_which_only_the_end_is_looked_at_is_a_row():
    end = "Total,1," + "9" * ((1 << 14) - len("Total,1,"))
    assert read(text(below=[f"Sub{end}"])).n_rows == 4
