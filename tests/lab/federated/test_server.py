"""Check parties over TLS: centers equal those of a central run, and only the right parties join, leave or return."""

import contextlib
import json
import os
import socket
import ssl
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("cryptography")

from dpviz.algorithms import ALGORITHMS
from dpviz.algorithms.lloyd.fastlloyd import FastLloyd
from dpviz.cli import main
from dpviz.federated import PAPER, SERVER, Aborted
from dpviz.privacy.noise import Secure
from dpviz.trace import Trace
from lab.federated import client, door, messages
from lab.federated.keys import client_context, make_keys
from lab.federated.messages import Kind, Message
from tests.federated.test_simulation import check_that_no_reading_of_rows_is_inherited
from tests.lab.federated.tls import (
    BOX,
    NAMES,
    PARTS,
    ROOT,
    Host,
    N,
    X,
    agreed,
    everybody,
    hello,
    join,
    servers_noise,
    until,
)


def test_a_client_s_session_reads_no_rows():
    check_that_no_reading_of_rows_is_inherited(client._RemoteSession)


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
    """A noise source without methods, so that any draw fails."""

    reproducible = False


@pytest.mark.parametrize("slug", ["fastlloyd", "sulloyd"])
def test_over_tls_the_clients_draw_and_the_server_does_not(folder, slug):
    agreement = agreed(ALGORITHMS[slug](n_clusters=3), n_max=12 * N)
    host = Host(folder, agreement, NoDraws())
    traces = everybody(folder, agreement, host)
    assert len({trace.to_json() for trace in traces.values()}) == 1
    released, central = traces["ann"], agreement.algorithm.run(X, domain=BOX, seed=0)
    assert released.claimed.epsilon == central.claimed.epsilon and "at most one client" in released.claimed.trust
    assert "samplers of OpenDP" in released.sampler and released.sampler.endswith("every client draws its own share")
    off = np.abs(released.steps[-1].released["noisy_counts"].sum() - N)
    assert 0 < off < 12 * released.steps[-1].released["counts_sd"]


class Recorded(Secure):
    """A client's own source of noise, which records its draws."""

    def __init__(self):
        super().__init__()
        self.laplaces = []

    def laplace(self, scale, shape):
        self.laplaces.append(super().laplace(scale, shape))
        return self.laplaces[-1]


def test_over_tls_two_clients_draw_the_laplace_noise_each_in_full(folder):
    """If only one client drew the noise, that client could remove all noise from the result."""
    agreement = agreed(ALGORITHMS["sulloyd"](n_clusters=3), n_max=12 * N)
    host, noises = Host(folder, agreement), {name: Recorded() for name in NAMES}
    with ThreadPoolExecutor(3) as pool:
        tasks = [pool.submit(join, folder, agreement, name, host.port, noise=noises[name]) for name in NAMES]
        trace = [task.result(400) for task in tasks][0]
    draws = {name: noise.laplaces for name, noise in noises.items()}
    assert len(draws["ann"]) == len(draws["bob"]) == len(trace.ledger) and draws["cem"] == []
    for one, other, entry in zip(draws["ann"], draws["bob"], trace.ledger, strict=True):
        assert one.shape == other.shape and not np.array_equal(one, other)
        wide = np.concatenate([one.ravel(), other.ravel()])
        assert np.abs(wide).min() > 0 and entry.excess == 2.0


def test_the_narrow_ring_travels_too(folder):
    agreement = agreed(FastLloyd(n_clusters=3, iterations=2, fraction_bits=16), ring=PAPER, n_max=12 * N)
    host = Host(folder, agreement)
    traces = everybody(folder, agreement, host)
    assert len({trace.to_json() for trace in traces.values()}) == 1
    assert host.result().bytes_up == 2 * 3 * 4 * 9


# time limits in seconds, tried in order, because on a busy machine nobody may join within the first one
PATIENCE = (1.5, 20.0, 120.0)


@pytest.mark.slow
def test_a_client_that_never_comes_is_named(folder):
    for patience in PATIENCE:
        host = Host(folder, agreed(), join_timeout=patience)
        with ThreadPoolExecutor(2) as pool:
            waiting = [pool.submit(join, folder, agreed(), name, host.port) for name in ("ann", "cem")]
            ends = [str(task.exception(400)) for task in (*waiting, host.future)]
        if "only 2 of 3" in ends[-1]:
            break
    assert all(
        f"only 2 of 3 clients joined within {patience:g} s; missing: bob. Nothing was sent" in end for end in ends
    )
    with pytest.raises(Aborted):
        host.result()


# Who may come


def test_strangers_are_refused_and_the_run_goes_on(folder, tmp_path):
    other = tmp_path / "other"
    make_keys(other, agreed())
    host = Host(folder, agreed())
    with pytest.raises(Aborted, match="certificate is not this federation's"):
        join(folder, agreed(), "bob", host.port, keys=other / "bob")
    stranger = client_context(folder / "bob")  # this client trusts the server; another authority signed its certificate
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
        assert messages.MAGIC not in plain.recv(100)  # the server answers with a TLS alert or not at all
    old = client_context(folder / "bob")
    old.minimum_version = ssl.TLSVersion.TLSv1_2
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    with pytest.raises(Aborted, match="no TLS 1.3 with"):
        client.Link(("127.0.0.1", host.port), old, 200.0)
    ends = everybody(folder, agreed(), host)
    assert all(isinstance(end, Trace) for end in ends.values())
    assert host.result().rounds == 4


