"""Sweeps for the pages: one queue per server, rows as they come, times measured before a start."""

from __future__ import annotations

import dataclasses
import logging
import secrets
import threading
import time
from collections import OrderedDict
from contextlib import closing, nullcontext
from functools import partial
from itertools import islice
from typing import Any

import pandas as pd
import streamlit as st
from loky import cpu_count

from dpviz.sweeps import estimate
from dpviz.sweeps.engines import on_this_machine, perform
from dpviz.sweeps.rowfile import table
from dpviz.sweeps.sweep import Run, Sweep
from pages._ui.frame import keys
from pages._ui.tradeoff.archive import Archive, is_public
from pages._ui.tradeoff.state import tradeoff_state
from pages._ui.work import turns
from pages._ui.work.jobs import LONG, Job, Jobs
from pages._ui.work.memory import MemoryFolder
from pages._ui.work.state import work_state
from pages._ui.work.watchers import Presence
from pages._ui.work.workers import workers

_LOG = logging.getLogger(__name__)

WORKERS = max(1, cpu_count() - 1)  # one core stays with the visitors
KEEP = 40  # sweeps of all sessions together
MOST_RUNS = 5000
MOST_WAITING = 30  # of all sessions; one session has one
MOST_KINDS = 30  # of runs that are timed before a start
ELSEWHERE = "elsewhere"  # the status of a sweep that another process works on


@dataclasses.dataclass(eq=False)
class Kept:
    """A sweep of this server with the rows it has so far; `owner` is the session that started it here."""

    identity: str
    title: str
    sweep: Sweep
    total: int
    rows: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    job: Job | None = None
    owner: str = ""
    begun: float = 0.0
    spans: dict[tuple[Any, ...], tuple[float, ...]] = dataclasses.field(default_factory=dict)  # of a running one's axes
    watched: Presence = dataclasses.field(default_factory=partial(Presence, 600.0))  # a link may be on its way

    @property
    def active(self) -> bool:
        """Whether it waits or runs."""
        return self.job is not None and self.job.active

    @property
    def data(self) -> tuple[str, ...]:
        """The data sets by the names that visitors see: never a path of the server."""
        return tuple(shelf().titles.get(name, name) for name in self.sweep.data)

    def table(self, most: int) -> pd.DataFrame:
        """Return the first `most` rows, with data sets named likewise."""
        rows = table(self.rows[:most])
        return rows.assign(data=rows.data.replace(shelf().titles))


class Shelf:
    """The last sweeps of all sessions and the times of runs, shared by every visitor."""

    def __init__(self) -> None:
        self.queue = Jobs(workers=1)
        self.trials = Jobs(workers=1)
        self.seconds: dict[tuple[Any, ...], float] = {}
        self.folder = MemoryFolder()
        self.titles: dict[str, str] = {}  # path -> what a visitor sees
        self.archive = _archive()
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._lock = threading.Lock()

    def put(self, kept: Kept) -> None:
        """Keep a sweep; the oldest finished ones go."""
        with self._lock:
            self._kept[kept.identity] = kept
            for old in [i for i, other in self._kept.items() if not other.active][: -KEEP or None]:
                del self._kept[old]

    def get(self, identity: str) -> Kept | None:
        """Return a sweep, from disk if this process does not have it, or None if it is gone."""
        return self._kept.get(identity) or self._again(identity)

    def _again(self, identity: str) -> Kept | None:
        """Resume a sweep of public data after a restart; of one that another process works on, take the rows."""
        try:
            found = self.archive.get(identity) if self.archive else None
        except (OSError, ValueError) as problem:
            _LOG.warning("A sweep on disk cannot be read: %s", problem)
            return None
        if self.archive is None or found is None:
            return None
        sweep, title, rows, how = found
        kept = Kept(identity, title, sweep, size(sweep), rows, Job("", title, status=how or ELSEWHERE))
        if not how:
            if self.waiting >= MOST_WAITING or not self.archive.free(identity):
                return kept
            kept.job = self.queue.submit(title, partial(_work, kept), wanted=kept.watched.there)
        self.put(kept)
        return kept

    @property
    def waiting(self) -> int:
        """How many sweeps wait or run."""
        with self._lock:  # another visitor may start one meanwhile
            return sum(kept.active for kept in self._kept.values())

    def of(self, owner: str) -> Kept | None:
        """Return the sweep of a session that waits or runs, None if there is none."""
        with self._lock:
            return next((kept for kept in self._kept.values() if kept.active and kept.owner == owner), None)


def _archive() -> Archive | None:
    try:
        return Archive()
    except OSError as problem:
        _LOG.warning("Sweeps are not kept over a restart: %s", problem)
        return None


