"""Check sweeps: deterministic cells, rows that survive a torn file and a dead worker, failures as rows, clear specs."""

import dataclasses
import json
import math
import os
import signal
import tomllib
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

from dpviz.algorithms import ALGORITHMS
from dpviz.cli import main
from dpviz.datasets import load_sample
from dpviz.metrics import normalized_loss
from dpviz.privacy.guarantee import Notion
from dpviz.runs.public import started
from dpviz.sweeps.engines import on_this_machine, perform
from dpviz.sweeps.measures import METRICS
from dpviz.sweeps.rowfile import RowFile, read_rows, table
from dpviz.sweeps.spec import read_spec, sweep_of, to_toml
from dpviz.sweeps.sweep import COLUMNS, MEASURED, Sweep, Variant, execute, trace_of
from dpviz.takeaway import export

PE = Variant("pe-means", "pe-means")
SMALL = Sweep(data=("sample:tiny",), variants=(PE,), epsilon=(1.0, 4.0), repeats=2)


def same(row):
    """Return a row without the columns that may differ from one execution to the next."""
    return {name: value for name, value in row.items() if name not in MEASURED}


def rows_of(sweep):
    with threadpool_limits(1):
        return {cell.key: same(execute(cell)) for cell in sweep.runs()}


# ---- the grid


def test_cells_are_the_grid_with_one_reference_first():
    sweep = dataclasses.replace(SMALL, data=("sample:tiny", "sample:iris"), repeats=3)
    cells = list(sweep.runs())
    assert len(cells) == 2 * (1 + 2 * 3)
    assert [cell.algorithm for cell in cells[:2]] == ["kmeans", "kmeans"]
    assert [cell.seed for cell in cells[2:]] == [0] * 4 + [1] * 4 + [2] * 4
    assert len({cell.key for cell in cells}) == len(cells)


def test_an_axis_that_an_algorithm_lacks_adds_no_cell():
    sweep = dataclasses.replace(SMALL, axes=(("rho_distance", (0.1, 0.2)), ("n_clusters", (2, 3))), repeats=1)
    cells = list(sweep.runs())
    assert len(cells) == 2 + 2 * 2
    assert all("rho_distance" not in dict(cell.parameters) for cell in cells)


def test_a_variants_own_value_wins_and_has_its_own_cells():
    fixed = Variant("pe at 2", "pe-means", values=(("epsilon", 2),))
    cells = [c for c in dataclasses.replace(SMALL, variants=(PE, fixed), repeats=1).runs() if c.algorithm != "kmeans"]
    assert [(c.label, dict(c.parameters)["epsilon"]) for c in cells] == [
        ("pe-means", 1.0), ("pe at 2", 2.0), ("pe-means", 4.0),
    ]  # fmt: skip


def test_a_run_equals_the_same_run_by_hand():
    cell = next(c for c in SMALL.runs() if c.algorithm == "pe-means" and c.seed == 1)
    data = load_sample("tiny")
    with threadpool_limits(1):
        row = execute(cell)
        trace = ALGORITHMS["pe-means"](
            n_clusters=data.n_clusters, epsilon=1.0, delta=1 / (100 * data.domain.n_public)
        ).run(data.X, domain=data.domain, seed=1)
        loss = normalized_loss(data.X, trace.cluster_centers, data.domain)
    assert row["loss"] == loss and row["mu"] == trace.claimed.mu and row["delta"] == trace.claimed.delta
    assert row["k_found"] == len(trace.cluster_centers) and row["seconds"] > 0


def test_every_metric_is_computed_and_the_reference_is_its_own_neighbor():
    sweep = Sweep(data=("sample:iris",), variants=(PE,), epsilon=(2.0,), repeats=1, metrics=tuple(METRICS))
    reference, _, row = (execute(cell) for cell in sweep.runs())  # KMeans, KMedians, PE-means
    assert all(np.isfinite(row[name]) for name in METRICS)
    assert reference["center_mse"] == 0 and reference["distance_to_kmeans"] == 0 and reference["epsilon"] is None
    assert row["center_mse"] > 0 and row["loss"] > reference["loss"]
    assert 0.8 < reference["accuracy"] <= 1 and reference["notion"] == "none"


