"""Show the form on a narrow screen: a line that summarizes its values and opens the drawer that holds it.

Every page has this component, so it also requests the page again when the system turns dark or light.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages._ui.frame.inside.client import PAGE

_HERE = Path(__file__).parent

_component = st.components.v2.component(
    "dpviz_drawer",
    html='<button type="button" class="dp-form"><span></span><b>Change</b></button>',
    js=PAGE + (_HERE / "drawer.js").read_text(),
    isolate_styles=False,  # the style sheet of the page applies to the drawer
)


def drawer(page: str, summary: str) -> None:
    """Show the line that opens the drawer, closed at first; `summary` states the form's values in a few words."""
    with st.container(key="drawer"):
        _component(
            key=f"{page}_drawer", data={"page": page, "summary": summary}, height="content",
            on_scheme_change=lambda: None,
        )  # fmt: skip
