"""Write figures into one file that needs no network; its plotting library is compressed to a third of its size."""

from __future__ import annotations

import base64
import functools
import gzip
from pathlib import Path

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

__all__ = ["drawn", "library", "unpacked"]


def drawn(figure: go.Figure) -> str:
    """Return the HTML of a figure with its JSON; the page draws it as soon as the library is unpacked."""
    record = str(figure.to_json()).replace("<", "\\u003c")
    return f'<div class="plot"></div><script type="application/json">{record}</script>'


def unpacked() -> str:
    """Return the source of the plotting library, uncompressed."""
    return str(get_plotlyjs())


@functools.cache
def library() -> str:
    """Return the scripts that unpack the library and draw every figure that `drawn` has put above them."""
    packed = base64.b85encode(gzip.compress(unpacked().encode(), 9, mtime=0)).decode()
    # "<!--" would begin an HTML comment; an end tag cannot occur, because the encoding uses no slash
    if "<!--" in packed:
        packed = packed.replace("<!--", "<! --")  # the decoder skips white space
    unpack = (Path(__file__).parent / "packed.js").read_text(encoding="utf-8")
    return f'<script type="text/plain" id="library">{packed}</script><script type="module">{unpack}</script>'
