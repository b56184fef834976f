"""The server's secret and its folder: owned by this user, closed to others, and never reached through a link."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
import sys
import time
from pathlib import Path

__all__ = ["make_once", "private_folder", "read_private", "replace", "server_secret", "state_folder", "sweep_drafts"]

_BYTES = 32
_DRAFT = re.compile(r".+\.[0-9a-f]{16}")  # file names that `_draft` makes
_STALE = 3600.0  # number of seconds after which a draft counts as abandoned
# Minimum number of different byte values in the secret; 32 random bytes have fewer with probability below 1e-30.
_FEWEST = 8


def state_folder() -> Path:
    """Return the folder of a server's state: DPVIZ_HOME, else the user's data folder. The folder may not exist yet."""
    if os.environ.get("DPVIZ_HOME"):
        return Path(os.environ["DPVIZ_HOME"])
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "dpviz"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "dpviz"


def private_folder(folder: Path | None = None) -> Path:
    """Return the state folder; create it on first use.

    Raises
    ------
    PermissionError
        If the folder is a symbolic link, belongs to somebody else, or can be written to by others.
    """
    folder = state_folder() if folder is None else folder
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    facts = folder.lstat()
    if stat.S_ISLNK(facts.st_mode):
        raise PermissionError(f"Accounts: {folder} is a symbolic link; name the folder itself in DPVIZ_HOME.")
    _owned(folder, facts)
    if os.name == "posix" and facts.st_mode & 0o022:
        raise PermissionError(f"Accounts: others can write to the folder {folder}; run chmod 700 on it.")
    return folder


def server_secret(folder: Path | None = None) -> bytes:
    """Return the server's 32-byte secret, readable by its owner alone; create it on first use.

    Raises
    ------
    PermissionError
        If the secret's file can be read or changed by others, is a link, or is damaged, or if `private_folder` refuses
        the folder.
    """
    path = private_folder(folder) / "secret"
    make_once(path, secrets.token_bytes(_BYTES))
    content = read_private(path)
    if len(content) != _BYTES:
        raise PermissionError(
            f"Accounts: {path} must hold {_BYTES} bytes; got {len(content)}. Restore the original one."
        )
    if len(set(content)) < _FEWEST:
        raise PermissionError(f"Accounts: {path} is not a random secret. Restore the previous one.")
    return content


def sweep_drafts(folder: Path) -> None:
    """Remove old drafts left behind by processes killed while writing; recent drafts may still be in use."""
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):  # another process may remove drafts, too
            facts = path.lstat()
            if _DRAFT.fullmatch(path.name) and stat.S_ISREG(facts.st_mode) and facts.st_mtime < time.time() - _STALE:
                path.unlink()


def make_once(path: Path, content: bytes) -> None:
    """Create a file that only its owner can read, unless it exists; if two processes try, the first one wins."""
    if os.path.lexists(path):
        return
    draft = _draft(path, content)
    try:
        os.link(draft, path)
        _sync_folder(path.parent)
    except FileExistsError:
        pass
    finally:
        draft.unlink()


def replace(path: Path, content: bytes) -> None:
    """Write and sync a file atomically: a reader sees the old or the new version. A link is replaced, not followed."""
    draft = _draft(path, content)
    try:
        draft.replace(path)
    except OSError:
        draft.unlink()
        raise
    _sync_folder(path.parent)


def read_private(path: Path) -> bytes:
    """Read a file that this user owns and others cannot open; refuse a symbolic link.

    Raises
    ------
    PermissionError
        If the file does not meet these conditions.
    """
    if path.is_symlink():
        raise PermissionError(f"Accounts: {path} is a symbolic link, which is not followed; put the file itself there.")
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(descriptor, "rb") as file:
        check_private(path, os.fstat(file.fileno()))
        return file.read()


def check_private(path: Path, facts: os.stat_result) -> None:
    """Refuse a path that is not a regular file, belongs to somebody else or can be read by others."""
    if not stat.S_ISREG(facts.st_mode):
        raise PermissionError(f"Accounts: {path} must be a regular file.")
    _owned(path, facts)
    if os.name == "posix" and facts.st_mode & 0o077:
        raise PermissionError(f"Accounts: {path} can be read by others; run chmod 600 on it.")


def _owned(path: Path, facts: os.stat_result) -> None:
    if os.name == "posix" and facts.st_uid != os.geteuid():
        raise PermissionError(
            f"Accounts: {path} belongs to another user of this machine, not to the one that runs dpviz."
        )


def _draft(path: Path, content: bytes) -> Path:
    """Write and sync a new file next to `path`, under a random name."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(draft, flags, 0o600), "wb") as file:
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        except OSError:
            draft.unlink()
            raise
    return draft


def _sync_folder(folder: Path) -> None:
    """Sync a folder so that a new name survives a power cut, where the system supports it."""
    with contextlib.suppress(OSError):  # Windows cannot open a folder, and some file systems cannot sync one
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
