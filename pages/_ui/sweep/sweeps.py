"""Sweeps for the pages: one queue per server, rows as they come, times measured before a start."""

from __future__ import annotations

import dataclasses
import secrets
import threading
import time
from collections import OrderedDict
from contextlib import closing
from functools import partial
from itertools import islice
from typing import Any

import pandas as pd
import streamlit as st
from joblib import cpu_count

from dpviz.sweeps import estimate
from dpviz.sweeps.engines import on_this_machine, perform
from dpviz.sweeps.rowfile import table
from dpviz.sweeps.sweep import Run, Sweep
from pages._ui.jobs import Job, Jobs
from pages._ui.memory import MemoryFolder
from pages._ui.presence import Presence
from pages._ui.workers import workers

WORKERS = max(1, cpu_count() - 1)  # one core stays with the visitors
KEEP = 40  # sweeps of all sessions together
MOST_RUNS = 5000
MOST_WAITING = 5
MOST_KINDS = 30  # of runs that are timed before a start
QUERY = "sweep"  # in the address, so that a sweep is found again; a random token


@dataclasses.dataclass(eq=False)
class Kept:
    """A sweep of this server with the rows it has so far."""

    identity: str
    title: str
    sweep: Sweep
    total: int
    rows: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    job: Job | None = None
    begun: float = 0.0
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
    """The last sweeps of all sessions and the times of cells, shared by every visitor."""

    def __init__(self) -> None:
        self.queue = Jobs(workers=1)
        self.trials = Jobs(workers=1)
        self.seconds: dict[tuple[Any, ...], float] = {}
        self.folder = MemoryFolder()
        self.titles: dict[str, str] = {}  # path -> what a visitor sees
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._lock = threading.Lock()

    def put(self, kept: Kept) -> None:
        """Keep a sweep; the oldest finished ones go."""
        with self._lock:
            self._kept[kept.identity] = kept
            for old in [i for i, other in self._kept.items() if not other.active][: -KEEP or None]:
                del self._kept[old]

    def get(self, identity: str) -> Kept | None:
        """Return a sweep, or None if it is gone."""
        return self._kept.get(identity)

    @property
    def waiting(self) -> int:
        """How many sweeps wait or run."""
        return sum(kept.active for kept in self._kept.values())


@st.cache_resource(show_spinner=False)
def shelf() -> Shelf:
    """Return the server's one shelf."""
    return Shelf()


def start(sweep: Sweep, title: str) -> None:
    """Queue a sweep and show it.

    Raises
    ------
    ValueError
        If it is too large, or too many wait.
    """
    total = size(sweep)
    if total > MOST_RUNS:
        raise ValueError(f"sweep: at most {MOST_RUNS:,} runs at a time here; this one has more. Use the command line.")
    if shelf().waiting >= MOST_WAITING:
        raise ValueError(f"sweep: {MOST_WAITING} sweeps wait on this server already; try again in a few minutes.")
    kept = Kept(secrets.token_urlsafe(9), title, sweep, total)
    shelf().put(kept)
    kept.job = shelf().queue.submit(title, partial(_work, kept), wanted=kept.watched.there)
    show(kept.identity)


def size(sweep: Sweep) -> int:
    """Return how many runs a sweep has, counted up to one more than may be started."""
    return sum(1 for _ in islice(sweep.runs(), MOST_RUNS + 1))


def _work(kept: Kept, job: Job) -> None:
    kept.begun = time.monotonic()

    def look() -> None:
        job.advance(len(kept.rows), kept.total)

    look()
    with closing(perform(kept.sweep, (), partial(on_this_machine, workers=WORKERS, nice=10, on_wait=look))) as rows:
        for row in rows:
            kept.rows.append(row)
            look()


def show(identity: str) -> None:
    """Make a sweep the shown one; it is in the address too."""
    state = st.session_state
    state.sweeps = [old for old in state.get("sweeps", []) if old != identity][-19:] + [identity]
    state.sweep = st.query_params[QUERY] = identity


def shown() -> Kept | None:
    """Return the sweep to show: the session's, else the one in the address."""
    state = st.session_state
    identity = state.get("sweep") or st.query_params.get(QUERY, "")
    found = shelf().get(identity)
    if found is not None and state.get("sweep") != identity:
        show(identity)
    elif found is not None:
        st.query_params[QUERY] = identity
    if found is not None:
        found.watched.join()
    return found


def history() -> list[Kept]:
    """Return the session's sweeps that the server still has, newest first."""
    found = (shelf().get(identity) for identity in reversed(st.session_state.get("sweeps", [])))
    return [kept for kept in found if kept is not None]


def expected(sweep: Sweep) -> float | None:
    """Return the expected seconds; None while one run of each kind is being timed in the background.

    A session times one sweep at a time: what the form said before is not timed to its end.
    """
    found = estimate.seconds(sweep, shelf().seconds, WORKERS)
    if found is not None:
        return found
    state, kinds = st.session_state, estimate.missing(sweep, shelf().seconds)
    timing = shelf().trials.get(state.get("timing", ""))
    wanted = frozenset(map(estimate.kind, kinds))
    if timing is not None and timing.active:
        if wanted <= state.timed:
            return None
        timing.cancel()
    state.timed = wanted
    state.timing = shelf().trials.submit("timing", partial(_time, kinds), wanted=Presence(5.0).there).id
    return None


def timeable(sweep: Sweep) -> bool:
    """Return whether a sweep has few enough kinds of runs to time one of each."""
    return len(estimate.missing(sweep, shelf().seconds)) <= MOST_KINDS


def _time(kinds: list[Run], job: Job) -> None:
    for done, run in enumerate(kinds):
        job.advance(done, len(kinds))
        shelf().seconds[estimate.kind(run)] = workers().run(estimate.trial, run, job=job)
