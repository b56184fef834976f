"""Refuse a file that its owner has declared private; where there are no accounts, no database is loaded."""

from __future__ import annotations

from pathlib import Path

from dpviz.privacy.accounts.account import Refused
from dpviz.privacy.accounts.place import kept

__all__ = ["refuse_private"]


def refuse_private(path: Path) -> None:
    """Raise an error if this machine's user has declared a file private; create no account.

    Raises
    ------
    Refused
        If the user has declared it private.
    """
    if not path.is_file() or not kept():
        return
    from dpviz.privacy.accounts.store import Accounts

    accounts = Accounts.open()
    if accounts.of(accounts.key_of(path)).private:
        raise Refused(f"{path.name}: you already declared this file private; that is final.")
