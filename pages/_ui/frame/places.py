"""The places of the bar and their pages, each with its word in the bar and the question it answers."""

from __future__ import annotations

import base64
from typing import NamedTuple

from dpviz.figures.kit.theme import LIGHT

__all__ = ["HOME", "ICON", "MOVED", "PAGES", "PLACES", "QUIET", "VIEWS", "Entry", "Place", "place_of"]


class Entry(NamedTuple):
    """A page: its word in the bar, and the question it answers."""

    title: str
    question: str = ""


class Place(NamedTuple):
    """A word of the bar, the pages behind its tabs in their order, and those that its tabs show quietly.

    The pages of a `path` are its consecutive steps.
    """

    word: str
    pages: tuple[str, ...]
    quiet: tuple[str, ...] = ()
    path: bool = False


_DRAWN = (  # a released center
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="9" '
    f'fill="{LIGHT.released}" stroke="{LIGHT.ink}" stroke-width="3"/></svg>'
)
ICON = f"data:image/svg+xml;base64,{base64.b64encode(_DRAWN.encode()).decode()}"
HOME = "home"
PAGES = {
    "home": Entry("Start"),
    "learn": Entry("Lessons"),
    "limits": Entry("Limits", "What does the promise not cover?"),
    "explore": Entry("Watch"),
    "again": Entry("Again?", "Would it happen again?"),
    "attacker": Entry("Alex", "Is Alex in the data?"),
    "compare": Entry("Beside", "How do two to four runs differ?"),
    "tradeoff": Entry("Trade-off", "What does ε change?"),
    "ledger": Entry("Cost", "What did it cost?"),
    "data": Entry("File", "Which people?"),
    "bounds": Entry("Bounds", "What is public about them?"),
    "plan": Entry("Rehearse", "What would ε buy, before you spend it?"),
    "spend": Entry("Spend", "Spend privacy on this file?"),
    "account": Entry("Account", "What has this file spent?"),
    "class": Entry("Class"),
    "present": Entry("Present"),
    "notes": Entry("Notes"),
    "papers": Entry("Papers", "Do the five papers' results hold up when run again?"),
}
VIEWS = ("explore", "again", "attacker", "compare", "tradeoff", "ledger")  # views of a run
PLACES = (
    Place("Start", ("home",)),
    Place("Learn", ("learn", "limits")),
    Place("Explore", VIEWS),
    Place("Your data", ("data", "bounds", "plan", "spend", "account"), path=True),
    Place("Teach", ("class", "present", "notes")),
)
QUIET = ("papers", "limits")  # at the bar's right end, at the foot of a phone's page
MOVED = {"rho": "distance", "lessons": "learn"}  # addresses of 0.1 -> of today


def place_of(page: str) -> Place | None:
    """Return the place of a page, or None if it has none."""
    return next((place for place in PLACES if page in place.pages + place.quiet), None)
