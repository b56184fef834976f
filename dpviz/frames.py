"""Exchange frames (messages) with another process over its pipes. A frame is a letter, a length and that many bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import IO

__all__ = ["frames", "send"]

_HEAD = struct.Struct("<cQ")
_MOST = 2**30  # maximum size of a frame, in bytes; the largest frames contain a file or a data set


def send(out: IO[bytes], letter: bytes, content: bytes | memoryview) -> None:
    """Write one frame."""
    out.write(_HEAD.pack(letter, memoryview(content).nbytes))
    out.write(content)
    out.flush()


def frames(into: IO[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield the frames of a stream; drop an incomplete frame at its end."""
    while len(head := into.read(_HEAD.size)) == _HEAD.size:
        letter, length = _HEAD.unpack(head)
        if length > _MOST:
            return
        content = into.read(length)
        if len(content) < length:
            return
        yield letter, content
