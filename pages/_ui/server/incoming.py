"""Check the widget values that a browser sends; a value of the wrong type counts as never sent.

Streamlit passes on everything that arrives by the websocket. Only a custom program can send a wrong type, but even then
the page must not fail and the log must not fill up.
"""

from __future__ import annotations

import threading
from typing import Any

from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state.session_state import Serialized, Value, WStates

from pages._ui.server.logs import Seldom

__all__ = ["check_values", "forget_values"]

_LOG = Seldom(__name__)
_NUMBERS = {"int_value", "double_value"}  # a number field sends the one that its step has
_read = WStates.__getitem__
_lock = threading.Lock()


def check_values() -> None:
    """Treat a value that is not of its widget's type as never sent."""
    with _lock:
        WStates.__getitem__ = _checked  # type: ignore[method-assign]


def _checked(states: WStates, name: str) -> Any:
    """Return a widget's value, or its initial value if it received the wrong type."""
    sent, about = states.states.get(name), states.widget_metadata.get(name)
    if not isinstance(sent, Serialized) or about is None:
        return _read(states, name)
    kind = sent.value.WhichOneof("value")
    if kind is None or about.value_type is None or kind == about.value_type or {kind, about.value_type} <= _NUMBERS:
        try:
            return _read(states, name)
        except Exception as problem:  # whatever a deserializer makes of it
            came = f"{kind}, {type(problem).__name__}"
    else:
        came = kind
    _LOG.warning("A widget received a value of the wrong type (%s instead of %s).", came, about.value_type)
    value = about.deserializer(None)
    states.states[name] = Value(value)
    return value


def forget_values() -> None:
    """Reset the values sent in the running script to the widgets' initial values."""
    context = get_script_run_ctx(suppress_warning=True)
    values = getattr(getattr(context, "session_state", None), "_state", None)
    if values is None:
        return
    sent = values._new_widget_state
    for name in list(sent.states):
        if (about := sent.widget_metadata.get(name)) is not None:
            sent.states[name] = Value(about.deserializer(None))
            values._old_state.pop(name, None)
