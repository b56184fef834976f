"""Check what a session takes of its run's outcome: the result, or a sentence that says what happened to it."""

import os
import signal
import threading

import pytest
import streamlit as st

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load_sample
from dpviz.runs.single import replay
from dpviz.sweeps.processes import Pool
from pages._ui.frame.session import session
from pages._ui.work import private, runs
from pages._ui.work.jobs import Job
from pages._ui.work.results import Result
from pages._ui.work.state import work_state
from tests.pages.visitor import content, finish, new_app, press, private_file


@pytest.fixture
def said(monkeypatch):
    sentences = []
    monkeypatch.setattr(runs.messages, "say", lambda kind, words: sentences.append((kind, words)))
    monkeypatch.setattr(runs, "show", lambda identity: sentences.append(("shown", identity)))
    monkeypatch.setattr(runs, "keep", lambda result: sentences.append(("kept", result.identity)))
    return sentences


def begun(*, paid, results=()):
    session.job, work_state.inbox, work_state.paid = Job("", ""), [*results], paid


@pytest.fixture
def result():
    data = load_sample("tiny")
    return Result("one", ALGORITHMS["dp-lloyd"](n_clusters=2).run(data.X, domain=data.domain, seed=0), data)


@pytest.mark.parametrize("job", [Job("", "", status="done"), Job("", "", status="cancelled")])
def test_a_result_that_arrived_is_shown_whatever_happened_to_its_job(said, result, job):
    begun(paid=True, results=[result])
    runs._take(job)
    assert said == [("kept", "one"), ("shown", "one")] and not session.job


@pytest.mark.parametrize("paid", [True, False])
def test_a_run_without_a_trace_is_said_to_be_lost_and_whether_it_stays_booked(said, paid):
    begun(paid=paid)
    runs._take(Job("", "", status="done"))
    ((kind, words),) = said
    assert kind == "problem" and words.startswith("The run is lost: ") and not session.job
    assert words.endswith("The run's whole claim stays booked; nothing is paid again without your consent.") == paid


@pytest.fixture
def held_up(monkeypatch):
    """Hold every run until the fixture's value is set, and let no script wait for its run."""
    execute, go = runs.execute, threading.Event()
    monkeypatch.setattr(runs, "execute", lambda *args, **named: go.wait(240) and execute(*args, **named))
    monkeypatch.setattr(runs, "QUICK", 0.0)
    yield go
    go.set()


def _spending(held_up):
    """Return the app of a visitor whose paid run has begun, and its job."""
    held_up.set()
    app = private_file(new_app().run(), content()).switch_page("pages/explore.py").run()
    app = press(app, "Run")
    held_up.clear()
    press(app, "Run and spend")
    job = app.session_state["job"]
    assert job.active and app.session_state["paid"]
    return app, job


@pytest.mark.slow
def test_a_paid_run_is_shown_although_the_queue_has_forgotten_it(held_up):
    app, job = _spending(held_up)
    runs.jobs()._jobs.clear()
    st.cache_resource.clear()
    app.run()
    assert app.session_state["job"] is job  # it still runs, so nothing is lost
    held_up.set()
    assert job.wait(240)
    finish(app)
    [shown] = app.session_state["history"]
    assert app.session_state["shown"] == shown and not app.error


@pytest.mark.slow
def test_a_paid_run_goes_on_although_nobody_is_connected(monkeypatch, held_up):
    monkeypatch.setattr(runs.Presence, "there", lambda self: False)
    app, job = _spending(held_up)
    held_up.set()
    assert job.wait(240) and job.status == "done"
    assert len(finish(app).session_state["history"]) == 1


DRAWS = "DPVIZ_TEST_DRAWS"


def _dying(data, algorithm, seed, on_step, *, noiseless=False):
    """Run on private rows, write a line, and die before the result is sent, as if memory had run out."""
    replay(data, algorithm, seed, on_step, noiseless=noiseless)
    with open(os.environ[DRAWS], "a") as file:
        file.write("drawn\n")
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_a_killed_paid_run_is_one_claim_one_draw_and_one_sentence(monkeypatch, tmp_path):
    monkeypatch.setenv(DRAWS, str(tmp_path / "draws"))
    monkeypatch.setattr(runs, "replay", _dying)
    pool = Pool(2)
    monkeypatch.setattr(runs, "workers", lambda: pool)
    try:
        app = private_file(new_app().run(), content()).switch_page("pages/explore.py").run()
        press(press(app, "Run"), "Run and spend")
        finish(app)
    finally:
        pool.stop()
    assert (tmp_path / "draws").read_text() == "drawn\n"
    [file] = app.session_state["fingerprints"].values()
    with private.accounts() as store:
        assert len(store.of(file).claims) == 1
    assert [error.value for error in app.error] == [
        "The process that computed this died, perhaps for lack of memory. The run was stopped; nothing else changed. "
        "The run's whole claim stays booked; nothing is paid again without your consent."
    ]
