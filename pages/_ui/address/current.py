"""The session's deck."""

from __future__ import annotations

import dataclasses

from pages._ui.address.deck import DEFAULT, MOST_SLIDES, Deck, Slide
from pages._ui.frame.session import session

__all__ = ["add", "current", "keep"]


def current() -> Deck:
    """Return the session's deck."""
    if session.deck is None:
        session.deck = DEFAULT
    return session.deck


def add(slide: Slide) -> None:
    """Put a slide at the end of the session's deck, where there is room."""
    deck = current()
    if len(deck.slides) < MOST_SLIDES:
        keep(dataclasses.replace(deck, slides=(*deck.slides, slide)))


def keep(deck: Deck) -> None:
    """Make it the session's deck; the fields that show it are made anew."""
    session.deck = deck
    session.deck_edit += 1
