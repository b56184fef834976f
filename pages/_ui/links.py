"""Every picture has an address: it is read before any widget is made, and written when a picture is asked for."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dpviz.datasets import SAMPLES
from pages._ui import catalog, shell
from pages._ui.controls import FILE, MISSING, columns_of, file_word
from pages._ui.scene import Control, Scene, Vocabulary, controls, read, write

__all__ = ["Opened", "enter", "go", "keep", "notice", "now", "opened"]

_component = st.components.v2.component(
    "dpviz_address",
    html='<span class="dpviz-address"></span>',
    js=(Path(__file__).parent / "address.js").read_text(),
)


@dataclasses.dataclass(frozen=True)
class Opened:
    """A scene that came by an address, what of it could not be followed, and the how-manieth of this session it is."""

    scene: Scene
    sentence: str
    number: int


def enter(file: str, vocabulary: Vocabulary) -> None:
    """Enter a page: fill its widgets from the address if one was opened, and say what could not be followed."""
    state, page = st.session_state, Path(file).stem
    if "via_app" not in state:
        state.address = (page, _raw())  # the way through app.py loses it
    shell.enter(file)
    query = _asked(page)
    if query:
        _open(page, query, vocabulary)
    if state.get("address_file") and state.address_file[1] == page and _file_is_here(state.address_file[0]):
        _open(page, state.pop("address_file")[2], vocabulary)


def now(page: str, vocabulary: Vocabulary) -> Scene:
    """Return the scene that the widgets of a page say."""
    values: dict[str, Any] = {}
    while fresh := [control for control in vocabulary(values) if control.word not in values]:
        for control in fresh:
            values[control.word] = _value(control)
    seen = opened(page)
    if seen is None or not seen.scene.prepared:
        return Scene(page, values)
    return dataclasses.replace(seen.scene, values=values, step=None, play=False)


def _value(control: Control) -> Any:
    """Return what a widget holds, the default where it was not made yet or holds what it may no longer."""
    default = control.spec.default
    if control.key not in st.session_state:
        return default
    value = control.from_widget(st.session_state[control.key])
    try:
        return value if value == default or control.parse(control.texts(value)) == value else default
    except (LookupError, ValueError):
        return default


def opened(page: str) -> Opened | None:
    """Return the scene by which a page was opened last, if any."""
    found = st.session_state.get("opened")
    return found if found is not None and found.scene.page == page else None


def keep(page: str, vocabulary: Vocabulary, *, entry: str | None = None, private: bool = False) -> None:
    """Write the scene into the address; `entry` names its run: another one is another entry of the history.

    A private run has no address: it would carry the choices, and could not carry the data.
    """
    query = "" if private else write(now(page, vocabulary), vocabulary)
    opened_now = st.session_state.pop("opened_now", False)
    _component(
        key=f"{page}_address",
        data={"query": query, "entry": f"{page} {query if entry is None else entry}", "opened": opened_now},
        height=1,
    )


def notice(page: str, vocabulary: Vocabulary) -> None:
    """Say what of an address could not be followed, until a control is changed."""
    found = opened(page)
    if found is not None and found.sentence:
        query = write(now(page, vocabulary), vocabulary)
        if st.session_state.setdefault("opened_as", query) == query:
            st.info(found.sentence)


def go(query: str) -> None:
    """Open an address of this page in place."""
    st.session_state.address = (None, query)
    st.rerun()


def _raw() -> str:
    context = get_script_run_ctx()
    return "" if context is None else context.query_string


def _asked(page: str) -> str:
    """Return the address that was opened just now, "" if the visitor came in another way or only moved a widget."""
    state, context = st.session_state, get_script_run_ctx()
    where, query = state.pop("address", (None, ""))
    first = "address_read" not in state
    state.address_read = True
    if query and where in (None, page):
        return query
    query = _raw() if first or (context is not None and context.is_history_navigation) else ""
    return query if any(not part.startswith("embed") for part in query.split("&")) else ""


def _open(page: str, query: str, vocabulary: Vocabulary) -> None:
    """Set the widgets of a page to a scene."""
    state = st.session_state
    scene, sentence = read(page, query, vocabulary)
    data = scene.values.get("d", ())
    for name in (data,) if isinstance(data, str) else data:
        if not name.startswith(FILE):
            catalog.offer(name)
        elif not _file_is_here(name):
            columns = ", ".join(columns_of(name))
            sentence = (
                f"This link needs the file with the columns {columns}: open it on the Data page as public data, then "
                "come back. Until then the sample is shown."
            )
            state.address_file = (name, page, query)
    for control in controls(scene.values, vocabulary):
        value = control.to_widget(scene.values[control.word])
        if value is None and control.many:
            state.pop(control.key, None)
        else:
            state[control.key] = SAMPLES[0] if value == MISSING else value
    number = getattr(state.get("opened"), "number", 0) + 1
    state.opened, state.opened_now = Opened(scene, sentence, number), True
    state.pop("opened_as", None)
    state.asked = ""  # Explore runs what the scene asks for


def _file_is_here(word: str) -> bool:
    return any(not data.private and file_word(data.columns) == word for data in catalog.own().values())
