"""The picture that a link to the site shows elsewhere: the town's people, and the centers that one run released."""

from __future__ import annotations

import struct
import zlib

import numpy as np

from dpviz.atlas.cells import STORY
from dpviz.figures.kit.theme import LIGHT
from dpviz.lessons.ground import ground

from .folder import Folder
from .shell import PREVIEW, Shell

__all__ = ["add", "png"]

WIDE, HIGH, EDGE = 1200, 630, 30  # pixels
_PERSON, _CENTER, _RIM = 2.2, 15.0, 4.0  # radius of a person and of a center, width of a center's rim, pixels


def add(folder: Folder, shell: Shell) -> None:
    """Add the picture."""
    there = ground(STORY[0])
    centers = there.run(STORY[1], 0).cluster_centers
    picture = np.full((HIGH, WIDE, 3), _rgb(LIGHT.bg))
    low, high = there.data.domain.low, there.data.domain.high
    scale = min((WIDE - 2 * EDGE) / (high[0] - low[0]), (HIGH - 2 * EDGE) / (high[1] - low[1]))
    middle = (low + high) / 2

    def places(points: np.ndarray) -> np.ndarray:
        moved: np.ndarray = (points - middle) * scale * [1, -1] + [WIDE / 2, HIGH / 2]
        return moved

    for x, y in places(there.data.X):
        _disc(picture, x, y, _PERSON, LIGHT.person, 0.55)
    for x, y in places(centers):
        _disc(picture, x, y, _CENTER + _RIM, LIGHT.ink)
        _disc(picture, x, y, _CENTER, LIGHT.released)
    folder.put(PREVIEW, png(picture.round().astype(np.uint8)))


def _rgb(color: str) -> np.ndarray:
    return np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)], float)


def _disc(picture: np.ndarray, x: float, y: float, radius: float, color: str, opacity: float = 1.0) -> None:
    """Paint a disc with a smooth rim on an image, an array of shape (high, wide, 3) with values up to 255."""
    left, top = max(0, int(x - radius - 2)), max(0, int(y - radius - 2))
    part = picture[top : int(y + radius + 3), left : int(x + radius + 3)]
    rows, columns = np.indices(part.shape[:2])
    share = np.clip(radius + 0.5 - np.hypot(columns + left - x, rows + top - y), 0, 1)[..., None] * opacity
    part += share * (_rgb(color) - part)


def png(pixels: np.ndarray) -> bytes:
    """Return an image, bytes of shape (high, wide, 3), as PNG (RFC 2083)."""
    high, wide, _ = pixels.shape
    lines = b"".join(b"\0" + line.tobytes() for line in np.ascontiguousarray(pixels))
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", wide, high, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(lines, 9)),
        (b"IEND", b""),
    )
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
