"""Implement the command `accounts`: list what files have spent, set totals, declare the next file, assign and merge."""

from __future__ import annotations

import argparse
import dataclasses
import tempfile
from collections.abc import Sequence
from pathlib import Path

from dpviz.datasets import load_csv
from dpviz.datasets.dictionary import amended, complete, dump, facts_beside, written_to
from dpviz.datasets.loading import present
from dpviz.numbers import counted
from dpviz.privacy.accounts import Accounts, Both, FileBudget
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
    following = parts.add_parser(
        "next",
        help="declare a new private file as an earlier one of the same kind, such as next month's, and show what the "
        "runs on both promise together; nothing is spent",
    )
    following.add_argument("old", type=Path, metavar="OLD", help="the earlier file, with its dictionary beside it")
    following.add_argument("new", type=Path, metavar="NEW", help="the new file of the same owner")
    following.add_argument("--n-public", type=int, metavar="N", help="its number of rows; default: the dictionary's")
    following.set_defaults(do=_next)
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
        print(f"{account.key[:_SHORT]}  {account.summary}")
    return 0


def _total(arguments: argparse.Namespace) -> int:
    accounts = Accounts.open()
    key = _key(arguments.account, accounts, [account.key for account in accounts.local()])
    budget = FileBudget(arguments.epsilon, arguments.delta, arguments.rho_distance)
    accounts.set_budget(key, Neighboring(arguments.relation), budget)
    print(f"{key[:_SHORT]}  {accounts.of(key).summary}")
    return 0


def _next(arguments: argparse.Namespace) -> int:
    old, new = present(arguments.old), present(arguments.new)
    accounts = Accounts.open()
    before, after = (accounts.of(accounts.key_of(path)) for path in (old, new))
    both = Both((old.name, new.name), before, after)
    name, facts = facts_beside(old)
    if facts is None:
        raise ValueError(
            f"accounts: {old.name} has no dictionary beside it to take over; draft one with `dpviz describe {old.name} "
            "--private --header`."
        )
    facts = amended(facts, name, n_public=arguments.n_public)
    assert facts is not None
    taken, own = facts_beside(new)
    if own is not None and complete(own, taken) != facts:
        raise ValueError(f"accounts: {taken} already declares {new.name} otherwise; keep it, or remove it first.")
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / name
        draft.write_text(dump(facts), encoding="utf-8")
        data = load_csv(new, private=True, dictionary=draft)  # refuses a file of another kind; no cell is shown
    accounts.answer(after.key, private=True)
    if own is None:
        taken = written_to(new).name
        written_to(new).write_text(dump(facts), encoding="utf-8")
    n_rows = data.domain.rows_per_person
    rows = f", up to {n_rows} rows of one person" if n_rows > 1 else ""
    print(f"declared: {taken}, as {name}: {counted(len(data.columns), 'column')}, n = {data.n_public:,}{rows}")
    print(*dataclasses.replace(both, rows_per_person=n_rows).lines, sep="\n")
    return 0


def _assign(arguments: argparse.Namespace) -> int:
    accounts = Accounts.open()
    known = [account.key for account in accounts.local()]
    for key in [_key(word, accounts, known) for word in arguments.accounts]:  # look up all accounts before writing any
        print(f"{key[:_SHORT]}  to {arguments.to}: {accounts.assign(key, arguments.to).summary}")
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
