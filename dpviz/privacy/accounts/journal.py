"""An append-only chain of entries for all files, authenticated with the server's secret.

Each entry's code (an HMAC) covers the entry and the previous code; the head row seals the number of entries and the
last code. An entry that was edited, removed, added, reordered or moved to another file is therefore detected, at the
latest when the next process reads the chain. A database that was rolled back is detected by comparison with the latest
state that this process has seen, and with the one recorded in the mark, a file next to the secret. A rollback of both
the database and the mark is NOT detected, nor is anything done by somebody who holds the secret.

Folder, secret and database are checked when a process opens them. Anyone who can write to them while the process runs
can also read the secret, and so can do anything. Edits of the database while a process runs, a trigger in the database,
or a folder opened to others are detected at the next start, not before.
"""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import json
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine, func, select
from sqlalchemy.exc import SQLAlchemyError

from dpviz.privacy.accounts.database import ENTRIES, HEAD, check_standby, create, problem_of
from dpviz.privacy.secret import make_once, read_private, replace

__all__ = ["Entry", "Journal", "Turn", "seen"]


@dataclasses.dataclass(frozen=True)
class Entry:
    """One entry: the key of its account (an HMAC of file and owner), its kind, and its content as JSON."""

    file: str
    kind: str
    body: str


class Turn:
    """One transaction: the entries on record, by file, and the entries to add."""

    def __init__(self, on_record: dict[str, list[Entry]]) -> None:
        self._kept = on_record
        self.added: list[Entry] = []

    def kept(self, file: str) -> list[Entry]:
        """Return a file's entries on record, oldest first; later turns only append to them."""
        return self._kept.get(file, [])

    @property
    def files(self) -> list[str]:
        """Return the files with entries on record."""
        return list(self._kept)

    def add(self, entry: Entry) -> None:
        """Add an entry, which is written when the turn ends without an error."""
        self.added.append(entry)


class Journal:
    """The chain of all entries. Threads may share a journal; other processes and hosts may write to the same database.

    Parameters
    ----------
    engine : Engine
    secret : bytes, the key of the chain
    mark : Path of the file that records how far this host has seen the chain; None to merge a chain that a fail-over or
        a copy has parted from it
    """

    def __init__(self, engine: Engine, secret: bytes, mark: Path | None) -> None:
        self._engine, self._secret, self._mark = engine, secret, mark
        self._lock = threading.Lock()
        self._kept: defaultdict[str, list[Entry]] = defaultdict(list)
        self._count, self._code = 0, ""
        if mark is not None:
            make_once(mark, _mark(0, ""))
        self._seen = (0, "") if mark is None else seen(mark)
        with self._lock, _one_sentence(), engine.begin() as connection:
            create(connection, self._seal(0, ""))
        with self.turn():
            pass

    @contextmanager
    def turn(self) -> Iterator[Turn]:
        """Read others' entries and append new ones in one transaction, synced if the block ends without an error.

        Raises
        ------
        PermissionError
            If this server did not write the chain, or has seen a newer state of it.
        OSError
            If the database cannot be used.
        """
        with self._lock, _one_sentence():
            with self._engine.begin() as connection:
                self._catch_up(connection)
                turn = Turn(self._kept)
                yield turn
                if turn.added:
                    check_standby(connection)
                count, code = self._count, self._code
                for entry in turn.added:
                    count += 1
                    code = self._code_of(count, code, entry)
                    connection.execute(ENTRIES.insert().values(number=count, mac=code, **dataclasses.asdict(entry)))
                if turn.added:
                    connection.execute(HEAD.update().values(entries=count, mac=code, seal=self._seal(count, code)))
            for entry in turn.added:
                self._kept[entry.file].append(entry)
            self._count, self._code = count, code
            if count > self._seen[0]:
                self._seen = count, code
                if self._mark is not None:
                    self.record(self._mark)

    def record(self, mark: Path) -> None:
        """Write the state that this journal has seen to a mark."""
        replace(mark, _mark(*self._seen))

    def codes(self) -> list[str]:
        """Return the codes of all entries in order; each one stands for all entries up to its own."""
        with self._lock, _one_sentence(), self._engine.begin() as connection:
            return list(connection.execute(select(ENTRIES.c.mac).order_by(ENTRIES.c.number)).scalars())

    def _catch_up(self, connection: Connection) -> None:
        """Load the entries added since the last transaction, and check that nothing else has changed."""
        head = connection.execute(select(HEAD).with_for_update()).one_or_none()
        if head is None or not hmac.compare_digest(self._seal(head.entries, head.mac), head.seal):
            raise _changed("its head was edited, or a server with another secret wrote it")
        if head.entries < max(self._count, self._seen[0]):
            raise PermissionError(
                f"Accounts: the database holds {head.entries} entries, but this server has seen "
                f"{max(self._count, self._seen[0])}: an older copy was restored, and claims are missing. Restore the "
                f"newest copy, or add it to this one with `dpviz accounts merge`; only if it is lost for good, remove "
                f"{self._mark} and restart."
            )
        new = connection.execute(select(ENTRIES).where(ENTRIES.c.number > self._count).order_by(ENTRIES.c.number))
        count, code, read = self._count, self._code, []
        for row in new:
            count += 1
            entry = Entry(row.file, row.kind, row.body)
            code = self._code_of(count, code, entry)
            if row.number != count or not hmac.compare_digest(code, row.mac):
                raise _changed(f"entry {count} was edited, removed or moved")
            if count == self._seen[0] and code != self._seen[1]:
                raise _changed(
                    f"entry {count} is not the one that this server has seen (`dpviz accounts merge` joins two copies)"
                )
            read.append(entry)
        rows = connection.execute(select(func.count()).select_from(ENTRIES)).scalar_one()
        if (count, code) != (head.entries, head.mac) or rows != count:
            raise _changed("entries were added or removed")
        for entry in read:
            self._kept[entry.file].append(entry)
        self._count, self._code = count, code

    def _code_of(self, number: int, before: str, entry: Entry) -> str:
        return self._hmac("entry", number, before, entry.file, entry.kind, entry.body)

    def _seal(self, count: int, code: str) -> str:
        return self._hmac("head", count, code)

    def _hmac(self, *fields: object) -> str:
        return hmac.new(self._secret, b"accounts\0" + json.dumps(fields).encode(), hashlib.sha256).hexdigest()


def _changed(how: str) -> PermissionError:
    return PermissionError(
        f"Accounts: the database is not as this server left it: {how}. Nothing is released from private files until "
        f"a genuine copy is restored."
    )


@contextmanager
def _one_sentence() -> Iterator[None]:
    """Turn a database driver's exception into one sentence without the SQL statement and its parameters."""
    try:
        yield
    except SQLAlchemyError as error:
        raise OSError(f"Accounts: the database cannot be used: {problem_of(error)}.") from None


def _mark(count: int, code: str) -> bytes:
    return f"{count} {code}\n".encode()


def seen(mark: Path) -> tuple[int, str]:
    """Return the number of entries that a mark records, and the code of the last one."""
    try:
        count, _, code = read_private(mark).decode().strip().partition(" ")
        return int(count), code
    except ValueError:
        raise PermissionError(f"Accounts: {mark} is damaged; restore a genuine copy.") from None
