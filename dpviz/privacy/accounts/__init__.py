"""Accounts: what an owner's private file has spent in all, over runs, pages and commands; a ledger is of one run."""

from dpviz.privacy.accounts.account import Account, Budget, Claim, Refused
from dpviz.privacy.accounts.owner import KEY, LOCAL, owner_by_key, owner_by_login
from dpviz.privacy.accounts.store import URL, Accounts, refuse_private

__all__ = [
    "KEY", "LOCAL", "URL", "Account", "Accounts", "Budget", "Claim", "Refused", "owner_by_key", "owner_by_login",
    "refuse_private",
]  # fmt: skip
