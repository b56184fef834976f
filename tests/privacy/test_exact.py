"""Check the exact samplers, OpenDP's and ours, against their probabilities, and that ours say so when they draw."""

import json
import math
import sys
from importlib.metadata import version

import numpy as np
import pytest
from scipy import stats

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load_sample
from dpviz.privacy import exact, from_opendp, noise
from dpviz.takeaway import facts
from dpviz.trace import Trace
from tests.tiers import tiers

MODULES = (from_opendp, exact)
SCALES = [(10, 20_000), (32, 20_000), (2.5, 20_000)]  # each with the number of draws


def probability(kind, scale, values):
    """Return the probabilities of whole numbers under a discrete Gaussian or Laplace of this scale."""
    power = values**2 / (2 * scale**2) if kind == "gaussian" else abs(values) / scale
    reach = np.arange(-math.ceil(60 * scale), math.ceil(60 * scale) + 1)
    every = reach**2 / (2 * scale**2) if kind == "gaussian" else abs(reach) / scale
    return np.exp(-power) / np.exp(-every).sum()


def fit(kind, scale, draws):
    """Return the p-value of a chi-square test: a bin per whole number, and one for each tail."""
    edge = int(3 * scale)
    values = np.arange(-edge, edge + 1)
    inner = probability(kind, scale, values)
    tails = np.array([(draws < -edge).sum(), (draws > edge).sum()])
    found = np.append([(draws == value).sum() for value in values], tails)
    expected = np.append(inner, [(1 - inner.sum()) / 2] * 2) * len(draws)
    return stats.chisquare(found, expected).pvalue


@pytest.mark.parametrize(("scale", "number"), tiers([(10, 200_000), (32, 200_000), *SCALES], [SCALES[0], SCALES[2]]))
@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
@pytest.mark.parametrize("module", MODULES, ids=["opendp", "ours"])
def test_draws_have_exactly_the_probabilities_of_their_distribution(module, kind, scale, number):
    assert fit(kind, scale, np.array(getattr(module, kind)(scale, number))) > 1e-7


@pytest.mark.slow
def test_a_bias_as_small_as_one_that_was_published_is_seen():
    draws = np.array(exact.laplace(10, 200_000))
    biased = np.where((draws == 3) & (np.arange(len(draws)) % 7 == 0), 4, draws)  # a seventh of one value
    assert fit("laplace", 10, draws) > 1e-7 > fit("laplace", 10, biased)


@pytest.mark.parametrize("number", tiers([20_000, 4_000], [4_000]))
@pytest.mark.parametrize("module", MODULES, ids=["opendp", "ours"])
def test_a_choice_has_the_probabilities_of_the_exponential_mechanism(module, number):
    utilities, scale = [0.0, 1.5, -2.25, 1.5, 0.125], 0.75
    picks = np.bincount([module.choose(utilities, scale) for _ in range(number)], minlength=5)
    weights = np.exp(np.array(utilities) / scale)
    assert stats.chisquare(picks, picks.sum() * weights / weights.sum()).pvalue > 1e-7


def test_without_opendp_a_private_run_draws_with_our_samplers_and_says_so(monkeypatch):
    data = load_sample("tiny")
    for name in [name for name in sys.modules if name.partition(".")[0] == "opendp"] + ["opendp"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "dpviz.privacy.from_opendp")
    monkeypatch.delattr("dpviz.privacy.from_opendp")
    noise._samplers.cache_clear()
    try:
        for slug in ("dp-lloyd", "glloyd", "dpm"):
            trace = ALGORITHMS[slug](n_clusters=2, epsilon=4.0).run(data.X, domain=data.domain, noise="secure")
            assert trace.seed is None and "dpviz's own exact samplers" in trace.warnings[0]
            assert trace.sampler == facts(trace)["Noise from"] == "exact samplers of dpviz itself"
            demo = ALGORITHMS[slug](n_clusters=2, epsilon=4.0).run(data.X, domain=data.domain, seed=0)
            assert not any("samplers" in one for one in demo.warnings) and "seeded" in facts(demo)["Noise from"]
    finally:
        noise._samplers.cache_clear()
    monkeypatch.undo()
    trace = ALGORITHMS["dpm"](n_clusters=2, epsilon=4.0).run(data.X, domain=data.domain, noise="secure")
    assert noise.caution() == "" and not any("samplers" in one for one in trace.warnings)
    assert trace.sampler == f"exact samplers of OpenDP {version('opendp')}"


def test_a_label_names_coins_and_a_label_without_noise_names_nothing():
    data = load_sample("tiny")
    run = ALGORITHMS["stemmer-kaplan-local"](n_clusters=2).run(data.X, domain=data.domain, noise="secure")
    assert facts(run)["Noise from"] == "coins of the operating system"
    exact = ALGORITHMS["dpm"](n_clusters=2).run(data.X, domain=data.domain, seed=0, noise="none")
    kmeans = ALGORITHMS["kmeans"](n_clusters=2).run(data.X, domain=data.domain, seed=0)
    assert "Noise from" not in facts(exact) | facts(kmeans)


def test_a_trace_of_before_samplers_were_named_is_read():
    data = load_sample("tiny")
    trace = ALGORITHMS["dpm"](n_clusters=2).run(data.X, domain=data.domain, noise="secure")
    record = json.loads(trace.to_json())
    assert Trace.from_json(json.dumps(record)).sampler == record.pop("sampler") == trace.sampler
    old = Trace.from_json(json.dumps(record))
    assert old.sampler == "" and "Noise from" not in facts(old)
    with pytest.raises(ValueError, match="wrong type"):
        Trace.from_json(json.dumps({**record, "sampler": 3}))
