"""Accounts: the total that runs, pages and commands have spent on an owner's private file; a ledger covers one run."""

from dpviz.privacy.accounts.account import Account, Claim, FileBudget, Refused
from dpviz.privacy.accounts.owner import KEY, LOCAL, owner_by_key, owner_by_login
from dpviz.privacy.accounts.store import URL, Accounts, refuse_private

__all__ = [
    "KEY", "LOCAL", "URL", "Account", "Accounts", "FileBudget", "Claim", "Refused", "owner_by_key", "owner_by_login",
    "refuse_private",
]  # fmt: skip
