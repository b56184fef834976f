"""Check the benchmark of generated families: its rows, their seeds, what is resumed, and the places of methods."""

import json
import subprocess
from functools import partial

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.cli import main
from dpviz.metrics import normalized_loss
from dpviz.papers.bench import areas, means, placed, read
from dpviz.sweeps.sources import taken
from lab.bench import runs
from lab.bench.families import FAMILIES, made
from lab.bench.frozen import frozen
from lab.bench.places import markdown
from lab.bench.runs import BOXES, Bench, perform

WIDTHS = {
    "few-columns": (1, 3),
    "far-groups": (1, 3),
    "many-groups": (2, 3),
    "many-columns": (16, 64),
    "wide": (65, 128),
}
WIDTHS |= {
    "tails-1": (1, 1),
    "tails-2": (2, 2),
    "tails-3": (3, 3),
    "few-rows": (2, 8),
    "one-hot": (7, 28),
    "wrong-k": (2, 8),
}

SUMS = {  # sum of the absolute values of the first draw
    "few-columns": 1453.742,
    "far-groups": 29853.025,
    "tails-1": 9661.595,
    "tails-2": 45193.181,
    "tails-3": 59245.782,
    "many-groups": 8147.387,
    "many-columns": 345727.368,
    "wide": 1270907.441,
    "few-rows": 1191.307,
    "one-hot": 40916.93,
    "wrong-k": 34517.66,
}


def test_the_same_text_gives_the_same_rows_and_another_text_others():
    for family in FAMILIES:
        X = made(family, 0, "one").X
        np.testing.assert_array_equal(X, made(family, 0, "one").X)
        others = made(family, 0, "two"), made(family, 1, "one")
        assert all(X.shape != other.X.shape or not np.isclose(X, other.X).all() for other in others)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_draw_of_a_family_has_its_property(family):
    low, high = WIDTHS[family]
    for draw in range(12):
        data = made(family, draw, "property")
        n, d = data.X.shape
        assert np.isfinite(data.X).all() and low <= d <= high and 2 <= data.k < n / 10
        most = np.abs(data.X - np.median(data.X, axis=0)).max() / np.abs(data.X - np.median(data.X, axis=0)).mean()
        if family in ("far-groups", "tails-1", "tails-2", "tails-3"):
            assert most > 10  # the farthest row
        elif family in ("few-columns", "many-groups", "few-rows", "wrong-k"):
            assert most < 10
        assert (n <= 510) == (family == "few-rows")
        if family == "one-hot":
            assert ((data.X == 0) | (data.X == 1)).all(axis=0).sum() >= d - 4 and data.X[:, -3:].sum(axis=1).max() == 1


def test_the_families_change_only_with_the_version():
    sums = {family: round(float(np.abs(made(family, 0, "pin").X).sum()), 3) for family in FAMILIES}
    assert (runs.VERSION, sums) == (1, SUMS)


def test_the_seeds_follow_from_the_last_commit_that_touched_a_method(tmp_path):
    def git(*words):
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        return subprocess.run(["git", "-C", tmp_path, *who, *words], check=True, capture_output=True, text=True).stdout

    def commit(name):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(path.read_text() + "#\n" if path.exists() else "")
        git("add", ".")
        git("commit", "-qm", name)
        return git("rev-parse", "HEAD").strip()

    with pytest.raises(ValueError, match="not in a clone; type any text with --frozen"):
        frozen(tmp_path)
    git("init", "-q")
    commit("app.py")
    with pytest.raises(ValueError, match="no commit of this clone touches dpviz/algorithms or dpviz/privacy"):
        frozen(tmp_path)
    method = commit("dpviz/algorithms/a.py")
    commit("app.py")
    assert frozen(tmp_path) == method
    privacy = commit("dpviz/privacy/b.py")
    assert frozen(tmp_path) == privacy
    (tmp_path / "dpviz/algorithms/new.py").write_text("")
    with pytest.raises(ValueError, match="has changes that are not committed"):
        frozen(tmp_path)
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{tmp_path}", tmp_path / "copy"], check=True)
    with pytest.raises(ValueError, match="does not hold the whole history"):
        frozen(tmp_path / "copy")


def here(tasks, run, give_up):
    return map(run, tasks)


@pytest.mark.slow
def test_the_loss_is_measured_in_every_box_and_divided_by_that_of_kmeans_there(tmp_path):
    bench = Bench("units", ("few-rows",), tuple(BOXES), ("glloyd",), (4.0,), 1, 2)
    rows = perform(bench, tmp_path / "rows.jsonl", here, lambda *_: None)
    assert list(rows.box) == [box for box in BOXES for _ in range(2)] and rows.reason.isna().all()
    data = made("few-rows", 0, "units")
    for row in rows.itertuples():
        domain = taken(data.X, BOXES[row.box])
        trace = ALGORITHMS["glloyd"](n_clusters=data.k, epsilon=4.0).run(data.X, domain=domain, seed=row.seed)
        assert row.loss == normalized_loss(data.X, trace.cluster_centers, domain)
    widths = rows.groupby("box", sort=False).reference.first()
    assert widths["x2"] == pytest.approx(widths["tight"] / 4)  # the same rows in units twice as long
    assert (rows.n_rows, rows.n_clusters)[0][0] == len(data.X)


