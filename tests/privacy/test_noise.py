"""Check noise against its distribution, and that wrong noise fails; the curator, not the algorithm, sets the scale."""

import os

import numpy as np
import pytest
from scipy import stats

from dpviz.domain import Domain
from dpviz.geometry import GRID, Population
from dpviz.privacy.costs import Gaussian
from dpviz.privacy.curator import Curator
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.noise import COIN, Secure, Seeded
from dpviz.privacy.plan import Plan
from dpviz.privacy.queries import Count, NearestVotes
from dpviz.privacy.rows import Rows

FALSE = 1e-12  # smallest p-value that passes, so a correct draw fails with this chance; wrong draws stay far below
SOURCES = {"seeded": lambda: Seeded(np.random.default_rng(0)), "secure": Secure}


@pytest.mark.parametrize("source", SOURCES)
def test_gaussian_draws_have_the_scale_asked_for(source):
    draws = SOURCES[source]().gaussian(2.5, (20_000,))
    assert draws.shape == (20_000,)
    assert stats.kstest(draws / 2.5, "norm").pvalue > FALSE
    assert stats.kstest(draws / 3.125, "norm").pvalue < FALSE, "a scale 25% off must be caught"
    np.testing.assert_array_equal(draws / GRID, np.rint(draws / GRID))


@pytest.mark.parametrize("chance", [0.0, 0.12, 1 / 3, 0.5, 0.88, 1 - 1 / COIN, 1.0])
def test_a_secure_coin_comes_up_for_exactly_its_share_of_the_words(chance, monkeypatch):
    """Frequencies would not reveal a bias of 0.1%, but the random words on both sides of the threshold do."""
    words = int(chance * COIN)
    drawn = [word for word in (0, words - 1, words, words + 1, COIN - 1) if 0 <= word < COIN]
    monkeypatch.setattr(os, "urandom", lambda size: b"".join((word << 24).to_bytes(8, "little") for word in drawn))
    came = Secure().coins(np.full(len(drawn), words / COIN))
    assert came.tolist() == [word < words for word in drawn]


@pytest.mark.parametrize("source", SOURCES)
def test_small_scales_are_not_lost_to_the_grid(source):
    draws = SOURCES[source]().gaussian(4 * GRID, (45_000,)) / GRID
    assert abs(draws.std() - 4) < 0.1  # 7.5 standard errors


@pytest.mark.parametrize("source", SOURCES)
def test_rounding_is_to_nearest_not_toward_zero(source):
    draws = SOURCES[source]().gaussian(0.7 * GRID, (45_000,)) / GRID  # the bound is 8 standard errors
    nearest, truncated = stats.norm.cdf(0.5 / 0.7) - stats.norm.cdf(-0.5 / 0.7), stats.norm.cdf(1 / 0.7) * 2 - 1
    discrete = 1 / np.exp(-(np.arange(-9, 10) ** 2) / (2 * 0.49)).sum()
    zero = np.mean(draws == 0)
    assert min(abs(zero - nearest), abs(zero - discrete)) < 0.02
    assert abs(zero - truncated) > 0.1


def curator(mu, neighboring=Neighboring.ADD_REMOVE, n=2000, labels=("count",)):
    domain = Domain.box(-1, 1, 2, n_public=10)
    rows = Rows(np.zeros((10, 2)), domain)
    plan = Plan({label: (Gaussian(mu),) * n for label in labels})
    return Curator(rows, plan, Seeded(np.random.default_rng(1)), neighboring=neighboring, n_public=10, hidden=[])


def test_release_scale_follows_cost_sensitivity_and_relation():
    votes = NearestVotes(Population(np.array([[-0.5, 0.0], [0.5, 0.0]])))
    for relation, sensitivity in [(Neighboring.ADD_REMOVE, 1.0), (Neighboring.REPLACE, 2**0.5)]:
        asked = curator(0.25, relation)
        released = asked.release("count", votes)
        assert released.sd == pytest.approx(sensitivity / 0.25)
        (entry,) = asked.ledger
        assert (entry.sensitivity, entry.scale, entry.norm) == pytest.approx((sensitivity, sensitivity / 0.25, 2))


@pytest.mark.slow
def test_released_noise_has_the_recorded_scale_and_entries_are_independent():
    asked = curator(0.5)
    votes = NearestVotes(Population(np.array([[-0.5, 0.0], [0.5, 0.0]])))
    noise = np.array([asked.release("count", votes).value for _ in range(2000)]) - [10.0, 0.0]
    assert stats.kstest(noise.ravel() / asked.ledger[0].scale, "norm").pvalue > FALSE
    assert abs(np.corrcoef(noise.T)[0, 1]) < 0.1
    assert abs(np.corrcoef(noise[:-1, 0], noise[1:, 0])[0, 1]) < 0.1


def test_a_release_with_sensitivity_zero_is_refused():
    asked = curator(0.5, Neighboring.REPLACE)
    with pytest.raises(ValueError, match="sensitivity > 0"):
        asked.release("count", Count())
    assert asked.ledger == ()


def test_the_plan_runs_out():
    asked = curator(0.5, n=1)
    asked.release("count", Count())
    with pytest.raises(PermissionError, match="number 2 is not in the plan, which allows 1"):
        asked.release("count", Count())
    assert len(asked.ledger) == 1


@pytest.mark.parametrize("source", SOURCES)
def test_laplace_draws_have_the_scale_asked_for(source):
    draws = SOURCES[source]().laplace(2.5, (20_000,))
    assert stats.kstest(draws / 2.5, "laplace").pvalue > FALSE
    assert stats.kstest(draws / 3.125, "laplace").pvalue < FALSE, "a scale 25% off must be caught"
    np.testing.assert_array_equal(draws / GRID, np.rint(draws / GRID))


@pytest.mark.slow
@pytest.mark.parametrize("source", SOURCES)
def test_gumbel_argmax_is_the_exponential_mechanism(source):
    utilities, scale, runs = np.array([0.0, 1.0, -np.inf, 2.0]), 1.5, 8000
    noise = SOURCES[source]()
    chosen = np.bincount([noise.gumbel_argmax(utilities, scale) for _ in range(runs)], minlength=4)
    assert chosen[2] == 0
    open_to_choice = [0, 1, 3]

    def p_value(temperature):
        weights = np.exp(utilities[open_to_choice] / temperature)
        return stats.chisquare(chosen[open_to_choice], runs * weights / weights.sum()).pvalue

    assert p_value(scale) > FALSE
    assert p_value(2 * scale) < FALSE, "half the budget must be caught"
