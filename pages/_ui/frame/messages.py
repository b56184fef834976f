"""Sentences to the visitor that outlive a rerun: said anywhere, shown once, at the top of whatever page comes next."""

from __future__ import annotations

import streamlit as st

from dpviz.escape import plain
from pages._ui.frame.session import session
from pages._ui.frame.words import on_screen

_BOXES = {"problem": st.error, "note": st.info, "done": st.success}


def say(kind: str, words: str) -> None:
    """Keep a sentence for the next page that is drawn: a "problem", a "note", or what was "done". It is no Markdown."""
    session.sentences.append((kind, words))


def show() -> None:
    """Show what was said since a page was last drawn. The box is always there: a sentence moves no other element."""
    sentences = session.sentences
    del session.sentences
    with st.container():
        for kind, words in sentences:
            _BOXES[kind](plain(on_screen(words)))
