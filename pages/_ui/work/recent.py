"""Cache the most recently used values by name, up to a limit."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["Recent"]

T = TypeVar("T")


class Recent(Generic[T]):
    """A thread-safe cache of values by name, whose total `size_of` is at most `most`; the newest value always stays.

    The least recently used value is dropped first.
    """

    def __init__(self, most: int, size_of: Callable[[T], int] = lambda value: 1) -> None:
        self._most, self._size_of = most, size_of
        self._values, self._lock = OrderedDict[str, T](), threading.Lock()

    def put(self, name: str, value: T) -> None:
        """Store a value, and drop the least recently used ones above the limit."""
        with self._lock:
            self._values[name] = value
            self._values.move_to_end(name)
            while len(self._values) > 1 and sum(map(self._size_of, self._values.values())) > self._most:
                self._values.popitem(last=False)

    def get(self, name: str) -> T | None:
        """Return a value and make it the newest, or return None if there is no value of this name."""
        with self._lock:
            if name in self._values:
                self._values.move_to_end(name)
            return self._values.get(name)

    def drop(self, unwanted: Callable[[T], bool]) -> None:
        """Drop every value for which `unwanted` is true."""
        with self._lock:
            for name in [name for name, value in self._values.items() if unwanted(value)]:
                del self._values[name]
