"""Masked Secure Aggregation: central == federated bit for bit, masks, overflow, dropout, rounding, and what is seen."""

import dataclasses
import json
import math
from functools import lru_cache

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import chi2, kstest

from dpviz.algorithms import ALGORITHMS
from dpviz.algorithms.fastlloyd import FastLloyd
from dpviz.algorithms.pe_means import PEMeans
from dpviz.domain import Domain
from dpviz.federated import (
    CLIENTS,
    DRAWN_BY,
    PAPER,
    SERVER,
    SPREADS,
    WIDE,
    Aborted,
    Client,
    FederatedRows,
    Header,
    Ring,
    Server,
    Shares,
    payload_bytes,
    refusal,
    simulate,
    spread,
)
from dpviz.federated.client import _RemoteSession
from dpviz.federated.masks import Seeds, deal, mask
from dpviz.federated.rows import MaskedSession
from dpviz.figures.ledger import why
from dpviz.privacy.accounting import delta_of_mu, sigma
from dpviz.privacy.noise import Seeded
from dpviz.privacy.queries import Count
from dpviz.privacy.rows import Session, StatisticSession
from dpviz.trace import Trace
from tests.privacy.test_queries import block, companion_of, random_rows
from tests.query_cases import CASES

N = 600
BOX = Domain.box(-1, 1, 2, n_public=N)


def rows(n=N, seed=0):
    rng = np.random.default_rng(seed)
    centers = rng.uniform(-0.7, 0.7, (3, 2))
    return np.clip(centers[rng.integers(3, size=n)] + rng.normal(0, 0.1, (n, 2)), -1.1, 1.1)


def make(slug):
    return ALGORITHMS[slug](n_clusters=3)


def dealt(n_clients=3, how="even"):
    return spread(rows(), n_clients, how, np.random.default_rng(1))


def trusting(trace, trust):
    """The trace with another answer to who is trusted."""
    claimed, spent = (dataclasses.replace(promise, trust=trust) for promise in (trace.claimed, trace.spent))
    return dataclasses.replace(trace, claimed=claimed, spent=spent)


FEDERATED = [slug for slug in ALGORITHMS if not refusal(make(slug), 2, N)]
REFUSED = [slug for slug in ALGORITHMS if slug not in FEDERATED]


def test_what_can_run_federated():
    assert {"pe-means", "hdpe-means", "aug-pe", "sulloyd", "glloyd", "fastlloyd", "nsm"} <= set(FEDERATED)
    assert {"kmeans"} <= set(REFUSED)


@pytest.mark.parametrize("slug", FEDERATED)
def test_federated_equals_central_bit_for_bit(slug):
    """With the server's noise everything but whom to trust: centers, frames, ledger, even the hidden record."""
    trust = Shares(SERVER, 2).trust
    central = trusting(make(slug).run(rows(), domain=BOX, seed=0, dataset_id="x"), trust).to_json(include_hidden=True)
    for n_clients, how in ((2, "even"), (5, "by region"), (3, "skewed")):
        run = simulate(make(slug), dealt(n_clients, how), BOX, seed=0, dataset_id="x", drawn_by=SERVER)
        assert run.trace.to_json(include_hidden=True) == central, (n_clients, how)
        assert len(run.rounds) == len({(e.label, e.occurrence, e.path) for e in run.trace.ledger})


@pytest.mark.parametrize("slug", REFUSED)
def test_what_needs_a_trusted_curator_is_refused_before_anything_is_sent(slug):
    sent = []
    with pytest.raises(PermissionError, match=r"trusted curator|in one place|stay with their clients"):
        simulate(make(slug), dealt(), BOX, seed=0, on_round=sent.append)
    assert sent == []


