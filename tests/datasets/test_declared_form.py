"""Check that the owner's declaration of a file's form decides how the file is read, by whatever route."""

import io
import json
import random
import re
import tracemalloc
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pytest

from dpviz.cli import main
from dpviz.datasets import dictionary, load_csv, readers
from dpviz.datasets.readers import Form, Limits, Stopped, TableError, apart, read_table, text
from tests.broken_files import workbook

ROWS = b"a;b\n1.234;7,5\n5.678;1.000,25\nx;\n"
COLUMNS = [{"name": name, "low": 0, "high": 9} for name in "ab"]


def test_the_decimal_sign_of_a_private_file_is_a_point_until_another_is_declared(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_bytes(ROWS)
    with_point = [[1.234, np.nan], [5.678, np.nan], [np.nan, np.nan]]
    with_comma = [[1234, 7.5], [5678, 1000.25], [np.nan, np.nan]]
    options = {"low": 0, "high": 9, "n_public": 3, "private": True, "header": True}
    assert np.array_equal(load_csv(path, **options).X, with_point, equal_nan=True)
    assert np.array_equal(load_csv(path, decimal=",", **options).X, with_comma, equal_nan=True)
    facts = {"columns": COLUMNS, "n_public": 3, "form": {"decimal": ",", "header": True}}
    (tmp_path / "mine.json").write_text(json.dumps(facts))
    data = load_csv(path, private=True)
    assert np.array_equal(data.X, with_comma, equal_nan=True) and data.facts["form"] == facts["form"]
    assert np.array_equal(load_csv(path, decimal=".", private=True).X, with_point, equal_nan=True)
    assert np.isnan(load_csv(path, decimal=",", thousands="", **options).X[:, 0]).all()


def test_the_command_line_shows_a_made_up_cell(tmp_path, capsys):
    path = tmp_path / "mine.csv"
    path.write_bytes(ROWS)
    command = ["--data", str(path), "--private", "--header", "--low", "0", "--high", "9", "--n-public", "50"]
    for more, cell in (([], "1,234.5"), (["--decimal", ","], "1.234,5"), (["--thousands", "none"], "1234.5")):
        assert main(["run", "nsm", *command, "--n-clusters", "2", *more]) == 0
        shown = capsys.readouterr().out
        assert f"numbers like {cell};" in shown and shown.index(cell) < shown.index("booked:")
    assert main(["describe", str(path), "--private", "--header", "--decimal", ","]) == 0
    shown = capsys.readouterr()
    assert "1.234,5" in shown.err and json.loads(shown.out)["form"]["decimal"] == ","


@pytest.mark.parametrize(
    "entry",
    [{"label": {}}, {"label": 3}, {"n_clusters": 10**12}, {"n_clusters": 257}, {"form": []}, {"form": {"decimal": ";"}},
     {"form": {"more": 1}}, {"form": {"header": 1}}, {"form": {"n_columns": True}}, {"form": {"n_columns": 201}},
     {"form": {"decimal": ",", "thousands": ","}}, {"form": {"separator": "x"}}, {"form": {"header_row": 0}},
     {"form": {"decimal_of": {"a": ";"}}}],
)  # fmt: skip
def test_a_dictionary_is_checked_when_it_is_parsed(entry):
    with pytest.raises(ValueError, match=r"^mine\.json: [^\n]*\.$"):
        dictionary.parse(json.dumps({"columns": COLUMNS, **entry}), "mine.json")
    dictionary.parse(json.dumps({"columns": COLUMNS, "label": None, "n_clusters": 256, "form": {"n_columns": 200}}))


def test_the_keys_of_a_private_record_are_declared_and_no_other_is_read():
    records = [{"b": 2, " a": 1, "HIV positive since": 3}, {" a": 5, "a": 4, "b": "1,5"}, 7, {"a": [1]}]
    content = "\n".join(map(json.dumps, records)).encode()
    table = read_table(content, "x.jsonl", private=True, names=("a", "b"))
    assert table.usable == ("a", "b")
    assert np.array_equal(table.matrix("ab"), [[1, 2], [4, np.nan], [np.nan] * 2, [np.nan] * 2], equal_nan=True)
    assert read_table(content, "x.jsonl", private=True, header=True).usable == ("b", "a", "HIV positive since")
    for header in (None, False):
        with pytest.raises(TableError, match="a record must not decide which keys"):
            read_table(content, "x.jsonl", private=True, header=header)


RECORDS = [
    '{"a": 1, "b": nope}', '{"a": [1, "b": 2}', '{"a": "1, "b": 2}', '{"a": 1}}', "7", '{"a": NaN, "b": Infinity}',
    '{"a": 1, "a": 2}', '{"a": ' + "9" * 6000 + "}", '{"a": ' + "[" * 3000 + "]" * 3000 + "}", '"', "{", "[", "]",
]  # fmt: skip


@pytest.mark.parametrize("record", RECORDS, ids=range(len(RECORDS)))
def test_no_private_record_changes_how_another_one_is_read(record):
    lines = [json.dumps({"a": i, "b": i % 5}) for i in range(200)]
    without = read_table("\n".join(lines).encode(), "x.jsonl", private=True, names=("a", "b"))
    lines.insert(100, record)
    table = read_table("\n".join(lines).encode(), "x.jsonl", private=True, names=("a", "b"))
    assert table.n_rows == 201 and table.notes == without.notes
    assert np.array_equal(np.delete(table.matrix("ab"), 100, axis=0), without.matrix("ab"))


@pytest.mark.parametrize("content", [b'[{"a": 1}, {"a": "2}]', b'[{"a": 1}]', b'{"a": 1}', b""])
@pytest.mark.parametrize("name", ["x.json", "x.JSON"])
def test_a_private_list_of_records_is_refused_by_its_name_and_never_by_a_record(name, content):
    with pytest.raises(TableError, match=r"^x\.\w+: .*one record per line in a file that ends in \.jsonl\.$"):
        read_table(content, name, private=True, names=("a",))


def test_a_workbook_s_far_cells_are_not_read(monkeypatch):
    parsed = []
    read = openpyxl.worksheet._reader.WorkSheetParser.parse_cell
    monkeypatch.setattr(
        openpyxl.worksheet._reader.WorkSheetParser,
        "parse_cell",
        lambda self, cell: parsed.append(1) or read(self, cell),
    )
    with pytest.raises(TableError, match="at most 200 columns"):
        read_table(workbook(["a"] * 1000), "x.xlsx")
    assert len(parsed) == 201


def test_of_a_wide_row_a_workbook_s_reader_holds_few_cells_and_stops_where_it_refuses(monkeypatch):
    """A row of 9,000 cells takes 300 kB of XML; a sheet that does not state its size is not scanned to find it."""
    wide, inflated, read = range(9_000), [], zipfile.ZipExtFile.read
    first, later = unsized(workbook(wide, [1, 2])), unsized(workbook(["a", "b"], [1, 2], wide, [3, 4]))

    def counted(member, n=-1):
        content = read(member, n)
        inflated.append(len(content) * (member.name == "xl/worksheets/sheet1.xml"))
        return content

    monkeypatch.setattr(zipfile.ZipExtFile, "read", counted)
    with pytest.raises(TableError, match="at most 200 columns"):
        read_table(first, "x.xlsx")
    assert sum(inflated) < 100_000
    tracemalloc.start()
    table = read_table(later, "x.xlsx", private=True, header=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.array_equal(table.columns[0].values, [1, np.nan, 3], equal_nan=True)
    assert peak < 2_000_000, peak


def unsized(content):
    """Return a workbook whose sheets do not state their size."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        for member in source.infolist():
            target.writestr(member.filename, re.sub(rb"<dimension[^>]*/>", b"", source.read(member)))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "column"),
    [(b"a;b\n1.234;2\n", "a"), (b"a;b\n1.234;2,5\n", "a"), (b'a,b\n"1,234",2.5\n', "a"),
     (b"a;b\n48.1;1,234\n48.25;5,678\n", "b"), (b"a;b\n12.203,34;48.123\n", "b"),
     (b"a;b\n" + b"1;2\n" * 40_000 + b"1.234;2\n", "a"), (b'[{"a": 1, "b": "1.234"}]', "b")],
)  # fmt: skip
def test_a_public_column_whose_cells_may_be_two_numbers_is_asked_about(content, column):
    table = read_table(content, "x", header=True)
    assert [one.name for one in table.doubtful] == [column] and f"--decimal '{column}=,'" in table.question()
    assert table.question(names=["c"]) == "" != table.question(names=["c", column])
    for answer in ({"decimal": "."}, {"decimal": ","}, {"decimal_of": {column: ","}}, {"decimal_of": {column: "."}}):
        assert read_table(content, "x", header=True, **answer).question() == ""


def test_a_public_cell_whose_sign_is_known_is_not_asked_about():
    for content in (b"a;b\n1.234,5;2\n1.234;3\n", b'a,b\n"1,234,567",2.5\n"1,234",1\n', b"a,b\n1.234,2.5\n"):
        assert read_table(content, "x.csv").doubtful == ()
    table = read_table(b"a;b\n1,5;1.5\n1,234;2\n", "x.csv")  # each column shows which sign is its decimal point
    assert table.question() == "" and table.values("a").tolist() == [1.5, 1.234] and table.values("b")[0] == 1.5


@pytest.mark.slow
def test_the_decimal_sign_of_a_public_file_is_what_all_of_its_cells_say():
    """Reading only up to the first decisive cells must give the same result as stripping and judging every cell."""

    def judged(records, delimiter):
        cells = [re.sub(r"(?<=\d)-$", "", cell.strip()) for row in records for cell in row]
        cells = [re.sub(r"^[$€]\s*(?=[-+.\d])|(?<=\d)\s*[$€%]$", "", cell) for cell in cells]
        cells = [cell.removeprefix("-") for cell in cells if not re.fullmatch(r"-?\d{1,3}([.,]\d{3})+", cell)]
        comma = any(re.fullmatch(r"(\d{1,3}([.']\d{3})*|\d*),\d*", cell) for cell in cells)
        point = any(re.fullmatch(r"(\d{1,3}(,\d{3})*|\d*)[.]\d*", cell) for cell in cells)
        said = {(True, False): ",", (False, True): "."}.get((comma, point), "?")
        return "." if delimiter == "," and said == "?" else said

    draw, seen = random.Random(4), set()
    parts = ["1", "23", "456", ",", ".", "1,5", "1.5", "1.234", "1,234", "$", "€", " %", "-", " ", "x", "'"]
    for _ in range(3_000):
        records = [["".join(draw.choices(parts, k=draw.randint(0, 5))) for _ in range(3)] for _ in range(2)]
        for delimiter in ",;":
            sign = text._decimal_sign(records, delimiter)
            assert sign == judged(records, delimiter), records
            seen.add((sign, delimiter))
    assert len(seen) == 5


@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("ending", ["csv", "json", "xlsx", "parquet", "feather"])
def test_one_column_may_have_a_decimal_sign_of_its_own(private, ending, files_are_read_here):
    frame = pd.DataFrame({"lat": ["48.123", "52.500"], "kg": ["74,126", "1.081,5"]})
    content = {
        "csv": frame.to_csv(index=False, sep=";").encode(),
        "json": frame.to_json(orient="records").encode(),
        "xlsx": workbook(list(frame), *frame.to_numpy().tolist()),
        "parquet": bytes(frame.to_parquet()),
        "feather": frame.to_feather(out := io.BytesIO()) or out.getvalue(),
    }[ending]
    said = {"header": True, "private": private, "decimal": "." if private else None, "decimal_of": {"kg": ","}}
    said |= {} if private else {"decimal_of": {"kg": ",", "lat": "."}}
    if private and ending == "json":  # a private list of records is read from lines only
        content, ending = frame.to_json(orient="records", lines=True).encode(), "jsonl"
    table = read_table(content, f"x.{ending}", **said)
    assert table.values("lat").tolist() == [48.123, 52.5] and table.values("kg").tolist() == [74.126, 1081.5]
    facts = {"columns": [{"name": name, "low": 0, "high": 9} for name in frame], "form": {"decimal_of": {"kg": ","}}}
    assert dictionary.complete(facts)["form"] == facts["form"]


@pytest.mark.slow
def test_white_space_and_broken_bytes_are_split_apart_and_given_up(monkeypatch, files_are_read_here):
    """Text with white space or broken bytes is read in the limited process, whether it is public or private."""
    asked = []
    monkeypatch.setattr(
        readers, "read_apart", lambda data, name, *rest: asked.append(name) or apart.read_apart(data, name, *rest)
    )
    white, broken = b"a b\n" + b"1 2\n" * 1_500_000, b"a,b\n1,2\n\xff,3\n"
    assert read_table(broken, "broken", header=True).n_rows == 2
    assert read_table(broken, "private", header=True, private=True).n_rows == 2
    with pytest.raises(TableError, match="at most 1,000 cells"):
        read_table(white, "white", limits=Limits(cells=1000))
    heard = []

    def advance(fraction):
        heard.append(fraction)
        if len(heard) > 3:
            raise Stopped

    with pytest.raises(Stopped):
        read_table(white, "stopped", on_progress=advance)
    assert asked == ["broken", "private", "white", "stopped"]
    assert read_table(b"a,b\n1,2\n", "plain").n_rows == 1 and len(asked) == 4


def test_a_form_is_checked():
    with pytest.raises(ValueError, match="decimal must be"):
        Form(decimal="x")
    assert (Form().example, Form(decimal=",").example, Form(thousands="").example) == ("1,234.5", "1.234,5", "1234.5")
