"""Check the widget values that a browser sends; treat a value of the wrong type as never sent.

Streamlit passes on everything that arrives by the websocket. Only a custom program can send a wrong type; even then,
the page must not fail, and the log must not fill up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pages._ui.frame.inside.patches import read_through
from pages._ui.server.logs import Seldom

__all__ = ["check_values"]

_LOG = Seldom(__name__)
_NUMBERS = {"int_value", "double_value"}  # a number field may send either type, depending on its step


def check_values() -> None:
    """Make Streamlit treat a value that is not of its widget's type as never sent."""
    read_through(_checked)


def _checked(sent: Any, about: Any, read: Callable[[], Any]) -> Any:
    """Return a widget's value, or its initial value if it received the wrong type."""
    kind = sent.WhichOneof("value")
    if kind is None or about.value_type is None or kind == about.value_type or {kind, about.value_type} <= _NUMBERS:
        try:
            return read()
        except Exception as problem:  # a deserializer may raise any exception
            came = f"{kind}, {type(problem).__name__}"
    else:
        came = kind
    _LOG.warning("A widget received a value of the wrong type (%s instead of %s).", came, about.value_type)
    return about.deserializer(None)
