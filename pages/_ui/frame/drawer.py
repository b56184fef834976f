"""The way to the form on a narrow screen: one line that says what is set, and opens the drawer that holds the form.

It is on every page, so it also asks for the page again when the system turns dark or light.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages._ui.frame import keys

_HERE = Path(__file__).parent

_component = st.components.v2.component(
    "dpviz_drawer",
    html='<button type="button" class="dp-form"><span></span><b>Change</b></button>',
    js=(_HERE / "drawer.js").read_text(),
    isolate_styles=False,  # its style is the page's
)


def drawer(page: str, summary: str) -> None:
    """Keep the drawer closed when a page comes; `summary` is what the form says, in a few words."""
    with st.container(key=keys.DRAWER_BOX):
        _component(
            key=keys.DRAWER(page), data={"page": page, "summary": summary}, height="content",
            on_scheme_change=lambda: None,
        )  # fmt: skip
