"""Fields for whole numbers. Streamlit's field silently cuts 2.5 to 2; these fields show which number they use."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpviz.numbers import number
from pages._ui.address.scene import MOST_WHOLE, as_whole

__all__ = ["field", "whole_number"]


def field(
    label: str, low: int = -MOST_WHOLE, high: int = MOST_WHOLE, value: int | None = 0, *, on: Any = st, **keep: Any
) -> Any:
    """Show a field for a whole number; return the typed number, which the caller must check."""
    start = None if value is None else float(value)
    return as_whole(on.number_input(label, float(low), float(high), start, step=1.0, format="%g", **keep))


def whole_number(
    label: str, low: int = -MOST_WHOLE, high: int = MOST_WHOLE, value: int = 0, *, on: Any = st, **keep: Any
) -> int:
    """Show a field for a whole number and return it; for any other number, use the whole part and say so."""
    typed = field(label, low, high, value, on=on, **keep)
    if isinstance(typed, float):
        on.caption(f"{label} must be a whole number: {int(typed):,} is used instead of {number(typed, 6)}.")
    return int(typed)
