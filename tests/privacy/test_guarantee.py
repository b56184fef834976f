"""Check the words and numbers of a promise."""

import math

import pytest

from dpviz.privacy.accounting import mu_of_epsilon
from dpviz.privacy.guarantee import Guarantee, Neighboring, Notion


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
    assert found.best_guess == pytest.approx(guess, abs=6e-4)


def test_odds_are_rounded_up():
    assert promise(mu=0.31).odds == 57  # Phi(.155) = .5616
    assert Guarantee.none().odds == 100


def test_without_mu_the_epsilon_delta_bound_is_used():
    found = promise(mu=None)
    assert found.best_guess == pytest.approx((math.e + 1e-5) / (1 + math.e))


def test_replacement_doubles_epsilon_and_mu():
    found = promise().under(Neighboring.REPLACE)
    assert (found.epsilon, found.mu) == pytest.approx((2.0, 2 * promise().mu))
    assert found.delta == pytest.approx((1 + math.e) * 1e-5)
    with pytest.raises(ValueError, match="cannot convert"):
        found.under(Neighboring.MOVE_RHO)


def test_a_person_with_several_rows():
    assert promise(rows_per_person=3).person.epsilon == pytest.approx(3.0)
    assert promise(rows_per_person=3).person.mu == pytest.approx(3 * promise().mu)
    assert promise().person == promise()


def test_round_trip_and_words():
    found = promise(public=("n = 10 declared",))
    assert Guarantee.from_dict(found.to_dict()) == found
    assert "one row added or removed" in str(found) and "delta = 1e-05" in str(found)
    assert str(Guarantee.none()) == "no privacy"
