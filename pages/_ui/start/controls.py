"""Declare Start's one control, the number of the screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pages._ui.frame.address.control import Control, choice

__all__ = ["SCREEN", "SCREENS", "home"]

SCREENS = 6
SCREEN = Control("screen", "home_screen", "Screen", choice(1, tuple(range(1, SCREENS + 1))))


def home(known: Mapping[str, Any]) -> Sequence[Control]:
    """Return Start's one control."""
    return [SCREEN]
