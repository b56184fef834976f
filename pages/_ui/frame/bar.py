"""The bar: five places, two quiet pages, and below it the tabs of the place that a visitor is in.

Streamlit's own bar folds into the sidebar and marks no page outside of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from pages._ui.frame import keys
from pages._ui.frame.places import HOME, PLACES, QUIET, Place, place_of, title_of
from pages._ui.frame.session import session

__all__ = ["bar"]

_HERE = Path(__file__).parent

_component = st.components.v2.component(
    "dpviz_bar",
    html="<nav hidden></nav>",
    css=(_HERE / "bar.css").read_text(),
    js=(_HERE / "bar.js").read_text(),
    isolate_styles=False,  # as the page's first links they make Streamlit's own link past them one that Axe knows
)


class _Link(NamedTuple):
    """A link as the browser draws it; `current` is its `aria-current`: "page", "true" for its place, or ""."""

    href: str
    word: str
    current: str
    quiet: bool = False


def bar(page: str) -> None:
    """Show the bar with the place of a page marked, and the tabs of that place."""
    own = session.own.get(st.session_state.get(keys.EXPLORE_DATA, ""))
    private = own is not None and own.private
    here = place_of(page, private=private)
    places = []
    for place in PLACES:
        first = place.pages[0]
        mark = "page" if page == first else "true" if place is here else ""
        places.append(_Link(_address(first), place.word, mark))
    _draw(keys.BAR, "Places", [*places, *(_link(name, None, page, quiet=True) for name in QUIET)], brand=True)
    _draw(keys.TABS, f"Pages of {here.word}" if here else "Pages", _tabs(page, here, private))


def _tabs(page: str, place: Place | None, private: bool) -> list[_Link]:
    """Return the links between the pages of a place, none where it has one page; only a private file has an account."""
    if place is None:
        return []
    names = [name for name in place.pages if private or place_of(name) is place]
    tabs = [_link(name, place, page) for name in names]
    tabs += [_link(name, place, page, quiet=True) for name in place.quiet]
    return tabs if len(tabs) > 1 else []


def _link(name: str, place: Place | None, page: str, *, quiet: bool = False) -> _Link:
    return _Link(_address(name), title_of(name, place), "page" if name == page else "", quiet)


def _address(name: str) -> str:
    return "./" if name == HOME else f"./{name}"


def _draw(key: str, label: str, links: Sequence[_Link], *, brand: bool = False) -> None:
    data = {"label": label, "links": [link._asdict() for link in links], "brand": brand}
    _component(key=key, data=data, height="content")
