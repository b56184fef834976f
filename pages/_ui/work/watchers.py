"""Track whether somebody still waits for a computation: a run ends with its session, a sweep with its last viewer."""

from __future__ import annotations

import threading
import time

from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

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
        context = get_script_run_ctx(suppress_warning=True)
        with self._lock:
            self._seen = time.monotonic()
            if context is not None:
                self._sessions.add(context.session_id)

    def there(self) -> bool:
        """Return whether any of the sessions is connected, or was until recently; this method is thread-safe."""
        if not runtime.exists():  # without a server, no visitor can leave
            return True
        with self._lock:
            if any(runtime.get_instance().is_active_session(session) for session in self._sessions):
                self._seen = time.monotonic()
            return time.monotonic() - self._seen < self._grace
