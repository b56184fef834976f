"""Declare Start's one control, the number of the screen; the controls that Home once had now belong to Explore."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode

from pages._ui.explore.form.fields import choice
from pages._ui.frame import keys
from pages._ui.frame.address.scene import MOST, Control

__all__ = ["SCREENS", "as_run", "home", "run_of"]

SCREENS = 6
_RUN = {"v": "1", "d": "town", "a": "pe-means", "k": "5", "e": "1", "s": "0"}  # The run that Home showed, without ε.
_OLD = {"e", "t", "play", "hide", "lock", "embed"}  # Words that occur only in the address of a run on Home.


def home(known: Mapping[str, Any]) -> Sequence[Control]:
    """Return Start's one control."""
    return [Control("screen", keys.HOME_SCREEN, "Screen", choice(1, tuple(range(1, SCREENS + 1))))]


def run_of(query: str) -> str | None:
    """Return Explore's address for the run that an old address of Home showed, or None for the address of a screen."""
    words = {part.partition("=")[0] for part in query.split("&")}
    return as_run(query) if words & _OLD and len(query) <= MOST else None


def as_run(query: str) -> str:
    """Return Explore's address for the run that Home once showed, with the ε of the old address if it has one."""
    given = parse_qsl(query, keep_blank_values=True)
    about = [(word, text) for word, text in given if word not in _RUN and word != "screen"]
    own = {word: text for word, text in given if word in ("v", "e")}
    return urlencode([*(_RUN | own).items(), *about], safe=":,=")
