"""Run the server as a process with asyncio and TLS 1.3. The server adds masked words, and knows no row and no mask."""

from __future__ import annotations

import asyncio
import dataclasses
import math
import ssl
from collections.abc import Callable
from typing import Any

import numpy as np

from dpviz.federated.parties import Aborted, Header, Server
from dpviz.federated.shares import MECHANISMS
from dpviz.privacy.noise import Noise

from .agreement import Agreement, new_run
from .door import Door, Peer
from .messages import Kind, Message, MessageError, printable, unpack_round

__all__ = ["ServerReport", "serve"]


@dataclasses.dataclass(frozen=True)
class ServerReport:
    """The server's report after a run: it contains no statistic, because the server saw none."""

    rounds: int
    bytes_up: int
    bytes_down: int


async def serve(
    agreement: Agreement,
    context: ssl.SSLContext,
    noise: Noise,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    join_timeout: float = 60.0,
    round_timeout: float = 30.0,
    say: Callable[[str], None] = lambda line: None,
    ready: Callable[[int], None] = lambda port: None,
) -> ServerReport:
    """Serve one run and return a report on the traffic.

    Parameters
    ----------
    agreement : Agreement
    context : TLS context made by `keys.server_context`
    noise : Noise, the server's own; it draws only if the agreement says so
    host, port : address to listen on; for port 0 the system chooses a free one
    join_timeout, round_timeout : seconds until all clients must have joined, or answered
    say : called with every line of text to show to the operator
    ready : called with the port once clients may connect

    Raises
    ------
    Aborted
        If the run cannot be finished; every client gets the reason.
    ValueError
        If `host` and `port` cannot be used.
    """
    door = Door(agreement, context, say)
    ready(await door.open(host, port))
    try:
        peers = await door.everybody(join_timeout)
        return await _run(agreement, peers, noise, round_timeout, say)
    except Exception as problem:
        words = f"aborted: {problem}" if isinstance(problem, Aborted) else "aborted: the server's own program failed."
        await asyncio.gather(*(peer.farewell(words) for peer in door.peers.values()))
        raise
    finally:
        await door.close()


async def _run(
    agreement: Agreement, peers: list[Peer], noise: Noise, timeout: float, say: Callable[[str], None]
) -> ServerReport:
    nonces = [peer.nonce for peer in peers]
    run = new_run(nonces)
    await _all(peers, lambda peer: peer.send(Message(Kind.START, 0, run, b"".join(nonces))), 0, timeout)
    adder = Server(agreement.clients, agreement.words)
    number = up = down = 0
    while True:  # every client's curator limits the rounds to those of the plan
        frames = await _all(peers, lambda peer: _read(peer, run, number), number, timeout)  # noqa: B023
        if all(frame.kind is Kind.DONE for frame in frames):
            say(f"done: {number} rounds, {up:,} bytes up, {down:,} bytes down")
            return ServerReport(number, up, down)
        header, scales, uploads = _asked(frames, peers, number, agreement)
        drawn = {part: agreement.shares.server(noise, *scales[part], shape) for part, shape in header.shapes.items()}
        broadcast = b"".join(adder.add(header, uploads, drawn).values())
        up += sum(len(payload) for parts in uploads.values() for payload in parts.values())
        down += len(peers) * len(broadcast)
        message = Message(Kind.SUM, number, run, broadcast)
        await _all(peers, lambda peer: peer.send(message), number, timeout)  # noqa: B023
        number += 1


async def _read(peer: Peer, run: bytes, number: int) -> Message:
    frame = await peer.read()
    if frame.kind is Kind.ABORT:
        raise MessageError("stopped: " + printable(frame.payload))
    if frame.kind not in (Kind.UPLOAD, Kind.DONE):
        raise MessageError(f"sent {frame.kind.name} instead of its words")
    if (frame.run, frame.round) != (run, number):
        raise MessageError(f"sent a frame of another run or round in round {number + 1} (repeated or replayed)")
    return frame


async def _all(peers: list[Peer], act: Callable[[Peer], Any], number: int, timeout: float) -> list[Any]:
    """Call a function for all peers at once; the first failure ends the run and names its peer."""
    tasks = {asyncio.ensure_future(act(peer)): peer for peer in peers}
    done, late = await asyncio.wait(tasks, timeout=timeout, return_when=asyncio.FIRST_EXCEPTION)
    for task in late:
        task.cancel()
    for name, problem in [(tasks[task].name, task.exception()) for task in done]:
        if isinstance(problem, MessageError):
            raise Aborted(f"round {number + 1}: {name} {problem}")
        if isinstance(problem, OSError | asyncio.IncompleteReadError):
            raise Aborted(f"round {number + 1}: {name} has left")
        if problem is not None:
            raise problem
    if late:
        names = ", ".join(tasks[task].name for task in late)
        raise Aborted(f"round {number + 1}: no answer from {names} within {timeout:g} s")
    return [task.result() for task in tasks]


def _asked(
    frames: list[Message], peers: list[Peer], number: int, agreement: Agreement
) -> tuple[Header, dict[str, tuple[str, float]], dict[str, dict[str, bytes]]]:
    """Return (header, part -> (mechanism, scale), uploads); all clients must request the same release."""
    finished = [peer.name for peer, frame in zip(peers, frames, strict=True) if frame.kind is Kind.DONE]
    if finished:
        raise Aborted(f"round {number + 1}: {', '.join(finished)} finished before the others")
    seen: bytes | None = None
    uploads: dict[str, dict[str, bytes]] = {}
    for peer, frame in zip(peers, frames, strict=True):
        try:
            text, facts, words = unpack_round(frame.payload)
            if seen is None:
                seen, (header, scales) = text, _facts(facts, number, agreement)
            elif text != seen:
                raise MessageError(f"requests something other than {peers[0].name}")
            uploads[peer.name] = _split(words, header, agreement.words.word_bytes)
        except MessageError as problem:
            raise Aborted(f"round {number + 1}: {peer.name} {problem}") from None
    return header, scales, uploads


def _facts(facts: dict[str, Any], number: int, agreement: Agreement) -> tuple[Header, dict[str, tuple[str, float]]]:
    try:
        parts = {str(part): (tuple(map(int, shape)), int(digits), str(how), float(scale))
                 for part, shape, digits, how, scale in facts["parts"]}  # fmt: skip
        query = str(facts["query"])
    except (KeyError, TypeError, ValueError, OverflowError):
        raise MessageError("sent an upload with an unreadable description") from None
    ring = agreement.words
    for shape, digits, how, scale in parts.values():
        sound = min(shape, default=1) >= 0 and digits in (ring.fraction, ring.whole_fraction)
        if not sound or how not in MECHANISMS or not (math.isfinite(scale) and scale > 0):
            raise MessageError("requests something other than a noisy sum")
        if 8 * scale >= ring.limit(digits):
            raise MessageError(f"requests noise of scale {scale:.3g}, which does not fit the ring")
    header = Header(number, query, {p: v[0] for p, v in parts.items()}, {p: v[1] for p, v in parts.items()})
    return header, {part: values[2:] for part, values in parts.items()}


def _split(words: bytes, header: Header, word_bytes: int) -> dict[str, bytes]:
    sizes = [header.size(part) * word_bytes for part in header.shapes]
    if sum(sizes) != len(words):
        raise MessageError(f"sent {len(words):,} bytes of words instead of {sum(sizes):,}")
    ends = np.cumsum(sizes)
    return {part: words[end - size : end] for part, size, end in zip(header.shapes, sizes, ends, strict=True)}
