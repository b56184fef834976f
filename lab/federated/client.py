"""Run a client as a process, which runs the public program on its own rows and asks the server for every noisy sum."""

from __future__ import annotations

import secrets
import socket
import ssl
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np

from dpviz.federated.masks import Seeds
from dpviz.federated.parties import Aborted, Client
from dpviz.federated.rows import MaskedSession, local_statistic, refuse_kept
from dpviz.privacy.noise import Noise, Secure
from dpviz.privacy.queries import Predicate, Query
from dpviz.privacy.rows import Draw, Rows, Session
from dpviz.trace import Step, Trace

from .agreement import Agreement, new_run
from .door import NONCE_BYTES
from .keys import SERVER
from .messages import HEADER_BYTES, Kind, Message, MessageError, pack_round, printable

__all__ = ["Link", "take_part"]


class Link:
    """A TLS connection to the server; every wait has a deadline."""

    def __init__(self, address: tuple[str, int], context: ssl.SSLContext, timeout: float) -> None:
        try:
            plain = socket.create_connection(address, timeout)
        except OSError as problem:
            raise Aborted(f"no server at {address[0]}:{address[1]}: {problem.strerror or problem}") from None
        try:
            self._socket = context.wrap_socket(plain, server_hostname=SERVER)
        except ssl.SSLCertVerificationError as problem:
            plain.close()
            raise Aborted(f"the server's certificate is not this federation's: {problem.verify_message}") from None
        except OSError as problem:
            plain.close()
            raise Aborted(f"no TLS 1.3 with {address[0]}:{address[1]}: {problem.strerror or problem}") from None

    def send(self, frame: Message) -> None:
        """Send a frame."""
        try:
            self._socket.sendall(frame.pack())
        except OSError:
            raise Aborted(self._last_words()) from None

    def read(self, kind: Kind, timeout: float) -> Message:
        """Return the next frame, which must be of this kind.

        Raises
        ------
        Aborted
            If the server ends the run, leaves, is late, or sends another kind of frame.
        """
        self._socket.settimeout(timeout)
        try:
            header = self._exactly(HEADER_BYTES)
            frame = Message.unpack(header, self._exactly(Message.length(header)))
        except MessageError as problem:
            raise Aborted(f"the server {problem}") from None
        except TimeoutError:
            raise Aborted(f"the server did not answer within {timeout:g} s") from None
        except (OSError, EOFError):
            raise Aborted("the server refused this client or closed the connection") from None
        if frame.kind is Kind.ABORT:
            raise Aborted("server: " + printable(frame.payload, 500))
        if frame.kind is not kind:
            raise Aborted(f"the server sent {frame.kind.name} instead of {kind.name}")
        return frame

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def _last_words(self) -> str:
        """Return the last message that the server sent before it closed the connection, if any."""
        try:
            self.read(Kind.ABORT, 2.0)
        except Aborted as reason:
            return str(reason)
        return "the server closed the connection"

    def _exactly(self, size: int) -> bytes:
        chunks, missing = [], size
        while missing:
            chunk = self._socket.recv(min(missing, 2**20))
            if not chunk:
                raise EOFError
            chunks.append(chunk)
            missing -= len(chunk)
        return b"".join(chunks)


class _RemoteRows(Rows):
    """One client's rows, with access to the sum over all clients."""

    def __init__(
        self, own: Rows, agreement: Agreement, link: Link, party: Client, run: bytes, noise: Noise, timeout: float
    ) -> None:
        self.domain, self.dataset_id, self.noise = own.domain, own.dataset_id, noise
        self.trust = agreement.shares.trust
        self.rounds = 0
        self.own, self.agreement, self.link, self.party, self.run, self.timeout = (
            own, agreement, link, party, run, timeout,
        )  # fmt: skip

    def open(self, n_rows: int | None = None) -> Session:
        refuse_kept(n_rows)
        return _RemoteSession(self)

    def size_nonprivate(self, *, every: bool = False) -> NoReturn:
        raise PermissionError("Federated: the number of rows of all clients is not known to any of them.")


