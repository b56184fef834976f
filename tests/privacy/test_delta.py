"""Check the default delta, the rules of the papers, and what is said about delta."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from dpviz.algorithms import ALGORITHMS
from dpviz.lessons import glossary, limits_in_words
from dpviz.numbers import on_screen
from dpviz.privacy.accounting import DELTAS, default_delta, delta_of_mu, excess_of_mu, mu_of_epsilon
from dpviz.privacy.delta import allowed, check_delta, meaning, no_failure
from dpviz.privacy.guarantee import Neighboring

ROOT = Path(__file__).parents[2]
SIZES = (1, 2, 3, 40, 300, 1000, 5000, 10**6, 10**12)


def exposes_anybody(delta, n):
    """Return the chance that a method which publishes each row with probability delta publishes any of n rows."""
    return -math.expm1(n * math.log1p(-delta))


@pytest.mark.parametrize("n", SIZES)
def test_the_worst_method_at_the_default_delta_exposes_anybody_at_most_once_in_100(n):
    assert default_delta(n) == pytest.approx(1 / (100 * n)) and exposes_anybody(default_delta(n), n) <= 0.01
    assert exposes_anybody(1.02 * default_delta(n), n) > 0.01 or n < 50  # no larger delta would do
    assert all(0 < default_delta(n) <= rule(n) for name, rule in DELTAS.items() if n < 10**4 or name == "n^-1.1")


def test_the_papers_rules_are_theirs():
    values = {name: rule(5000) for name, rule in DELTAS.items()}
    assert values == pytest.approx(
        {"1/(100 n)": 2e-6, "n^-1.1": 8.534e-5, "1/(n ln n)": 2.348e-5, "1/(n sqrt n)": 2.828e-6}, rel=1e-3
    )


@pytest.mark.parametrize(
    ("slug", "preset", "delta"),
    [
        ("pe-means", "paper", 5000**-1.1),
        ("pe-means", "authors", 5000**-1.1),
        ("hdpe-means", "paper", 5000**-1.1),
        ("fastlloyd", "paper", 1 / (5000 * math.log(5000))),
        ("dpm", "paper", 5000**-1.5),
        ("dist-dp", "paper", 1e-6),
    ],
)
def test_a_papers_preset_keeps_the_papers_delta_and_an_own_one_wins(slug, preset, delta):
    cls = ALGORITHMS[slug]
    assert cls.preset(preset).resolved_delta(5000) == pytest.approx(delta)
    assert cls.preset(preset, delta=1e-7).resolved_delta(5000) == 1e-7
    assert cls().resolved_delta(5000) == 2e-6


def test_every_method_with_a_delta_draws_at_the_default():
    deltas = {slug: cls().resolved_delta(300) for slug, cls in ALGORITHMS.items()}
    assert set(deltas.values()) == {default_delta(300)}


def test_a_bet_at_epsilon_1_is_the_same_for_few_and_many_people():
    promises = {n: ALGORITHMS["pe-means"](epsilon=1.0).guarantee(2, n) for n in (300, 1000, 5000)}
    assert {n: promise.odds for n, promise in promises.items()} == {300: 56, 1000: 56, 5000: 55}
    assert {n: round(promise.mu, 3) for n, promise in promises.items()} == {300: 0.29, 1000: 0.268, 5000: 0.245}


@pytest.mark.parametrize("mu", [0.2451, 0.3101, 1.0, 3.0])
@pytest.mark.parametrize("epsilon", [0.25, 1.0, 4.0])
def test_the_excess_is_the_tail_of_the_privacy_loss_and_no_less_than_delta(mu, epsilon):
    """The loss of N(mu, 1) against N(0, 1) is N(mu^2/2, mu^2)."""
    assert excess_of_mu(mu, epsilon) == pytest.approx(norm.sf(epsilon, mu**2 / 2, mu), rel=1e-9)
    draws = np.random.default_rng(0).normal(mu, 1, 200_000)
    losses = norm.logpdf(draws, mu) - norm.logpdf(draws)
    assert excess_of_mu(mu, epsilon) == pytest.approx((losses > epsilon).mean(), abs=0.004)
    assert excess_of_mu(mu, epsilon) > delta_of_mu(mu, epsilon)
    assert excess_of_mu(0.0, epsilon) == 0


def test_delta_is_not_called_the_chance_of_a_failure_and_the_multiples_are_computed():
    multiples = [
        norm.sf(1.0, mu**2 / 2, mu) / delta for delta in (1 / 30_000, 1 / 500_000) for mu in [mu_of_epsilon(1.0, delta)]
    ]
    assert [round(one) for one in multiples] == [14, 19]
    assert no_failure() == (
        "δ is not the chance that the bound e^ε fails: with Gaussian noise at ε 1, the privacy loss exceeds ε with "
        "14 to 19 times that chance (300 to 5,000 people)."
    )
    assert "at ε 4, the privacy loss exceeds ε with 5 to 6 times" in no_failure(4.0)
    wrong = re.compile(r"promise (with \S+ )?fails|bound ε (always |fails )|likely, except with probability δ")
    for path in (*ROOT.glob("dpviz/**/*"), *ROOT.glob("pages/**/*"), ROOT / "README.md"):
        if path.suffix in (".py", ".toml", ".js", ".html", ".md"):
            assert not wrong.search(path.read_text(encoding="utf-8")), path


def test_one_sentence_words_delta_wherever_it_is_explained():
    words = meaning()
    assert words == "whatever may be published is at most e^ε times as likely with you as without you, plus δ in all"
    for text in (glossary()["δ"], limits_in_words()["δ"]):
        assert words in text and no_failure() in text and "{" not in text
    assert meaning(Neighboring.MOVE_RHO, far="300 m").endswith("as anywhere up to 300 m away, plus δ in all")
    assert "one of your rows" in meaning(rows_per_person=3) and "δ" not in meaning(pure=True)
    for slug, cls in ALGORITHMS.items():
        if (spec := cls.__dataclass_fields__.get("delta")) is not None:
            help_text = spec.metadata["spec"].help.lower()
            assert help_text.startswith(meaning(cls.neighboring)), slug


def test_a_delta_says_what_it_allows_at_this_n():
    assert allowed(default_delta(5000), 5000) == allowed(1e-9, 5000) == ""
    assert allowed(5000**-1.1, 5000).endswith("this delta allows a method that exposes somebody 43 times in 100.")
    assert allowed(2 * default_delta(5000), 5000).endswith("exposes somebody 2 times in 100.")
    large = allowed(1 / 5000, 5000)
    assert large.startswith("delta = 1 in 5,000 is at least 1/n for n = 5000: ") and large.count(". ") == 0
    assert "1 of them on average" in large and "1 in 500,000" in large
    assert "δ = 1 in 5,000 is at least 1/n for n = 5,000" in on_screen(large)


def test_a_wrong_delta_is_refused_in_one_sentence_and_a_papers_delta_is_not():
    with pytest.raises(ValueError, match=r"^X: delta must be > 0; got 0: .*; leave delta empty .* 1 in 500,000\.$"):
        check_delta("X", 0.0, 5000, private=False)
    with pytest.raises(ValueError, match=r"^X: delta = 1 in 5,000 is at least 1/n for n = 5000"):
        check_delta("X", 1 / 5000, 5000, private=True)
    for delta, private in [
        (None, True),
        (1 / 5001, True),
        (0.1, False),
        (5000**-1.1, True),
        (math.nan, True),
        ("x", True),
    ]:
        check_delta("X", delta, 5000, private=private)
