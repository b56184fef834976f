"""Check the Ledger and Limits pages: totals per notion of privacy, reasons for sensitivities, downloads, accounts."""

import math

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.audits.audit import instance
from dpviz.domain import Domain
from dpviz.figures.kit.ledger import plot_steps, releases_table, steps_table
from dpviz.figures.kit.theme import LIGHT
from dpviz.numbers import chance, number
from dpviz.privacy.accounts import Account, Accounts, Claim
from dpviz.privacy.guarantee import Guarantee, Neighboring, Notion
from tests.pages.visitor import content, press, private_file, spend, words

PRIVATE = [slug for slug, cls in ALGORITHMS.items() if cls.notion is not Notion.NONE]
X = np.random.default_rng(0).uniform(-1, 1, (60, 2))
DOMAIN = Domain.box(-1, 1, 2, scale="common", n_public=60)


def run(slug):
    return instance(ALGORITHMS[slug], epsilon=1.0, delta=1e-4).run(X, domain=DOMAIN, seed=0)


@pytest.mark.parametrize("slug", PRIVATE)
def test_totals_end_at_what_the_trace_spent_and_every_release_says_why(slug):
    trace = run(slug)
    table = releases_table(trace)
    assert len(table) == len(trace.ledger) and table.epsilon.max() == pytest.approx(trace.spent.epsilon)
    assert (table.epsilon.diff().dropna() >= -1e-12).all()
    for notion in ("mu", "pure_epsilon", "zcdp"):
        last, expected = table[notion].iloc[-1], getattr(trace.spent, notion)
        assert math.isnan(last) if expected is None else last == pytest.approx(expected), notion
        assert not (table[notion] == 0).any(), "n/a where a notion does not exist, never 0"
    for entry, why in zip(trace.ledger, table.why, strict=True):
        assert why.startswith(entry.reason[0].upper()) and "costs" in why and why.endswith(".")
    steps = steps_table(trace)
    assert steps.releases.sum() == len(trace.ledger)
    assert steps.added.sum() == pytest.approx(trace.spent.epsilon) and steps.epsilon.iloc[-1] == table.epsilon.iloc[-1]
    figure = plot_steps(trace, LIGHT)
    assert list(figure.data[1].y) == pytest.approx(steps.added.tolist())


def test_the_words_hold_the_numbers_of_the_release():
    trace = run("pe-means")
    words, entry = releases_table(trace).why[0], trace.ledger[0]
    assert "one row added or removed changes the value by at most 1 (l2 norm)" in words
    assert f"standard deviation {number(entry.scale)} on" in words and f"μ = {number(1 / entry.scale, 4)}" in words


def test_parts_of_the_rows_and_other_mechanisms_have_their_words():
    words = " ".join(releases_table(run("dpm")).why)
    assert "costs of different parts are not added" in words and "range of the scores" in words
    assert "for keys that one row alone creates" in " ".join(releases_table(run("stemmer-kaplan")).why)
    assert "for all picks together" in " ".join(releases_table(run("em-mc")).why)
    assert "flipping each bit with probability" in " ".join(releases_table(run("stemmer-kaplan-local")).why)


def test_the_ledger_page_lists_the_replay_and_offers_downloads(start):
    app = start().switch_page("pages/ledger.py").run()
    replay = ALGORITHMS["pe-means"](n_clusters=5, epsilon=1.0)
    planned = sum(map(len, replay.plan(2, 5000).costs.values()))
    assert not app.exception and replay.name in words(app)
    assert words(app).count("<details><summary><span>") == planned
    assert "pure ε" not in words(app) and "zCDP ρ" in words(app)  # Gaussian noise has no pure ε
    names = [button.proto.label for button in app.get("download_button")]
    assert {"Download JSON", "Download CSV"} <= set(names)


def test_the_limits_page_names_what_is_not_protected(start):
    app = start().switch_page("pages/limits.py").run()
    assert not app.exception
    found = {heading.value for heading in app.header}
    assert {"The unit", "Public inputs", "Floating point", "Time and memory", "Seeds", "Several runs"} <= found


def marked(app):
    return " ".join(m.value for m in app.markdown)


