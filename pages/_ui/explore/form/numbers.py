"""Fields for whole numbers, and for numbers shown in a unit other than the stored one.

Streamlit's own field silently truncates 2.5 to 2; `whole_number` shows the whole number that it uses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from dpviz.numbers import number
from pages._ui.explore.form.state import form_state
from pages._ui.frame.address.control import MOST_WHOLE, Control, as_whole
from pages._ui.frame.prepared import locked

__all__ = ["converted", "field", "whole_number"]


def field(
    label: str, low: int = -MOST_WHOLE, high: int = MOST_WHOLE, value: int | None = 0, *, on: Any = st, **keep: Any
) -> Any:
    """Show a field for a whole number; return the typed number, which the caller must check."""
    start = None if value is None else float(value)
    return as_whole(on.number_input(label, float(low), float(high), start, step=1.0, format="%g", **keep))


def whole(control: Control, place: Any = st, **now: Any) -> int:
    """Draw a control for a whole number and return it; for any other number, use the whole part and say so."""
    return _whole(now.get("label", control.title), control.draw(place, **now), place)


def whole_number(
    label: str, low: int = -MOST_WHOLE, high: int = MOST_WHOLE, value: int = 0, *, on: Any = st, **keep: Any
) -> int:
    """Show a field for a whole number and return it; for any other number, use the whole part and say so."""
    return _whole(label, field(label, low, high, value, on=on, **keep), on)


def _whole(label: str, typed: Any, place: Any) -> int:
    if isinstance(typed, float):
        place.caption(f"{label} must be a whole number: {int(typed):,} is used instead of {number(typed, 6)}.")
    return int(typed)


def converted(
    label: str,
    own: str,
    control: Control,
    shown: Callable[[float], float],
    stored: Callable[[float], float],
    **keep: Any,
) -> float:
    """Show a field, with the key `own` and another unit, for the value of a control; return that value.

    `shown` and `stored` convert to and from the field's unit. A value from elsewhere, such as a link, fills the field
    and is kept exactly until another number is typed.

    Raises
    ------
    ValueError
        If the typed number is not above 0.
    """
    state, known, key = st.session_state, form_state.converted, control.key
    now = float(control.held)
    if own not in state or known.get(own, ())[:2] != (key, now):
        state[own] = short(shown(now), 4) if now > 0 else 0.1
        known[own] = key, now, state[own], now
    given = st.number_input(
        label, step=None, format="%g", key=own, persist_state="session", disabled=locked(key), **keep
    )
    assert given is not None
    if not given > 0:
        raise ValueError(f"{label} must be above 0; got {number(given)}.")
    start, same = known[own][2:]
    value = same if given == start else short(stored(given), 6)
    state[key] = value
    known[own] = key, value, start, same
    return value


def short(value: float, digits: int) -> float:
    """Return a number rounded to this many significant digits."""
    return float(f"{value:.{digits}g}")
