"""Run background work: one queue per server, with progress, cancellation and results that outlive a page."""

from __future__ import annotations

import dataclasses
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from dpviz.trace import Cancelled

__all__ = ["LONG", "RUN", "SWEEP", "Job", "Jobs"]

RUN, SWEEP = "run", "sweep"  # topics: a visitor waits for a run, but leaves a sweep to itself
LONG = 10.0  # a job that takes, or is expected to take, at least this many seconds is long


@dataclasses.dataclass
class Job:
    """One piece of background work. Only the work calls `advance`; other threads only read.

    Attributes
    ----------
    owner : the session to which the job belongs, "" for none; a session's jobs run one after the other
    turn : name under which the server knows the visitor, whose sessions take turns together
    seconds : expected time
    topic : jobs wait only for jobs on the same topic
    paid : whether the work was paid for, so that it waits for no work that was not
    status : "queued", "running", "done", "cancelled" or "failed"
    done, total : progress in the work's own units; a total of 0 stands for an unknown total
    result : value that the work returned
    error : one sentence if the work failed, else ""
    wanted : function that returns whether somebody still waits for the result
    """

    id: str
    title: str
    owner: str = ""
    status: str = "queued"
    done: int = 0
    total: int = 0
    result: Any = None
    error: str = ""
    _cancel: threading.Event = dataclasses.field(default_factory=threading.Event)
    _over: threading.Event = dataclasses.field(default_factory=threading.Event)
    wanted: Callable[[], bool] = lambda: True
    turn: str = ""
    seconds: float = 0.0
    paid: bool = False
    topic: str = RUN
    _due: float = 0.0  # the time at which the job is due, which is its place in the queue
    _begun: float | None = None

    def wait(self, seconds: float) -> bool:
        """Wait until the job is over or the time is up; return whether it is over."""
        return self._over.wait(seconds)

    @property
    def active(self) -> bool:
        """Return whether the job is queued or running."""
        return self.status in {"queued", "running"}

    def advance(self, done: int, total: int) -> None:
        """Report progress; raise `Cancelled` if the job was stopped or nobody wants its result any longer."""
        self.done, self.total = done, total
        if self._cancel.is_set() or not self.wanted():
            raise Cancelled

    def cancel(self) -> None:
        """Ask the work to stop at its next `advance`; a queued job ends at once."""
        self._cancel.set()
        if self.status == "queued":
            self.status = "cancelled"


