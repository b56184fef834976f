"""Check conversions against published constants and dp-accounting, and the totals of plans against their ledgers."""

import functools
import math

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.pld.common import DifferentialPrivacyParameters
from scipy.stats import norm

from dpviz.privacy import accounting
from dpviz.privacy import ledger as ledger_
from dpviz.privacy.costs import BestOf, Cover, Exact, Exponential, Gaussian, Laplace, Threshold
from dpviz.privacy.ledger import Release
from dpviz.privacy.noise import Seeded
from dpviz.privacy.plan import Plan, gaussians

PE_CONSTANTS = {  # table B0 of the specification: theta(epsilon; delta = N^-1.1)
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


def test_epsilon_of_mu_is_on_the_safe_side_and_infinite_at_delta_zero():
    for mu in [0.01 * 1.1**i for i in range(70)]:
        for delta in (1e-12, 1e-9, 1e-6, 1e-3):
            assert accounting.delta_of_mu(mu, accounting.epsilon_of_mu(mu, delta)) <= delta, (mu, delta)
    assert accounting.epsilon_of_mu(0.5, 0.0) == math.inf and accounting.epsilon_of_mu(0.0, 0.0) == 0.0


@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 3.0, 40.0])
def test_zcdp_of_epsilon_is_what_epsilon_of_zcdp_gives_back(epsilon):
    back = accounting.epsilon_of_zcdp(accounting.zcdp_of_epsilon(epsilon, 1e-6), 1e-6)
    assert epsilon * (1 - 1e-9) <= back <= epsilon


INTERVAL = 1e-4  # width of the intervals into which dp-accounting divides the privacy loss


def theirs(plan, delta, *, pessimistic=True):
    """Return dp-accounting's epsilon for a plan; a selection is treated as the worst pure mechanism."""
    options = {"value_discretization_interval": INTERVAL, "pessimistic_estimate": pessimistic}
    if not pessimistic:
        options["use_connect_dots"] = False

    def distribution(cost):
        if isinstance(cost, Gaussian):
            return pld.from_gaussian_mechanism(1 / cost.mu, **options)
        if isinstance(cost, Laplace):
            return pld.from_laplace_mechanism(1 / cost.epsilon, **options)
        return pld.from_privacy_parameters(DifferentialPrivacyParameters(cost.epsilon, 0), INTERVAL)

    every = [distribution(cost) for costs in plan.costs.values() for cost in costs]
    return functools.reduce(lambda a, b: a.compose(b), every).get_epsilon_for_delta(delta)


@pytest.mark.slow
@pytest.mark.parametrize(("mu", "delta"), [(0.05, 1e-7), (0.23, 1e-6), (0.5, 1e-5), (1.1, 1e-5)])
def test_gaussians_agree_with_an_independent_accountant(mu, delta):
    """For Gaussians, our epsilon is within 1e-6 of dp-accounting's upper estimate and not below its lower one."""
    plan = Plan({"a": gaussians(mu, [1, 2, 3])})
    ours = plan.total(delta).epsilon
    assert ours == pytest.approx(theirs(plan, delta), rel=1e-6)
    assert ours >= theirs(plan, delta, pessimistic=False)


MIXED = {
    "gaussian and laplace": {"a": gaussians(0.5, [1, 2]), "b": (Laplace(0.3),)},
    "many small laplace": {"a": gaussians(0.2, [1]), "b": (Laplace(0.02),) * 40},
    "gaussian and selections": {"a": gaussians(0.5, [1]), "pick": (Exponential(0.1),) * 5},
    "all three": {"a": gaussians(0.4, [1, 1]), "b": (Laplace(0.2),) * 2, "pick": (Exponential(0.3),) * 2},
    "laplace alone": {"b": (Laplace(0.3), Laplace(0.2))},
}


