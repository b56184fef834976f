"""The session's deck."""

from __future__ import annotations

import dataclasses

import streamlit as st

from pages._ui.present.deck import DEFAULT, MOST_SLIDES, Deck, Slide

__all__ = ["add", "current", "keep"]


def current() -> Deck:
    """Return the session's deck."""
    return st.session_state.setdefault("deck", DEFAULT)


def add(slide: Slide) -> None:
    """Put a slide at the end of the session's deck, where there is room."""
    deck = current()
    if len(deck.slides) < MOST_SLIDES:
        keep(dataclasses.replace(deck, slides=(*deck.slides, slide)))


def keep(deck: Deck) -> None:
    """Make it the session's deck; the fields that show it are made anew."""
    st.session_state.deck = deck
    st.session_state.deck_edit = st.session_state.get("deck_edit", 0) + 1
