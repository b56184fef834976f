"""Check a private file's account: it adds up runs of all algorithms, refuses before the draw, and is signed."""

import hmac
import json
import math
import os
import shutil
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from dpviz.__main__ import main
from dpviz.algorithms import ALGORITHMS, base
from dpviz.audits.audit import instance
from dpviz.cli import run
from dpviz.domain import Domain
from dpviz.privacy.accounting import epsilon_of_mu, mu_of_epsilon
from dpviz.privacy.accounts import LOCAL, Account, Accounts, Claim, FileBudget, Refused, owner_by_key, owner_by_login
from dpviz.privacy.accounts.owner import check_owner
from dpviz.privacy.costs import Laplace
from dpviz.privacy.guarantee import Neighboring, Notion
from dpviz.privacy.noise import Secure
from dpviz.privacy.plan import Plan
from dpviz.privacy.secret import state_folder

AR, REPLACE, MOVE = Neighboring
N, FILE = 500, b"a,b\n1,2\n"
DOMAIN = Domain.box(-1, 1, 2, scale="common", n_public=N)
PRIVATE = [slug for slug, cls in ALGORITHMS.items() if cls.notion is not Notion.NONE]


def claim(slug="pe-means", **values):
    return Claim.of(instance(ALGORITHMS[slug], **{"epsilon": 1.0, "delta": 1e-5, **values}), DOMAIN)


@pytest.fixture
def accounts(tmp_path):
    return Accounts.open(tmp_path / "accounts")


def test_the_same_file_finds_the_same_account_and_the_name_needs_the_secret(accounts, tmp_path):
    key = accounts.key(FILE)
    accounts.reserve(key, claim())
    assert len(accounts.of(accounts.key(bytes(FILE))).claims) == 1
    assert accounts.key(FILE + b"\n") != key and accounts.of(accounts.key(FILE + b"\n")).claims == ()
    assert Accounts.open(tmp_path / "other").key(FILE) != key
    big = tmp_path / "big.csv"
    big.write_bytes(FILE * 300_000)
    assert accounts.key_of(big) == accounts.key(FILE * 300_000)


def test_gaussian_claims_compose_by_squares_across_algorithms(accounts):
    key, mu = accounts.key(FILE), mu_of_epsilon(1.0, 1e-5)
    for slug in ("pe-means", "nsm", "hdpe-means"):
        accounts.reserve(key, claim(slug))
    accounts.set_budget(key, AR, FileBudget(5.0, 1e-5))
    total = accounts.of(key).total(AR)
    assert total.mu == pytest.approx(math.sqrt(3) * mu)
    assert total.epsilon == pytest.approx(epsilon_of_mu(math.sqrt(3) * mu, 1e-5)) and total.epsilon < 3
    assert accounts.of(key).remaining(AR) == pytest.approx(5 - total.epsilon)


def test_without_a_budget_the_total_is_at_the_sum_of_deltas_and_never_above_the_simple_sum(accounts):
    key = accounts.key(FILE)
    for slug in ("dpm", "sulloyd", "pe-means"):
        accounts.reserve(key, claim(slug))
    total = accounts.of(key).total(AR)
    assert total.epsilon <= 3.0 and total.delta <= 2e-5 * (1 + 1e-9), "SuLloyd has no delta"
    assert accounts.of(key).remaining(AR) is None
    alone = Account("k", (claim("sulloyd"),)).total(AR)
    assert (alone.epsilon, alone.delta, alone.pure_epsilon) == (pytest.approx(1.0), 0.0, pytest.approx(1.0))


@pytest.mark.parametrize("slug", PRIVATE)
def test_one_claim_is_the_algorithms_own_promise(slug):
    algorithm = instance(ALGORITHMS[slug], epsilon=1.0, delta=1e-5)
    account = Account("k", (Claim.of(algorithm, DOMAIN),))
    promise = algorithm.guarantee(2, N)
    total = account.total(algorithm.neighboring)
    assert total.epsilon == pytest.approx(promise.epsilon) and total.delta <= 1e-5
    assert account.relations == (algorithm.neighboring,)


