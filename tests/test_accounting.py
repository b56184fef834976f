"""Conversions against published constants and dp-accounting; the ledger's independent path."""

import math

import pytest
from dp_accounting import GaussianDpEvent
from dp_accounting.pld import PLDAccountant
from scipy.stats import norm

from dpviz.privacy import accounting
from dpviz.privacy.plan import Gaussian, Plan, Release, gaussians

PE_CONSTANTS = {  # algorithms table B0: theta(epsilon; delta = N^-1.1)
    150: (0.15572, 0.26700, 0.46217, 0.79912, 1.36543),
    1797: (0.10173, 0.18606, 0.34035, 0.61842, 1.10670),
    10000: (0.08405, 0.15712, 0.29320, 0.54311, 0.99101),
}


@pytest.mark.parametrize("n", PE_CONSTANTS)
def test_mu_matches_the_published_constants(n):
    for epsilon, mu in zip((0.25, 0.5, 1, 2, 4), PE_CONSTANTS[n], strict=True):
        assert accounting.mu_of_epsilon(epsilon, n**-1.1) == pytest.approx(mu, abs=6e-6)


@pytest.mark.parametrize(
    ("epsilon", "delta", "sigma"),
    [(1, 1e-6, 4.22468), (1, 5.0487e-6, 3.88202), (0.5, 1e-6, 8.05762), (2, 1e-6, 2.23048)],
)
def test_sigma_of_the_analytic_gaussian_mechanism(epsilon, delta, sigma):
    assert accounting.sigma(epsilon, delta) == pytest.approx(sigma, abs=1e-5)


@pytest.mark.parametrize("epsilon", [0.01, 0.25, 1.0, 8.0, 100.0])
@pytest.mark.parametrize("delta", [1e-10, 1e-5, 1e-2])
def test_round_trip_is_tight_and_on_the_safe_side(epsilon, delta):
    mu = accounting.mu_of_epsilon(epsilon, delta)
    assert accounting.delta_of_mu(mu, epsilon) <= delta
    assert accounting.epsilon_of_mu(mu, delta) == pytest.approx(epsilon, rel=1e-9)
    direct = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon + norm.logcdf(-mu / 2 - epsilon / mu))
    assert direct == pytest.approx(delta, rel=1e-6)


def test_gaussians_agree_with_an_independent_accountant():
    plan = Plan({"a": gaussians(0.5, [1, 2, 3])})
    accountant = PLDAccountant()
    for cost in plan.costs["a"]:
        accountant.compose(GaussianDpEvent(1 / cost.mu))
    ours = plan.total(1e-5).epsilon
    theirs = accountant.get_epsilon(1e-5)
    assert ours <= theirs * (1 + 1e-9)  # the discretized accountant rounds up
    assert ours == pytest.approx(theirs, rel=1e-3)


def entry(path=(0,), mu=0.5, label="a", occurrence=0):
    return Release(label, "", occurrence, "Gaussian", {"mu": mu}, path, 2, 3.0, "test", 3.0 / mu, "add-remove")


def test_spent_composes_on_a_path_and_takes_the_worst_path():
    left, right = entry((0, 1)), entry((0, 2), mu=0.7)
    both = accounting.spent([entry(), left, right], 1e-5)
    assert both.mu == pytest.approx(math.hypot(0.5, 0.7))
    assert accounting.spent([entry(), left], 1e-5).mu == pytest.approx(math.hypot(0.5, 0.5))
    assert accounting.spent([], 1e-5).epsilon == 0


def test_spent_reads_scale_and_sensitivity_not_the_claimed_cost():
    honest = entry()
    lying = Release(**{**honest.__dict__, "scale": honest.scale / 2})
    assert accounting.spent([lying], 1e-5).mu == pytest.approx(2 * 0.5)


def test_an_unknown_mechanism_is_refused_not_guessed():
    with pytest.raises(TypeError, match="no cost is known"):
        accounting.spent([Release(**{**entry().__dict__, "mechanism": "Magic"})], 1e-5)


def test_equal_shares_compose_to_the_whole():
    plan = Plan({"votes": gaussians(0.3, [1] * 16)})
    assert plan.total(1e-5).mu == pytest.approx(0.3)
    assert all(isinstance(cost, Gaussian) and cost.mu == pytest.approx(0.3 / 4) for cost in plan.costs["votes"])


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_bad_costs_are_refused(bad):
    with pytest.raises(ValueError, match="mu must be"):
        Gaussian(bad)
