"""Check Masked Secure Aggregation: bit-for-bit equality with central runs, overflow, dropout, and rounding."""

import dataclasses
import json
import math

import numpy as np
import pytest
from scipy.special import ndtr

from dpviz.algorithms import ALGORITHMS
from dpviz.algorithms.evolution.pe_means import PEMeans
from dpviz.algorithms.lloyd.fastlloyd import FastLloyd
from dpviz.domain import Domain
from dpviz.federated import (
    DRAWN_BY,
    PAPER,
    SERVER,
    SPREADS,
    WIDE,
    FederatedRows,
    Ring,
    payload_bytes,
    refusal,
    simulate,
    spread,
)
from dpviz.federated.rows import MaskedSession
from dpviz.privacy.accounting import sigma
from dpviz.privacy.noise import Seeded
from dpviz.privacy.queries import Count
from dpviz.privacy.rows import Session, StatisticSession
from tests.federated.simulated import BOX, N, dealt, header, make, parties, rows
from tests.privacy.test_queries import block, companion_of, random_rows
from tests.query_cases import CASES


def trusting(trace, trust):
    """Return a copy of the trace with another statement of whom to trust."""
    claimed, spent = (dataclasses.replace(promise, trust=trust) for promise in (trace.claimed, trace.spent))
    return dataclasses.replace(trace, claimed=claimed, spent=spent)


FEDERATED = [slug for slug in ALGORITHMS if not refusal(make(slug), 2, N)]
REFUSED = [slug for slug in ALGORITHMS if slug not in FEDERATED]


def test_what_can_run_federated():
    assert {"pe-means", "hdpe-means", "aug-pe", "sulloyd", "glloyd", "fastlloyd", "nsm"} <= set(FEDERATED)
    assert {"kmeans"} <= set(REFUSED)


@pytest.mark.parametrize("slug", REFUSED)
def test_what_needs_a_trusted_curator_is_refused_before_anything_is_sent(slug):
    sent = []
    with pytest.raises(PermissionError, match=r"trusted curator|in one place|which stay with"):
        simulate(make(slug), dealt(), BOX, seed=0, on_round=sent.append)
    assert sent == []


def test_a_session_refuses_selections_keys_and_rows():
    session = FederatedRows.simulate(dealt(), BOX).open()
    refused = (session.noisy_argmax, session.noisy_keys, session.noisy_cover, session.perturb, session.ask)
    for call in refused:
        with pytest.raises(PermissionError, match="needs a trusted curator; federated clients reveal only noisy sums"):
            call(None, None, None)
    check_that_no_reading_of_rows_is_inherited(type(session))


def check_that_no_reading_of_rows_is_inherited(kind):
    public = {name for name in dir(Session) if not name.startswith("_")}
    assert public - {"path", "children", "partition"} <= {*vars(MaskedSession), *vars(kind)}
    assert not issubclass(kind, StatisticSession)


def test_spreads_deal_every_row_once():
    X = rows()
    for how in SPREADS:
        for n_clients in (1, 2, 32):
            parts = spread(X, n_clients, how, np.random.default_rng(0))
            assert len(parts) == n_clients
            whole = np.concatenate(parts)
            np.testing.assert_array_equal(np.sort(whole, axis=0), np.sort(X, axis=0))
    sizes = [len(part) for part in spread(X, 4, "skewed", np.random.default_rng(0))]
    assert sizes[0] > 2 * sizes[-1]


# The ring


def test_a_ring_wraps_and_says_so_before():
    assert PAPER.limit(16) == 32768
    assert PAPER.decode(PAPER.encode(np.array([40000.0]), 16), 16) == -25536
    with pytest.raises(OverflowError, match=r"need \|value\| < 32,768, worst case 40,000; use a 64-bit ring"):
        PAPER.check("sums", 40000.0, 16)
    PAPER.check("sums", 32767.0, 16)


@pytest.mark.parametrize("ring", [WIDE, PAPER])
def test_words_round_trip_and_add(ring):
    rng = np.random.default_rng(0)
    digits = ring.fraction
    a, b = (np.rint(rng.uniform(-1000, 1000, 50) * 2**digits) / 2**digits for _ in range(2))
    np.testing.assert_array_equal(ring.decode(ring.encode(a, digits) + ring.encode(b, digits), digits), a + b)
    assert ring.encode(np.array(3.0), digits).shape == () and ring.word.itemsize == ring.word_bytes


