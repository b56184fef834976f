"""Store declarations in the visitor's browser alone: columns' names, kinds, bounds and separators, but no cells."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import streamlit as st

from dpviz import validate
from dpviz.datasets import SAMPLES
from dpviz.escape import plain
from dpviz.numbers import number
from pages._ui.data import reading
from pages._ui.data.controls import OWN_FILE, WAY
from pages._ui.data.state import Upload, data_state
from pages._ui.frame import messages
from pages._ui.frame.address.data import FILE
from pages._ui.frame.demo import demo
from pages._ui.frame.storage import STORAGE
from pages._ui.server.owner import owner

__all__ = ["checked", "keep", "known", "offer", "remembered", "reopen"]

_KEPT = "kept_declared"

_MOST, _MOST_COLUMNS = 5, 200
# maximum number of characters in each string
_COLUMN: dict[str, int] = {"name": 200, "kind": 40, "unit": 20, "words": 3_000}
_ENTRY = {"file": 60, "decimal": 1, "thousands": 1}
_HERE = Path(__file__).parent
_component = st.components.v2.component(
    "dpviz_kept",
    html='<p class="dpviz-kept" hidden><output></output> <button></button> <button>Forget</button></p>',
    css=(_HERE / "kept.css").read_text(),
    js=STORAGE + (_HERE / "kept.js").read_text(),
)


def _mount(entry: dict[str, Any] | None, upload: str = "", *, says: bool = False, opens: bool = False) -> None:
    if demo() or owner().kind == "login":  # no file is taken here, or other people might use this browser
        return
    data = {"keep": entry, "upload": upload, "known": data_state.declared, "says": says, "opens": opens}
    pressed = _component(key=_KEPT, data=data, height="content", on_entries_change=_took, on_open_change=lambda: None)
    if opens and pressed.get("open"):
        st.session_state[WAY.key] = OWN_FILE
        st.switch_page("pages/data.py")


def _took() -> None:
    """Read the declarations stored in the browser, and ignore anything that is not a declaration."""
    data_state.declared = checked(st.session_state[_KEPT].get("entries"))


def checked(sent: Any) -> list[dict[str, Any]]:
    """Return the valid declarations in a browser's message."""
    return [entry for entry in sent[:_MOST] if _is_declaration(entry)] if isinstance(sent, list) else []


def _is_declaration(entry: Any) -> bool:
    columns = entry.get("columns") if isinstance(entry, dict) else None
    if not isinstance(columns, list) or not 0 < len(columns) <= _MOST_COLUMNS or not _texts(entry, _ENTRY):
        return False
    bounds = [column.get(end) for column in columns if isinstance(column, dict) for end in ("low", "high", "weight")]
    right = all(isinstance(column, dict) and _texts(column, _COLUMN) for column in columns)
    right = right and all(column["kind"] in reading.KINDS for column in columns)
    return right and all(bound is None or validate.is_finite(bound) for bound in bounds)


def _texts(entry: dict[str, Any], most: dict[str, int]) -> bool:
    return all(isinstance(entry.get(name), str) and len(entry[name]) <= length for name, length in most.items())


def keep(upload: Upload) -> None:
    """Store a file's declaration in the browser, but nothing that depends on its rows."""
    if upload.filled:
        return
    columns = [
        {"name": name, **{key: cell[key] for key in ("kind", "low", "high", "unit", "words")}}
        | ({} if cell["weight"] == 1 else {"weight": cell["weight"]})
        for name, cell in upload.cells.items()
        if cell["use"]
    ]
    form = upload.form
    entry = {"file": upload.table.name, "decimal": form.decimal or "", "thousands": form.thousands or ""}
    _mount({**entry, "columns": columns}, upload.token)


def remembered(*, opens: bool = True) -> None:
    """List the browser's declarations, with a button that forgets them and one that asks for the file again."""
    _mount(None, says=True, opens=opens)


def reopen() -> None:
    """Offer the last file that was declared in this browser, unless the visit has a file or began at a shared scene."""
    if data_state.came_to_scene is None:
        asked = st.query_params
        others = [name for name in asked.get_all("d") if name != SAMPLES[0] and not name.startswith(FILE)]
        data_state.came_to_scene = bool(others or {"hide", "lock", "task"} & {*asked})
    if not (data_state.came_to_scene or data_state.uploads or data_state.pending or st.context.is_embedded):
        _mount(None, opens=True)


def known(name: str) -> bool:
    """Return whether a file of this name was declared in this browser before."""
    return any(entry["file"] == name for entry in data_state.declared)


def offer(upload: Upload, names: list[str]) -> bool:
    """Offer the earlier declaration of a file with this name and first line; return whether the visitor accepts it."""
    for place, entry in enumerate(data_state.declared):
        if entry["file"] != upload.table.name:
            continue
        lacking = [column["name"] for column in entry["columns"] if column["name"] not in names]
        if lacking:
            st.info(
                f"{plain(upload.table.name)} was declared in this browser with another first line: the column "
                f"{plain(lacking[0])} is missing now."
            )
        elif st.button(f"Declare as before: {plain(_called(entry))}", key=f"{upload.key}_take_kept_{place}"):
            return _take(upload, entry)
    return False


def _called(entry: dict[str, Any]) -> str:
    """Describe a declaration by the bounds of its first columns."""
    words = [f"{column['name']} {column['words'] or _span(column)}" for column in entry["columns"]]
    return ", ".join(words)[:160]


def _span(column: dict[str, Any]) -> str:
    low, high = ("–" if column[end] is None else number(column[end], 6) for end in ("low", "high"))
    return f"{low} to {high}"


def _take(upload: Upload, entry: dict[str, Any]) -> bool:
    signs = entry["decimal"], entry["thousands"]
    if entry["decimal"] and signs != (upload.form.decimal, upload.form.thousands or ""):
        try:
            reading.again(upload, dataclasses.replace(upload.form, decimal=signs[0], thousands=signs[1]))
        except ValueError as problem:
            messages.say("problem", str(problem))
            return False
    declared = {column["name"]: column for column in entry["columns"]}
    for name, cell in upload.cells.items():
        cell |= {"use": name in declared, "why": ""} | declared.get(name, {})
        cell.pop("name", None)
    return True
