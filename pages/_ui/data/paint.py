"""Offer a canvas on which a visitor paints people (groups, a minority, an outlier), and make a data set of them."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dpviz.datasets import Painted
from dpviz.datasets.painted import check
from dpviz.figures.scenes import paint as figures
from pages._ui.data import gallery
from pages._ui.data.controls import PAINTED
from pages._ui.frame import catalog, messages

_PAINT = "paint"

_component = st.components.v2.component(
    "dpviz_paint",
    html=figures.HTML,
    css=figures.text_of("paint.css"),
    js=figures.text_of("paint.js") + (Path(__file__).parent / "paint.js").read_text(),
)


def paint() -> None:
    """Show the canvas; a painting of enough people can be used on every page."""
    code = st.session_state.setdefault(PAINTED, "")
    canvas, about = st.columns([6, 5], gap="medium")
    with canvas:
        _component(key=_PAINT, data={"code": code, **figures.LIMITS}, height="content", on_people_change=_took)
    with about:
        st.markdown(
            "Press and drag to paint. On the keyboard, arrow keys move the cursor on the canvas and Enter paints. "
            "Nobody here is real, so the painting is in DEMO mode. The link contains every person, works for "
            "everybody, and survives a reload."
        )
        try:
            painted = Painted(code)
        except ValueError:
            painted = None  # too few people so far; the canvas says so
        used = painted is not None and st.session_state[catalog.CHOSEN] == painted.key
        st.button(
            "In use" if used else "Use these people", type="primary", width="stretch", disabled=used or painted is None,
            on_click=catalog.choose, args=(painted.key if painted else "",),
        )  # fmt: skip
    if painted is not None:
        gallery.facts(catalog.sample(painted.key))


def _took() -> None:
    """Store the painting; if it is not valid, show one sentence and keep the previous painting."""
    code = st.session_state[_PAINT].get("people")
    try:
        check(code)
    except ValueError as problem:
        messages.say("problem", f"{problem} The previous painting stays.")
    else:
        st.session_state[PAINTED] = code
