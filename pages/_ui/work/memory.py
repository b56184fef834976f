"""Provide a folder for made-up and DEMO rows, in memory where possible, and removed when the server stops."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import weakref
from pathlib import Path

try:
    import fcntl
except ModuleNotFoundError:  # on Windows, where no folder is in memory
    fcntl = None  # type: ignore[assignment]

__all__ = ["MemoryFolder", "remove_all"]

PREFIX = "dpviz-memory-"
_LOCK = "in-use"
MEMORY = next((path for path in [Path("/dev/shm")] if path.is_dir()), Path(tempfile.gettempdir()))


class MemoryFolder:
    """A folder that only this user can read, locked while the server runs; folders of dead servers are removed."""

    def __init__(self, place: Path = MEMORY) -> None:
        sweep_stale(place)
        self._folder = tempfile.TemporaryDirectory(prefix=PREFIX, dir=place)
        self.name = self._folder.name
        folder = Path(self.name) / "new"
        self._lock = open(folder, "wb")  # stays open and locked as long as the folder exists
        if fcntl is not None:
            fcntl.flock(self._lock, fcntl.LOCK_EX)
        folder.rename(folder.with_name(_LOCK))  # renamed only now, so that no process sees the file before it is locked
        _here.add(self)

    def cleanup(self) -> None:
        """Remove the folder now."""
        self._lock.close()
        self._folder.cleanup()


_here: weakref.WeakSet[MemoryFolder] = weakref.WeakSet()


def remove_all() -> None:
    """Remove the folders of this process; a signal would end the server before the interpreter removes them."""
    for folder in list(_here):
        folder.cleanup()


def sweep_stale(place: Path) -> None:
    """Remove this user's folders of dead servers."""
    if fcntl is None:
        return
    for folder in place.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):  # the folder is another user's, in use, being made, or gone
            if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
                continue
            with open(folder / _LOCK, "rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)
