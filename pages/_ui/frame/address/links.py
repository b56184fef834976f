"""Read a picture's address before any widget is made, and write it when a picture is requested.

How a page supports scenes:

1. Declare each control as a `Control`, beside the code that draws it, and list them in `controls.py` of its folder: a
   function from the values known so far to a list of `Control`.
2. Begin the page with `links.enter(__file__, FUNCTION, has=...)`; `has` lists the page's parts, from
   `scene.HIDEABLE` and "player". The Share button then appears in the page's strip.
3. Draw every control with `Control.draw`: the session keeps its value, and a lock disables it.
4. Call `links.notice(...)` below the strip, and `links.keep(...)` once the requested picture is known.
5. Check `prepared.shows(part)` before drawing a verdict, side panels, or people and KMeans; put controls that lie
   outside the form in `st.container(key="form")`. `player` checks this for its own panels.
6. Add the page to `PAGES` in `tests/pages/frame/address/test_scene.py` (round trips and hostile addresses), and an
   address that changes every control to `LINKS` in `tests/browser/test_walk_links.py` (reloads).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from dpviz.datasets import SAMPLES
from dpviz.escape import plain
from pages._ui.frame import catalog, embed, markup, prepared, shell
from pages._ui.frame.address import share
from pages._ui.frame.address.control import Control, Vocabulary
from pages._ui.frame.address.data import FILE, MISSING, columns_of, file_word
from pages._ui.frame.address.scene import LOCK, Scene, controls, read, write
from pages._ui.frame.address.state import Opened, address_state
from pages._ui.frame.inside.client import PAGE
from pages._ui.frame.inside.patches import came_back
from pages._ui.frame.inside.patches import query as asked_for
from pages._ui.frame.places import PAGES
from pages._ui.frame.session import session

__all__ = ["enter", "fill", "go", "keep", "notice", "now", "opened", "rewind"]

_component = st.components.v2.component(
    "dpviz_address",
    html='<span class="dpviz-address"></span>',
    js=PAGE + (Path(__file__).parent / "address.js").read_text(),
)


def enter(file: str, vocabulary: Vocabulary, *, has: Collection[str] = ()) -> None:
    """Enter a page: fill its widgets from the opened address, hide and lock parts as it says, and offer Share."""
    page = Path(file).stem
    came = session.page != page
    embed.note(asked_for())
    if not session.via_app:
        address_state.address = (page, asked_for())  # app.py does not pass the query on to the page
    shell.enter(file)
    query = _asked(page, came)
    if query:
        _open(page, query, vocabulary, came)
    elif came:
        _take_over(page, vocabulary)
    if (waiting := address_state.address_file) is not None and waiting[1] == page and _file_is_here(waiting[0]):
        _open(page, waiting[2], vocabulary)
    _arrange(page, vocabulary)
    session.sharing = partial(share.button, partial(_pictured, page, vocabulary), vocabulary, has)


def now(page: str, vocabulary: Vocabulary) -> Scene:
    """Return the scene given by the widgets of a page."""
    values: dict[str, Any] = {}
    while fresh := [control for control in vocabulary(values) if control.word not in values]:
        for control in fresh:
            values[control.word] = _value(control)
    return dataclasses.replace(_preparation(page), values=values, step=None, play=False)


def _preparation(page: str) -> Scene:
    """Return the prepared scene that the page follows, or an empty scene if there is none."""
    address = opened(page)
    return address.scene if address is not None and address.scene.prepared and not address.shown_whole else Scene(page)


def _arrange(page: str, vocabulary: Vocabulary) -> None:
    """Hide and lock parts of the page as the prepared scene says; in an iframe, hide everything but the picture."""
    scene, free = _preparation(page), None
    if scene.lock:
        known = controls(now(page, vocabulary).values, vocabulary)
        free = [control.key for control in known if control.word == LOCK[scene.lock]]
    prepared.arrange({*scene.hide, *(embed.HIDES if embed.embedded() else ())}, free)


def _pictured(page: str, vocabulary: Vocabulary) -> Scene:
    """Return the scene of the picture from the address or, before there is one, from the widgets."""
    where, query = address_state.kept
    return read(page, query, vocabulary)[0] if where == page and query else now(page, vocabulary)


def _value(control: Control) -> Any:
    """Return the widget's value, or the default if the widget is missing or its value is no longer valid."""
    default = control.spec.default
    if control.key not in st.session_state:
        return default
    value = control.from_widget(st.session_state[control.key])
    try:
        return value if value == default or control.parse(control.texts(value)) == value else default
    except (LookupError, ValueError):
        return default


def opened(page: str) -> Opened | None:
    """Return the scene with which a page was last opened, if any."""
    address = address_state.opened
    return address if address is not None and address.scene.page == page else None


def rewind(page: str) -> None:
    """Make a page's player go to the last step of the next run drawn."""
    last = address_state.opened
    number = 1 if last is None else last.number + 1
    scene = Scene(page) if last is None or last.scene.page != page else last.scene
    whole = last is not None and last.shown_whole
    address_state.opened = Opened(dataclasses.replace(scene, step=None, play=False), "", number, whole)


