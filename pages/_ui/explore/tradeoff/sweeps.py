"""Make sweeps for the pages: rows are shown as they arrive, and times are measured before a start."""

from __future__ import annotations

import dataclasses
import logging
import secrets
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing, nullcontext
from functools import lru_cache, partial
from itertools import islice
from typing import Any, cast

import pandas as pd
import streamlit as st

from dpviz.atlas.rows import stored_rows
from dpviz.datasets import SAMPLES
from dpviz.params import ParamSpec
from dpviz.sweeps import estimate
from dpviz.sweeps.engines import on_this_machine, perform
from dpviz.sweeps.rowfile import table
from dpviz.sweeps.sources import open_source
from dpviz.sweeps.summary import Summary
from dpviz.sweeps.sweep import REFERENCE, Row, Run, Sweep
from pages._ui.explore.tradeoff.archive import Archive, is_public
from pages._ui.explore.tradeoff.state import tradeoff_state
from pages._ui.frame import catalog, prepared
from pages._ui.frame.address.control import Control
from pages._ui.frame.shared import once
from pages._ui.work import atlas, turns
from pages._ui.work.jobs import LONG, SWEEP, Job
from pages._ui.work.memory import MemoryFolder
from pages._ui.work.runs import jobs, pace
from pages._ui.work.state import work_state
from pages._ui.work.watchers import Presence
from pages._ui.work.workers import SWEEPERS, workers

_LOG = logging.getLogger(__name__)

KEEP = 40  # Maximum number of sweeps kept for all sessions together.
MOST_RUNS = 5000  # Maximum number of runs that one sweep makes, not counting known runs.
MOST_LISTED = 10_000
CHEAP = 300.0  # Maximum expected seconds of a sweep that starts by itself; the first estimate is 3 to 5 times too long.
MOST_WAITING = 30  # Maximum number of sweeps that wait or run, in all sessions; each session has at most one.
MOST_KINDS = 30  # Maximum number of kinds of runs that are timed before a start.
ELSEWHERE = "elsewhere"  # The status of a sweep that another process works on.


def _token(text: str) -> str:
    if len(text) > 40 or not all(c.isalnum() or c in "-_" for c in text):
        raise ValueError("not the name of a sweep")
    return text


SHOWN = Control("sweep", "sweep", "sweep", ParamSpec(""), accepts=_token)  # the shown sweep's identity


@dataclasses.dataclass(eq=False)
class Progress:
    """A sweep of this server with the rows it has so far; `owner` is the session that started it on this server."""

    identity: str
    title: str
    sweep: Sweep
    total: int
    rows: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    job: Job = dataclasses.field(default_factory=partial(Job, "", "", status="done"))
    owner: str = ""
    first: tuple[int, float] | None = None  # Number of rows, and the time, when the first new run finished.
    # Ranges of the vertical axes while the sweep runs.
    spans: dict[tuple[Any, ...], tuple[float, ...]] = dataclasses.field(default_factory=dict)
    # a sweep waits ten minutes for viewers, because somebody might open a link to it
    watched: Presence = dataclasses.field(default_factory=partial(Presence, 600.0))

    _table: pd.DataFrame | None = None
    _summary: Summary | None = None

    @property
    def active(self) -> bool:
        """Return whether the sweep waits or runs."""
        return self.job.active

    @property
    def data(self) -> tuple[str, ...]:
        """Return the names of the data sets as visitors see them, never as paths on the server."""
        return tuple(shelf().titles.get(name, name) for name in self.sweep.data)

    @property
    def runs(self) -> int:
        """Return the number of runs behind the curves, that is, all except those of the reference KMeans."""
        return counted(run for _, run in cells(self.sweep))

    def table(self, most: int) -> pd.DataFrame:
        """Return the first `most` rows, with data sets under the names that visitors see."""
        most = min(most, len(self.rows))
        last = self._table  # kept in a variable, because another session might replace it meanwhile
        if last is None or len(last) != most:
            rows = table(self.rows[:most])
            self._table = last = rows.assign(data=rows.data.replace(shelf().titles))
        return last

    def summary(self, most: int, metric: str, axis: str) -> Summary:
        """Return the summary of the first `most` rows in a metric along an axis, cached until another row arrives."""
        rows, last = self.table(most), self._summary
        if last is None or last.rows is not rows or (last.metric, last.axis) != (metric, axis):
            self._summary = last = Summary(rows, metric, axis)
        return last


