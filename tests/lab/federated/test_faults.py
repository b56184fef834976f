"""Check that after any fault of a client or the server, every side ends with one sentence that names the fault."""

import asyncio
import socket
import threading
import time
from functools import partial

import pytest

pytest.importorskip("cryptography")

from dpviz.algorithms.lloyd.fastlloyd import FastLloyd
from dpviz.federated import Aborted
from lab.federated import client
from lab.federated.agreement import new_run
from lab.federated.keys import client_context, server_context
from lab.federated.messages import HEADER_BYTES, Kind, Message, pack_round, unpack_round
from tests.lab.federated.tls import Host, X, agreed, everybody, join

# Faults of clients


class Faulty(client.Link):
    """A link that breaks the frame of one round if its owner is `rogue`."""

    rogue, round, fault = "bob", 1, None
    late, over = threading.Event(), threading.Event()  # set once the rogue waits; set once the server has given up

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


FAULTS = {  # fault of a client -> words of the message on every side
    "dies": "round 2: bob has left",
    "late": "round 2: no answer from bob within 1.5 s",
    "truncated": "round 2: bob has left",
    "corrupted": "round 2: bob sent a corrupted frame",
    "replayed": "round 2: bob sent a frame of another run or round in round 2",
    "other_run": "round 2: bob sent a frame of another run or round in round 2",
    "oversized": "round 2: bob announced a frame of 2,147,483,648 bytes; at most 67,108,864 are allowed",
    "wrong_version": "round 2: bob speaks version 9 of the protocol; this side speaks version 1",
    "not_a_frame": "round 2: bob sent something that is not a dpviz frame",
    "wrong_kind": "round 2: bob sent SUM instead of its words",
    "too_few_words": "round 2: bob sent 64 bytes of words instead of 72",
    "other_question": "round 2: bob requests something other than ann",
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
    """End a wait of `DEADLINE` once only the rogue is late, so that no other client is late on a busy machine."""
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
    ends = everybody(folder, agreed(), host)  # no deadline passes unless a client is late
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
    """Every run is aborted with a message that names the client; only the test of a late client needs a deadline."""
    kinds = ("dies", "late", "truncated", "corrupted", "replayed", "oversized", "wrong_version", "other_question")
    agreement = agreed(FastLloyd(n_clusters=3, iterations=12))
    for fault in kinds:
        for round_ in range(12):
            if fault == "replayed" and round_ == 0:
                continue  # the first round has no earlier message to replay
            break_one(monkeypatch, fault, round_)
            host = Host(folder, agreement, round_timeout=DEADLINE if fault == "late" else 200.0)
            ends = everybody(folder, agreement, host)
            with pytest.raises(Aborted, match=f"round {round_ + 1}: (no answer from )?bob"):
                host.result()
            assert all(isinstance(end, Aborted) for end in ends.values()), (fault, round_, ends)


# Faults of the server as a client sees them


class FakeServer:
    """A server that follows `script`, a function of (nonce, connection) that sends raw bytes."""

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
    """Start correctly, then answer the first upload with a changed frame."""
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
        "run id does not contain this client's nonce",
    ),
    "somebody else's nonce": (
        lambda nonce, c: c.sendall(Message(Kind.START, 0, new_run([bytes(32)]), bytes(32)).pack()),
        "run id does not contain this client's nonce",
    ),
    "leaves": (lambda nonce, c: None, "closed the connection"),
    "no start": (lambda nonce, c: c.sendall(Message(Kind.SUM).pack()), "sent SUM instead of START"),
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
    with pytest.raises(Aborted, match="the server did not answer within 0.3 s"):
        link.read(Kind.START, 0.3)
    over.set()
    link.close()
