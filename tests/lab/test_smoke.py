"""Run every benchmark at its least size, and its help, which must not begin the work."""

import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIBRARIES = {"visitor"}
NAMES = sorted({path.stem for path in (ROOT / "lab" / "benchmarks").glob("[a-z]*.py")} - LIBRARIES)
LEAST = {  # benchmark: (arguments at the least size, what it prints); ROWS is a new file, FILES a folder
    "baselines": ("--algorithm eugkm --data iris --seeds 1 --rows ROWS", "| iris |"),
    "boxes": ("--data iris --algorithms fastlloyd --seeds 1 --rows ROWS", "| geometric mean |"),
    "cliffs": ("--methods eugkm --data iris", "No better than one center"),
    "disk": ("--folder FILES --rows 20000 --algorithms fastlloyd", "| fastlloyd |"),
    "dist_dp": ("--data iris --rhos 0.05 --seeds 1 --workers 1 --rows ROWS", "| sample:iris |"),
    "exact_centers": ("--samples tiny --starts 1", "| tiny |"),
    "files": ("FILES", "tried 1 files"),
    "first_runs": ("--methods fastlloyd", "fastlloyd,20000,8,12,"),
    "forecast": ("--sweeps 1", "| overlap | GLloyd |"),
    "groups": ("--data ring --seeds 1", "| ring ("),
    "growth": ("--algorithms kmeans --axes k --runs 1 --most 1 --rows ROWS --folder FILES", "kmeans"),
    "leave_one_out": ("--data iris --variants default --seeds 1 --rows ROWS", "| iris |"),
    "monotone": ("--data iris --algorithms stemmer-kaplan-shuffle nsm --seeds 1 --rows ROWS", "of 9 pairs"),
    "one_column": ("--sigmas 1.5 --draws 1 --seeds 1 --algorithms fastlloyd", "| geometric mean |"),
    "oracle": ("--data iris --seeds 1 --before RESULTS/nsm.csv", "| iris |"),
    "pe_claim": ("", "mean gain"),
    "public_start": ("--families few-rows --draws 2 --seeds 1 --algorithms glloyd", "| few-rows |"),
    "rho": ("--dims 2 --rhos 1 --epsilons 1 --seeds 1", "| 2 | 1 | 1 |"),
    "robustness": ("--data iris --algorithms fastlloyd --seeds 1", "| FastLloyd |"),
    "shapes_and_days": ("--seeds 1", "| blobs |"),
    "simulated": (
        "--samples iris --algorithms fastlloyd --true 2 --simulated 2 --releases 1",
        "| iris | fastlloyd | 2 |",
    ),
    "speed": ("--algorithms kmeans --cases 10kx2 --pairs 1", "| 10,000 x 2, 15 | KMeans |"),
    "utility": ("--data iris --algorithms fastlloyd --epsilons 1 --seeds 1 --rows ROWS", "| iris (150, 4, 3) |"),
    "verdicts": ("", ""),
}
SERVED = {  # the same for those that look at a server; tests/browser/test_load.py runs them
    "against": ("--turns 1 --part pages", "| opening a session |"),
    "classroom": ("1 --arrive 0 --idle 1 --port PORT", "processor"),
    "pages": ("--visits 1", "ms a step"),
    "steps": ("--data tiny --algorithms fastlloyd", "| FastLloyd |"),
}


def called(name, words, monkeypatch):
    monkeypatch.setattr("sys.argv", [name, *words])
    import_module(f"lab.benchmarks.{name}").main()


@pytest.mark.parametrize("name", NAMES)
def test_help_does_not_begin_the_work(name, monkeypatch, capsys):
    with pytest.raises(SystemExit) as end:
        called(name, ["--help"], monkeypatch)
    assert end.value.code == 0 and f"usage: {name}" in capsys.readouterr().out


def test_every_benchmark_is_tried_at_its_least_size():
    assert sorted([*LEAST, *SERVED, "load", "tab"]) == NAMES


@pytest.mark.slow
@pytest.mark.parametrize("name", LEAST)
def test_a_benchmark_runs_at_its_least_size(name, monkeypatch, capsys, tmp_path):
    words, wanted = LEAST[name]
    (tmp_path / "files" / "data").mkdir(parents=True)
    (tmp_path / "files" / "data" / "table.csv").write_text("a,b\n" + "".join(f"{i % 7},{i % 5}\n" for i in range(60)))
    monkeypatch.delenv("DPVIZ_DATASETS", raising=False)
    monkeypatch.setenv("DPVIZ_HOME", str(tmp_path / "home"))
    places = {"ROWS": tmp_path / "rows.jsonl", "FILES": tmp_path / "files", "RESULTS": ROOT / "dpviz/papers/results"}
    before = {path: path.read_bytes() for path in places["RESULTS"].iterdir()}
    called(name, re.sub("|".join(places), lambda part: str(places[part[0]]), words).split(), monkeypatch)
    printed = capsys.readouterr().out
    assert wanted in printed and not re.search(r"\bnan\b", printed)
    assert {path: path.read_bytes() for path in places["RESULTS"].iterdir()} == before
