"""Check that a private file's first line is read as names only on its owner's word, so that no cell becomes public."""

import functools
import io
import itertools
import json
import sys

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpviz.cli import main
from dpviz.datasets.readers import TableError, read_table
from dpviz.datasets.readers.names import is_value
from pages._ui.data import new_files
from tests.pages.visitor import press, visit
from tests.tiers import tiers

# the cells of one person, with a word or a number that occurs nowhere else
FIRST = {
    "words": ["SENTINELa", "SENTINELb", "SENTINELc"],
    "words and years": ["SENTINELa", "SENTINELb+", "482915736048 years"],
    "numbers": ["482915736048", "482915736049", "482915736050"],
    "words beside grouped numbers": ["SENTINELa", "482,915,736", "SENTINELb"],
    "money, percent, hexadecimal": ["$482915736", "4829157360%", "0x4829157360AF"],
    "dates, missing marks": ["1948-11-29", "NA", "SENTINELa"],
    "blank and a word": ["", "SENTINELa", "482915736048"],
    "the same word": ["SENTINELa", "SENTINELa", "SENTINELa"],
}
SECOND = {
    "numbers": ["573604829150", "573604829151", "573604829152"],
    "words": ["SENTINELx", "SENTINELy", "SENTINELz"],
    "both": ["573604829150", "SENTINELy", "1957-06-04"],
}
SENTINELS = ("SENTINEL", "4829157", "482,915", "5736048", "573,604", "1948-11", "1957-06", "4.82915", "5.73604")
# sentinels have at least six digits, because the four digits of a noisy center could equal theirs by chance


def csv(lines, separator=","):
    quoted = [[f'"{cell}"' if separator in cell and separator.strip() else cell for cell in line] for line in lines]
    return "\n".join(separator.join(line) for line in quoted).encode() + b"\n"


def workbook(lines):
    book, buffer = openpyxl.Workbook(), io.BytesIO()
    for line in lines:
        book.active.append([int(cell) if cell.isdigit() else cell or None for cell in line])
    book.save(buffer)
    return buffer.getvalue()


def parquet(lines):
    names = [f"{cell}{' ' * place}" for place, cell in enumerate(lines[0])]  # Parquet columns need distinct names
    columns = [[int(cell) for cell in column] if all(map(str.isdigit, column)) else list(column)
               for column in zip(*lines[1:], strict=True)]  # fmt: skip
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns, names=names), buffer)
    return buffer.getvalue()


def json_lines(lines):
    return "\n".join(json.dumps(dict(enumerate(line))) for line in lines).encode()


FORMS = {
    "csv": csv,
    "tsv": lambda lines: csv(lines, "\t"),
    "txt": lambda lines: csv(lines, ";"),
    "dat": lambda lines: csv(lines, " "),
    "jsonl": json_lines,
    "json": lambda lines: json.dumps(lines).encode(),
    "xlsx": workbook,
    "parquet": parquet,
}
ENDINGS = tiers(FORMS, 1)
TABLES = list(itertools.product(FIRST, SECOND, FORMS))


@functools.cache
def file(first, second, ending):
    return FORMS[ending]([FIRST[first], SECOND[second], SECOND[second]])


def leaks(text):
    return [sentinel for sentinel in SENTINELS if sentinel in text]


@pytest.mark.slow
@pytest.mark.parametrize("ending", ENDINGS)
def test_the_command_line_shows_nothing_of_the_first_two_lines(ending, tmp_path, capsys, monkeypatch):
    """Try every first line, with --no-header or without any declaration, in memory and in parts.

    The lines below it take turns; readers, which alone name what they refuse, are tried with each of them.
    """
    path, trace, outcomes = tmp_path / f"mine.{ending}", tmp_path / "trace.json", set()
    options = ["--private", "--low", "0", "--high", "1e12", "--n-public", "50", "--epsilon", "8", "--json", str(trace)]
    for first, second in zip(FIRST, itertools.cycle(SECOND)):
        content = file(first, second, ending)
        path.write_bytes(content)
        for more in ([], ["--no-header", "--n-columns", "3"], *([["--in-parts"]] if ending == "parquet" else [])):
            trace.unlink(missing_ok=True)
            code = main(["run", "nsm", "--data", str(path), *options, "--n-clusters", "2", *more])
            said = capsys.readouterr()
            export = trace.read_text() if trace.exists() else ""
            assert not leaks(said.out + said.err + export), (content, more, said)
            assert len(said.err.splitlines()) <= 1 and code in (0, 2)
            outcomes.add(code)
    assert outcomes == {2} if ending in ("json", "jsonl") else {0, 2}, "some tables must run, some must not"


