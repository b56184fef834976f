"""Write figures into one file that needs no network, with their library compressed to a third of its size."""

from __future__ import annotations

import base64
import functools
import gzip
from pathlib import Path

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

__all__ = ["drawn", "library", "unpacked"]


def drawn(figure: go.Figure) -> str:
    """Return a figure's element and JSON; the page draws it once the library is unpacked."""
    record = str(figure.to_json()).replace("<", "\\u003c")
    return f'<div class="plot"></div><script type="application/json">{record}</script>'


def unpacked() -> str:
    """Return the plotting library as a script that is not compressed."""
    return str(get_plotlyjs())


@functools.cache
def library() -> str:
    """Return the scripts that unpack the library and draw every `drawn` figure above them."""
    packed = base64.b85encode(gzip.compress(unpacked().encode(), 9, mtime=0)).decode()
    if "<!--" in packed:  # this would begin a comment; the encoding uses no slash, so it holds no end tag
        packed = packed.replace("<!--", "<! --")  # white space is skipped
    unpack = (Path(__file__).parent / "packed.js").read_text(encoding="utf-8")
    return f'<script type="text/plain" id="library">{packed}</script><script type="module">{unpack}</script>'