class Shelf:
    """The latest sweeps of all sessions and the measured times of runs, which all visitors share."""

    def __init__(self) -> None:
        self.seconds: dict[tuple[Any, ...], float] = {}
        self.folder = MemoryFolder()
        self.titles: dict[str, str] = {}  # path -> the name shown to visitors
        self.archive = _archive()
        self._kept: OrderedDict[str, Progress] = OrderedDict()
        self._lock = threading.Lock()

    def put(self, progress: Progress) -> None:
        """Store a sweep and drop the oldest finished ones."""
        with self._lock:
            self._kept[progress.identity] = progress
            for old in [i for i, other in self._kept.items() if not other.active][: -KEEP or None]:
                del self._kept[old]

    def get(self, identity: str) -> Progress | None:
        """Return a sweep, from disk if this process does not have it, or None if it no longer exists."""
        return self._kept.get(identity) or self._again(identity)

    def _again(self, identity: str) -> Progress | None:
        """Resume a sweep of public data after a restart; if another process works on it, read that process's rows."""
        try:
            stored = self.archive.get(identity) if self.archive else None
        except (OSError, ValueError) as problem:
            _LOG.warning("A sweep on disk cannot be read: %s", problem)
            return None
        if self.archive is None or stored is None:
            return None
        sweep, title, rows, how = stored
        progress = Progress(identity, title, sweep, size(sweep), rows, Job("", title, status=how or ELSEWHERE))
        if not how:
            if self.waiting >= MOST_WAITING or not self.archive.free(identity):
                return progress
            progress.job = jobs().submit(title, partial(_work, progress), wanted=progress.watched.there, topic=SWEEP)
        self.put(progress)
        return progress

    @property
    def waiting(self) -> int:
        """Return the number of sweeps that wait or run."""
        with self._lock:  # another visitor might start a sweep meanwhile
            return sum(progress.active for progress in self._kept.values())

    def of(self, owner: str) -> Progress | None:
        """Return a session's sweep that waits or runs, or None."""
        with self._lock:
            return next((own for own in self._kept.values() if own.active and own.owner == owner), None)


def _archive() -> Archive | None:
    try:
        return Archive()
    except OSError as problem:
        _LOG.warning("Sweeps will not survive a restart: %s", problem)
        return None


@once
def shelf() -> Shelf:
    """Return the shelf, which holds the server's sweeps."""
    return Shelf()


def start(sweep: Sweep, title: str) -> None:
    """Queue a sweep's missing runs, and show the sweep, which begins with the rows that are already known.

    Raises
    ------
    ValueError
        If the sweep is too large, too many sweeps wait, or another sweep of this session waits or runs.
    """
    rows, left = known(sweep), missing(sweep)
    if len(left) > MOST_RUNS:
        raise ValueError(
            f"sweep: this server takes at most {MOST_RUNS:,} runs at a time. Use the command line for more."
        )
    if (mine := shelf().of(work_state.owner)) is not None:
        raise ValueError(f"sweep: your sweep on {mine.title} is still running; stop it or wait for it.")
    if shelf().waiting >= MOST_WAITING:
        raise ValueError(
            f"sweep: {MOST_WAITING} sweeps are already waiting on this server; try again in a few minutes."
        )
    progress = Progress(secrets.token_urlsafe(9), title, sweep, len(rows) + len(left), rows, owner=work_state.owner)
    shelf().put(progress)
    if (archive := shelf().archive) and is_public(sweep):
        archive.put(progress.identity, sweep, title, rows)
    seconds = estimate.seconds(left, shelf().seconds, SWEEPERS) or LONG
    progress.job = jobs().submit(
        title, partial(_work, progress), wanted=progress.watched.there, turn=turns.turn(), seconds=seconds, topic=SWEEP
    )
    show(progress.identity)


