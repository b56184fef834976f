"""Run algorithms for the pages in the background: forecast, start, progress, result.

Everything from a visitor's own file stays in the visitor's session: its data set, its runs, its figures.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.atlas.cells import STORY
from dpviz.datasets import Dataset
from dpviz.escape import plain
from dpviz.privacy.guarantee import Notion
from dpviz.runs.single import Reference, Replay, reference, replay
from dpviz.sweeps.processes import FIRST, USUAL
from dpviz.version import __version__
from pages._ui.frame import messages
from pages._ui.frame.catalog import is_public, public
from pages._ui.frame.inside.patches import whole
from pages._ui.frame.session import session
from pages._ui.frame.shared import once
from pages._ui.work import turns
from pages._ui.work.jobs import Job, Jobs
from pages._ui.work.pace import Pace, duration
from pages._ui.work.results import Result, find, keep, show
from pages._ui.work.state import work_state
from pages._ui.work.watchers import Presence
from pages._ui.work.workers import RUNS, workers

MOST_SECONDS = 300.0  # Maximum duration of one run, in seconds; limited because all visitors share the processes.
QUICK = 0.3  # Number of seconds that a script waits for its run before the page starts polling.


@once
def jobs() -> Jobs:
    """Return the server's queue."""
    return Jobs(workers=RUNS)


@once
def pace() -> Pace:
    """Return the measured pace of this server."""
    return Pace()


@st.cache_resource(max_entries=64, show_spinner=False)
def _public_kmeans(name: str, n_clusters: int, seed: int, objective: str, _data: Dataset) -> Reference:
    return workers().call(reference, _data, n_clusters, seed, objective)


def _kmeans(data: Dataset, n_clusters: int, seed: int, objective: str) -> Reference:
    if is_public(data):
        return _public_kmeans(data.dataset_id, n_clusters, seed, objective, data)
    return workers().call(reference, data, n_clusters, seed, objective)


def run_id(data: Dataset, algorithm: Algorithm, seed: int | None, *, noiseless: bool = False) -> str:
    """Return the public identity of a run, which contains ids and parameters but never data."""
    values = {field.name: getattr(algorithm, field.name) for field in dataclasses.fields(algorithm)}
    return json.dumps([data.dataset_id, algorithm.slug, values, seed, __version__, *["no noise"] * noiseless])


def execute(
    data: Dataset, algorithm: Algorithm, seed: int | None, job: Job | None = None, *, noiseless: bool = False
) -> Result:
    """Run an algorithm and, unless the data are private, compare it with KMeans; report finished releases to the job.

    Private data get secure noise and no seed, and nothing else is computed from their rows.
    """
    replayed: Replay = workers().run(
        partial(replay, noiseless=noiseless), data, algorithm, seed,
        look=None if job is None else job.advance, rank=FIRST if data.private else USUAL,
    )  # fmt: skip
    identity = run_id(data, algorithm, replayed.trace.seed, noiseless=noiseless)
    if replayed.seconds is None or replayed.losses is None:
        return Result(identity, replayed.trace, data)
    pace().learn(algorithm, data.domain.n_features, data.n_public, replayed.seconds)
    n_clusters, seed = getattr(algorithm, "n_clusters", data.n_clusters), int(seed or 0)
    objective = getattr(algorithm, "objective", "means")
    kmeans = _kmeans(data, n_clusters, seed, objective)
    return Result(identity, replayed.trace, data, replayed.losses, kmeans.trace, kmeans.loss)


@st.cache_resource(max_entries=16, show_spinner=False)
def demo(name: str, epsilon: float) -> Result:
    """Return a run of Start's method on a sample, made once per server, for visitors who have not run anything."""
    data = public(name)
    values: dict[str, Any] = {"n_clusters": data.n_clusters, "epsilon": epsilon}
    return execute(data, ALGORITHMS[STORY[1]](**values), 0)


def forecast(data: Dataset, algorithm: Algorithm) -> str:
    """Forecast a run's releases and rough time, from public values."""
    size = data.domain.n_features, data.n_public
    planned, words = algorithm.releases(*size), duration(pace().seconds(algorithm, *size))
    if not planned or not algorithm.fixed_ledger:  # nothing is released, or the number depends on released values
        return f"{words.capitalize()} on this server."
    if algorithm.notion in (Notion.LOCAL, Notion.SHUFFLE):
        return f"{planned} report{'s' * (planned != 1)} from each person, {words} on this server."
    return f"{planned} release{'s' * (planned != 1)}, {words} on this server."


def start(data: Dataset, algorithm: Algorithm, seed: int | None, *, noiseless: bool = False) -> None:
    """Show a run at once if it is stored, else start it as a background job of this session."""
    identity = run_id(data, algorithm, None if data.private else seed, noiseless=noiseless)
    if find(identity) is not None:
        show(identity)
        return
    try:
        check(data, algorithm)
    except ValueError as problem:
        messages.say("problem", str(problem))
        return
    inbox: list[Result] = []  # stored outside the server's list of jobs, because a result must not outlive its session
    work = lambda job: inbox.append(execute(data, algorithm, seed, job, noiseless=noiseless))  # noqa: E731
    with whole():
        job = queue(algorithm.name, work, seconds(data, algorithm), paid=data.private)
        session.job, work_state.inbox, work_state.paid = job, inbox, data.private
    if job.wait(QUICK):  # most runs finish here, and their results are shown in this script run
        _take(job)


