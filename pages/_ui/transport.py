"""The transport: one small component that drives every figure of a keyed container, frame by frame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from pages._ui.panel import SCRIPT

_HERE = Path(__file__).parent

_component = st.components.v2.component(
    "dpviz_transport",
    html='<div class="dpviz-transport"></div>',
    css=(_HERE / "transport.css").read_text(),
    js=SCRIPT + (_HERE / "transport.js").read_text(),
)


def transport(
    key: str,
    *,
    scope: str,
    titles: list[str],
    marks: list[int],
    autoplay: bool = False,
) -> None:
    """Show the controls for the figures inside the container with key `scope`; stepping never asks the server."""
    data: dict[str, Any] = {
        "id": key,
        "scope": f".st-key-{scope}",
        "titles": titles,
        "marks": marks,
        "autoplay": autoplay,
    }
    _component(key=key, data=data, height="content")
