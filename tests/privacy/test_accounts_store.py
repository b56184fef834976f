"""Check the store of accounts on SQLite and PostgreSQL: no booking is lost or doubled, and tampering is detected."""

import multiprocessing
import os
import select
import shutil
import signal
import sqlite3
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from dpviz.cli import main
from dpviz.privacy.accounts import Account, Accounts, Claim, FileBudget, Refused
from dpviz.privacy.costs import Laplace
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.plan import Plan
from dpviz.privacy.secret import private_folder, server_secret, state_folder
from tests import postgres

AR = Neighboring.ADD_REMOVE
POSIX = pytest.mark.skipif(os.name != "posix", reason="modes and owners are POSIX's")


def claim():
    plan = Plan({"votes": (Laplace(0.1),)})
    return Claim(uuid.uuid4().hex, "any", "Any", {"epsilon": 0.1}, AR, 1e-5, plan)


@pytest.fixture(scope="module")
def postgresql():
    with postgres.server() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    """Return the folder and the database URL of a store of accounts."""
    if request.param == "sqlite":
        return tmp_path / "home", ""
    url = request.getfixturevalue("postgresql")
    with psycopg.connect(url) as connection:
        connection.execute("DROP TABLE IF EXISTS dpviz_entries, dpviz_head")
    return tmp_path / "home", url


def book(place, n):
    """Try n bookings in this process; return how many were allowed."""
    accounts = Accounts.open(*place)
    allowed = 0
    for _ in range(n):
        try:
            accounts.reserve(accounts.key(b"file"), claim())
            allowed += 1
        except Refused:
            pass
    return allowed


def allow(place, budget):
    accounts = Accounts.open(*place)
    if budget:
        accounts.set_budget(accounts.key(b"file"), AR, FileBudget(budget, 1e-5))


@pytest.mark.slow
@POSIX
@pytest.mark.parametrize("budget", [1.0, pytest.param(None, marks=pytest.mark.slow)])
def test_processes_cannot_overspend_together_and_lose_no_booking(place, budget):
    """Ten claims of 0.1 exhaust a total of 1, whether they are booked at the same time or one after another."""
    with multiprocessing.get_context("fork").Pool(8) as pool:  # forked, because a fresh import takes seconds
        pool.apply(allow, (place, budget))
        allowed = sum(pool.starmap(book, [(place, 15 if budget else 50)] * 8))
    assert allowed == (10 if budget else 400)
    accounts = Accounts.open(*place)
    account = accounts.of(accounts.key(b"file"))
    assert len({claim.id for claim in account.claims}) == len(account.claims) == allowed
    assert budget is None or account.total(AR).epsilon <= budget


def test_threads_of_one_process_share_the_accounts(place):
    accounts = Accounts.open(*place)
    key = accounts.key(b"file")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: accounts.reserve(key, claim()), range(16)))
    assert len({c.id for c in accounts.of(key).claims}) == 16


def book_forever(place, tell):
    """Open the accounts, then book forever; write to `tell` the id of every claim on which a run could now start."""
    accounts = Accounts.open(*place)
    os.write(tell, b"ready\n")
    while True:
        account = accounts.reserve(accounts.key(b"file"), claim())
        os.write(tell, f"{account.claims[-1].id}\n".encode())


@POSIX
@pytest.mark.slow
def test_a_kill_at_any_point_loses_no_claim_that_a_run_could_have_started_on(place):
    """Twenty-five forked processes are killed, one after another, at various times after they are ready to book."""
    told = []
    for turn in range(25):
        hear, tell = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                book_forever(place, tell)
            finally:
                os._exit(1)
        os.close(tell)
        with os.fdopen(hear) as lines:
            assert lines.readline() == "ready\n"
            select.select([lines], [], [], 0.008 * turn)  # the earliest kills hit the first booking
            time.sleep(0.001 * (turn % 7))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            told += lines.read().splitlines()
    accounts = Accounts.open(*place)
    kept = [c.id for c in accounts.of(accounts.key(b"file")).claims]
    assert set(told) <= set(kept) and len(told) >= 10
    assert len(kept) - len(told) <= 25, "at most the booking in progress at each kill"


