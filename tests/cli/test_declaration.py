"""Check that the data dictionary is the whole declaration: `run` and `plan` obey all that `describe` has written."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest

from dpviz.cli import main
from dpviz.cli.main import joined

RNG = np.random.default_rng(1)
WORDS = ["never", "rarely", "often"]


@pytest.fixture
def gps(tmp_path):
    path = tmp_path / "gps.csv"
    pd.DataFrame(RNG.uniform(48, 49, (60, 2)).round(3), columns=["lat", "lon"]).to_csv(path, index=False)
    return path


def test_describe_with_what_is_declared_makes_a_dictionary_that_runs(gps, capsys):
    said = ["--bounds", "lat=latitude,lon=-20..60", "--rows-per-person", "5", "--n-public", "60"]
    assert main(["describe", str(gps), "--private", "--header", *said, "-o", str(gps.with_suffix(".json"))]) == 0
    capsys.readouterr()
    assert main(["run", "nsm", "--data", str(gps), "--private", "--n-clusters", "2"]) == 0
    shown = capsys.readouterr().out
    assert "one person has up to 5 rows: epsilon = 6.68" in shown and "lat  lon" in shown
    assert main(["plan", "--dictionary", str(gps.with_suffix(".json")), "--k", "2", "--algorithms", "nsm",
                 "--epsilon", "1", "--repeats", "2"]) == 0  # fmt: skip
    assert "at least 5 ε for one person" in capsys.readouterr().out


def test_what_only_the_owner_knows_is_null_and_asked_for(gps, capsys):
    draft = gps.with_suffix(".json")
    assert main(["describe", str(gps), "--private", "--header", "-o", str(draft)]) == 0
    assert "--bounds 'lat=-90..90,lon=-180..180'" in capsys.readouterr().err
    facts = json.loads(draft.read_text())
    assert facts["rows_per_person"] is None and facts["n_public"] is None and facts["columns"][0]["low"] is None
    run = ["run", "nsm", "--data", str(gps), "--private", "--n-clusters", "2", "--n-public", "60"]
    assert main(run) == 2 and "rows_per_person" not in capsys.readouterr().out
    bounds = ["--bounds", "lat=0..90,lon=0..90"]
    assert main([*run, *bounds]) == 2 and "--rows-per-person 1" in capsys.readouterr().err
    assert main([*run, *bounds, "--rows-per-person", "1"]) == 0


def test_the_sheet_and_the_first_line_that_describe_was_told_are_read_by_run(tmp_path, capsys):
    book = openpyxl.Workbook()
    for title, low in (("2023", 0), ("2024", 50)):
        sheet = book.create_sheet(title)
        sheet.append(["Visits of people"])
        sheet.append(["a", "b"])
        for row in RNG.integers(low, low + 9, (40, 2)).tolist():
            sheet.append(row)
    book.remove(book.worksheets[0])
    path = tmp_path / "visits.xlsx"
    book.save(path)
    place = ["--sheet", "2024", "--header-row", "2"]
    assert main(["describe", str(path), "--public", *place, "-o", str(tmp_path / "visits.json")]) == 0
    assert main(["run", "kmeans", "--data", str(path), "--public", "--n-clusters", "1"]) == 0
    assert float(capsys.readouterr().out.splitlines()[-1].split()[0]) >= 50


def test_a_survey_of_words_needs_no_bounds(tmp_path, capsys):
    path = tmp_path / "survey.csv"
    pd.DataFrame(RNG.choice(WORDS, (60, 3)), columns=["Q1", "Q2", "Q3"]).to_csv(path, index=False)
    assert main(["describe", str(path), "--public"]) == 0  # the cells are words, so each column gets a rule
    drafted = json.loads(capsys.readouterr().out)["columns"]
    assert [column["recode"] for column in drafted] == ["one-hot:never,often,rarely"] * 3
    rule = ["--recode", "Q1..Q3=ordinal:never,rarely,often"]
    run = ["run", "nsm", "--data", str(path), "--n-clusters", "2", "--n-public", "60", *rule]
    assert main([*run, "--private", "--header"]) == 0
    assert "Q1  Q2  Q3" in capsys.readouterr().out
    assert main([*run, "--private", "--header", "--bounds", "Q1=0..2"]) == 2
    assert "bounds and a rule" in capsys.readouterr().err


@pytest.mark.slow
def test_data_beside_a_file_are_no_dictionary_and_another_one_can_be_named(gps, capsys):
    beside, named = gps.with_suffix(".json"), gps.with_name("mine.json")
    beside.write_text('[{"lat": 1, "lon": 2}]')
    run = ["run", "nsm", "--data", str(gps), "--public", "--n-clusters", "2"]
    assert main(run) == 2
    assert "-o gps.dictionary.json" in capsys.readouterr().err
    assert main(["describe", str(gps), "--public", "-o", str(beside)]) == 2
    assert "--dictionary gps.dictionary.json" in capsys.readouterr().err
    assert main(["describe", str(gps), "--public", "-o", str(named)]) == 0
    assert main([*run, "--dictionary", str(named)]) == 0
    asked = [word if word != "--public" else "--private" for word in run]
    assert main([*asked, "--dictionary", str(named), "--header"]) == 2
    assert "taken from data" in capsys.readouterr().err


MENDED = {  # files that are not tables yet; each refusal ends in a command that turns the file into one
    "cities.json": '{"lat": [1.5, 2.5, 3.5], "lon": [4, 5, 6]}',
    "map.geojson": '{"type": "x", "features": [{"geometry": {"x": 1.5}}, {"geometry": {"x": 2.5}}]}',
    "fixed.dat": "name      sum\nAnn Lee   1.5\nBo        2.5\nEve       3.5\n",
    "pairs.txt": "1 1:0.5 2:2\n0 1:3\n",
    "matrix.mtx": "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 5\n2 2 3\n",
    "iris.arff": "@relation iris\n@attribute a numeric\n@attribute b {x,y}\n@data\n5.1,x\n4.9,y\n",
    "title.csv": "May\nby us\na,b\n1,2\n3,4\n",
    "units.csv": "a,b\ndeg,m\n1,2\n3,4\n",
    "words.csv": "a,b\nx,y\ny,x\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MENDED)
def test_what_a_refusal_tells_to_type_makes_the_file_run(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(MENDED[name])
    run = ["run", "kmeans", "--data", name, "--public", "--n-clusters", "1", "--low", "0", "--high", "9"]
    assert main(run) == 2
    said = capsys.readouterr().err
    if made := re.search(r'python -c "([^"]*)"', said):
        subprocess.run([sys.executable, "-c", made[1]], check=True)
        name, options = f"{name.split('.')[0]}.csv", []
        run[3] = name
    else:
        typed = re.search(r"\(on the command line: (.*?)\)\.", said)[1]
        typed = re.sub(r"--missing-marks A,B or ", "", typed).replace("COLUMN=one-hot:A,B,...", "a=one-hot:x,y")
        options = shlex.split(typed)
    facts = main(["describe", name, "--public", *options]), json.loads(capsys.readouterr().out or "{}")
    assert facts[0] == 0
    numbers = [column["name"] for column in facts[1]["columns"] if column["low"] is not None]
    wanted = ["--columns", ",".join(numbers)] if numbers else ["--columns", "a"]
    assert main([*run, *options, *wanted]) == 0, capsys.readouterr().err


def test_a_column_that_would_empty_the_table_is_drafted_as_left_out(tmp_path, capsys):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n" + "1,\n2,\n3,4\n4,5\n5,\n")
    assert main(["describe", str(path), "--public"]) == 0
    shown = capsys.readouterr()
    facts = json.loads(shown.out)
    assert [column["name"] for column in facts["columns"]] == ["a"]
    assert facts["left_out"][0]["name"] == "b" and "60.0%" in shown.err


COLUMNS = [{"name": "lat", "low": -90, "high": 90}, {"name": "lon", "low": -180, "high": 180}]
WRONG = {  # broken dictionaries by name, with words of the sentence that refuses each
    "of another file": ({"columns": [{"name": "height", "low": 0, "high": 9}]}, "lacks the column 'height'"),
    "older": ({"columns": COLUMNS, "n": 60}, "no entry 'n'"),
    "misspelt": ({"columns": COLUMNS, "rows_per_persons": 5}, "no entry 'rows_per_persons'"),
    "bounds the wrong way": ({"columns": [{"name": "lat", "low": 90, "high": -90}]}, "must have low < high"),
    "one column twice": ({"columns": [COLUMNS[0], COLUMNS[0]]}, "declared twice"),
    "bounds and a rule": ({"columns": [COLUMNS[0] | {"recode": "ordinal:a,b"}]}, "bounds and a rule"),
    "one sign for both": ({"columns": COLUMNS, "form": {"decimal": ",", "thousands": ","}}, "thousands must be"),
    "a mark that is a category": (
        {"columns": [{"name": "lat", "recode": "ordinal:low,high"}], "form": {"missing_marks": ["low", "high"]}},
        "none of them a category",
    ),
    "a sheet of a text": ({"columns": COLUMNS, "form": {"sheet": "2024"}}, "has no sheets"),
    "names that are not there": ({"columns": COLUMNS, "form": {"header": False, "n_columns": 2}}, "lacks the column"),
    "rows of a person unsaid": ({"columns": COLUMNS, "rows_per_person": None}, "--rows-per-person 1"),
    "n unsaid": ({"columns": COLUMNS, "n_public": None}, "--n-public"),
    "not filled in": ({"columns": [COLUMNS[0] | {"low": None}]}, "--bounds 'lat=LOW..HIGH'"),
    "read off the rows": ({"columns": COLUMNS, "declared": False}, "taken from data"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_dictionary_that_does_not_fit_is_refused_and_nothing_is_spent(name, gps, capsys):
    facts, said = WRONG[name]
    facts = {"n_public": 60, "form": {"header": True}} | facts
    gps.with_suffix(".json").write_text(json.dumps(facts))
    assert main(["run", "nsm", "--data", str(gps), "--private", "--n-clusters", "2"]) == 2
    shown = capsys.readouterr()
    assert said in shown.err and shown.err.count("\n") == 1 and "booked" not in shown.out
    assert main(["accounts", "list"]) == 0 and "run" not in capsys.readouterr().out


@pytest.mark.slow
def test_no_row_decides_what_is_said_of_a_private_file(gps, capsys, monkeypatch):
    texts, lines = set(), gps.read_text().splitlines()
    for place, row in enumerate((None, "x", "48,1;11,5", '"open,1', "1e999,nan", "1.234,secret", ",,,")):
        folder = gps.parent / str(place)
        folder.mkdir()
        monkeypatch.chdir(folder)
        Path("gps.csv").write_text("\n".join([*lines[:5], *([] if row is None else [row]), *lines[5:]]) + "\n")
        said = ["--bounds", "lat=latitude,lon=longitude", "--rows-per-person", "5", "--n-public", "60"]
        assert main(["describe", "gps.csv", "--private", "--header", *said, "-o", "gps.json"]) == 0
        assert main(["run", "nsm", "--data", "gps.csv", "--private", "--n-clusters", "2"]) == 0
        shown = capsys.readouterr()
        before, _, _ = shown.out.partition("spent:")
        texts.add((Path("gps.json").read_text(), before, shown.err))
    assert len(texts) == 1


def test_a_sheet_that_is_gone_and_marks_that_hide_everything_are_refused(gps, capsys):
    book = gps.with_suffix(".xlsx")
    pd.read_csv(gps).to_excel(book, sheet_name="2025", index=False)
    facts = {"columns": COLUMNS, "n_public": 60, "form": {"header": True, "sheet": "2024"}}
    book.with_suffix(".json").write_text(json.dumps(facts))
    assert main(["run", "nsm", "--data", str(book), "--private", "--n-clusters", "2"]) == 2
    assert "there is no sheet '2024'" in capsys.readouterr().err
    same = gps.with_name("same.csv")
    same.write_text("a,b\n" + "5,7\n" * 60)
    run = ["run", "nsm", "--data", str(same), "--public", "--n-clusters", "2", "--low", "0", "--high", "9"]
    assert main([*run, "--missing-marks", "5,7"]) == 2
    assert "no column can be used for clustering" in capsys.readouterr().err


def test_a_run_without_a_promise_is_not_explained(tmp_path, capsys):
    run = tmp_path / "run.json"
    for slug, said in (("kmeans", "releases nothing under a promise"), ("pe-means", "Ask the rows: dpviz explain")):
        assert main(["run", slug, "--data", "sample:tiny", "--n-clusters", "2", "--json", str(run)]) == 0
        capsys.readouterr()
        assert main(["explain", str(run)]) == 0
        shown = capsys.readouterr().out
        assert (
            said in shown and "dpviz run nsm --data FILE" in shown and ("Ask the rows" in shown) == (slug != "kmeans")
        )


def test_a_number_that_often_stands_for_a_missing_cell_is_named(tmp_path, capsys):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n" + "1,-5\n2,-999\n-999,3\n-999,4\n5,6\n")
    assert main(["describe", str(path), "--public"]) == 0
    shown = capsys.readouterr().err
    assert "'a' has no number below 0 except -999" in shown and "'b'" not in shown
    assert main(["describe", str(path), "--public", "--missing-marks=-999"]) == 0
    assert json.loads(capsys.readouterr().out)["columns"][0]["low"] == 1


def test_lists_and_numbers_below_zero_are_typed_alike_everywhere():
    assert joined(["--low", "-20", "6", "--high", "1,2", "--n", "3"]) == ["--low=-20,6", "--high=1,2", "--n", "3"]
    assert joined(["--low=-2e1", "5", "--high", "-.5"]) == ["--low=-2e1,5", "--high=-.5"]


def test_a_name_with_a_comma_is_quoted(tmp_path, capsys):
    path = tmp_path / "t.csv"
    pd.DataFrame(RNG.uniform(0, 1, (30, 2)), columns=["a", "b, kg"]).to_csv(path, index=False)
    bounds = ["--bounds", 'a=0..1,"b, kg=0..1"']
    assert main(["run", "kmeans", "--data", str(path), "--public", "--n-clusters", "1", *bounds]) == 0
    assert "a  b, kg" in capsys.readouterr().out
