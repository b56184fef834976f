"""Masked Secure Aggregation: central == federated bit for bit, masks, overflow, dropout, rounding, and what is seen."""

import json
import math

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import chi2, kstest

from dpviz.algorithms import ALGORITHMS
from dpviz.algorithms.fastlloyd import FastLloyd
from dpviz.algorithms.pe_means import PEMeans
from dpviz.domain import Domain
from dpviz.federated import (
    PAPER,
    SPREADS,
    WIDE,
    Aborted,
    Client,
    FederatedRows,
    Header,
    Ring,
    Server,
    payload_bytes,
    refusal,
    simulate,
    spread,
)
from dpviz.federated.client import _RemoteSession
from dpviz.federated.masks import mask
from dpviz.federated.rows import MaskedSession
from dpviz.geometry import Population
from dpviz.privacy.accounting import sigma
from dpviz.privacy.queries import Count, NearestVotes
from dpviz.privacy.rows import Session
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


FEDERATED = [slug for slug in ALGORITHMS if not refusal(make(slug), 2, N)]
REFUSED = [slug for slug in ALGORITHMS if slug not in FEDERATED]


def test_what_can_run_federated():
    assert {"pe-means", "hdpe-means", "aug-pe", "sulloyd", "glloyd", "fastlloyd", "nsm"} <= set(FEDERATED)
    assert {"kmeans"} <= set(REFUSED)


@pytest.mark.parametrize("slug", FEDERATED)
def test_federated_equals_central_bit_for_bit(slug):
    """Everything: centers, frames, ledger, even the hidden record, whatever client holds which row."""
    central = make(slug).run(rows(), domain=BOX, seed=0, dataset_id="x").to_json(include_hidden=True)
    for n_clients, how in ((2, "even"), (5, "by region"), (3, "skewed")):
        share = {f"client-{i + 1}": 4 * N for i in range(n_clients)}
        run = simulate(make(slug), dealt(n_clients, how), BOX, seed=0, dataset_id="x", capacities=share)
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
        assert public - {"path", "children"} <= {*vars(MaskedSession), *vars(kind)}
    empty = session._scopes[0].block
    assert empty.n == 0  # what is inherited sees no row


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
    federated = simulate(algorithm, dealt(), BOX, seed=0, ring=PAPER)
    step, sent = federated.trace.steps[-1], federated.rounds[0]
    true = central.hidden[0].statistic
    np.testing.assert_array_equal(true["sums"], step.hidden[0].statistic["sums"])
    noisy = {part: true[part] + sent.noise[part] for part in true}
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


def test_a_client_above_its_capacity_is_refused():
    with pytest.raises(ValueError, match="client-1: this client may hold at most 100 rows"):
        simulate(FastLloyd(n_clusters=3), dealt(), BOX, seed=0, n_max=300)


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


def header(round_=0, size=5, digits=24):
    return Header(round_, "Test", {"": (size,)}, {"": digits})


def parties(ring=WIDE, run=RUN):
    return {name: Client(name, NAMES, SEED, run, ring) for name in NAMES}, Server(NAMES, ring)


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
        Client("d", NAMES, SEED, RUN, WIDE)
    with pytest.raises(ValueError, match="each named once"):
        Client("a", ("a", "a"), SEED, RUN, WIDE)


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


def test_noise_enters_in_the_ring_and_nowhere_else():
    """There is no plain sum to steal: what a session returns is already noisy, and its truth is DEMO's record."""
    federated = FederatedRows.simulate(dealt(), BOX)
    noisy, true = federated.open().noisy_sum(Count(), 0, lambda part, zero: zero + 7.0)
    assert true == {} and noisy[""] == N + 7.0
    votes = NearestVotes(Population(np.zeros((2, 2))))
    assert federated.open().noisy_sum(votes, 0, lambda part, zero: zero)[0][""].tolist() == [N, 0]


def test_rings_and_headers_are_plain_data():
    assert json.dumps({"bits": PAPER.bits, "fraction": PAPER.fraction})
    with pytest.raises(ValueError, match="Ring: bits must be one of 64, 32"):
        Ring(bits=16)
