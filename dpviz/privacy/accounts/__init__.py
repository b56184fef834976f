"""Accounts: the total that runs, pages and commands have spent on an owner's private file; a ledger covers one run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpviz.privacy.accounts.account import Account, Claim, FileBudget, Refused
from dpviz.privacy.accounts.both import Both, in_both
from dpviz.privacy.accounts.declared import refuse_private
from dpviz.privacy.accounts.owner import KEY, LOCAL, owner_by_key, owner_by_login
from dpviz.privacy.accounts.place import URL

if TYPE_CHECKING:
    from dpviz.privacy.accounts.store import Accounts

__all__ = [
    "KEY", "LOCAL", "URL", "Account", "Accounts", "Both", "FileBudget", "Claim", "Refused", "in_both", "owner_by_key",
    "owner_by_login", "refuse_private",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Import the accounts of a server, and with them its database, on first use."""
    if name == "Accounts":
        from dpviz.privacy.accounts.store import Accounts

        return Accounts
    raise AttributeError(f"module 'dpviz.privacy.accounts' has no attribute {name!r}")
