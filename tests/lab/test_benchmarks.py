"""Check what benchmarks share: rows that are kept, tables that are published, and what they refer to."""

import dataclasses
import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

from dpviz.papers.results import NOTES
from dpviz.sweeps.sweep import Sweep, Variant
from lab.bench import fingerprint
from lab.benchmarks import growth, utility

ROOT = Path(__file__).parents[2]


def test_a_row_of_an_older_algorithm_is_not_used_again(tmp_path, monkeypatch):
    path = tmp_path / "rows.jsonl"
    sweep = Sweep(data=("sample:iris",), variants=(Variant("Lloyd", "dp-lloyd"),), epsilon=(1.0,))

    def run():
        return list(utility.rows(sweep, path, seeds=1))

    assert run() == run() and len(path.read_text().splitlines()) == 1
    monkeypatch.setattr(utility, "fingerprint", lambda: "another")
    run()
    written = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(written) == 2 and "another" in written[1]["key"] and fingerprint.fingerprint() in written[0]["key"]
    with path.open("a") as torn:
        torn.write('{"key"')
    assert [row["key"] for row in run()] == [written[1]["key"]]


def test_a_table_leaves_out_what_a_set_is_too_much_for(monkeypatch):
    monkeypatch.setattr(utility, "MOST_COLUMNS", {"aug-pe": 4})
    sweep = dataclasses.replace(utility.spec("pe"), data=("sample:iris", "sample:digits"))
    iris, digits = utility.within_limits(sweep)
    assert iris.variants == sweep.variants
    assert digits.variants == tuple(one for one in sweep.variants if one.algorithm != "aug-pe") != sweep.variants


def test_a_set_has_the_same_rows_in_looser_bounds():
    tight, loose = (utility.opened("iris", bounds).data for bounds in utility.BOUNDS.values())
    np.testing.assert_array_equal(tight.X, loose.X)
    np.testing.assert_allclose(loose.domain.half_width, 4 * tight.domain.half_width)


def test_the_fingerprint_sees_code_and_neither_comments_nor_docstrings():
    plain = fingerprint.code("def f(x):\n    return x + 1\n")
    assert plain == fingerprint.code('"""A module."""\ndef f(x):  # why\n    """Say."""\n    return x + 1\n')
    assert plain != fingerprint.code("def f(x):\n    return x + 2\n")


def test_a_run_that_the_system_ends_counts_as_over(monkeypatch):
    monkeypatch.setattr(growth, "measure", lambda *_: os._exit(9))
    assert growth.point("kmeans", "n", 10, Path(), 60.0) == {"over": True}


def test_every_test_that_is_said_to_catch_a_defect_is_there():
    text, home = (ROOT / "lab" / "benchmarks" / "results" / "defects.md").read_text(), ""
    named = re.findall(r"`([\w/]*\.py)?(?:::(test_\w+))?`", text)
    assert len(named) > 60
    for file, name in named:
        home = file or home
        found = [path for path in (ROOT / "tests").rglob("test_*.py") if f"/{path.as_posix()}".endswith(f"/{home}")]
        assert any(f"def {name}" in path.read_text() for path in found), (home, name)


def test_a_published_table_stays_until_the_new_one_is_whole(tmp_path, monkeypatch):

    monkeypatch.delenv("DPVIZ_DATASETS", raising=False)
    for ending in ("md", "csv"):
        (tmp_path / f"pe.{ending}").write_text("published")
    sweep = utility.spec("pe")
    short = {"data": ("sample:iris", "bench:nowhere"), "variants": (Variant("dpm", "dpm"),), "epsilon": (1.0,)}
    monkeypatch.setattr(utility, "spec", lambda table: dataclasses.replace(sweep, **short))
    command = ["utility", "--table", "pe", "--seeds", "1", "--rows", str(tmp_path / "pe.jsonl")]
    monkeypatch.setattr("sys.argv", command)
    with pytest.raises(SystemExit):
        utility.main()
    assert [(tmp_path / f"pe.{ending}").read_text() for ending in ("md", "csv")] == ["published"] * 2


def test_a_new_table_keeps_the_notes_below_the_old_one(tmp_path, monkeypatch):
    (tmp_path / "nsm.md").write_text(f"old\n{NOTES}\nTried and dropped.\n")
    short = {"data": ("sample:iris",), "variants": (Variant("glloyd", "glloyd"),), "epsilon": (1.0,)}
    sweep = dataclasses.replace(utility.spec("nsm"), **short)
    monkeypatch.setattr(utility, "spec", lambda table: sweep)
    monkeypatch.setattr(
        "sys.argv", ["utility", "--table", "nsm", "--seeds", "1", "--rows", str(tmp_path / "nsm.jsonl")]
    )
    utility.main()
    table, _, notes = (tmp_path / "nsm.md").read_text().partition(NOTES)
    assert "| iris (150, 4, 3) | GLloyd |" in table and "nan" not in table and notes == "\nTried and dropped.\n"


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ((1.234, 0.056, ".2f"), "1.23 ± 0.06"),
        ((1.234, np.nan, "+.2f"), "+1.23"),
        ((1.2, 0.01, "+.1f", ".2f"), "+1.2 ± 0.01"),
    ],
)
def test_a_mean_of_one_seed_has_no_error(numbers, words):
    assert utility.mean_words(*numbers) == words


def test_no_benchmark_prints_an_error_that_may_be_missing():
    sources_of = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "lab" / "benchmarks").glob("*.py")}
    assert [name for name, text in sources_of.items() if "± {standard_error(" in text] == []