def test_relations_convert_where_one_promise_implies_the_other(accounts):
    key, mu = accounts.key(FILE), mu_of_epsilon(1.0, 1e-5)
    accounts.reserve(key, claim("pe-means"))
    accounts.reserve(key, claim("stemmer-kaplan-local", epsilon=0.5))
    rho = 0.2 * DOMAIN.half_width.max()
    accounts.reserve(key, claim("dist-dp-region-means", rho_distance=0.2))
    account = accounts.of(key)
    assert account.relations == (AR, REPLACE, MOVE)
    assert [len(account.under(relation)) for relation in account.relations] == [1, 2, 3]
    assert [len(account.unprotected(relation)) for relation in account.relations] == [2, 1, 0]
    assert account.total(AR).epsilon == pytest.approx(1.0)
    converted = account.claims[0].charge(REPLACE, None)
    assert (converted.mu, converted.epsilon) == (pytest.approx(2 * mu), pytest.approx(2.0))
    assert converted.delta == pytest.approx((1 + math.e) * 1e-5)
    assert account.total(REPLACE).epsilon <= 2.5 and account.total(REPLACE).epsilon > 2.0
    assert account.total(MOVE).epsilon > account.total(REPLACE).epsilon
    assert account.rho_distance(MOVE) == pytest.approx(rho) and account.rho_distance(AR) is None


def test_a_converted_claim_is_what_the_guarantee_converts_to():
    for slug in ("pe-means", "sulloyd", "stemmer-kaplan", "em-mc", "dpm"):
        algorithm = instance(ALGORITHMS[slug], epsilon=0.7, delta=1e-6)
        charge = Claim.of(algorithm, DOMAIN).charge(REPLACE, None)
        promise = algorithm.guarantee(2, N).under(REPLACE)
        assert (charge.epsilon, charge.delta) == (pytest.approx(promise.epsilon), pytest.approx(promise.delta))


def test_an_approximate_claim_costs_its_whole_group_price_under_replacement(accounts):
    """A cost with a delta of its own is converted by group privacy, not by a rule for mu or zCDP."""
    key = accounts.key(FILE)
    accounts.reserve(key, claim("stemmer-kaplan", epsilon=0.5, delta=1e-6))
    accounts.set_budget(key, REPLACE, FileBudget(3.0, 1e-4))
    charge = accounts.of(key).claims[0].charge(REPLACE, None)
    assert (charge.mu, charge.zcdp) == (0, None) and charge.own_delta == pytest.approx((1 + math.exp(0.5)) * 1e-6)
    assert accounts.of(key).total(REPLACE).epsilon == pytest.approx(1.0)


def test_many_small_claims_compose_as_zcdp_with_the_square_of_the_group(accounts):
    """For 400 pure claims of 0.05, rho is 400 * 0.05^2 / 2 under add/remove and 4 times that under replacement."""
    small = Claim("id", "any", "Any", {}, AR, 1e-6, Plan({"votes": (Laplace(0.05),)}))
    account = Account("k", (small,) * 400, {AR: FileBudget(99.0, 1e-6), REPLACE: FileBudget(99.0, 1e-6)})
    one, both = account.total(AR), account.total(REPLACE)
    assert (one.zcdp, both.zcdp) == (pytest.approx(0.5), pytest.approx(2.0))
    simplest = 2.0 + 2 * math.sqrt(2.0 * math.log(1e6))  # the upper bound rho + 2 sqrt(rho log(1/delta))
    assert 0.9 * simplest < both.epsilon <= simplest < 400 * 2 * 0.05


def test_epsilons_are_simply_added_only_where_the_deltas_fit_too(accounts):
    key = accounts.key(FILE)
    accounts.set_budget(key, AR, FileBudget(5.0, 1e-5))
    accounts.reserve(key, claim("stemmer-kaplan", delta=1e-5))
    with pytest.raises(Refused, match="would bring this file to a delta above 1 in 100,000,"):  # ε = 2 at δ = 2e-5
        accounts.reserve(key, claim("stemmer-kaplan", delta=1e-5))
    accounts.set_budget(key, AR, FileBudget(5.0, 2e-5))
    total = accounts.reserve(key, claim("stemmer-kaplan", delta=1e-5)).total(AR)
    assert total.epsilon <= 2.0 * (1 + 1e-9) and total.delta <= 2e-5 * (1 + 1e-9)