@pytest.mark.parametrize("shape", ["text", "record", "garbage"])
def test_a_matrix_of_anything_else_shows_no_cell(shape, tmp_path, capsys):
    path = tmp_path / "mine.npy"
    if shape == "garbage":
        path.write_bytes(b"\x93NUMPYSENTINEL 482915736048")
    else:
        text = np.array([FIRST["words"], SECOND["both"]])
        np.save(path, text if shape == "text" else np.zeros(3, [("SENTINELa", "f8")])[:, None])
    options = ["--private", "--in-parts", "--low", "0", "--high", "1", "--n-public", "50", "--n-clusters", "2"]
    assert main(["run", "nsm", "--data", str(path), *options]) == 2
    said = capsys.readouterr()
    assert "mine.npy" in said.err and not leaks(said.out + said.err) and len(said.err.splitlines()) == 1


@pytest.mark.parametrize(("first", "second", "ending"), TABLES)
def test_a_reader_names_no_cell_in_a_refusal(first, second, ending):
    """Try a public and a private file, with every answer about the first line."""
    content = file(first, second, ending)
    for header, private in itertools.product((None, True, False), (True, False)):
        try:
            table = read_table(content, f"mine.{ending}", header=header, private=private)
        except TableError as problem:
            assert not leaks(str(problem)) and problem.__cause__ is None
        else:
            told = [*table.notes, *(column.reason for column in table.columns)]
            names = " ".join(column.name for column in table.columns)
            assert not leaks(" ".join(told)) and not (header is False and leaks(names))


@pytest.fixture
def page(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["app"])
    monkeypatch.setattr(new_files, "A_MINUTE", 100)
    app = visit("data")
    return app.segmented_control(key="data_way").set_value("Your file").run()


def shown(app):
    protos = [node.proto for place in (app.main, app.sidebar) for node in place if node.proto is not None]
    return " ".join(proto.SerializeToString().decode("utf-8", errors="replace") for proto in protos)


@pytest.mark.slow
def test_the_page_asks_first_and_then_shows_names_only_if_they_are_names(page):
    for place, (*lines, ending) in enumerate(TABLES[::11]):
        app = page
        if "Another file" in [button.label for button in app.button]:
            app = press(app, "Another file")
        app.file_uploader[0].upload(f"mine{place}.{ending}", file(*lines, ending)).run()
        assert not leaks(shown(press(app, "No, it is private")))
        assert any("hold the names of the columns?" in header.value for header in app.header)
        assert not leaks(shown(press(app, "No, a person"))) and not app.exception
        if width := [n for n in app.number_input if n.label == "Cells per line"]:
            width[0].set_value(3).run()
            assert not leaks(shown(press(app, "Read it this way"))) and not app.exception
        app.switch_page("pages/data.py").run()
        if "Remove it" in [button.label for button in app.button]:
            assert not leaks(shown(press(app, "Remove it")))
    app.file_uploader[0].upload("last.csv", csv([FIRST["words"], SECOND["numbers"]])).run()
    press(app, "No, it is private")
    assert leaks(shown(press(app, "Yes, names"))) == ["SENTINEL"], "the walk can find them"


def test_the_first_person_is_a_row(tmp_path, capsys):
    table = read_table(b"1,2\n3,4\n", "x.csv", header=False)
    assert (
        table.n_rows == 2 and table.usable == ("column 1", "column 2") and table.values("column 1").tolist() == [1, 3]
    )
    table = read_table(workbook([["1", "2"], ["3", "4"]]), "x.xlsx", header=False)
    assert table.n_rows == 2 and table.values("column 2").tolist() == [2, 4]
    assert read_table(csv([["1", "2"]]), "x.csv", header=False, private=True, n_columns=2).n_rows == 1
    with pytest.raises(TableError, match="declare it"):
        read_table(csv([["1", "2"]]), "x.csv", header=False, private=True)


