"""Check the shuffle model: the bound against exact mixtures, shuffling before asking, the promise, and the gain."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from dpviz.algorithms import ALGORITHMS
from dpviz.algorithms.stemmer_kaplan.shuffle import StemmerKaplanShuffle
from dpviz.domain import Domain
from dpviz.metrics import normalized_loss
from dpviz.privacy.accounting import report_of_shuffled, shuffled_epsilon
from dpviz.privacy.costs import Report, Shuffled
from dpviz.privacy.curator import Curator
from dpviz.privacy.guarantee import Neighboring, Notion
from dpviz.privacy.noise import Secure, Seeded
from dpviz.privacy.plan import Plan
from dpviz.privacy.queries import NearestOf
from dpviz.privacy.rows import Rows

LOCAL = ALGORITHMS["stemmer-kaplan-local"]


def delta_of_mixed_bits(report, users, epsilon):
    """Return the larger exact hockey-stick divergence between shuffled randomized bits of all zeros and of one 1."""
    flip = 1 / (1 + math.exp(report))
    ones = np.arange(users + 1)
    zeros = binom.pmf(ones, users, flip)
    rest = binom.pmf(ones, users - 1, flip)
    other = (1 - flip) * np.concatenate([[0.0], rest[:-1]]) + flip * rest
    return max(np.maximum(a - math.exp(epsilon) * b, 0).sum() for a, b in ((zeros, other), (other, zeros)))


@pytest.mark.parametrize(("report", "users", "delta"), [
    (0.5, 1000, 1e-5), (1.0, 1000, 1e-4), (2.0, 20_000, 1e-6), (4.0, 100_000, 1e-6), (0.2, 400, 1e-3),
])  # fmt: skip
def test_the_bound_holds_for_mixed_bits_which_can_be_computed_exactly(report, users, delta):
    mixed = shuffled_epsilon(report, users, delta)
    assert delta_of_mixed_bits(report, users, mixed) <= delta
    assert mixed < report
    assert delta_of_mixed_bits(report, users, mixed / 20) > delta  # the bound is not more than 20 times too large


def test_the_bound_is_the_published_formula_and_never_used_outside_its_condition():
    clones = 8 * math.sqrt(math.e * math.log(4e4) / 1000) + 8 * math.e / 1000
    wanted = math.log(1 + (math.e - 1) / (math.e + 1) * clones)
    assert shuffled_epsilon(1.0, 1000, 1e-4) == pytest.approx(wanted)
    limit = math.log(10_000 / (16 * math.log(2e4)))
    assert shuffled_epsilon(limit - 1e-9, 10_000, 1e-4) < limit / 2
    assert shuffled_epsilon(limit + 1e-9, 10_000, 1e-4) == limit + 1e-9
    assert shuffled_epsilon(0.5, 1, 1e-4) == 0.5


@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("users", [2, 300, 20_000, 10**6])
def test_reports_are_as_sharp_as_the_bound_allows_and_no_sharper(epsilon, users):
    report = report_of_shuffled(epsilon, users, 1e-6)
    assert report >= epsilon
    assert shuffled_epsilon(report, users, 1e-6) <= epsilon * (1 + 1e-12)
    if report > epsilon:
        sharper = shuffled_epsilon(report * 1.001, users, 1e-6)
        assert sharper > epsilon
    promise = StemmerKaplanShuffle(epsilon=epsilon, delta=1e-6).guarantee(2, users)
    assert promise.epsilon <= epsilon * (1 + 1e-12)
    assert (promise.delta, promise.pure_epsilon) == ((1e-6, None) if report > epsilon else (0.0, epsilon))
    assert (promise.notion, promise.neighboring) == (Notion.SHUFFLE, Neighboring.REPLACE)
    assert promise.trust.startswith("a shuffler")


def test_a_mixed_price_is_refused_before_everybody_was_mixed():
    X = np.random.default_rng(0).uniform(-1, 1, (50, 2))

    def curator(cost, neighboring=Neighboring.REPLACE, noise=None):
        rows = Rows(X, Domain.box(-1, 1, 2, n_public=50))
        plan = Plan({"report": (cost,)})
        return Curator(rows, plan, noise or Secure(), neighboring=neighboring, n_public=50, hidden=None)

    question = NearestOf(np.zeros((2, 2)), seed=1)
    with pytest.raises(PermissionError, match="mix the rows first"):
        curator(Shuffled(1.0, 50, 1e-3)).collect("report", question)
    more = curator(Shuffled(1.0, 51, 1e-3))  # this price assumes more people than there are
    more.shuffle()
    with pytest.raises(PermissionError, match="mix the rows first"):
        more.collect("report", question)
    mixed = curator(Shuffled(1.0, 50, 1e-3))
    mixed.shuffle()
    assert mixed.collect("report", question).users == 50
    curator(Report(1.0)).collect("report", question)
    with pytest.raises(PermissionError, match="relation replace"):
        curator(Report(1.0), Neighboring.ADD_REMOVE).shuffle()


@pytest.mark.parametrize("noise", [Secure(), Seeded(np.random.default_rng(0))])
def test_mixing_is_a_uniform_order_of_everybody(noise):
    places = np.array([noise.permutation(5) for _ in range(6000)])
    assert (np.sort(places, axis=1) == np.arange(5)).all()
    seen = np.array([[(places[:, i] == j).mean() for j in range(5)] for i in range(5)])
    assert np.abs(seen - 0.2).max() < 8 * math.sqrt(0.16 / 6000)  # by chance, one of 25 shares fails once in 10^13 runs


def test_the_questions_do_not_depend_on_the_order_of_the_file():
    X = np.linspace(-1, 1, 400)[:, None]
    domain = Domain.box(-1, 1, 1, n_public=400)

    def answers(cls):
        step = cls(n_clusters=2, epsilon=3.0).run(X, domain=domain, seed=0).steps[0]
        return next(h.statistic["answers"] for h in step.hidden)

    mine, sorted_ones = answers(StemmerKaplanShuffle), answers(LOCAL)
    assert (np.diff(sorted_ones) >= 0).all() and not (np.diff(mine) >= 0).all()


def test_mixing_is_worth_a_sharper_report_and_says_where_it_is_not():
    rng = np.random.default_rng(0)
    centers = rng.uniform(-0.7, 0.7, (4, 2))
    X = np.clip(centers[rng.integers(4, size=30_000)] + rng.normal(0, 0.04, (30_000, 2)), -1, 1)
    domain = Domain.box(-1, 1, 2, n_public=len(X))

    def loss(cls):
        losses = [
            normalized_loss(X, cls(n_clusters=4, epsilon=0.1).run(X, domain=domain, seed=seed).cluster_centers)
            for seed in range(3)
        ]
        return float(np.mean(losses))

    assert loss(StemmerKaplanShuffle) < 0.5 * loss(LOCAL)
    few = StemmerKaplanShuffle(epsilon=1.0)
    assert any("mixing gains nothing" in words and "about 530 people" in words for words in few.advice(2, 100))
    assert not any("mixing gains nothing" in words for words in StemmerKaplanShuffle(epsilon=1.0).advice(2, 100_000))
    claimed = StemmerKaplanShuffle(epsilon=2.0).guarantee(2, 5000).epsilon  # the largest loss that reports can cause
    assert any(
        f"{claimed:.3g} of epsilon 2 is spent" in words for words in StemmerKaplanShuffle(epsilon=2.0).advice(2, 5000)
    )
