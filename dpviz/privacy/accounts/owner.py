"""Owners of accounts: every person who holds a copy of a file has their own account of it."""

from __future__ import annotations

import hashlib
import re

__all__ = ["KEY", "LOCAL", "check_owner", "owner_by_key", "owner_by_login"]

LOCAL = "local"  # this machine's user: the command line, and pages that only this machine can open
KEY = re.compile(r"[A-Za-z0-9_-]{43}")  # a key: 32 random bytes in base64, as a browser or a file stores them
_NAME = re.compile(r"login:.+|key:[0-9a-f]{32}", re.DOTALL)


def owner_by_login(name: str) -> str:
    """Return the owner for a login name, which the operator's proxy must give to one person only."""
    return f"login:{name}"


def owner_by_key(key: str) -> str:
    """Return the owner who holds a secret key; the name is a hash of the key and does not reveal it."""
    return f"key:{hashlib.sha256(key.encode()).hexdigest()[:32]}"


def check_owner(owner: str) -> str:
    """Return `owner` if it names an owner other than this machine's user.

    Raises
    ------
    ValueError
        If the text names no such owner.
    """
    if not _NAME.fullmatch(owner):
        raise ValueError(
            "accounts: an owner is login:NAME, as your proxy names that person, or key:... with the 32 characters that "
            "the File page shows to that person."
        )
    return owner
