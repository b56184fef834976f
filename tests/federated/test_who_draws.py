"""Check who draws the noise, and how much of it any single party can remove."""

import json
import math
from functools import lru_cache

import numpy as np
import pytest
from scipy.stats import chi2, kstest

from dpviz.federated import (
    CLIENTS,
    DRAWN_BY,
    SERVER,
    WIDE,
    FederatedRows,
    Shares,
    simulate,
)
from dpviz.federated.masks import deal, mask
from dpviz.figures.kit.ledger import why
from dpviz.privacy.accounting import delta_of_mu
from dpviz.privacy.noise import Seeded
from dpviz.trace import Trace
from tests.federated.simulated import BOX, NAMES, RUN, SEED, SEEDS, dealt, header, make, parties, rows, uniformity

# Who draws the noise, and how much any party can subtract

PARTIES = (SERVER, "client-1", "client-2", "client-3")


@lru_cache
def left_over(slug, drawn_by):
    """Return {party: noise in the trace after the party subtracts its own draws, as a multiple of the scale}."""
    left = {party: [] for party in PARTIES}
    for seed in range(80):
        run = simulate(make(slug), dealt(), BOX, seed=seed, drawn_by=drawn_by)
        steps = [step["released"]["items"] for step in json.loads(run.trace.to_json())["steps"]]
        steps = [released for released in steps if "noisy_counts" in released]
        scales = [entry.scale for entry in run.trace.ledger if entry.name == "update.counts"]
        for step, round_, scale in zip(steps, run.rounds, scales, strict=True):
            published = np.array(step["noisy_counts"]["values"])
            exact = sum(own["counts"] for own in round_.locals.values())
            for party in PARTIES:
                own = round_.noise.get(party, {"counts": np.zeros_like(exact)})["counts"]
                left[party].extend((published - own - exact) / scale)
    return {party: np.array(values) for party, values in left.items()}


def test_no_party_s_view_and_the_published_trace_give_the_exact_sums():
    """No client knows the noise that the promise counts, and the server knows none of the noise."""
    left = left_over("fastlloyd", CLIENTS)
    for party in PARTIES[1:]:
        assert kstest(left[party], "norm").pvalue > 1e-4
        assert chi2.cdf((left[party] ** 2).sum(), left[party].size) > 1e-4
        # the client has subtracted its own third of the noise
        assert chi2.cdf((left[party] ** 2).sum() * 2 / 3, left[party].size) < 1e-4
    assert kstest(left[SERVER], "norm", (0, math.sqrt(3 / 2))).pvalue > 1e-4


def test_a_server_that_draws_the_noise_has_the_exact_sums_once_it_sees_the_result():
    left = left_over("fastlloyd", SERVER)
    assert not left[SERVER].any()
    assert all(kstest(left[party], "norm").pvalue > 1e-4 for party in PARTIES[1:])


def two_laplaces(x):
    """Return the probability that the sum of two Laplace values is at most x."""
    tail = (2 + np.abs(x)) * np.exp(-np.abs(x)) / 4
    return np.where(x < 0, tail, 1 - tail)


@pytest.mark.slow
def test_laplace_noise_is_drawn_in_full_by_two_clients():
    left = left_over("sulloyd", CLIENTS)
    for party in ("client-1", "client-2"):
        assert kstest(left[party], "laplace").pvalue > 1e-4
    for party in ("client-3", SERVER):
        assert kstest(left[party], two_laplaces).pvalue > 1e-4
        assert kstest(left[party], "laplace").pvalue < 0.01  # the test can tell the distributions apart
    assert not left_over("sulloyd", SERVER)[SERVER].any()


def test_a_client_that_tells_the_server_everything_leaves_it_the_sum_of_the_others_and_no_more():
    size, head = 3000, header(size=3000)
    values = {name: np.full(size, float(i)) for i, name in enumerate(NAMES)}
    clients, _ = parties()
    uploads = {name: client.upload(head, {"": values[name]}) for name, client in clients.items()}
    peeled = []
    for name in ("b", "c"):  # client a knows the common seed and its pairs' seeds, so it can remove their masks
        words = WIDE.read(uploads[name][""], size) - mask(SEED, RUN, name, 0, "", size, WIDE)
        peeled.append(words + mask(SEEDS["a"].pairs[name], RUN, "", 0, "", size, WIDE))
        assert uniformity(peeled[-1].tobytes()) > 1e-4
    np.testing.assert_array_equal(WIDE.decode(sum(peeled), 24), values["b"] + values["c"])


def test_seeds_are_dealt_to_the_two_clients_of_a_pair_only():
    dealt_ = deal(NAMES)
    assert dealt_["a"].pairs["b"] == dealt_["b"].pairs["a"] and set(dealt_["a"].pairs) == {"b", "c"}
    everything = {seed for common, pairs in dealt_.values() for seed in (common, *pairs.values())}
    assert len(everything) == 1 + 3 and all(len(seed) == 32 for seed in everything)


