"""Mask streams from a cryptographic generator: uniform words that cancel only if every client takes part.

Every client adds two kinds of masks. The first kind comes from a seed that all clients share, and hides the sum from
the server. The second kind comes from seeds that only two clients share; one of the two adds the mask and the other
subtracts it. These pair masks cancel in the sum over all clients, and hide a client's own words even from a server that
colludes with another client.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from dpviz.federated.ring import Ring

__all__ = ["SEED_BYTES", "Seeds", "deal", "mask"]

SEED_BYTES = 32


class Seeds(NamedTuple):
    """The seeds known to one client.

    Attributes
    ----------
    common : bytes, shared by all clients and unknown to the server
    pairs : other client -> bytes, known only to the two clients
    """

    common: bytes
    pairs: Mapping[str, bytes]


def deal(names: Iterable[str]) -> dict[str, Seeds]:
    """Return fresh seeds for every client."""
    names, common = tuple(names), secrets.token_bytes(SEED_BYTES)
    pairs: dict[str, dict[str, bytes]] = {name: {} for name in names}
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            pairs[first][second] = pairs[second][first] = secrets.token_bytes(SEED_BYTES)
    return {name: Seeds(common, pairs[name]) for name in names}


def mask(seed: bytes, run: bytes, client: str, round_: int, label: str, size: int, ring: Ring) -> np.ndarray:
    """Return `size` words, uniform on the whole ring to anyone who does not know the seed.

    The words come from SHAKE-256 of seed, run id, client, round and label, each with its length, so that no two streams
    share a prefix. No stream may ever mask more than one value.
    """
    stream = hashlib.shake_256()
    for field in (seed, run, client.encode(), round_.to_bytes(8, "little"), label.encode()):
        stream.update(len(field).to_bytes(4, "little") + field)
    return np.frombuffer(stream.digest(size * ring.word_bytes), dtype=ring.word)
