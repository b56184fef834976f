"""Run work that would block the pages in worker processes, which have their own interpreter locks."""

from __future__ import annotations

import ctypes
import importlib
import mmap
import os
import struct
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from loky import ProcessPoolExecutor, cpu_count

from dpviz.sweeps.engines import ONE_THREAD, give_way
from dpviz.trace import Cancelled
from pages._ui.frame.shared import once
from pages._ui.work.jobs import Job

__all__ = ["RUNS", "Workers", "workers"]

RUNS = max(2, cpu_count())  # maximum number of runs at a time, in all sessions together

_NOTE = struct.Struct("<qqq")  # Number of steps done, total number, and whether to stop.
_PATIENCE = 1.0  # Seconds that a stopped run has to reach its next step before it is interrupted.
_TICK = 0.05  # Seconds between checks of a run's progress.


class Workers:
    """A pool of processes that starts at the first call or at `warm`, and restarts when a process dies.

    Parameters
    ----------
    count : number of processes; with 0, every call runs in the caller's process
    nice : niceness of the processes relative to the process that serves the pages
    """

    def __init__(self, count: int, *, nice: int = 0) -> None:
        self._count, self._nice, self._lock = count, nice, threading.Lock()
        self._pool: ProcessPoolExecutor | None = None
        self._warming: list[Future[None]] = []
        self._ended = False

    @property
    def away(self) -> bool:
        """Return whether the next call runs in a worker process."""
        return bool(self._count) and (not self._warming or any(future.done() for future in self._warming))

    def warm(self, *modules: str) -> None:
        """Start the processes without waiting, and let most of them import these modules first.

        Until the first process is ready, every call runs in the caller's process, so that nobody waits for imports.
        """
        if self._count:
            self._warming = [self._submit(_know, *modules) for _ in range(self._count)]

    def call(self, function: Callable[..., Any], *args: Any, **named: Any) -> Any:
        """Return function(*args, **named), retried once if a process dies, so never use it to draw noise.

        Raises
        ------
        ChildProcessError
            If a process dies both times.
        """
        if not self.away:
            return function(*args, **named)
        try:
            return self._submit(function, *args, **named).result()
        except BrokenProcessPool:
            return self._last(self._submit(function, *args, **named))

    def run(self, function: Callable[..., Any], *args: Any, job: Job) -> Any:
        """Return function(*args, on_step) and report its steps to the job; never retry, as noise may have been drawn.

        Raises
        ------
        Cancelled
            If the job was cancelled. The process stops at its next step or, during a long step, after a second.
        ChildProcessError
            If the process dies.
        """
        if not self.away:
            return function(*args, job.advance)
        with tempfile.NamedTemporaryFile(prefix="dpviz-") as file:
            file.write(_NOTE.pack(0, 0, 0))
            file.flush()
            with mmap.mmap(file.fileno(), _NOTE.size) as note:
                future = self._submit(_noting, file.name, function, *args)
                while not wait([future], timeout=_TICK).done:
                    done, total, _ = _NOTE.unpack(note[:])
                    try:
                        job.advance(done, total)
                    except Cancelled:
                        note[-8:] = struct.pack("<q", 1)
                        future.cancel()
                        raise
                return self._last(future)

    def stop(self) -> None:
        """Kill the processes and start no others; the server may be killed right after."""
        with self._lock:
            self._ended = True
            if self._pool is not None:
                self._pool.shutdown(wait=True, kill_workers=True)

    def _submit(self, function: Callable[..., Any], *args: Any, **named: Any) -> Future[Any]:
        with self._lock:
            if self._ended:
                raise ChildProcessError("The server is shutting down.")
            if self._pool is not None:
                try:
                    return self._pool.submit(function, *args, **named)
                except BrokenProcessPool:
                    self._pool.shutdown(wait=False, kill_workers=True)
            self._pool = ProcessPoolExecutor(self._count, env=ONE_THREAD, initializer=give_way, initargs=(self._nice,))
            return self._pool.submit(function, *args, **named)

    @staticmethod
    def _last(future: Future[Any]) -> Any:
        try:
            return future.result()
        except BrokenProcessPool:
            raise ChildProcessError("The process that computed this died, perhaps for lack of memory.") from None


def _know(*modules: str) -> None:
    for module in modules:
        importlib.import_module(module)


def _noting(note: str, function: Callable[..., Any], *args: Any) -> Any:
    """Run a function in a worker, write every step to a small shared file, and stop when the file says so."""
    with Path(note).open("r+b") as file, mmap.mmap(file.fileno(), _NOTE.size) as shared:
        over, lock, here = threading.Event(), threading.Lock(), threading.get_ident()

        def on_step(done: int, total: int) -> None:
            shared[:16] = struct.pack("<qq", done, total)
            if shared[16:] != bytes(8):
                raise Cancelled

        def watch() -> None:
            """Stop a run that reports no further step, such as an outside algorithm that never ends."""
            while not over.wait(_PATIENCE):
                with lock:
                    if shared[16:] != bytes(8) and not over.is_set():
                        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(here), ctypes.py_object(Cancelled))

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            return function(*args, on_step)
        finally:
            with lock:
                over.set()
            watcher.join()


@once
def workers() -> Workers:
    """Return the server's worker processes: one per concurrent run, and one reserved for pictures.

    Raises
    ------
    ValueError
        If DPVIZ_WORKERS is not a number of processes.
    """
    text = os.environ.get("DPVIZ_WORKERS", str(RUNS + 1))
    if not text.isdecimal():
        raise ValueError(f"DPVIZ_WORKERS must be a whole number, 0 for none; got {text!r}.")
    return Workers(int(text), nice=5)
