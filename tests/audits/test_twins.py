"""Check broken twins of mechanisms and whole algorithms: audits catch all of them, and no honest original."""

import math

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS, base
from dpviz.audits.audit import (
    audit,
    distinguish,
    draws,
    instance,
    pairs,
)
from dpviz.audits.wide import second_instance, wide_pairs
from dpviz.geometry import snap
from dpviz.privacy.accounting import mu_of_epsilon
from dpviz.privacy.choice import choice_mu
from dpviz.privacy.costs import BestOf, Exponential, Threshold
from dpviz.privacy.curator import Curator
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.noise import Seeded
from dpviz.privacy.queries import ColumnCounts, NearestVotes, PairScore, PairTables, SplitScore
from dpviz.testing.attacks import ROWS, SURE, honest
from dpviz.trace import Step
from tests.tiers import tiers

AR = Neighboring.ADD_REMOVE

# Broken twins of mechanisms: one release, many draws at once


def gaussian(sd):
    return lambda rng, shape: snap(rng.normal(0, sd, shape))


def laplace(scale):
    return lambda rng, shape: snap(rng.laplace(0, scale, shape))


def samples(first, second, draw, scale, *, power=2, runs=20_000, twin=None):
    """Return statistics of additive releases of two true values, as `audit` reads them; a twin may spoil the noise."""
    rng, found = np.random.default_rng(0), []
    first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    for truth in (first, second):
        noise = draw(rng, (runs, len(truth)))
        released = truth + (noise if twin is None else twin(truth, noise))
        mine, theirs = released - first, released - second
        found.append(
            {
                "likelihood": ((abs(theirs) / scale) ** power - (abs(mine) / scale) ** power).sum(axis=1),
                "coincidence": repeats(mine) - repeats(theirs),
            }
        )
    return found


def repeats(noise):
    ordered = np.sort(np.abs(noise), axis=1)
    return (ordered < 1e-9).sum(axis=1) + (np.diff(ordered, axis=1) < 1e-9).sum(axis=1).astype(float)


def test_an_honest_gaussian_is_bounded_closely():
    bound, statistic = distinguish(*samples([5, 3, 3], [4, 3, 3], gaussian(2.0), 2.0), 0.95)
    assert 0.42 < bound < 0.5 and statistic == "likelihood"


def test_an_honest_laplace_is_bounded_closely():
    bound, _ = distinguish(*samples([1, 0], [0, 0], laplace(1.0), 1.0, power=1), 0.95, delta=0.0)
    assert 0.9 < bound < 1.0


GAUSSIAN_TWINS = {
    "doubled sensitivity": (([2, 0], [0, 0]), gaussian(1.0), None),
    "replacement priced as removal": (([1, 0], [0, 1]), gaussian(1.0), None),
    "scalar noise": (([1, 0, 0], [0, 0, 0]), gaussian(1.0), lambda truth, noise: noise[:, :1]),
    "exact where empty": (([1, 4], [0, 4]), gaussian(1.0), lambda truth, noise: noise * (truth != 0)),
    "same stream twice": (([3, 3], [2, 3]), gaussian(1.0), lambda truth, noise: noise[:, :1] + 0 * noise),
    "truncation toward zero": (([1], [0]), gaussian(10.0), lambda truth, noise: np.trunc(noise)),
    "variance for deviation": (([1], [0]), gaussian(0.7**2), None),
}


@pytest.mark.parametrize("name", GAUSSIAN_TWINS)
def test_a_broken_gaussian_twin_is_caught(name):
    (first, second), draw, twin = GAUSSIAN_TWINS[name]
    scale = {"truncation toward zero": 10.0, "variance for deviation": 0.7}.get(name, 1.0)
    bound, _ = distinguish(*samples(first, second, draw, scale, twin=twin), SURE)
    assert bound > 1 / scale, "above the claim of sensitivity 1"


def test_truncation_passes_for_rounding_only_where_it_is_rounding():
    nearest = samples([1], [0], gaussian(10.0), 10.0, twin=lambda truth, noise: np.rint(noise))
    assert distinguish(*nearest, SURE)[0] < 0.1


