"""The session's deck."""

from __future__ import annotations

import dataclasses

from pages._ui.frame.address.deck import DEFAULT, MOST_SLIDES, Deck, Slide
from pages._ui.frame.address.state import address_state

__all__ = ["add", "keep", "own_deck"]


def own_deck() -> Deck:
    """Return the session's deck."""
    if address_state.deck is None:
        address_state.deck = DEFAULT
    return address_state.deck


def add(slide: Slide) -> None:
    """Append a slide to the session's deck if there is room."""
    deck = own_deck()
    if len(deck.slides) < MOST_SLIDES:
        keep(dataclasses.replace(deck, slides=(*deck.slides, slide)))


def keep(deck: Deck) -> None:
    """Replace the session's deck, and recreate the fields that show it."""
    address_state.deck = deck
    address_state.deck_edit += 1