@pytest.mark.parametrize("delta", [1e-6, 1e-3])
@pytest.mark.parametrize("name", MIXED)
def test_mixed_plans_are_never_below_an_independent_accountant(name, delta):
    """Basic composition is looser than a privacy loss distribution, here by less than a factor of 2, and never tighter.

    Plans with selections are compared only by pure composition, because dp-accounting does not support bounded range.
    """
    plan = Plan(MIXED[name])
    ours = plan.total(delta)
    bounded_range = any(isinstance(cost, Exponential) for costs in plan.costs.values() for cost in costs)
    pure = math.fsum(cost.pure for costs in plan.costs.values() for cost in costs)
    mu = math.sqrt(math.fsum(cost.gdp**2 for costs in plan.costs.values() for cost in costs))
    assert pure + accounting.epsilon_of_mu(mu, delta) >= theirs(plan, delta) * (1 - 1e-6)
    if not bounded_range:
        assert theirs(plan, delta) * (1 - 1e-6) <= ours.epsilon <= 2 * theirs(plan, delta)


def test_pure_plans_keep_their_pure_epsilon_and_delta_zero():
    found = Plan({"b": (Laplace(0.3), Exponential(0.2))}).total(1e-9)
    assert found.epsilon == found.pure_epsilon == pytest.approx(0.5)
    assert (found.delta, found.mu) == (0.0, None)
    assert found.zcdp == pytest.approx(0.3**2 / 2 + 0.2**2 / 8)


def test_no_rho_is_stated_beside_releases_that_fail_with_a_delta_of_their_own():
    parts = {"pure": 0.0, "mu": 0.4, "zcdp": 0.08, "delta": 1e-5}
    assert accounting.total(own_delta=0.0, **parts).zcdp == 0.08
    beside = accounting.total(own_delta=1e-6, **parts)
    assert (beside.zcdp, beside.mu, beside.pure_epsilon) == (None, None, None) and beside.delta == 1e-5


def test_many_selections_are_totalled_by_bounded_range():
    plan = Plan({"pick": (Exponential(0.05),) * 400})
    found = plan.total(1e-6)
    rho = 400 * 0.05**2 / 8
    assert found.epsilon == pytest.approx(rho + 2 * math.sqrt(rho * math.log(1e6))) and found.epsilon < 20 / 4
    assert found.delta == 1e-6


@pytest.mark.parametrize(("epsilon", "rho"), [(1, 0.0166617), (0.5, 0.00423511), (2, 0.0645473)])
def test_zcdp_matches_the_published_constants(epsilon, rho):
    """rho + 2 sqrt(rho ln(1/delta)) = epsilon at delta = 5e-7."""
    assert accounting.epsilon_of_zcdp(rho, 5e-7) == pytest.approx(epsilon, rel=1e-5)


def test_gaussians_at_epsilon_1_need_a_quarter_less_noise_than_by_zcdp():
    by_zcdp = math.sqrt(2 * 0.0166617)
    assert accounting.mu_of_epsilon(1, 5e-7) / by_zcdp == pytest.approx(0.230 / 0.183, abs=0.01)


def test_thresholds_pay_their_own_delta_and_dust_is_tolerated():
    plan = Plan({"a": gaussians(0.2, [1]), "keys": (Threshold(0.2, 1e-7),) * 3})
    assert plan.total(1e-6).epsilon == pytest.approx(accounting.epsilon_of_mu(math.sqrt(0.16), 7e-7))
    assert plan.total(1e-6).mu is None, "a threshold is not a Gaussian mechanism"
    assert plan.total(2.9e-7).epsilon == math.inf
    thirds = Plan({"keys": (Threshold(0.2, 0.1),) * 3})
    assert thirds.total(0.3).delta == 0.3, "three tenths exceed .3 by rounding only"


def test_a_delta_of_its_own_is_claimed_and_never_overspent():
    """A cover is pure except for its delta, so neither mu nor zCDP shows that the delta is too small."""
    plan = Plan({"cover": (Cover(0.5, 1e-7),) * 2})
    found = plan.total(1e-6)
    assert (found.epsilon, found.delta, found.pure_epsilon, found.mu) == (1.0, 1e-6, None, None)
    short = plan.total(1.5e-7)
    assert (short.epsilon, short.delta, short.pure_epsilon) == (math.inf, 1.0, None)


def test_a_cover_s_scale_solves_its_equation():
    e = 1 / Cover(0.7, 1e-6).scale(1.0)
    assert math.expm1(e) * (1 + math.log(1e6)) == pytest.approx(0.7)