@pytest.mark.parametrize("n_clients", [1, 2, 3, 32])
@pytest.mark.parametrize("mechanism", ["Gaussian", "Laplace"])
def test_what_clients_draw_is_enough_without_any_one_of_them(n_clients, mechanism):
    shares, scale, noise = Shares(CLIENTS, n_clients), 5.0, Seeded(np.random.default_rng(0))
    drawn = [shares.client(noise, mechanism, scale, (4000,), place, 16) for place in range(n_clients)]
    counted = scale**2 * (2 if mechanism == "Laplace" else 1)
    assert sum(drawn).var() == pytest.approx(shares.excess(mechanism) * counted, rel=0.15)
    for i in range(n_clients if n_clients > 1 else 0):
        assert (sum(drawn) - drawn[i]).var() > 0.85 * counted
    # all draws lie on the ring's grid, so nothing is rounded
    assert all((each * 2**16 % 1 == 0).all() for each in drawn)
    assert not shares.server(noise, mechanism, scale, (9,)).any()
    assert not Shares(SERVER, n_clients).client(noise, mechanism, scale, (9,), 0, 24).any()


def test_noise_too_narrow_for_the_grid_is_refused_rather_than_cut_into_parts():
    noise = Seeded(np.random.default_rng(0))
    with pytest.raises(
        ValueError, match="too narrow to be divided among the clients with 16 fraction bits; use the 64-bit ring"
    ):
        Shares(CLIENTS, 3).client(noise, "Gaussian", 0.49, (1,), 0, 16)
    Shares(CLIENTS, 3).client(noise, "Gaussian", 0.51, (1,), 0, 16)
    Shares(CLIENTS, 3).client(noise, "Gaussian", 0.002, (1,), 0, 24)


def discrete(sd, reach=60):
    """Return the probabilities of the discrete Gaussian on whole numbers from -reach to reach."""
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sd) ** 2)
    return weights / weights.sum()


@pytest.mark.parametrize("sd", [0.6, 0.7, 0.8])
@pytest.mark.parametrize("n", [2, 4])
def test_a_sum_of_discrete_gaussians_is_as_close_to_one_as_the_bound_in_use_says(sd, n):
    whole = discrete(sd)
    for _ in range(n - 1):
        whole = np.convolve(whole, discrete(sd))
    middle = len(whole) // 2
    near = slice(middle - 6, middle + 7)
    gap = np.abs(np.log(whole[near] / discrete(sd * math.sqrt(n), middle)[near])).max()
    bound = 10 * sum(math.exp(-2 * math.pi**2 * sd**2 * k / (k + 1)) for k in range(1, n))
    assert bound / 1000 < gap <= bound


@pytest.mark.parametrize("sd", [8, 32, 128])
def test_a_discrete_gaussian_s_delta_is_the_continuous_one_s_up_to_its_grid(sd):
    """Check the claim of `shares`: the grid raises delta by at most a factor 1 + (grid / sd)^2.

    If sd is 2^15 steps of the grid, that is an increase of less than 1e-9.
    """
    reach = 14 * sd
    for mu in (0.05, 0.2, 1.0, 3.0):
        shift = max(1, round(mu * sd))
        p, q = discrete(sd, reach)[shift:], discrete(sd, reach)[:-shift]
        for epsilon in (0.1, 0.5, 1.0, 3.0):
            continuous = delta_of_mu(shift / sd, epsilon)
            if continuous > 1e-9:
                assert np.maximum(p - math.exp(epsilon) * q, 0).sum() <= continuous * (1 + sd**-2.0)


def test_the_ledger_counts_what_remains_and_says_what_is_released():
    central = make("fastlloyd").run(rows(), domain=BOX, seed=0)
    run = simulate(make("fastlloyd"), dealt(), BOX, seed=0)
    assert {entry.excess for entry in run.trace.ledger} == {3 / 2} and {e.excess for e in central.ledger} == {1.0}
    for promise, theirs in ((run.trace.claimed, central.claimed), (run.trace.spent, central.spent)):
        assert (promise.epsilon, promise.delta, promise.mu) == (theirs.epsilon, theirs.delta, theirs.mu)
    assert [entry.scale for entry in run.trace.ledger] == [entry.scale for entry in central.ledger]
    sd, theirs = (trace.steps[-1].released["counts_sd"] for trace in (run.trace, central))
    assert sd == pytest.approx(theirs * math.sqrt(3 / 2))
    assert "has 1.5 times that variance" in why(run.trace.ledger[0], "a row")
    again = Trace.from_json(run.trace.to_json())
    assert again.ledger == run.trace.ledger


def test_the_trace_names_who_is_trusted_for_what():
    trust = {
        who: simulate(make("fastlloyd"), dealt(), BOX, seed=0, drawn_by=who).trace.claimed.trust for who in DRAWN_BY
    }
    assert "at most one client shares what it sees with the server" in trust[CLIENTS]
    assert "the server, which knows the noise, must never see the result" in trust[SERVER]
    with pytest.raises(ValueError, match="drawn_by must be one of clients, server"):
        FederatedRows.simulate(dealt(), BOX, drawn_by="nobody")
