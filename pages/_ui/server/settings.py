"""Refuse to start with an untested version of Streamlit or with settings that are unsafe."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

__all__ = ["check", "check_streamlit"]

STREAMLIT = "1.67"  # The minor version whose private names `patches` and the tests know.
_REQUIRED = {  # option of Streamlit -> its only value, and what another value would allow
    "server.enableAgentApi": (False, "a program could walk through the pages of private files"),
    "server.enableXsrfProtection": (True, "another site could upload files in a visitor's name"),
    "server.enableCORS": (True, "another site could use the server in a visitor's name"),
    "client.showErrorDetails": ("none", "an error page could show a cell of a private file"),
    "runner.magicEnabled": (False, "a value could appear on a page by accident"),
    "global.developmentMode": (False, "a visitor could stop the server"),
    "global.e2eTest": (False, "a visitor could stop the server"),
}


def check_streamlit() -> None:
    """Exit with one sentence if this Streamlit was not tested or has an unsafe setting."""
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


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def check(*checks: Callable[[], None]) -> None:
    """Exit with one sentence if one of these checks of our own settings raises ValueError."""
    try:
        for one in checks:
            one()
    except ValueError as problem:
        raise SystemExit(f"dpviz: {problem}") from None