def test_the_declared_width_of_laplace_noise_is_the_true_one():
    cost = Laplace(0.5)
    drawn = cost.draw(Seeded(np.random.default_rng(0)), cost.scale(3.0), (20_000,))
    assert cost.sd(cost.scale(3.0)) == pytest.approx(math.sqrt(2) * 6.0) == pytest.approx(drawn.std(), rel=0.05)


def test_an_exact_release_that_a_row_changes_costs_everything():
    assert ledger_.spent([Release(**{**entry().__dict__, "mechanism": "Exact", "cost": {}})], 1e-5).epsilon == math.inf


def test_exact_releases_cost_nothing_and_keep_every_notion():
    found = Plan({"labels": (Exact(),), "a": gaussians(0.5, [1])}).total(1e-5)
    assert found == Plan({"a": gaussians(0.5, [1])}).total(1e-5)


def test_plan_and_ledger_agree_on_every_mechanism():
    """The plan's total equals that of the ledger, which is computed from sensitivity and scale only."""
    costs = [
        Gaussian(0.3), Laplace(0.2), Exponential(0.4), Threshold(0.1, 1e-7), Exact(), Cover(0.3, 1e-7),
        BestOf(0.3, 1e-7, 8, 60),
    ]  # fmt: skip
    ledger = []
    for i, cost in enumerate(costs):
        change = 0.0 if isinstance(cost, Exact) else 3.5
        ledger.append(
            Release(f"r{i}", "", 0, type(cost).__name__, cost.__dict__, (0,), cost.norm, change, "test",
                    cost.scale(change), "add-remove")
        )  # fmt: skip
    for some in (costs, costs[:1], costs[1:3], costs[:3], costs[4:5], costs[5:], costs[6:]):
        plan = Plan({f"r{costs.index(cost)}": (cost,) for cost in some})
        entries = [release for release in ledger if release.label in plan.costs]
        ours, found = plan.total(1e-5), ledger_.spent(entries, 1e-5)
        for notion in ("epsilon", "delta", "mu", "pure_epsilon", "zcdp"):
            expected = getattr(ours, notion)
            assert getattr(found, notion) == (None if expected is None else pytest.approx(expected, rel=1e-12)), notion


def entry(path=(0,), mu=0.5, label="a", occurrence=0):
    return Release(label, "", occurrence, "Gaussian", {"mu": mu}, path, 2, 3.0, "test", 3.0 / mu, "add-remove")


def test_spent_composes_on_a_path_and_takes_the_worst_path():
    left, right = entry((0, 1)), entry((0, 2), mu=0.7)
    both = ledger_.spent([entry(), left, right], 1e-5)
    assert both.mu == pytest.approx(math.hypot(0.5, 0.7))
    assert ledger_.spent([entry(), left], 1e-5).mu == pytest.approx(math.hypot(0.5, 0.5))
    assert ledger_.spent([], 1e-5).epsilon == 0


def test_spent_reads_scale_and_sensitivity_not_the_claimed_cost():
    honest = entry()
    lying = Release(**{**honest.__dict__, "scale": honest.scale / 2})
    assert ledger_.spent([lying], 1e-5).mu == pytest.approx(2 * 0.5)


def test_an_unknown_mechanism_is_refused_not_guessed():
    with pytest.raises(TypeError, match="no cost is known"):
        ledger_.spent([Release(**{**entry().__dict__, "mechanism": "Magic"})], 1e-5)


def test_equal_shares_compose_to_the_whole():
    plan = Plan({"votes": gaussians(0.3, [1] * 16)})
    assert plan.total(1e-5).mu == pytest.approx(0.3)
    assert all(isinstance(cost, Gaussian) and cost.mu == pytest.approx(0.3 / 4) for cost in plan.costs["votes"])


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_bad_costs_are_refused(bad):
    for cost, words in [(Gaussian, "mu"), (Laplace, "epsilon"), (Exponential, "epsilon")]:
        with pytest.raises(ValueError, match=f"^{cost.__name__}: {words} must be"):
            cost(bad)
    with pytest.raises(ValueError, match="mu must be"):
        Threshold(bad, 1e-6)
    with pytest.raises(ValueError, match="delta must be"):
        Threshold(0.5, bad)