def test_the_narrow_ring_refuses_sums_it_would_round():
    with pytest.raises(ValueError, match=r"do not fit 16 fraction bits.*fraction_bits = 16"):
        simulate(FastLloyd(n_clusters=3), dealt(), BOX, seed=0, ring=PAPER)
    assert simulate(FastLloyd(n_clusters=3, fraction_bits=16), dealt(), BOX, seed=0, ring=PAPER).trace is not None
    assert simulate(PEMeans(n_clusters=3), dealt(), BOX, seed=0, ring=PAPER).trace is not None  # votes are whole


def test_the_narrow_ring_differs_from_central_by_the_noise_rounding_only():
    algorithm = FastLloyd(n_clusters=3, fraction_bits=16, iterations=1)
    central = algorithm.run(rows(), domain=BOX, seed=0).steps[-1]
    federated = simulate(algorithm, dealt(), BOX, seed=0, ring=PAPER, drawn_by=SERVER)
    step, sent = federated.trace.steps[-1], federated.rounds[0]
    true = central.hidden[0].statistic
    np.testing.assert_array_equal(true["sums"], step.hidden[0].statistic["sums"])
    noisy = {part: true[part] + sent.noise[SERVER][part] for part in true}
    unmasked = np.rint(noisy["sums"] * 2**16) / 2**16
    assert np.abs(unmasked - noisy["sums"]).max() <= 2**-17
    assert np.abs(step.released["noisy_counts"] - central.released["noisy_counts"]).max() <= 0.5
    assert (step.released["noisy_counts"] % 1 == 0).all()


def test_overflow_is_refused_from_public_values_before_anything_is_sent():
    sent = []
    with pytest.raises(OverflowError, match="Nothing was sent"):
        simulate(
            FastLloyd(n_clusters=3, fraction_bits=16), dealt(), BOX, seed=0, ring=PAPER, n_max=50_000,
            on_round=sent.append,
        )  # fmt: skip
    assert sent == []
    simulate(FastLloyd(n_clusters=3), dealt(), BOX, seed=0, n_max=50_000)


@pytest.mark.parametrize("n", [40, 41, 400])
def test_no_number_of_rows_is_refused_because_everybody_would_see_it(n):
    box = Domain.box(-1, 1, 2, n_public=20)
    run = simulate(FastLloyd(n_clusters=2), [np.zeros((n, 2)), np.zeros((5, 2))], box, noise="secure")
    assert run.trace is not None


def test_a_sum_that_wraps_stays_noisy():
    """The result is the noisy sum modulo the ring's size, and depends on nothing else."""
    clients, server = parties(PAPER)
    head = header(digits=16)
    uploads = {name: client.upload(head, {"": np.full(5, 30_000.25)}) for name, client in clients.items()}
    read = clients["a"].unmask(head, server.add(head, uploads, {"": np.full(5, 0.5)}))[""]
    assert (read == (3 * 30_000.25 + 0.5 + 32768) % 65536 - 32768).all()


@pytest.mark.parametrize("cls", CASES, ids=lambda cls: cls.__name__)
def test_every_statistic_lies_on_its_declared_grid(cls):
    """The ring would round a statistic that is not on the ring's grid."""
    case, rng = CASES[cls], np.random.default_rng(5)
    for _ in range(20):
        d = int(rng.choice(case.dims))
        query = case.build(rng, d)
        beside = companion_of(query)
        x = random_rows(rng, 9, d if beside is None else 2 * d)
        for part, value in query.statistic(block(x, case.radius, beside)).items():
            np.testing.assert_array_equal(value / query.grid(part), np.rint(value / query.grid(part)))


def test_secure_runs_record_no_truth():
    run = simulate(FastLloyd(n_clusters=3), dealt(), BOX, noise="secure")
    assert all(not r.locals and not r.noise for r in run.rounds)
    assert not any(step.hidden for step in run.trace.steps)


# Bytes


def test_table_3_of_the_paper_is_eight_byte_words():
    for k, d, wanted in ((2, 2, 192), (4, 2, 384), (5, 2, 480), (3, 2, 288), (15, 2, 1440), (10, 2, 960)):
        assert payload_bytes(2, k * (d + 1), 8) == wanted
    assert payload_bytes(2, 6, 4) == 96  # with the ring that the paper describes


