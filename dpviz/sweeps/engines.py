"""Run a sweep in processes of one machine. An engine yields results in any order; closing it stops its runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import Any

from dpviz.sweeps.processes import LAST, USUAL, Died, Pool
from dpviz.sweeps.sweep import Row, Sweep, execute, failed_row
from dpviz.trace import Cancelled

__all__ = ["Engine", "on_this_machine", "perform"]

Engine = Callable[[Sequence[Any], Callable[[Any], Any], Callable[[Any, str], Any]], Iterator[Any]]

_TICK = 0.25  # seconds between two checks for a request to stop
_TRIES = 3  # deaths of its process after which a cell is given up


def on_this_machine(
    cells: Sequence[Any],
    run: Callable[[Any], Any],
    give_up: Callable[[Any, str], Any],
    *,
    workers: int = 1,
    nice: int = 0,
    on_wait: Callable[[], None] = lambda: None,
    pool: Pool | None = None,
) -> Iterator[Any]:
    """Yield run(cell) for every cell, from at most `workers` processes at a time.

    Parameters
    ----------
    cells : the cells
    run : function that runs a cell; it must be importable in a fresh process
    give_up : give_up(cell, reason) returns the result of a cell whose process keeps dying
    workers : int, number of processes
    nice : niceness of the processes, where the system supports it
    on_wait : function called a few times a second, which may raise an error to stop; the runs are then killed
    pool : a server's processes, where cells come last; by default, processes of their own
    """
    own = Pool(workers, nice=nice) if pool is None else pool
    rank, stopped, todo, busy = USUAL if pool is None else LAST, threading.Event(), iter(cells), set[Future[Any]]()

    def look(done: int, total: int) -> None:
        if stopped.is_set():
            raise Cancelled

    def result_of(cell: Any) -> Any:
        for _ in range(_TRIES):
            try:
                return own.once(run, cell, look=look, rank=rank)
            except Died:
                continue
        return give_up(cell, f"its worker process died {_TRIES} times, perhaps for lack of memory")

    threads = ThreadPoolExecutor(workers)  # each waits for a process
    try:
        while True:
            # only a few in flight, so that little is lost when the sweep stops
            busy |= {threads.submit(result_of, cell) for cell in islice(todo, 2 * workers - len(busy))}
            if not busy:
                return
            on_wait()
            for future in wait(busy, timeout=_TICK, return_when=FIRST_COMPLETED).done:
                busy.remove(future)
                yield future.result()
    finally:
        stopped.set()
        if pool is None:
            own.stop()
        threads.shutdown(cancel_futures=True)


def perform(sweep: Sweep, done: Collection[str], engine: Engine) -> Iterator[Row]:
    """Yield one row per run whose key is not in `done`, in the order in which they finish."""
    return engine([cell for cell in sweep.runs() if cell.key not in done], execute, failed_row)