# Tampering is detected


def edit(place, statement):
    folder, url = place
    with psycopg.connect(url) if url else sqlite3.connect(folder / "accounts.sqlite3") as connection:
        connection.execute(statement)


EDITS = {
    "a cheaper claim": "UPDATE dpviz_entries SET body = replace(body, '0.1', '0.01') WHERE number = 2",
    "another file's": "UPDATE dpviz_entries SET file = 'x' WHERE number = 2",
    "a claim made an answer": "UPDATE dpviz_entries SET kind = 'answer' WHERE number = 2",
    "the middle removed": "DELETE FROM dpviz_entries WHERE number = 3",
    "the end removed": "DELETE FROM dpviz_entries WHERE number = 4",
    "all removed": "DELETE FROM dpviz_entries",
    "one repeated": "INSERT INTO dpviz_entries SELECT 5, file, kind, body, mac FROM dpviz_entries WHERE number = 4",
    "two exchanged": "UPDATE dpviz_entries SET number = CASE number WHEN 2 THEN -3 WHEN 3 THEN -2 ELSE number END",
    "a shorter head": "UPDATE dpviz_head SET entries = 3",
    "no head": "DELETE FROM dpviz_head",
}


def filled(place):
    accounts = Accounts.open(*place)
    for _ in range(3):
        accounts.reserve(accounts.key(b"file"), claim())
    return accounts


@pytest.mark.parametrize("how", EDITS)
def test_an_edited_database_is_refused(place, how):
    accounts = filled(place)
    assert accounts.of(accounts.key(b"file")).private
    edit(place, EDITS[how])
    if how == "two exchanged":
        edit(place, "UPDATE dpviz_entries SET number = -number WHERE number < 0")
    with pytest.raises(PermissionError, match="not as this server left it: .*a genuine copy is restored"):
        Accounts.open(*place)
    if how not in ("a cheaper claim", "another file's", "a claim made an answer", "two exchanged"):  # already read
        with pytest.raises(PermissionError, match="not as this server left it"):
            accounts.of(accounts.key(b"file"))


def test_tables_that_were_dropped_are_noticed(place):
    filled(place)
    edit(place, "DROP TABLE dpviz_entries")
    edit(place, "DROP TABLE dpviz_head")
    with pytest.raises(PermissionError, match="holds 0 entries, but this server has seen 4"):
        Accounts.open(*place)


def test_an_older_copy_of_the_database_is_noticed_while_running_and_after_a_restart(tmp_path):
    accounts = filled((tmp_path, ""))
    key, path = accounts.key(b"file"), tmp_path / "accounts.sqlite3"
    shutil.copy(path, tmp_path / "old")
    accounts.reserve(key, claim())
    shutil.copy(tmp_path / "old", path)
    with pytest.raises(PermissionError, match="holds 4 entries, but this server has seen 5: an older copy"):
        accounts.reserve(key, claim())
    with pytest.raises(PermissionError, match="remove .*accounts.seen and restart"):
        Accounts.open(tmp_path, "")
    accounts = Accounts.open(tmp_path / "fresh", "")  # this chain is as long as the known one, but its history differs
    for _ in range(2):
        accounts.reserve(accounts.key(b"a"), claim())
    assert len(accounts.of(accounts.key(b"a")).claims) == 2


def test_a_fork_of_the_chain_is_noticed(tmp_path):
    accounts = filled((tmp_path, ""))
    path, mark = tmp_path / "accounts.sqlite3", tmp_path / "accounts.seen"
    shutil.copy(path, tmp_path / "old")
    shutil.copy(mark, tmp_path / "old.seen")
    accounts.reserve(accounts.key(b"file"), claim())
    newest = mark.read_bytes()
    shutil.copy(tmp_path / "old", path)
    shutil.copy(tmp_path / "old.seen", mark)
    other = Accounts.open(tmp_path, "")  # a rollback of both files goes unnoticed, as documented
    other.reserve(other.key(b"another"), claim())
    mark.write_bytes(newest)
    with pytest.raises(PermissionError, match="entry 5 is not the one that this server has seen"):
        Accounts.open(tmp_path, "")
    with pytest.raises(PermissionError, match="not as this server left it"):
        accounts.of(accounts.key(b"file"))


