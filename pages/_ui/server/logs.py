"""Limit the log lines per minute that visitors can cause, and log the number of omitted ones."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

__all__ = ["Seldom"]

MOST, MINUTE = 10, 60.0  # lines, seconds


class Seldom:
    """A thread-safe logger that writes at most `MOST` lines a minute."""

    def __init__(self, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._log, self._clock, self._lock = logging.getLogger(name), clock, threading.Lock()
        self._since, self._written, self._left_out = clock(), 0, 0

    def warning(self, line: str, *values: object) -> None:
        """Write a line, or count it as omitted."""
        with self._lock:
            if self._clock() - self._since >= MINUTE:
                if self._left_out:
                    self._log.warning("%d more lines like these were omitted.", self._left_out)
                self._since, self._written, self._left_out = self._clock(), 0, 0
            if self._written < MOST:
                self._written += 1
                self._log.warning(line, *values)
            else:
                self._left_out += 1