@st.cache_resource(show_spinner=False)
def shelf() -> Shelf:
    """Return the server's one shelf."""
    return Shelf()


def start(sweep: Sweep, title: str) -> None:
    """Queue a sweep and show it.

    Raises
    ------
    ValueError
        If it is too large, too many wait, or another one of this session waits or runs.
    """
    total = size(sweep)
    if total > MOST_RUNS:
        raise ValueError(f"sweep: at most {MOST_RUNS:,} runs at a time here; this one has more. Use the command line.")
    if (mine := shelf().of(work_state.owner)) is not None:
        raise ValueError(f"sweep: your sweep on {mine.title} is not finished; stop it, or wait for it.")
    if shelf().waiting >= MOST_WAITING:
        raise ValueError(f"sweep: {MOST_WAITING} sweeps wait on this server already; try again in a few minutes.")
    kept = Kept(secrets.token_urlsafe(9), title, sweep, total, owner=work_state.owner)
    shelf().put(kept)
    if (archive := shelf().archive) and is_public(sweep):
        archive.put(kept.identity, sweep, title)
    seconds = estimate.seconds(sweep, shelf().seconds, WORKERS) or LONG
    kept.job = shelf().queue.submit(
        title, partial(_work, kept), wanted=kept.watched.there, turn=turns.turn(), seconds=seconds
    )
    show(kept.identity)


def size(sweep: Sweep) -> int:
    """Return how many runs a sweep has, counted up to one more than may be started."""
    return sum(1 for _ in islice(sweep.runs(), MOST_RUNS + 1))


def cancel(kept: Kept) -> None:
    """Stop a sweep for good: nobody takes it up again."""
    if kept.job is not None:
        if (archive := shelf().archive) and is_public(kept.sweep):
            archive.end(kept.identity, "cancelled")
        kept.job.cancel()


def _work(kept: Kept, job: Job) -> None:
    kept.begun = time.monotonic()

    def look() -> None:
        job.advance(len(kept.rows), kept.total)

    archive = shelf().archive if is_public(kept.sweep) else None
    met = {row["key"] for row in kept.rows}
    engine = partial(on_this_machine, workers=WORKERS, nice=10, on_wait=look)
    with archive.working(kept.identity) if archive else nullcontext() as file:
        look()
        with closing(perform(kept.sweep, met, engine)) as rows:
            for row in rows:
                kept.rows.append(row)
                if file is not None:
                    file.append(row)
                look()
        if archive and file is not None:  # else it goes on where it stopped when somebody opens it again
            archive.end(kept.identity, "done")


def show(identity: str) -> None:
    """Make a sweep the shown one."""
    state = st.session_state
    tradeoff_state.sweeps = [old for old in tradeoff_state.sweeps if old != identity][-19:] + [identity]
    state[keys.SWEEP] = identity


def shown() -> Kept | None:
    """Return the sweep to show: the session's, or the one of the address by which the page was opened."""
    found = shelf().get(st.session_state.get(keys.SWEEP) or "")
    if found is not None:
        if found.identity not in tradeoff_state.sweeps:
            show(found.identity)
        found.watched.join()
    return found


def history() -> list[Kept]:
    """Return the session's sweeps that the server still has, newest first."""
    found = (shelf().get(identity) for identity in reversed(tradeoff_state.sweeps))
    return [kept for kept in found if kept is not None]


def expected(sweep: Sweep) -> float | None:
    """Return the expected seconds; None while one run of each kind is being timed in the background.

    A session times one sweep at a time: what the form said before is not timed to its end.
    """
    found = estimate.seconds(sweep, shelf().seconds, WORKERS)
    if found is not None:
        return found
    kinds = estimate.missing(sweep, shelf().seconds)
    timing = shelf().trials.get(tradeoff_state.timing)
    wanted = frozenset(map(estimate.kind, kinds))
    if timing is not None and timing.active:
        if wanted <= tradeoff_state.timed:
            return None
        timing.cancel()
    tradeoff_state.timed = wanted
    tradeoff_state.timing = shelf().trials.submit("timing", partial(_time, kinds), wanted=Presence(5.0).there).id
    return None


def timeable(sweep: Sweep) -> bool:
    """Return whether a sweep has few enough kinds of runs to time one of each."""
    return len(estimate.missing(sweep, shelf().seconds)) <= MOST_KINDS


def _time(kinds: list[Run], job: Job) -> None:
    for done, run in enumerate(kinds):
        job.advance(done, len(kinds))
        shelf().seconds[estimate.kind(run)] = workers().run(estimate.trial, run, job=job)