@pytest.mark.parametrize(("ring", "word"), [(WIDE, 8), (PAPER, 4)])
def test_counted_bytes_are_the_formula(ring, word):
    run = simulate(FastLloyd(n_clusters=3, fraction_bits=16), dealt(4), BOX, seed=0, ring=ring)
    for r in run.rounds:
        assert r.bytes_up + r.bytes_down == payload_bytes(4, 3 * 3, word)
    assert run.bytes == len(run.rounds) * payload_bytes(4, 9, word)


# Rounding


def composed_delta(masses, shift, rounds, epsilon, *, up):
    """Return delta at this epsilon for `rounds` releases of X against X + shift; `masses` are the probabilities of X.

    Privacy losses are rounded to multiples of 1e-3, up or down, so that the result is an upper or a lower bound on
    delta.
    """
    p, q = masses[shift:], masses[:-shift]
    step = 1e-3
    loss = np.log(p / q) / step
    bins = (np.ceil(loss) if up else np.floor(loss)).astype(int)
    low = bins.min()
    once = np.bincount(bins - low, weights=p)
    whole = once
    for _ in range(rounds - 1):
        whole = np.convolve(whole, once)
    losses = (np.arange(len(whole)) + rounds * low) * step
    above = losses > epsilon
    return float((whole[above] * -np.expm1(epsilon - losses[above])).sum())


def masses(sd, thresholds):
    left = np.diff(ndtr(thresholds / sd))
    return np.maximum(left, left[::-1])  # the masses are symmetric, but `left` is exact only in the left tail


@pytest.mark.parametrize(("epsilon", "at"), [(1.0, 1.0), (0.1, 0.5)])
def test_rounding_to_nearest_keeps_the_promise_and_truncation_breaks_it(epsilon, at):
    """Check FastLloyd's counts (d = 2, n = 20,000, k = 8) exactly, for both ways of rounding."""
    n = 20_000
    nominal = 1 / (n * math.log(n))
    algorithm = FastLloyd(n_clusters=8, epsilon=epsilon, delta=nominal, iterations=7)
    sd = 1 / algorithm.plan(2, n).costs["update.counts"][0].mu
    assert sd == pytest.approx(sigma(epsilon, nominal) * math.sqrt(7 * (1 + math.sqrt(8))))
    reach = np.arange(int(9 * sd) + 1) + 0.5
    nearest = np.concatenate([-reach[::-1], reach])
    steps = np.arange(1, int(9 * sd) + 1)
    truncated = np.concatenate([-steps[::-1], steps]).astype(float)
    assert composed_delta(masses(sd, nearest), 1, 7, at, up=True) < nominal
    assert composed_delta(masses(sd, truncated), 1, 7, at, up=False) > 100 * nominal


def test_the_ring_rounds_to_nearest():
    """The exact audit of rounding assumes these thresholds, so the ring must use them."""
    tiny = 2.0**-24
    for ring in (PAPER, WIDE):
        for whole in (-2, -1, 0, 1, 2):
            near = np.array([whole - 0.5 + tiny, whole, whole + 0.5 - tiny])
            assert (ring.decode(ring.encode(near, 0), 0) == whole).all()


@pytest.mark.parametrize("drawn_by", DRAWN_BY)
def test_noise_enters_in_the_ring_and_nowhere_else(drawn_by):
    """No caller gets a plain sum: a session returns noisy values, and true values go only into the record of DEMO."""
    session = FederatedRows.simulate(dealt(), BOX, drawn_by=drawn_by).open()
    source = session.drawn_by(Seeded(np.random.default_rng(0)))
    noisy, true = session.noisy_sum(Count(), 0, lambda part, zero: zero + source.gaussian(3.0, zero.shape))
    assert true == {} and 0 < abs(noisy[""] - N) < 30
    with pytest.raises(PermissionError, match="releasing a sum without noise"):
        session.noisy_sum(Count(), 0, lambda part, zero: zero)


def test_rings_and_headers_are_plain_data():
    assert json.dumps({"bits": PAPER.bits, "fraction": PAPER.fraction})
    with pytest.raises(ValueError, match="Ring: bits must be one of 64, 32"):
        Ring(bits=16)
