"""Track whether somebody still waits for a computation: a run ends with its session, a sweep with its last viewer."""

from __future__ import annotations

import threading
import time

from pages._ui.frame.inside.patches import connected, session_id

__all__ = ["Presence"]

GRACE = 60.0  # number of seconds for which a session counts as connected after its connection breaks


class Presence:
    """The sessions that wait for a result: the one that requested it, and others that join, for instance by a link."""

    def __init__(self, grace: float = GRACE) -> None:
        self._grace, self._lock = grace, threading.Lock()
        self._sessions: set[str] = set()
        self._seen = time.monotonic()
        self.join()

    def join(self) -> None:
        """Add the session of the running script; call this only in a script run."""
        session = session_id()
        with self._lock:
            self._seen = time.monotonic()
            if session is not None:
                self._sessions.add(session)

    def there(self) -> bool:
        """Return whether any of the sessions is connected, or was until recently; this method is thread-safe."""
        with self._lock:
            if connected(self._sessions):
                self._seen = time.monotonic()
                return True
            return time.monotonic() - self._seen < self._grace
