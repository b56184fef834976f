"""The ledger of a private file: adds up over runs and algorithms, refuses before the draw, and cannot be edited."""

import json
import math
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS, base
from dpviz.audits.audit import instance
from dpviz.cli import main
from dpviz.domain import Domain
from dpviz.privacy.accounting import epsilon_of_mu, mu_of_epsilon
from dpviz.privacy.guarantee import Neighboring, Notion
from dpviz.privacy.noise import Secure
from dpviz.privacy.session_ledger import Budget, Claim, Ledgers, SessionLedger, book, server_secret, state_folder

AR, MOVE = Neighboring.ADD_REMOVE, Neighboring.MOVE_RHO
N, FILE = 500, b"a,b\n1,2\n"
PRIVATE = [slug for slug, cls in ALGORITHMS.items() if cls.notion is not Notion.NONE]


def claim(slug="pe-means", **values):
    return Claim.of(instance(ALGORITHMS[slug], **{"epsilon": 1.0, "delta": 1e-5, **values}), 2, N)


@pytest.fixture
def ledgers():
    return Ledgers(b"s" * 32)


def test_the_same_file_finds_the_same_ledger_and_the_name_needs_the_secret(ledgers, tmp_path):
    key = ledgers.key(FILE)
    ledgers.reserve(key, claim())
    assert len(ledgers.of(ledgers.key(bytes(FILE))).claims) == 1
    assert ledgers.key(FILE + b"\n") != key and ledgers.of(ledgers.key(FILE + b"\n")).claims == ()
    assert Ledgers(b"t" * 32).key(FILE) != key
    big = tmp_path / "big.csv"
    big.write_bytes(FILE * 300_000)
    assert ledgers.key_of(big) == ledgers.key(FILE * 300_000)
    with pytest.raises(ValueError, match="at least 32 bytes; got 3"):
        Ledgers(b"abc")


def test_gaussian_claims_compose_by_squares_across_algorithms(ledgers):
    key, mu = ledgers.key(FILE), mu_of_epsilon(1.0, 1e-5)
    for slug in ("pe-means", "nsm", "hdpe-means"):
        ledgers.reserve(key, claim(slug))
    ledgers.set_budget(key, AR, Budget(5.0, 1e-5))
    total = ledgers.of(key).total(AR)
    assert total.mu == pytest.approx(math.sqrt(3) * mu)
    assert total.epsilon == pytest.approx(epsilon_of_mu(math.sqrt(3) * mu, 1e-5)) and total.epsilon < 3
    assert ledgers.of(key).remaining(AR) == pytest.approx(5 - total.epsilon)


def test_without_a_budget_the_total_is_at_the_sum_of_deltas_and_never_above_the_simple_sum(ledgers):
    key = ledgers.key(FILE)
    for slug in ("dpm", "sulloyd", "pe-means"):
        ledgers.reserve(key, claim(slug))
    total = ledgers.of(key).total(AR)
    assert total.epsilon <= 3.0 and total.delta <= 2e-5 * (1 + 1e-9), "SuLloyd has no delta"
    assert ledgers.of(key).remaining(AR) is None
    alone = SessionLedger("k", (claim("sulloyd"),)).total(AR)
    assert (alone.epsilon, alone.delta, alone.pure_epsilon) == (pytest.approx(1.0), 0.0, pytest.approx(1.0))


@pytest.mark.parametrize("slug", PRIVATE)
def test_one_claim_is_the_algorithms_own_promise(slug):
    algorithm = instance(ALGORITHMS[slug], epsilon=1.0, delta=1e-5)
    ledger = SessionLedger("k", (Claim.of(algorithm, 2, N),))
    promise = algorithm.guarantee(2, N)
    total = ledger.total(algorithm.neighboring)
    assert total.epsilon == pytest.approx(promise.epsilon) and total.delta <= 1e-5
    assert ledger.relations == (algorithm.neighboring,)


def test_relations_are_totalled_apart_and_the_shortest_move_counts(ledgers):
    key = ledgers.key(FILE)
    ledgers.reserve(key, claim("pe-means"))
    for rho in (0.2, 0.05):
        ledgers.reserve(key, claim("dist-dp-region-means", rho_distance=rho))
    ledger = ledgers.of(key)
    assert ledger.relations == (AR, MOVE) and len(ledger.under(MOVE)) == 2
    assert ledger.total(AR).epsilon == pytest.approx(1.0)
    assert 1.0 < ledger.total(MOVE).epsilon <= 2.0
    assert ledger.rho_distance(MOVE) == 0.05 and ledger.rho_distance(AR) is None


