"""Check the command line: it accepts what people type, and refuses an impossible request in one sentence."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.cli import main
from dpviz.datasets import load_sample
from dpviz.trace import Trace

RNG, ROOT = np.random.default_rng(0), Path(__file__).parents[2]


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.csv"
    pd.DataFrame(RNG.integers(10**11, 10**12, (60, 2)) / 1e12, columns=["a", "b"]).to_csv(path, index=False)
    return path


def test_algorithms_are_listed(capsys):
    assert main(["algorithms"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in listed] == list(ALGORITHMS)


def test_run_on_a_sample_is_reproducible_and_writes_the_released_part(tmp_path, capsys):
    out = tmp_path / "out.json"
    command = ["run", "pe-means", "--data", "sample:blobs", "--epsilon", "1", "--seed", "0", "--json", str(out)]
    assert main(command) == 0
    first = capsys.readouterr().out
    assert "simulation: the seed is known" in first and "NOT PRIVATE" in first
    assert main(command) == 0 and capsys.readouterr().out == first
    trace = Trace.from_json(out.read_text())
    assert trace.parameters["epsilon"] == 1.0 and not any(step.hidden for step in trace.steps)


def test_an_answer_that_cannot_be_kept_is_not_asked_for(tmp_path, capsys):
    run, nowhere = tmp_path / "run.json", str(tmp_path / "none" / "out.json")
    command = ["run", "pe-means", "--data", "sample:tiny", "--seed", "0", "--json"]
    assert main([*command, str(run)]) == 0
    for asked in (
        [*command, nowhere],
        ["explain", str(run), "--data", "sample:tiny", "--epsilon", "1", "--json", nowhere],
    ):
        capsys.readouterr()
        assert main(asked) == 2
        told = capsys.readouterr()
        assert "cannot be written; nothing was spent." in told.err and told.out == ""


def test_a_refused_run_leaves_no_empty_file(tmp_path, capsys):
    missing, before = tmp_path / "missing.json", tmp_path / "before.json"
    before.write_text("")
    for path in (missing, before):
        assert main(["run", "pe-means", "--data", str(tmp_path / "no.csv"), "--json", str(path)]) == 2
    assert not missing.exists()
    assert before.exists()


@pytest.fixture
def private(mine):
    """Return the words of a private run, without its output file."""
    given = ["--private", "--header", "--low", "0", "--high", "1", "--n-public", "60", "--n-clusters", "2"]
    return ["run", "pe-means", "--data", str(mine), *given, "--json"]


def test_a_trace_for_which_there_is_no_room_is_refused_before_it_is_paid_for(private, tmp_path, capsys, monkeypatch):
    out = tmp_path / "out.json"
    out.write_text("old")

    def full(number):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("dpviz.cli.output.os", SimpleNamespace(fsync=full, getpid=os.getpid))
    assert main([*private, str(out)]) == 2
    told = capsys.readouterr()
    assert "out.json cannot be given 1." in told.err and "nothing was spent." in told.err and "booked" not in told.out
    assert out.read_text() == "old" and list(tmp_path.glob(".*")) == []


def test_a_trace_that_cannot_be_written_is_printed_and_said_to_be_spent(private, tmp_path, capsys):
    assert main([*private, "/dev/full"]) == 2
    told = capsys.readouterr()
    assert "/dev/full could not be written (No space left on device). The run is spent, so keep" in told.err
    assert Trace.from_json(told.out[told.out.index("{") :]).seed is None


@pytest.mark.slow
def test_a_full_standard_output_is_named_before_anything_is_booked(private, capsys):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": ""}
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "dpviz", *private[:-1]]
        ended = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=environment, check=False)
    assert ended.returncode == 2 and ended.stderr.count("\n") == 1, ended.stderr
    assert ended.stderr.startswith("dpviz: standard output takes no more text (No space left on device).")
    assert main(["accounts", "list"]) == 0 and "private" not in capsys.readouterr().out


def test_more_centers_than_declared_rows_are_refused_before_anything_is_booked(private, capsys):
    assert main([*private[:-1], "--n-clusters", "200"]) == 2
    told = capsys.readouterr()
    assert "n_clusters must be <= n = " in told.err and "booked" not in told.out
    assert main(["accounts", "list"]) == 0 and "private" not in capsys.readouterr().out


@pytest.mark.parametrize("slug", ["dist-dp", "dist-dp-region-means", "dist-dp-random-points"])
def test_a_domain_that_a_method_refuses_is_refused_before_anything_is_booked(mine, capsys, slug):
    columns = pd.read_csv(mine, nrows=0).shape[1]
    high = ",".join(["1", "2", *["1"] * (columns - 2)])  # in each column, a move of rho would have another length
    given = ["--private", "--header", "--low", ",".join("0" * columns), "--high", high, "--n-public", "60"]
    assert main(["run", slug, "--data", str(mine), *given, "--rho-distance", "0.1", "--n-clusters", "2"]) == 2
    told = capsys.readouterr()
    assert "one scale for all columns" in told.err and "booked" not in told.out
    assert main(["accounts", "list"]) == 0 and "private" not in capsys.readouterr().out


@pytest.mark.slow
def test_where_standard_error_is_closed_the_sentence_is_on_standard_output(private, tmp_path):
    command = f'"{sys.executable}" -m dpviz {" ".join(private)} /nowhere/out.json 2>&-'
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(command, shell=True, stdout=subprocess.PIPE, text=True, env=environment, check=False)
    assert ended.returncode == 2 and ended.stdout == (
        "dpviz: --json: /nowhere/out.json cannot be written; nothing was spent.\n"
    )


def test_the_file_is_there_before_the_screen_says_anything(private, tmp_path, capsys, monkeypatch):
    out = tmp_path / "out.json"

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("dpviz.cli.run._say_promise", stopped)
    assert main([*private, str(out)]) == 130
    assert Trace.from_json(out.read_text()).seed is None and list(tmp_path.glob(".*")) == []


@pytest.mark.slow
def test_a_terminated_run_leaves_no_file_and_says_what_is_booked(private, tmp_path):
    out = tmp_path / "out.json"
    run = subprocess.Popen(
        [sys.executable, "-m", "dpviz", *private, str(out)],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    while (
        not out.exists() and run.poll() is None
    ):  # its place is reserved before the rows are read, which takes a second
        time.sleep(0.01)
    run.terminate()
    said = run.communicate(timeout=60)[1]
    # after a few such stops Python ends itself by SIGINT, although the interrupt was caught
    assert run.returncode in (130, -signal.SIGINT)
    assert said == "dpviz: stopped. A private run that was booked stays booked in full.\n"
    assert not out.exists() and sorted(tmp_path.glob(".*")) == []


def test_a_private_file_gets_secure_noise_and_no_metric(mine, tmp_path, capsys):
    out = tmp_path / "out.json"
    command = ["run", "pe-means", "--data", str(mine), "--private", "--header", "--low", "0", "--high", "1"]
    command += ["--n-public", "60"]
    assert main([*command, "--n-clusters", "2", "--json", str(out)]) == 0
    said = capsys.readouterr().out
    assert "loss" not in said and "NOT PRIVATE" not in said
    text = out.read_text()
    assert json.loads(text)["seed"] is None
    for cell in pd.read_csv(mine, dtype=str).to_numpy().ravel():
        assert cell not in text and cell not in said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--epsilon", "0"], "PE-means: epsilon must be > 0; got 0.0."),
        (["--epsilon", "nan"], "PE-means: epsilon must be finite; got nan."),
        (["--epsilon", "much"], "PE-means: epsilon is not valid"),
        (["--delta", "1.5"], "PE-means: delta must be <= 0.5; got 1.5."),
        (["--n-clusters", "0"], "PE-means: n_clusters must be >= 1; got 0."),
        (["--seed", "-1"], "PE-means: seed must be >= 0; got -1."),
        (["--private"], "--private is for your own files"),
    ],
)
def test_bad_parameters_are_one_sentence(options, words, capsys):
    assert main(["run", "pe-means", "--data", "sample:tiny", *options]) == 2
    said = capsys.readouterr()
    assert words in said.err and len(said.err.splitlines()) == 1 and said.out == ""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "say whether"),
        (["--public"], "no public bounds"),
        (["--public", "--low", "1", "--high", "0"], "low < high"),
        (["--public", "--low", "0"], "given together"),
        (["--private", "--header", "--low", "0", "--high", "1"], "n_public must be declared"),
        (
            ["--private", "--low", "0", "--high", "1", "--n-public", "60", "--seed", "1"],
            "a private release has no seed",
        ),
    ],
)
def test_bad_files_are_one_sentence(mine, options, words, capsys):
    assert main(["run", "pe-means", "--data", str(mine), *options]) == 2
    assert words in capsys.readouterr().err


def test_unknown_data(capsys):
    assert main(["run", "pe-means", "--data", "sample:nothing"]) == 2
    assert "sample must be one of town" in capsys.readouterr().err
    assert main(["run", "pe-means", "--data", "nowhere.csv", "--public"]) == 2
    assert "does not exist" in capsys.readouterr().err


def test_a_weak_delta_is_warned_about(capsys):
    assert main(["run", "pe-means", "--data", "sample:tiny", "--delta", "0.3"]) == 0
    assert "is at least 1/n for n = 40" in capsys.readouterr().err


def test_rho_is_given_in_the_datas_own_units(capsys):
    """A city 20 km wide has half-widths of 10 km, so 0.3 km is 0.03 in z units."""
    assert main(["run", "dist-dp-random-points", "--data", "sample:city", "--rho-distance", "0.3"]) == 0
    said = capsys.readouterr().out
    assert "rho (distance) = 0.03" in said and "moves of up to 300 m" in said
    assert "who is in the data, and roughly where, is not protected" in said
    assert main(["run", "dist-dp", "--data", "sample:city", "--rho-distance", "0"]) == 2
    assert "a promise about moves of length 0 protects nothing" in capsys.readouterr().err


def test_a_file_is_described_and_then_runs_on_the_columns_that_are_named(tmp_path, capsys):
    rows = ["name,age,income", *(f"p{i},{20 + i % 50},{1000 + i}" for i in range(200)), "q,,5"]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(rows))
    assert main(["describe", str(path), "--public", "-o", str(tmp_path / "people.json")]) == 0
    assert "left out: 'name'" in capsys.readouterr().err
    draft = json.loads((tmp_path / "people.json").read_text())
    assert [column["name"] for column in draft["columns"]] == ["age", "income"] and draft["declared"] is False
    run = ["run", "glloyd", "--data", str(path), "--public", "--n-clusters", "2"]
    assert main(run) == 0
    captured = capsys.readouterr()
    assert "1 of 201 rows have a missing cell" in captured.err and "age  income" in captured.out
    assert main([*run, "--columns", "income"]) == 0 and "age" not in capsys.readouterr().out
    assert main([*run, "--columns", "wealth"]) == 2 and "no column 'wealth'" in capsys.readouterr().err
    assert (
        main(["describe", str(path), "--public", "-o", str(tmp_path / "people.json")]) == 2
    )  # a completed dictionary is never overwritten


def test_a_private_file_is_described_by_names_and_kinds_only(tmp_path, capsys):
    path = tmp_path / "secret.csv"
    path.write_text("age,income\n" + "\n".join(f"{30 + i},{987650 + i}" for i in range(20)))
    assert main(["describe", str(path), "--private"]) == 2 and "first person" in capsys.readouterr().err
    assert main(["describe", str(path), "--private", "--header"]) == 0
    out = capsys.readouterr().out
    empty = {"name": "age", "unit": "", "low": None, "high": None, "recode": None}
    assert "9876" not in out and json.loads(out)["columns"][0] == empty


def test_every_command_is_in_the_help(capsys):
    from dpviz.cli.main import COMMANDS

    with pytest.raises(SystemExit):
        main(["--help"])
    shown = capsys.readouterr().out
    assert all(name in shown and words.split()[0] in shown for name, (_, words) in COMMANDS.items())


def test_no_name_of_the_program_s_inside_stands_in_the_help(capsys):
    with pytest.raises(SystemExit):
        main(["run", "dist-dp", "--help"])
    shown = capsys.readouterr().out
    assert "PARAM" not in shown and "--n-clusters N" in shown


def test_progress_is_a_bar_on_a_terminal_and_a_line_a_tenth_elsewhere(capsys):
    from dpviz.cli.progress import Bar

    with Bar(20, 10) as bar:
        for failed in (False,) * 9 + (True,):
            bar.step(failed=failed)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "10 of 20 runs" and lines[-1] == "20 of 20 runs, 1 failed" and len(lines) == 6
    main(["run", "glloyd", "--data", "sample:tiny", "--n-clusters", "2"])
    assert capsys.readouterr().err == ""  # a pipe gets no progress bar for a single run


def test_a_draft_leaves_out_what_numbers_the_rows(tmp_path, capsys):
    path = tmp_path / "people.csv"
    lines = [f"{7 * i % 50},{20 + i % 9},{i + 100},1" for i in range(50)]
    path.write_text("person_id,age,seen,wave\n" + "\n".join(lines))
    assert main(["describe", str(path), "--public"]) == 0
    shown = capsys.readouterr()
    assert [column["name"] for column in json.loads(shown.out)["columns"]] == ["age"]
    assert "'person_id' (number): It seems to number the rows" in shown.err and "'seen'" in shown.err
    assert "'wave' (number): It has the same value in every row" in shown.err
    assert main(["describe", str(path), "--private", "--header"]) == 0
    names = [column["name"] for column in json.loads(capsys.readouterr().out)["columns"]]
    assert names == ["age", "seen", "wave"]  # 'person_id' is left out for its name; no cell is read


@pytest.mark.parametrize("ending", ["parquet", "npy"])
def test_a_file_is_read_in_parts_by_chosen_columns(ending, tmp_path, capsys):
    rows = np.random.default_rng(0).uniform(0, 1, (500, 3)) * [1, 10, 100]
    path = tmp_path / f"big.{ending}"
    if ending == "npy":
        np.save(path, rows)
    else:
        frame = pd.DataFrame(rows, columns=["x0", "x1", "x2"])
        frame.assign(words="text").to_parquet(path)
    options = [
        "--data",
        str(path),
        "--public",
        "--in-parts",
        "--low",
        "0",
        "0",
        "--high",
        "100",
        "1",
        "--n-clusters",
        "2",
    ]
    assert main(["run", "nsm", *options, "--columns", "x2,x0", "--n-public", "500"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-3] == "x2  x0"
    assert float(lines[-1].split()[0]) > 1 > float(lines[-1].split()[1]) > 0
    assert main(["run", "nsm", *options, "--columns", "x9"]) == 2
    assert "there is no column 'x9'" in capsys.readouterr().err


def test_clusters_are_explained_from_the_centers_or_from_the_rows(tmp_path, mine, capsys):
    run, answer = tmp_path / "run.json", tmp_path / "answer.json"
    bounds = ["--private", "--header", "--low", "0", "--high", "1", "--n-public", "60"]
    assert main(["run", "nsm", "--data", str(mine), *bounds, "--n-clusters", "2", "--json", str(run)]) == 0
    capsys.readouterr()
    assert main(["explain", str(run)]) == 0
    assert "nothing was read or spent" in (out := capsys.readouterr().out) and "Cluster 2: " in out
    asked = ["explain", str(run), "--data", str(mine), "--epsilon", "0.5", "--json", str(answer)]
    assert main([*asked, *bounds]) == 0
    out = capsys.readouterr().out
    assert "by 2 runs on this file" in out and "booked:  epsilon = 1.0" in out and "Cluster 1: " in out
    assert main(["explain", str(answer)]) == 0 and "Cluster 1: " in capsys.readouterr().out
    exact = tmp_path / "exact.json"
    data = load_sample("tiny")
    reference = ALGORITHMS["kmeans"](n_clusters=2).run(data.X, domain=data.domain, seed=0)
    exact.write_text(reference.to_json(include_hidden=True))
    assert main(["explain", str(exact), *asked[2:], *bounds]) == 2
    assert "not released under a promise" in capsys.readouterr().err
    other = [word if word != "1" else "2" for word in bounds]
    assert main([*asked, *other]) == 2 and "the same declared bounds" in capsys.readouterr().err


def test_rows_outside_the_bounds_are_counted_exactly_in_public_and_for_a_budget_in_private(mine, tmp_path, capsys):
    answer = tmp_path / "answer.json"
    ask = ["rows-outside", "--data", str(mine), "--header", "--low", "0", "--high", "0.5", "--n-public", "60"]
    assert main([*ask, "--public"]) == 0
    assert re.search(r"^\d+ of 60 rows lie outside the bounds \(NOT PRIVATE", capsys.readouterr().out)
    private = [*ask, "--private", "--epsilon", "2", "--json", str(answer)]
    assert main(private) == 0
    out = capsys.readouterr().out
    assert "booked:  epsilon = 2," in out and re.search(
        r"About \d+ of 60 rows lie outside your bounds \(±1.5, 95 %\)", out
    )
    assert json.loads(answer.read_text())["seed"] is None
    for wrong, words in (
        ([*private, "--epsilon", "0"], "epsilon must be > 0"),
        ([*private, "--epsilon", "1e6"], "epsilon must"),
        ([*private, "--seed", "1"], "--seed is for DEMO runs"),
    ):
        assert main(wrong) == 2 and words in (told := capsys.readouterr()).err and "booked" not in told.out
    assert main(["accounts", "list"]) == 0 and "1 run" in capsys.readouterr().out


@pytest.mark.skipif(os.name == "nt", reason="the process cannot become another one")
def test_the_app_s_command_becomes_the_server_so_that_every_signal_reaches_it(monkeypatch):
    done = []
    monkeypatch.setattr("os.chdir", lambda folder: done.append(Path(folder) / "app.py"))
    monkeypatch.setattr("os.execv", lambda program, words: done.append([program, *words[1:]]))
    main(["app", "--port", "8599"])
    assert done[0].is_file()
    assert done[1] == [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port=8599"]
