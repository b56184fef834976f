"""Mask streams from a cryptographic generator: uniform words that cancel only when every client takes part."""

from __future__ import annotations

import hashlib

import numpy as np

from dpviz.federated.ring import Ring

__all__ = ["SEED_BYTES", "mask"]

SEED_BYTES = 32


def mask(seed: bytes, run: bytes, client: str, round_: int, label: str, size: int, ring: Ring) -> np.ndarray:
    """Return `size` words, uniform on the whole ring to whoever does not know the seed.

    SHAKE-256 of seed, run id, client, round and label, each with its length, so that no two streams share a prefix;
    no stream may ever mask two values.
    """
    stream = hashlib.shake_256()
    for field in (seed, run, client.encode(), round_.to_bytes(8, "little"), label.encode()):
        stream.update(len(field).to_bytes(4, "little") + field)
    return np.frombuffer(stream.digest(size * ring.word_bytes), dtype=ring.word)
