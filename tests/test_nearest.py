"""Check each row's nearest center against brute force, in the file for public rows and by the exported code."""

import csv
import dataclasses
import io
import json

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.cli import main
from dpviz.datasets import load
from dpviz.domain import Domain
from dpviz.postprocessing.released import centers_json
from dpviz.privacy.accounts import Accounts
from dpviz.takeaway.nearest import nearest_code, nearest_csv


@pytest.mark.parametrize("name", ["tiny", "iris"])
def test_the_file_and_the_code_name_the_nearest_center(name, tmp_path, monkeypatch):
    data = load(name)
    X = data.X.copy()
    X[1, 0] = np.nan
    data = dataclasses.replace(data, X=X)
    trace = ALGORITHMS["nsm"](n_clusters=3).run(data.X, domain=data.domain, seed=0)
    scaled = (X[:, None] - trace.cluster_centers) / data.domain.half_width
    away = np.sqrt((scaled**2).sum(2))
    lines = nearest_csv(trace.cluster_centers, data).splitlines()
    assert lines[0].startswith("# NOT PRIVATE") and lines[1] == "row,center,distance" and lines[3] == "2,,"
    rows = [line.split(",") for line in lines[2:]]
    assert len(rows) == len(X) and [int(row[0]) for row in rows] == list(range(1, len(X) + 1))
    unit = data.domain.half_width[0] if data.domain.scale == "common" else 1.0
    for place, (_, center, distance) in enumerate(rows):
        if place != 1:
            assert int(center) == away[place].argmin() + 1
            assert float(distance) == pytest.approx(unit * away[place].min(), rel=1e-5)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "centers.json").write_text(centers_json(trace, data.columns))
    names = {"X": X}
    exec(nearest_code(trace), names)
    expected = np.where(np.isnan(away).any(1), 0, away.argmin(1) + 1)
    assert names["nearest"].tolist() == expected.tolist() and expected[1] == 0 and nearest_code(trace).count("\n") == 3
    assert len(json.loads((tmp_path / "centers.json").read_text())["cluster_centers"]) == 3


def test_no_file_is_made_of_private_rows():
    data = load("tiny")
    trace = ALGORITHMS["nsm"](n_clusters=3).run(data.X, domain=data.domain, seed=0)
    with pytest.raises(ValueError, match="that row's secret"):
        nearest_csv(trace.cluster_centers, dataclasses.replace(data, private=True))


@pytest.fixture
def files(tmp_path):
    """Return released centers, a trace of them, and a new public file with the same columns in another order."""
    rng = np.random.default_rng(0)
    X = rng.normal([[30, 300], [60, 700]], [3, 20], (200, 2, 2)).reshape(-1, 2)
    domain = Domain.box([0, 0], [120, 1000], n_public=400, columns=("age", "euro"), units=("years", "EUR"))
    trace = ALGORITHMS["nsm"](n_clusters=2).run(X, domain=domain, seed=0)
    (tmp_path / "centers.json").write_text(centers_json(trace, domain.columns, domain.units))
    (tmp_path / "run.json").write_text(trace.to_json())
    rows = [(699.5, 59), ("", 31), (310, 28), (5000, 20), (0, 0)]
    (tmp_path / "new.csv").write_text("id,euro,age\n" + "".join(f"=p{i},{a},{b}\n" for i, (a, b) in enumerate(rows)))
    return tmp_path, trace, np.array([[b, a if a != "" else np.nan] for a, b in rows], dtype=float)


@pytest.mark.parametrize("source", ["centers.json", "run.json"])
def test_assign_lists_the_nearest_center_of_new_public_rows(files, source, capsys):
    folder, trace, X = files
    command = ["assign", str(folder / source), str(folder / "new.csv"), "--public"]
    assert main(command) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("# NOT PRIVATE") and not any("=p" in line for line in lines)
    scaled = (X[:, None] - trace.cluster_centers) / trace.domain.half_width
    away = np.sqrt((scaled**2).sum(2))
    for row, line in enumerate(csv.reader(io.StringIO("\n".join(lines[2:])))):
        known = np.isfinite(away[row]).all()
        assert line[:2] == [str(row + 1), str(away[row].argmin() + 1) if known else ""]
        assert not known or float(line[2]) == pytest.approx(away[row].min(), rel=1e-5)
    out = folder / "out.csv"
    assert main([*command, "-o", str(out)]) == 0 and out.read_text().splitlines() == lines


def test_assign_refuses_a_private_file_and_what_holds_no_centers_in_one_sentence(files, capsys):
    folder, *_ = files
    new = str(folder / "new.csv")

    def refused(*words):
        assert main(["assign", *words]) == 2
        told = capsys.readouterr()
        assert not told.out and told.err.count("\n") == 1 and "Traceback" not in told.err
        return told.err

    assert "that row's secret" in refused(str(folder / "centers.json"), str(folder / "none.csv"))
    bad = folder / "bad.json"
    for text in (
        "",
        "[]",
        "{",
        '{"domain": {}}',
        '{"cluster_centers": [[1]], "columns": ["age"], "domain": {"low": [0]}}',
    ):
        bad.write_text(text)
        assert "holds no centers" in refused(str(bad), new, "--public")
    assert "cannot be read" in refused(str(folder / "none.json"), new, "--public")
    (folder / "other.csv").write_text("age,weight\n1,2\n")
    assert "euro" in refused(str(folder / "centers.json"), str(folder / "other.csv"), "--public")


def test_assign_refuses_a_file_that_was_declared_private(files, capsys, monkeypatch):
    folder, *_ = files
    monkeypatch.setenv("DPVIZ_HOME", str(folder / "home"))
    accounts = Accounts.open()
    accounts.answer(accounts.key_of(folder / "new.csv"), private=True)
    assert main(["assign", str(folder / "centers.json"), str(folder / "new.csv"), "--public"]) == 2
    assert "private" in capsys.readouterr().err