def test_a_claim_above_the_budget_is_refused_and_not_booked(ledgers):
    key = ledgers.key(FILE)
    ledgers.set_budget(key, AR, Budget(1.2, 1e-5))
    ledgers.reserve(key, claim())
    with pytest.raises(
        PermissionError, match=r"PE-means would bring this file to epsilon = 1\.4\d+.* above the total of 1.2"
    ):
        ledgers.reserve(key, claim())
    assert len(ledgers.of(key).claims) == 1
    ledgers.reserve(key, claim("dist-dp-region-means"))  # another relation has its own budget
    ledgers.set_budget(key, AR, Budget(2.0, 1e-5))
    ledgers.reserve(key, claim())


def test_dust_does_not_refuse_the_last_claim(ledgers):
    key = ledgers.key(FILE)
    ledgers.set_budget(key, AR, Budget(0.3, 1e-5))
    for _ in range(3):
        ledgers.reserve(key, claim("sulloyd", epsilon=0.1))
    with pytest.raises(PermissionError, match="0 is left"):
        ledgers.reserve(key, claim("sulloyd", epsilon=0.1))


@pytest.mark.parametrize(("epsilon", "delta"), [(0, 1e-5), (math.nan, 1e-5), (1, 0), (1, 1), (math.inf, 1e-5)])
def test_a_budget_must_be_a_budget(epsilon, delta):
    with pytest.raises(ValueError, match="Budget: (epsilon|delta) must be"):
        Budget(epsilon, delta)


def test_threads_cannot_overspend_together(ledgers):
    """As many claims fit as one after the other would: 13, because at delta > 0 small pure ones compose as zCDP."""
    key = ledgers.key(FILE)
    ledgers.set_budget(key, AR, Budget(1.0, 1e-5))

    def attempt(_):
        try:
            ledgers.reserve(key, claim("sulloyd", epsilon=0.1))
        except PermissionError:
            return 0
        return 1

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(40))) == 13
    assert ledgers.of(key).total(AR).epsilon <= 1.0


# Ledger files


def filled(ledgers):
    key = ledgers.key(FILE)
    for slug in ("pe-means", "dpm", "stemmer-kaplan", "dist-dp"):
        ledgers.reserve(key, claim(slug))
    ledgers.set_budget(key, AR, Budget(9.0, 1e-4))
    return key, ledgers.to_file(key)


def test_a_ledger_file_carries_everything_over_a_restart(ledgers):
    key, text = filled(ledgers)
    restarted = Ledgers(b"s" * 32)
    assert restarted.load(restarted.key(FILE), text) == 4
    assert restarted.of(key) == ledgers.of(key)
    assert restarted.load(key, text.encode()) == 0, "a second drop adds nothing"


def test_an_old_file_gives_nothing_back(ledgers):
    key = ledgers.key(FILE)
    ledgers.reserve(key, claim())
    old = ledgers.to_file(key)
    ledgers.reserve(key, claim())
    ledgers.set_budget(key, AR, Budget(2.0, 1e-5))
    assert ledgers.load(key, old) == 0 and len(ledgers.of(key).claims) == 2
    assert ledgers.of(key).budgets[AR].epsilon == 2.0


EDITS = {
    "a claim removed": lambda r: r["claims"].pop(),
    "a claim repeated": lambda r: r["claims"].append(r["claims"][0]),
    "a cheaper cost": lambda r: r["claims"][0]["plan"]["votes"][0].update(mu=1e-9),
    "another delta": lambda r: r["claims"][0].update(delta=0.1),
    "another relation": lambda r: r["claims"][0].update(neighboring="move-rho"),
    "a larger budget": lambda r: r["budgets"]["add-remove"].update(epsilon=99.0),
    "another data file": lambda r: r.update(file="0" * 64),
    "no signature": lambda r: r.pop("signature"),
    "a number for a signature": lambda r: r.update(signature=7),
    "a field more": lambda r: r.update(note="hello"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_file_is_refused_with_a_reason_and_changes_nothing(ledgers, edit):
    key, text = filled(ledgers)
    record = json.loads(text)
    EDITS[edit](record)
    before = ledgers.of(key)
    with pytest.raises(ValueError, match="signature does not fit: it was edited, or a server with another secret"):
        ledgers.load(key, json.dumps(record))
    assert ledgers.of(key) == before


def test_white_space_and_order_are_no_edits(ledgers):
    key, text = filled(ledgers)
    assert ledgers.load(key, json.dumps(json.loads(text), sort_keys=True)) == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not a ledger file"),
        ("[1, 2]", "not a ledger file"),
        ('{"format": "other"}', "not a ledger file"),
        ("�\x00", "not a ledger file"),
        ('{"format": "dpviz-ledger", "version": 2}', "version 2, but this dpviz reads version 1"),
        ('{"format": "dpviz-ledger"}', "version None"),
    ],
)
def test_what_is_no_ledger_file_is_refused_with_a_reason(ledgers, text, words):
    with pytest.raises(ValueError, match=words):
        ledgers.load(ledgers.key(FILE), text)


