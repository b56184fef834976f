"""Masked Secure Aggregation among parties that know only their own data, as pure functions of messages without I/O.

In every round client i sends its statistic plus its part of the noise plus its masks; the server adds all of these in
the ring and sends the sum back; a client subtracts the remaining masks and reads the noisy statistic. The server sees
only uniform words, and the clients only noisy sums.

Both statements hold if all parties follow the protocol. The promise also holds against one client that shares all it
knows with the server: because of the pair masks, the two learn only the sum of the other clients, which still has
enough noise (see `shares`). Against c such clients, (M - c) / (M - 1) of the variance of Gaussian noise remains, and no
Laplace noise if both clients that drew it are among them. In the paper's variant the server draws all noise: it must
then never see the result, and together with one client it can compute the exact sum of the others. Nobody can detect a
party that draws no noise.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

import numpy as np

from dpviz.federated.masks import Seeds, mask
from dpviz.federated.ring import Ring

__all__ = ["Aborted", "Client", "Header", "Server"]


class Aborted(Exception):
    """Raised when a round or run cannot continue; the message is for the user, and the round revealed nothing."""


@dataclasses.dataclass(frozen=True)
class Header:
    """The public facts of a round.

    Attributes
    ----------
    round : int, number of the round, from 0
    query : str, the request
    shapes : part -> shape of the statistic
    digits : part -> number of fraction digits of its words in the ring
    """

    round: int
    query: str
    shapes: Mapping[str, tuple[int, ...]]
    digits: Mapping[str, int]

    def size(self, part: str) -> int:
        """Return the number of words in a part."""
        return math.prod(self.shapes[part])

    @property
    def words(self) -> int:
        """Return the number of words in all parts."""
        return sum(map(self.size, self.shapes))


class Client:
    """One client, which masks its statistics and unmasks sums.

    Parameters
    ----------
    name : str
    names : all clients' names, in the agreed order
    seeds : Seeds of this client
    run : bytes, an id that is never reused
    ring : Ring
    """

    def __init__(self, name: str, names: Sequence[str], seeds: Seeds, run: bytes, ring: Ring) -> None:
        if name not in names or len(set(names)) != len(names):
            raise ValueError(f"Client: {name!r} must be one of the clients, each named once; got {', '.join(names)}.")
        if set(seeds.pairs) != set(names) - {name}:
            raise ValueError(f"Client: {name} must hold exactly one seed for each other client.")
        self.name = name
        self._names, self._seeds, self._run, self._ring = tuple(names), seeds, run, ring
        self._later = set(names[names.index(name) + 1 :])
        self._next = 0

    def upload(self, header: Header, statistic: Mapping[str, np.ndarray]) -> dict[str, bytes]:
        """Return the masked words of every part; `statistic` already includes the client's own part of the noise.

        Raises
        ------
        Aborted
            If the round is not the next one, because a mask used twice would reveal the difference of the values it
            hid.
        """
        if header.round != self._next:
            raise Aborted(
                f"{self.name}: round {header.round} was asked for, but round {self._next} is next; a mask is never "
                "used twice. Start a new run."
            )
        self._next += 1
        masked = {}
        for part in header.shapes:
            words = self._ring.encode(statistic[part], header.digits[part]).ravel()
            words += self._common(self.name, header, part)
            for other in self._seeds.pairs:
                words += self._pair(other, header, part)
            masked[part] = words.tobytes()
        return masked

    def unmask(self, header: Header, broadcast: Mapping[str, bytes]) -> dict[str, np.ndarray]:
        """Return the noisy statistic: the broadcast minus every client's mask."""
        noisy = {}
        for part, shape in header.shapes.items():
            words = self._ring.read(broadcast[part], header.size(part)).copy()
            for name in self._names:
                words -= self._common(name, header, part)
            noisy[part] = self._ring.decode(words, header.digits[part]).reshape(shape)
        return noisy

    def _common(self, name: str, header: Header, part: str) -> np.ndarray:
        """Return the mask that `name` adds from the seed shared by all clients."""
        return mask(self._seeds.common, self._run, name, header.round, part, header.size(part), self._ring)

    def _pair(self, other: str, header: Header, part: str) -> np.ndarray:
        """Return the mask of a pair of clients: the earlier in the agreed order adds it, the later subtracts it."""
        words = mask(self._seeds.pairs[other], self._run, "", header.round, part, header.size(part), self._ring)
        return words if other in self._later else np.zeros_like(words) - words


class Server:
    """The server, which adds the words that arrive and, if agreed, its own noise. The server never holds a seed.

    Parameters
    ----------
    names : the clients' names
    ring : Ring
    """

    def __init__(self, names: Sequence[str], ring: Ring) -> None:
        self._names, self._ring = tuple(names), ring

    def add(
        self, header: Header, uploads: Mapping[str, Mapping[str, bytes]], noise: Mapping[str, np.ndarray]
    ) -> dict[str, bytes]:
        """Return the broadcast of every part: the sum of all masked words and of the server's own noise.

        Raises
        ------
        Aborted
            If a client is missing or sent anything but the round's words.
        """
        missing = [name for name in self._names if name not in uploads]
        if missing:
            raise Aborted(
                f"Server: round {header.round + 1} is aborted: {', '.join(missing)} did not answer. Without every mask "
                "the sum stays random, so nothing was revealed. Start a new run with a new id."
            )
        broadcast = {}
        for part in header.shapes:
            total = self._ring.encode(noise[part], header.digits[part]).ravel()
            for name in self._names:
                try:
                    total += self._ring.read(uploads[name].get(part, b""), header.size(part))
                except ValueError as problem:
                    raise Aborted(f"Server: round {header.round + 1} is aborted: {name}: {problem}") from None
            broadcast[part] = total.tobytes()
        return broadcast
