"""Check the game: two worlds, independent noise, and an attack that beats the bound only if a promise is broken."""

import dataclasses

import numpy as np
import pytest
from scipy.stats import binom

from dpviz.algorithms import ALGORITHMS
from dpviz.audits import game
from dpviz.audits.game import Round, Tally, attack, luck, moved, people, play, present, rates, score
from dpviz.datasets import load_sample
from dpviz.domain import Domain
from dpviz.postprocessing.bound import Bound
from dpviz.postprocessing.verdict import Groups
from tests.tiers import tiers

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(-0.5, 0.05, (40, 2)), RNG.normal(0.5, 0.05, (20, 2))])
BOX = Domain.box(-1, 1, 2, scale="common", n_public=60)
CORNER = np.array([0.95, -0.95])


def made(slug, **values):
    return ALGORITHMS[slug](**{"n_clusters": 2, **values})


def test_a_person_is_typical_an_outlier_or_of_the_smallest_group():
    rows = np.array([[0.0, 0], [0.02, 0], [-0.01, 0], [0.5, 0.5], [0.52, 0.5], [-0.9, 0.9]])
    groups = Groups(np.array([[0.0, 0], [0.51, 0.5]]), np.full(2, 0.1), np.array([3, 2]))
    assert people(rows, BOX, groups) == {"typical": 0, "outlier": 5, "small": 3}
    holes = np.vstack([rows, [[np.nan, 0]]])
    assert people(holes, BOX, groups) == {"typical": 0, "outlier": 5, "small": 3}


def test_worlds_differ_in_one_row_and_declare_the_same_number():
    question = present(made("nsm"), X, BOX, 60, X[7], 7)
    assert len(question.inside) == 60 and len(question.outside) == 59 and question.elsewhere is None
    assert np.array_equal(question.inside[-1], X[7]) and np.array_equal(question.inside[:-1], question.outside)
    assert question.domain.n_public == 60
    pinned = present(made("nsm"), X, dataclasses.replace(BOX, n_public=None), 60, CORNER)
    assert len(pinned.inside) == 61 and pinned.domain.n_public == 60


def test_a_kept_n_puts_another_row_in_the_place_of_the_person():
    for slug in ("dist-dp", "stemmer-kaplan-local"):
        question = present(made(slug), X, BOX, 60, X[7], 7)
        assert len(question.inside) == len(question.outside) == 60
        assert (question.inside != question.outside).any(axis=1).sum() == 1
        assert np.array_equal(question.elsewhere, BOX.middle)


def test_the_bound_is_the_promise_for_this_question():
    nsm, rho = made("nsm"), made("dist-dp", rho_distance=0.1)
    claim = nsm.guarantee(2, 60)
    assert present(nsm, X, BOX, 60, X[0], 0).bound.best_bet == pytest.approx(claim.best_bet)
    assert moved(nsm, X, BOX, 60, X[0], 0.1, 0).bound == Bound.of_promise(claim).steps(2)
    near, far = (moved(rho, X, BOX, 60, CORNER, distance) for distance in (0.1, 0.31))
    assert near.bound == Bound.of_plan(rho.plan(2, 60), rho.guarantee(2, 60))
    assert far.bound == near.bound.steps(4)  # 0.31 is more than three moves of 0.1
    assert np.linalg.norm(near.elsewhere - CORNER) == pytest.approx(0.1)
    town = load_sample("town")
    away = moved(rho, town.X, town.domain, town.n_public, town.X[3], 0.25, 3)
    here, there = town.domain.normalize(np.stack([town.X[3], away.elsewhere]))
    assert np.linalg.norm(here - there) == pytest.approx(0.25)
    assert np.linalg.norm(there) < max(np.linalg.norm(here), 0.25)


def test_steps_of_a_bound_are_group_privacy():
    assert Bound(mu=0.5).steps(3) == Bound(mu=1.5)
    ((epsilon, delta),) = Bound(lines=((1.0, 1e-3),)).steps(2).lines
    assert epsilon == 2 and delta == pytest.approx(1e-3 * (1 + np.e))
    assert Bound(lines=((1.0, 0.5),)).steps(2).lines == ()  # delta reaches 1


