"""Hold what all visitors of a server share, such as its queues, where no message from a browser can clear it."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import TypeVar

__all__ = ["once"]

T = TypeVar("T")


def once(make: Callable[[], T]) -> Callable[[], T]:
    """Return a function that returns the same value for as long as the server runs; the first call makes it.

    Streamlit's caches are for values that can be computed again; they may be cleared at any time.
    """
    made, lock = functools.cache(make), threading.Lock()

    @functools.wraps(make)
    def shared() -> T:
        with lock:  # visitors who come together share the first value, too
            return made()

    return shared
