"""Store sweeps on disk, under the state folder, so that links find them after a restart and from other processes.

Only sweeps of public data are written. Each has a spec (TOML, as in the page's download), its rows (JSON lines,
appended as they arrive) and, once it is over, its outcome. The process that works on a sweep holds a lock on it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dpviz.datasets import SAMPLES
from dpviz.privacy.secret import private_folder
from dpviz.sweeps.rowfile import RowFile, read_rows
from dpviz.sweeps.spec import read_spec, to_toml
from dpviz.sweeps.sweep import Sweep

try:
    import fcntl
except ImportError:  # without such locks, only one process may use a state folder
    fcntl = None  # type: ignore[assignment]

__all__ = ["Archive", "is_public"]

MOST = 200  # Maximum number of sweeps on disk; the oldest are deleted.
_IDENTITY = re.compile(r"[\w-]{12}")  # The form of secrets.token_urlsafe(9), which is never a path.


def is_public(sweep: Sweep) -> bool:
    """Return whether a sweep reads only bundled samples; a visitor's own file would appear as a path."""
    return set(sweep.data) <= {f"sample:{name}" for name in SAMPLES}


class Archive:
    """The folder of sweeps, by default below the server's state folder."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = private_folder() / "sweeps" if folder is None else folder
        self._folder.mkdir(mode=0o700, exist_ok=True)

    def put(self, identity: str, sweep: Sweep, title: str, rows: Iterable[dict[str, Any]] = ()) -> None:
        """Write a sweep's spec atomically, and the rows known before it starts."""
        with RowFile(self._path(identity, "jsonl")) as file:
            for row in rows:
                file.append(row)
        new = self._path(identity, "new")
        new.write_text(to_toml(sweep, title))
        os.replace(new, self._path(identity, "toml"))
        old = sorted(self._folder.glob("*.toml"), key=lambda path: path.stat().st_mtime)[:-MOST]
        for path in (other for spec in old for other in self._folder.glob(f"{spec.stem}.*")):
            path.unlink(missing_ok=True)

    def get(self, identity: str) -> tuple[Sweep, str, list[dict[str, Any]], str] | None:
        """Return a sweep, its title, its rows so far and its outcome ("" before the end), or None if there is none."""
        if not _IDENTITY.fullmatch(identity) or not self._path(identity, "toml").is_file():
            return None
        spec = read_spec(self._path(identity, "toml"))
        table = read_rows(self._path(identity, "jsonl"))
        rows = table.astype(object).where(table.notna(), None).to_dict("records")
        over = self._path(identity, "over")
        return spec.sweep, spec.title, rows, over.read_text() if over.is_file() else ""

    @contextmanager
    def working(self, identity: str) -> Iterator[RowFile | None]:
        """Yield the file for more rows while only this process works on a sweep, or None if another process does."""
        with self._path(identity, "lock").open("w") as lock:
            try:
                if fcntl is not None:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the system unlocks it when the process ends
            except BlockingIOError:
                yield None
                return
            with RowFile(self._path(identity, "jsonl")) as rows:
                yield rows

    def free(self, identity: str) -> bool:
        """Return whether no process works on a sweep."""
        with self.working(identity) as rows:
            return rows is not None

    def end(self, identity: str, how: str) -> None:
        """Record the outcome of a sweep, which is "done", "cancelled" or "failed"."""
        self._path(identity, "over").write_text(how)

    def _path(self, identity: str, suffix: str) -> Path:
        return self._folder / f"{identity}.{suffix}"
