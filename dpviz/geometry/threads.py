"""Spread blocks of array work over all cores: each thread computes its own sums instead of sharing them.

If threads shared a sum, the order of the additions would depend on the number of threads and, with three or more, on
their speed, so the same seed would give results that differ in their last bits on another machine.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import repeat

import numpy as np
from threadpoolctl import LibController, ThreadpoolController

__all__ = ["alone", "each"]

_lock = threading.Lock()
_inside = 0
_outside: list[int] = []  # numbers of linear-algebra threads outside all open blocks


class _Libraries:
    """The libraries of this process that compute in threads.

    The number of threads of linear algebra is set once for the process; that of OpenMP (scikit-learn's k-means) is set
    for every thread.
    """

    def __init__(self) -> None:
        np.ones((2, 2)) @ np.ones((2, 2))  # a product loads the library, so that the search finds it
        libraries = ThreadpoolController()
        self.algebra = libraries.select(user_api="blas").lib_controllers
        self.openmp = libraries.select(user_api="openmp").lib_controllers
        self._threads = [library.num_threads for library in self.algebra]

    @property
    def cores(self) -> int:
        return max(self._threads, default=1)


_libraries = _Libraries()


def _limit(libraries: list[LibController], threads: Iterable[int]) -> list[int]:
    """Set every library's number of threads; return the previous numbers."""
    before = [library.get_num_threads() for library in libraries]
    for library, number in zip(libraries, threads, strict=False):
        library.set_num_threads(number)
    return before


@contextmanager
def alone() -> Iterator[None]:
    """Use one thread for linear algebra in the block; the last of several open blocks restores the previous number."""
    global _inside, _outside
    with _lock:
        if _inside == 0:
            _outside = _limit(_libraries.algebra, repeat(1))
        _inside += 1
    before = _limit(_libraries.openmp, repeat(1))
    try:
        yield
    finally:
        _limit(_libraries.openmp, before)
        with _lock:
            _inside -= 1
            if _inside == 0:
                _limit(_libraries.algebra, _outside)


def each(work: Callable[[int], None], items: Sequence[int]) -> None:
    """Call work(item) for every item, on as many threads as linear algebra may use; items must not share data.

    A product that is split among threads waits for the slowest of them thousands of times; blocks wait once, at the
    end.
    """
    with alone():
        if len(items) < 2 or _libraries.cores == 1:
            for item in items:
                work(item)
            return
        with ThreadPoolExecutor(min(_libraries.cores, len(items))) as pool:
            list(pool.map(work, items))
