"""Check what a session takes of its run's outcome: the result, or a sentence that says what happened to it."""

import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load_sample
from pages._ui.frame.session import session
from pages._ui.work import runs
from pages._ui.work.jobs import Job
from pages._ui.work.results import Result
from pages._ui.work.state import work_state


@pytest.fixture
def said(monkeypatch):
    sentences = []
    monkeypatch.setattr(runs.messages, "say", lambda kind, words: sentences.append((kind, words)))
    monkeypatch.setattr(runs, "show", lambda identity: sentences.append(("shown", identity)))
    monkeypatch.setattr(runs, "keep", lambda result: sentences.append(("kept", result.identity)))
    return sentences


def begun(*, paid, results=()):
    session.job, work_state.inbox, work_state.paid = "gone", [*results], paid


@pytest.fixture
def result():
    data = load_sample("tiny")
    return Result("one", ALGORITHMS["dp-lloyd"](n_clusters=2).run(data.X, domain=data.domain, seed=0), data)


@pytest.mark.parametrize("job", [None, Job("", "", status="done"), Job("", "", status="cancelled")])
def test_a_result_that_arrived_is_shown_even_if_the_queue_has_forgotten_its_run(said, result, job):
    begun(paid=True, results=[result])
    runs._take(job)
    assert said == [("kept", "one"), ("shown", "one")] and not session.job


@pytest.mark.parametrize("paid", [True, False])
def test_a_run_without_a_trace_is_said_to_be_lost_and_whether_it_stays_booked(said, paid):
    begun(paid=paid)
    runs._take(None)
    ((kind, words),) = said
    assert kind == "problem" and words.startswith("The run is lost: ") and not session.job
    assert words.endswith("The run's whole claim stays booked.") == paid
