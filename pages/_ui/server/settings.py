"""Refuse to start with an untested version of Streamlit or with settings that are unsafe."""

from __future__ import annotations

import streamlit as st

__all__ = ["check"]

STREAMLIT = "1.67"  # The minor version whose private names `streamlit_patches` and the tests know.
_REQUIRED = {  # option of Streamlit -> its only value, and what another value would allow
    "server.enableAgentApi": (False, "a program could walk through the pages of private files"),
    "server.enableXsrfProtection": (True, "another site could upload files in a visitor's name"),
    "server.enableCORS": (True, "another site could use the server in a visitor's name"),
    "client.showErrorDetails": ("none", "an error page could show a cell of a private file"),
    "runner.magicEnabled": (False, "a value could appear on a page by accident"),
    "global.developmentMode": (False, "a visitor could stop the server"),
}


def check() -> None:
    """Exit with one sentence if the server must not start: a Streamlit that was not tested, or an unsafe setting."""
    minor = ".".join(st.__version__.split(".")[:2])
    if minor != STREAMLIT:
        raise SystemExit(
            f"dpviz: needs Streamlit {STREAMLIT}, but {st.__version__} is installed; "
            f"install it with pip install 'streamlit~={STREAMLIT}.0'."
        )
    for option, (value, harm) in _REQUIRED.items():
        found = st.get_option(option)
        if found != value:
            raise SystemExit(
                f"dpviz: {option} must be {_text(value)}, but is {_text(found)}: {harm}. "
                "Remove the setting, or start the server in the folder of app.py."
            )
    from pages._ui.server import owner
    from pages._ui.work import turns

    try:
        owner.check_settings()
        turns.check_settings()
    except ValueError as problem:
        raise SystemExit(f"dpviz: {problem}") from None


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
