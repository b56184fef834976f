"""Check the stored reruns on Again?: they equal computed reruns with the same settings, or are not used."""

import dataclasses
import re

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import Blobs, load
from dpviz.runs.reruns import rerun, spread
from dpviz.runs.single import reference
from pages._ui.explore import reruns
from pages._ui.explore.centers import AGAIN
from pages._ui.explore.player import verdict
from pages._ui.explore.question import SEEDS, N, RerunQuestion
from pages._ui.explore.rerun_words import in_words
from pages._ui.explore.stored import runs_of
from pages._ui.explore.workspace.explore import explore
from pages._ui.frame.address import scene
from pages._ui.work import atlas, batch
from pages._ui.work.results import Result
from tests.pages.pictures import pictures
from tests.pages.visitor import visit, wait_for_run

STEP = 2.0**-22  # resolution of a stored center, in z units


def asked(sample, method, seed=0, data=None, **values):
    """Return the `RerunQuestion` about a run."""
    data = data or load(sample)
    algorithm = ALGORITHMS[method](**{"n_clusters": data.n_clusters, **values})
    trace = algorithm.run(data.X, domain=data.domain, seed=seed, dataset_id=data.dataset_id)
    return RerunQuestion.of(Result(f"{sample} {method} {seed} {values}", trace, data))


@pytest.mark.parametrize(
    ("sample", "method", "values"),
    [
        ("tiny", "pe-means", {"epsilon": 1.0}),
        ("tiny", "kmeans", {}),
        pytest.param("iris", "dpm", {"epsilon": 0.5, "exactly_k": True}, marks=pytest.mark.slow),
        pytest.param("town:300", "dp-lloyd", {"epsilon": 4.0}, marks=pytest.mark.slow),
    ],
)
def test_stored_reruns_are_those_that_would_be_computed(sample, method, values):
    question = asked(sample, method, **values)
    assert question.pieces() == [] and question.seconds == 0
    stored, data = question.stored[question.current], load(sample)
    made = rerun([data], question.algorithms[question.current], SEEDS)
    assert stored.seeds == made.seeds == tuple(range(N)) and stored.worst == made.worst
    assert stored.losses == pytest.approx(made.losses, rel=1e-9)
    for one, other in zip(stored.centers, made.centers, strict=True):
        assert np.abs(data.domain.normalize(one) - data.domain.normalize(other)).max() <= STEP


def test_reruns_are_the_same_for_every_seed_of_the_current_run():
    one, other = asked("tiny", "pe-means", 0, epsilon=1.0), asked("tiny", "pe-means", 31, epsilon=1.0)
    assert [one.name(at) for at in one.algorithms] == [other.name(at) for at in other.algorithms]
    assert one.stored[one.current].losses.tolist() == other.stored[other.current].losses.tolist()


@pytest.mark.parametrize(("sample", "total"), [("town", 100), ("tiny", 20)])
def test_the_words_count_all_stored_runs_as_the_verdict_does(sample, total):
    question = asked(sample, "pe-means", epsilon=1.0)
    kmeans = reference(question.result.data, question.result.data.n_clusters, 0)
    result = dataclasses.replace(question.result, reference=kmeans.trace, reference_loss=kmeans.loss)
    question = dataclasses.replace(question, result=result)
    some = question.stored[question.current]
    words = in_words(question, question.current, some, hidden=True)
    groups = verdict.groups(question.result)
    complete = [groups.found_by(question.result.data.domain.normalize(centers)).all() for centers in some.centers]
    assert f"found in {sum(complete)}" in words and (f"of all {total} stored runs" in words) == (total > N)
    if total > N:
        stored = runs_of(question.result.data, question.algorithms[question.current])
        assert f", and in {(stored.found == len(groups.means)).sum()} of all {total} stored runs" in words


def test_only_an_epsilon_without_stored_runs_is_computed():
    question = asked("tiny", "pe-means", epsilon=3.0)
    assert list(question.stored) == ["ε 0.25", "ε 0.5", "ε 1", "ε 2", "ε 4"] and question.current == "ε 3"
    assert [piece.name for piece in question.pieces()] == [question.name("ε 3")] and question.seconds > 0


