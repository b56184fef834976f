"""Check masks and parties: the sums that clients read, the masked words that the server sees, and who may take part."""

import numpy as np
import pytest
from scipy.stats import chi2, kstest

from dpviz.algorithms.lloyd.fastlloyd import FastLloyd
from dpviz.domain import Domain
from dpviz.federated import (
    PAPER,
    WIDE,
    Aborted,
    Client,
    FederatedRows,
    Server,
    simulate,
)
from dpviz.federated.masks import mask
from tests.federated.simulated import BOX, NAMES, RUN, SEED, SEEDS, N, dealt, header, parties, uniformity


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


@pytest.mark.parametrize("ring", [WIDE, PAPER])
def test_what_the_server_sees_is_uniform_whatever_the_data(ring):
    """What the server sees of two very different statistics looks uniformly random and cannot be told apart."""
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
        assert uniformity(plain) < 1e-12  # the test can detect non-uniform bytes
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


def test_no_mask_of_a_client_comes_again_in_another_round():
    """A client knows the common masks and can remove them, so the masks of pairs must differ from round to round."""
    clients, _ = parties()
    left = []
    for round_ in (0, 1):
        words = WIDE.read(clients["a"].upload(header(round_, size=4000), {"": np.zeros(4000)})[""], 4000)
        left.append(words - mask(SEED, RUN, "a", round_, "", 4000, WIDE))
    apart = left[0] - left[1]
    assert len(np.unique(apart)) == 4000 and uniformity(apart.tobytes()) > 1e-4


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