def test_no_noise_of_a_world_is_used_in_the_other_and_rounds_do_not_depend_on_batches(monkeypatch):
    seeds = []
    algorithm = made("sulloyd")
    run = type(algorithm).run

    def watched(self, *args, seed):
        seeds.append(seed)
        return run(self, *args, seed=seed)

    monkeypatch.setattr(type(algorithm), "run", watched)
    question = present(algorithm, X, BOX, 60, CORNER)
    whole = play(question, algorithm, 0, 12, 5)
    parts = play(question, algorithm, 0, 5, 5) + play(question, algorithm, 5, 7, 5)
    assert [(r.inside, r.speaks) for r in whole] == [(r.inside, r.speaks) for r in parts]
    assert seeds[:12] == seeds[12:] and len(set(seeds)) == 12
    assert {one.inside for one in whole} == {True, False}
    assert [seed % 2 == 1 for seed in seeds[:12]] == [one.inside for one in whole]
    seeds.clear()
    play(question, algorithm, 0, 12, 5, True)
    play(question, algorithm, 0, 12, 5, False)
    assert len(set(seeds)) == 24 and not set(seeds) & {2 * (5 + n) + coin for n in range(2000) for coin in (0, 1)}


QUICK = {"sulloyd": "corner", "dpm": "typical"}
FEWER = {"choose-k": {"k_max": 3, "tries": 4}}  # candidates, each of which takes as long as another method's run
PRIVATE = [slug for slug in ALGORITHMS if slug != "kmeans"]
EVERY = tiers(PRIVATE, QUICK)


@pytest.mark.parametrize("slug", EVERY)
def test_the_attack_never_beats_the_bound(slug):
    algorithm = made(slug, epsilon=2.0, **FEWER.get(slug, {}))
    person, row = (X[0], 0) if QUICK.get(slug) == "typical" else (CORNER, None)
    question = present(algorithm, X, BOX, 60, person, row)
    rounds = play(question, algorithm, 0, 50 if slug in QUICK else 80, 11)
    low, _ = score(rounds, attack(rounds)).interval(0.999)
    assert low <= question.bound.best_bet
    (alarm, miss) = rates(rounds, attack(rounds))
    most_alarm, most_miss = (one.interval(0.999)[1] for one in (alarm, miss))
    assert most_miss >= question.bound.miss(np.array(most_alarm))  # the intervals reach the curve


def test_an_algorithm_that_lies_about_its_noise_beats_its_bound():
    honest, claimed = made("sulloyd", epsilon=8.0), made("sulloyd", epsilon=0.1)
    question = dataclasses.replace(
        present(honest, X, BOX, 60, CORNER), bound=present(claimed, X, BOX, 60, CORNER).bound
    )
    rounds = play(question, honest, 0, 60, 11)
    low, _ = score(rounds, attack(rounds)).interval(0.999)
    assert low > question.bound.best_bet


@pytest.mark.slow
def test_an_outlier_is_always_found_in_kmeans():
    kmeans = made("kmeans")
    question = present(kmeans, X, BOX, 60, CORNER)
    rounds = play(question, kmeans, 0, 30, 3)
    assert score(rounds, attack(rounds)).hits >= 29 and question.bound.best_bet == 1


def test_the_machine_tosses_a_coin_without_evidence():
    rounds = [Round(bool(i % 2), X, 0.0) for i in range(200)]
    assert 60 < sum(attack(rounds)) < 140
    loud = [Round(True, X, 0.1), Round(False, X, -np.inf)]
    assert attack(loud) == [True, False]


def test_rounds_added_during_an_attack_do_not_disturb_it():
    class Growing(list):
        def __len__(self):
            before = super().__len__()
            self.append(Round(True, X, 1.0))
            return before

    assert attack(Growing([Round(True, X, 0.1), Round(False, X, -np.inf)]))[:2] == [True, False]


def test_scores_have_an_interval_from_the_first_round():
    assert Tally(0, 0).share == 0.5 and Tally(0, 0).interval() == (0.0, 1.0)
    assert Tally(1, 1).interval() == pytest.approx((0.025, 1.0))
    assert Tally(57, 100).interval() == pytest.approx((0.4671, 0.6686), abs=1e-4)
    low, high = luck(12)
    assert (low, high) == (3 / 12, 9 / 12)
    assert binom.cdf(12 * high, 12, 0.5) - binom.cdf(12 * low - 1, 12, 0.5) >= 0.95
    assert luck(0) == (0.0, 1.0)


def test_rates_count_false_alarms_and_misses():
    rounds = [Round(inside, X, 0.0) for inside in (True, True, False, False, False)]
    assert rates(rounds, [True, False, True, False]) == (Tally(1, 2), Tally(1, 2))
    assert score(rounds, [True, False, True, False]) == Tally(2, 4)


def test_a_sample_plays():
    data = load_sample("iris")
    algorithm = ALGORITHMS["fastlloyd"](n_clusters=3)
    question = present(algorithm, data.X, data.domain, data.n_public, data.X[3], 3)
    told = []
    rounds = game.play(question, algorithm, 0, 3, 1, on_round=told.append)
    assert told == [1, 2, 3] and all(one.centers.shape == (3, 4) for one in rounds)
