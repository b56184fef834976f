"""Admit the clients of a run. Other connections cannot keep the clients out, and cost little."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import socket
import ssl
from collections.abc import Callable

from dpviz.federated.parties import Aborted

from .agreement import Agreement
from .messages import HEADER_BYTES, Kind, Message, MessageError

__all__ = ["GREETING_SECONDS", "MOST_GUESTS", "NONCE_BYTES", "Door", "Peer"]

NONCE_BYTES = 32
MOST_GUESTS = 64  # maximum number of connections that have not introduced themselves yet; one more drops the oldest
GREETING_SECONDS = 5.0  # time limit for the handshake and the introduction, in seconds
_MOST_LINES = 20  # maximum number of refusals that are reported


@dataclasses.dataclass
class Peer:
    """A connection with the name from its certificate, and its `nonce` once it has joined."""

    name: str
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    nonce: bytes = b""

    async def read(self) -> Message:
        """Return the next message."""
        header = await self.reader.readexactly(HEADER_BYTES)
        return Message.unpack(header, await self.reader.readexactly(Message.length(header)))

    async def send(self, message: Message) -> None:
        """Send a message."""
        self.writer.write(message.pack())
        await self.writer.drain()

    async def farewell(self, words: str) -> None:
        """Send the reason why the connection ends, and close it; ignore a connection that is closed already."""
        with contextlib.suppress(OSError, TimeoutError):
            await asyncio.wait_for(self.send(Message(Kind.ABORT, payload=words.encode())), 2.0)
        await self.close()

    async def close(self) -> None:
        """Close the connection within 3 s; ignore errors of the other side and repeated calls."""
        self.writer.close()
        closing = asyncio.ensure_future(self.writer.wait_closed())  # raises or is canceled if the connection has ended
        if not (await asyncio.wait({closing}, timeout=2.0))[0]:
            self.writer.transport.abort()
            await asyncio.wait({closing}, timeout=1.0)
        if not closing.cancel() and not closing.cancelled():
            closing.exception()


class Door:
    """The door of a run, which admits each client once; a client that leaves before the start may return.

    Parameters
    ----------
    agreement : Agreement
    context : ssl.SSLContext of the server
    say : called with every line of text to show to the operator
    """

    def __init__(self, agreement: Agreement, context: ssl.SSLContext, say: Callable[[str], None]) -> None:
        self.peers: dict[str, Peer] = {}
        self._agreement, self._context, self._say = agreement, context, say
        self._guests: dict[asyncio.Task[None], None] = {}  # guests in order of arrival
        self._watches: set[asyncio.Task[None]] = set()
        self._came = asyncio.Event()
        self._refused = 0

    async def open(self, host: str, port: int) -> int:
        """Listen on an address; return the port.

        Raises
        ------
        ValueError
            If the address cannot be used.
        """
        try:
            where = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
            self._listener = socket.create_server(where[0][4][:2], family=where[0][0], backlog=MOST_GUESTS)
        except OSError as problem:
            raise ValueError(f"federated: cannot listen on {host}:{port}: {problem.strerror or problem}.") from None
        self._listener.setblocking(False)
        self._accepting = asyncio.create_task(self._accept())
        return int(self._listener.getsockname()[1])

    async def everybody(self, timeout: float) -> list[Peer]:
        """Return all clients in the agreed order once they have joined, and admit nobody after that.

        Raises
        ------
        Aborted
            If somebody is missing after `timeout` seconds.
        """
        names = self._agreement.clients
        try:
            async with asyncio.timeout(timeout):
                while len(self.peers) < len(names):
                    self._came.clear()
                    await self._came.wait()
        except TimeoutError:
            missing = ", ".join(name for name in names if name not in self.peers)
            raise Aborted(
                f"only {len(self.peers)} of {len(names)} clients joined within {timeout:g} s; missing: {missing}. "
                "Nothing was sent."
            ) from None
        peers = [self.peers[name] for name in names]  # if a client leaves from here on, the first round notices it
        await self._stop(self._watches)
        await self._shut()
        return peers

    async def close(self) -> None:
        """Close every connection."""
        await self._stop(self._watches)
        await self._shut()
        await asyncio.gather(*(peer.close() for peer in self.peers.values()))

    async def _shut(self) -> None:
        """Stop admitting clients."""
        await self._stop({self._accepting})
        self._listener.close()
        await self._stop(set(self._guests))

    @staticmethod
    async def _stop(tasks: set[asyncio.Task[None]]) -> None:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, _ = await loop.sock_accept(self._listener)
            except OSError:  # the guest left before it was admitted, or no file descriptor is free
                self._drop_oldest()
                await asyncio.sleep(0.05)
                continue
            guest = asyncio.create_task(self._welcome(connection))
            self._guests[guest] = None
            guest.add_done_callback(lambda done: self._guests.pop(done, None))
            if len(self._guests) > MOST_GUESTS:
                self._drop_oldest()

    def _drop_oldest(self) -> None:
        oldest = next(iter(self._guests), None)
        if oldest is not None:
            oldest.cancel()
            del self._guests[oldest]

    async def _welcome(self, connection: socket.socket) -> None:
        """Admit one guest, or send it the reason for the refusal."""
        guest = None
        try:
            async with asyncio.timeout(GREETING_SECONDS):
                guest = await self._handshake(connection)
                if guest.name not in self._agreement.clients:
                    raise MessageError("is not among the clients of this run")
                self._join(guest, await guest.read())
        except (MessageError, OSError, EOFError) as problem:  # TimeoutError is an OSError
            name = guest.name if guest else ""
            words = str(problem) if isinstance(problem, MessageError) else "left or stayed silent before the start"
            self._report(f"refused: {name or 'a stranger'} {words}")
            if guest is not None:
                await guest.farewell(f"refused: {name or 'a stranger'} {words}.")
        except asyncio.CancelledError:
            if guest is not None:
                guest.writer.transport.abort()
            raise
        finally:
            if guest is None:
                connection.close()

    async def _handshake(self, connection: socket.socket) -> Peer:
        """Return the guest behind a connection, with the name from its certificate."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        transport, protocol = await loop.connect_accepted_socket(
            lambda: asyncio.StreamReaderProtocol(reader), connection, ssl=self._context,
            ssl_handshake_timeout=GREETING_SECONDS,
        )  # fmt: skip
        certificate = transport.get_extra_info("peercert") or {}
        pairs = (pair for group in certificate.get("subject", ()) for pair in group)
        name = next((value for key, value in pairs if key == "commonName"), "")
        return Peer(name, reader, asyncio.StreamWriter(transport, protocol, reader, loop))

    def _join(self, guest: Peer, message: Message) -> None:
        """Let a guest join if it is allowed to."""
        digest = self._agreement.digest
        if message.kind is not Kind.HELLO or len(message.payload) != NONCE_BYTES + len(digest):
            raise MessageError("did not introduce itself")
        if message.payload[NONCE_BYTES:] != digest:
            raise MessageError("holds another agreement; give every party the same agreement.json")
        if guest.name in self.peers:
            raise MessageError("has joined already")
        guest.nonce = message.payload[:NONCE_BYTES]
        self.peers[guest.name] = guest
        self._say(f"{guest.name} joined ({len(self.peers)} of {len(self._agreement.clients)})")
        watch = asyncio.create_task(self._watch(guest))
        self._watches.add(watch)
        watch.add_done_callback(self._watches.discard)
        self._came.set()

    async def _watch(self, peer: Peer) -> None:
        """Watch a client before the start, and free its place if it leaves or sends anything."""
        with contextlib.suppress(OSError):
            await peer.reader.read(1)
        del self.peers[peer.name]
        self._say(f"{peer.name} left before the start and may come back")
        await peer.farewell(f"refused: {peer.name} sent something before the start.")

    def _report(self, line: str) -> None:
        self._refused += 1
        if self._refused <= _MOST_LINES:
            self._say(line)
        elif self._refused == _MOST_LINES + 1:
            self._say("further refusals are not reported")
