"""Check that every bet is about what the neighboring relation hides, and covers all rows of a person."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

import dpviz.lessons
from dpviz.algorithms import ALGORITHMS
from dpviz.domain import Domain
from dpviz.postprocessing.beside import facts as beside
from dpviz.postprocessing.bet import bet_of, briefly, odds_of_any, with_more
from dpviz.postprocessing.together import bet as account_bet
from dpviz.postprocessing.verdict import bet, private_verdict, reach
from dpviz.privacy.accounts import Account, Claim
from dpviz.privacy.guarantee import Neighboring
from dpviz.takeaway.label import facts
from pages._ui.teach.present.pictures import _bet

QUESTIONS = {
    ("eugkm", 1): "whether one person is in the data",
    ("eugkm", 5): "whether one person, with up to 5 rows, is in the data",
    ("stemmer-kaplan-local", 1): "which of two values one person's row has",
    ("stemmer-kaplan-local", 5): "which of two values each of one person's up to 5 rows has",
    ("dist-dp-random-points", 1): "whether one person is here or 20 m away",
    ("dist-dp-random-points", 5): "whether one person's up to 5 rows are here or 20 m away",
}


def run(slug, rows_per_person):
    X = np.random.default_rng(0).uniform(-1, 1, (600, 2))
    facts = {"units": ("km", "km"), "scale": "common", "n_public": 600, "rows_per_person": rows_per_person}
    values = {"rho_distance": 0.02} if slug.startswith("dist-dp") else {}
    return ALGORITHMS[slug](n_clusters=2, **values).run(X, domain=Domain.box(-1, 1, 2, **facts), seed=0)


@pytest.mark.parametrize(("slug", "rows"), QUESTIONS)
def test_verdict_label_comparison_and_projector_say_the_same_bet(slug, rows):
    trace = run(slug, rows)
    question, odds = QUESTIONS[slug, rows], trace.claimed.person.odds
    assert bet_of(trace.claimed, far=reach(trace)) == (question, odds)
    assert private_verdict(trace, ["a", "b"], ["km", "km"]).parts[-1] == bet(trace)
    assert bet(trace).endswith(f"an attacker wins at most {odds} of 100 bets on {question}")
    assert facts(trace)["In a bet"].startswith(f"on {question}: right at most {odds} times in 100")
    assert _bet(trace.claimed, reach(trace)) == (
        briefly(odds),
        f"on {question}, against this method. Against any method with this ε and δ: {odds_of_any(trace.claimed)}. A "
        "coin toss wins 50.",
    )
    lines = {row.name: row.values[0] for row in beside([trace])}
    assert (
        lines["Bets are on"] == question and lines["An attacker wins at most, by its promise"] == f"{odds} of 100 bets"
    )


@pytest.mark.parametrize(("slug", "rows"), QUESTIONS)
def test_before_a_private_run_the_bet_on_all_claims_is_the_same_question_about_the_same_person(slug, rows):
    trace = run(slug, rows)
    account = Account("key", (Claim.of(ALGORITHMS[slug](**trace.parameters), trace.domain),))
    made = account_bet(account, trace.claimed.neighboring, rows, reach(trace))
    assert made == (QUESTIONS[slug, rows], trace.claimed.person.odds)


def test_five_rows_of_one_person_are_five_times_the_promise_of_one():
    one, five = (bet_of(run("eugkm", rows).claimed).odds for rows in (1, 5))
    assert (one, five) == (74, 100)  # at epsilon 1 and at epsilon 5


def test_the_glossary_knows_every_question_and_a_name_may_stand_for_the_person():
    glossary = tomllib.loads((Path(dpviz.lessons.__file__).parent / "glossary.toml").read_text())
    promises = [run(slug, 1).claimed for slug, rows in QUESTIONS if rows == 1]
    assert {promise.neighboring for promise in promises} == set(Neighboring)
    assert all(bet_of(promise).on in glossary["Bet"] for promise in promises)
    assert bet_of(promises[0], who="Alex").on == "whether Alex is in the data"


def test_a_bet_that_differs_from_the_one_with_more_people_says_why():
    assert with_more(57, 57, 5000) == ""
    assert all(part in with_more(59, 57, 5000) for part in ("57", "5,000", "δ"))