@lru_cache(maxsize=16)
def cells(sweep: Sweep) -> tuple[tuple[str, Run], ...]:
    """Return the runs of a sweep with their keys, at most one run more than the limit."""
    return tuple((run.key, run) for run in islice(sweep.runs(), MOST_LISTED + 1))


def size(sweep: Sweep) -> int:
    """Return the number of runs of a sweep, counted to at most one more than the limit."""
    return len(cells(sweep))


def counted(runs: Iterable[Run | dict[str, Any]]) -> int:
    """Return how many of these runs or rows belong to chosen algorithms, not to the reference KMeans."""
    return sum((run["algorithm"] if isinstance(run, dict) else run.algorithm) != REFERENCE for run in runs)


def lacking(sweep: Sweep) -> bool:
    """Return whether the atlas lacks runs of a sample and a method of a sweep that it is meant to hold."""
    samples = [name.removeprefix("sample:") for name in sweep.data if name.startswith("sample:")]
    curves = [(one.algorithm, one.values) for one in sweep.variants if one.preset is None]
    return any(
        atlas.chart(sample, method, values=values) is None
        for sample in samples
        for method, values in ((REFERENCE, ()), *curves)
        if atlas.covers(sample, method, values)
    )


@lru_cache(maxsize=32)
def stored(sweep: Sweep) -> dict[str, dict[str, Any]]:
    """Return the rows of a sweep that the atlas has, by key."""
    chart = lru_cache(maxsize=None)(atlas.chart)  # avoids a second look-up of the same chart
    return {row["key"]: row for row in stored_rows((run for _, run in cells(sweep)), chart)}


def known(sweep: Sweep) -> list[dict[str, Any]]:
    """Return the rows of a sweep that are known before it starts, from the atlas and this session's sweeps."""
    rows = {row["key"]: row for progress in history() for row in list(progress.rows)} | stored(sweep)
    return [rows[key] for key, _ in cells(sweep) if key in rows]


def missing(sweep: Sweep) -> list[Run]:
    """Return the runs of a sweep that are not yet known."""
    there = {row["key"] for row in known(sweep)}
    return [run for key, run in cells(sweep) if key not in there]


def at_once(sweep: Sweep, title: str) -> Progress:
    """Return the known part of a sweep, without starting anything."""
    rows = known(sweep)
    if rows and len(rows) == len(stored(sweep)):
        return everybodys(sweep, title)
    last = tradeoff_state.at_once
    if last is None or last.sweep != sweep or len(last.rows) != len(rows):
        tradeoff_state.at_once = last = Progress("", title, sweep, size(sweep), rows)
    return last


@lru_cache(maxsize=32)
def everybodys(sweep: Sweep, title: str) -> Progress:
    """Return the atlas's part of a sweep, which is the same for all sessions and summarized once."""
    return Progress("", title, sweep, size(sweep), list(stored(sweep).values()))


def cancel(progress: Progress) -> None:
    """Stop a sweep for good; it is never resumed."""
    if (archive := shelf().archive) and is_public(progress.sweep):
        archive.end(progress.identity, "cancelled")
    progress.job.cancel()


def _work(progress: Progress, job: Job) -> None:
    def look() -> None:
        job.advance(len(progress.rows), progress.total)

    archive = shelf().archive if is_public(progress.sweep) else None
    met = {row["key"] for row in progress.rows}
    engine = partial(on_this_machine, workers=SWEEPERS, on_wait=look, pool=workers())
    with archive.working(progress.identity) if archive else nullcontext() as file:
        look()
        with closing(cast(Generator[Row], perform(progress.sweep, met, engine))) as rows:
            for row in rows:
                progress.rows.append(row)
                progress.first = progress.first or (len(progress.rows), time.monotonic())
                if file is not None:
                    file.append(row)
                look()
        if archive and file is not None:  # if there is no outcome, the sweep resumes when somebody opens it again
            archive.end(progress.identity, "done")