def test_a_session_refuses_selections_keys_and_rows():
    session = FederatedRows.simulate(dealt(), BOX).open()
    refused = (session.noisy_argmax, session.noisy_keys, session.noisy_cover, session.perturb, session.ask)
    for call in refused:
        with pytest.raises(PermissionError, match="needs a trusted curator; federated clients reveal only noisy sums"):
            call(None, None, None)
    public = {name for name in dir(Session) if not name.startswith("_")}
    for kind in (type(session), _RemoteSession):  # nothing that reads rows is inherited
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
    """What is read is the noisy sum modulo the ring: nothing but that sum goes into it."""
    clients, server = parties(PAPER)
    head = header(digits=16)
    uploads = {name: client.upload(head, {"": np.full(5, 30_000.25)}) for name, client in clients.items()}
    read = clients["a"].unmask(head, server.add(head, uploads, {"": np.full(5, 0.5)}))[""]
    assert (read == (3 * 30_000.25 + 0.5 + 32768) % 65536 - 32768).all()


@pytest.mark.parametrize("cls", CASES, ids=lambda cls: cls.__name__)
def test_every_statistic_lies_on_its_declared_grid(cls):
    """Otherwise a ring would round it."""
    case, rng = CASES[cls], np.random.default_rng(5)
    for _ in range(20):
        d = int(rng.choice(case.dims))
        query = case.build(rng, d)
        beside = companion_of(query)
        x = random_rows(rng, 9, d if beside is None else 2 * d)
        for part, value in query.statistic(block(x, case.radius, beside)).items():
            np.testing.assert_array_equal(value / query.grid(part), np.rint(value / query.grid(part)))


# Masks and parties

SEED, RUN = b"s" * 32, b"r" * 16
NAMES = ("a", "b", "c")
SEEDS = {
    name: Seeds(SEED, {other: "".join(sorted(name + other)).encode() * 16 for other in NAMES if other != name})
    for name in NAMES
}


def header(round_=0, size=5, digits=24):
    return Header(round_, "Test", {"": (size,)}, {"": digits})


def parties(ring=WIDE, run=RUN):
    return {name: Client(name, NAMES, SEEDS[name], run, ring) for name in NAMES}, Server(NAMES, ring)


def test_all_clients_read_the_same_exact_sum():
    for ring, digits in ((WIDE, 24), (PAPER, 16)):
        clients, server = parties(ring)
        values = {name: np.arange(5) * (i - 1) / 4 for i, name in enumerate(NAMES)}
        noise = np.array([0.25, -0.5, 0.0, 1.0, -3.0])
        head = header(digits=digits)
        uploads = {name: client.upload(head, {"": values[name]}) for name, client in clients.items()}
        broadcast = server.add(head, uploads, {"": noise})
        for client in clients.values():
            np.testing.assert_array_equal(client.unmask(head, broadcast)[""], sum(values.values()) + noise)


def test_without_noise_federated_equals_central_within_the_rounding():
    rng = np.random.default_rng(0)
    values = {name: rng.normal(0, 30, 200) for name in NAMES}
    for ring, digits in ((WIDE, 24), (PAPER, 16)):
        clients, server = parties(ring)
        head = header(size=200, digits=digits)
        uploads = {name: client.upload(head, {"": values[name]}) for name, client in clients.items()}
        noisy = clients["a"].unmask(head, server.add(head, uploads, {"": np.zeros(200)}))[""]
        assert np.abs(noisy - sum(values.values())).max() <= len(NAMES) * 2.0 ** -(digits + 1)


def test_no_two_streams_are_alike():
    streams = [
        mask(seed, run, client, round_, label, 4, WIDE).tobytes()
        for seed in (SEED, b"t" * 32)
        for run in (RUN, b"q" * 16)
        for client in ("a", "b", "ab")
        for round_ in (0, 1)
        for label in ("sums", "counts", "")
    ]
    assert len(set(streams)) == len(streams)
    assert mask(SEED, RUN, "a", 0, "bc", 4, WIDE).tobytes() != mask(SEED, RUN, "ab", 0, "c", 4, WIDE).tobytes()


def test_a_flipped_bit_changes_what_is_read():
    clients, server = parties()
    uploads = {name: client.upload(header(), {"": np.zeros(5)}) for name, client in clients.items()}
    rng = np.random.default_rng(0)
    for _ in range(64):
        wrong = bytearray(uploads["b"][""])
        wrong[rng.integers(len(wrong))] ^= 1 << rng.integers(8)
        broadcast = server.add(header(), {**uploads, "b": {"": bytes(wrong)}}, {"": np.zeros(5)})
        assert (clients["a"].unmask(header(), broadcast)[""] != 0).any()