def test_other_numbers_of_rows_are_declared_as_such():
    sweep = dataclasses.replace(SMALL, data=("sample:iris",), n_rows=(None, 75, 450), epsilon=(1.0,), repeats=1)
    found = table([execute(cell) for cell in sweep.runs()])
    assert sorted(found.n_rows.unique()) == [75, 150, 450]
    reference = found[found.algorithm == "kmeans"].set_index("n_rows")
    assert reference.loss[450] == pytest.approx(reference.loss[150])  # three copies of all rows have the same loss
    private = found[found.algorithm == "pe-means"].set_index("n_rows")
    assert private.delta[450] == pytest.approx(1 / 45_000)


def test_failures_are_rows_with_a_reason():
    sweep = dataclasses.replace(SMALL, axes=(("n_clusters", (3, 100)),), epsilon=(1.0,), repeats=1)
    rows = [execute(cell) for cell in sweep.runs()]
    assert [row["status"] for row in rows] == ["ok", "failed", "ok", "failed"]
    assert rows[3]["reason"] == "PE-means: n_clusters must be <= n = 40; got 100."
    assert rows[3]["loss"] is None and rows[3]["n_clusters"] == 100


# ---- engines


@pytest.mark.slow
def test_workers_and_order_do_not_change_a_row():
    expected = rows_of(SMALL)
    found = list(perform(SMALL, (), partial(on_this_machine, workers=2)))
    assert {row["key"]: same(row) for row in found} == expected and len(found) == len(expected)


def die_once(cell):
    """Kill this process at the first attempt to run cell 3."""
    number, folder = cell
    mark = Path(folder) / f"{number}"
    if number == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def die_always(cell):
    if cell == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return cell


@pytest.mark.slow
def test_a_killed_worker_loses_and_doubles_nothing(tmp_path):
    cells = [(i, str(tmp_path)) for i in range(8)]
    found = list(on_this_machine(cells, die_once, lambda cell, reason: reason, workers=2))
    assert sorted(found) == list(range(8)) and (tmp_path / "3").exists()


@pytest.mark.slow
def test_a_cell_that_kills_every_worker_becomes_a_row():
    found = list(on_this_machine(range(4), die_always, lambda cell, reason: (cell, reason), workers=1))
    assert (1, "its worker process died 3 times, perhaps for lack of memory") in found
    assert {0, 2, 3} < set(found) and len(found) == 4


class Stop(Exception):
    pass


@pytest.mark.slow
def test_stopping_kills_the_workers():
    looks = []

    def stop():
        looks.append(1)
        if len(looks) == 4:
            raise Stop

    with pytest.raises(Stop):
        list(on_this_machine([30.0], sleep_and_tell, lambda cell, reason: reason, on_wait=stop))


def sleep_and_tell(seconds):
    import time

    time.sleep(seconds)
    return os.getpid()


# ---- rows on disk


