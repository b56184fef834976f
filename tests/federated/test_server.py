"""Parties over TLS: the same centers as a central run, and one clear sentence on every side whatever breaks."""

import asyncio
import contextlib
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("cryptography")

from dpviz.algorithms import ALGORITHMS
from dpviz.algorithms.fastlloyd import FastLloyd
from dpviz.cli import main
from dpviz.domain import Domain
from dpviz.federated import PAPER, SERVER, Aborted, client, door, messages, spread
from dpviz.federated.agreement import Agreement, new_run
from dpviz.federated.keys import client_context, make_keys, mask_seeds, server_context
from dpviz.federated.masks import Seeds
from dpviz.federated.messages import HEADER_BYTES, Kind, Message, MessageError, pack_round, unpack_round
from dpviz.federated.server import serve
from dpviz.privacy.noise import Secure, Seeded
from dpviz.trace import Trace

ROOT = Path(__file__).parents[2]
NAMES = ("ann", "bob", "cem")
N = 300
BOX = Domain.box(-1, 1, 2, n_public=N)
X = np.clip(np.random.default_rng(0).normal(0, 0.4, (N, 2)), -1, 1)
PARTS = dict(zip(NAMES, spread(X, 3, "skewed", np.random.default_rng(0)), strict=True))


def agreed(algorithm=None, names=NAMES, **facts):
    return Agreement(algorithm or FastLloyd(n_clusters=3, iterations=4), BOX, names, **facts)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("keys") / "set"
    make_keys(path, agreed(), ["localhost", "127.0.0.1"])
    return path


class Host:
    """A server in a thread; `result()` is its report or raises its reason."""

    def __init__(self, folder, agreement, noise=None, **timeouts):
        self.said, self.future, ports = [], Future(), []
        ready = threading.Event()

        def listening(port):
            ports.append(port)
            ready.set()

        def work():
            options = {"join_timeout": 200.0, "round_timeout": 200.0, **timeouts}
            running = serve(
                agreement, server_context(folder / "server"), noise or Secure(), say=self.said.append,
                ready=listening, **options,
            )  # fmt: skip
            try:
                self.future.set_result(asyncio.run(running))
            except BaseException as reason:
                self.future.set_exception(reason)

        threading.Thread(target=work, daemon=True).start()
        assert ready.wait(200)
        self.port = ports[0]

    def result(self, timeout=400):
        return self.future.result(timeout)


def join(folder, agreement, name, port, *, keys=None, rows=None, **timeouts):
    threading.current_thread().name = name
    options = {"join_timeout": 200.0, "round_timeout": 200.0, **timeouts}
    common, pairs = mask_seeds(folder / name)
    seeds = Seeds(common, {other: seed for other, seed in pairs.items() if other in agreement.clients})
    return client.take_part(
        agreement, name, PARTS[name] if rows is None else rows, client_context(keys or folder / name),
        seeds, address=("127.0.0.1", port), **options,
    )  # fmt: skip


def everybody(folder, agreement, host, **options):
    """Run all clients in threads; return name -> trace or exception."""
    with ThreadPoolExecutor(len(agreement.clients)) as pool:
        tasks = {name: pool.submit(join, folder, agreement, name, host.port, **options) for name in agreement.clients}
        return {name: task.exception() or task.result() for name, task in tasks.items()}


def servers_noise(seed=0):
    """The stream a central run with this seed would draw from."""
    return Seeded(np.random.default_rng(np.random.SeedSequence(seed).spawn(2)[1]))


@pytest.mark.parametrize("slug", ["fastlloyd", "sulloyd", "pe-means"])
def test_over_tls_everybody_gets_what_a_central_run_releases(folder, slug):
    agreement = agreed(ALGORITHMS[slug](n_clusters=3), n_max=12 * N, drawn_by=SERVER)
    host = Host(folder, agreement, servers_noise())
    traces = everybody(folder, agreement, host)
    central = agreement.algorithm.run(X, domain=BOX, seed=0, dataset_id="federated")
    texts = {trace.to_json() for trace in traces.values()}
    assert len(texts) == 1
    trace = traces["ann"]
    np.testing.assert_array_equal(trace.cluster_centers, central.cluster_centers)
    for mine, theirs in zip(trace.steps, central.steps, strict=True):
        assert mine.title == theirs.title and not mine.hidden
        for key, value in theirs.released.items():
            np.testing.assert_array_equal(mine.released[key], value)
    assert trace.ledger == central.ledger and trace.seed is None and trace.notice == "released values only"
    report = host.result()
    assert report.rounds == len({entry.occurrence for entry in trace.ledger})
    if slug == "fastlloyd":
        assert report.bytes_up == report.bytes_down == report.rounds * 3 * 8 * 9


