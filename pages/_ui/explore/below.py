"""Draw the end of Watch's verdict, and below it the folded parts that are not needed to understand a run."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dpviz.escape import plain
from dpviz.figures import pane
from dpviz.figures.kit.panels import MAX_PEOPLE
from pages._ui.explore import centers, coreset, explain, how_many, local, quality
from pages._ui.explore.compare import menu as compared
from pages._ui.explore.player import takeaway
from pages._ui.explore.player.how import How, switch_hidden
from pages._ui.explore.player.player import FIGURES, releases
from pages._ui.explore.reruns import scatter_of
from pages._ui.frame import markup, prepared
from pages._ui.frame.words import on_screen
from pages._ui.work.results import Result


def take(key: str, result: Result, how: How, help: Sequence[str] = ()) -> None:
    """Draw a run's menus (Compare, Save, advice) and the switch for hidden layers."""
    with st.container(horizontal=True, gap="xsmall", horizontal_alignment="right"):
        if help:
            with st.popover("What could help", width="content"):
                st.markdown("\n".join(f"- {plain(sentence)}" for sentence in help))
        compared.menu(key, result)
        takeaway.menu(key, result, how, scatter_of, FIGURES(key))
    switch_hidden(result.data)


def folds(key: str, result: Result, how: How) -> None:
    """Draw the folded parts below a run, each in its own box."""
    hidden = how.hidden
    centers.section(key, result, hidden=hidden)
    explain.section(key, result, hidden=hidden)
    releases(key, result, how)
    if prepared.shows("verdict"):
        quality.section(result, hidden=hidden)
    how_many.section(key, result, hidden=hidden)
    coreset.section(key, result, how)
    local.section(key, result, how)
    rows = len(result.data.X) if hidden else 0
    drawn = f" {MAX_PEOPLE} of {rows:,} rows are drawn; the run uses all of them." if rows > MAX_PEOPLE else ""
    st.html(markup.fooled(f"{on_screen(pane(result.trace).caution)}{drawn}"))