def test_a_certificate_alone_is_not_enough(folder):
    """The right authority has signed cem's certificate, but this run is between ann and bob only."""
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


def test_a_client_that_loses_its_line_before_the_start_may_come_back(folder):
    host = Host(folder, agreed())
    lost = hello(folder, "ann", host.port)
    until(lambda: "ann joined (1 of 3)" in host.said)
    lost.close()
    until(lambda: "ann left before the start and may come back" in host.said)
    ends = everybody(folder, agreed(), host)
    assert all(isinstance(end, Trace) for end in ends.values()) and host.result().rounds == 4


def test_a_client_that_speaks_before_the_start_loses_its_place(folder):
    host = Host(folder, agreed())
    eager = hello(folder, "ann", host.port)
    until(lambda: "ann joined (1 of 3)" in host.said)
    eager.send(Message(Kind.DONE))
    with pytest.raises(Aborted, match="ann sent something before the start"):
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


@pytest.mark.slow
def test_idle_connections_keep_nobody_out_and_say_little(folder, monkeypatch):
    monkeypatch.setattr(door, "MOST_GUESTS", 8)
    host = Host(folder, agreed())
    idle = []
    for _ in range(60):
        idle.append(socket.create_connection(("127.0.0.1", host.port), 200.0))
        idle[-1].settimeout(200.0)
    for connection in idle[:52]:  # only the last eight connections remain open
        with contextlib.suppress(ConnectionResetError):
            assert connection.recv(1) == b""
    assert all(isinstance(end, Trace) for end in everybody(folder, agreed(), host).values())
    assert host.result().rounds == 4 and len(host.said) < 30
    for connection in idle:
        connection.close()


def test_a_guest_that_says_nothing_is_shown_out(folder, monkeypatch):
    host, words = Host(folder, agreed(), join_timeout=200.0), ""
    for patience in (0.3, *PATIENCE):
        monkeypatch.setattr(door, "GREETING_SECONDS", patience)
        with socket.create_connection(("127.0.0.1", host.port), 200.0) as plain:
            with contextlib.suppress(ConnectionResetError):
                assert plain.recv(100) == b""
        try:
            silent = client.Link(("127.0.0.1", host.port), client_context(folder / "bob"), 200.0)
            with contextlib.closing(silent):
                silent.read(Kind.START, 200.0)
        except Aborted as reason:  # on a busy machine, the server may give up before the TLS handshake ends
            words = str(reason)
        if "bob" in words:
            break
    assert "bob left or stayed silent before the start" in words
    monkeypatch.setattr(door, "GREETING_SECONDS", 20.0)
    assert all(isinstance(end, Trace) for end in everybody(folder, agreed(), host).values())


def test_a_server_whose_own_program_fails_tells_the_clients(folder):
    agreement = agreed(drawn_by=SERVER)
    host = Host(folder, agreement, NoDraws())
    ends = everybody(folder, agreement, host)
    assert all("aborted: the server's own program failed" in str(end) for end in ends.values())
    with pytest.raises(AttributeError):
        host.result()


@pytest.mark.slow
def test_the_server_s_command_ends_in_one_sentence_and_its_exit_code(folder, capsys):
    """Check a port in use, and a run that too few clients join, which once caused a traceback."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["federated", "server", str(folder / "server"), "--port", str(port)]) == 2
    assert f"dpviz: federated: cannot listen on 127.0.0.1:{port}" in capsys.readouterr().err
    for patience in PATIENCE:
        arguments = ["federated", "server", str(folder / "server"), "--port", str(port)]
        with ThreadPoolExecutor(1) as pool:
            ended = pool.submit(main, [*arguments, "--join-timeout", f"{patience:g}"])
            link = None
            while link is None and not ended.done():  # until it listens
                with contextlib.suppress(Aborted):
                    link = hello(folder, "ann", port)
            assert ended.result(300) == 3
        if link is not None:
            link.close()
        words = capsys.readouterr().err
        if "only 1 of 3" in words:
            break
    assert f"dpviz: aborted: only 1 of 3 clients joined within {patience:g} s; missing: bob, cem" in words
    assert "Traceback" not in words


def test_no_server_is_one_sentence(folder):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(Aborted, match=f"no server at 127.0.0.1:{port}"):
        join(folder, agreed(), "ann", port)


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
    """Make keys with the command, and files with rows; return (folder, {name: rows}, free port)."""
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
            "--header",
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
    assert host.returncode == 0 and "5 rounds" in said and "no client's sum was seen" in said
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
        return begin("client", keys / name, "--port", port, "--data", files[name], "--header", "--join-timeout", 190)

    first = {name: join(name) for name in ("ann", "bob")}
    for _ in range(2):
        assert "joined" in host.stdout.readline()
    first["bob"].kill()
    first["bob"].communicate()
    assert "bob left before the start and may come back" in host.stdout.readline()
    clients = [first["ann"], join("bob"), join("cem")]
    said = host.communicate(timeout=200)[0]
    assert host.returncode == 0, said
    for process in clients:
        words = process.communicate(timeout=200)[0]
        assert process.returncode == 0, words
