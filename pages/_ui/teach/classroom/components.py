"""Define the class's components (a map to tap, the browser's memory, the lecturer's step), and check their values."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import streamlit as st

from pages._ui.frame.storage import STORAGE
from pages._ui.teach.classroom.compute import HIGH, LOW
from pages._ui.teach.classroom.state import classroom_state

__all__ = ["forget_class", "memory", "mirror", "place"]

_HERE = Path(__file__).parent

_place = st.components.v2.component(
    "dpviz_place",
    html='<div class="place" tabindex="0" role="application" aria-label="Map: tap, or arrow keys, to place your point">'
    "<b>town hall</b><i hidden></i></div><output aria-live=polite></output>",
    css=(_HERE / "place.css").read_text(),
    js=(_HERE / "place.js").read_text(),
)
_memory = st.components.v2.component(
    "dpviz_memory", html="<span></span>", js=STORAGE + (_HERE / "memory.js").read_text()
)
_mirror = st.components.v2.component("dpviz_mirror", html="<span></span>", js=(_HERE / "mirror.js").read_text())


def place(at: tuple[float, float] | None) -> tuple[float, float] | None:
    """Show the map with its point, if any; return the point chosen on the phone, or None if there is no valid point."""
    data = {"low": LOW.tolist(), "high": HIGH.tolist(), "at": at}
    value = _place(key="class_place", data=data, on_at_change=lambda: None, height="content").get("at")
    if not isinstance(value, list) or len(value) != 2:
        return None
    if not all(isinstance(v, int | float) and not isinstance(v, bool) and abs(v) < 1e6 for v in value):
        return None
    return (float(value[0]), float(value[1])) if all(map(math.isfinite, value)) else None


def forget_class() -> None:
    """Forget a class in this visit: cancel its run, and drop the visitor's point."""
    if classroom_state.class_job is not None:
        classroom_state.class_job[0].cancel()
    del classroom_state.class_job, classroom_state.class_point


def memory(save: dict[str, str] | None) -> dict[str, str] | None:
    """Store a value in the browser, {} to forget it; return the stored value, None until the browser answers."""
    fields: Any = _memory(key="class_memory", data={"save": save}, on_kept_change=lambda: None, height=1).get("kept")
    if not isinstance(fields, dict):
        return None
    return {name: text for name, text in fields.items() if isinstance(name, str) and isinstance(text, str)}


def mirror() -> int | None:
    """Return the step at which the page's player rests, None until it has rested once."""
    step = _mirror(key="class_mirror", data={}, on_step_change=lambda: None, height=1).get("step")
    return step if isinstance(step, int) and not isinstance(step, bool) and 0 <= step <= 100_000 else None
