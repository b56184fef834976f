"""Sentences for the visitor that survive a rerun and appear once, at the top of the next page."""

from __future__ import annotations

import streamlit as st

from dpviz.escape import plain
from pages._ui.frame.session import session
from pages._ui.frame.words import on_screen

_BOXES = {"problem": st.error, "note": st.info, "done": st.success}


def say(kind: str, words: str) -> None:
    """Store a plain-text sentence for the next page that is drawn: a "problem", a "note", or something "done"."""
    session.sentences.append((kind, words))


def show() -> None:
    """Show the sentences stored since a page was last drawn, in a box that always exists, so that nothing moves."""
    sentences = session.sentences
    del session.sentences
    with st.container():
        for kind, words in sentences:
            _BOXES[kind](plain(on_screen(words)))