def test_a_private_choice_above_the_total_is_refused_in_one_sentence_and_costs_nothing(accounts):
    key = accounts.key(FILE)
    accounts.set_budget(key, AR, FileBudget(2.0, 1e-5))
    with pytest.raises(Refused, match=r"Choose-k would bring this file to epsilon = 3 at .* Nothing was spent\.$"):
        accounts.reserve(key, claim("choose-k", epsilon=3.0))
    assert accounts.of(key).claims == ()
    total = accounts.reserve(key, claim("choose-k", epsilon=1.5)).total(AR)
    assert (total.epsilon, total.delta, total.mu) == (1.5, 1e-5, None)


def test_longer_moves_are_walked_in_steps(accounts):
    key = accounts.key(FILE)
    accounts.reserve(key, claim("dist-dp-region-means", rho_distance=0.2))
    accounts.set_budget(key, MOVE, FileBudget(9.0, 1e-4, 0.2 * DOMAIN.half_width.max()))
    one = accounts.of(key).total(MOVE)
    accounts.set_budget(key, MOVE, FileBudget(9.0, 1e-4, 0.5 * DOMAIN.half_width.max()))
    three = accounts.of(key).total(MOVE)
    assert three.mu == pytest.approx(3 * one.mu)
    # a claim for such short moves adds hardly any noise, so 500 steps exceed the total
    with pytest.raises(Refused, match="rho = 0.5, above the total of 9"):
        accounts.reserve(key, claim("dist-dp-region-means", rho_distance=0.001))


def test_a_total_for_moves_names_the_shortest_move_of_its_claims():
    both = Account("k", tuple(claim("dist-dp-region-means", rho_distance=rho) for rho in (0.2, 0.05)))
    assert [one.hides for one in both.claims] == [f"one row moved by at most rho = {rho}" for rho in (0.2, 0.05)]
    assert both.hides(MOVE) == "one row moved by at most rho = 0.05" and both.hides(AR) == AR.unit


def test_no_total_is_kept_for_a_relation_under_which_a_run_promises_nothing(accounts):
    key = accounts.key(FILE)
    accounts.set_budget(key, AR, FileBudget(9.0, 1e-5))
    with pytest.raises(Refused, match="this file's total is for one row added or removed. Nothing was spent"):
        accounts.reserve(key, claim("dist-dp-region-means"))
    assert accounts.of(key).claims == ()
    other = accounts.key(b"other")
    accounts.reserve(other, claim("dist-dp-region-means"))
    with pytest.raises(ValueError, match="1 run on this file promises nothing for one row added or removed"):
        accounts.set_budget(other, AR, FileBudget(9.0, 1e-5))
    for relation, rho in ((MOVE, None), (AR, 1.0)):
        with pytest.raises(ValueError, match="must state how far a row may move"):
            accounts.set_budget(key, relation, FileBudget(1.0, 1e-5, rho))


def test_a_total_for_replacement_is_charged_for_add_remove_runs(accounts):
    key = accounts.key(FILE)
    accounts.set_budget(key, REPLACE, FileBudget(1.9, 1e-4))
    with pytest.raises(Refused, match=r"epsilon = 1\.9\d+ .*one row changed to any value, above the total of 1.9"):
        accounts.reserve(key, claim("sulloyd", epsilon=0.99))
    accounts.reserve(key, claim("sulloyd", epsilon=0.9))