LAPLACE_TWINS = {
    "doubled sensitivity": (([2], [0]), laplace(1.0), None),
    "l2 for l1": (([0.6, 0.6, 0.6], [0, 0, 0]), laplace(0.6 * math.sqrt(3)), None),
    "exact where empty": (([1, 4], [0, 4]), laplace(1.0), lambda truth, noise: noise * (truth != 0)),
    "same stream twice": (([1, 0], [0, 0]), laplace(1.0), lambda truth, noise: noise[:, :1] + 0 * noise),
    "off the grid": (([1, 0], [0, 0]), lambda rng, shape: rng.laplace(0, 1.0, shape), None),
}


@pytest.mark.parametrize("name", LAPLACE_TWINS)
def test_a_broken_laplace_twin_is_caught(name):
    (first, second), draw, twin = LAPLACE_TWINS[name]
    bound, _ = distinguish(*samples(first, second, draw, 1.0, power=1, twin=twin), SURE, delta=0.0)
    assert bound > 1.0, "above the claim of epsilon = 1"


def picks(gain, loss, scale, runs=20_000):
    """Return, as a statistic, whether the exponential mechanism picks the first of 41 candidates in each run."""
    utilities = np.r_[gain, np.full(40, loss)]
    gumbel = np.random.default_rng(int(gain)).gumbel(0, scale, (runs, 41)) + utilities
    return {"first": (gumbel.argmax(axis=1) == 0).astype(float)}


def test_a_missing_factor_two_in_a_selection_is_caught():
    """One candidate's utility rises by 1 and that of the others falls by 1, so the range is 2, not 1."""
    epsilon = 1.0
    for declared, broken in [(2.0, False), (1.0, True)]:
        scale = Exponential(epsilon).scale(declared)
        bound, _ = distinguish(picks(1.0, 0.0, scale), picks(0.0, 1.0, scale), SURE, delta=0.0)
        assert (bound > epsilon) == broken
        assert bound > 0.4 * epsilon


def test_a_threshold_that_is_too_low_is_caught():
    """A key that only one neighbor has distinguishes the two if it passes, which may happen with probability delta."""
    cost, rng = Threshold(1.0, 0.01), np.random.default_rng(0)
    noisy = np.rint(1 + rng.normal(0, 1, 20_000))
    for tau, broken in [(cost.threshold(1.0, 1), False), (1.5, True)]:
        passed = {"passed": (noisy >= tau).astype(float)}
        bound, _ = distinguish(passed, {"passed": np.zeros(20_000)}, SURE, delta=0.01)
        assert (bound > 2.0) == broken


# Broken twins of whole algorithms


def caught(slug, pair="empty cluster", runs=30, **values):
    algorithm = instance(ALGORITHMS[slug], **values)
    chosen = next(p for p in pairs(algorithm.neighboring) if p.name == pair)
    return audit(algorithm, chosen, runs=runs)


@pytest.mark.slow
def test_the_bound_has_power_on_an_honest_algorithm():
    found = caught("pe-means", "n = k", runs=300)
    assert found.holds and found.lower_bound > 0.5 * found.claimed


@pytest.mark.parametrize("slug", ["pe-means", "hdpe-means"])
def test_a_halved_sensitivity_is_caught(slug, monkeypatch):
    monkeypatch.setattr(NearestVotes, "sensitivity", lambda self, norm, neighboring: {"": 0.5})
    found = caught(slug, runs=4)
    assert found.refuted and found.realized > 1.1 * found.claimed


@pytest.mark.slow
def test_a_halved_sensitivity_is_caught_by_an_adversary_who_trusts_no_record(monkeypatch):
    monkeypatch.setattr(NearestVotes, "sensitivity", lambda self, norm, neighboring: {"": 0.5})
    found = caught("pe-means", "n = k", runs=200)
    assert found.lower_bound > found.claimed and found.statistic == "likelihood"


@pytest.mark.slow
def test_a_missing_factor_two_in_an_algorithms_selections_is_caught(monkeypatch):
    honest_range = SplitScore.range
    monkeypatch.setattr(SplitScore, "range", lambda self, neighboring: honest_range(self, neighboring) / 2)
    found = [audit(instance(ALGORITHMS["dpm"]), pair, runs=30) for pair in pairs(AR)]
    assert max(f.reach for f in found) > 1 and any(f.refuted for f in found)


