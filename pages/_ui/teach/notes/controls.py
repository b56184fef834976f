"""Declare the controls of Notes: the chosen lessons, and the kind of sheet shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpviz.lessons import LESSONS
from dpviz.lessons.plans import plans
from pages._ui.frame.address.control import Control, choice

_SHOWS = {"plan": "Plan", "notes": "Teacher's notes", "worksheet": "Worksheets"}

PICKED = Control(
    "lesson", "notes_lessons", "Lessons", choice(plans()[0].lessons, tuple(LESSONS)), many=True, widget="pills",
    named=lambda name: f"{LESSONS[name].number} {LESSONS[name].title}",
)  # fmt: skip
SHOW = Control("show", "notes_show", "Show", choice("plan", tuple(_SHOWS)), widget="segmented_control", named=_SHOWS)


def notes(known: Mapping[str, Any]) -> Sequence[Control]:
    """Return the controls of Notes: the lessons, then the kind of sheet shown."""
    return [PICKED, SHOW]