def test_another_servers_database_is_refused(place, tmp_path):
    filled(place)
    (tmp_path / "home" / "secret").write_bytes(bytes(range(32)))
    with pytest.raises(PermissionError, match="a server with another secret wrote it"):
        Accounts.open(*place)


def test_a_database_that_goes_away_is_one_sentence(tmp_path):
    accounts = filled((tmp_path, ""))
    (tmp_path / "accounts.sqlite3").unlink()
    with pytest.raises(OSError, match=r"^Accounts: the database cannot be used: unable to open database file\.$"):
        accounts.of(accounts.key(b"file"))
    (tmp_path / "accounts.sqlite3").write_bytes(b"no database at all " * 100)
    with pytest.raises(OSError, match=r"cannot be used: file is not a database\.$"):
        accounts.of(accounts.key(b"file"))


@pytest.mark.parametrize("url", ["mysql://host/db", "postgresql", "sqlite:///x.db", "://"])
def test_only_postgresql_is_a_url_for_accounts(tmp_path, url):
    with pytest.raises(
        ValueError, match="DPVIZ_ACCOUNTS_URL must be a URL of the form postgresql://user@host/database"
    ):
        Accounts.open(tmp_path, url)


def test_a_database_that_cannot_be_reached_is_one_sentence_without_its_password(tmp_path):
    with pytest.raises(OSError, match="cannot be used: connection failed") as caught:
        Accounts.open(tmp_path, "postgresql://ann:hunter2@127.0.0.1:1/none")
    assert "hunter2" not in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.slow
def test_a_postgresql_that_does_not_sync_is_refused(tmp_path):
    with postgres.server("-c fsync=off") as url, pytest.raises(PermissionError, match="fsync = off"):
        Accounts.open(tmp_path, url)


@pytest.mark.parametrize("weak", ["off", "local", "remote_write"])
def test_a_session_that_waits_for_too_little_is_made_to_wait(postgresql, tmp_path, weak):
    with psycopg.connect(postgresql) as connection:
        connection.execute("DROP TABLE IF EXISTS dpviz_entries, dpviz_head")
        connection.execute(f"ALTER ROLE postgres SET synchronous_commit = {weak}")
    try:
        accounts = Accounts.open(tmp_path, postgresql)
        with accounts._journal._engine.connect() as connection:
            assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"
    finally:
        with psycopg.connect(postgresql) as connection:
            connection.execute("ALTER ROLE postgres RESET synchronous_commit")


