"""Length-prefixed frames with a fixed header, a checksum and a limit on length; every error has its own message."""

from __future__ import annotations

import dataclasses
import json
import struct
import zlib
from collections.abc import Mapping
from enum import IntEnum
from typing import Any

__all__ = [
    "HEADER_BYTES",
    "MAX_PAYLOAD",
    "RUN_BYTES",
    "Message",
    "MessageError",
    "Kind",
    "pack_round",
    "printable",
    "unpack_round",
]

MAGIC, VERSION = b"dpvf", 1
RUN_BYTES = 16
MAX_PAYLOAD = 64 * 2**20
_HEADER = struct.Struct("<4sBBI16sII")  # magic, version, kind, round, run id, length, CRC-32
HEADER_BYTES = _HEADER.size
_LENGTH = struct.Struct("<I")


class MessageError(Exception):
    """Raised for a frame that violates the format; the message says how."""


class Kind(IntEnum):
    """The purpose of a frame."""

    HELLO = 1  # client: its nonce and the digest of its agreement
    START = 2  # server: all nonces, in the order of the clients
    UPLOAD = 3  # client: the request, and masked words
    SUM = 4  # server: the masked noisy sum
    ABORT = 5  # any party: the reason for the end, to be shown to its user
    DONE = 6  # client: no more rounds


@dataclasses.dataclass(frozen=True)
class Message:
    """One message. The CRC detects program faults; TLS protects against attackers."""

    kind: Kind
    round: int = 0
    run: bytes = bytes(RUN_BYTES)
    payload: bytes = b""

    def pack(self) -> bytes:
        """Return the frame as bytes."""
        head = (MAGIC, VERSION, self.kind, self.round, self.run, len(self.payload), zlib.crc32(self.payload))
        return _HEADER.pack(*head) + self.payload

    @staticmethod
    def length(header: bytes) -> int:
        """Return the payload's length from the header, before anything else is read.

        Raises
        ------
        MessageError
            If this is not a frame, has another version, or is longer than allowed.
        """
        magic, version, _, _, _, length, _ = _HEADER.unpack(header)
        if magic != MAGIC:
            raise MessageError("sent something that is not a dpviz frame")
        if version != VERSION:
            raise MessageError(f"speaks version {version} of the protocol; this side speaks version {VERSION}")
        if length > MAX_PAYLOAD:
            raise MessageError(f"announced a frame of {length:,} bytes; at most {MAX_PAYLOAD:,} are allowed")
        return length

    @classmethod
    def unpack(cls, header: bytes, payload: bytes) -> Message:
        """Return the frame.

        Raises
        ------
        MessageError
            If the payload is not the one the header was made for, or the kind is unknown.
        """
        _, _, kind, round_, run, _, checksum = _HEADER.unpack(header)
        if zlib.crc32(payload) != checksum:
            raise MessageError("sent a corrupted frame")
        if kind not in Kind.__members__.values():
            raise MessageError(f"sent a frame of unknown kind {kind}")
        return cls(Kind(kind), round_, run, payload)


def printable(text: bytes, most: int = 300) -> str:
    """Return the first characters of another party's message for display, without terminal control characters."""
    return "".join(c if c.isprintable() else "�" for c in text.decode(errors="replace")[:most])


def pack_round(facts: Mapping[str, Any], words: bytes) -> bytes:
    """Return the payload of an upload: the request as JSON, then the words."""
    text = json.dumps(facts, sort_keys=True).encode()
    return _LENGTH.pack(len(text)) + text + words


def unpack_round(payload: bytes) -> tuple[bytes, dict[str, Any], bytes]:
    """Return (the JSON as sent, its content, the words).

    Raises
    ------
    MessageError
        If the payload does not contain these parts.
    """
    if len(payload) < _LENGTH.size:
        raise MessageError("sent an upload without a description")
    (length,) = _LENGTH.unpack_from(payload)
    text, words = payload[_LENGTH.size : _LENGTH.size + length], payload[_LENGTH.size + length :]
    try:
        facts = json.loads(text)
    except (ValueError, RecursionError):
        raise MessageError("sent an upload with an unreadable description") from None
    if len(text) != length or not isinstance(facts, dict):
        raise MessageError("sent an upload with an unreadable description")
    return text, facts, words
