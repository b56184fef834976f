"""A server for demonstrations, such as on a small host: samples, blobs and paintings, but nobody's file."""

from __future__ import annotations

import os

import streamlit as st

from pages._ui.frame.inside.patches import stop

__all__ = ["ABSENT", "NO_FILE", "demo", "refuse"]

SETTING = "DPVIZ_DEMO"  # "1": no file, no account, one worker process, and none that waits for files
ABSENT = ("bounds", "spend", "account")  # pages about a visitor's own file, which the bar leaves out
NO_FILE = (
    "This server is a demonstration: it takes no file and keeps no account. Samples, blobs and paintings are under "
    "Your data; for a file of your own, start dpviz on your own machine."
)


def demo() -> bool:
    """Return whether this server is a demonstration.

    Raises
    ------
    ValueError
        If the setting is neither 1 nor 0.
    """
    text = os.environ.get(SETTING) or "0"
    if text not in ("0", "1"):
        raise ValueError(f"{SETTING} must be 1 for a demonstration, or 0; got {text!r}.")
    return text == "1"


def refuse() -> None:
    """On a demonstration, say on a page about a visitor's own file that there is none, and end the page."""
    if demo():
        st.info(NO_FILE)
        st.page_link("pages/data.py", label="Choose a sample", icon=":material/dataset:")
        stop()
