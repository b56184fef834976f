"""Look up stored runs in the atlas, and decide whether they may be used. Pages read the atlas only through this module.

An atlas whose stamp matches the current sources is trusted at once. Otherwise a worker process repeats the probe runs
of each sample and method once; until these agree with the stored runs, the pages use none of them. Lookups use only the
names of a sample and a method, so nothing of a visitor's file can be looked up or stored.
"""

from __future__ import annotations

import enum
import functools
import threading
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import numpy as np
import streamlit as st

from dpviz.algorithms import Algorithm
from dpviz.atlas import averages, files, rounds
from dpviz.atlas.averages import Bets, Given
from dpviz.atlas.cells import EXACTLY_K, METHODS, Chapter
from dpviz.atlas.files import Chart
from dpviz.atlas.rounds import GAMES, Game
from dpviz.audits.game import Round
from dpviz.datasets import SAMPLES, Dataset
from pages._ui.frame.session import session
from pages._ui.work.jobs import Job, Jobs
from pages._ui.work.state import work_state
from pages._ui.work.workers import workers

__all__ = ["Trust", "chart", "covers", "given", "note", "played", "stamped", "trust"]

FOLDER = files.FOLDER

_ABSENT = "Stored runs are missing or come from another version, so pictures are computed on request."
_CHECKING = "Stored runs are being checked against this version. The picture will appear in a moment."


class Trust(enum.Enum):
    """The verdict on whether the stored runs of a method on a sample may be used."""

    YES = "yes"
    CHECKING = "checking"
    NO = "no"


class _Probes:
    """The verdicts on files with an old stamp, found by one probe at a time."""

    def __init__(self) -> None:
        self._queue = Jobs(workers=1, keep=1000)
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def verdict(self, name: str, current: Callable[..., bool], *asked: Any) -> Trust:
        """Return the verdict on a file; the first call starts its probe, `current(*asked)`, in a worker process."""
        with self._lock:
            if name not in self._jobs:
                self._jobs[name] = self._queue.submit(name, lambda job: bool(workers().call(current, *asked)))
            job = self._jobs[name]
        if job.active:
            return Trust.CHECKING
        return Trust.YES if job.status == "done" and job.result else Trust.NO


@st.cache_resource(show_spinner=False)
def _probes() -> _Probes:
    return _Probes()


@st.cache_resource(show_spinner=False)
def stamped() -> bool:  # cached under a lock, because Python 3.11 fails if several threads parse at once
    """Return whether the stored runs were made by exactly the current sources."""
    return files.stamped(FOLDER)


def covers(sample: str, method: str, values: tuple[tuple[str, Any], ...] = ()) -> bool:
    """Return whether the atlas is meant to hold runs of a method on a data set."""
    return sample in SAMPLES and method in METHODS and values in ((), EXACTLY_K)


def trust(sample: str, method: str, values: tuple[tuple[str, Any], ...] = ()) -> Trust:
    """Return whether the stored runs of a method on a sample may be used, without waiting for the probe runs."""
    chapter = Chapter(sample, method, values)
    if not covers(sample, method, values) or not (FOLDER / f"{chapter.name}.parquet").is_file():
        return Trust.NO
    if not stamped():
        return _probes().verdict(chapter.name, files.current, chapter, FOLDER)
    whole = files.read(sample, method, None, values, folder=FOLDER) is not None  # cached for the page's next read
    return Trust.YES if whole else Trust.NO


def chart(
    sample: str, method: str, people: int | None = None, values: tuple[tuple[str, Any], ...] = ()
) -> Chart | None:
    """Return the stored runs of a method on a sample, or None if there are none that may be used (yet).

    Parameters
    ----------
    sample : name in SAMPLES; other names have no stored runs
    method : name of an algorithm; other names have no stored runs
    people : number of people in an edition with fewer people, None for the whole sample
    values : parameters whose values are not the method's defaults, as in `dpviz.atlas.cells.Chapter`
    """
    if trust(sample, method, values) is not Trust.YES:
        return None
    return files.read(sample, method, people, values, folder=FOLDER)


def played(data: Dataset, algorithm: Algorithm, person: np.ndarray, world: bool | None = None) -> tuple[Round, ...]:
    """Return the usable stored rounds, if any, of the game about a person in a sample.

    Parameters
    ----------
    data : the data set, of which only the name of a sample is looked up
    algorithm : the algorithm under attack
    person : position of the person, shape (d,), original units
    world : the world of all rounds, None if a coin decided each round
    """
    mine = [game for game in GAMES if data.dataset_id == f"sample:{game.sample}" and game.world is world]
    if data.private or algorithm not in [game.algorithm() for game in mine] or _trust_in(rounds) is not Trust.YES:
        return ()
    stored = rounds.read(FOLDER) or {}
    of = (game for game in mine if game.algorithm() == algorithm and np.array_equal(_person(game), person))
    return next((stored[game] for game in of if game in stored), ())


def given() -> tuple[Given, Bets] | Trust:
    """Return Start's stored averages and bets, or CHECKING until they are verified, or NO if there are none."""
    trust = _trust_in(averages)
    return (averages.read(FOLDER) or Trust.NO) if trust is Trust.YES else trust


def _trust_in(part: ModuleType) -> Trust:
    """Return whether a file that does not belong to a single method and sample may be used."""
    if not (FOLDER / part.NAME).is_file():
        return Trust.NO
    return Trust.YES if stamped() else _probes().verdict(part.NAME, part.current, FOLDER)


@functools.cache
def _person(game: Game) -> np.ndarray:
    return game.question().person


def note(trusts: Iterable[Trust]) -> None:
    """Say that stored runs are being checked or, once per session, that there are none to use."""
    kinds = set(trusts)
    if Trust.CHECKING in kinds:
        st.caption(_CHECKING)
    elif Trust.NO in kinds and work_state.atlas_absent in ("", session.page):
        work_state.atlas_absent = session.page  # only the page that showed the sentence first keeps showing it
        st.caption(_ABSENT)