@pytest.mark.slow
def test_a_standby_must_be_waited_for_and_a_fail_over_to_it_loses_no_claim(postgresql, tmp_path):
    """The database's user is an ordinary one, who may not read a standby's state."""

    def settle(statement, wanted):
        """Change the server's settings, or wait for a standby, until it says that they apply."""
        for _ in range(300):
            with psycopg.connect(postgresql, autocommit=True) as connection:
                if connection.execute(statement).fetchone()[0] == wanted:
                    return
            time.sleep(0.1)
        raise AssertionError(statement)

    def wait_for(names):
        with psycopg.connect(postgresql, autocommit=True) as connection:
            connection.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
            connection.execute("SELECT pg_reload_conf()")
        settle("SHOW synchronous_standby_names", names)

    with psycopg.connect(postgresql, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS dpviz_entries, dpviz_head")
        connection.execute("CREATE ROLE dpviz LOGIN")
        connection.execute("GRANT CREATE ON SCHEMA public TO dpviz")
    accounts = Accounts.open(tmp_path, postgresql.replace("postgres@", "dpviz@"))
    key = accounts.key(b"file")
    told = [accounts.reserve(key, claim()).claims[-1].id]
    try:
        with postgres.standby(postgresql) as standby:
            settle("SELECT count(*) FROM pg_stat_replication", 1)
            with pytest.raises(PermissionError, match="does not wait for it, so a fail-over could lose claims"):
                accounts.reserve(key, claim())
            assert [c.id for c in accounts.of(key).claims] == told, "reading goes on; nothing was booked"
            wait_for("*")
            told += [accounts.reserve(key, claim()).claims[-1].id for _ in range(3)]
            wait_for("")  # the server itself may go on alone
            standby.call("pg_ctl", "promote", "-w")
            other = Accounts.open(tmp_path, standby.url.replace("postgres@", "dpviz@"))
            assert [c.id for c in other.of(key).claims] == told
        settle("SELECT count(*) FROM pg_stat_replication", 0)
        wait_for("*")
        alone = ThreadPoolExecutor(1).submit(accounts.reserve, key, claim())
        with pytest.raises(OSError, match="would wait for its synchronous standby, which is not connected"):
            alone.result(30)
    finally:
        wait_for("")
    accounts.reserve(key, claim())


@pytest.mark.slow
def test_two_postgresql_databases_become_one_that_lacks_no_claim(postgresql, tmp_path, monkeypatch, capsys):
    """Two hosts share a secret, each went on with a database of its own, and the second's is merged into the first."""
    server, first, second = postgresql, tmp_path / "first", tmp_path / "second"
    postgresql, lost = (server.replace("/postgres?", f"/{name}?") for name in ("kept", "lost"))
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE kept")
    accounts = Accounts.open(first, postgresql)
    key = accounts.key(b"file")
    told = [accounts.reserve(key, claim()).claims[-1].id for _ in range(2)]
    accounts._journal._engine.dispose()  # a database is copied only while nobody uses it
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE lost TEMPLATE kept")
    second.mkdir(mode=0o700)
    shutil.copy2(first / "secret", second / "secret")
    other = Accounts.open(second, lost)
    told += [accounts.reserve(key, claim()).claims[-1].id for _ in range(3)]
    told += [other.reserve(key, claim()).claims[-1].id for _ in range(4)]
    other.set_budget(key, AR, FileBudget(1.0, 1e-5))

    def merge(into, others):
        monkeypatch.setenv("DPVIZ_HOME", str(first))
        return main(["accounts", "merge", into, others]), *capsys.readouterr()

    code, out, _ = merge(postgresql, lost)
    assert code == 0 and "3 entries in common; added 4 claims; set 1 totals" in out
    assert "accounts-url.seen records the merged database" in out
    assert [c.id for c in other.of(key).claims] == told[:2] + told[5:], "the other database stays as it is"
    merged = Accounts.open(first, postgresql)
    assert sorted(c.id for c in merged.of(key).claims) == sorted(told) and len(told) == 9
    merged.reserve(key, claim())
    with pytest.raises(Refused, match="above the total of 1"):
        merged.reserve(key, claim())
    with pytest.raises(PermissionError, match="accounts merge"):
        Accounts.open(second, postgresql)  # its mark names an entry of the other database
    (second / "accounts-url.seen").unlink()
    assert len(Accounts.open(second, postgresql).of(key).claims) == 10
    same = postgresql.replace("postgresql://", "postgresql+psycopg://")
    for into, others, code, words in (
        (postgresql, lost, 0, "added 0 claims; set 0 totals"),
        (postgresql, same, 0, "added 0 claims; set 0 totals"),  # the same database by another name
        (postgresql, postgresql, 2, "both names lead to the same database"),
        (
            postgresql,
            "postgresql://ann:hunter2@127.0.0.1:1/none",
            2,
            "merge: postgresql://ann:***@127.0.0.1:1/none: Acc",
        ),
        (postgresql, postgresql.replace("/kept?", "/never?"), 2, 'database "never" does not exist'),
    ):
        ended, out, err = merge(into, others)
        assert (ended, err.count("\n")) == (code, bool(code)) and words in out + err, (others, out, err)
        assert "hunter2" not in err and "Traceback" not in err
    assert len(Accounts.open(first, postgresql).of(key).claims) == 10


# Folder and secret


def test_sqlite_syncs_every_booking_and_its_folder(tmp_path):
    accounts = Accounts.open(tmp_path, "")
    with accounts._journal._engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 3  # EXTRA


def test_drafts_that_a_killed_process_left_are_swept_at_the_next_start(tmp_path):
    filled((tmp_path, ""))
    names = [
        f"{name}.{16 * digit}" for name, digit in (("accounts.seen", "a"), ("secret", "0"), ("accounts.seen", "b"))
    ]
    others = ["accounts.seen.bak", "notes.txt"]
    for name in (*names, *others):
        (tmp_path / name).write_bytes(b"")
        os.utime(tmp_path / name, (1, 1))
    os.utime(tmp_path / names[-1])  # another process may be writing this file now
    assert len(Accounts.open(tmp_path, "").of(filled((tmp_path, "")).key(b"file")).claims) == 6
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"accounts.seen", "accounts.sqlite3", "secret", names[-1], *others}