class NoDraws:
    """A noise source that must not be asked."""

    reproducible = False


@pytest.mark.parametrize("slug", ["fastlloyd", "sulloyd"])
def test_over_tls_the_clients_draw_and_the_server_does_not(folder, slug):
    agreement = agreed(ALGORITHMS[slug](n_clusters=3), n_max=12 * N)
    host = Host(folder, agreement, NoDraws())
    traces = everybody(folder, agreement, host)
    assert len({trace.to_json() for trace in traces.values()}) == 1
    released, central = traces["ann"], agreement.algorithm.run(X, domain=BOX, seed=0)
    assert released.claimed.epsilon == central.claimed.epsilon and "at most one client" in released.claimed.trust
    off = np.abs(released.steps[-1].released["noisy_counts"].sum() - N)
    assert 0 < off < 12 * released.steps[-1].released["counts_sd"]


def test_the_narrow_ring_travels_too(folder):
    agreement = agreed(FastLloyd(n_clusters=3, iterations=2, fraction_bits=16), ring=PAPER, n_max=12 * N)
    host = Host(folder, agreement)
    traces = everybody(folder, agreement, host)
    assert len({trace.to_json() for trace in traces.values()}) == 1
    assert host.result().bytes_up == 2 * 3 * 4 * 9


# Faults of clients. Each is (what the rogue does, who says what).


class Faulty(client.Link):
    """A link whose owner, if it is `rogue`, breaks the frame of one round."""

    rogue, round, fault = "bob", 1, None
    late, over = threading.Event(), threading.Event()  # the rogue is behind; the server has given up

    def send(self, frame):
        if threading.current_thread().name != self.rogue or frame.kind is not Kind.UPLOAD or frame.round != self.round:
            return super().send(frame)
        return getattr(self, f"_{self.fault}")(frame)

    def _raw(self, data, *, then_close=False):
        self._socket.sendall(data)
        if then_close:
            self.close()
            raise Aborted("rogue left")

    def _dies(self, frame):
        self.close()
        raise Aborted("rogue left")

    def _late(self, frame):
        self.late.set()
        assert self.over.wait(400)
        super().send(frame)

    def _truncated(self, frame):
        self._raw(frame.pack()[:-5], then_close=True)

    def _corrupted(self, frame):
        data = bytearray(frame.pack())
        data[-1] ^= 1
        self._raw(bytes(data))

    def _replayed(self, frame):
        super().send(Message(Kind.UPLOAD, frame.round - 1, frame.run, frame.payload))

    def _other_run(self, frame):
        super().send(Message(Kind.UPLOAD, frame.round, bytes(16), frame.payload))

    def _oversized(self, frame):
        data = bytearray(frame.pack())
        data[26:30] = (2**31).to_bytes(4, "little")
        self._raw(bytes(data))

    def _wrong_version(self, frame):
        data = bytearray(frame.pack())
        data[4] = 9
        self._raw(bytes(data))

    def _not_a_frame(self, frame):
        self._raw(b"GET / HTTP/1.1\r\nHost: server\r\n\r\n" + bytes(HEADER_BYTES))

    def _wrong_kind(self, frame):
        super().send(Message(Kind.SUM, frame.round, frame.run, frame.payload))

    def _too_few_words(self, frame):
        super().send(Message(Kind.UPLOAD, frame.round, frame.run, frame.payload[:-8]))

    def _other_question(self, frame):
        _, facts, words = unpack_round(frame.payload)
        facts["parts"][0][4] = 1e-9
        super().send(Message(Kind.UPLOAD, frame.round, frame.run, pack_round(facts, words)))

    def _garbage(self, frame):
        super().send(Message(Kind.UPLOAD, frame.round, frame.run, b"\xff" * 40))

    def _deep(self, frame):
        self._facts(frame, b"[" * 100_000)

    def _endless_shape(self, frame):
        self._facts(frame, b'{"query": "q", "parts": [["sums", [Infinity], 24, "Gaussian", 1.0]]}')

    def _huge_scale(self, frame):
        self._facts(frame, b'{"query": "q", "parts": [["sums", [3], 24, "Gaussian", 1' + b"0" * 400 + b"]]}")

    def _facts(self, frame, text):
        payload = len(text).to_bytes(4, "little") + text
        super().send(Message(Kind.UPLOAD, frame.round, frame.run, payload))

    def _curses(self, frame):
        super().send(Message(Kind.ABORT, payload=b"\x1b]0;owned\x07\x1b[2Jgo"))

    def _early_end(self, frame):
        super().send(Message(Kind.DONE, frame.round, frame.run))