def queue(title: str, work: Callable[[Job], Any], expected: float, topic: str = "", *, paid: bool = False) -> Job:
    """Queue work of this session, which takes `expected` seconds; jobs on the same topic run one after the other.

    Paid work waits for no other work of its visitor, and goes on although the connection is broken, because it cannot
    be had again for free.
    """
    wanted = (lambda: True) if paid else Presence().there
    return jobs().submit(
        title, work, f"{owner()} {topic}".strip(), wanted, turn=turns.turn(), seconds=expected, paid=paid
    )


def seconds(data: Dataset, algorithm: Algorithm) -> float:
    """Return the expected time of a run here, from public values."""
    return pace().seconds(algorithm, data.domain.n_features, data.n_public)


def check(data: Dataset, algorithm: Algorithm) -> None:
    """Refuse, from public values alone, a run that must fail or would occupy a process of this server for too long.

    Raises
    ------
    ValueError
        If there are more centers than rows, the method refuses the columns with its parameters, or the run would take
        too long; the message says what would fit.
    """
    if algorithm.n_clusters > data.n_public:
        raise ValueError(
            f"Centers k must be at most {data.n_public:,}, the number of rows; got {algorithm.n_clusters}."
        )
    algorithm.check_domain(data.domain, data.n_public)
    expected = seconds(data, algorithm)
    if expected <= MOST_SECONDS:
        return
    fits = [k for k in range(1, algorithm.n_clusters) if _fits(data, dataclasses.replace(algorithm, n_clusters=k))]
    advice = f"{fits[-1]} centers would fit" if fits else "a smaller data set would fit"
    raise ValueError(
        f"This run would take {duration(expected)}, but this server allows {duration(MOST_SECONDS)}; {advice}, or "
        f"use the command line."
    )


def _fits(data: Dataset, algorithm: Algorithm) -> bool:
    try:
        return seconds(data, algorithm) <= MOST_SECONDS
    except ValueError:  # another parameter does not allow this k
        return False


def paid() -> bool:
    """Return whether the session's running job was paid for; nothing may replace it before its result arrives."""
    return session.job is not None and work_state.paid


def abandon() -> None:
    """Stop the session's running job and forget it, because its result is no longer wanted."""
    with whole():
        if session.job is not None:
            session.job.cancel()
        del session.job
        del work_state.inbox


def owner() -> str:
    """Return the random name under which this session owns its jobs."""
    return work_state.owner


def shown(name: str) -> Result | None:
    """Return the run to show: the chosen one or, on the story's sample, a run of the story's method; else None."""
    chosen = find(session.shown)
    return demo(name, 1.0) if chosen is None and name == STORY[0] else chosen


def progress() -> None:
    """Show the session's running job, and take its result once."""
    if session.job is None:
        return
    st.fragment(_poll, run_every=0.4)()


def _poll() -> None:
    job: Job | None = session.job  # held by the session, so that it outlives its place in the server's list of jobs
    if job is None:
        st.rerun()  # the page itself has taken the outcome meanwhile, and says it
    if job.active:
        ahead = jobs().position(job)
        words = releases(job) or "starting"
        if ahead:
            words = f"{ahead} run{'s' * (ahead > 1)} ahead in the queue"
        bar, button = st.columns([5, 1], vertical_alignment="center")
        bar.progress(min(job.done / job.total, 1.0) if job.total else 0.0, f"Running {plain(job.title)}: {words}")
        if button.button("Cancel", key="cancel", width="stretch"):
            job.cancel()
        return
    _take(job)
    st.rerun()


def releases(job: Job) -> str:
    """Return a run's progress, "" before its first release; the number of releases may depend on released values."""
    of = f" of {job.total}" if job.done <= job.total else ""
    return f"release {job.done}{of}" if job.total else ""


def _take(job: Job) -> None:
    """Take the outcome of the session's job: its result, or a sentence that says why there is none.

    The result waits in the session, so it is there even if the queue has forgotten the job.
    """
    with whole():
        del session.job
        inbox = work_state.inbox
        if inbox:
            result = inbox.pop()
            keep(result)
            show(result.identity)
            return
        booked = " The run's whole claim stays booked; nothing is paid again without your consent." * work_state.paid
        if job.status == "done":
            messages.say(
                "problem", f"The run is lost: it has ended, but this visit no longer holds its result.{booked}"
            )
        elif job.status == "failed":
            messages.say("problem", f"{job.error} The run was stopped; nothing else changed.{booked}")
        else:
            messages.say("note", f"{job.title} was canceled.{booked}")
