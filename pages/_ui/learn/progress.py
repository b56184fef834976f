"""Track the finished lessons in the visitor's browser alone, and offer the button that prints a sheet."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dpviz.lessons import LESSONS
from pages._ui.frame.storage import STORAGE

__all__ = ["done", "print_button", "shown"]

_HERE = Path(__file__).parent
_CSS = (_HERE / "progress.css").read_text()
_progress = st.components.v2.component(
    "dpviz_progress",
    html='<div class="dpviz-progress" hidden><output></output><button>Forget</button></div>',
    css=_CSS,
    js=STORAGE + (_HERE / "progress.js").read_text(),
)
_print = st.components.v2.component(
    "dpviz_print",
    html="<div><button>Print</button></div>",
    css=_CSS,
    js='export default ({ parentElement }) => { parentElement.querySelector("button").onclick = () => print(); };\n',
)


def done(lesson: str) -> None:
    """Let the browser record that a lesson is finished."""
    _progress(key="progress_address", data={"names": list(LESSONS), "done": lesson, "shown": False}, height=1)


def shown() -> None:
    """Mark and count the finished lessons, with a "Forget" button that clears the list."""
    _progress(key="progress", data={"names": list(LESSONS), "done": "", "shown": True}, height="content")


def print_button() -> None:
    """Offer to print the page."""
    _print(key="print", height="content")