FAULTS = {
    "dies": "round 2: bob is gone",
    "late": "round 2: bob is late: no answer within 1.5 s",
    "truncated": "round 2: bob is gone",
    "corrupted": "round 2: bob sent a corrupted frame",
    "replayed": "round 2: bob sent a frame of another run or round in round 2",
    "other_run": "round 2: bob sent a frame of another run or round in round 2",
    "oversized": "round 2: bob announced a frame of 2,147,483,648 bytes; at most 67,108,864 are allowed",
    "wrong_version": "round 2: bob speaks version 9 of the protocol, and this side version 1",
    "not_a_frame": "round 2: bob sent something that is not a dpviz frame",
    "wrong_kind": "round 2: bob sent SUM where its words were due",
    "too_few_words": "round 2: bob sent 64 bytes of words; 72 were due",
    "other_question": "round 2: bob asks for something else than ann",
    "garbage": "round 2: bob sent an upload with an unreadable description",
    "deep": "round 2: bob sent an upload with an unreadable description",
    "curses": "round 2: bob stopped: �]0;owned��[2Jgo",
    "early_end": "round 2: bob finished before the others",
}


def break_one(monkeypatch, fault, round_=1, rogue="bob"):
    late, over = threading.Event(), threading.Event()
    made = type("Broken", (Faulty,), {"fault": fault, "round": round_, "rogue": rogue, "late": late, "over": over})
    monkeypatch.setattr(client, "Link", made)
    monkeypatch.setattr(asyncio, "wait", partial(_deadline, late, over))


DEADLINE, WAIT = 1.5, asyncio.wait


async def _deadline(late, over, tasks, *, timeout=None, **more):
    """Let a deadline of `DEADLINE` pass when the rogue alone is behind: a busy machine makes nobody else late."""
    if timeout != DEADLINE:
        return await WAIT(tasks, timeout=timeout, **more)
    while True:
        done, left = await WAIT(tasks, timeout=0.01, **more)
        if not left or any(task.exception() for task in done):
            return done, left
        if late.is_set() and len(left) == 1:
            over.set()
            return done, left


@pytest.mark.parametrize("fault", FAULTS)
def test_a_client_s_fault_is_named_on_every_side_and_nothing_hangs(folder, monkeypatch, fault):
    break_one(monkeypatch, fault)
    host = Host(folder, agreed(), round_timeout=DEADLINE if fault == "late" else 200.0)
    ends = everybody(folder, agreed(), host)  # long before anybody's deadline, but for the one that is late
    with pytest.raises(Aborted) as reason:
        host.result()
    assert FAULTS[fault] in str(reason.value)
    for name in ("ann", "cem"):
        assert isinstance(ends[name], Aborted) and FAULTS[fault] in str(ends[name]), ends[name]
    assert isinstance(ends["bob"], Aborted)


@pytest.mark.parametrize("fault", ["endless_shape", "huge_scale"])
def test_a_question_that_cannot_be_one_is_named_on_every_side(folder, monkeypatch, fault):
    break_one(monkeypatch, fault, rogue="ann")
    ends = everybody(folder, agreed(), Host(folder, agreed()))
    for name in ("bob", "cem"):
        assert "round 2: ann sent an upload with an unreadable description" in str(ends[name])


@pytest.mark.slow
def test_eight_faults_in_each_of_twelve_rounds(folder, monkeypatch):
    """Every run is cleanly aborted, not by a deadline but for the one that is late, and names the client."""
    kinds = ("dies", "late", "truncated", "corrupted", "replayed", "oversized", "wrong_version", "other_question")
    agreement = agreed(FastLloyd(n_clusters=3, iterations=12))
    for fault in kinds:
        for round_ in range(12):
            if fault == "replayed" and round_ == 0:
                continue  # there is nothing to replay yet
            break_one(monkeypatch, fault, round_)
            host = Host(folder, agreement, round_timeout=DEADLINE if fault == "late" else 200.0)
            ends = everybody(folder, agreement, host)
            with pytest.raises(Aborted, match=f"round {round_ + 1}: bob"):
                host.result()
            assert all(isinstance(end, Aborted) for end in ends.values()), (fault, round_, ends)


