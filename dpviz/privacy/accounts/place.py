"""Say where a server keeps its accounts: in its state folder, or in a database that a variable names."""

from __future__ import annotations

import os

from dpviz.privacy.secret import state_folder

__all__ = ["NAME", "URL", "kept"]

URL = "DPVIZ_ACCOUNTS_URL"  # environment variable that puts the accounts on PostgreSQL
NAME = "accounts.sqlite3"


def kept() -> bool:
    """Return whether there can be an account; without one, nobody needs to load a database."""
    return bool(os.environ.get(URL)) or (state_folder() / NAME).exists()
