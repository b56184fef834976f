"""Check `accounts next`: a new file takes over a dictionary, and both accounts are added up for a person in both."""

import re

import numpy as np
import pandas as pd
import pytest

from dpviz.cli import main
from dpviz.datasets import load_csv
from dpviz.postprocessing.changes import together
from dpviz.privacy.accounts import Accounts
from dpviz.takeaway.foreign import read

RULES = ["--bounds", "age=18..95,visits=0..50", "--recode", "sex=one-hot:f,m", "--n-public", "300"]


def table(path, seed, rows=300, **more):
    rng = np.random.default_rng(seed)
    columns = {
        "age": rng.integers(18, 90, rows),
        "visits": rng.integers(0, 50, rows),
        "sex": rng.choice(["f", "m"], rows),
    }
    pd.DataFrame(columns | more).to_csv(path, index=False)
    return path


@pytest.fixture
def may(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path = table(tmp_path / "may.csv", 0)
    described = ["describe", str(path), "--private", "--header", *RULES, "--rows-per-person", "1"]
    assert main([*described, "-o", "may.json"]) == 0
    capsys.readouterr()
    return path


def run(path, *more):
    return main(["run", "nsm", "--data", str(path), "--private", "--n-clusters", "2", *more])


@pytest.mark.slow
def test_the_new_file_reads_like_the_old_one_and_both_are_added_up_before_anything_is_spent(may, tmp_path, capsys):
    june = table(tmp_path / "june.csv", 1)
    assert run(may, "--json", "a.json") == 0
    capsys.readouterr()
    assert main(["accounts", "next", "may.csv", "june.csv"]) == 0
    shown = capsys.readouterr().out
    assert "declared: june.json, as may.json: 4 columns, n = 300" in shown and "june.csv: no run yet" in shown
    alone, repeated = re.findall(r"^together, .*epsilon = ([\d.]+)", shown, re.MULTILINE)
    assert alone == "1" and shown.endswith("Nothing was spent.\n")
    accounts = Accounts.open()
    assert accounts.of(accounts.key_of(june)).claims == () and accounts.of(accounts.key_of(june)).private
    assert load_csv(june, private=True).domain.key == load_csv(may, private=True).domain.key
    assert run(june, "--json", "b.json") == 0
    first, second = (read((tmp_path / name).read_text()) for name in ("a.json", "b.json"))
    assert f"ε {repeated}, " in together(first, second)  # as `compare` says of the runs themselves
    capsys.readouterr()
    assert main(["accounts", "next", "may.csv", "june.csv"]) == 0  # may be asked again
    again = capsys.readouterr().out
    assert "june.csv: private, 1 run" in again and f"epsilon = {repeated}, " in again


def test_a_person_with_several_rows_pays_for_all_of_them(may, tmp_path, capsys):
    table(tmp_path / "june.csv", 1)
    (tmp_path / "may.json").unlink()
    described = ["describe", "may.csv", "--private", "--header", *RULES, "--rows-per-person", "3"]
    assert main([*described, "-o", "may.json"]) == 0
    assert run(may) == 0
    whole = re.search(r"one person has up to 3 rows: epsilon = ([\d.]+)", capsys.readouterr().out)[1]
    assert main(["accounts", "next", "may.csv", "june.csv"]) == 0
    shown = capsys.readouterr().out
    assert "a person with up to 3 rows in each file" in shown and "up to 3 rows of one person" in shown
    told = float(re.search(r"^together, .*epsilon = ([\d.]+)", shown, re.MULTILINE)[1])
    assert told == pytest.approx(float(whole), rel=1e-3)


def test_nothing_of_the_new_rows_is_said(may, tmp_path, capsys):
    shown = []
    for rows in (table(tmp_path / "june.csv", 1), table(tmp_path / "june.csv", 2, rows=17)):
        rows.with_suffix(".json").unlink(missing_ok=True)
        assert main(["accounts", "next", "may.csv", "june.csv"]) == 0
        shown.append((capsys.readouterr(), rows.with_suffix(".json").read_text()))
    assert shown[0] == shown[1]


def wrong_kind(tmp_path):
    pd.DataFrame({"age": [20, 30], "pay": [1, 2]}).to_csv(tmp_path / "june.csv", index=False)


def no_dictionary(tmp_path):
    table(tmp_path / "june.csv", 1)
    (tmp_path / "may.json").unlink()


def the_same_bytes(tmp_path):
    (tmp_path / "june.csv").write_bytes((tmp_path / "may.csv").read_bytes())


def public(tmp_path):
    june = table(tmp_path / "june.csv", 1)
    accounts = Accounts.open()
    accounts.answer(accounts.key_of(june), private=False)


def declared_otherwise(tmp_path):
    june = table(tmp_path / "june.csv", 1)
    assert main(["describe", str(june), "--private", "--header", "--bounds", "age=0..9", "--n-public", "9",
                 "--rows-per-person", "1", "-o", str(june.with_suffix(".json"))]) == 0  # fmt: skip


WRONG = [
    (wrong_kind, "june.csv"),
    (no_dictionary, "may.csv has no dictionary beside it"),
    (the_same_bytes, "hold the same bytes"),
    (public, "june.csv was declared public"),
    (declared_otherwise, "june.json already declares june.csv otherwise"),
]


@pytest.mark.parametrize(("prepare", "words"), WRONG)
def test_what_cannot_be_taken_over_is_one_sentence_and_changes_nothing(may, tmp_path, capsys, prepare, words):
    prepare(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    capsys.readouterr()
    assert main(["accounts", "next", "may.csv", "june.csv"]) == 2
    told = capsys.readouterr().err
    assert words in told and told.count("\n") == 1
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before
