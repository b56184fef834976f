"""Compute in worker processes whatever would hold up the pages: runs, pictures, games and sweeps share one pool."""

from __future__ import annotations

import os

from dpviz.sweeps.processes import Pool, cpu_count
from pages._ui.frame.demo import demo
from pages._ui.frame.shared import once

__all__ = ["RUNS", "SWEEPERS", "workers"]

RUNS = max(2, cpu_count())  # maximum number of runs at a time, in all sessions together
SWEEPERS = max(1, cpu_count() - 1)  # maximum number of runs of a sweep at a time; one core is left for the pages
_READY = 2  # processes that are kept ready
_NICE = 10  # the processes have a lower priority than the one that serves the pages; with 5, answers wait twice as long


@once
def workers() -> Pool:
    """Return the server's worker processes: at most one per run, one per run of a sweep, and one for pictures.

    A demonstration has a single one.

    Raises
    ------
    ValueError
        If DPVIZ_WORKERS is not a number of processes.
    """
    text = os.environ.get("DPVIZ_WORKERS", "1" if demo() else str(RUNS + SWEEPERS + 1))
    if not text.isdecimal():
        raise ValueError(f"DPVIZ_WORKERS must be a whole number, 0 for none; got {text!r}.")
    return Pool(int(text), keep=1 if demo() else _READY, nice=_NICE, modules=("dpviz.runs.single", "dpviz.figures"))
