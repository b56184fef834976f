"""Hold what all visitors of a server share, such as its queues, where no message from a browser can clear it."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

__all__ = ["once"]

P = ParamSpec("P")
T = TypeVar("T")


def once(make: Callable[P, T]) -> Callable[P, T]:
    """Return a function that returns the same value for as long as the server runs; the first call makes it.

    Streamlit's caches are for values that can be computed again; they may be cleared at any time. Arguments, if any,
    are settings of the operator; only the four settings used last keep their values.
    """
    made, lock = functools.lru_cache(maxsize=4)(make), threading.Lock()

    @functools.wraps(make)
    def shared(*args: P.args, **named: P.kwargs) -> T:
        with lock:  # visitors who come together share the first value, too
            return made(*args, **named)  # type: ignore[arg-type]

    return shared
