"""Show the Save menu: the centers, label, page, replay, script and notebook of a run, each made on request."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import streamlit as st

from dpviz.figures import View
from dpviz.postprocessing.cards import centers_csv
from dpviz.postprocessing.released import centers_json, coreset_csv
from dpviz.takeaway import KINDS, export, page, replay
from dpviz.takeaway.nearest import nearest_csv
from pages._ui.explore.player.clip import clip
from pages._ui.explore.player.how import How
from pages._ui.explore.player.player import view_of
from pages._ui.frame.session import session
from pages._ui.work.results import Result

_CENTERS_CSV = "{}_centers_csv".format
_CENTERS_JSON = "{}_centers_json".format
_POINTS_CSV = "{}_points_csv".format
_NEAREST = "{}_nearest".format

_WORDS = {
    "label": ("Privacy label", "Half a page that says what is promised to whom, and who is trusted."),
    "page": ("One page", "Verdict, picture, label and centers on A4."),
    "replay": ("Replay", "One file with this page's player, for any browser, offline."),
    "script": (
        "Python script",
        "In DEMO the script gives the same centers, bit for bit. In PRIVATE it spends ε again, and says so.",
    ),
    "notebook": ("Notebook", "The same script for Jupyter, ending with the player."),
}


def menu(
    key: str,
    result: Result,
    how: How,
    scatter: Callable[[Result], np.ndarray | None] = lambda result: None,
    scope: str = "",
) -> None:
    """Offer a run's files: centers, weighted points and, for a private method, five kinds of pages and scripts.

    A replay shows what the page shows, with hidden layers only if the page shows them. `scatter` returns each center's
    spread over reruns; `scope` is the key of the container with the run's figures, of which a clip is made.
    """
    box = st.popover("Save", icon=":material/download:", key=f"{key}_take", on_change="rerun")
    if not box.open:
        return
    # made now, because the files are made outside the session, without access to its caches
    seen = view_of(result, how)
    with box:
        if scope:
            clip(key, scope, result, hidden=how.hidden and not result.data.private)
        if result.trace.claimed.private:  # a result of KMeans is not meant for publication
            _kinds(key, result, seen)
        _centers(key, result, scatter)


def _kinds(key: str, result: Result, seen: View) -> None:
    trace = result.trace
    for kind, (name, words) in _WORDS.items():

        def written(kind: str = kind) -> str:
            if kind == "replay":
                return replay(trace, seen)
            return page(trace, result.data) if kind == "page" else export(trace, kind)

        _, ending, mime = KINDS[kind]
        st.download_button(
            name, written, f"dpviz-{trace.algorithm}-{kind}.{ending}", mime, key=f"{key}_take_{kind}", help=words,
            on_click="ignore", width="stretch",
        )  # fmt: skip


def _centers(key: str, result: Result, scatter: Callable[[Result], np.ndarray | None]) -> None:
    """Offer centers, released weighted points and, unless the data are private, each row's nearest center."""
    trace, facts = result.trace, (result.data.columns, result.data.units)
    history = session.history
    number = history.index(result.identity) + 1 if result.identity in history else 0
    kinds: dict[str, tuple[str, str, str, Callable[[], str]]] = {
        "Centers as CSV": (_CENTERS_CSV(key), "centers.csv", "text/csv",
                           lambda: centers_csv(trace, *facts, scatter=scatter(result))),
        "Centers as JSON": (_CENTERS_JSON(key), "centers.json", "application/json",
                            lambda: centers_json(trace, *facts)),
    }  # fmt: skip
    if trace.coreset is not None:
        points = partial(coreset_csv, trace, *facts)
        kinds["Weighted points as CSV"] = (_POINTS_CSV(key), "points.csv", "text/csv", points)
    if not result.data.private:
        rows = partial(nearest_csv, trace.cluster_centers, result.data)
        kinds["Nearest center of each row"] = (_NEAREST(key), "rows.csv", "text/csv", rows)
    for words, (name, ending, mime, write) in kinds.items():
        st.download_button(
            words, write, f"dpviz-{trace.algorithm}-{number}-{ending}", mime, key=name, on_click="ignore",
            width="stretch",
        )  # fmt: skip
