"""Background work: one queue per server, with progress, cancel and results that outlive a page."""

from __future__ import annotations

import dataclasses
import threading
import uuid
import weakref
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from dpviz.trace import Cancelled

__all__ = ["Job", "Jobs", "stop_all"]


@dataclasses.dataclass
class Job:
    """One piece of background work. The work calls `advance`; everybody else only reads.

    Attributes
    ----------
    owner : whose it is, "" for nobody's
    status : "queued", "running", "done", "cancelled" or "failed"
    done, total : progress in the work's own units; total 0 means unknown
    result : what the work returned
    error : one sentence, if it failed
    wanted : says whether somebody still waits for it
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

    def wait(self, seconds: float) -> bool:
        """Wait until it is over, at most so long; return whether it is."""
        return self._over.wait(seconds)

    @property
    def active(self) -> bool:
        """Whether it is still queued or running."""
        return self.status in {"queued", "running"}

    def advance(self, done: int, total: int) -> None:
        """Report progress; raises `Cancelled` if somebody asked to stop, or nobody wants the result any more."""
        self.done, self.total = done, total
        if self._cancel.is_set() or not self.wanted():
            raise Cancelled

    def cancel(self) -> None:
        """Ask the work to stop at its next `advance`; what is still queued is over at once."""
        self._cancel.set()
        if self.status == "queued":
            self.status = "cancelled"


_ALL: weakref.WeakSet[Jobs] = weakref.WeakSet()


def stop_all() -> None:
    """Cancel the jobs of every queue of this process."""
    for jobs in list(_ALL):
        jobs.stop()


class Jobs:
    """A bounded pool of threads and the last `keep` jobs. An owner's jobs run one after the other."""

    def __init__(self, *, workers: int = 1, keep: int = 50) -> None:
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="dpviz-job")
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._waiting: list[tuple[Job, Callable[[Job], Any]]] = []
        self._keep = keep
        self._lock = threading.Lock()
        _ALL.add(self)

    def stop(self) -> None:
        """Cancel every job and take no other: the server ends."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            self._waiting.clear()
            for job in self._jobs.values():
                job.cancel()

    def submit(
        self, title: str, work: Callable[[Job], Any], owner: str = "", wanted: Callable[[], bool] = lambda: True
    ) -> Job:
        """Queue `work(job)`; its return value becomes `job.result`.

        While one job of an owner runs, the owner's next ones let everybody else's pass. Nobody's jobs ("") never wait
        for each other.
        """
        job = Job(uuid.uuid4().hex, title, owner, wanted=wanted)
        with self._lock:
            self._jobs[job.id] = job
            for old in [key for key, other in self._jobs.items() if not other.active][: -self._keep or None]:
                del self._jobs[old]
            self._waiting.append((job, work))
        self._pool.submit(self._serve)
        return job

    def _serve(self) -> None:
        while (chosen := self._next()) is not None:
            self._run(*chosen)

    def _next(self) -> tuple[Job, Callable[[Job], Any]] | None:
        """Return the oldest waiting job whose owner has none running. A fair share is decided here and nowhere else."""
        with self._lock:
            busy = {job.owner for job in self._jobs.values() if job.status == "running" and job.owner}
            chosen = next((entry for entry in self._waiting if entry[0].owner not in busy), None)
            if chosen is not None:
                self._waiting.remove(chosen)
                if chosen[0].status == "queued":
                    chosen[0].status = "running"
            return chosen

    def get(self, job_id: str) -> Job | None:
        """Return a job, or None if it was dropped."""
        return self._jobs.get(job_id)

    def position(self, job: Job) -> int:
        """Return how many jobs are ahead of a queued one."""
        with self._lock:  # another visitor's job may come at any time
            ids = [key for key, other in self._jobs.items() if other.active]
        return ids.index(job.id) if job.id in ids else 0

    @staticmethod
    def _run(job: Job, work: Callable[[Job], Any]) -> None:
        try:
            job.advance(0, job.total)  # it may have been cancelled while it waited
            job.result = work(job)
            job.status = "done"
        except Cancelled:
            job.status = "cancelled"
        except (ValueError, TypeError, PermissionError, ChildProcessError) as error:
            job.error, job.status = str(error), "failed"
        except Exception as error:  # a fault of ours: the page says so without any value, the job does not hang
            job.error, job.status = f"An internal error ({type(error).__name__}) stopped the run.", "failed"
        finally:
            job._over.set()
