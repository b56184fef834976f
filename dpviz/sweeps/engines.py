"""Run a sweep in loky processes on one machine. An engine yields results in any order; closing it stops its runs."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from loky import ProcessPoolExecutor

from dpviz.sweeps.sweep import Row, Sweep, execute, failed_row

__all__ = ["ONE_THREAD", "Engine", "give_way", "on_this_machine", "perform"]

Engine = Callable[[Sequence[Any], Callable[[Any], Any], Callable[[Any, str], Any]], Iterator[Any]]

WATCH = 1.0  # seconds between two checks that the parent process is still alive
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
_TICK = 0.25  # seconds between two checks for a request to stop
_TRIES = 3  # number of worker deaths, with no cell finished between them, after which the oldest cell is given up


def on_this_machine(
    cells: Sequence[Any],
    run: Callable[[Any], Any],
    give_up: Callable[[Any, str], Any],
    *,
    workers: int = 1,
    nice: int = 0,
    on_wait: Callable[[], None] = lambda: None,
) -> Iterator[Any]:
    """Yield run(cell) for every cell, from `workers` processes with one BLAS thread each.

    Parameters
    ----------
    cells : the cells
    run : function that runs a cell; it must be importable in a fresh process
    give_up : give_up(cell, reason) returns the result of a cell whose worker keeps dying
    workers : int, number of processes
    nice : niceness of the processes, where the system supports it
    on_wait : function called a few times a second, which may raise an error to stop; the processes are then killed
    """
    todo, deaths = deque(cells), 0
    while todo:
        pool = ProcessPoolExecutor(
            min(workers, len(todo)), timeout=60, env=ONE_THREAD, initializer=give_way, initargs=(nice,)
        )
        busy: dict[Future[Any], Any] = {}
        try:
            while todo or busy:
                # only a few in flight, so that little is lost when the sweep stops or a worker dies
                while todo and len(busy) < 2 * workers:
                    cell = todo.popleft()
                    busy[pool.submit(run, cell)] = cell
                on_wait()
                for future in wait(busy, timeout=_TICK, return_when=FIRST_COMPLETED).done:
                    result = future.result()
                    del busy[future]
                    deaths = 0
                    yield result
        except BrokenProcessPool:
            todo.extendleft(reversed(busy.values()))  # the oldest first, because it was running
            deaths += 1
            if deaths == _TRIES:
                deaths = 0
                yield give_up(todo.popleft(), f"its worker process died {_TRIES} times, perhaps for lack of memory")
        finally:
            pool.shutdown(wait=False, kill_workers=True)


def give_way(nice: int) -> None:
    """Initialize a worker process: lower its priority, where the system supports it, and end it with its parent."""
    if hasattr(os, "nice"):
        os.nice(nice)
    threading.Thread(target=_leave_with, args=(os.getppid(),), daemon=True).start()


def _leave_with(parent: int) -> None:
    """End this process soon after its parent ends, even if the parent was killed and could not clean up."""
    while os.getppid() == parent:
        time.sleep(WATCH)
    os._exit(0)


def perform(sweep: Sweep, done: Collection[str], engine: Engine) -> Iterator[Row]:
    """Yield one row per run whose key is not in `done`, in the order in which they finish."""
    return engine([cell for cell in sweep.runs() if cell.key not in done], execute, failed_row)
