"""List the places of the bar and their pages, each page with its title and the question that it answers."""

from __future__ import annotations

import base64
from typing import NamedTuple

from dpviz.figures.kit.theme import LIGHT

__all__ = ["HOME", "ICON", "PAGES", "PLACES", "QUIET", "VIEWS", "PageEntry", "Place", "place_of"]


class PageEntry(NamedTuple):
    """A page: its title, which the bar and the tabs show, and the question that it answers."""

    title: str
    question: str = ""


class Place(NamedTuple):
    """A word in the bar, with the pages behind its tabs, in order; the pages of a `path` are consecutive steps."""

    word: str
    pages: tuple[str, ...]
    path: bool = False


_DRAWN = (  # a released center
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="9" '
    f'fill="{LIGHT.released}" stroke="{LIGHT.ink}" stroke-width="3"/></svg>'
)
ICON = f"data:image/svg+xml;base64,{base64.b64encode(_DRAWN.encode()).decode()}"
HOME = "home"
PAGES = {
    "home": PageEntry("Start"),
    "learn": PageEntry("Lessons"),
    "limits": PageEntry("Limits", "What does the promise not cover?"),
    "explore": PageEntry("Watch"),
    "again": PageEntry("Again?", "Would another run find the same?"),
    "attacker": PageEntry("Alex", "Is Alex in the data?"),
    "compare": PageEntry("Compare", "How do two to four runs differ?"),
    "tradeoff": PageEntry("Trade-off", "What does ε change?"),
    "ledger": PageEntry("Cost", "What did this run cost?"),
    "data": PageEntry("File", "Which people?"),
    "bounds": PageEntry("Bounds", "What is public about the data?"),
    "plan": PageEntry("Rehearse", "What would ε buy, before you spend it?"),
    "spend": PageEntry("Spend", "Spend privacy on this file?"),
    "account": PageEntry("Account", "What has this file spent?"),
    "class": PageEntry("Class"),
    "present": PageEntry("Present"),
    "notes": PageEntry("Notes"),
    "papers": PageEntry("Papers", "Do the five papers' results hold up in a rerun?"),
}
VIEWS = ("explore", "again", "attacker", "compare", "tradeoff", "ledger")  # views of a run
PLACES = (
    Place("Start", ("home",)),
    Place("Learn", ("learn", "limits")),
    Place("Explore", VIEWS),
    Place("Your data", ("data", "bounds", "plan", "spend", "account"), path=True),
    Place("Teach", ("class", "present", "notes")),
)
QUIET = ("papers", "limits")  # Pages at the bar's right end or, on a phone, at the foot of the page.


def place_of(page: str) -> Place | None:
    """Return the place of a page, or None if it has none."""
    return next((place for place in PLACES if page in place.pages), None)
