"""Draw the bar, which links to five places and, less prominently, two pages, and the tabs of the current place.

Streamlit's own bar folds into the sidebar and can mark only the pages that it lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from pages._ui.frame.demo import ABSENT, demo
from pages._ui.frame.inside import client
from pages._ui.frame.places import HOME, PAGES, PLACES, QUIET, Place, place_of

__all__ = ["bar"]

BAR = "bar"
TABS = "tabs"

_HERE = Path(__file__).parent

_component = st.components.v2.component(
    "dpviz_bar",
    html="<nav hidden></nav>",
    css=(_HERE / "bar.css").read_text(),
    js=client.BAR + (_HERE / "bar.js").read_text(),
    isolate_styles=False,  # Axe recognizes Streamlit's skip link by the page's first links, which the bar holds
)


class _Link(NamedTuple):
    """A link as the browser draws it.

    `current` is its `aria-current` ("page" for the current page, "true" for the place that contains it, else "").
    """

    href: str
    word: str
    current: str
    quiet: bool = False


def bar(page: str) -> None:
    """Show the bar, on which the page's place is marked, and the tabs of that place."""
    here = place_of(page)
    places = []
    for place in PLACES:
        first = place.pages[0]
        mark = "page" if page == first else "true" if place is here else ""
        places.append(_Link(_address(first), place.word, mark))
    _draw(BAR, "Places", [*places, *(_link(name, page, quiet=True) for name in QUIET)], look="bar")
    look = "tabs path" if here is not None and here.path else "tabs"
    _draw(TABS, f"Pages of {here.word}" if here else "Pages", _tabs(page, here), look=look)


def _tabs(page: str, place: Place | None) -> list[_Link]:
    """Return the links between the pages of a place; none if the place has a single page."""
    if place is None or not place.pages[1:]:
        return []
    return [_link(name, page) for name in place.pages if name not in ABSENT or not demo()]


def _link(name: str, page: str, *, quiet: bool = False) -> _Link:
    return _Link(_address(name), PAGES[name].title, "page" if name == page else "", quiet)


def _address(name: str) -> str:
    return "./" if name == HOME else f"./{name}"


def _draw(key: str, label: str, links: Sequence[_Link], *, look: str) -> None:
    data = {"label": label, "links": [link._asdict() for link in links], "look": look}
    _component(key=key, data=data, height="content")