def uniformity(payload):
    """Return the p-value of a chi-square test that bytes are uniform."""
    counts = np.bincount(np.frombuffer(payload, dtype=np.uint8), minlength=256)
    expected = counts.sum() / 256
    return chi2.sf(((counts - expected) ** 2 / expected).sum(), 255)


@pytest.mark.parametrize("ring", [WIDE, PAPER])
def test_what_the_server_sees_is_uniform_whatever_the_data(ring):
    """Two very different statistics: both look like noise, and the two views cannot be told apart."""
    views = {}
    for value in (0.0, 30_000.0):
        seen = []
        for i in range(60):
            clients, server = parties(ring, run=i.to_bytes(16, "little"))
            head = header(size=500, digits=ring.whole_fraction)
            upload = clients["a"].upload(head, {"": np.full(500, value)})[""]
            seen.append(upload)
        views[value] = b"".join(seen)
        assert uniformity(views[value]) > 1e-4
        plain = ring.encode(np.full(5000, value), ring.whole_fraction).tobytes()
        assert uniformity(plain) < 1e-12  # the test has power
    first, second = (np.bincount(np.frombuffer(view, dtype=np.uint8), minlength=256) for view in views.values())
    assert chi2.sf(((first - second) ** 2 / (first + second)).sum(), 256) > 1e-4


def test_a_run_shows_the_server_uniform_words():
    run = simulate(FastLloyd(n_clusters=40, iterations=7), dealt(8), BOX, seed=0)
    seen = b"".join(p for r in run.rounds for parts in r.uploads.values() for p in parts.values())
    assert uniformity(seen) > 1e-4
    assert uniformity(b"".join(p for r in run.rounds for p in r.broadcast.values())) > 1e-4


def test_the_server_holds_no_seed_and_runs_never_share_masks():
    _, server = parties()
    assert not any(isinstance(value, bytes) for value in vars(server).values())
    federated = FederatedRows.simulate(dealt(), BOX, demo=True)
    seen = []
    federated.on_round = seen.append
    algorithm = FastLloyd(n_clusters=3)
    first, second = (algorithm.run(federated, seed=0) for _ in range(2))
    assert first.to_json(include_hidden=True) == second.to_json(include_hidden=True)
    half = len(seen) // 2
    for a, b in zip(seen[:half], seen[half:], strict=True):
        assert a.uploads["client-1"]["sums"] != b.uploads["client-1"]["sums"]
        np.testing.assert_array_equal(a.locals["client-1"]["sums"], b.locals["client-1"]["sums"])


def test_a_mask_is_never_used_twice():
    clients, _ = parties()
    clients["a"].upload(header(0), {"": np.zeros(5)})
    for round_ in (0, 2):
        with pytest.raises(Aborted, match="round 1 is next; a mask is never used twice"):
            clients["a"].upload(header(round_), {"": np.ones(5)})


def test_a_missing_client_aborts_and_a_short_payload_too():
    clients, server = parties()
    uploads = {name: client.upload(header(), {"": np.zeros(5)}) for name, client in clients.items()}
    with pytest.raises(Aborted, match="round 1 is aborted: b did not answer"):
        server.add(header(), {name: uploads[name] for name in ("a", "c")}, {"": np.zeros(5)})
    for bad in (b"", uploads["b"][""][:-1], uploads["b"][""] + b"\0" * 8):
        with pytest.raises(Aborted, match="round 1 is aborted: b: .*must hold 5 words"):
            server.add(header(), {**uploads, "b": {"": bad}}, {"": np.zeros(5)})


def test_without_one_clients_words_the_sum_stays_random():
    clients, _ = parties()
    head = header(size=2000)
    uploads = {name: client.upload(head, {"": np.zeros(2000)}) for name, client in clients.items()}
    partial = Server(("a", "c"), WIDE).add(head, {n: uploads[n] for n in ("a", "c")}, {"": np.zeros(2000)})
    garbage = clients["a"].unmask(head, partial)[""]
    assert kstest(garbage / WIDE.limit(24), "uniform", (-1, 2)).pvalue > 1e-4