@POSIX
def test_all_files_are_the_owners_alone(tmp_path):
    filled((tmp_path / "home" / "dpviz", ""))
    folder = tmp_path / "home" / "dpviz"
    assert sorted(p.name for p in folder.iterdir()) == ["accounts.seen", "accounts.sqlite3", "secret"]
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {p.stat().st_mode & 0o777 for p in folder.iterdir()} == {0o600}


@POSIX
@pytest.mark.parametrize("name", ["secret", "accounts.sqlite3", "accounts.seen"])
def test_a_file_that_others_can_read_or_that_is_a_link_is_refused(tmp_path, name):
    filled((tmp_path, ""))
    path = tmp_path / name
    path.chmod(0o640)
    with pytest.raises(PermissionError, match="can be read by others; run chmod 600"):
        Accounts.open(tmp_path, "")
    path.chmod(0o600)
    path.rename(tmp_path / "target")
    path.symlink_to(tmp_path / "target")
    with pytest.raises(PermissionError, match="symbolic link|regular file"):
        Accounts.open(tmp_path, "")
    path.unlink()
    path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(PermissionError, match="symbolic link|regular file"):
        Accounts.open(tmp_path, "")
    assert not (tmp_path / "nowhere").exists()


@POSIX
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777])
def test_a_folder_that_others_can_write_to_is_refused(tmp_path, mode):
    tmp_path.chmod(mode)
    with pytest.raises(PermissionError, match="others can write to the folder .*; run chmod 700"):
        server_secret(tmp_path)
    assert list(tmp_path.iterdir()) == []
    tmp_path.chmod(0o700)


@POSIX
def test_a_folder_that_is_a_link_is_refused(tmp_path):
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(PermissionError, match="is a symbolic link; name the folder itself"):
        private_folder(tmp_path / "link")


@POSIX
def test_files_of_another_user_are_refused(tmp_path, monkeypatch):
    server_secret(tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(PermissionError, match="belongs to another user of this machine"):
        private_folder(tmp_path)
    with pytest.raises(PermissionError, match="belongs to another user of this machine"):
        server_secret(tmp_path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"short", "must hold 32 bytes; got 5"),
        (bytes(32), "is not a random secret"),
        (b"ab" * 16, "is not a random secret"),
    ],
)
def test_a_damaged_secret_is_refused(tmp_path, content, words):
    server_secret(tmp_path)
    (tmp_path / "secret").write_bytes(content)
    with pytest.raises(PermissionError, match=words):
        server_secret(tmp_path)


def test_the_secret_is_made_once(tmp_path):
    first = server_secret(tmp_path / "a" / "b")
    assert len(first) == 32 and server_secret(tmp_path / "a" / "b") == first != server_secret(tmp_path / "other")
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: server_secret(tmp_path / "c"), range(16)))) == 1


def test_the_state_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("DPVIZ_HOME", str(tmp_path))
    assert state_folder() == tmp_path
    monkeypatch.delenv("DPVIZ_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert os.name != "posix" or state_folder() == tmp_path / "dpviz"


def test_an_empty_account_has_spent_nothing(tmp_path):
    accounts = Accounts.open(tmp_path, "")
    assert accounts.of("k") == Account("k") and accounts.of("k").total(AR).epsilon == 0