def test_a_claim_above_the_budget_is_refused_and_not_booked(accounts):
    key = accounts.key(FILE)
    accounts.set_budget(key, AR, FileBudget(1.2, 1e-5))
    accounts.reserve(key, claim())
    with pytest.raises(Refused, match=r"PE-means would bring this file to epsilon = 1\.4\d+.* above the total of 1.2"):
        accounts.reserve(key, claim())
    assert len(accounts.of(key).claims) == 1
    accounts.set_budget(key, AR, FileBudget(2.0, 1e-5))
    accounts.reserve(key, claim())


def test_dust_does_not_refuse_the_last_claim(accounts):
    key = accounts.key(FILE)
    accounts.set_budget(key, AR, FileBudget(0.3, 1e-5))
    for _ in range(3):
        accounts.reserve(key, claim("sulloyd", epsilon=0.1))
    with pytest.raises(PermissionError, match="0 is left"):
        accounts.reserve(key, claim("sulloyd", epsilon=0.1))


@pytest.mark.parametrize(("epsilon", "delta"), [(0, 1e-5), (math.nan, 1e-5), (1, 0), (1, 1), (math.inf, 1e-5)])
def test_a_budget_must_be_a_budget(epsilon, delta):
    with pytest.raises(ValueError, match="Budget: (epsilon|delta) must be"):
        FileBudget(epsilon, delta)


def test_threads_cannot_overspend_together(accounts):
    """Eight threads book as much as one would: 13 claims, because small pure claims compose as zCDP at delta > 0."""
    key = accounts.key(FILE)
    accounts.set_budget(key, AR, FileBudget(1.0, 1e-5))

    def attempt(_):
        try:
            accounts.reserve(key, claim("sulloyd", epsilon=0.1))
        except PermissionError:
            return 0
        return 1

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(40))) == 13
    assert accounts.of(key).total(AR).epsilon <= 1.0


# Owners

ANN, BOB = owner_by_login("ann"), owner_by_key("k" * 43)


def test_every_owner_of_a_file_has_an_account_of_their_own(accounts, tmp_path):
    accounts.reserve(accounts.key(FILE), claim())
    accounts.answer(accounts.key(FILE, ANN), False)
    accounts.reserve(accounts.key(FILE, BOB), claim())
    accounts.set_budget(accounts.key(FILE, BOB), AR, FileBudget(3.0, 1e-4))
    again = Accounts.open(tmp_path / "accounts")
    mine, anns, bobs = (again.of(again.key(FILE, owner)) for owner in (LOCAL, ANN, BOB))
    assert [account.private for account in (mine, anns, bobs)] == [True, False, True]
    assert [len(account.claims) for account in (mine, anns, bobs)] == [1, 0, 1]
    assert not mine.budgets and bobs.budgets
    strangers = again.key(FILE, owner_by_login("eve"))
    assert again.of(strangers) == Account(strangers), "another person's copy of the file has an empty account"
    keys = {again.key(FILE, owner) for owner in (LOCAL, ANN, BOB, "login:ann ", owner_by_key("j" * 43))}
    assert len(keys) == 5 and {len(key) for key in keys} == {64}


def test_an_owner_s_key_needs_the_secret_and_the_whole_file(accounts, tmp_path):
    big = tmp_path / "big.csv"
    big.write_bytes(FILE * 300_000)
    assert accounts.key_of(big) == accounts.key(FILE * 300_000, LOCAL)
    for owner in (LOCAL, ANN):
        assert accounts.key(FILE, owner) != accounts.key(FILE + b"\n", owner)
        assert accounts.key(FILE, owner) != Accounts.open(tmp_path / "other").key(FILE, owner)


