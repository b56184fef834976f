"""Merge two chains of accounts that began as one, after a fail-over or a copy, so that neither chain's claims are lost.

The entries of the second chain that the first one lacks are appended to the first; the second stays as it is. A host's
mark may name an entry of either chain, which is how one host ends up refusing the chain that another one has continued.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import sqlalchemy

from dpviz.privacy.accounts.database import postgresql, sqlite
from dpviz.privacy.accounts.journal import Journal, seen
from dpviz.privacy.accounts.place import NAME
from dpviz.privacy.accounts.store import Accounts
from dpviz.privacy.secret import private_folder, server_secret

__all__ = ["Merged", "merge"]


@dataclasses.dataclass(frozen=True)
class Merged:
    """What a merge did.

    Attributes
    ----------
    shared : number of entries with which both chains begin
    claims : number of claims that the first chain lacked
    totals : number of totals that were set or lowered
    mark : Path of the file that now records the merged chain
    """

    shared: int
    claims: int
    totals: int
    mark: Path


def merge(into: str, other: str) -> Merged:
    """Add what the chain `other` holds to the chain `into`; stop the servers of both first.

    Parameters
    ----------
    into, other : str, each a state folder, the path of a copied database, or the URL of a PostgreSQL database. Both
        must have this server's secret.

    Raises
    ------
    ValueError
        If the two are one database, have no common beginning, or lack the newest entry that a mark records.
    PermissionError
        If a chain was edited, has another secret, or is open to others.
    OSError
        If a database is missing or cannot be used.
    """
    secret = server_secret(private_folder(None))
    if into == other or _path(into) is not None and _path(into) == _path(other):
        raise ValueError("accounts merge: both names lead to the same database.")
    journals = [_journal(place, secret) for place in (into, other)]
    mine, others = (journal.codes() for journal in journals)
    shared = next(
        (i for i, (a, b) in enumerate(zip(mine, others, strict=False)) if a != b), min(len(mine), len(others))
    )
    if mine and others and not shared:
        raise ValueError(
            "accounts merge: the two databases do not begin with the same entry, so neither comes from the other. "
            "Nothing was merged; account files transfer single accounts."
        )
    marks = [_mark(place) for place in (into, other)]
    for mark in marks:
        count, code = seen(mark) if mark.exists() else (0, "")
        if count and code not in (mine[count - 1 : count] + others[count - 1 : count]):
            raise ValueError(
                f"accounts merge: {mark} records {count} entries, and neither database holds the last of them: claims "
                f"are missing in both. Nothing was merged; find a newer copy."
            )
    claims, totals = Accounts(secret, journals[0]).merge(Accounts(secret, journals[1]).every())
    journals[0].record(marks[0])
    return Merged(shared, claims, totals, marks[0])


def _path(place: str) -> Path | None:
    """Return the path of a SQLite database, or None for the URL of another database."""
    if "://" in place:
        return None
    path = Path(place).resolve()
    return path / NAME if path.is_dir() else path


def _name(place: str) -> str:
    """Return the path of a database, or its URL without the password."""
    return str(_path(place) or sqlalchemy.make_url(place).render_as_string())


def _mark(place: str) -> Path:
    path = _path(place)
    return private_folder(None) / "accounts-url.seen" if path is None else path.with_name("accounts.seen")


def _journal(place: str, secret: bytes) -> Journal:
    path = _path(place)
    if path is not None and not path.is_file():
        raise FileNotFoundError(f"accounts merge: there is no database of accounts at {path}.")
    try:
        return Journal(postgresql(place) if path is None else sqlite(path), secret, None)
    except PermissionError as problem:
        raise PermissionError(
            f"accounts merge: {_name(place)}: {problem} The key was {private_folder(None) / 'secret'}."
        ) from None
    except OSError as problem:
        raise OSError(f"accounts merge: {_name(place)}: {problem}") from None
