"""Check the price of a private choice against exact distributions and against the theorem, computed in another way."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import poisson

from dpviz.domain import Domain
from dpviz.privacy import noise as noise_
from dpviz.privacy.accounting import delta_of_mu, mu_of_epsilon
from dpviz.privacy.answers import Chosen
from dpviz.privacy.choice import chances, choice_epsilon, choice_mu, most_candidates
from dpviz.privacy.costs import BestOf, Gaussian
from dpviz.privacy.curator import Curator
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.noise import Secure, Seeded
from dpviz.privacy.plan import Plan
from dpviz.privacy.queries import Candidates
from dpviz.privacy.race import race
from dpviz.privacy.rows import Rows

AR = Neighboring.ADD_REMOVE
HERE, THERE = np.array([[-0.5, -0.5]]), np.array([[0.5, 0.5], [-0.5, 0.5]])
QUERY = Candidates((HERE, THERE), 2, np.ones(2), math.sqrt(2), 0.5, (0.5, 0.3, 0.2))


def cost(epsilon=1.0, delta=1e-6, tries=12):
    return BestOf(epsilon, delta, tries, most_candidates(epsilon, delta, tries))


def curator(X, *, price=None, noise=None, hidden=None, neighboring=AR):
    rows = Rows(X, Domain.box(-1, 1, 2, n_public=max(len(X), 1)))
    plan = Plan({"choice": (price or cost(),)})
    source = noise or Seeded(np.random.default_rng(0))
    return Curator(rows, plan, source, neighboring=neighboring, n_public=max(len(X), 1), hidden=hidden)


# The price


def laws(mu, tries, most):
    """Return the densities of the smallest of K draws of N(0, 1) and of N(mu, 1), and those of no draw at all."""
    x = np.linspace(-14, 14, 400_001)
    weights = np.array([float(Fraction(w, sum(chances(tries, most)))) for w in chances(tries, most)])
    both = []
    for middle in (0.0, mu):
        above = 1 - ndtr(x - middle)
        slope = np.polynomial.polynomial.polyval(above, np.polynomial.polynomial.polyder(weights))
        both.append(slope * np.exp(-((x - middle) ** 2) / 2) / math.sqrt(2 * math.pi) * (x[1] - x[0]))
    return both


def true_delta(mu, epsilon, tries, most):
    """Return the delta, computed from the exact law, of a choice whose score is the candidate's only release."""
    first, second = laws(mu, tries, most)
    assert first.sum() == pytest.approx(1 - float(Fraction(chances(tries, most)[0], sum(chances(tries, most)))))
    grow = math.exp(epsilon)
    return max(np.maximum(first - grow * second, 0).sum(), np.maximum(second - grow * first, 0).sum())


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-3), (1.0, 1e-6), (4.0, 1e-3), (4.0, 1e-6)])
@pytest.mark.parametrize("tries", [1, 4, 12])
def test_the_exact_delta_of_a_choice_is_at_most_the_one_it_is_priced_at(epsilon, delta, tries):
    price = cost(epsilon, delta, tries)
    mu = 1 / price.scale(1.0)
    assert true_delta(mu, epsilon, tries, price.most) <= delta


def test_a_choice_that_prices_a_candidate_alone_breaks_its_promise():
    price = cost(1.0, 1e-6, 12)
    alone = mu_of_epsilon(1.0, 1e-6)
    assert delta_of_mu(alone, 1.0) <= 1e-6
    assert true_delta(alone, 1.0, 12, price.most) > 10 * 1e-6
    assert choice_epsilon(alone, 1e-6, 12, price.most) > 1.5


def theorem(mu, delta, tries, alpha):
    """Return what one alpha proves: Theorem 6 and Proposition 12, as they are printed."""
    e = math.log(1 + 1 / (alpha - 1))
    renyi = alpha * mu**2 / 2 + tries * delta_of_mu(mu, e) + math.log(tries) / (alpha - 1)
    return renyi + math.log((alpha - 1) / alpha) - (math.log(delta) + math.log(alpha)) / (alpha - 1)


@pytest.mark.parametrize(("mu", "delta", "tries"), [(0.12, 2e-6, 12), (0.5, 1e-5, 4), (1.5, 1e-3, 30), (0.02, 1e-9, 1)])
def test_the_price_is_that_of_the_theorem(mu, delta, tries):
    found = choice_epsilon(mu, delta, tries, 400)
    printed = min(theorem(mu, 0.99 * delta, tries, 1 + a) for a in np.geomspace(0.02, 5e5, 4000))
    assert printed * (1 - 1e-3) <= found <= printed * 1.02


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.2])
def test_a_scale_costs_what_was_asked_for_and_not_more(epsilon, delta):
    price = cost(epsilon, delta)
    spent = choice_epsilon(1 / price.scale(1.0), delta, price.tries, price.most)
    assert epsilon * (1 - 1e-11) <= spent <= epsilon


