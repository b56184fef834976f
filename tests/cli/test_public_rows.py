"""Check rows that are declared public: `--public-rows` and the estimator read them, and refuse what does not fit."""

import numpy as np
import pandas as pd
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.cli import main
from dpviz.estimator import NoiseWarning, PrivateKMeans
from dpviz.privacy.accounts import Accounts
from dpviz.trace import Trace

RNG = np.random.default_rng(0)
PEOPLE = RNG.integers(0, 2, 400)[:, None] * [40, 30] + RNG.normal([30, 10], 3, (400, 2))
FACTS = ["--n-clusters", "2", "--bounds", "age=0..100,visits=0..60", "--n-public", "400"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame(PEOPLE.clip(0, 60).round(1), columns=["age", "visits"])
    table[40:].to_csv("private.csv", index=False)
    old = table[:40]
    old.assign(year=2019)[["year", "visits", "age"]].to_csv("old.csv", index=False)
    old.rename(columns={"visits": "calls"}).to_csv("other.csv", index=False)
    (old * 10).to_csv("far.csv", index=False)
    old[:1].to_csv("one.csv", index=False)
    (tmp_path / "empty.csv").write_text("")
    return tmp_path


def run(*words):
    return main(["run", "public-start", "--data", "private.csv", "--private", "--header", *FACTS, *words])


def test_a_private_run_starts_from_public_rows_and_its_trace_and_claim_say_so(files, capsys):
    assert run("--public-rows", "old.csv", "--json", "run.json") == 0
    told = capsys.readouterr()
    assert "40 rows of old.csv, as you declare; nothing checks it" in told.out and "Nothing checks" in told.err
    trace = Trace.from_json((files / "run.json").read_text())
    centers, first = trace.parameters["public_centers"], trace.steps[0]
    assert sorted(np.round(centers, -1).tolist()) == [[30, 10], [60, 40]]
    assert first.released["public"] and "declared public" in first.title
    accounts = Accounts.open()
    claim = accounts.of(accounts.key_of(files / "private.csv")).claims[0]
    assert np.array(claim.parameters["public_centers"]).tolist() == np.array(centers).tolist()


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("other.csv", "other.csv: the public rows lack the column 'visits'; they must have the data's columns"),
        ("far.csv", "of 40 public rows lie outside the bounds"),
        ("one.csv", "must be at least k = 2 different ones"),
        ("empty.csv", "empty.csv: the file is empty"),
        ("none.csv", "the file none.csv does not exist"),
        ("private.csv", "private.csv is the private file itself"),
    ],
)
def test_public_rows_that_do_not_fit_are_refused_in_one_sentence_and_nothing_is_booked(files, capsys, file, words):
    assert run("--public-rows", file) == 2
    told = capsys.readouterr().err.splitlines()
    assert words in told[-1] and len(told) == 1
    accounts = Accounts.open()
    assert accounts.of(accounts.key_of(files / "private.csv")).claims == ()


def test_a_file_that_was_declared_private_cannot_be_declared_public(files, capsys):
    assert run() == 0
    assert main(["run", "public-start", "--data", "sample:tiny", "--public-rows", "private.csv"]) == 2
    assert "already declared this file private" in capsys.readouterr().err


@pytest.mark.slow
def test_only_a_method_that_takes_public_rows_has_the_option(capsys):
    for slug, cls in ALGORITHMS.items():
        with pytest.raises(SystemExit):
            main(["run", slug, "--help"])
        assert ("--public-rows" in capsys.readouterr().out) == cls.takes_public_rows == (slug == "public-start")


def test_the_estimator_takes_public_rows_by_name():
    table = pd.DataFrame(PEOPLE, columns=["age", "visits"])
    facts = {"bounds": {"age": (0, 100), "visits": (0, 60)}, "n_public": 400, "secure": False, "random_state": 0}

    def model(rows, algorithm="public-start"):
        return PrivateKMeans(2, algorithm=algorithm, public_rows=rows, **facts)

    with pytest.warns(NoiseWarning, match="Nothing checks"):
        fitted = model(table[["visits", "age"]][:40]).fit(table)
    assert sorted(fitted.cluster_centers_.round(-1).tolist()) == [[30, 10], [70, 40]]
    assert len(fitted.trace_.parameters["public_centers"]) == 2
    for rows, words in (
        (table[["age"]], "public_rows lack the column 'visits'"),
        (PEOPLE[:, :1], "must have 2 columns"),
        (PEOPLE * 9, "lie outside the bounds"),
        (PEOPLE[:1], "at least k = 2"),
    ):
        with pytest.raises(ValueError, match=words):
            model(rows).fit(table)
    with pytest.raises(ValueError, match="this method uses no public rows"):
        model(table, "nsm").fit(table)
