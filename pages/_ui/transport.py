"""The transport: one small component that drives every figure of a keyed container, frame by frame."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

_HERE = Path(__file__).parent

_component = st.components.v2.component(
    "dpviz_transport",
    html='<div class="dpviz-transport"></div>',
    css=(_HERE / "transport.css").read_text(),
    js=(_HERE / "transport.js").read_text(),
)


def transport(
    key: str,
    *,
    scope: str,
    titles: list[str],
    marks: list[int],
    zoom_of: str,
    autoplay: bool = False,
    on_step: Callable[[], None] | None = None,
) -> None:
    """Show the controls for the figures inside the container with key `scope`.

    The shown step is reported to `st.session_state[key].step` and `on_step` only where `on_step` is given. A zoom is
    kept while `zoom_of` stays the same.
    """
    data: dict[str, Any] = {
        "id": key,
        "scope": f".st-key-{scope}",
        "titles": titles,
        "marks": marks,
        "zoomOf": zoom_of,
        "autoplay": autoplay,
        "report": on_step is not None,
    }
    _component(
        key=key,
        data=data,
        default={"step": len(titles) - 1},
        on_step_change=on_step or (lambda: None),
        height="content",
    )