def test_more_candidates_leave_less_to_each():
    mus = [choice_mu(1.0, 1e-6, tries) for tries in (1, 4, 12, 40)]
    assert mus == sorted(mus, reverse=True) and mus[2] == pytest.approx(0.117, abs=1e-3)


def test_a_choice_that_ends_too_early_costs_everything():
    most = most_candidates(1.0, 1e-6, 12)
    assert choice_epsilon(0.1, 1e-6, 12, most - 1) == math.inf
    with pytest.raises(ValueError, match=f"BestOf: most must be >= {most}; got {most - 1}"):
        BestOf(1.0, 1e-6, 12, most - 1)
    assert (1 + math.e) * poisson.sf(most, 12) <= 1e-8 < (1 + math.e) * poisson.sf(most - 2, 12)


# The number of candidates


def test_the_chances_are_those_of_a_poisson_number_that_ends():
    weights = chances(3, 20)
    whole = sum(weights)
    exact = [Fraction(3**j, math.factorial(j)) for j in range(21)]
    assert [Fraction(w, whole) for w in weights] == [p / sum(exact) for p in exact]
    assert all(type(w) is int for w in weights)


def test_a_secure_draw_takes_each_index_for_as_many_whole_numbers_as_its_weight(monkeypatch):
    weights = (3, 0, 1, 2)
    numbers = iter(range(6))
    monkeypatch.setattr(noise_.secrets, "randbelow", lambda below: next(numbers) if below == 6 else None)
    assert [Secure().weighted(weights) for _ in range(6)] == [0, 0, 0, 2, 3, 3]


@pytest.mark.parametrize("source", [Secure(), Seeded(np.random.default_rng(0))], ids=["secure", "seeded"])
def test_numbers_of_candidates_occur_as_often_as_they_should(source):
    drawn = Counter(source.weighted(chances(4, 25)) for _ in range(4000))
    assert max(abs(drawn[j] / 4000 - poisson.pmf(j, 4)) for j in range(12)) < 0.03


# One candidate


def joint(first, second, starts):
    """Return the change of all that a candidate releases between two data sets, in units, for the same noisy values."""
    units, found = QUERY.units(), []
    for start in starts:
        centers, changes = start, []
        a, b = (Rows(X, Domain.box(-1, 1, 2)).open()._blocks[0] for X in (first, second))
        for _ in range(QUERY.rounds):
            asked = QUERY.update(centers)
            mine, other = asked.statistic(a), asked.statistic(b)
            changes += [(mine[part] - other[part]).ravel() / units[part] for part in ("sums", "counts")]
            centers = QUERY.moved(centers, mine["sums"], mine["counts"])
        asked = QUERY.loss(centers)
        changes.append((asked.statistic(a)[""] - asked.statistic(b)[""]) / units["cost"])
        found.append(float(np.linalg.norm(np.concatenate(changes))))
    return found


def test_no_row_changes_a_candidate_by_more_than_its_sensitivity_and_one_comes_close():
    assert QUERY.sensitivity(AR) == pytest.approx(1.0)
    rng = np.random.default_rng(0)
    largest = 0.0
    for _ in range(200):
        X = rng.uniform(-1, 1, (int(rng.integers(0, 8)), 2))
        row = np.sign(rng.normal(size=(1, 2))) if rng.random() < 0.5 else rng.uniform(-1, 1, (1, 2))
        largest = max(largest, *joint(np.vstack([X, row]), X, QUERY.starts))
    assert largest <= 1 + 1e-9
    corner, others = np.ones((1, 2)), np.full((40, 2), -0.9)
    assert 0.95 < max(joint(np.vstack([others, corner]), others, [HERE])) <= 1 + 1e-9


def test_shares_above_the_whole_and_starts_off_the_grid_are_refused():
    with pytest.raises(ValueError, match="shares must be > 0 and add up to at most 1"):
        Candidates((HERE,), 2, np.ones(2), 1.0, 0.5, (0.5, 0.4, 0.2))
    with pytest.raises(ValueError, match="starts must lie on the 2\\^-24 grid"):
        Candidates((HERE + 1e-9,), 2, np.ones(2), 1.0, 0.5, (0.5, 0.3, 0.2))


def test_a_center_with_a_lost_count_stays():
    moved = QUERY.moved(THERE, np.array([[9.0, 9.0], [-0.5, 0.5]]), np.array([0.5, 2.0]))
    assert np.array_equal(moved, [[0.5, 0.5], [-0.25, 0.25]])


# The race


def run(X, tried, most=6, noise=None, watched=True):
    """Run a race with a given number of candidates; return what `race` returns and how many queries were asked."""
    block, asked, drawn = Rows(X, Domain.box(-1, 1, 2)).open()._blocks[0], [], noise or (lambda part, true: true)
    turns = iter([0, *[1, 0, 1, 1, 0, 1] * 3])

    def truth(query):
        asked.append(query)
        return query.statistic(block)

    sd = QUERY.units()
    return (*race(QUERY, tried, most, truth, drawn, lambda below: next(turns), sd, watched=watched), len(asked))