def test_a_second_call_makes_only_what_is_missing(tmp_path, monkeypatch):
    path, made_now = tmp_path / "rows.jsonl", []

    def counted(tasks, run, give_up):
        for task in tasks:
            made_now.append((task.method, len(task.runs)))
            yield run(task)

    bench = partial(Bench, "resume", ("few-rows",), ("tight",))
    first = perform(bench(("glloyd",), (1.0,), 1, 1), path, counted, lambda *_: None)
    with path.open("a") as torn:
        torn.write('{"key"')
    again = perform(bench(("glloyd",), (1.0,), 1, 2), path, counted, lambda *_: None)
    assert made_now == [("glloyd", 1), ("glloyd", 1)] and again.loss[0] == first.loss[0] != again.loss[1]
    perform(bench(("glloyd",), (1.0,), 1, 1), path, counted, lambda *_: None)
    assert len(made_now) == 2
    for name, value in (("fingerprint", lambda: "another"), ("VERSION", 2)):
        monkeypatch.setattr(runs, name, value)
        perform(bench(("glloyd",), (1.0,), 1, 1), path, counted, lambda *_: None)
    assert len(made_now) == 4


def table(losses):
    """Return rows with KMeans' loss 1 from losses[method][draw], the same at both epsilons and for both seeds."""
    return pd.DataFrame([
        {"family": "f", "box": "tight", "draw": draw, "method": method, "epsilon": epsilon, "seed": seed, "loss": loss,
         "reference": 1.0}
        for method, values in losses.items() for draw, loss in enumerate(values)
        for epsilon in (1.0, 3.0) for seed in (0, 1)
    ])  # fmt: skip


def test_a_place_is_paired_by_draw_with_the_best_other_method():
    found = areas(table({"a": [2.0, 4.0, 8.0], "b": [1.0, 2.0, 4.0], "c": [9.0, 1.0, 9.0]}))
    np.testing.assert_allclose(found["a"], [2, 4, 8])
    line = placed(found, "a").iloc[0]  # the draws differ fourfold, but the ratio is the same on each
    np.testing.assert_allclose([line["ratio"], line["low"], line["high"], line["other_area"]], 2)
    assert (line["other"], line["draws"]) == ("b", 3)
    wide = placed(found, "c").iloc[0]
    logs = np.log([9, 0.5, 2.25])
    half = 4.302653 * logs.std(ddof=1) / 3**0.5
    np.testing.assert_allclose([wide["low"], wide["high"]], np.exp([logs.mean() - half, logs.mean() + half]), rtol=1e-6)
    lines = markdown(found, ["a"])
    assert "| **2.000 ± " in lines[2] and "2.000 [2.000, 2.000] b |" in lines[2]
    assert markdown(found[["a"]], ["a"])[2].endswith("| no other |")
    assert lines[3].startswith("| geometric mean | tight | | 4.000 | 2.000 | 4.327 |")


def test_areas_are_under_the_curve_and_a_failed_run_shows():
    rows = table({"a": [2.0], "b": [1.0]})
    rows.loc[(rows.method == "a") & (rows.epsilon == 3), "loss"] = 6.0
    assert areas(rows)["a"].tolist() == [4.0]
    assert areas(rows[rows.epsilon == 1])["a"].tolist() == [2.0]
    rows.loc[0, "loss"] = None  # one seed of one epsilon
    assert areas(rows)["a"].isna().all() and "| failed | **1.000** | failed |" in markdown(areas(rows), ["a"])[2]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["-o", "t.csv"], "must end in .parquet; got 't.csv'"),
        (["-o", "t.parquet", "--draws", "0"], "draws must be >= 1"),
        (["-o", "t.parquet", "--methods", "dp-dbscan", "--frozen", "x"], "method must be one of"),
        (["-o", "t.parquet", "--methods", "glloyd", "--place", "nsm", "--frozen", "x"], "place must be one of glloyd"),
        (["-o", "t.parquet", "--epsilons", "0", "--frozen", "x"], "epsilon must be >= 0.01"),
    ],
)
def test_a_wrong_request_is_refused_in_one_sentence(words, sentence, capsys):
    assert main(["bench", *words]) == 2
    error = capsys.readouterr().err
    assert sentence in error and error.count("\n") == 1


@pytest.mark.slow
def test_the_command_places_a_program_and_resumes(tmp_path, capsys, registry):
    out = tmp_path / "table.parquet"
    words = ["bench", "-o", str(out), "--families", "few-rows", "--boxes", "tight", "x2", "--methods", "glloyd", "nsm"]
    words += ["sklearn-minibatchkmeans", "--outside", "sklearn.cluster:MiniBatchKMeans", "--epsilons", "1", "2"]
    words += ["--draws", "2", "--seeds", "1", "--frozen", "smoke", "--workers", "2"]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "nsm / best other (95%) | sklearn-minibatchkmeans / best other (95%)" in shown
    assert "| few-rows | tight | 2 |" in shown and "| geometric mean | x2 |" in shown and "failed" not in shown
    rows, about = pd.read_parquet(out), json.loads(pq.read_schema(out).metadata[b"bench"])
    assert len(rows) == 24 and (about["frozen"], about["bench"]) == ("smoke", 1) and rows.loss.notna().all()
    known = read(out)
    assert known.families == {"few-rows": FAMILIES["few-rows"].words} and known.areas.equals(areas(rows))
    assert (known.about["draws"], known.about["seeds"], known.about["epsilons"]) == (2, 1, [1.0, 2.0])
    found = means(known.areas, "x2")
    assert found.loc["all"].tolist() == pytest.approx(found.loc["few-rows"].tolist())
    assert f"| geometric mean | x2 | | {' | '.join(f'{one:.3f}' for one in found.loc['all'])} |" in shown
    stored = out.with_suffix(".jsonl").read_text()
    assert main(words) == 0
    assert capsys.readouterr().out == shown and out.with_suffix(".jsonl").read_text() == stored
