"""Check that one table gives the same names and numbers in every format."""

import gzip
import io

import numpy as np
import openpyxl
import pandas as pd
import pytest

from dpviz import frames as messages
from dpviz.cli import main
from dpviz.datasets import load_csv, readers
from dpviz.datasets.readers import Form, Recoding, TableError, child, formats, frames, read_table

FRAME = pd.DataFrame(
    {"age": [34.0, 51, 27, 60], "city": ["Oslo", "Rome", "Oslo", "Bern"], "income": [1.5, 2, 3, np.nan]}
)


def made(write):
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def text(**how):
    return FRAME.to_csv(index=False, **how).encode()


FORMATS = {
    "x.csv": text(),
    "x.dat": b"age city income\n34 Oslo 1.5\n51 Rome 2\n27   Oslo 3\n60 Bern NA\n",
    "r.txt": b'"age" "city" "income"\n"1" 34 "Oslo" 1.5\n"2" 51 "Rome" 2\n"3" 27 "Oslo" 3\n"4" 60 "Bern" NA\n',
    "x.csv.gz": gzip.compress(text()),
    "x.json": FRAME.to_json(orient="records").encode(),
    "x.jsonl": FRAME.to_json(orient="records", lines=True).encode(),
    "x.jsonl.gz": gzip.compress(FRAME.to_json(orient="records", lines=True).encode()),
    "x.feather": made(FRAME.to_feather),
    "x.arrow": made(lambda out: FRAME.to_feather(out, compression="uncompressed")),
    "x.dta": made(lambda out: FRAME.to_stata(out, write_index=False)),
    "old.dta": made(lambda out: FRAME.to_stata(out, write_index=False, version=114)),
    "x.parquet": made(FRAME.to_parquet),
    "x.parquet.gz": gzip.compress(made(FRAME.to_parquet)),
    "x.xlsx": made(lambda out: FRAME.to_excel(out, index=False)),
}


@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("name", FORMATS)
def test_the_same_table_comes_out_of_every_format(name, private):
    if private and name == "x.json":
        pytest.skip("a private list of records is read from lines only")
    table = read_table(FORMATS[name], name, header=True, private=private)
    if private:  # the owner chooses the columns of numbers, in which words are missing cells
        assert table.usable == ("age", "city", "income") and np.isnan(table.values("city")).all()
    assert {"age", "income"} <= set(table.usable) and "city" in {column.name for column in table.columns}
    assert np.array_equal(table.matrix(["age", "income"]), FRAME[["age", "income"]], equal_nan=True)


def sent(*request):
    """Read a file, and pack and unpack its table as if a separate reader process had sent it."""
    stream = io.BytesIO()
    frames.send_table(stream, child.read(*request))
    stream.seek(0)
    arriving = messages.frames(stream)
    return frames.table_from(request[1], next(arriving)[1], arriving)


@pytest.mark.parametrize("name", [*FORMATS, "labels.dta"])
def test_words_name_known_groups_in_every_format(name, monkeypatch, tmp_path):
    monkeypatch.setattr(readers, "read_apart", sent)
    labels = FRAME.astype({"city": "category"})
    content = FORMATS.get(name) or made(lambda out: labels.to_stata(out, write_index=False))
    path = tmp_path / name
    path.write_bytes(content)
    data = load_csv(path, low=0, high=99, label="city", header=True, columns=["age", "income"])
    assert data.labels.tolist() == [0, 1, 0, 2] and data.columns == ("age", "income")


