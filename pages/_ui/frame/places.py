"""The places of the bar and the pages of each, with the word that leads to a page and the question it answers."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["HOME", "MOVED", "PAGES", "PLACES", "QUIET", "VIEWS", "Entry", "Place", "place_of"]


class Entry(NamedTuple):
    """A page: the word that leads to it, and the question that it answers."""

    title: str
    question: str = ""


class Place(NamedTuple):
    """A word of the bar, the pages behind its tabs, the first one first, and those that its tabs show quietly.

    The pages of a `path` are its steps, one after the other.
    """

    word: str
    pages: tuple[str, ...]
    quiet: tuple[str, ...] = ()
    path: bool = False


HOME = "home"
PAGES = {
    "home": Entry("Start"),
    "learn": Entry("Lessons"),
    "limits": Entry("Limits", "What does no promise cover?"),
    "explore": Entry("Watch"),
    "again": Entry("Again?", "Would it happen again?"),
    "attacker": Entry("Alex", "Is Alex in the data?"),
    "compare": Entry("Beside", "How do two to four runs differ?"),
    "tradeoff": Entry("Trade-off", "What does ε change?"),
    "ledger": Entry("Cost", "What did it cost?"),
    "data": Entry("File", "Which people?"),
    "bounds": Entry("Bounds", "What is public about them?"),
    "plan": Entry("Rehearse", "What would an ε give, before it is spent?"),
    "spend": Entry("Spend", "Spend privacy on this file?"),
    "account": Entry("Account", "What has this file spent?"),
    "class": Entry("Class"),
    "present": Entry("Present"),
    "notes": Entry("Notes"),
    "papers": Entry("Papers", "Do the five papers hold when they run again?"),
}
VIEWS = ("explore", "again", "attacker", "compare", "tradeoff", "ledger")  # of a run
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
    """Return the place of a page, None for one of no place."""
    return next((place for place in PLACES if page in place.pages + place.quiet), None)
