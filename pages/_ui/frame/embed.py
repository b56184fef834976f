"""Show only the plane, the player and the promise if the address has `?embed`, for an iframe in another page."""

from __future__ import annotations

import streamlit as st

from pages._ui.frame import markup
from pages._ui.frame.inside.client import EMBEDDED
from pages._ui.frame.session import session

__all__ = ["HIDES", "code", "embedded", "note", "style"]

HIDES = ("form", "verdict", "panels", "navigation")
COLORS = {"": "same as the reader's system", "light_theme": "light", "dark_theme": "dark"}


def note(query: str) -> None:
    """Remember whether this session began in an iframe or at an address with `?embed`, and do not change this later."""
    asked = any(part.partition("=")[0] == "embed" for part in query.split("&"))
    if session.embedded is None:
        session.embedded = asked or bool(st.context.is_embedded)


def embedded() -> bool:
    """Return whether the page is shown as in an iframe, see `note`."""
    return bool(session.embedded)


def style() -> str:
    """Return the style rules that hide everything but the picture in an iframe, or "" outside an iframe."""
    return EMBEDDED if embedded() else ""


def code(link: str, title: str, colors: str) -> str:
    """Return the HTML to paste into another page; `colors` is one of `COLORS`."""
    options = f"&embed_options={colors}" if colors else ""
    source, title = (markup.escape(text) for text in (f"{link}&embed=true{options}", title))
    return f'<iframe src="{source}" title="{title}" style="width:100%;height:700px;border:0" loading="lazy"></iframe>'
