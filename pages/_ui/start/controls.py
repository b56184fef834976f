"""Declare Start's one control, the number of the screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pages._ui.frame import keys
from pages._ui.frame.address.control import Control, choice

__all__ = ["SCREENS", "home"]

SCREENS = 6


def home(known: Mapping[str, Any]) -> Sequence[Control]:
    """Return Start's one control."""
    return [Control("screen", keys.HOME_SCREEN, "Screen", choice(1, tuple(range(1, SCREENS + 1))))]