GROUPS = np.repeat([[0.5, 0.5], [-0.5, 0.5]], 50, axis=0)


def test_only_the_first_candidates_count_and_all_of_them_run():
    winner, others, asked = run(GROUPS, 2)
    assert winner.start == 1 and asked == 6 * (QUERY.rounds + 1)
    assert (others["tried"], others["winner"]) == (2, 0) and others["sizes"].tolist() == [2, 1]
    assert len(others["ends"]) == 3 and others["scores"][0] < others["scores"][1]
    costs = iter([9.0, *[5.0, 1.0, 7.0, 0.5, 2.0, 2.0]])  # of the candidate on no rows, then of the others
    noisy = run(GROUPS, 3, noise=lambda part, true: np.array([next(costs)]) if part == "cost" else true)
    assert noisy[0].cost == 1.0, "the score of one center is its cost; the fourth candidate does not count"


def test_without_a_candidate_the_result_does_not_depend_on_the_rows():
    results = [run(X, 0) for X in (GROUPS, GROUPS[:0], -GROUPS)]
    for winner, others, asked in results:
        assert winner.cost == 0.0 and np.array_equal(winner.centers[-1], HERE) and others["winner"] == -1
        assert asked == 6 * (QUERY.rounds + 1)


def test_nobody_keeps_the_others_unless_it_is_watched():
    assert run(GROUPS, 3, watched=False)[1] == {}


def test_the_score_grows_with_k_as_the_cost_of_rows_without_groups_falls():
    assert QUERY.score(4, 10.0) == 40.0 and QUERY.score(4, -1.0) == 0.0
    flat = Candidates((np.zeros((1, 4)),), 1, np.ones(4), 1.0, 1.0, (0.3, 0.3, 0.4))
    assert flat.score(4, 10.0) == 20.0


# The curator


def test_one_entry_is_booked_before_the_first_draw():
    class Stop(Seeded):
        def weighted(self, weights):
            raise RuntimeError

    asked = curator(GROUPS, noise=Stop(np.random.default_rng(0)))
    with pytest.raises(RuntimeError):
        asked.choose("choice", QUERY)
    (entry,) = asked.ledger
    assert (entry.mechanism, entry.sensitivity, entry.shape) == ("BestOf", pytest.approx(1.0), ())
    assert entry.scale == pytest.approx(1 / choice_mu(1.0, 1e-6, 12))


@pytest.mark.slow
def test_noise_has_the_declared_width_in_every_release():
    price = cost(4.0)
    found = {"sums": [], "counts": [], "cost": []}
    for seed in range(200):
        won = curator(GROUPS, price=price, noise=Seeded(np.random.default_rng(seed))).choose("choice", QUERY)
        asked = QUERY.update(won.centers[0]).statistic(Rows(GROUPS, Domain.box(-1, 1, 2)).open()._blocks[0])
        found["sums"].append(((won.sums[0] - asked["sums"]) / won.sd["sums"]).ravel())
        found["counts"].append((won.counts[0] - asked["counts"]) / won.sd["counts"])
    for part in ("sums", "counts"):
        values = np.concatenate(found[part])
        assert values.std() == pytest.approx(1.0, abs=0.15)
        assert won.sd[part] == pytest.approx(QUERY.units()[part] * price.scale(1.0))


def test_demo_remembers_the_others_and_a_private_run_does_not():
    hidden = []
    curator(GROUPS, hidden=hidden).choose("choice", QUERY)
    assert len(hidden[0].statistic["scores"]) == hidden[0].statistic["tried"][0] > 0
    secret = curator(GROUPS, noise=Secure()).choose("choice", QUERY)
    assert isinstance(secret, Chosen) and set(secret._fields) == {"start", "centers", "sums", "counts", "cost", "sd"}


def test_a_choice_is_refused_under_another_relation_and_at_another_price():
    with pytest.raises(PermissionError, match="a choice is refused under replace"):
        curator(GROUPS, neighboring=Neighboring.REPLACE).choose("choice", QUERY)
    with pytest.raises(PermissionError, match="cannot be paid with Gaussian"):
        curator(GROUPS, price=Gaussian(1.0)).choose("choice", QUERY)


def test_a_release_too_narrow_for_the_grid_is_refused_before_the_draw():
    tiny = Candidates((HERE,), 2, np.ones(2), math.sqrt(2), 1e-3, (0.5, 0.3, 0.2))
    asked = curator(GROUPS)
    with pytest.raises(ValueError, match="'choice.cost' has sensitivity 1e-06.*below 32 steps"):
        asked.choose("choice", tiny)
    assert not asked.ledger
