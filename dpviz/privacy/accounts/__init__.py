"""Accounts: what a private file has spent in all, over runs, pages and commands. A ledger is one run's releases."""

from dpviz.privacy.accounts.account import Account, Budget, Claim, Refused
from dpviz.privacy.accounts.store import URL, Accounts, refuse_private

__all__ = ["URL", "Account", "Accounts", "Budget", "Claim", "Refused", "refuse_private"]
