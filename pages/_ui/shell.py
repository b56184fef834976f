"""What surrounds every page: the way in through app.py, colors, the top strip."""

from __future__ import annotations

import dataclasses
import html
from pathlib import Path

import streamlit as st

from dpviz.figures.theme import Theme, theme
from dpviz.privacy.guarantee import Guarantee

_CSS = (Path(__file__).parent / "shell.css").read_text()
PAGES = {"pages/home.py": "Home", "pages/explore.py": "Explore"}


def enter(page: str) -> None:
    """Send a first visit by a deep link through app.py, which sets up the shell and comes back to this page."""
    if "via_app" not in st.session_state:
        st.session_state.wanted = page
        st.switch_page("app.py")


def colors() -> Theme:
    """Return the tokens of the visitor's mode."""
    return theme(st.context.theme.type or "light")


def strip(data: str, algorithm: str, guarantee: Guarantee | None) -> None:
    """Show mode, data, algorithm and guarantee, and the page's style with it."""
    facts = [("Data", data), ("Algorithm", algorithm)]
    if guarantee is not None and guarantee.private:
        facts += [("epsilon", f"{guarantee.epsilon:.3g}"), ("delta", f"{guarantee.delta:.2g}")]
        facts += [("mu", f"{guarantee.mu:.2f}")] if guarantee.mu is not None else []
        facts += [("Unit", guarantee.unit)]
    elif guarantee is not None:
        facts += [("Guarantee", str(guarantee))]
    words = "".join(f"<span>{html.escape(name)} <b>{html.escape(value)}</b></span>" for name, value in facts)
    tokens = "".join(f"--dp-{name}:{value};" for name, value in dataclasses.asdict(colors()).items())
    style = f"<style>:root{{{tokens}}}{_CSS}</style>"
    with st.container(key="strip"):
        st.html(f'{style}<div class="dp-strip"><span class="dp-badge">DEMO</span>{words}</div>')


def key_line(entries: list[tuple[str, str]]) -> None:
    """Show the legend as glyph and word; glyphs are text, colors come from the theme."""
    c = colors()
    words = "".join(
        f'<span><span style="color:{getattr(c, token)}" aria-hidden="true">{glyph}</span> {html.escape(word)}</span>'
        for glyph, word, token in ((g.split("|")[0], w, g.split("|")[1]) for g, w in entries)
    )
    st.html(f'<div class="dp-key">{words}</div>')