def workbook(*sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets:
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    return made(book.save)


def test_a_sheet_of_notes_is_skipped_and_any_sheet_can_be_asked_for():
    rows = [["a", "b"], [1, 2], [3, 4]]
    content = workbook(("Notes", [["made in May"]]), ("2023", rows), ("2024", [["c"], [9]]))
    table = read_table(content, "x.xlsx", header=True)
    assert table.usable == ("a", "b") and "Of 3 sheets, sheet 2, '2023', was read" in table.notes[0]
    assert read_table(content, "x.xlsx", header=True, sheet="2024").usable == ("c",)
    assert read_table(content, "x.xlsx", header=True, sheet="3").usable == ("c",)
    with pytest.raises(TableError, match="there is no sheet '2025'"):
        read_table(content, "x.xlsx", header=True, sheet="2025")


def test_the_table_may_begin_below_a_title():
    titled = workbook(("data", [["Report of May"], [], ["a", "b"], [1, 2]]))
    assert read_table(titled, "x.xlsx", header_row=3).usable == ("a", "b")
    assert read_table(b"# made in May\n# by us\na,b\n1,2\n", "x.csv", header_row=3).usable == ("a", "b")
    with pytest.raises(TableError, match="no line 9"):
        read_table(b"a,b\n1,2\n", "x.csv", header_row=9)


def test_an_archive_never_grows_beyond_the_limit_and_holds_one_table():
    from dpviz.datasets.readers import Limits

    bomb = gzip.compress(b"a\n" + b"1\n" * 500_000)
    with pytest.raises(TableError, match="would unpack to more than"):
        read_table(bomb, "x.csv.gz", limits=Limits(inflated=100_000))
    with pytest.raises(TableError, match="holds another archive"):
        read_table(gzip.compress(gzip.compress(b"a\n1\n")), "x.gz")
    with pytest.raises(TableError, match="holds an R workspace"):
        read_table(gzip.compress(b"RDX3\nX\n"), "x.RData")


def test_the_command_line_takes_known_groups_missing_cells_and_no_address(tmp_path, capsys):
    path = tmp_path / "people.csv.gz"
    path.write_bytes(gzip.compress(pd.concat([FRAME] * 10).to_csv(index=False).encode()))
    run = [
        "run",
        "glloyd",
        "--data",
        str(path),
        "--public",
        "--n-clusters",
        "2",
        "--low",
        "0",
        "0",
        "--high",
        "99",
        "9",
    ]
    assert main([*run, "--label", "city"]) == 0
    shown = capsys.readouterr()
    assert "10 of 40 rows have a missing cell" in shown.err and "largest known group" in shown.out
    assert main([*run, "--label", "city", "--missing", "middle"]) == 0
    assert "missing" not in capsys.readouterr().err
    assert load_csv(path, low=0, high=[99, 9], label="city", missing="middle").X[3].tolist() == [60.0, 4.5]
    assert main(run) == 2 and "--columns with the others, or --recode city=RULE" in capsys.readouterr().err
    for command in (
        [*run[:3], "https://example.org/people.csv"],
        [*run[:3], "s3://x/y.csv"],
        ["describe", "s3://x/y.csv"],
    ):
        assert main([*command, "--public"]) == 2
        assert "contacts no other machine" in capsys.readouterr().err


def test_a_map_has_east_on_the_right(tmp_path):
    path = tmp_path / "airports.csv"
    path.write_text("height,Latitude,Longitude\n1,60,10\n2,61,11\n")
    assert load_csv(path, low=0, high=90).view == (2, 1)
    path.write_text("a,b,c\n1,60,10\n2,61,11\n")
    assert load_csv(path, low=0, high=90).view == (0, 1)


def test_the_dictionary_of_json_records_has_another_name(tmp_path, capsys):
    path = tmp_path / "people.json"
    path.write_bytes(FORMATS["x.json"])
    assert main(["describe", str(path), "--public", "-o", str(tmp_path / "people.dictionary.json")]) == 0
    capsys.readouterr()
    assert main(["run", "glloyd", "--data", str(path), "--public", "--n-clusters", "1", "--columns", "age"]) == 0


def test_value_labels_of_stata_are_words_and_numbers_without_one_stay_numbers():
    frame = pd.DataFrame({"grade": [1, 2, 7, np.nan, 7], "share": [0.5, 1, 2, 3, 4]})
    labels = {"grade": {1: "low", 7: "high"}, "share": {1: "whole"}}
    content = made(lambda out: frame.to_stata(out, write_index=False, value_labels=labels))
    rules = (Recoding.of("grade", "ordinal:low,2,high"),)
    for private in (False, True):
        table = read_table(content, "x.dta", header=True, private=private, recode=rules, words=True)
        np.testing.assert_array_equal(table.values("grade"), [0, 1, 2, np.nan, 2])
    own = read_table(content, "x.dta", header=True, private=True, decimal=",")
    np.testing.assert_array_equal(own.values("share"), [0.5, np.nan, 2, 3, 4])


@pytest.mark.parametrize("ending", formats._ENDINGS)
def test_every_ending_has_a_reader_that_its_first_bytes_do_not_contradict(ending):
    for private in (True, False):
        kind = formats.declared_format(f"X.{ending.upper()}", b"a,b\n", Form(private=private, header=True))
        assert kind == (formats._ENDINGS[ending].reader if private else "text")


def test_the_formats_are_named_once_and_typed_ones_need_no_question():
    wanted = "drop CSV or other text, Excel (.xlsx), Parquet, Feather, JSON records or Stata"
    assert wanted == formats.FORMATS
    typed = {ending for ending in formats._ENDINGS if formats.has_types(f"x.{ending}")}
    assert typed == {"parquet", "feather", "arrow", "dta"}
    assert formats.has_types("X.DTA.GZ") and not formats.has_types("x.gz") and not formats.has_types("parquet.csv")