def test_accounts_without_an_owner_are_this_machine_s_user_s_and_can_be_assigned(accounts, tmp_path):
    """In dpviz 0.2, the key of an account was the HMAC of the file alone."""
    secret = (tmp_path / "accounts" / "secret").read_bytes()
    old = hmac.new(secret, b"file\0" + FILE, "sha256").hexdigest()
    accounts.reserve(old, claim())
    accounts.set_budget(old, AR, FileBudget(3.0, 1e-4))
    accounts.reserve(accounts.key(b"other", ANN), claim())
    assert accounts.key(FILE) == old and [account.key for account in accounts.local()] == [old]
    accounts.reserve(accounts.key(FILE, ANN), claim("dpm"))
    assert len(accounts.assign(old, ANN).claims) == 2 == len(accounts.assign(old, ANN).claims)
    anns = Accounts.open(tmp_path / "accounts").of(accounts.key(FILE, ANN))
    assert {c.algorithm for c in anns.claims} == {"pe-means", "dpm"} and anns.budgets == {AR: FileBudget(3.0, 1e-4)}
    assert len(accounts.of(old).claims) == 1 and accounts.of(accounts.key(FILE, BOB)).private is None
    accounts.answer(accounts.key(FILE, BOB), False)
    with pytest.raises(Refused, match="declared this file public; that"):
        accounts.assign(old, BOB)
    accounts.answer(accounts.key(b"shown"), False)
    assert accounts.assign(accounts.key(b"shown"), ANN).private is False
    for key, owner in ((old, "ann"), (old, LOCAL), (old, "key:short"), ("0" * 64, ANN), (accounts.key(FILE, ANN), BOB)):
        with pytest.raises(ValueError, match="^accounts: "):
            accounts.assign(key, owner)


def test_an_account_file_is_of_one_owner(accounts):
    accounts.reserve(accounts.key(FILE, ANN), claim())
    text = accounts.to_file(accounts.key(FILE, ANN))
    assert accounts.load(accounts.key(FILE, ANN), text) == 0
    for owner in (LOCAL, BOB):
        with pytest.raises(ValueError, match="another data file, or to another owner"):
            accounts.load(accounts.key(FILE, owner), text)