def test_a_client_that_never_comes_is_named(folder):
    host = Host(folder, agreed(), join_timeout=5.0)
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(join, folder, agreed(), name, host.port) for name in ("ann", "cem")]
        for task in waiting:
            with pytest.raises(Aborted, match=r"only 2 of 3 clients joined within 5 s; missing: bob"):
                task.result(400)
    with pytest.raises(Aborted, match="missing: bob. Nothing was sent"):
        host.result()


# Who may come


def test_strangers_are_refused_and_the_run_goes_on(folder, tmp_path):
    other = tmp_path / "other"
    make_keys(other, agreed())
    host = Host(folder, agreed())
    with pytest.raises(Aborted, match="certificate is not this federation's"):
        join(folder, agreed(), "bob", host.port, keys=other / "bob")
    stranger = client_context(folder / "bob")  # trusts the server, but shows a certificate of another authority
    stranger.load_cert_chain(other / "bob" / "cert.pem", other / "bob" / "key.pem")
    servers = client_context(folder / "bob")
    servers.load_cert_chain(folder / "server" / "cert.pem", folder / "server" / "key.pem")
    nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    nobody.load_verify_locations(folder / "bob" / "ca.pem")
    for context in (stranger, servers, nobody):
        link = client.Link(("127.0.0.1", host.port), context, 200.0)
        with pytest.raises(Aborted, match="refused this client or closed the connection"):
            link.send(Message(Kind.HELLO, payload=bytes(64)))
            link.read(Kind.START, 200.0)
        link.close()
    with socket.create_connection(("127.0.0.1", host.port), 200.0) as plain:
        plain.sendall(Message(Kind.HELLO, payload=bytes(64)).pack())
        plain.settimeout(200.0)
        assert messages.MAGIC not in plain.recv(100)  # a TLS alert, or nothing
    old = client_context(folder / "bob")
    old.minimum_version = ssl.TLSVersion.TLSv1_2
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    with pytest.raises(Aborted, match="no TLS 1.3 with"):
        client.Link(("127.0.0.1", host.port), old, 200.0)
    ends = everybody(folder, agreed(), host)
    assert all(isinstance(end, Trace) for end in ends.values())
    assert host.result().rounds == 4


def test_a_certificate_alone_is_not_enough(folder):
    """cem's certificate is of the right authority, but this run is between ann and bob."""
    two = agreed(names=("ann", "bob"))
    host = Host(folder, two)
    link = client.Link(("127.0.0.1", host.port), client_context(folder / "cem"), 200.0)
    with pytest.raises(Aborted, match="refused: cem is not among the clients of this run"):
        link.read(Kind.START, 200.0)
    link.close()
    ends = everybody(folder, two, host)
    assert all(isinstance(end, Trace) for end in ends.values())
    assert "refused: cem is not among the clients of this run" in host.said


def test_another_agreement_and_a_second_ann_are_refused(folder):
    host = Host(folder, agreed())
    other = agreed(FastLloyd(n_clusters=3, iterations=4, epsilon=9.0))
    with pytest.raises(Aborted, match="bob holds another agreement"):
        join(folder, other, "bob", host.port)
    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(join, folder, agreed(), "ann", host.port)
        while not any("ann joined" in line for line in host.said):
            time.sleep(0.01)
        with pytest.raises(Aborted, match="ann has joined already"):
            join(folder, agreed(), "ann", host.port)
        rest = [pool.submit(join, folder, agreed(), name, host.port) for name in ("bob", "cem")]
        assert all(isinstance(task.result(400), Trace) for task in (first, *rest))


def hello(folder, name, port):
    """Join as `name` and return the connection."""
    link = client.Link(("127.0.0.1", port), client_context(folder / name), 200.0)
    link.send(Message(Kind.HELLO, payload=bytes(32) + agreed().digest))
    return link


def until(condition, seconds=200.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)


