"""Show our page for an unforeseen error: it says what is safe, offers a link, and gives a number that is also logged.

The log says where the error happened but never its message, which may contain a cell of somebody's file.
"""

from __future__ import annotations

import logging
import secrets
import traceback
from pathlib import Path

import streamlit as st

from pages._ui.frame import markup
from pages._ui.frame.bar import BAR, TABS
from pages._ui.frame.inside import client, patches
from pages._ui.frame.session import session
from pages._ui.server.logs import Seldom

__all__ = ["show", "stay_silent"]

_MISHAP = "mishap"

_LOG, _FRAMES = Seldom(__name__), Seldom(__name__)
_ROOT = Path(__file__).parents[3]
_ALONE = f"<style>{client.alone(_MISHAP, BAR, TABS)}</style>"  # hides everything that a page drew before it failed


def stay_silent() -> None:
    """Keep Streamlit from logging error messages, where `show` says the place, and frames that any program can send."""
    patches.stay_silent(_seldom)


def _seldom(record: logging.LogRecord) -> bool:
    """Write a warning about a visitor's frame as one line without its traceback, and few of them a minute."""
    if record.levelno == logging.WARNING:
        _FRAMES.warning("A browser's message was refused: %s", str(record.msg).partition(" %s")[0].rstrip(".:"))
    return record.levelno != logging.WARNING


def show(error: Exception) -> bool:
    """Show our page instead of Streamlit's error box; return True to suppress that box."""
    number = secrets.token_hex(3).upper()
    _LOG.warning("Error %s: %s at %s", number, type(error).__name__, _places(error))
    patches.forget_values()  # Values that broke a page must not break it again at the next visit.
    if session.pages:  # The bar, which app.py has drawn, links to the other pages.
        st.navigation(session.pages, position="hidden")
    with st.container(key=_MISHAP):
        st.html(_ALONE)
        st.title("This page has failed")
        st.html(
            markup.lede(
                "This is our fault. Your file and its account are safe: nothing was read or spent beyond what the "
                "account lists."
            )
        )
        st.page_link("pages/home.py", label="Back to Start", icon=":material/arrow_forward:")
        st.html(markup.small("For the operator of this server: error ", markup.bold(number), " in its log."))
    return True


def _places(error: Exception) -> str:
    """Return the file, line and function of each stack frame in our code, outermost first."""
    steps = traceback.extract_tb(error.__traceback__)
    ours = [step for step in steps if Path(step.filename).is_relative_to(_ROOT)] or steps[-1:]
    return " > ".join(f"{_named(step.filename)}:{step.lineno} {step.name}" for step in ours)


def _named(file: str) -> str:
    path = Path(file)
    return path.relative_to(_ROOT).as_posix() if path.is_relative_to(_ROOT) else path.name
