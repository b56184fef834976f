"""Check twenty reruns: a link to them, a cloud for every ε, the address of the worst run, and none in PRIVATE."""

import re
import threading
import time

import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load
from dpviz.metrics import normalized_loss
from dpviz.sweeps.processes import Pool
from pages._ui.explore import reruns
from pages._ui.explore.workspace.explore import explore
from pages._ui.frame.address import scene
from pages._ui.work import batch
from tests.pages.pictures import pictures
from tests.pages.visitor import content, new_app, private_file, spend, visit, wait, words


@pytest.fixture
def app():
    return visit("again", "v=1&d=tiny&a=sulloyd&k=2&e=1&s=0")


def finish(app):
    wait(app, lambda app: words(app).count('href="again') >= 5)
    return app


@pytest.mark.slow
def test_a_link_opens_reruns_for_every_stop_and_the_worst_run_is_an_address(app):
    finish(app)
    assert not app.exception and not app.error
    links = dict(re.findall(r'href="again\?([^"]+)"[^>]*>(ε [0-9.]+): ', words(app)))
    assert sorted(links.values()) == ["ε 0.25", "ε 0.5", "ε 1", "ε 2", "ε 4"]
    address = next(query for query, one in links.items() if one == "ε 4").replace("&amp;", "&")
    there, problem = scene.read("again", address, explore)
    assert problem == "" and there.values["e"] == 4
    data, algorithm = load("tiny"), ALGORITHMS["sulloyd"](n_clusters=2, epsilon=4.0)
    runs = {seed: algorithm.run(data.X, domain=data.domain, seed=seed) for seed in range(20)}
    losses = {seed: normalized_loss(data.X, run.cluster_centers, data.domain) for seed, run in runs.items()}
    assert there.values["s"] == max(losses, key=losses.get)
    before = len(pictures(app))
    app.segmented_control(key="explore_again_how").set_value("one").run()
    assert not app.exception and len(pictures(app)) == before
    app.toggle(key="explore_hidden").set_value(False).run()
    assert "Open the worst run" not in words(app) and len(pictures(app)) < before  # the loss is hidden, too


def test_reruns_can_be_cancelled_and_go_on(monkeypatch):
    state, gate = {}, threading.Event()
    monkeypatch.setattr(batch.st, "session_state", state)
    monkeypatch.setattr(batch, "QUICK", 0.0)
    monkeypatch.setattr(batch.runs, "owner", lambda: "me")
    monkeypatch.setattr(batch.runs.turns, "turn", lambda: "me")
    monkeypatch.setattr(batch.runs, "Presence", lambda: type("P", (), {"there": staticmethod(lambda: True)}))

    monkeypatch.setattr(batch, "workers", lambda: Pool(0))

    def slow(on_step):
        while not gate.wait(0.01):
            on_step(1, 2)
        return "there"

    wanted = [batch.Piece("a", slow, ())]
    now = batch.gather("t", "title", wanted, public=False)
    assert now.active and now.ready == {}
    now.job.cancel()
    assert now.job.wait(240)
    assert batch.gather("t", "title", wanted, public=False).stopped
    batch.halt("t")
    gate.set()
    until = time.monotonic() + 240
    while not (found := batch.gather("t", "title", wanted, public=False).ready) and time.monotonic() < until:
        time.sleep(0.01)
    assert found == {"a": "there"}
    gate.clear()
    batch.halt("t")
    wanted = [batch.Piece("b", slow, ())]
    job = batch.gather("t", "title", wanted, public=False).job
    get = batch.Recent.get

    asking = threading.current_thread()

    def as_it_comes(shelf, name):
        there = get(shelf, name)
        if threading.current_thread() is asking:  # the job looks up the piece, too, and must not wait for itself
            gate.set()
            assert job.wait(240)
        return there

    monkeypatch.setattr(batch.Recent, "get", as_it_comes)
    assert batch.gather("t", "title", wanted, public=False).active  # the batch is incomplete until the next poll
    assert batch.gather("t", "title", wanted, public=False).ready == {"b": "there"}
    monkeypatch.setattr(batch.Recent, "get", get)
    gate.clear()
    state.clear()
    other = batch.gather("t", "title", wanted, public=False)  # a private file's pieces end with the session
    assert other.ready == {} and other.active
    batch.halt("t")
    assert other.job.wait(240) and other.job.status == "cancelled"


@pytest.mark.slow
def test_a_private_release_shows_where_another_run_may_end_and_nothing_is_spent():
    app = new_app().run()
    private_file(app, content())
    spend(app)
    state = app.session_state
    (number,) = {len(state["history"])}
    app.switch_page("pages/again.py").run()
    wait(app, lambda app: "never where the true center is" in words(app))
    assert not app.exception and not app.error
    told = words(app).replace('href="./learn?v=1&amp;part=definition"', "")  # what a bet is, the same for every run
    assert "without reading a row" in told and "href=" not in told and "KMeans' loss" not in told
    assert sum("simulated from the release" in picture for picture in pictures(app)) == 1
    assert len(state["history"]) == number and "asking" not in state  # no run was made or claimed
    result = state["store"].get(state["shown"])
    asked = reruns.RerunQuestion.of(result).pieces()
    assert all(piece.args[0] is result.trace and len(piece.args) == 3 for piece in asked)  # no row is sent to a worker
    assert result.trace.seed is None