def test_a_dropped_client_aborts_the_run_and_finished_rounds_stay():
    run = simulate(FastLloyd(n_clusters=3, iterations=5), dealt(4), BOX, seed=0, drop=(2, 3))
    assert run.trace is None and len(run.rounds) == 3
    assert "round 4 is aborted: client-3 did not answer" in run.aborted


def test_names_must_be_known_and_differ():
    with pytest.raises(ValueError, match="must be one of the clients"):
        Client("d", NAMES, SEEDS["a"], RUN, WIDE)
    with pytest.raises(ValueError, match="each named once"):
        Client("a", ("a", "a"), SEEDS["a"], RUN, WIDE)
    with pytest.raises(ValueError, match="one seed for each other client"):
        Client("a", NAMES, SEEDS["b"], RUN, WIDE)


def test_clients_must_declare_one_domain():
    other = Domain.box(-2, 2, 2, n_public=N)
    clients = FederatedRows.simulate(dealt(2), BOX).clients
    strangers = FederatedRows.simulate(dealt(2), other).clients
    with pytest.raises(ValueError, match="same domain"):
        FederatedRows({"a": clients["client-1"], "b": strangers["client-2"]})
    with pytest.raises(ValueError, match="at least one client"):
        FederatedRows({})


def test_secure_runs_record_no_truth():
    run = simulate(FastLloyd(n_clusters=3), dealt(), BOX, noise="secure")
    assert all(not r.locals and not r.noise for r in run.rounds)
    assert not any(step.hidden for step in run.trace.steps)


# Bytes


def test_table_3_of_the_paper_is_eight_byte_words():
    for k, d, wanted in ((2, 2, 192), (4, 2, 384), (5, 2, 480), (3, 2, 288), (15, 2, 1440), (10, 2, 960)):
        assert payload_bytes(2, k * (d + 1), 8) == wanted
    assert payload_bytes(2, 6, 4) == 96  # the ring that the text states


@pytest.mark.parametrize(("ring", "word"), [(WIDE, 8), (PAPER, 4)])
def test_counted_bytes_are_the_formula(ring, word):
    run = simulate(FastLloyd(n_clusters=3, fraction_bits=16), dealt(4), BOX, seed=0, ring=ring)
    for r in run.rounds:
        assert r.bytes_up + r.bytes_down == payload_bytes(4, 3 * 3, word)
    assert run.bytes == len(run.rounds) * payload_bytes(4, 9, word)


# Rounding


def composed_delta(masses, shift, rounds, epsilon, *, up):
    """Delta at epsilon of `rounds` releases of X against X + shift on whole numbers, from the probability masses.

    Privacy losses are rounded to multiples of 1e-3, up or down, so that the result bounds delta from that side.
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
    return np.maximum(left, left[::-1])  # symmetric, and exact in the left tail only


@pytest.mark.parametrize(("epsilon", "at"), [(1.0, 1.0), (0.1, 0.5)])
def test_rounding_to_nearest_keeps_the_promise_and_truncation_breaks_it(epsilon, at):
    """The count stream of FastLloyd (d = 2, n = 20,000, k = 8), exactly, under both roundings."""
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
    """The thresholds that the audit above assumes are the ring's own."""
    tiny = 2.0**-24
    for ring in (PAPER, WIDE):
        for whole in (-2, -1, 0, 1, 2):
            near = np.array([whole - 0.5 + tiny, whole, whole + 0.5 - tiny])
            assert (ring.decode(ring.encode(near, 0), 0) == whole).all()


@pytest.mark.parametrize("drawn_by", DRAWN_BY)
def test_noise_enters_in_the_ring_and_nowhere_else(drawn_by):
    """There is no plain sum to steal: what a session returns is already noisy, and its truth is DEMO's record."""
    session = FederatedRows.simulate(dealt(), BOX, drawn_by=drawn_by).open()
    source = session.drawn_by(Seeded(np.random.default_rng(0)))
    noisy, true = session.noisy_sum(Count(), 0, lambda part, zero: zero + source.gaussian(3.0, zero.shape))
    assert true == {} and 0 < abs(noisy[""] - N) < 30
    with pytest.raises(PermissionError, match="releasing a sum without noise"):
        session.noisy_sum(Count(), 0, lambda part, zero: zero)


