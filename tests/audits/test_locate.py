"""Check the attack of somebody who knows everybody else: its likelihood by brute force, and its error by ε."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.stats import laplace

from dpviz.algorithms import ALGORITHMS
from dpviz.atlas import noised
from dpviz.atlas.cells import opened
from dpviz.audits.locate import Belief, belief, blind, evidence, without
from dpviz.audits.reconstruct import Publication, published
from dpviz.datasets import load
from dpviz.domain import Domain

BOX = Domain.box(-1, 1, 2, n_public=100)


def rounds_of(Z, every, sums_sd=0.0, counts_sd=0.0, rng=None):
    """Publish sums and counts of the rows nearest to each center, with Laplace noise."""
    found = []
    for centers in every:
        labels = ((Z[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
        sums = np.stack([Z[labels == j].sum(axis=0) for j in range(len(centers))])
        counts = np.bincount(labels, minlength=len(centers)).astype(float)
        if rng is not None:
            sums = sums + rng.laplace(0, sums_sd / math.sqrt(2), sums.shape)
            counts = counts + rng.laplace(0, counts_sd / math.sqrt(2), counts.shape)
        found.append(Publication(np.asarray(centers), sums, counts, sums_sd, counts_sd))
    return found


EVERY = [np.array([[-0.5, 0.0], [0.5, 0.0], [0.0, 0.8]]), np.array([[-0.2, -0.4], [0.4, 0.3], [0.1, 0.9]])]


def test_evidence_is_the_likelihood_ratio_of_all_published_numbers():
    rng = np.random.default_rng(3)
    Z, place = rng.uniform(-1, 1, (30, 2)), np.array([0.3, 0.2])
    rounds = rounds_of(Z, EVERY, 0.7, 0.4, rng)

    def logs(rows):
        there = rounds_of(rows, EVERY)
        return sum(
            laplace.logpdf(one.sums - true.sums, scale=0.7 / math.sqrt(2)).sum()
            + laplace.logpdf(one.counts - true.counts, scale=0.4 / math.sqrt(2)).sum()
            for one, true in zip(rounds, there, strict=True)
        )

    others = Z[1:]
    wanted = logs(np.vstack([others, place])) - logs(others)
    assert evidence(without(rounds, others), place[None])[0] == pytest.approx(wanted, rel=1e-9)


def test_without_noise_the_row_remains_and_with_an_unknown_sum_another_round_gives_it():
    Z = np.random.default_rng(0).uniform(-1, 1, (40, 2))
    rounds = rounds_of(Z, EVERY)
    where = belief(without(rounds, Z[1:]), BOX)
    np.testing.assert_allclose(where.places, Z[:1], atol=1e-12)
    assert where.off(Z[0]) < 1e-12
    hidden = dataclasses.replace(rounds[0], sums=np.full((3, 2), np.nan))
    np.testing.assert_allclose(belief(without([hidden, rounds[1]], Z[1:]), BOX).places, Z[:1], atol=1e-12)
    with pytest.raises(ValueError, match="reveal no sum"):
        belief(without([hidden], Z[1:]), BOX)


def test_little_noise_is_zoomed_in_on_and_unknown_sums_count_for_nothing():
    rng = np.random.default_rng(1)
    Z = rng.uniform(-1, 1, (40, 2))
    rounds = rounds_of(Z, EVERY, 1e-4, 1e-4, rng)
    assert belief(without(rounds, Z[1:]), BOX).off(Z[0]) < 1e-3
    unknown = [dataclasses.replace(one, sums=np.full((3, 2), np.nan)) for one in rounds]
    assert np.isfinite(evidence(without(unknown, Z[1:]), Z[:5])).all()
    assert belief(without(unknown, Z[1:]), BOX).off(Z[0]) > 0.01  # counts alone tell the cluster only


def test_half_of_a_belief_lies_within_its_distance_and_draws_follow_its_weights():
    places, weights = np.array([[0.0, 0.0], [3.0, 0.0], [9.0, 0.0]]), np.array([0.3, 0.3, 0.4])
    where = Belief(places, weights)
    assert where.off(np.zeros(2)) == 3.0 and where.off(np.array([9.0, 0.0])) == 6.0
    drawn = where.drawn(4_000, np.random.default_rng(0))
    assert abs((drawn[:, 0] == 9).mean() - 0.4) < 0.03
    guess = blind(BOX)
    assert guess.weights.sum() == pytest.approx(1) and guess.off(np.zeros(2)) == pytest.approx(
        math.sqrt(2 / math.pi), abs=0.02
    )  # a disk with half of the box's area


def test_more_than_two_columns_are_refused():
    with pytest.raises(ValueError, match="at most 2 columns; these data have 4"):
        belief([Publication(np.zeros((1, 4)), np.zeros((1, 4)), np.ones(1))], load("iris").domain)


@pytest.mark.slow
def test_the_error_grows_with_the_noise_until_it_is_that_of_a_blind_guess():
    """12 rows of the town, one table of 25 rounds for 5 clusters each; the median error is what is compared."""
    data = opened("town", None).data
    Z, rows = data.domain.clip(data.domain.normalize(data.X)), np.random.default_rng(0).choice(5_000, 12)
    errors = []
    for epsilon in (100, 30, 10, 1):
        method = ALGORITHMS["dp-lloyd"](n_clusters=5, epsilon=epsilon, iterations=25, dead_cluster="keep")
        found = []
        for seed, row in enumerate(rows):
            rounds = published(method.run(data.X, domain=data.domain, seed=seed))
            where = belief(without(rounds, np.delete(Z, row, axis=0)), data.domain)
            found.append(where.off(Z[row]) / blind(data.domain).off(Z[row]))
        errors.append(float(np.median(found)))
    assert errors == sorted(errors), errors
    assert errors[0] < 0.25 and 0.9 < errors[-1] < 1.1, errors


@pytest.fixture(scope="module")
def stored():
    return noised.read()


def test_alex_is_found_at_a_huge_epsilon_and_not_at_one(stored):
    """Distances in km: the town is 24 km wide. Tolerances are half of what lies between neighboring strengths."""
    medians = [float(np.median(one.off)) for one in stored]
    assert [one.epsilon for one in stored] == [None, 1100, 300, 100, 30, 10, 3, 1]
    assert medians[0] < 0.002 and medians[1] < 0.3 and all(one.off.max() < 1.5 for one in stored[:2])
    assert all(more > 0.95 * less for less, more in zip(medians, medians[1:], strict=False)), medians
    data = opened("town", None).data
    unit = float(np.ptp(data.domain.denormalize(np.eye(2))[:, 0]))
    alex = data.domain.normalize(data.X[noised.averages.read()[0].alex][None])[0]
    blindly = unit * blind(data.domain).off(alex)
    assert np.abs(stored[-1].off / blindly - 1).max() < 0.1


def test_what_hides_alex_ruins_the_averages(stored):
    """Bets near a coin toss and averages that are worth something exclude each other in this publication."""
    odds, ratios = [one.odds for one in stored], [float(np.median(one.ratio)) for one in stored]
    found = [float(np.median(one.found)) for one in stored]
    assert odds[:2] == [100, pytest.approx(100, abs=0.01)] and odds[-1] < 55
    assert all(less >= more - 3 for less, more in zip(odds, odds[1:], strict=False)), odds
    assert found[1] == 5 and found[-1] == 0 and ratios[-1] > 4
    assert all(ratio > 1.5 for odd, ratio in zip(odds, ratios, strict=True) if odd < 60)


def test_bets_are_won_as_a_gaussian_test_wins_them():
    """Logarithms of ratios that are N(μ²/2, μ²) in runs with the person are those of a μ-Gaussian test."""
    logs = np.random.default_rng(0).normal(0.5, 1, 200_000)
    assert noised.won(logs.tolist()) == pytest.approx(69.15, abs=0.2)  # Phi(1/2)
    assert noised.won([math.inf] * 3) == 100 and noised.won([-1.0, 0.0]) == 50