@pytest.mark.slow
@pytest.mark.parametrize("end", [".jsonl", ".csv"])
def test_a_file_torn_anywhere_keeps_its_whole_rows_and_goes_on(tmp_path, end):
    rows = [execute(cell) for cell in dataclasses.replace(SMALL, epsilon=(1.0,), repeats=1).runs()]
    rows.append({**rows[1], "key": "f" * 24, "status": "failed", "reason": 'a "quoted", comma', "loss": None})
    path = tmp_path / f"rows{end}"
    with RowFile(path) as file:
        for row in rows:
            file.append(row)
    whole, complete = path.read_bytes(), table(rows)
    pd.testing.assert_frame_equal(read_rows(path), complete)
    ends = [i + 1 for i, byte in enumerate(whole) if byte == ord("\n")]
    for cut in sorted({0, 1, *range(0, len(whole), len(whole) // 8), *(end + i for end in ends for i in (-1, 0, 1))}):
        path.write_bytes(whole[:cut])
        kept = read_rows(path)
        assert set(kept.key) <= {row["key"] for row in rows}
        with RowFile(path) as file:
            for row in rows:
                if row["key"] not in set(kept.key):
                    file.append(row)
        pd.testing.assert_frame_equal(read_rows(path), complete)


def test_garbage_in_the_middle_is_skipped_and_a_foreign_file_is_refused(tmp_path):
    path = tmp_path / "rows.jsonl"
    row = execute(next(SMALL.runs()))
    with RowFile(path) as file:
        file.append(row)
    path.write_bytes(b'\xff\x00 {"key"\n[1]\n' + path.read_bytes() * 2)
    assert len(read_rows(path)) == 1
    path.write_text('{"a": 1}\n')
    with pytest.raises(ValueError, match="rows.jsonl holds no rows of a sweep"):
        read_rows(path)
    with pytest.raises(ValueError, match="must end in .csv or .jsonl"):
        RowFile(tmp_path / "rows.txt")


@pytest.mark.slow
def test_an_interrupted_sweep_goes_on_to_the_same_rows(tmp_path):
    path, expected = tmp_path / "rows.csv", rows_of(SMALL)
    with RowFile(path) as file, threadpool_limits(1):
        for cell in list(SMALL.runs())[:2]:
            file.append(execute(cell))
    with path.open("a") as file:
        file.write("0123,sample:ti")
    done = read_rows(path)
    assert len(done) == 2
    with RowFile(path) as file:
        for row in perform(SMALL, set(done.key), on_this_machine):
            file.append(row)
    found = read_rows(path)
    assert len(found) == len(expected)
    wanted = table(list(expected.values())).set_index("key").drop(columns=list(MEASURED))
    pd.testing.assert_frame_equal(found.set_index("key").drop(columns=list(MEASURED)).loc[wanted.index], wanted)


# ---- specs and the command line


SPEC = """
title = "Try"
data = "sample:tiny"
algorithms = ["pe-means", "paper"]
epsilon = [1, 4]
repeats = 2
[paper]
algorithm = "pe-means"
preset = "paper"
"""


def write(folder, text):
    path = folder / "spec.toml"
    path.write_text(text)
    return path


def test_a_spec_reads_and_writes_back(tmp_path):
    spec = read_spec(write(tmp_path, SPEC))
    assert spec.title == "Try" and spec.sweep.epsilon == (1.0, 4.0)
    assert spec.sweep.variants[1] == Variant("paper", "pe-means", "paper")
    odd = dataclasses.replace(
        spec.sweep, axes=(("delta", (None, 1e-6)),), n_rows=(None, 30), metrics=("loss", "silhouette"),
        variants=(Variant('a "b"', "pe-means", values=(("n_clusters", 2),)),),
    )  # fmt: skip
    for sweep in (spec.sweep, odd):
        again = sweep_of(tomllib.loads(to_toml(sweep, "x")))
        assert [cell.key for cell in again.runs()] == [cell.key for cell in sweep.runs()]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('data = "sample:tiny"', "must have the key algorithms"),
        (SPEC + "[nothing]", "'nothing' is not a key of a sweep"),
        (SPEC.replace("pe-means", "pe-mean"), "algorithm must be one of kmeans, pe-means"),
        (SPEC.replace("[1, 4]", "[]"), "epsilon must have at least one value"),
        (SPEC.replace("[1, 4]", "[1, 1]"), "epsilon must not repeat a value"),
        (SPEC.replace("[1, 4]", "[1, -4]"), "PE-means: epsilon must be > 0; got -4.0."),
        (SPEC.replace("[1, 4]", "[[1]]"), "epsilon must be one value or a flat list"),
        (SPEC.replace("repeats = 2", "repeats = 0"), "repeats must be >= 1; got 0."),
        (SPEC.replace("repeats = 2", 'metrics = ["profit"]'), "metric must be one of loss"),
        (SPEC.replace('preset = "paper"', 'preset = "best"'), "PE-means: preset must be one of"),
        (SPEC.replace('preset = "paper"', "wings = 2"), "PE-means: parameter must be one of"),
        (SPEC.replace("sample:tiny", "mine.csv"), "say that mine.csv is public"),
        (SPEC.replace("sample:tiny", "sample:nowhere"), "sample must be one of town"),
        (SPEC + "=", "is not valid TOML"),
        (SPEC + "x = " + "[" * 3000 + "]" * 3000, "is nested too deeply"),
        (SPEC.replace("[1, 4]", "1" + "0" * 5000), "holds a number with thousands of digits"),
        (SPEC.replace("[1, 4]", "2020-01-01"), "epsilon must be one value or a flat list of numbers and strings"),
        (SPEC.replace("[1, 4]", "true"), "epsilon must be a number; got True"),
        (SPEC.replace('preset = "paper"', "n_clusters = {a = 1}"), "n_clusters of "),
        (
            SPEC.replace("repeats = 2", f"repeats = 1000\ndelta = {[i / 1e6 for i in range(1, 400)]}"),
            "at most 1,000,000 runs",
        ),
        (SPEC.replace("repeats = 2", "n_rows = -3"), "n_rows must be >= 1; got -3"),
        (SPEC.replace("repeats = 2", 'public = "yes"'), "public must be one of True, False"),
        ("published = [1]\n" + SPEC, "published must be a list of tables"),
        (
            SPEC + '[[published]]\ndata = "a"\nlabel = "b"\nvalue = "x"',
            "value of a [[published]] table must be a number",
        ),
        (SPEC.replace('"Try"', "3"), "title must be a string"),
    ],
)
def test_a_bad_spec_is_one_sentence(tmp_path, capsys, text, words):
    output = tmp_path / "rows.csv"
    assert main(["sweep", str(write(tmp_path, text)), "-o", str(output)]) == 2
    said = capsys.readouterr()
    assert words in said.err and len(said.err.splitlines()) == 1
    assert not output.exists()


@pytest.mark.slow
def test_the_command_line_sweeps_goes_on_and_reports_progress(tmp_path, capsys):
    spec, output = write(tmp_path, SPEC), tmp_path / "rows.csv"
    assert main(["sweep", str(spec), "-o", str(output), "--workers", "2"]) == 0
    assert "9 of 9 runs" in capsys.readouterr().err
    before = output.read_bytes()
    assert list(pd.read_csv(output).columns) == list(COLUMNS) and len(read_rows(output)) == 9
    assert main(["sweep", str(spec), "-o", str(output)]) == 0
    assert output.read_bytes() == before
    assert main(["sweep", str(spec), "-o", str(output), "--workers", "0"]) == 2


def test_a_public_file_is_read_again_when_it_changes(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("a,b\n" + "\n".join(f"{i / 40},{i % 7 / 7}" for i in range(40)) + "\n")
    (tmp_path / "mine.json").write_text(
        '{"columns": [{"name": "a", "low": 0, "high": 1}, {"name": "b", "low": 0, "high": 1}], "n_public": 40}'
    )
    sweep = dataclasses.replace(SMALL, data=(str(path),), public=True, epsilon=(1.0,), repeats=1)
    first = [cell.key for cell in sweep.runs()]
    os.utime(path, ns=(1, 1))
    assert [cell.key for cell in sweep.runs()] != first
    assert execute(list(sweep.runs())[1])["status"] == "ok"


SPECS = sorted((Path(__file__).parents[2] / "lab" / "benchmarks" / "specs").glob("*.toml"))


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_every_benchmark_spec_is_valid(path):
    spec = read_spec(path)
    labels = {variant.label for variant in spec.sweep.variants}
    assert all(entry.label in labels and entry.data in spec.sweep.data for entry in spec.published)
    assert all(entry.what in METRICS for entry in spec.published)


def test_benchmark_sets_need_their_folder_and_generated_ones_do_not(monkeypatch, tmp_path):
    monkeypatch.delenv("DPVIZ_DATASETS", raising=False)
    with pytest.raises(ValueError, match="bench:iris needs the environment variable DPVIZ_DATASETS"):
        list(dataclasses.replace(SMALL, data=("bench:iris",)).runs())
    assert list(dataclasses.replace(SMALL, data=("bench:synth_10d",)).runs())
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "mine.csv").write_text(
        "a,b,label\n" + "\n".join(f"{i % 7},{i % 3},{i % 2}" for i in range(50))
    )
    monkeypatch.setenv("DPVIZ_DATASETS", str(tmp_path))
    row = execute(list(dataclasses.replace(SMALL, data=("bench:mine",), metrics=("accuracy",)).runs())[1])
    assert row["n_rows"] == 50 and row["n_clusters"] == 2 and 0.4 < row["accuracy"] <= 1


def test_rows_that_cannot_be_are_skipped_or_one_sentence(tmp_path):
    good = '{"key": "' + "k" * 24 + '", "status": "ok"}\n'
    odd = ["[" * 100_000, '{"key": 7, "status": "ok"}', '{"key": ["x"], "status": "ok"}']
    odd += [good.replace("k", "m").replace("mey", "key").strip()[:-1] + f', "parameters": "{"[" * 9000}"}}']
    huge = good.replace("kk", "hh").strip()[:-1] + ', "n_clusters": 1' + "0" * 5000 + "}\n"
    (tmp_path / "rows.jsonl").write_text(good + huge + "\n".join(odd) + "\n")
    rows = read_rows(tmp_path / "rows.jsonl")
    assert rows.key.tolist() == ["k" * 24, "h" * 24] and rows.n_clusters[1] == math.inf
    (tmp_path / "rows.csv").write_text("key,status\n" + "7" * 5_000_000 + ",ok\n")
    with pytest.raises(ValueError, match="rows.csv cannot be read as rows of a sweep"):
        read_rows(tmp_path / "rows.csv")


def test_rows_under_an_unknown_promise_are_no_report(tmp_path, capsys):
    row = execute(list(SMALL.runs())[-1])
    (tmp_path / "rows.jsonl").write_text(json.dumps(row | {"notion": "magic"}) + "\n")
    assert main(["report", str(tmp_path / "rows.jsonl"), "-o", str(tmp_path / "report.html")]) == 2
    said = capsys.readouterr().err
    assert said == f"dpviz: report: notion must be one of {', '.join(Notion)}; got 'magic'.\n"


def test_repeats_without_end_are_refused_before_cells_are_listed():
    record = {"data": "sample:tiny", "algorithms": ["nsm"], "epsilon": 1.0, "repeats": 10**12}
    with pytest.raises(ValueError, match="repeats must be <= 100000"):
        sweep_of(record)


def test_a_run_of_a_sweep_can_be_taken_away_and_is_the_one_that_was_measured():
    sweep = Sweep(data=("sample:tiny",), variants=(Variant("nsm", "nsm"),), epsilon=(1.0,), repeats=2, seed=3)
    cell = [cell for cell in sweep.runs() if cell.algorithm == "nsm"][-1]
    trace, data, names = trace_of(cell), load_sample("tiny"), {}
    assert normalized_loss(data.X, trace.cluster_centers, data.domain) == execute(cell)["loss"]
    exec(export(trace, "script"), names)  # the script compares the centers itself
    assert names["trace"].seed == cell.seed == 4


def test_a_method_that_takes_public_rows_has_them_in_every_run():
    (reference, *cells) = Sweep(
        data=("sample:blobs",), variants=(Variant("public", "public-start"),), epsilon=(1.0,), repeats=2
    ).runs()
    traces = [trace_of(cell) for cell in cells]
    data = load_sample("blobs")
    method = started(ALGORITHMS["public-start"](n_clusters=data.n_clusters, epsilon=1.0), data)
    assert {trace.parameters["public_centers"] for trace in traces} == {method.public_centers}
    assert all(trace.steps[0].released["public"] for trace in traces)
    assert started(method, dataclasses.replace(data, X=data.X[:1])) is method  # a start that is given is kept