def test_the_operator_lists_and_assigns_accounts_on_the_command_line(tmp_path, capsys):
    accounts, file = Accounts.open(), tmp_path / "mine.csv"
    file.write_bytes(FILE)
    key = accounts.key(FILE)
    accounts.reserve(key, claim())
    accounts.answer(accounts.key(b"shown"), False)
    accounts.answer(accounts.key(b"hidden", ANN), True)
    assert main(["accounts", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and any(line.split()[0] == key[:12] and "epsilon = 1" in line for line in lines)
    assert main(["accounts", "assign", key[:12], "--to", ANN]) == 0
    assert main(["accounts", "assign", str(file), "--to", BOB]) == 0
    assert all(len(Accounts.open().of(accounts.key(FILE, owner)).claims) == 1 for owner in (ANN, BOB))
    capsys.readouterr()
    for wrong in (["none-such"], [""], [key[:3]], [key[:12], "none-such"]):
        assert main(["accounts", "assign", *wrong, "--to", "login:eve"]) == 2
        assert "dpviz: accounts: " in capsys.readouterr().err
    assert Accounts.open().of(accounts.key(FILE, "login:eve")).private is None, "either both are assigned or none"
    assert main(["accounts", "assign", key[:12], "--to", "eve"]) == 2


# Account files


def filled(accounts):
    key = accounts.key(FILE)
    for slug in ("pe-means", "dpm", "stemmer-kaplan", "dist-dp"):
        accounts.reserve(key, claim(slug))
    accounts.set_budget(key, MOVE, FileBudget(99.0, 1e-3, 1.0))
    return key, accounts.to_file(key)


def other_server(tmp_path, name="elsewhere"):
    """Return the accounts of another server that has the same secret."""
    (tmp_path / name).mkdir(mode=0o700)
    shutil.copy(tmp_path / "accounts" / "secret", tmp_path / name / "secret")
    return Accounts.open(tmp_path / name)


def test_an_account_file_carries_everything_to_another_server(accounts, tmp_path):
    key, text = filled(accounts)
    other = other_server(tmp_path)
    assert other.load(other.key(FILE), text) == 4
    assert other.of(key) == accounts.of(key)
    assert other.load(key, text.encode()) == 0, "loading it again adds nothing"


def test_an_old_file_gives_nothing_back(accounts):
    key = accounts.key(FILE)
    accounts.reserve(key, claim())
    old = accounts.to_file(key)
    accounts.reserve(key, claim())
    accounts.set_budget(key, AR, FileBudget(2.0, 1e-5))
    assert accounts.load(key, old) == 0 and len(accounts.of(key).claims) == 2
    assert accounts.of(key).budgets[AR].epsilon == 2.0


def test_an_old_file_does_not_raise_a_total_again(accounts):
    key = accounts.key(FILE)
    accounts.set_budget(key, AR, FileBudget(9.0, 1e-5))
    old = accounts.to_file(key)
    accounts.set_budget(key, AR, FileBudget(2.0, 1e-5))
    assert accounts.load(key, old) == 0 and accounts.of(key).budgets[AR].epsilon == 2.0


def test_a_claim_about_moves_is_in_the_units_of_the_data():
    algorithm = instance(ALGORITHMS["dist-dp-region-means"], epsilon=1.0, delta=1e-5, rho_distance=0.2)
    for domain, rho in ((Domain.box(0, 10, 2, scale="common", n_public=N), 1.0), (DOMAIN, 0.2)):
        assert Claim.of(algorithm, domain).rho_distance == pytest.approx(rho)


@pytest.mark.parametrize("owner", [f"key:{'0' * 33}", f"key:{'0' * 31}", "login:", f"key:{'0' * 32} "])
def test_a_name_with_more_or_fewer_characters_is_no_owner(owner):
    with pytest.raises(ValueError, match="an owner is"):
        check_owner(owner)
    assert check_owner(f"key:{'0' * 32}") == f"key:{'0' * 32}"


EDITS = {
    "a claim removed": lambda r: r["claims"].pop(),
    "a claim repeated": lambda r: r["claims"].append(r["claims"][0]),
    "a cheaper cost": lambda r: r["claims"][0]["plan"]["votes"][0].update(mu=1e-9),
    "another delta": lambda r: r["claims"][0].update(delta=0.1),
    "another relation": lambda r: r["claims"][0].update(neighboring="move-rho"),
    "a larger budget": lambda r: r["budgets"]["move-rho"].update(epsilon=999.0),
    "another data file": lambda r: r.update(file="0" * 64),
    "no signature": lambda r: r.pop("signature"),
    "a number for a signature": lambda r: r.update(signature=7),
    "a field more": lambda r: r.update(note="hello"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_file_is_refused_with_a_reason_and_changes_nothing(accounts, edit):
    key, text = filled(accounts)
    record = json.loads(text)
    EDITS[edit](record)
    before = accounts.of(key)
    with pytest.raises(ValueError, match="not valid: the file was edited, or a server with another secret"):
        accounts.load(key, json.dumps(record))
    assert accounts.of(key) == before


def test_white_space_and_order_are_no_edits(accounts):
    key, text = filled(accounts)
    assert accounts.load(key, json.dumps(json.loads(text), sort_keys=True)) == 0


DEEP = '{"format": "dpviz-account", "version": 1, "x": ' + "[" * 200_000 + "]" * 200_000 + "}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not an account file"),
        ("[1, 2]", "not an account file"),
        ('{"format": "other"}', "not an account file"),
        ("\ufffd\x00", "not an account file"),
        ("[" * 200_000, "not an account file"),
        (DEEP, "not an account file"),
        (b"\xff\xfe\x00", "not an account file"),
        ('{"format": "dpviz-account", "version": 1, "x": 1' + "0" * 5000 + "}", "not an account file"),
        ('{"format": "dpviz-account", "version": 1, "x": 1e400, "signature": "\ud800"}', "signature is not valid"),
        ('{"format": "dpviz-account", "version": 1, "x": NaN}', "signature is not valid"),
        ('{"format": "dpviz-account", "version": 2}', "version 2, but this dpviz reads 1"),
        ('{"format": "dpviz-account"}', "version None"),
        ('{"format": "dpviz-account", "version": ' + "[" * 90 + "]" * 90 + "}", r"version \[{20}, but"),
        (" " * 16_000_001, "more than 16,000,000 bytes"),
    ],
)
def test_any_other_file_is_refused_with_a_reason(accounts, text, words):
    with pytest.raises(ValueError, match=words):
        accounts.load(accounts.key(FILE), text)


def test_a_file_of_another_server_or_of_other_data_is_refused(accounts, tmp_path):
    key, text = filled(accounts)
    with pytest.raises(ValueError, match="another secret wrote it"):
        Accounts.open(tmp_path / "other").load(key, text)
    with pytest.raises(ValueError, match="belongs to another data file"):
        accounts.load(accounts.key(b"other"), text)


def test_a_ledger_file_of_an_older_dpviz_is_read_but_for_moves_without_a_unit(accounts, tmp_path):
    key, secret = accounts.key(FILE), (tmp_path / "accounts" / "secret").read_bytes()

    def old(*claims):
        record = {"format": "dpviz-ledger", "version": 1, "file": key, "claims": [c.to_dict() for c in claims]}
        record["budgets"] = {"add-remove": {"epsilon": 3.0, "delta": 1e-5}}
        plain = json.dumps(record, sort_keys=True, separators=(",", ":")).encode()
        return json.dumps({**record, "signature": hmac.new(secret, b"ledger\0" + plain, "sha256").hexdigest()})

    with pytest.raises(ValueError, match="without recording the unit of its claims about moves"):
        accounts.load(key, old(claim(), claim("dist-dp")))
    assert accounts.load(key, old(claim())) == 1 and accounts.of(key).budgets[AR] == FileBudget(3.0, 1e-5)


def test_a_claim_is_on_disk_before_the_first_draw_and_stays_after_a_crash(tmp_path, accounts, monkeypatch):
    class Breaks(Secure):
        def gaussian(self, sd, shape):
            assert len(Accounts.open(tmp_path / "accounts").of(key).claims) == 1
            raise RuntimeError("power cut")

    monkeypatch.setattr(base, "Secure", Breaks)
    algorithm, key = instance(ALGORITHMS["pe-means"], epsilon=1.0, delta=1e-5), accounts.key(FILE)
    accounts.reserve(key, Claim.of(algorithm, DOMAIN))
    with pytest.raises(RuntimeError, match="power cut"):
        algorithm.run(np.zeros((N, 2)), domain=DOMAIN, noise="secure")
    assert len(Accounts.open(tmp_path / "accounts").of(key).claims) == 1


def test_the_first_answer_stands_and_a_claim_or_a_budget_is_one(accounts, tmp_path):
    accounts.answer(accounts.key(b"shown"), False)
    accounts.answer(accounts.key(b"shown"), False)
    accounts.reserve(accounts.key(b"claimed"), claim())
    accounts.set_budget(accounts.key(b"planned"), AR, FileBudget(1.0, 1e-5))
    again = Accounts.open(tmp_path / "accounts")
    for content in (b"claimed", b"planned"):
        assert again.of(again.key(content)).private
        with pytest.raises(Refused, match="file private; that is final"):
            again.answer(again.key(content), False)
    for act in (
        lambda key: again.answer(key, True),
        lambda key: again.reserve(key, claim()),
        lambda key: again.set_budget(key, AR, FileBudget(1.0, 1e-5)),
    ):
        with pytest.raises(Refused, match="file public; that"):
            act(again.key(b"shown"))


def test_a_claim_needs_a_declared_number_of_rows():
    with pytest.raises(ValueError, match="n_public must be declared"):
        Claim.of(instance(ALGORITHMS["pe-means"]), Domain.box(-1, 1, 2))


# The command line


@pytest.mark.slow
def test_the_command_books_a_private_run_before_it_starts(tmp_path, capsys):
    rows = np.random.default_rng(0).uniform(0, 1, (200, 2)).round(4)
    data, copy = tmp_path / "mine.csv", tmp_path / "mine.account.json"
    data.write_text("a,b\n" + "\n".join(f"{a},{b}" for a, b in rows))
    command = ["run", "pe-means", "--data", str(data), "--low", "0", "--high", "1", "--n-public", "200"]
    command += ["--n-clusters", "2", "--header"]
    assert main([*command, "--private"]) == 0
    assert "booked:  epsilon = 1, delta = 1 in 20,000 in all, by 1 run on this file" in capsys.readouterr().out
    assert main([*command, "--private", "--account", str(copy)]) == 0
    out = capsys.readouterr().out
    assert "by 2 runs on this file" in out and "epsilon = 1.397" in out
    accounts = Accounts.open()
    assert len(accounts.of(accounts.key_of(data)).claims) == len(json.loads(copy.read_text())["claims"]) == 2
    assert copy.stat().st_mode & 0o077 == 0 or os.name != "posix"
    assert main([*command, "--public"]) == 2
    assert "you already declared this file private" in capsys.readouterr().err
    copy.write_text(copy.read_text().replace('"delta"', '"delte"', 1))
    assert main([*command, "--private", "--ledger", str(copy)]) == 2
    assert "the signature is not valid" in capsys.readouterr().err
    other = tmp_path / "other.csv"
    other.write_text(data.read_text() + "\n0.5,0.5")
    command[command.index(str(data))] = str(other)
    assert main([*command, "--public", "--account", str(copy)]) == 2
    assert "--account is for private runs" in capsys.readouterr().err
    link = tmp_path / "link.json"
    link.symlink_to(copy)
    assert main([*command, "--private", "--account", str(link)]) == 2
    assert "is a symbolic link, which is not followed" in capsys.readouterr().err
    assert len(accounts.of(accounts.key_of(other)).claims) == 0


def swapped(load, file, other):
    """Return a loader that replaces the file with another one after it has read it."""

    def loading(*arguments, **facts):
        data = load(*arguments, **facts)
        os.replace(other, file)
        return data

    return loading


@pytest.mark.parametrize("whole", [True, False])
def test_a_run_is_booked_on_the_bytes_that_it_read(tmp_path, monkeypatch, capsys, whole):
    """The file is replaced as soon as it is read; a run in parts, which would read it again, is then refused."""
    rows = np.random.default_rng(0).uniform(0, 1, (2, 100, 2))
    file, other = (tmp_path / f"{name}.{'csv' if whole else 'npy'}" for name in ("mine", "other"))
    for path, values in zip((file, other), rows, strict=True):
        np.savetxt(path, values, delimiter=",") if whole else np.save(path, values)
    accounts = Accounts.open()
    first, second = accounts.key_of(file), accounts.key_of(other)
    name = "load_csv" if whole else "in_parts"
    monkeypatch.setattr(run, name, swapped(getattr(run, name), file, other))
    command = ["run", "pe-means", "--data", str(file), "--private", "--low", "0", "--high", "1", "--n-public", "100"]
    ended = main([*command, "--n-clusters", "2", "--no-header", "--n-columns", "2", *([] if whole else ["--in-parts"])])
    assert (ended, len(accounts.of(first).claims)) == ((0, 1) if whole else (2, 0))
    assert accounts.of(second).claims == ()
    assert whole or "the file changed while it was read" in capsys.readouterr().err


def test_a_public_run_makes_no_accounts_and_a_sweep_refuses_a_private_file(tmp_path, capsys):
    data, spec = tmp_path / "mine.csv", tmp_path / "sweep.toml"
    data.write_text("a,b\n" + "0.1,0.2\n0.3,0.4\n0.5,0.9\n" * 20)
    facts = ["--low", "0", "--high", "1", "--n-public", "60", "--n-clusters", "2"]
    assert main(["run", "pe-means", "--data", str(data), "--public", *facts]) == 0
    assert list(state_folder().glob("*")) == []
    accounts = Accounts.open()
    accounts.answer(accounts.key_of(data), True)
    spec.write_text(f'data = "{data}"\npublic = true\nalgorithms = ["pe-means"]\nepsilon = [1]\nrepeats = 1\n')
    capsys.readouterr()
    assert main(["sweep", str(spec), "-o", str(tmp_path / "rows.csv")]) == 2
    assert "mine.csv: you already declared this file private" in capsys.readouterr().err