def test_a_file_of_another_server_or_of_other_data_is_refused(ledgers):
    key, text = filled(ledgers)
    other = Ledgers(b"t" * 32)
    with pytest.raises(ValueError, match="another secret wrote it"):
        other.load(key, text)
    with pytest.raises(ValueError, match="belongs to another data file"):
        ledgers.load(ledgers.key(b"other"), text)


def test_a_claim_is_in_the_file_before_the_first_draw_and_stays_after_a_crash(tmp_path, ledgers, monkeypatch):
    class Breaks(Secure):
        def gaussian(self, sd, shape):
            assert len(json.loads(path.read_text())["claims"]) == 1
            raise RuntimeError("power cut")

    monkeypatch.setattr(base, "Secure", Breaks)
    path = tmp_path / "mine.ledger.json"
    algorithm = instance(ALGORITHMS["pe-means"], epsilon=1.0, delta=1e-5)
    domain = Domain.box(-1, 1, 2, n_public=N)
    book(path, ledgers, ledgers.key(FILE), Claim.of(algorithm, 2, N))
    with pytest.raises(RuntimeError, match="power cut"):
        algorithm.run(np.zeros((N, 2)), domain=domain, noise="secure")
    again = Ledgers(b"s" * 32)
    assert len(book(path, again, again.key(FILE), Claim.of(algorithm, 2, N)).claims) == 2
    assert [p.name for p in tmp_path.iterdir()] == ["mine.ledger.json"]


# The secret


def test_the_secret_is_made_once_and_for_its_owner_only(tmp_path):
    folder = tmp_path / "home" / "dpviz"
    first = server_secret(folder)
    assert len(first) == 32 and server_secret(folder) == first
    assert server_secret(tmp_path / "other") != first
    assert [p.name for p in folder.iterdir()] == ["secret"]
    if os.name == "posix":
        assert (folder / "secret").stat().st_mode & 0o777 == 0o600
        (folder / "secret").chmod(0o644)
        with pytest.raises(PermissionError, match="can be read by others; run chmod 600"):
            server_secret(folder)


def test_a_damaged_secret_is_refused(tmp_path):
    server_secret(tmp_path)
    (tmp_path / "secret").write_bytes(b"short")
    with pytest.raises(PermissionError, match="must hold 32 bytes; got 5"):
        server_secret(tmp_path)


def test_two_servers_that_start_together_share_one_secret(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: server_secret(tmp_path), range(16)))) == 1


def test_the_state_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("DPVIZ_HOME", str(tmp_path))
    assert state_folder() == tmp_path
    monkeypatch.delenv("DPVIZ_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert os.name != "posix" or state_folder() == tmp_path / "dpviz"


# The command line


def test_the_command_books_a_private_run_before_it_starts(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("DPVIZ_HOME", str(tmp_path / "home"))
    rows = np.random.default_rng(0).uniform(0, 1, (200, 2)).round(4)
    data, ledger = tmp_path / "mine.csv", tmp_path / "mine.ledger.json"
    data.write_text("a,b\n" + "\n".join(f"{a},{b}" for a, b in rows))
    command = ["run", "pe-means", "--data", str(data), "--low", "0", "--high", "1", "--n-public", "200"]
    command += ["--ledger", str(ledger), "--n-clusters", "2"]
    assert main([*command, "--private"]) == 0
    assert "booked:  epsilon = 1, delta = 0.0029 in all, by 1 run on this file" in capsys.readouterr().out
    assert main([*command, "--private"]) == 0
    out = capsys.readouterr().out
    assert "by 2 runs on this file" in out and "epsilon = 1.375" in out
    ledger.write_text(ledger.read_text().replace('"delta"', '"delte"', 1))
    assert main([*command, "--private"]) == 2
    assert "its signature does not fit" in capsys.readouterr().err
    assert main([*command, "--public"]) == 2
    assert "--ledger is for private runs" in capsys.readouterr().err
