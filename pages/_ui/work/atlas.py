"""Whether stored runs may be used: the one place where a page looks something up in the atlas.

An atlas whose stamp is that of these sources is believed at once. Otherwise the probe runs of each sample and method
are made once, in a worker process; until they agree the page goes on without. Nothing but the name of a sample and of a
method is ever asked for, so nothing of a visitor's file can be looked up or stored.
"""

from __future__ import annotations

import enum
import functools
import threading
from collections.abc import Iterable
from typing import Any

import streamlit as st

from dpviz.atlas import files
from dpviz.atlas.cells import EXACTLY_K, METHODS, Chapter
from dpviz.atlas.files import Chart
from dpviz.datasets import SAMPLES
from pages._ui.frame.session import session
from pages._ui.work.jobs import Job, Jobs
from pages._ui.work.state import work_state
from pages._ui.work.workers import workers

__all__ = ["Trust", "chart", "covers", "note", "trust"]

FOLDER = files.FOLDER

_ABSENT = "Stored runs are missing here, or made by another version: pictures are made as they are asked for."
_CHECKING = "Stored runs are being checked against this version. The picture follows in a moment."


class Trust(enum.Enum):
    """Whether the stored runs of a method on a sample may be used."""

    YES = "yes"
    CHECKING = "checking"
    NO = "no"


class _Probes:
    """The verdicts on files whose stamp says nothing, one probe after the other."""

    def __init__(self) -> None:
        self._queue = Jobs(workers=1, keep=1000)
        self._jobs: dict[Chapter, Job] = {}
        self._lock = threading.Lock()

    def verdict(self, chapter: Chapter) -> Trust:
        with self._lock:
            if chapter not in self._jobs:
                self._jobs[chapter] = self._queue.submit(chapter.name, functools.partial(_probe, chapter))
            job = self._jobs[chapter]
        if job.active:
            return Trust.CHECKING
        return Trust.YES if job.status == "done" and job.result else Trust.NO


def _probe(chapter: Chapter, job: Job) -> bool:
    return bool(workers().call(files.current, chapter, FOLDER))


@st.cache_resource(show_spinner=False)
def _probes() -> _Probes:
    return _Probes()


@functools.cache
def _stamped() -> bool:
    return files.stamped(FOLDER)


def covers(sample: str, method: str, values: tuple[tuple[str, Any], ...] = ()) -> bool:
    """Return whether the atlas is meant to hold a method on a data set: samples and what is taught with."""
    return sample in SAMPLES and method in METHODS and values in ((), EXACTLY_K)


def trust(sample: str, method: str, values: tuple[tuple[str, Any], ...] = ()) -> Trust:
    """Return whether the stored runs of a method on a sample may be used; does not wait for the probe runs."""
    chapter = Chapter(sample, method, values)
    if not covers(sample, method, values) or not (FOLDER / f"{chapter.name}.parquet").is_file():
        return Trust.NO
    if not _stamped():
        return _probes().verdict(chapter)
    whole = files.read(sample, method, None, values, folder=FOLDER) is not None  # kept: the page reads it next
    return Trust.YES if whole else Trust.NO


def chart(
    sample: str, method: str, people: int | None = None, values: tuple[tuple[str, Any], ...] = ()
) -> Chart | None:
    """Return the stored runs of a method on a sample, or None: there are none, or none that may be used (yet).

    Parameters
    ----------
    sample, method : names in SAMPLES and of an algorithm; others have no stored runs
    people : edition with fewer people; None for the whole sample
    values : parameters that are not the method's defaults, as `dpviz.atlas.cells.Chapter` has them
    """
    if trust(sample, method, values) is not Trust.YES:
        return None
    return files.read(sample, method, people, values, folder=FOLDER)


def note(trusts: Iterable[Trust]) -> None:
    """Say that stored runs are being checked, or once a session that there are none to use."""
    found = set(trusts)
    if Trust.CHECKING in found:
        st.caption(_CHECKING)
    elif Trust.NO in found and work_state.atlas_absent in ("", session.page):
        work_state.atlas_absent = session.page  # it stays where it was said first
        st.caption(_ABSENT)
