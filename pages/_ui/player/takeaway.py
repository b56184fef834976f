"""Take it with you: label, page, replay, script and notebook of a run, each made when it is asked for."""

from __future__ import annotations

import streamlit as st

from dpviz.takeaway import KINDS, export, page, replay
from pages._ui.frame import keys
from pages._ui.player.player import view_of
from pages._ui.work.results import Result

_WORDS = {
    "label": ("Privacy label", "Half a page: what is promised, to whom, trusting whom."),
    "page": ("One page", "Verdict, picture, label, centers. Prints on A4."),
    "replay": ("Replay", "One file that steps and plays like this page, in any browser, without a network."),
    "script": ("Python script", "DEMO: the same centers, bit for bit. PRIVATE: it spends again, and says so."),
    "notebook": ("Notebook", "The same for Jupyter, with the player at the end."),
}


def menu(key: str, result: Result, *, hidden: bool, axes: tuple[int, int] | None) -> None:
    """Offer the five kinds; a replay shows what the page shows, hidden layers only where they are shown."""
    trace = result.trace
    if not trace.claimed.private:
        return  # nothing of it is meant to be published
    box = st.popover("Take it with you", icon=":material/download:", key=keys.TAKE(key), on_change="rerun")
    if not box.open:
        return
    seen = view_of(result, hidden=hidden, axes=axes)  # now: a file is made outside the session, which holds its caches
    with box:
        for kind, (name, words) in _WORDS.items():

            def made(kind: str = kind) -> str:
                if kind == "replay":
                    return replay(trace, seen)
                return page(trace, result.data) if kind == "page" else export(trace, kind)

            _, ending, mime = KINDS[kind]
            st.download_button(
                name, made, f"dpviz-{trace.algorithm}-{kind}.{ending}", mime, key=keys.TAKE_ONE(key, kind), help=words,
                on_click="ignore", width="stretch",
            )  # fmt: skip