def test_a_client_that_loses_its_line_before_the_start_may_come_back(folder):
    host = Host(folder, agreed())
    lost = hello(folder, "ann", host.port)
    until(lambda: "ann joined (1 of 3)" in host.said)
    lost.close()
    until(lambda: "ann left before the start; it may come back" in host.said)
    ends = everybody(folder, agreed(), host)
    assert all(isinstance(end, Trace) for end in ends.values()) and host.result().rounds == 4


def test_a_client_that_speaks_before_the_start_loses_its_place(folder):
    host = Host(folder, agreed())
    eager = hello(folder, "ann", host.port)
    until(lambda: "ann joined (1 of 3)" in host.said)
    eager.send(Message(Kind.DONE))
    with pytest.raises(Aborted, match="ann spoke before the start"):
        eager.read(Kind.START, 200.0)
    eager.close()
    assert all(isinstance(end, Trace) for end in everybody(folder, agreed(), host).values())


def test_a_bad_introduction_does_not_spoil_a_good_run(folder):
    host = Host(folder, agreed())
    for payload in (b"", bytes(64)):
        link = client.Link(("127.0.0.1", host.port), client_context(folder / "bob"), 200.0)
        link.send(Message(Kind.HELLO, payload=payload))
        with pytest.raises(Aborted, match="did not introduce itself|another agreement"):
            link.read(Kind.START, 200.0)
        link.close()
    assert all(isinstance(end, Trace) for end in everybody(folder, agreed(), host).values())
    assert host.result().rounds == 4


def test_idle_connections_keep_nobody_out_and_say_little(folder, monkeypatch):
    monkeypatch.setattr(door, "MOST_GUESTS", 8)
    host = Host(folder, agreed())
    idle = []
    for _ in range(60):
        idle.append(socket.create_connection(("127.0.0.1", host.port), 200.0))
        idle[-1].settimeout(200.0)
    for connection in idle[:52]:  # only the last eight are still open
        with contextlib.suppress(ConnectionResetError):
            assert connection.recv(1) == b""
    assert all(isinstance(end, Trace) for end in everybody(folder, agreed(), host).values())
    assert host.result().rounds == 4 and len(host.said) < 30
    for connection in idle:
        connection.close()


def test_a_guest_that_says_nothing_is_shown_out(folder, monkeypatch):
    monkeypatch.setattr(door, "GREETING_SECONDS", 0.3)
    host = Host(folder, agreed(), join_timeout=200.0)
    with socket.create_connection(("127.0.0.1", host.port), 200.0) as plain, contextlib.suppress(ConnectionResetError):
        assert plain.recv(100) == b""
    silent = client.Link(("127.0.0.1", host.port), client_context(folder / "bob"), 200.0)
    with pytest.raises(Aborted, match="bob left or said nothing before the start"):
        silent.read(Kind.START, 200.0)
    silent.close()
    monkeypatch.setattr(door, "GREETING_SECONDS", 20.0)
    assert all(isinstance(end, Trace) for end in everybody(folder, agreed(), host).values())


def test_a_server_whose_own_program_fails_tells_the_clients(folder):
    agreement = agreed(drawn_by=SERVER)
    host = Host(folder, agreement, NoDraws())
    ends = everybody(folder, agreement, host)
    assert all("aborted: the server's own program failed" in str(end) for end in ends.values())
    with pytest.raises(AttributeError):
        host.result()


