"""Store a server's accounts by file and owner. A claim is synced to disk before the first draw and never refunded."""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import json
import os
from collections.abc import Iterable
from pathlib import Path

from dpviz.privacy.accounts.account import Account, Claim, FileBudget, Refused
from dpviz.privacy.accounts.database import postgresql, sqlite
from dpviz.privacy.accounts.export import read_file, write_file
from dpviz.privacy.accounts.journal import Entry, Journal, Turn
from dpviz.privacy.accounts.owner import LOCAL, check_owner
from dpviz.privacy.accounts.place import NAME, URL
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.secret import private_folder, server_secret, sweep_drafts

__all__ = ["Accounts"]

_OWNED = "o"  # first letter of the keys of all accounts but those of this machine's user; not a hexadecimal digit


class Accounts:
    """The claims on every private file, over all runs, pages and commands. Threads may share an instance.

    An account is identified by an HMAC, keyed with the server's secret, of a file's bytes and its owner: the same
    person finds the same account with the same file in another tab, on the command line, or on another host with the
    same secret. Nobody else can compute the account's key, and another person's copy of the file leads to a different
    account, empty at first. An account does not cover runs on a copy of the data that differs in a single byte, runs on
    a server with another secret, or another owner's claims on the same file.

    Parameters
    ----------
    secret : bytes, at least 32 of them, the key that names files, authenticates entries and signs account files
    journal : Journal
    """

    def __init__(self, secret: bytes, journal: Journal) -> None:
        if len(secret) < 32:
            raise ValueError(f"Accounts: secret must have at least 32 bytes; got {len(secret)}.")
        self._secret, self._journal = secret, journal
        self._read: dict[str, tuple[int, Account]] = {}  # file -> the number of entries read, and the resulting account

    @classmethod
    def open(cls, folder: Path | None = None, url: str | None = None) -> Accounts:
        """Open the accounts of a state folder, or of a PostgreSQL database; by default, the environment names both.

        Raises
        ------
        PermissionError
            If the folder, the secret or the database is open to others or has changed since this server last wrote it.
        OSError
            If the database cannot be used.
        ValueError
            If the URL does not name a PostgreSQL database.
        """
        url = os.environ.get(URL) if url is None else url
        folder = private_folder(folder)
        sweep_drafts(folder)
        secret = server_secret(folder)
        if url:
            return cls(secret, Journal(postgresql(url), secret, folder / "accounts-url.seen"))
        return cls(secret, Journal(sqlite(folder / NAME), secret, folder / "accounts.seen"))

    def key(self, content: bytes, owner: str = LOCAL) -> str:
        """Return the key of an owner's account of a file: an HMAC that only this server can compute."""
        return self._owned(hmac.new(self._secret, b"file\0" + content, hashlib.sha256).hexdigest(), owner)

    def key_of(self, path: Path) -> str:
        """Return this machine's user's key for a file on disk, read in pieces; it equals `key` of the file's bytes."""
        running = hmac.new(self._secret, b"file\0", hashlib.sha256)
        with path.open("rb") as file:
            while piece := file.read(1 << 20):
                running.update(piece)
        return running.hexdigest()

    def _owned(self, file: str, owner: str) -> str:
        """Return an owner's key for a file; this machine's user has the key of accounts without an owner.

        Both cases do the same work, so timing does not tell them apart.
        """
        owned = hmac.new(self._secret, b"owner\0" + json.dumps([owner, file]).encode(), hashlib.sha256).hexdigest()
        return file if owner == LOCAL else _OWNED + owned[1:]

    def local(self) -> list[Account]:
        """Return the accounts of this machine's user and those that predate owners, in arbitrary order."""
        return [account for account in self.every() if not account.key.startswith(_OWNED)]

    def every(self) -> list[Account]:
        """Return the accounts of all owners, in arbitrary order."""
        with self._journal.turn() as turn:
            return [self._account(turn, key) for key in turn.files]

    def assign(self, key: str, owner: str) -> Account:
        """Copy an account of this machine's user to another owner of the same file; neither account loses a claim.

        Raises
        ------
        ValueError
            If there is no such account, or no such owner.
        Refused
            If the owner has declared the file public.
        """
        target = self._owned(key, check_owner(owner))
        with self._journal.turn() as turn:
            account = self._account(turn, key)
            if key.startswith(_OWNED) or account.private is None:
                raise ValueError("accounts: no account without an owner has this name; nothing was assigned.")
            self._answer(turn, target, account.private)
            self._add(turn, target, account)
            return self._account(turn, target)

    def of(self, key: str) -> Account:
        """Return the account of a file, empty at first."""
        with self._journal.turn() as turn:
            return self._account(turn, key)

    def answer(self, key: str, private: bool) -> None:
        """Record whether a file is private. An owner's first answer is final in every session.

        Raises
        ------
        Refused
            If the owner gave the other answer before.
        """
        with self._journal.turn() as turn:
            self._answer(turn, key, private)

    def check(self, key: str, claim: Claim) -> None:
        """Refuse a claim that could not be booked; nothing is booked in either case.

        Raises
        ------
        Refused
            If a budget that the owner set would not cover the claim, or the file is public.
        """
        account = self.of(key)
        self._agree(account, True)
        account.check(claim)

    def reserve(self, key: str, claim: Claim) -> Account:
        """Book a claim, which makes the file private; call it before the run starts. A claim cannot be withdrawn.

        Raises
        ------
        Refused
            If a budget that the owner set would not cover the claim, or the file is public; nothing is booked then.
        """
        with self._journal.turn() as turn:
            self._answer(turn, key, True)
            before = self._account(turn, key)
            before.check(claim)
            turn.add(Entry(key, "claim", json.dumps(claim.to_dict())))
            return before.after(claim)

    def set_budget(self, key: str, relation: Neighboring, budget: FileBudget) -> None:
        """Set the total that the owner allows under a relation; it may be less than the amount already spent.

        Raises
        ------
        ValueError
            If a total for that relation could not cover all claims.
        Refused
            If the file is public.
        """
        with self._journal.turn() as turn:
            self._answer(turn, key, True)
            self._account(turn, key).check_budget(relation, budget)
            turn.add(_budget_entry(key, relation, budget))

    def to_file(self, key: str) -> str:
        """Return the account of a file as signed JSON, for another server with the same secret."""
        return write_file(self.of(key), self._secret)

    def load(self, key: str, text: str | bytes) -> int:
        """Add the new claims of an account file and return their number. No claim is ever dropped.

        Raises
        ------
        ValueError
            If the text is not an account file, was edited, was signed by another server, or belongs to another data
            file.
        Refused
            If the data file is public.
        """
        brought = read_file(key, text, self._secret)
        with self._journal.turn() as turn:
            self._answer(turn, key, True)
            return self._add(turn, key, brought)

    def merge(self, others: Iterable[Account]) -> tuple[int, int]:
        """Add another chain's accounts; return the number of claims added and of totals set. No claim is ever dropped.

        A file is private if either chain says so, and the stricter of two totals applies.
        """
        claims = totals = 0
        with self._journal.turn() as turn:
            for other in others:
                before = self._account(turn, other.key)
                if other.private is not None and not before.private and other.private is not before.private:
                    turn.add(Entry(other.key, "answer", json.dumps(other.private)))
                claims += self._add(turn, other.key, other)
                for relation, budget in other.budgets.items():
                    mine = before.budgets.get(relation)
                    strict = budget if mine is None else mine.stricter(budget)
                    totals += strict != mine
                    if mine is not None and strict != mine:
                        turn.add(_budget_entry(other.key, relation, strict))
        return claims, totals

    def _add(self, turn: Turn, key: str, brought: Account) -> int:
        """Add claims that an account lacks, and totals for relations without one; return the number of new claims."""
        before = self._account(turn, key)
        known = {claim.id for claim in before.claims}
        new = [claim for claim in brought.claims if claim.id not in known]
        for claim in new:
            turn.add(Entry(key, "claim", json.dumps(claim.to_dict())))
        for relation, budget in brought.budgets.items():
            if relation not in before.budgets:
                turn.add(_budget_entry(key, relation, budget))
        return len(new)

    def _answer(self, turn: Turn, key: str, private: bool) -> None:
        account = self._account(turn, key)
        self._agree(account, private)
        if account.private is None:
            turn.add(Entry(key, "answer", json.dumps(private)))

    @staticmethod
    def _agree(account: Account, private: bool) -> None:
        """Refuse an answer that differs from the one on record."""
        if account.private not in (None, private):
            before = "private" if account.private else "public"
            raise Refused(f"You already declared this file {before}; that is final.")

    def _account(self, turn: Turn, key: str) -> Account:
        """Read the entries added since the last call; entries not yet committed are read again next time."""
        count, account = self._read.get(key, (0, Account(key)))
        for entry in turn.kept(key)[count:]:
            account = _with(account, entry)
        self._read[key] = len(turn.kept(key)), account
        for entry in turn.added:
            account = _with(account, entry) if entry.file == key else account
        return account


def _budget_entry(key: str, relation: Neighboring, budget: FileBudget) -> Entry:
    return Entry(key, "budget", json.dumps({"relation": str(relation), **dataclasses.asdict(budget)}))


def _with(account: Account, entry: Entry) -> Account:
    """Return an account with one more entry: claims add up; the last budget applies; a private file stays private."""
    body = json.loads(entry.body)
    if entry.kind == "claim":
        return account.after(Claim.from_dict(body))
    if entry.kind == "budget":
        relation = Neighboring(body.pop("relation"))
        return dataclasses.replace(account, budgets={**account.budgets, relation: FileBudget(**body)})
    return dataclasses.replace(account, private=bool(account.private or body))
