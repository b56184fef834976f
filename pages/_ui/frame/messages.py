"""Sentences for the visitor that survive a rerun and appear once, at the top of the next page."""

from __future__ import annotations

import threading
import weakref

import streamlit as st

from dpviz.escape import plain
from pages._ui.frame.session import nothing, session
from pages._ui.frame.words import on_screen

_BOXES = {"problem": st.error, "note": st.info, "done": st.success}


def say(kind: str, words: str) -> None:
    """Store a plain-text sentence for the next page that is drawn: a "problem", a "note", or something "done"."""
    session.sentences.append((kind, words))


def show() -> None:
    """Show the sentences stored since a page was last drawn, in a box that always exists, so that nothing moves.

    If the page was drawn and is drawn again at once, by the same thread, its visitor has not seen the sentences yet.
    """
    thread, before = session.drawn_by or (nothing, [])
    unseen = before if thread() is threading.current_thread() else []
    sentences = [*unseen, *(one for one in session.sentences if one not in unseen)]
    del session.sentences
    session.drawn_by = weakref.ref(threading.current_thread()), sentences
    with st.container():
        for kind, words in sentences:
            _BOXES[kind](plain(on_screen(words)))