@pytest.mark.parametrize(
    ("sample", "method", "values"),
    [
        ("tiny", "pe-means", {"n_clusters": 3}),
        ("tiny", "pe-means", {"delta": 1e-9}),
        ("tiny", "dp-lloyd", {"iterations": 2}),
        ("tiny", "sulloyd", {}),  # SuLloyd is not used in teaching.
        ("town:200", "dp-lloyd", {}),  # No runs with 200 people are stored.
        (Blobs(n_rows=60, n_clusters=3).key, "dp-lloyd", {}),
    ],
)
def test_runs_of_other_settings_are_computed(sample, method, values):
    question = asked(sample, method, **values)
    assert question.stored == {} and len(question.pieces()) == len(question.algorithms) == 5


@pytest.mark.parametrize("change", [{"private": True}, {"dataset_id": "tiny"}, {"dataset_id": "a1b2c3"}])
def test_private_rows_and_files_are_never_looked_up(monkeypatch, change):
    found = []
    monkeypatch.setattr(atlas, "chart", lambda *which: found.append(which))
    data = load("tiny")
    own = dataclasses.replace(data, **change)
    trace = ALGORITHMS["dp-lloyd"](n_clusters=2).run(data.X, domain=data.domain, seed=0)
    question = RerunQuestion.of(Result("one", trace, own))
    assert question.stored == {} and len(question.pieces()) == 5 and found == []


def test_runs_that_are_missing_are_computed(monkeypatch, tmp_path):
    monkeypatch.setattr(atlas, "FOLDER", tmp_path)
    assert asked("tiny", "pe-means", epsilon=1.0).stored == {}


def test_reruns_of_a_private_release_belong_to_that_release():
    data = dataclasses.replace(load("tiny"), private=True, dataset_id="a1b2c3")
    trace = ALGORITHMS["dp-lloyd"](n_clusters=2).run(data.X, domain=data.domain, seed=0)
    one, other = (RerunQuestion.of(Result(name, trace, data)) for name in ("one", "other"))
    assert not {piece.name for piece in one.pieces()} & {piece.name for piece in other.pieces()}


def test_a_page_with_stored_reruns_opens_finished_and_its_worst_run_has_that_loss(monkeypatch):
    made = []
    monkeypatch.setattr(batch, "_make", lambda *work: made.append(work))
    app = visit("again", "v=1&d=town&a=pe-means&k=5&e=1&s=0")
    assert not app.exception and not app.error and made == []
    body = " ".join(block.proto.body for block in app.get("html"))
    links = {
        e: address.replace("&amp;", "&") for address, e in re.findall(r'href="again\?([^"]+)"[^>]*>(ε [0-9.]+): ', body)
    }
    assert sorted(links) == ["ε 0.25", "ε 0.5", "ε 1", "ε 2", "ε 4"]
    values = scene.read("again", links["ε 0.25"], explore)[0].values
    worst = asked("town", "pe-means", values["s"], epsilon=values["e"])
    losses, there = worst.stored["ε 0.25"].losses, load("town")
    assert values["s"] == losses.argmax() and values["e"] == 0.25
    trace = worst.result.trace
    assert rerun([there], worst.algorithms["ε 0.25"], [values["s"]]).losses == pytest.approx([losses.max()], rel=1e-9)
    assert trace.seed == values["s"]


def test_centers_without_a_formula_have_their_scatter_before_again_is_visited():
    question = asked("town", "pe-means", epsilon=1.0)
    trace, stored = question.result.trace, question.stored["ε 1"]
    scatter = reruns.scatter_of(question.result)
    assert scatter == pytest.approx(spread(stored.centers, trace.cluster_centers, trace.domain))
    app = visit("explore", "v=1&d=town&a=pe-means&k=5&e=1&s=0")
    tables = [block.proto.body for block in app.get("html") if AGAIN in block.proto.body]
    assert not app.exception and "No formula gives this method" in " ".join(tables) and "±" in " ".join(tables)


def test_another_seed_of_the_run_is_another_picture_of_the_same_reruns():
    app, seen = visit("again", "v=1&d=tiny&a=pe-means&k=2&e=1&s=0"), []
    for seed in (0, 1):
        app.number_input(key="explore_seed").set_value(seed).run()
        wait_for_run(app)
        assert not app.exception
        seen.append(pictures(app)[0])
    assert seen[0] != seen[1]


def test_too_few_stored_runs_are_not_used(monkeypatch):
    stop = asked("tiny", "pe-means", epsilon=1.0)
    chart = atlas.chart("tiny", "pe-means")
    few = [dataclasses.replace(one, centers=one.centers[:2], losses=one.losses[:2]) for one in chart.stops]
    monkeypatch.setattr(atlas, "chart", lambda *which: dataclasses.replace(chart, stops=tuple(few)))
    assert stop.stored and asked("tiny", "pe-means", epsilon=1.0).stored == {}