TREE_TWINS = {  # what one row changes, if only one of the columns, tables or pairs is thought of
    "one column": (ColumnCounts, "sensitivity", lambda self, norm, neighboring: {"": 1.0}),
    "one table": (PairTables, "sensitivity", lambda self, norm, neighboring: {"": 1.0}),
    "one pair": (PairScore, "range", lambda self, neighboring: 1.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", [None, *TREE_TWINS])
def test_a_sensitivity_that_forgets_other_columns_is_caught(name, monkeypatch):
    if name:
        monkeypatch.setattr(*TREE_TWINS[name])
    algorithm = second_instance(ALGORITHMS["mst-kmeans"])
    found = [audit(algorithm, pair, runs=3, n_public=n) for pair, n in wide_pairs(AR)]
    assert any(f.refuted for f in found) == bool(name)
    assert (max(f.reach for f in found) > 1.9) == bool(name)


@pytest.mark.slow
def test_a_choice_priced_as_one_candidate_is_caught(monkeypatch):
    """Each candidate gets the noise of the whole budget, as if the choice among a dozen of them were free."""
    honest_run = audit(instance(ALGORITHMS["choose-k"]), pairs(AR)[2], runs=4)
    assert not honest_run.refuted and honest_run.realized > 0
    monkeypatch.setattr(BestOf, "scale", lambda self, change: change / mu_of_epsilon(self.epsilon, self.delta))
    found = audit(instance(ALGORITHMS["choose-k"]), pairs(AR)[2], runs=4)
    assert found.refuted and found.realized > 1.2 * found.claimed


def choices(shift, mu, every, runs=600_000):
    """Return the evidence in the best of a secret number of candidates, or with `every` in all of them."""
    rng = np.random.default_rng(round(shift))
    tried, evidence = rng.poisson(12, runs), np.zeros(runs)
    for number in np.unique(tried[tried > 0]):
        here = tried == number
        scores = shift + rng.normal(0, 1 / mu, (int(here.sum()), int(number)))
        evidence[here] = scores.sum(axis=1) - number / 2 if every else scores.min(axis=1)
    return {"scores": evidence}


@pytest.mark.parametrize("every", [False, True])
def test_a_choice_that_releases_the_losers_is_caught(every):
    """A dozen scores that the neighbor shifts by 1 tell far more than the best one does, which is priced."""
    mu = choice_mu(4.0, 1e-6, 12)
    bound, _ = distinguish(choices(0.0, mu, every), choices(1.0, mu, every), SURE, delta=1e-6)
    assert (bound > 4.0) == every and bound > 1.0


class ScalarNoise(Seeded):
    """A noise source that draws one number for a whole vector, as in the published code of HDPE-means."""

    def gaussian(self, sd, shape):
        return np.full(shape, super().gaussian(sd, ()))


class OneStream(Seeded):
    """A noise source that restarts its stream for every release, as in the published code of FastLloyd."""

    def __init__(self, rng):
        super().__init__(rng)
        self._seed = int(rng.integers(2**31))

    def gaussian(self, sd, shape):
        return Seeded(np.random.default_rng(self._seed)).gaussian(sd, shape)


class ExactEmpty(Curator):
    """A curator that returns exact sums of empty clusters, as in the published code of DPM."""

    def release(self, label, query, scope=0):
        noisy = super().release(label, query, scope)
        if not isinstance(noisy.value, dict) or "sums" not in noisy.value:
            return noisy
        true = self._session._statistic(query, scope)
        empty = true["counts"] == 0
        noisy.value["sums"][empty] = true["sums"][empty]
        return noisy


@pytest.mark.slow
@pytest.mark.parametrize("slug", tiers(["pe-means", "hdpe-means", "nsm"], 1))
@pytest.mark.parametrize("twin", [ScalarNoise, OneStream])
def test_shared_noise_is_caught(slug, twin, monkeypatch):
    monkeypatch.setattr(base, "Seeded", twin)
    found = caught(slug)
    assert found.lower_bound > found.claimed and found.statistic == "coincidence"
    assert not honest(draws(instance(ALGORITHMS[slug]), ROWS, runs=12), 12)


@pytest.mark.slow
@pytest.mark.parametrize("slug", ["glloyd", "nsm"])
def test_exact_sums_of_empty_clusters_are_caught(slug, monkeypatch):
    monkeypatch.setattr(base, "Curator", ExactEmpty)
    found = caught(slug)
    assert found.lower_bound > found.claimed and found.statistic == "coincidence"


@pytest.mark.parametrize("factor", [0.8, 1.25])
def test_a_wrong_scale_is_caught(factor, monkeypatch):
    class Off(Seeded):
        def gaussian(self, sd, shape):
            return super().gaussian(factor * sd, shape)

    monkeypatch.setattr(base, "Seeded", Off)
    assert not honest(draws(instance(ALGORITHMS["pe-means"]), ROWS, runs=12), 12)


def test_a_wrong_scale_on_the_counts_of_keys_is_caught(monkeypatch):
    monkeypatch.setattr(Threshold, "draw", lambda self, noise, scale, shape: noise.gaussian(1.25 * scale, shape))
    assert not honest(draws(instance(ALGORITHMS["stemmer-kaplan"]), ROWS, runs=12), 12)


def test_correlated_noise_is_caught(monkeypatch):
    class Walk(Seeded):
        def gaussian(self, sd, shape):
            noise = super().gaussian(sd, shape).ravel()
            return ((noise + np.roll(noise, 1)) / math.sqrt(2)).reshape(shape)

    monkeypatch.setattr(base, "Seeded", Walk)
    assert not honest(draws(instance(ALGORITHMS["pe-means"]), ROWS, runs=12), 12)


def exact_n(curator):
    """Return the number of rows, which no release may reveal."""
    return curator._session._blocks[0].n


RANDOM = np.random.default_rng(0)
LEAKS = {
    "a field": lambda step, n: Step(step.kind, step.title, {**step.released, "rows": n}),
    "an entry": lambda step, n: Step(step.kind, step.title, {**step.released, "mixed": np.r_[RANDOM.random(9), n / 7]}),
    "a shape": lambda step, n: Step(step.kind, step.title, {**step.released, "noise": RANDOM.random(n)}),
    "a title": lambda step, n: Step(step.kind, f"{step.title}{'.' * (n % 2)}", step.released),
}


@pytest.mark.parametrize("leak", tiers(LEAKS, ["a field"]))
def test_the_exact_n_in_anything_released_is_caught(leak):
    class Leaky(ALGORITHMS["pe-means"]):
        def steps(self, curator, domain, rng):
            for step in super().steps(curator, domain, rng):
                yield LEAKS[leak](step, exact_n(curator))

    found = audit(Leaky(n_clusters=2, epsilon=1.0, delta=0.2), pairs(AR)[0], runs=30)
    assert found.refuted and found.statistic == "trace", found


@pytest.mark.slow
@pytest.mark.parametrize("told", ["by one step more", "by an error"])
def test_the_exact_n_in_how_a_run_goes_is_caught(told):
    class Leaky(ALGORITHMS["pe-means"]):
        def steps(self, curator, domain, rng):
            yield from super().steps(curator, domain, rng)
            if exact_n(curator) == 12:
                if told == "by an error":
                    raise ValueError("too many rows")
                yield Step("packing", "One more", {"centers": np.zeros((2, 2))})

    found = audit(Leaky(n_clusters=2, epsilon=1.0, delta=0.2), pairs(AR)[0], runs=30)
    assert found.refuted, found


def test_an_algorithm_that_always_raises_is_an_error_of_the_audit():
    class Broken(ALGORITHMS["pe-means"]):
        def steps(self, curator, domain, rng):
            raise ValueError("no")

    with pytest.raises(ValueError, match="raised in every run.*no"):
        audit(Broken(n_clusters=2), pairs(AR)[0], runs=3)


def test_an_algorithm_that_goes_around_the_curator_is_caught():
    """The algorithm's releases are honest, but its centers are two private rows."""

    class Thief(ALGORITHMS["aug-pe"]):
        def steps(self, curator, domain, rng):
            *_, last = super().steps(curator, domain, rng)
            rows = curator._session._blocks[0].x
            yield Step(last.kind, last.title, {**last.released, "centers": rows[-2:]})

    algorithm = instance(Thief)
    found = audit(algorithm, pairs(AR)[0], runs=30)
    assert found.lower_bound > found.claimed and found.statistic in ("distance", "trace")