def test_the_server_s_command_ends_in_one_sentence_and_its_exit_code(folder, capsys):
    """Nobody comes; and a port that is taken. On Python 3.11 the first ended in a traceback once a client had gone."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["federated", "server", str(folder / "server"), "--port", str(port)]) == 2
    assert f"dpviz: federated: cannot listen on 127.0.0.1:{port}" in capsys.readouterr().err
    ended = Future()
    arguments = ["federated", "server", str(folder / "server"), "--port", str(port), "--join-timeout", "6"]
    thread = threading.Thread(target=lambda: ended.set_result(main(arguments)), daemon=True)
    thread.start()
    links = []

    def joined():
        with contextlib.suppress(Aborted):
            links.append(hello(folder, "ann", port))
        return bool(links)

    until(joined, 6.0)
    assert ended.result(300) == 3
    words = capsys.readouterr()
    assert "dpviz: aborted: only 1 of 3 clients joined within 6 s; missing: bob, cem" in words.err
    assert "Traceback" not in words.err
    links[0].close()


def test_no_server_is_one_sentence(folder):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(Aborted, match=f"no server at 127.0.0.1:{port}"):
        join(folder, agreed(), "ann", port)


# Faults of the server, seen by a client


class FakeServer:
    """A server that follows a script: a function of (nonce, connection) that sends raw bytes."""

    def __init__(self, folder, script):
        context = server_context(folder / "server")
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = listener.getsockname()[1]

        def work():
            plain, _ = listener.accept()
            with context.wrap_socket(plain, server_side=True) as connection:
                hello = connection.recv(4096)
                script(hello[HEADER_BYTES : HEADER_BYTES + 32], connection)
                time.sleep(0.3)
            listener.close()

        threading.Thread(target=work, daemon=True).start()


def start_frame(nonce):
    return Message(Kind.START, 0, new_run([nonce]), nonce)


def answer(nonce, connection, change):
    """Start properly, then answer the first upload with a changed sum."""
    connection.sendall(start_frame(nonce).pack())
    upload = b""
    while len(upload) < HEADER_BYTES or len(upload) < HEADER_BYTES + Message.length(upload[:HEADER_BYTES]):
        upload += connection.recv(65536)
    _, _, words = unpack_round(upload[HEADER_BYTES:])
    connection.sendall(change(Message(Kind.SUM, 0, new_run([nonce]), words)))


def flipped(frame):
    data = bytearray(frame.pack())
    data[-1] ^= 1
    return bytes(data)


SERVERS = {
    "its own run id": (
        lambda nonce, c: c.sendall(Message(Kind.START, 0, bytes(16), nonce).pack()),
        "run id does not hold this client's nonce",
    ),
    "somebody else's nonce": (
        lambda nonce, c: c.sendall(Message(Kind.START, 0, new_run([bytes(32)]), bytes(32)).pack()),
        "run id does not hold this client's nonce",
    ),
    "leaves": (lambda nonce, c: None, "closed the connection"),
    "no start": (lambda nonce, c: c.sendall(Message(Kind.SUM).pack()), "sent SUM where START was due"),
    "old sum": (
        lambda n, c: answer(n, c, lambda f: Message(f.kind, 7, f.run, f.payload).pack()),
        "the sum of another run or round in round 1",
    ),
    "short sum": (
        lambda n, c: answer(n, c, lambda f: Message(f.kind, 0, f.run, f.payload[:-8]).pack()),
        "the sum of another run or round in round 1",
    ),
    "corrupted sum": (lambda n, c: answer(n, c, flipped), "the server sent a corrupted frame"),
    "curses": (
        lambda nonce, c: c.sendall(Message(Kind.ABORT, payload=b"\x1b[2Jgo").pack()),
        "server: �\\[2Jgo",
    ),
}


@pytest.mark.parametrize("fault", SERVERS)
def test_a_client_refuses_a_server_that_breaks_the_protocol(folder, fault):
    script, words = SERVERS[fault]
    fake = FakeServer(folder, script)
    with pytest.raises(Aborted, match=words):
        join(folder, agreed(names=("ann",)), "ann", fake.port, rows=X[:50])


def test_a_silent_server_is_late_not_forever(folder):
    over = threading.Event()
    fake = FakeServer(folder, lambda nonce, c: over.wait(200))
    link = client.Link(("127.0.0.1", fake.port), client_context(folder / "ann"), 200.0)
    link.send(Message(Kind.HELLO, payload=bytes(64)))
    with pytest.raises(Aborted, match="the server is late: no answer within 0.3 s"):
        link.read(Kind.START, 0.3)
    over.set()
    link.close()


# Frames, agreements, keys


def test_frames_round_trip_and_break_with_their_own_sentence():
    frame = Message(Kind.UPLOAD, 3, b"r" * 16, b"words")
    data = frame.pack()
    header, payload = data[:HEADER_BYTES], data[HEADER_BYTES:]
    assert Message.length(header) == 5 and Message.unpack(header, payload) == frame
    for bad, words in (
        (b"x" + header[1:], "not a dpviz frame"),
        (header[:4] + b"\2" + header[5:], "speaks version 2"),
        (header[:26] + b"\xff" * 4 + header[30:], "at most 67,108,864"),
    ):
        with pytest.raises(MessageError, match=words):
            Message.length(bad)
    with pytest.raises(MessageError, match="corrupted"):
        Message.unpack(header, b"wordz")
    with pytest.raises(MessageError, match="unknown kind 77"):
        Message.unpack(header[:5] + bytes([77]) + header[6:], payload)
    facts = {"query": "Count", "parts": []}
    assert unpack_round(pack_round(facts, b"ww"))[1:] == (facts, b"ww")
    for bad in (b"", b"\1\0", b"\4\0\0\0[1]x", b"\xff\xff\0\0{}"):
        with pytest.raises(MessageError, match="description"):
            unpack_round(bad)


def test_an_agreement_round_trips_and_its_digest_follows_every_fact(tmp_path):
    agreement = agreed()
    (tmp_path / "a.json").write_text(agreement.to_json())
    again = Agreement.read(tmp_path / "a.json")
    assert again.digest == agreement.digest and again.n_max == 4 * N
    others = (
        agreed(FastLloyd(n_clusters=4)), agreed(names=("ann", "bob")), agreed(seed=1), agreed(ring=PAPER),
        agreed(n_max=9), agreed(drawn_by=SERVER),
        Agreement(FastLloyd(n_clusters=3, iterations=4), Domain.box(-1, 2, 2, n_public=N), NAMES),
    )  # fmt: skip
    assert len({agreement.digest, *(other.digest for other in others)}) == 8
    (tmp_path / "b.json").write_text("{}")
    with pytest.raises(ValueError, match="b.json is not an agreement"):
        Agreement.read(tmp_path / "b.json")
    with pytest.raises(ValueError, match="n_public must be declared"):
        Agreement(FastLloyd(), Domain.box(-1, 1, 2), NAMES)
    with pytest.raises(ValueError, match="different names"):
        agreed(names=("ann", "ann"))
    with pytest.raises(ValueError, match="needs a trusted curator|stay with their clients"):
        agreed(ALGORITHMS["kmeans"]())


def test_run_ids_are_fresh_as_soon_as_one_nonce_is():
    assert len({new_run(n) for n in ([b"a", b"b"], [b"b", b"a"], [b"ab", b""], [b"a", b"c"])}) == 4


def test_keys_stay_apart(folder, tmp_path):
    assert not (folder / "server" / "masks.json").exists()
    seeds = {name: mask_seeds(folder / name) for name in NAMES}
    assert len({own.common for own in seeds.values()}) == 1 and set(seeds["ann"].pairs) == {"bob", "cem"}
    assert seeds["ann"].pairs["bob"] == seeds["bob"].pairs["ann"] != seeds["ann"].pairs["cem"]
    for name in NAMES:
        for secret in ("key.pem", "masks.json"):
            assert (folder / name / secret).stat().st_mode & 0o077 == 0
    with pytest.raises(ValueError, match="not empty; keys are never overwritten"):
        make_keys(folder, agreed())
    leaky = tmp_path / "server"
    leaky.mkdir()
    (leaky / "masks.json").touch(0o600)
    (leaky / "masks.json").write_text("{}")
    with pytest.raises(ValueError, match="does not hold mask seeds"):
        mask_seeds(leaky)
    (leaky / "masks.json").write_text('{"common": "00", "pairs": {}}')
    with pytest.raises(ValueError, match="must have 32 bytes"):
        mask_seeds(leaky)
    with pytest.raises(ValueError, match="must not hold masks.json"):
        server_context(leaky)
    with pytest.raises(ValueError, match="ca.pem is missing"):
        client_context(tmp_path)


def test_a_client_with_more_rows_than_its_part_joins_like_any_other(folder):
    """Whether it has 400 or 401 must not show, but at its own terminal."""
    ends = everybody(folder, agreed(), Host(folder, agreed()), rows=np.zeros((401, 2)))
    assert all(isinstance(end, Trace) for end in ends.values())


def test_more_rows_than_agreed_are_noted_at_the_client_s_own_terminal(folder, tmp_path, capsys):
    pd.DataFrame(np.zeros((401, 2)), columns=["x", "y"]).to_csv(tmp_path / "many.csv", index=False)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    ended = main(
        ["federated", "client", str(folder / "ann"), "--data", str(tmp_path / "many.csv"), "--port", str(port)]
    )
    words = capsys.readouterr().err
    assert ended == 3 and "more rows than this client's part of the agreed n_max = 1,200" in words
    assert "no server at 127.0.0.1" in words and "Traceback" not in words


def test_a_client_says_whether_its_first_line_is_its_first_row(folder, tmp_path, capsys):
    (tmp_path / "mine.csv").write_text("0.482915736048,0.1\n" * 3)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = ["federated", "client", str(folder / "ann"), "--data", str(tmp_path / "mine.csv"), "--port", str(port)]
    for words, code, expected in (([], 2, "column 1 has a value for a name"), (["--no-header"], 3, "no server at")):
        assert main([*command, *words]) == code
        said = capsys.readouterr().err
        assert expected in said and "482915" not in said and len(said.splitlines()) == 1


@pytest.mark.parametrize(
    "name", ["../ann", "a/b", "a\\b", ".ann", "ann.", "", "a\nb", "a\x1b[2Jb", "Server", "x" * 65, "a:b"]
)
def test_a_name_that_could_leave_the_folder_is_refused(name):
    with pytest.raises(ValueError, match="a client's name must have 1 to 64 letters"):
        agreed(names=("bob", name))


def test_names_must_differ_where_folders_do():
    with pytest.raises(ValueError, match="upper and lower case are the same"):
        agreed(names=("ann", "Ann"))
    assert agreed(names=("Ann-Marie O.K", "örn@example.org", "x")).clients[0] == "Ann-Marie O.K"


@pytest.mark.skipif(os.name != "posix", reason="modes")
@pytest.mark.parametrize("secret", ["key.pem", "masks.json"])
def test_a_secret_that_others_can_read_is_refused(folder, tmp_path, secret):
    mine = tmp_path / "ann"
    shutil.copytree(folder / "ann", mine)
    client_context(mine), mask_seeds(mine)
    (mine / secret).chmod(0o640)
    with pytest.raises(ValueError, match=rf"ann/{secret} must be yours alone.*mode 640"):
        client_context(mine) if secret == "key.pem" else mask_seeds(mine)


# Real processes


def command(*arguments):
    return [sys.executable, "-m", "dpviz", "federated", *map(str, arguments)]


def begin(*arguments):
    return subprocess.Popen(
        command(*arguments), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip


@pytest.fixture
def parties(tmp_path):
    """Keys by the command, rows in files; returns (folder, rows by name, free port)."""
    keys = tmp_path / "keys"
    made = subprocess.run(
        command("keys", keys, "--clients", *NAMES, "--algorithm", "fastlloyd", "--set", "n_clusters=3", "iterations=5",
                "--low", -1, -1, "--high", 1, 1, "--n-public", N),
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    files = {}
    for name, part in PARTS.items():
        files[name] = tmp_path / f"{name}.csv"
        pd.DataFrame(part, columns=["x", "y"]).to_csv(files[name], index=False)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return keys, files, port


def listening(process):
    line = process.stdout.readline()
    assert line.startswith("listening"), line


@pytest.mark.slow
def test_four_processes_finish_with_the_same_centers(parties, tmp_path):
    keys, files, port = parties
    host = begin("server", keys / "server", "--port", port, "--join-timeout", 190)
    listening(host)
    started = [
        begin(
            "client",
            keys / name,
            "--port",
            port,
            "--data",
            files[name],
            "--join-timeout",
            190,
            "--json",
            tmp_path / f"{name}.json",
        )
        for name in NAMES
    ]
    outputs = [process.communicate(timeout=200)[0] for process in started]
    assert [process.returncode for process in started] == [0, 0, 0], outputs
    said = host.communicate(timeout=200)[0]
    assert host.returncode == 0 and "5 rounds" in said and "no row and no sum was seen" in said
    texts = {(tmp_path / f"{name}.json").read_text() for name in NAMES}
    assert len(texts) == 1
    trace = json.loads(texts.pop())
    assert trace["notice"] == "released values only" and trace["seed"] is None


@pytest.mark.slow
def test_a_process_killed_before_the_start_may_come_back(parties):
    keys, files, port = parties
    host = begin("server", keys / "server", "--port", port, "--join-timeout", 190)
    listening(host)

    def join(name):
        return begin("client", keys / name, "--port", port, "--data", files[name], "--join-timeout", 190)

    first = {name: join(name) for name in ("ann", "bob")}
    for _ in range(2):
        assert "joined" in host.stdout.readline()
    first["bob"].kill()
    first["bob"].communicate()
    assert "bob left before the start; it may come back" in host.stdout.readline()
    clients = [first["ann"], join("bob"), join("cem")]
    said = host.communicate(timeout=200)[0]
    assert host.returncode == 0, said
    for process in clients:
        words = process.communicate(timeout=200)[0]
        assert process.returncode == 0, words
