"""Check a budget in three notions: a typed value survives conversion and back, which never reduces the noise."""

import math

import pytest

from dpviz.privacy.accounting import delta_of_mu
from dpviz.privacy.budget import budget, epsilon_of


@pytest.mark.parametrize("gaussian", [True, False])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.05, 1e-9), (1.0, 8.5e-5), (8.0, 1e-3)])
def test_a_budget_survives_the_round_trip_through_every_notion(epsilon, delta, gaussian):
    now = budget(epsilon, delta, gaussian=gaussian)
    assert delta_of_mu(now.mu, epsilon) == pytest.approx(delta, rel=1e-6)
    for notion in ("epsilon", "mu", "zcdp"):
        back = epsilon_of(notion, getattr(now, notion), delta, gaussian=gaussian)
        assert back == pytest.approx(epsilon, rel=1e-6)


def test_rho_is_half_the_square_of_mu_for_gaussians_and_otherwise_the_general_conversion():
    assert budget(1.0, 1e-5, gaussian=True).zcdp == pytest.approx(budget(1.0, 1e-5, gaussian=False).mu ** 2 / 2)
    rho, log = budget(1.0, 1e-5, gaussian=False).zcdp, math.log(1e5)
    assert rho + 2 * math.sqrt(rho * log) == pytest.approx(1.0)


@pytest.mark.parametrize("notion", ["mu", "zcdp"])
def test_a_budget_that_is_not_positive_is_one_sentence(notion):
    with pytest.raises(ValueError, match=f"budget: {notion} must be > 0"):
        epsilon_of(notion, 0.0, 1e-5, gaussian=True)