def brings_only(page: str, vocabulary: Vocabulary, word: str) -> bool:
    """Return whether the address just opened sets only this word."""
    address = opened(page)
    if address is None or not session.opened_now or not address.scene.values[word]:
        return False
    return write(address.scene, vocabulary) == write(Scene(page, {word: address.scene.values[word]}), vocabulary)


def keep(
    page: str, vocabulary: Vocabulary, *, entry: str | None = None, private: bool = False, scene: Scene | None = None
) -> None:
    """Write the scene into the address; a new `entry`, such as a run's identity, adds an entry to the history.

    The scene comes from the page's widgets unless one is given.

    A private run gets no address, because an address could carry its choices but not its data.
    """
    query = "" if private else _of_lacking_file(page, write(scene or now(page, vocabulary), vocabulary))
    address_state.kept = (page, query)
    opened_now = session.opened_now
    del session.opened_now
    _component(
        key=f"{page}_address",
        data={
            "query": query,
            "entry": f"{page} {query if entry is None else entry}",
            "opened": opened_now,
            "others": [name for name in PAGES if name != page],
        },
        height=1,
    )


def _of_lacking_file(page: str, query: str) -> str:
    """Return the query that waits for a file, or the given one if none waits or the widgets have changed."""
    waiting = address_state.address_file
    if waiting is None or waiting[1] != page or address_state.opened_as not in (None, query):
        return query
    return waiting[2]


def notice(page: str, vocabulary: Vocabulary) -> None:
    """Show the ribbon of a prepared scene and, until a control changes, a note on the ignored parts of its address."""
    address = opened(page)
    if address is None:
        return
    if address.scene.prepared:
        _ribbon(address, vocabulary)
    if address.sentence:
        query = write(now(page, vocabulary), vocabulary)
        if address_state.opened_as is None:
            address_state.opened_as = query
        if address_state.opened_as == query:
            st.info(plain(address.sentence))


def _ribbon(prepared: Opened, vocabulary: Vocabulary) -> None:
    """Say that a scene was prepared and state its task; offer to show all controls and to return to the scene."""
    scene = prepared.scene
    with st.container(key="ribbon", horizontal=True, vertical_alignment="center"):
        st.html(f'<p class="dp-ribbon"><b>A prepared scene.</b> {markup.escape(scene.task)}</p>', width="stretch")
        if (scene.hide or scene.lock) and not prepared.shown_whole:
            if st.button("Show all controls", key="ribbon_all", width="content"):
                address_state.opened = dataclasses.replace(prepared, shown_whole=True)
                st.rerun()
        if st.button("Reset", key="ribbon_reset", width="content", help="Go back to the scene as it was prepared."):
            go(write(scene, vocabulary))


def go(query: str) -> None:
    """Open an address of this page in place."""
    address_state.address = (None, query)
    st.rerun()


def _asked(page: str, came: bool) -> str:
    """Return the address just opened, or "" if the visitor arrived in another way or only moved a widget."""
    where, query = address_state.address
    first = not address_state.address_read
    address_state.address_read = True
    if query and where in (None, page):
        return query
    query = asked_for() if first or came or came_back() else ""
    return query if any(not part.startswith("embed") for part in query.split("&")) else ""


def _open(page: str, query: str, vocabulary: Vocabulary, came: bool = False) -> None:
    """Set the widgets of a page to a scene."""
    scene, sentence = read(page, query, vocabulary)
    if (waiting := address_state.address_file) is not None and waiting[1] == page:
        del address_state.address_file
    data = scene.values.get("d", ())
    for name in (data,) if isinstance(data, str) else data:
        if not name.startswith(FILE):
            catalog.offer(name)
        elif not _file_is_here(name):
            columns = ", ".join(columns_of(name))
            sentence = (
                f"This link needs the file with the columns {columns}: open it under Your data as public data, then "
                "come back. Until then the sample is shown."
            )
            address_state.address_file = (name, page, query)
    fill(scene.values, vocabulary)
    number = 1 if address_state.opened is None else address_state.opened.number + 1
    within = came and address_state.kept != ("", "")
    address_state.opened, session.opened_now = Opened(scene, sentence, number, within=within), True
    del address_state.opened_as
    session.asked = ""  # forgets the last request, so that Explore runs the scene's algorithm


def fill(values: Mapping[str, Any], vocabulary: Vocabulary, *, but: Collection[str] = ()) -> None:
    """Set widgets to the values of their words or, if a word is missing, to their defaults; skip the words in `but`."""
    state = st.session_state
    for control in controls(values, vocabulary):
        value = control.to_widget(values.get(control.word, control.spec.default))
        if control.word in but:
            continue
        if value is None and control.many:
            state.pop(control.key, None)
        else:
            state[control.key] = SAMPLES[0] if value == MISSING else value


def _take_over(page: str, vocabulary: Vocabulary) -> None:
    """Carry over the values of the previous page's widgets that have the same keys.

    To Streamlit they are different widgets, which start with their defaults unless their keys are rewritten.
    """
    state = st.session_state
    for control in controls(now(page, vocabulary).values, vocabulary):
        if control.key in state:
            state[control.key] = state[control.key]


def _file_is_here(word: str) -> bool:
    return any(not data.private and file_word(data.columns) == word for data in catalog.own().values())
