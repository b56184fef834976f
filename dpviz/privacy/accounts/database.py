"""The database of all accounts: SQLite in the state folder, or PostgreSQL for several hosts; every write is synced."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from urllib.parse import quote

import sqlalchemy
from sqlalchemy import BigInteger, Column, Engine, Integer, MetaData, String, Table, Text, event
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from dpviz.privacy.secret import check_private, make_once

__all__ = ["ENTRIES", "HEAD", "check_standby", "create", "postgresql", "problem_of", "sqlite"]

WAIT = 60  # maximum time that a booking waits for earlier ones, in seconds

_metadata = MetaData()
ENTRIES = Table(
    "dpviz_entries",
    _metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("file", String(64), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("body", Text, nullable=False),
    Column("mac", String(64), nullable=False),
)
HEAD = Table(  # a single row, which every transaction locks first
    "dpviz_head",
    _metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("entries", BigInteger, nullable=False),
    Column("mac", String(64), nullable=False),
    Column("seal", String(64), nullable=False),
)
_LOCK = 7_305_809_216_017  # key of the advisory lock that PostgreSQL holds while the tables are made


def sqlite(path: Path) -> Engine:
    """Return an engine for a SQLite file that only its owner can read; create it on first use; refuse a link."""
    make_once(path, b"")
    check_private(path, path.lstat())

    def connect() -> sqlite3.Connection:
        # with mode=rw, a missing file raises an error instead of being replaced by an empty database
        connection = sqlite3.connect(
            f"file:{quote(str(path.absolute()))}?mode=rw",
            uri=True,
            timeout=WAIT,
            isolation_level=None,
            check_same_thread=False,
        )
        connection.execute("PRAGMA synchronous = EXTRA")  # with a rollback journal, FULL leaves the folder unsynced
        return connection

    engine = sqlalchemy.create_engine("sqlite://", creator=connect, poolclass=NullPool)

    @event.listens_for(engine, "begin")
    def _begin(connection: sqlalchemy.Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")  # there is only one writer from the first read on

    return engine


def postgresql(url: str) -> Engine:
    """Return an engine for a PostgreSQL database.

    Raises
    ------
    ValueError
        If the URL does not name a PostgreSQL database, or psycopg is not installed.
    """
    try:
        parsed = sqlalchemy.make_url(url)
    except ArgumentError:
        parsed = None
    if parsed is None or parsed.get_backend_name() not in ("postgresql", "postgres"):
        raise ValueError("Accounts: DPVIZ_ACCOUNTS_URL must be a URL of the form postgresql://user@host/database.")
    options = f"-c lock_timeout={WAIT}s -c idle_in_transaction_session_timeout={WAIT}s"
    try:
        engine = sqlalchemy.create_engine(
            parsed.set(drivername="postgresql+psycopg"),
            pool_pre_ping=True,
            connect_args={"connect_timeout": 10, "options": options},
            hide_parameters=True,
        )
    except ModuleNotFoundError:
        raise ValueError('Accounts: DPVIZ_ACCOUNTS_URL needs psycopg: pip install ".[postgresql]".') from None

    @event.listens_for(engine, "connect")
    def _synced(connection: sqlite3.Connection, _: object) -> None:
        with connection.cursor() as cursor:  # type: ignore[attr-defined]
            facts = {name: cursor.execute(f"SHOW {name}").fetchone()[0] for name in ("fsync", "synchronous_commit")}
            if facts["fsync"] != "on":
                raise PermissionError("Accounts: PostgreSQL runs with fsync = off, so a power cut would lose claims.")
            # with another setting, a commit may not wait for a standby's disk
            if facts["synchronous_commit"] not in ("on", "remote_apply"):
                cursor.execute("SET synchronous_commit = on")
        connection.commit()

    return engine


# Any user of the database sees the number of its standbys; only some see their state, which is null for the others.
_STANDBYS = sqlalchemy.text("""
    SELECT current_setting('synchronous_standby_names') AS waits_for,
           count(*) AS standbys,
           count(*) FILTER (WHERE sync_state IS NULL OR sync_state IN ('sync', 'quorum')) AS waited_for
    FROM pg_stat_replication WHERE application_name NOT IN ('pg_basebackup', 'pg_receivewal')
""")


def check_standby(connection: sqlalchemy.Connection) -> None:
    """Refuse to write to a PostgreSQL whose fail-over could lose the write, or that would wait for a missing standby.

    Raises
    ------
    PermissionError
        If standbys are connected, but a commit waits for none of them.
    OSError
        If a commit would wait for a standby and none is connected.
    """
    if connection.dialect.name != "postgresql":
        return
    facts = connection.execute(_STANDBYS).one()
    if facts.standbys and not facts.waits_for:
        raise PermissionError(
            "Accounts: PostgreSQL has a standby but does not wait for it, so a fail-over could lose claims; set "
            "synchronous_standby_names there (deploy/README.md). Nothing was booked."
        )
    if facts.waits_for and not facts.waited_for:
        raise OSError(
            "Accounts: PostgreSQL would wait for its synchronous standby, which is not connected; start the standby, "
            "or set synchronous_standby_names to another one. Nothing was booked."
        )


def create(connection: sqlalchemy.Connection, seal: str) -> None:
    """Create the tables with a sealed, empty head if they do not exist; call this in a transaction."""
    if connection.dialect.name == "postgresql":
        connection.execute(sqlalchemy.select(sqlalchemy.func.pg_advisory_xact_lock(_LOCK)))
    if any(sqlalchemy.inspect(connection).has_table(table.name) for table in (ENTRIES, HEAD)):
        return
    _metadata.create_all(connection)
    connection.execute(HEAD.insert().values(id=1, entries=0, mac="", seal=seal))


def problem_of(error: SQLAlchemyError) -> str:
    """Return a database driver's message in one line, without the SQL statement and its parameters."""
    return str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
