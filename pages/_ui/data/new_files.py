"""Limit how many files a visit may declare public or private, because the server's disk keeps each answer forever."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque

from dpviz.privacy.accounts import Refused
from pages._ui.data.state import data_state

__all__ = ["A_MINUTE", "A_VISIT", "count_new_file"]

A_MINUTE, A_VISIT = 12, 60  # Maximum numbers of new files of one visit, per minute and in all.
_LOUD = 30  # Number of files per minute, in all visits together, at which the operator is warned.
_log = logging.getLogger(__name__)
_lock = threading.Lock()
_all: deque[float] = deque()  # arrival times of all visits' files in the last minute


def count_new_file() -> None:
    """Count a file that its owner declares public or private; the log gets numbers, never a name or content.

    Raises
    ------
    Refused
        If this visit has declared too many files.
    """
    now, own = time.monotonic(), data_state.new_files
    if len(own) >= A_VISIT:
        _log.warning("A visit was refused another file after %d files.", len(own))
        raise Refused(
            f"This visit has used {A_VISIT} files, the most that this server accepts. Use the command line instead."
        )
    if sum(when > now - 60 for when in own) >= A_MINUTE:
        _log.warning("A visit was refused another file after %d files within a minute.", A_MINUTE)
        raise Refused(
            f"This server accepts at most {A_MINUTE} new files a minute; wait a minute and drop this file again."
        )
    own.append(now)
    with _lock:
        _all.append(now)
        while _all[0] <= now - 60:
            _all.popleft()
        together = len(_all)
    _log.log(
        logging.WARNING if together >= _LOUD else logging.INFO,
        "A new file: %d in this visit, %d in all visits within a minute.",
        len(own),
        together,
    )
