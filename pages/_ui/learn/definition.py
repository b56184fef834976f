"""Show the definition of privacy as a picture that follows its sliders in the browser, without the server."""

from __future__ import annotations

import json
from pathlib import Path

import streamlit as st

from dpviz.figures.kit.theme import theme
from dpviz.figures.scenes import definition, drag
from pages._ui.explore.player import stage
from pages._ui.frame import shell
from pages._ui.frame.inside.client import PAGE

__all__ = ["show"]

_component = st.components.v2.component(
    "dpviz_definition",
    html='<div class="dpviz-drag dpviz-definition"></div>',
    css=drag.text_of("track.css") + definition.text_of("definition.css"),
    js=PAGE
    + drag.text_of("track.js")
    + definition.text_of("definition.js")
    + (Path(__file__).parent / "definition.js").read_text(),
)


def show() -> None:
    """Show the picture with its sliders, sentences and key."""
    record = _record(st.context.theme.type or "light")
    _component(key="definition", data={"record": record, "stage": stage.NAME}, height="content")
    shell.key_line(definition.LEGEND, hidden=True)


@st.cache_resource(max_entries=2, show_spinner=False)
def _record(mode: str) -> str:
    return json.dumps(definition.record(theme(mode)), ensure_ascii=False, separators=(",", ":"))