@pytest.mark.slow
def test_a_private_file_has_one_account_in_every_tab_and_a_total_that_holds(start):
    first = private_file(start(), content(1))
    first.switch_page("pages/account.py").run()
    assert not first.exception and any("Nothing has been claimed" in info.value for info in first.info)
    spend(first).switch_page("pages/account.py").run()
    assert not first.exception and "ε = 1, " in marked(first), marked(first)
    assert "Claims" in words(first) and "seed" not in words(first).replace("The seed", "")
    second = private_file(start(), content(1)).switch_page("pages/account.py").run()
    assert "ε = 1, " in marked(second)
    second.switch_page("pages/explore.py").run()
    press(second, "Run")
    epsilon, delta, *_ = first.number_input
    epsilon.set_value(1.2)
    delta.set_value(1e-4)
    press(first, "Set the total")
    assert any("refused before its first draw" in note.value for note in first.success)
    press(second, "Run and spend")  # the other tab has set a total meanwhile
    assert "job" not in second.session_state and not second.error and not second.exception
    (info,) = (info.value for info in second.info if "Your total does not allow this run" in info.value)
    assert "above the total of 1.2; " in info and "These are still free: " in info
    assert next(button for button in second.button if button.label == "Run and spend").disabled
    shown = words(second.switch_page("pages/account.py").run())
    assert "over the total" in shown and shown.count("<td>NSM (ours)</td>") == 1
    other = private_file(start(), content(2)).switch_page("pages/account.py").run()
    assert any("Nothing has been claimed" in info.value for info in other.info)


def test_the_card_before_a_run_names_the_move_that_its_total_covers(start):
    """If two runs hide moves of different lengths, their total and its bet cover only the shorter moves."""
    app, domain = private_file(start(), content(4)), Domain.box(0, 100, 2, n_public=300)
    short, long = (ALGORITHMS["dist-dp-random-points"](n_clusters=2, rho_distance=rho) for rho in (0.02, 0.2))
    one = Account("", (Claim.of(short, domain),))
    ((dataset_id, key),) = app.session_state["fingerprints"].items()
    Accounts.open().reserve(key, *one.claims)
    app.session_state["waiting"] = (dataset_id, long)
    app.switch_page("pages/spend.py").run()
    totals = [account.total(Neighboring.MOVE_RHO) for account in (one, one.after(Claim.of(long, domain)))]
    now, then = (Guarantee(Notion.RHO, Neighboring.MOVE_RHO, t.epsilon, t.delta, mu=t.mu).odds for t in totals)
    assert f"here or 1 units away is right at most {now} times in 100 today, and **{then} times in 100**" in marked(app)
    assert f"Afterwards, for one row moved by at most rho = 1: **ε = {number(totals[1].epsilon)}," in marked(app)
    assert "This run claims **ε = 1**, " in marked(app) and "for one row moved by at most rho = 10." in marked(app)


@pytest.mark.slow
def test_the_account_s_form_never_proposes_a_delta_below_what_is_booked(start):
    """Up to 0.3 the default was n^-1.1: a claim of then keeps its delta, and a total below it might cover nothing."""
    app = private_file(start(), content(5)).switch_page("pages/account.py").run()
    assert proposed(app) == 3.33e-5  # 1/(100 n)
    ((_, key),) = app.session_state["fingerprints"].items()
    domain, old = Domain.box(0, 100, 2, n_public=300), 300**-1.1
    claims = [Claim.of(ALGORITHMS[slug](n_clusters=2, delta=old), domain) for slug in ("nsm", "pe-means")]
    for booked, claim in enumerate(claims, 1):
        Accounts.open().reserve(key, claim)
        assert booked * old <= proposed(app.run()) < 1.01 * booked * old
    assert f"δ = {chance(2 * old)}" in marked(app) and not app.exception


def proposed(app):
    """Return the delta in the form for the total, which may not lose its last digits to rounding."""
    return next(field.value for field in app.number_input if field.label == "at δ")


@pytest.mark.slow
def test_an_edited_account_file_is_refused_on_the_page(start):
    app = private_file(start(), content(3)).switch_page("pages/account.py").run()
    app.file_uploader[0].upload("dpviz-account.json", b'{"format": "dpviz-account", "version": 1}').run()
    assert not app.exception
    assert any("signature is not valid" in error.value for error in app.error)
    app.file_uploader[0].upload("dpviz-account.json", b"hello").run()
    assert any("not an account file of dpviz" in error.value for error in app.error)
