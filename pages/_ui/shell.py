"""What surrounds every page: the way in through app.py, colors, the top strip."""

from __future__ import annotations

import html

import streamlit as st

from dpviz.figures.theme import Theme, theme
from dpviz.privacy.guarantee import Guarantee

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
    c = colors()
    facts = [("Data", data), ("Algorithm", algorithm)]
    if guarantee is not None and guarantee.private:
        facts += [("epsilon", f"{guarantee.epsilon:.3g}"), ("delta", f"{guarantee.delta:.2g}")]
        facts += [("mu", f"{guarantee.mu:.2f}")] if guarantee.mu is not None else []
        facts += [("Unit", guarantee.unit)]
    elif guarantee is not None:
        facts += [("Guarantee", str(guarantee))]
    words = "".join(f"<span>{html.escape(name)} <b>{html.escape(value)}</b></span>" for name, value in facts)
    style = f"""<style>
      .dp-strip {{ display:flex; flex-wrap:wrap; gap:4px 18px; align-items:center; font-size:13.5px; color:{c.muted};
        border-bottom:1px solid {c.line}; padding:6px 0 8px; font-variant-numeric:tabular-nums; background:{c.bg}; }}
      .dp-strip b {{ color:{c.ink}; font-weight:600; }}
      .dp-badge {{ border:1.5px dashed {c.hidden}; color:{c.hidden}; border-radius:5px; padding:1px 8px; font-weight:700;
        letter-spacing:.04em; font-size:12.5px; }}
      .dp-key {{ display:flex; flex-wrap:wrap; gap:4px 18px; font-size:13.5px; color:{c.muted}; }}
      .dp-lede {{ font-size:18px; line-height:1.45; color:{c.muted}; margin:0; }}
      .dp-odds {{ font-size:19px; line-height:1.4; margin:0; }}
      .dp-small {{ font-size:13.5px; color:{c.muted}; margin:0; line-height:1.45; }}
      .dp-bar {{ position:relative; height:14px; max-width:460px; margin:6px 8px 2px; }}
      .dp-bar i {{ position:absolute; top:5px; height:4px; border-radius:2px; }}
      .dp-bar u {{ position:absolute; top:0; width:10px; height:10px; border-radius:50%; margin-left:-7px; border:2px solid; }}
      .dp-ends {{ display:flex; justify-content:space-between; max-width:476px; font-size:13.5px; color:{c.muted}; }}
      button[kind^=primary] p {{ color:{c.bg}; }}
      [data-testid=stMainBlockContainer] {{ max-width:1280px; padding-left:2rem; padding-right:2rem; }}
      h1 {{ letter-spacing:-.015em; line-height:1.12; }}
      @media (min-width:641px) {{
        [data-testid=stLayoutWrapper]:has(>.st-key-strip) {{ position:sticky; top:3.75rem; z-index:50; }}
      }}
      @media (max-width:640px) {{
        [data-testid=stMainBlockContainer] {{ padding-left:1rem; padding-right:1rem; }}
        h1 {{ font-size:1.85rem !important; }} .dp-strip {{ font-size:12.5px; }} .dp-lede {{ font-size:16.5px; }}
      }}
    </style>"""
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