class Jobs:
    """A bounded pool of threads and the last `keep` jobs.

    Jobs run in the order in which they would end if every visitor had the server alone: a job's due time is its
    arrival, or its visitor's previous due time if that is later, plus its expected duration. So short jobs run first,
    one visitor's many jobs delay another visitor's first job by no more than about the duration of that first job, and
    every job gets its turn (this is Zhang's VirtualClock of 1990). With two or more workers, no long run starts while
    another one runs. Each topic has its own places and turns: one place for sweeps, and the others for runs. A job that
    was paid for waits for other paid jobs only: one more place is kept for them.

    Parameters
    ----------
    workers : number of runs at a time, not counting one paid run and one sweep
    keep : number of finished jobs that are remembered
    clock : function that returns seconds; tests replace it
    """

    def __init__(self, *, workers: int = 1, keep: int = 50, clock: Callable[[], float] = time.monotonic) -> None:
        self._pool = ThreadPoolExecutor(workers + 2, thread_name_prefix="dpviz-job")
        self._places, self._clock = {RUN: workers, SWEEP: 1}, clock
        self._dues: dict[tuple[str, str], float] = {}  # topic, turn -> time at which the last of its jobs is due
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._waiting: list[tuple[Job, Callable[[Job], Any]]] = []
        self._keep = keep
        self._lock = threading.Lock()

    def stop(self) -> None:
        """Cancel every job and accept no more, because the server is shutting down."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._waiting.clear()
            for job in self._jobs.values():
                job.cancel()

    def submit(
        self, title: str, work: Callable[[Job], Any], owner: str = "", wanted: Callable[[], bool] = lambda: True,
        *, turn: str = "", seconds: float = 0.0, paid: bool = False, topic: str = RUN,
    ) -> Job:  # fmt: skip
        """Queue `work(job)`; its return value becomes `job.result`.

        Jobs without an owner never wait for each other; without `turn`, each owner counts as one visitor.
        """
        job = Job(
            uuid.uuid4().hex, title, owner, wanted=wanted, turn=turn or owner, seconds=seconds, paid=paid, topic=topic
        )
        with self._lock:
            now = self._clock()
            self._dues = {name: due for name, due in self._dues.items() if due > now}
            before = self._dues.get((topic, job.turn), now)
            job._due = (now if paid else before) + seconds
            if job.turn:
                self._dues[topic, job.turn] = before + seconds
            self._jobs[job.id] = job
            for old in [key for key, other in self._jobs.items() if not other.active][: -self._keep or None]:
                del self._jobs[old]
            self._waiting.append((job, work))
        self._pool.submit(self._serve)
        return job

    def _serve(self) -> None:
        while (chosen := self._next()) is not None:
            self._run(*chosen)
            self._settle(chosen[0])

    def _next(self) -> tuple[Job, Callable[[Job], Any]] | None:
        """Return the waiting job that is due first and may run; no other function decides who comes first."""
        with self._lock:
            running = [job for job in self._jobs.values() if job.status == "running"]
            may = [entry for entry in self._waiting if entry[0].status != "queued" or self._may(entry[0], running)]
            if not may:
                return None
            chosen = min(may, key=lambda entry: (not entry[0].paid, entry[0]._due))
            self._waiting.remove(chosen)
            if chosen[0].status == "queued":
                chosen[0].status, chosen[0]._begun = "running", self._clock()
            return chosen

    def _may(self, job: Job, running: list[Job]) -> bool:
        """Return whether a job may start now, given those that run; a paid job minds only other paid ones."""
        places = self._places[job.topic]
        ours = [other for other in running if other.topic == job.topic]
        alike = [other for other in ours if other.paid == job.paid]
        if job.owner and any(other.owner == job.owner for other in alike):
            return False
        if job.paid:
            return len(ours) <= places
        full = places > 1 and any(map(self._long, alike))
        return len(alike) < places and not (full and self._long(job))

    def _long(self, job: Job) -> bool:
        """Return whether a job is expected to take long or has already run for long."""
        return max(job.seconds, 0.0 if job._begun is None else self._clock() - job._begun) >= LONG

    def _settle(self, job: Job) -> None:
        """Credit a visitor with the seconds by which a job was shorter than expected."""
        with self._lock:
            used = 0.0 if job._begun is None else self._clock() - job._begun
            if (job.topic, job.turn) in self._dues:
                self._dues[job.topic, job.turn] -= max(0.0, job.seconds - used)

    def get(self, job_id: str) -> Job | None:
        """Return a job, or None if it was dropped."""
        return self._jobs.get(job_id)

    def position(self, job: Job) -> int:
        """Return the number of jobs ahead of a queued one on its topic: those running, and those due before it."""
        with self._lock:  # another visitor's job can arrive at any time
            if job.status != "queued":
                return 0
            ours = [other for other in self._jobs.values() if other.topic == job.topic]
            before = [other for other in ours if other.paid or not job.paid]
            active = [other for other in before if other.active and other is not job]
            return sum(other.status == "running" or other._due < job._due for other in active)

    @staticmethod
    def _run(job: Job, work: Callable[[Job], Any]) -> None:
        try:
            job.advance(0, job.total)  # the job might have been cancelled while it waited
            job.result = work(job)
            job.status = "done"
        except Cancelled:
            job.status = "cancelled"
        except (ValueError, TypeError, PermissionError, ChildProcessError) as error:
            job.error, job.status = str(error), "failed"
        except Exception as error:  # the job ends without the error's message, which may contain values
            job.error, job.status = f"An internal error ({type(error).__name__}) stopped the run.", "failed"
        finally:
            job._over.set()
