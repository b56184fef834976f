"""Compute batches of small results, which pictures need, one by one in the background, and store them by name."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from pages._ui.frame.inside.patches import whole
from pages._ui.frame.session import Held, nothing
from pages._ui.frame.shared import once
from pages._ui.work import runs
from pages._ui.work.jobs import LONG, Job
from pages._ui.work.recent import Recent
from pages._ui.work.runs import QUICK
from pages._ui.work.state import work_state
from pages._ui.work.workers import workers

__all__ = ["Gathered", "Piece", "follow", "gather", "halt", "peek"]

SHARED, OWN = 400, 100  # maximum numbers of pieces stored for public data, and for one session's own files


@dataclasses.dataclass(frozen=True, eq=False)
class Piece:
    """One result: its public name, and the call function(*args, on_step) by which a worker process makes it."""

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Gathered:
    """A snapshot of a batch: finished results, the job computing the rest, and its status.

    Attributes
    ----------
    ready : the finished pieces among the requested ones, by name
    active : whether more pieces will come
    problem : one sentence if the computation failed
    stopped : whether the computation was stopped
    asked : number of requested pieces
    """

    ready: dict[str, Any]
    job: Job | None = None
    active: bool = False
    problem: str = ""
    stopped: bool = False
    asked: int = 0


class _Mine:
    pieces: Held[Recent[Any] | None] = Held(nothing)  # results that no other session may see


_mine = _Mine()


@once
def _everybody() -> Recent[Any]:
    return Recent(SHARED)


def _shelf(public: bool) -> Recent[Any]:
    if public:
        return _everybody()
    if _mine.pieces is None:
        _mine.pieces = Recent(OWN)
    return _mine.pieces


def peek(name: str, *, public: bool) -> Any:
    """Return a finished piece, or None, without starting anything."""
    return _shelf(public).get(name)


def gather(topic: str, title: str, pieces: Sequence[Piece], *, public: bool, seconds: float = LONG) -> Gathered:
    """Return the finished pieces, and have the other pieces made in order.

    `topic` names what the request is for, such as "present"; for each topic, a session works on one request at a time,
    and an unfinished earlier request is dropped. `seconds` is the expected time of all pieces.
    """
    shelf = _shelf(public)
    names = tuple(piece.name for piece in pieces)
    asked, job_id = work_state.asked_pieces.get(topic, ((), ""))
    job = runs.jobs().get(job_id)
    # read the job before the finished pieces, so that a job that is over has delivered all of them
    status = job.status if job else ""
    ready = {name: piece for name in names if (piece := shelf.get(name)) is not None}
    if asked != names:
        halt(topic)
        job = None
    missing = [piece for piece in pieces if piece.name not in ready]
    if not missing:
        return Gathered(ready, asked=len(names))
    if job is None:
        work = lambda job: _make(job, missing, shelf)  # noqa: E731
        with whole():
            job = runs.queue(title, work, seconds, topic)
            work_state.asked_pieces[topic] = (names, job.id)
        if job.wait(QUICK):
            return gather(topic, title, pieces, public=public, seconds=seconds)
        status = "running"
    return Gathered(
        ready, job, status in ("queued", "running"), job.error if status == "failed" else "", status == "cancelled",
        len(names),
    )  # fmt: skip


def follow(gathered: Callable[[], Gathered], draw: Callable[[Gathered], None], every: float) -> None:
    """Draw the finished part of a batch every `every` seconds until the batch is complete, then redraw the page once.

    A page that waits for nothing is not redrawn, because that would lose clicks made meanwhile.
    """
    asks = gathered().active

    def look() -> None:
        now = gathered()
        if asks and not now.active:
            st.rerun()
        draw(now)

    st.fragment(look, run_every=every if asks else None)()


def halt(topic: str) -> None:
    """Stop the computation for a topic, and forget the request."""
    _, job_id = work_state.asked_pieces.pop(topic, ((), ""))
    if (job := runs.jobs().get(job_id)) is not None:
        job.cancel()


def _make(job: Job, missing: list[Piece], shelf: Recent[Any]) -> None:
    """Make the pieces that no other job has made meanwhile; each piece counts equally toward progress."""
    for index, piece in enumerate(missing):
        if shelf.get(piece.name) is not None:
            continue  # another job has made the same piece meanwhile

        def look(done: int, total: int, index: int = index) -> None:
            share = done / total if total else 0.0
            job.advance(round(1000 * (index + share)), 1000 * len(missing))

        shelf.put(piece.name, workers().run(piece.function, *piece.args, look=look))
