"""Implement the command `accounts`: list what this machine's user has spent, set totals, assign and merge."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from dpviz.numbers import chance, number
from dpviz.privacy.accounts import Account, Accounts, FileBudget
from dpviz.privacy.accounts.merge import merge
from dpviz.privacy.guarantee import Neighboring

__all__ = ["add_accounts"]

_SHORT = 12  # number of characters of a key that are printed; enough to identify an account
_FEWEST = 6


def add_accounts(command: argparse.ArgumentParser) -> None:
    """Add the subcommands and their arguments."""
    parts = command.add_subparsers(dest="part", required=True)
    listed = parts.add_parser("list", help="list the accounts of this machine's user, and those without an owner")
    listed.set_defaults(do=_list)
    total = parts.add_parser(
        "total", help="set the total of a private file; a run that would exceed it is refused before its first draw"
    )
    total.add_argument("account", metavar="KEY|FILE", help="the key that `list` prints, or the data file")
    total.add_argument("--epsilon", type=float, required=True, help="what all runs on the file may spend together")
    total.add_argument(
        "--delta", type=float, required=True, help="the δ of the total: far below 1/n, where n is the number of rows"
    )
    total.add_argument(
        "--relation",
        choices=list(map(str, Neighboring)),
        default=str(Neighboring.ADD_REMOVE),
        help="what the total hides: one row added or removed (default), changed to any value, or moved",
    )
    total.add_argument("--rho-distance", type=float, metavar="X", help="for moves: how far, in the data's own units")
    total.set_defaults(do=_total)
    assign = parts.add_parser(
        "assign",
        help="assign an account without an owner (made before dpviz 0.3) to an owner of the same file",
    )
    assign.add_argument("accounts", nargs="+", metavar="KEY|FILE", help="the key that `list` prints, or the data file")
    assign.add_argument(
        "--to",
        required=True,
        metavar="OWNER",
        help="login:NAME, or the key:... that the File page shows to that person",
    )
    assign.set_defaults(do=_assign)
    joined = parts.add_parser(
        "merge",
        help="add to a database of accounts what another holds that began as its copy; stop the servers of both first",
    )
    where = "a state folder, a copied database, or postgresql://..., written with this server's secret"
    joined.add_argument("into", metavar="A", help=f"the database to keep: {where}")
    joined.add_argument("other", metavar="B", help="the other database, which stays as it is")
    joined.set_defaults(do=_merge)


def _list(arguments: argparse.Namespace) -> int:
    for account in sorted(Accounts.open().local(), key=lambda account: account.key):
        print(f"{account.key[:_SHORT]}  {_facts(account)}")
    return 0


def _total(arguments: argparse.Namespace) -> int:
    accounts = Accounts.open()
    key = _key(arguments.account, accounts, [account.key for account in accounts.local()])
    budget = FileBudget(arguments.epsilon, arguments.delta, arguments.rho_distance)
    accounts.set_budget(key, Neighboring(arguments.relation), budget)
    print(f"{key[:_SHORT]}  {_facts(accounts.of(key))}")
    return 0


def _assign(arguments: argparse.Namespace) -> int:
    accounts = Accounts.open()
    known = [account.key for account in accounts.local()]
    for key in [_key(word, accounts, known) for word in arguments.accounts]:  # look up all accounts before writing any
        print(f"{key[:_SHORT]}  to {arguments.to}: {_facts(accounts.assign(key, arguments.to))}")
    return 0


def _merge(arguments: argparse.Namespace) -> int:
    done = merge(arguments.into, arguments.other)
    print(
        f"{done.shared} entries in common; added {done.claims} claims; set {done.totals} totals to the stricter of two"
    )
    print(f"{done.mark} records the merged database; let every other host begin anew: remove its {done.mark.name}")
    return 0


def _key(word: str, accounts: Accounts, known: Sequence[str]) -> str:
    """Return the key of the account that a word names by its data file or by the beginning of its key.

    Raises
    ------
    ValueError
        If the word names no account or several accounts.
    """
    if Path(word).is_file():
        return accounts.key_of(Path(word))
    fitting = [key for key in known if key.startswith(word)] if len(word) >= _FEWEST else []
    if len(fitting) != 1:
        raise ValueError(
            f"accounts: {word!r} is not a file, and {len(fitting)} account keys begin with it; give a key as `dpviz "
            f"accounts list` prints it."
        )
    return fitting[0]


def _facts(account: Account) -> str:
    """Return one line about an account."""
    if not account.private:
        return "public"
    totals = [
        f"epsilon = {number(total.epsilon, 4)}, delta = {chance(total.delta)} for {account.hides(relation)}"
        + _limit(account.budgets.get(relation))
        for relation in account.relations
        if (total := account.total(relation)).epsilon or relation in account.budgets
    ]
    runs = len(account.claims)
    return "; ".join([f"private, {runs} run{'s' * (runs != 1)}", *totals])


def _limit(budget: FileBudget | None) -> str:
    """Return the total that an owner allows, as text, or ""."""
    if budget is None:
        return ""
    return f", of at most epsilon = {number(budget.epsilon, 4)} at delta = {chance(budget.delta)}"