class _RemoteSession(MaskedSession):
    """One run: this client sends masked statistics and receives the noisy sum over all clients."""

    def __init__(self, rows: _RemoteRows) -> None:
        agreement = rows.agreement
        super().__init__(agreement.words, agreement.shares, agreement.n_max)
        self._rows, self._own = rows, rows.own.open()

    def _divide(self, scope: int, predicate: Predicate, children: tuple[int, ...]) -> None:
        self._own.partition(scope, predicate)

    def noisy_sum(self, query: Query, scope: int, draw: Draw) -> tuple[Mapping[str, Any], Mapping[str, np.ndarray]]:
        rows = self._rows
        place = rows.agreement.clients.index(rows.party.name)
        local = local_statistic(self._own, query, scope)
        header, wanted = self._wanted(query, {part: value.shape for part, value in local.items()}, draw)
        noise = self._own_noise(header, wanted, self._asked.source, place)
        parts = [[part, list(shape), header.digits[part], *wanted[part]] for part, shape in header.shapes.items()]
        words = b"".join(rows.party.upload(header, {part: local[part] + noise[part] for part in local}).values())
        payload = pack_round({"query": header.query, "parts": parts}, words)
        rows.link.send(Message(Kind.UPLOAD, rows.rounds, rows.run, payload))
        frame = rows.link.read(Kind.SUM, rows.timeout)
        if (frame.run, frame.round) != (rows.run, rows.rounds) or len(frame.payload) != len(words):
            raise Aborted(f"the server sent the sum of another run or round in round {rows.rounds + 1}")
        broadcast, start = {}, 0
        for part in header.shapes:
            size = header.size(part) * rows.agreement.words.word_bytes
            broadcast[part] = frame.payload[start : start + size]
            start += size
        rows.rounds = self._round = self._round + 1
        return rows.party.unmask(header, broadcast), {}


def take_part(
    agreement: Agreement,
    name: str,
    X: np.ndarray,
    context: ssl.SSLContext,
    seeds: Seeds,
    *,
    noise: Noise | None = None,
    address: tuple[str, int],
    join_timeout: float = 60.0,
    round_timeout: float = 30.0,
    on_start: Callable[[], None] | None = None,
    on_step: Callable[[Step], None] | None = None,
) -> Trace:
    """Take part in one run with the rows X (n, d), original units, and return the trace, with released values only.

    Any number of rows is accepted, because a refusal would reveal it: the others would see that this client never
    joins. If this client has more rows than its part of `n_max`, a sum may wrap in the ring, which makes the result
    useless but leaves the promise intact. `noise` is this client's own source of noise; None, the only value used
    outside tests, stands for exact samplers that use the system's randomness. `on_start` is called when all clients
    have joined, before the first word is sent; use it to book the run's whole plan. If it raises an exception, the run
    ends for everyone.

    Raises
    ------
    Aborted
        If the run cannot be finished; the message names the party responsible.
    """
    own = Rows(X, agreement.domain, "federated")
    link = Link(address, context, join_timeout)
    try:
        nonce = secrets.token_bytes(NONCE_BYTES)
        link.send(Message(Kind.HELLO, payload=nonce + agreement.digest))
        start = link.read(Kind.START, join_timeout + 5.0)
        nonces = [start.payload[i : i + NONCE_BYTES] for i in range(0, len(start.payload), NONCE_BYTES)]
        place = agreement.clients.index(name)
        if len(nonces) != len(agreement.clients) or nonces[place] != nonce or new_run(nonces) != start.run:
            raise Aborted("the server's run id does not contain this client's nonce; masks would not be fresh")
        party = Client(name, agreement.clients, seeds, start.run, agreement.words)
        rows = _RemoteRows(own, agreement, link, party, start.run, noise or Secure(), 2 * round_timeout + 5.0)
        if on_start is not None:
            on_start()
        trace = agreement.algorithm.run(rows, seed=agreement.seed, on_step=on_step)
        link.send(Message(Kind.DONE, rows.rounds, start.run))
        return trace
    except (PermissionError, OverflowError, ValueError):
        # the others do not learn the reason
        link.send(Message(Kind.ABORT, payload=b"its own program refused to go on"))
        raise
    finally:
        link.close()
