"""Spread blocks of array work over all cores: each thread multiplies alone, instead of sharing every product."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
from threadpoolctl import ThreadpoolController

__all__ = ["each"]

_lock = threading.Lock()
_inside = 0


class _Libraries:
    """Hold the linear algebra libraries of this process and their initial number of threads."""

    def __init__(self) -> None:
        np.ones((2, 2)) @ np.ones((2, 2))  # loads the library before the search
        self._controllers = ThreadpoolController().select(user_api="blas").lib_controllers
        self._threads = [library.num_threads for library in self._controllers]

    @property
    def cores(self) -> int:
        return max(self._threads, default=1)

    def limit(self, threads: int | None) -> None:
        """Set every library's number of threads; None: the initial one."""
        for library, most in zip(self._controllers, self._threads, strict=True):
            library.set_num_threads(most if threads is None else threads)


_libraries = _Libraries()


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Products inside use one thread. Nested and concurrent uses count; the last one out restores."""
    global _inside
    with _lock:
        _inside += 1
        if _inside == 1:
            _libraries.limit(1)
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _libraries.limit(None)


def each(work: Callable[[int], None], items: Sequence[int]) -> None:
    """Call work(item) for every item, on as many threads as linear algebra may use; items must not touch each other.

    A product split over threads waits for its slowest thread, thousands of times; blocks wait once, at the end.
    """
    with _one_thread_each():
        if len(items) < 2 or _libraries.cores == 1:
            for item in items:
                work(item)
            return
        with ThreadPoolExecutor(min(_libraries.cores, len(items))) as pool:
            list(pool.map(work, items))
