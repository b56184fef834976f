"""Check the words and numbers of a promise."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.stats import binom

from dpviz.privacy.accounting import epsilon_of_zcdp, mu_of_epsilon
from dpviz.privacy.costs import Gaussian, Laplace
from dpviz.privacy.guarantee import Guarantee, Neighboring, Notion
from dpviz.privacy.plan import Plan


def promise(**values):
    fields = {"epsilon": 1.0, "delta": 1e-5, "mu": mu_of_epsilon(1.0, 1e-5), **values}
    return Guarantee(Notion.CENTRAL, Neighboring.ADD_REMOVE, **fields)


@pytest.mark.parametrize(
    ("epsilon", "mu", "guess"),
    [(0.5, 0.142, 0.528), (1, 0.268, 0.553), (2, 0.502, 0.599), (5, 1.121, 0.712), (10, 2.0, 0.841)],
)
def test_numbers_printed_beside_the_slider(epsilon, mu, guess):
    found = promise(epsilon=epsilon, mu=mu_of_epsilon(epsilon, 1e-5))
    assert found.mu == pytest.approx(mu, abs=6e-4)
    assert found.best_bet == pytest.approx(guess, abs=6e-4)


def test_odds_are_rounded_up():
    assert promise(mu=0.31).odds == 57  # Phi(.155) = .5616
    assert Guarantee.none().odds == 100


def test_without_mu_the_epsilon_delta_bound_is_used():
    found = promise(mu=None)
    assert found.best_bet == pytest.approx((math.e + 1e-5) / (1 + math.e))


@pytest.mark.parametrize(("number", "epsilon"), [(1, 0.5), (4, 0.25), (25, 0.04), (16, 0.1)])
def test_a_bet_on_many_small_pure_releases_is_bounded_by_zcdp_and_never_below_the_best_attack(number, epsilon):
    """The worst releases flip a coin each; an attacker who counts heads wins 1/2 plus half the total variation."""
    plan = Plan({"coin": [Laplace(epsilon)] * number})
    total = plan.total(0.0)
    found = promise(epsilon=total.epsilon, delta=0.0, mu=None, pure_epsilon=total.pure_epsilon, zcdp=total.zcdp)
    heads, likely = np.arange(number + 1), 1 / (1 + math.exp(-epsilon))
    present, absent = binom.pmf(heads, number, likely), binom.pmf(heads, number, 1 - likely)
    attack = (1 + np.abs(present - absent).sum() / 2) / 2
    assert attack <= found.best_bet <= 1 / (1 + math.exp(-number * epsilon)) + 1e-12
    if number > 1:  # close to the attack, where the sum of the epsilons is far
        assert found.best_bet - attack < 0.4 * (1 / (1 + math.exp(-number * epsilon)) - attack)


def test_a_cheap_count_beside_a_gaussian_run_hardly_moves_the_bet():
    run, count = Gaussian(mu_of_epsilon(1.0, 1e-5)), Laplace(0.05)
    total = Plan({"run": [run], "count": [count]}).total(1e-5)
    found = promise(epsilon=total.epsilon, mu=total.mu, pure_epsilon=total.pure_epsilon, zcdp=total.zcdp)
    alone = promise(zcdp=run.zcdp)
    assert (alone.odds, found.odds, dataclasses.replace(found, zcdp=None).odds) == (56, 57, 75)


def test_zcdp_grows_with_the_square_of_the_rows():
    one = promise(mu=0.4, zcdp=0.08)
    assert one.under(Neighboring.REPLACE).zcdp == pytest.approx(4 * 0.08)
    assert dataclasses.replace(one, rows_per_person=3).person.zcdp == pytest.approx(9 * 0.08)
    assert promise(zcdp=None).under(Neighboring.REPLACE).zcdp is None


def test_replacement_doubles_epsilon_and_mu():
    found = promise().under(Neighboring.REPLACE)
    assert (found.epsilon, found.mu) == pytest.approx((2.0, 2 * promise().mu))
    assert found.delta == pytest.approx((1 + math.e) * 1e-5)
    with pytest.raises(ValueError, match="cannot convert"):
        found.under(Neighboring.MOVE_RHO)


def hockey_stick(p, q, epsilon):
    """Return the smallest delta at `epsilon` for two distributions given by their masses on the same points."""
    return max(float(np.maximum(one - math.exp(epsilon) * other, 0).sum()) for one, other in ((p, q), (q, p)))


def normal(shift):
    """Return the masses of N(shift, 1) in narrow bins, from its density, so that no mass in the tails is lost."""
    return 0.005 * np.exp(-((np.arange(-16, 16, 0.005) - shift) ** 2) / 2) / math.sqrt(2 * math.pi)


def laplace(shift, epsilon):
    """Return the masses of the discrete Laplace distribution around a count."""
    return np.exp(-epsilon * np.abs(np.arange(-300, 301) - shift)) * math.tanh(epsilon / 2)


@pytest.mark.parametrize("rows", [1, 2, 3, 10])
@pytest.mark.parametrize("delta", [1e-5, 2e-6, 3.4e-4])
def test_several_rows_under_gaussian_noise_cost_the_least_epsilon_at_the_same_delta(rows, delta):
    """A sum that every row moves by mu under N(0, 1), the worst case, needs this epsilon and no larger one."""
    mu = mu_of_epsilon(1.0, delta)
    whole = promise(mu=mu, delta=delta, zcdp=mu * mu / 2, rows_per_person=rows).person
    assert whole.mu == pytest.approx(rows * mu) and whole.delta == delta and whole.rows_per_person == 1
    near, far = normal(0), normal(rows * mu)
    assert hockey_stick(near, far, whole.epsilon) <= delta * 1.001 < hockey_stick(near, far, 0.98 * whole.epsilon)


def test_the_price_of_rows_that_the_limits_name():
    found = [promise(delta=2e-6, mu=mu_of_epsilon(1.0, 2e-6), rows_per_person=r).person.epsilon for r in (2, 10)]
    assert found == pytest.approx([2.131, 13.744], abs=5e-4)


@pytest.mark.parametrize("rows", [2, 5])
def test_several_rows_under_pure_noise_cost_exactly_as_many_epsilons(rows):
    whole = promise(delta=0.0, mu=None, pure_epsilon=1.0, zcdp=0.5, rows_per_person=rows).person
    assert (whole.epsilon, whole.delta, whole.pure_epsilon) == (rows, 0.0, rows)
    near, far = laplace(0, 1.0), laplace(rows, 1.0)
    assert hockey_stick(near, far, whole.epsilon) < 1e-12 < hockey_stick(near, far, 0.98 * whole.epsilon)


@pytest.mark.parametrize("rows", [2, 3, 10, 40])
def test_several_rows_under_mixed_noise_are_covered_at_the_stated_delta(rows):
    """A count with pure noise and a sum with Gaussian noise: the product of both is the worst pair."""
    plan = Plan({"count": (Laplace(0.5),), "sum": (Gaussian(0.12),)})
    total = plan.total(1e-5)
    one = promise(**{name: getattr(total, name) for name in ("epsilon", "delta", "mu", "pure_epsilon", "zcdp")})
    whole = dataclasses.replace(one, rows_per_person=rows).person
    near, far = (np.outer(laplace(i, 0.5), normal(0.12 * i)).ravel() for i in (0, rows))
    assert one.mu is None and one.pure_epsilon is None and whole.delta < 1
    assert rows > 2 or (whole.epsilon == 2 * one.epsilon and whole.delta > 2 * one.delta), "epsilon stays the smaller"
    assert hockey_stick(near, far, whole.epsilon) <= whole.delta * 1.001


def test_a_mixed_promise_that_its_rows_would_void_is_stated_at_the_old_delta():
    mixed = promise(mu=None, zcdp=0.1, rows_per_person=20)
    assert mixed.person.delta == 1e-5 and mixed.person.epsilon == pytest.approx(epsilon_of_zcdp(40.0, 1e-5))
    assert dataclasses.replace(mixed, zcdp=None).person.delta == 1.0


def test_pure_releases_that_compose_to_less_than_their_sum_keep_the_smaller_statement():
    """400 pure releases of .05: epsilon at delta from zCDP is below their sum of 20, for one row and for two."""
    total = Plan({"votes": (Laplace(0.05),) * 400}).total(1e-6)
    one = promise(**{name: getattr(total, name) for name in ("epsilon", "delta", "mu", "pure_epsilon", "zcdp")})
    two = one.of_rows(2)
    assert two.epsilon == pytest.approx(epsilon_of_zcdp(4 * total.zcdp, 1e-6)) and two.delta == 1e-6
    assert one.epsilon < two.epsilon < 2 * 20.0


def test_a_person_with_one_row_has_the_promise_itself():
    assert promise().person == promise() and Guarantee.none().of_rows(3) == Guarantee.none()


def test_round_trip_and_words():
    found = promise(public=("n = 10 declared",))
    assert Guarantee.from_dict(found.to_dict()) == found
    assert "one row added or removed" in str(found) and "delta = 1e-05" in str(found)
    assert str(Guarantee.none()) == "no privacy"