# Who draws the noise, and what any one party can take off

PARTIES = (SERVER, "client-1", "client-2", "client-3")


@lru_cache
def left_over(slug, drawn_by):
    """What is left of the noise in the published trace after a party took off all it drew: party -> values / scale."""
    left = {party: [] for party in PARTIES}
    for seed in range(40):
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
    """Every client still faces the noise that the promise counts, and the server all of it."""
    left = left_over("fastlloyd", CLIENTS)
    for party in PARTIES[1:]:
        assert kstest(left[party], "norm").pvalue > 1e-4
        assert chi2.cdf((left[party] ** 2).sum(), left[party].size) > 1e-4
        assert chi2.cdf((left[party] ** 2).sum() * 2 / 3, left[party].size) < 1e-4  # parts of sigma^2 / M would be seen
    assert kstest(left[SERVER], "norm", (0, math.sqrt(3 / 2))).pvalue > 1e-4


def test_a_server_that_draws_the_noise_has_the_exact_sums_once_it_sees_the_result():
    left = left_over("fastlloyd", SERVER)
    assert not left[SERVER].any()
    assert all(kstest(left[party], "norm").pvalue > 1e-4 for party in PARTIES[1:])


def two_laplaces(x):
    """Return the chance that the sum of two Laplace values is at most x."""
    tail = (2 + np.abs(x)) * np.exp(-np.abs(x)) / 4
    return np.where(x < 0, tail, 1 - tail)


def test_laplace_noise_is_drawn_in_full_by_two_clients():
    left = left_over("sulloyd", CLIENTS)
    for party in ("client-1", "client-2"):
        assert kstest(left[party], "laplace").pvalue > 1e-4
    for party in ("client-3", SERVER):
        assert kstest(left[party], two_laplaces).pvalue > 1e-4
        assert kstest(left[party], "laplace").pvalue < 0.01  # the test has power
    assert not left_over("sulloyd", SERVER)[SERVER].any()


def test_a_client_that_tells_the_server_everything_leaves_it_the_sum_of_the_others_and_no_more():
    size, head = 3000, header(size=3000)
    values = {name: np.full(size, float(i)) for i, name in enumerate(NAMES)}
    clients, _ = parties()
    uploads = {name: client.upload(head, {"": values[name]}) for name, client in clients.items()}
    peeled = []
    for name in ("b", "c"):  # what a knows: the common seed, and its own pairs, which b and c take off
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
    assert all((each * 2**16 % 1 == 0).all() for each in drawn)  # on the ring's own grid: nothing is rounded
    assert not shares.server(noise, mechanism, scale, (9,)).any()
    assert not Shares(SERVER, n_clients).client(noise, mechanism, scale, (9,), 0, 24).any()


def test_noise_too_narrow_for_the_grid_is_refused_rather_than_cut_into_parts():
    noise = Seeded(np.random.default_rng(0))
    with pytest.raises(ValueError, match="too narrow to be shared on 16 fraction bits; take the 64-bit ring"):
        Shares(CLIENTS, 3).client(noise, "Gaussian", 0.49, (1,), 0, 16)
    Shares(CLIENTS, 3).client(noise, "Gaussian", 0.51, (1,), 0, 16)
    Shares(CLIENTS, 3).client(noise, "Gaussian", 0.002, (1,), 0, 24)


def discrete(sd, reach=60):
    """Probabilities of the discrete Gaussian on whole numbers from -reach to reach."""
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
    """What `shares` says of the grid: at most a factor 1 + (grid / sd)^2; at 2^15 steps that is below 1e-9."""
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
    assert "carries 1.5 times that variance" in why(run.trace.ledger[0], "a row")
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


def test_rings_and_headers_are_plain_data():
    assert json.dumps({"bits": PAPER.bits, "fraction": PAPER.fraction})
    with pytest.raises(ValueError, match="Ring: bits must be one of 64, 32"):
        Ring(bits=16)
