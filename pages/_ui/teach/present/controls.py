"""Declare the controls of Present: the slide at which a show begins, and its colors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pages._ui.explore.form.fields import choice
from pages._ui.frame import keys
from pages._ui.frame.address.deck import MOST_SLIDES
from pages._ui.frame.address.scene import Control, number


def present(known: Mapping[str, Any]) -> Sequence[Control]:
    """Return the controls of Present: the slide at which a show begins, and its colors (the deck itself is a file)."""
    return [
        Control("slide", keys.PRESENT_SLIDE, "Slide", number(1, 1, MOST_SLIDES)),
        Control("look", keys.PRESENT_LOOK, "Colors", choice("light", ("light", "dark"))),
    ]
