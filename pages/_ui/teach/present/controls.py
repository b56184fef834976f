"""Declare the controls of Present: the slide at which a show begins, and its colors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pages._ui.frame.address.control import Control, choice, number
from pages._ui.frame.address.deck import MOST_SLIDES

SLIDE = Control("slide", "present_slide", "The show begins at", number(1, 1, MOST_SLIDES), widget="radio")
COLORS = Control(
    "look", "present_look", "Colors", choice("page", ("page", "light", "dark")), widget="segmented_control",
    named={"page": "As this page", "light": "Light", "dark": "Dark"}.__getitem__,
    help="Colors of the show and of its file. Most projectors show light colors best.",
)  # fmt: skip


def present(known: Mapping[str, Any]) -> Sequence[Control]:
    """Return the controls of Present: the slide at which a show begins, and its colors (the deck itself is a file)."""
    return [SLIDE, COLORS]
