"""Find the text from which the generators' seeds follow: the last commit that changed a method or its privacy."""

from __future__ import annotations

import subprocess
from pathlib import Path

__all__ = ["METHODS", "frozen"]

METHODS = ("dpviz/algorithms", "dpviz/privacy")  # folders of a clone
_TYPE = "type any text with --frozen, from which the generators' seeds then follow."


def frozen(root: Path) -> str:
    """Return the hash of the last commit that touched METHODS in a clone.

    Raises
    ------
    ValueError
        If there is no clone with its whole history here, or METHODS have changes that are not committed.
    """
    if not (root / ".git").exists():
        raise ValueError(f"bench: this package is not in a clone; {_TYPE}")
    if _git(root, "rev-parse", "--is-shallow-repository") != "false":
        raise ValueError(f"bench: this clone does not hold the whole history; {_TYPE}")
    if _git(root, "status", "--porcelain", "--", *METHODS):
        raise ValueError(f"bench: {' or '.join(METHODS)} has changes that are not committed; commit them, or {_TYPE}")
    commit = _git(root, "log", "-1", "--format=%H", "--", *METHODS)
    if not commit:
        raise ValueError(f"bench: no commit of this clone touches {' or '.join(METHODS)}; {_TYPE}")
    return commit


def _git(root: Path, *words: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True)
    except FileNotFoundError:
        raise ValueError(f"bench: git is not installed; {_TYPE}") from None
    if done.returncode:
        raise ValueError(f"bench: git {words[0]} failed: {done.stderr.strip().splitlines()[-1]}; {_TYPE}")
    return done.stdout.strip()