def show(identity: str) -> None:
    """Show a sweep."""
    state = st.session_state
    tradeoff_state.sweeps = [old for old in tradeoff_state.sweeps if old != identity][-19:] + [identity]
    state[SHOWN.key] = identity


def leave() -> None:
    """Stop showing a sweep of the server, so that the page shows the known part of the form's sweep."""
    st.session_state[SHOWN.key] = ""


def shown() -> Progress | None:
    """Return the sweep to show: the session's, or the sweep named by the address that opened the page."""
    sweep = shelf().get(SHOWN.held or "")
    if sweep is not None:
        if sweep.identity not in tradeoff_state.sweeps:
            show(sweep.identity)
        sweep.watched.join()
    return sweep


def history() -> list[Progress]:
    """Return the session's sweeps that the server still has, newest first."""
    sweeps = (shelf().get(identity) for identity in reversed(tradeoff_state.sweeps))
    return [progress for progress in sweeps if progress is not None]


def expected(runs: Sequence[Run]) -> float | None:
    """Return the expected time of runs in seconds, or None while one run of each kind is being timed in the background.

    A session times one sweep at a time, and abandons the timing of an earlier form.
    """
    seconds = estimate.seconds(runs, shelf().seconds, SWEEPERS)
    if seconds is not None:
        return seconds
    kinds = estimate.missing(runs, shelf().seconds)
    timing = jobs().get(tradeoff_state.timing)
    wanted = frozenset(map(estimate.kind, kinds))
    if timing is not None and timing.active:
        if wanted <= tradeoff_state.timed:
            return None
        timing.cancel()
    tradeoff_state.timed = wanted
    there, turn = Presence(5.0).there, turns.turn()
    tradeoff_state.timing = jobs().submit("Timing", partial(_time, kinds), wanted=there, turn=turn, seconds=1.0).id
    return None


def timeable(runs: Sequence[Run]) -> bool:
    """Return whether the runs are of so few kinds that one run of each kind can be timed."""
    return len(estimate.missing(runs, shelf().seconds)) <= MOST_KINDS


def cheap(runs: Sequence[Run]) -> bool:
    """Return whether runs are few and fast enough to start unasked, as judged by known times or the pace."""
    seconds = estimate.seconds(runs, shelf().seconds, SWEEPERS)
    if seconds is None:
        seconds = 0.0
        for run, count in Counter(dataclasses.replace(run, seed=0) for run in runs).items():
            data = open_source(run.data, run.bounds, run.n_rows, run.modified).data
            algorithm = run.variant.build(run.parameters, n_clusters=data.n_clusters, n_public=data.n_public)
            seconds += count * pace().seconds(algorithm, data.domain.n_features, data.n_public) / SWEEPERS
    return len(runs) <= MOST_RUNS and seconds <= CHEAP


def by_itself(sweep: Sweep) -> bool:
    """Return whether to start a sweep unasked: once for a visitor's public data, if it is cheap and nobody waits."""
    own = [name for name in sweep.data if name not in {f"sample:{sample}" for sample in SAMPLES}]
    if not own or catalog.chosen().private or not tradeoff_state.began.isdisjoint(own):
        return False
    if prepared.locked() or shelf().waiting or not cheap(missing(sweep)):
        return False
    tradeoff_state.began |= set(own)
    return True


def _time(kinds: list[Run], job: Job) -> None:
    for done, run in enumerate(kinds):
        job.advance(done, len(kinds))
        shelf().seconds[estimate.kind(run)] = workers().once(
            estimate.trial, run, look=lambda *_: job.advance(job.done, job.total)
        )