def test_what_the_owner_says_or_declares_makes_names_public(tmp_path, capsys):
    path = tmp_path / "mine.csv"
    pd.DataFrame({"age": [30, 40], "city": ["SENTINEL", "x"], "income": [1, 2]}).to_csv(path, index=False)
    command = ["run", "nsm", "--data", str(path), "--private", "--n-clusters", "2", "--n-public", "50"]
    assert main([*command, "--low", "0", "--high", "9"]) == 2
    assert "the names of the columns, or the first person? Give --header or --no-header" in capsys.readouterr().err
    columns = [{"name": "income", "low": 0, "high": 9}]
    (tmp_path / "mine.json").write_text(json.dumps({"columns": columns}))
    assert main(command) == 0 and "income" in capsys.readouterr().out
    (tmp_path / "mine.json").write_text(json.dumps({"columns": [{"name": "height", "low": 0, "high": 9}]}))
    assert main(command) == 2 and "--header" in capsys.readouterr().err
    path.write_text("age,income\n30,1\n")
    (tmp_path / "mine.json").unlink()
    bounds = ["--low", "0", "--high", "9"]
    assert main([*command, *bounds]) == 2 and "--header" in capsys.readouterr().err, "numbers below words are no answer"
    assert main([*command, *bounds, "--columns", "income"]) == 0 and "income" in capsys.readouterr().out
    assert main([*command, *bounds, "--no-header", "--n-columns", "2"]) == 0
    said = capsys.readouterr().out
    assert "column 1  column 2" in said and "age" not in said.replace("average", "")
    assert main([*command, "--low", "0", "--high", "9", "--header"]) == 0 and "age  income" in capsys.readouterr().out


VALUES = [
    "1",
    "1.5",
    "-3e5",
    "1,234,567",
    "1.234,56",
    "1 234 567",
    "1\u202f234",
    "12%",
    "$55000",
    "55000 €",
    "USD 12",
]
VALUES += ["2020-01-01", "1.2.2020", "1/2/20", "12:30", "3 May 1987", "May 3, 1987", "2020-01-01T10:00", "(1,200)"]
VALUES += ["NA", "n/a", "-", "?", "null", "NaN", "0x1F4A", "true", "2 6 1", "+49 171 123"]
NAMES = [
    "age",
    "x1",
    "lat 2",
    "1st visit",
    "3P%",
    "var_12",
    "income ($)",
    "% of all",
    "mean 2020",
    "marital",
    "May",
    "no",
]


@pytest.mark.parametrize("text", VALUES)
def test_a_value_is_no_name(text):
    assert is_value(text)
    with pytest.raises(TableError, match="column 2 has a value instead of a name"):
        read_table(f'a;"{text}"\n1;2\n'.encode(), "x.csv")


@pytest.mark.parametrize("text", NAMES)
def test_a_name_is_no_value(text):
    assert not is_value(text)


@pytest.mark.slow
def test_no_rows_and_missing_columns_are_answered_as_any_other(tmp_path, capsys):
    """Neither one person's presence nor the first number in a column changes an error or a type."""
    tables = {"none": b"a,b\n", "no line end": b"a,b", "missing": b"a,b\n1,\n2,NA\n", "filled": b"a,b\n1,\n2,3\n"}
    tables |= {"nan": b"a,b\nnan,inf\n", "huge": b"a,b\n1e400,-1e300\n1,2\n"}
    files = {f"{name}.csv": content for name, content in tables.items()}
    files["none.xlsx"], files["missing.xlsx"] = workbook([["a", "b"]]), workbook([["a", "b"], ["1", ""]])
    for name, values in {"none": pa.array([], pa.float64()), "missing": pa.nulls(3), "nan": pa.array([np.nan])}.items():
        buffer = io.BytesIO()
        pq.write_table(pa.table({"a": values, "b": values}), buffer)
        files[f"{name}.parquet"] = buffer.getvalue()
    for name, content in files.items():
        path = tmp_path / name
        path.write_bytes(content)
        options = ["--private", "--low", "0", "--high", "9", "--n-public", "50", "--n-clusters", "2"]
        for more in (["--header"], ["--in-parts"] if name.endswith("parquet") else ["--header"]):
            assert main(["run", "nsm", "--data", str(path), *options, *more]) == 0, (name, capsys.readouterr().err)
        assert {column.kind for column in read_table(content, name, header=True, private=True).columns} == {"number"}


def test_a_fault_deep_in_a_private_file_is_a_missing_cell_without_a_word():
    deep = b"a,b\n" + b"1,2\n" * 1000
    plain = read_table(deep, "x.csv", header=True, private=True)
    for content, a in ((b"1,2,3\n", np.nan), (b"1,x\n", 1), (b'1,"2\n', 1), (b"1,\xff\n", 1), (b"\0\n", np.nan)):
        table = read_table(deep + content, "x.csv", header=True, private=True)
        assert (table.notes, [c.kind for c in table.columns]) == (plain.notes, ["number", "number"])
        assert table.n_rows == 1001 and np.array_equal(table.values("a")[-1:], [a], equal_nan=True)
        assert np.array_equal(table.matrix("ab")[:-1], plain.matrix("ab"))


def test_the_precision_of_private_numbers_does_not_follow_from_their_number():
    large = b"a,b\n" + b"1.1,2\n" * 500_001
    assert read_table(large, "x.csv", header=True, private=True).values("a").dtype == np.float64
    assert read_table(large, "x.csv").values("a").dtype == np.float32
