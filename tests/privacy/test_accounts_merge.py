"""Check `accounts merge`: of two chains that began as one, the merged chain lacks no claim and allows nothing more."""

import random
import shutil
import sqlite3
import uuid

import pytest

from dpviz.cli import main
from dpviz.privacy.accounts import LOCAL, Accounts, Claim, FileBudget, Refused
from dpviz.privacy.accounts.merge import merge
from dpviz.privacy.costs import Gaussian, Laplace
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.plan import Plan

AR, REPLACE, MOVE = Neighboring.ADD_REMOVE, Neighboring.REPLACE, Neighboring.MOVE_RHO
OWNERS = (LOCAL, "login:ann", "login:bob")


def claim(cost=None, relation=AR, rho=None):
    plan = Plan({"votes": (cost or Laplace(0.1),)})
    return Claim(uuid.uuid4().hex, "any", "Any", {"epsilon": 0.1}, relation, 1e-5, plan, rho)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Return the state folder of this server, in which one claim is booked."""
    monkeypatch.setenv("DPVIZ_HOME", str(tmp_path / "home"))
    accounts = Accounts.open(tmp_path / "home", "")
    accounts.reserve(accounts.key(b"file"), claim())
    return tmp_path / "home"


def copy(home, name="copy"):
    return shutil.copytree(home, home.parent / name)


def live(accounts, rng, files, steps):
    """Let owners act at random: answer, book, set totals; refusals are part of life."""
    for _ in range(steps):
        key = rng.choice(files)
        relation = rng.choice((AR, REPLACE, MOVE))
        rho = rng.choice((0.5, 1.0, 3.0)) if relation is MOVE else None
        try:
            match rng.randrange(4):
                case 0:
                    accounts.answer(key, rng.random() < 0.8)
                case 1:
                    budget = FileBudget(rng.uniform(0.2, 4), rng.choice((1e-6, 1e-5, 1e-3)), rho)
                    accounts.set_budget(key, relation, budget)
                case _:
                    accounts.reserve(key, claim(rng.choice((Laplace(0.1), Gaussian(0.2))), relation, rho))
        except (Refused, ValueError):
            pass


@pytest.mark.parametrize("seed", range(12))
def test_no_split_loses_a_claim_or_allows_what_one_side_refuses(home, seed):
    rng = random.Random(seed)
    first = Accounts.open(home, "")
    files = [first.key(content, owner) for content in (b"file", b"other") for owner in OWNERS]
    live(first, rng, files, rng.randrange(12))
    lost = copy(home)
    second = Accounts.open(lost, "")
    for side in (first, second):
        live(side, rng, files, rng.randrange(16))
    if rng.random() < 0.5:  # an account file carries some claims across
        carried = rng.choice(files)
        try:
            second.load(carried, first.to_file(carried))
        except Refused:
            pass
    before, others = ([side.of(key) for key in files] for side in (first, second))
    folders = (home, lost) if rng.random() < 0.5 else (lost, home)
    done = merge(*map(str, folders))
    merged = Accounts.open(folders[0], "")
    for mine, other in zip(before, others, strict=True):
        account = merged.of(mine.key)
        both = {c.id: c for c in (*mine.claims, *other.claims)}
        assert {c.id: c for c in account.claims} == both and len(account.claims) == len(both)
        answers = {mine.private, other.private} - {None}
        assert account.private is (max(answers) if answers else None)
        for relation, limit in (*mine.budgets.items(), *other.budgets.items()):
            strict = account.budgets[relation]
            assert strict.epsilon <= limit.epsilon and strict.delta <= limit.delta
            assert relation is not MOVE or strict.rho_distance >= limit.rho_distance
        assert set(account.budgets) == set(mine.budgets) | set(other.budgets)
    into = (before, others)[folders[0] is lost]
    assert done.claims == sum(len(merged.of(a.key).claims) - len(a.claims) for a in into)
    again = merge(*map(str, folders))
    assert (again.claims, again.totals) == (0, 0)


def test_a_claim_that_either_total_refuses_is_refused(home):
    first = Accounts.open(home, "")
    key = first.key(b"file")
    second = Accounts.open(copy(home), "")
    first.set_budget(key, AR, FileBudget(0.5, 1e-5))
    second.set_budget(key, AR, FileBudget(5.0, 1e-5))
    second.reserve(key, claim())
    assert merge(str(home), str(home.parent / "copy")).totals == 0, "the lower total stands already"
    merged = Accounts.open(home, "")
    assert len(merged.of(key).claims) == 2 and merged.of(key).budgets[AR].epsilon == 0.5
    for _ in range(3):
        merged.reserve(key, claim())
    with pytest.raises(Refused, match="above the total of 0.5"):
        merged.reserve(key, claim())
    second.reserve(key, claim())
    assert merge(str(home.parent / "copy"), str(home)).totals == 1
    assert Accounts.open(home.parent / "copy", "").of(key).budgets[AR].epsilon == 0.5


def test_a_file_that_one_side_calls_public_stays_private(home):
    first = Accounts.open(home, "")
    key = first.key(b"other")
    second = Accounts.open(copy(home), "")
    first.answer(key, False)
    second.reserve(key, claim())
    merge(str(home), str(home.parent / "copy"))
    assert Accounts.open(home, "").of(key).private is True and len(Accounts.open(home, "").of(key).claims) == 1
    merge(str(home.parent / "copy"), str(home))
    assert Accounts.open(home.parent / "copy", "").of(key).private is True


def test_a_host_that_saw_more_is_let_in_again_after_a_fail_over(home, capsys):
    """The newest database is lost to its host; another host goes on with a short copy, which the mark does not fit."""
    short = home.parent / "short.sqlite3"
    shutil.copy(home / "accounts.sqlite3", short)
    beside = home.parent / "beside"
    beside.mkdir(mode=0o700)
    shutil.copy(home / "secret", beside)
    accounts = Accounts.open(home, "")
    key = accounts.key(b"file")
    told = [accounts.reserve(key, claim()).claims[-1].id for _ in range(3)]
    (home / "accounts.sqlite3").rename(home.parent / "long.sqlite3")
    shutil.copy(short, beside / "accounts.sqlite3")
    elsewhere = Accounts.open(beside, "").reserve(key, claim()).claims[-1].id
    shutil.copy(beside / "accounts.sqlite3", home)
    with pytest.raises(PermissionError, match="`dpviz accounts merge`"):
        Accounts.open(home, "")
    assert main(["accounts", "merge", str(home), str(home.parent / "long.sqlite3")]) == 0
    out = capsys.readouterr().out
    assert "2 entries in common; added 3 claims; set 0 totals" in out and "accounts.seen records the merged" in out
    merged = Accounts.open(home, "")
    assert [c.id for c in merged.of(key).claims][1:] == [elsewhere, *told]
    merged.reserve(key, claim())


@pytest.mark.slow
def test_databases_that_cannot_be_merged_are_one_sentence_and_stay_as_they_are(home, capsys):
    accounts = Accounts.open(home, "")
    accounts.reserve(accounts.key(b"file"), claim())
    old = copy(home, "old")
    lost = copy(home)
    other = Accounts.open(lost, "")
    for _ in range(2):
        other.reserve(other.key(b"file"), claim())
    copies = {name: copy(lost, name) for name in ("edited", "cut", "open", "unrelated", "behind")}
    with sqlite3.connect(copies["edited"] / "accounts.sqlite3") as connection:
        connection.execute("UPDATE dpviz_entries SET body = replace(body, '0.1', '0.01') WHERE number = 4")
    with sqlite3.connect(copies["cut"] / "accounts.sqlite3") as connection:
        connection.execute("DELETE FROM dpviz_entries WHERE number = 5")
    (copies["open"] / "accounts.sqlite3").chmod(0o644)
    (copies["unrelated"] / "accounts.sqlite3").unlink()
    (copies["unrelated"] / "accounts.seen").unlink()
    apart = Accounts.open(copies["unrelated"], "")
    apart.reserve(apart.key(b"else"), claim())
    foreign = home.parent / "foreign"
    stranger = Accounts.open(foreign, "")
    stranger.reserve(stranger.key(b"file"), claim())
    shutil.copy(old / "accounts.sqlite3", copies["behind"] / "accounts.sqlite3")
    before = (home / "accounts.sqlite3").read_bytes()
    for wrong, words in (
        (copies["edited"], "entry 4 was edited, removed or moved"),
        (copies["cut"], "entries were added or removed"),
        (copies["open"], "can be read by others; run chmod 600"),
        (copies["unrelated"], "do not begin with the same entry, so neither comes from the other"),
        (copies["behind"], "records 5 entries, and neither database holds the last of them"),
        (foreign, "a server with another secret wrote it"),
        (home, "both names lead to the same database"),
        (home / "accounts.sqlite3", "both names lead to the same database"),
        (home.parent / "none", "there is no database of accounts at"),
        ("mysql://host/db", "must be a URL of the form postgresql://"),
    ):
        assert main(["accounts", "merge", str(home), str(wrong)]) == 2, words
        problem = capsys.readouterr().err
        assert words in problem and problem.count("\n") == 1 and "Traceback" not in problem, problem
    assert (home / "accounts.sqlite3").read_bytes() == before and not (home.parent / "none").exists()
