"""Draw the form above a run's views, and return the current run and its view."""

from __future__ import annotations

import dataclasses
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpviz.algorithms import Algorithm
from dpviz.datasets import Dataset
from dpviz.escape import plain
from pages._ui.explore.form.forms import pick_data
from pages._ui.explore.form.picker import pick_algorithm
from pages._ui.explore.player.how import How, switch_hidden
from pages._ui.explore.settings import FormRow, settings
from pages._ui.explore.state import Settings
from pages._ui.explore.stored import Stored, shared_span, stored, track_of
from pages._ui.explore.workspace.explore import explore, explored
from pages._ui.frame import catalog, prepared
from pages._ui.frame.address import links
from pages._ui.frame.address.scene import write
from pages._ui.frame.prepared import FORM_DETAILS, FORM_FIELDS, FORM_TOP
from pages._ui.frame.session import session
from pages._ui.work import results, runs
from pages._ui.work.filling import Track
from pages._ui.work.results import Result

# widths in pixels of the fields for data, method, ε with its label, and a number
WIDE, WIDER, BUDGET, NARROW = 168, 228, 144, 112


@dataclasses.dataclass(frozen=True, eq=False)
class Choice:
    """The form's choices: data set by name, algorithm, settings, matching stored runs, or the track made instead."""

    name: str
    data: Dataset
    cls: type[Algorithm]
    form: Settings
    stored: Stored | None
    track: Track | None
    row: FormRow


def opened(*, switch: bool = False) -> tuple[DeltaGenerator, Choice, Result | None, How]:
    """Draw the form of a view; return the container above it, its choices, the current run, and how to show it.

    The details hold the choice of columns and, if `switch` is set, the switch for hidden layers.
    """
    head = st.container()
    choice = _choose()
    result = _seen(choice)
    _earlier(choice)
    return head, choice, result, _look(choice, result, switch)


def _choose() -> Choice:
    """Draw the form at the top, the same for every view of a run; return its choices.

    If stored or made runs match the form, the drag takes the place of the field for ε. On a phone, a drawer holds the
    fields.
    """
    with st.container(key=FORM_TOP, horizontal=True, vertical_alignment="bottom", gap="medium"):
        fields = st.container(
            key=FORM_FIELDS, horizontal=True, vertical_alignment="bottom", gap="small", width="content"
        )
        with fields:
            with st.container(width=WIDE):
                name, data = pick_data()
            method = st.container(width=WIDER, key="form_method")
            k = st.container(width=NARROW)
            epsilon = st.container(width=BUDGET)
            details = st.popover("Details", key=FORM_DETAILS)
            run = st.container(width="content")
        with method:
            cls = pick_algorithm(data, details)
        here, track = stored(name, data, cls), None
        if here is None or not here.charts:
            track = track_of(name, data, cls)
        dragged = bool(here and here.charts) or (track is not None and track.stops > 1)
        drag = None
        if here is not None or track is not None:
            drag = st.container(key="form_drag", vertical_alignment="bottom")
    row = FormRow(k, None if dragged else epsilon, details, run, drag, st.container())
    with details:
        st.caption(plain(data.description))
    return Choice(name, data, cls, settings(name, data, cls, row), here, track, row)


def _seen(choice: Choice) -> Result | None:
    """Return the current run, or None if its mode is not that of the chosen data or the first run is in progress."""
    result = runs.shown(choice.name)
    if result is None or result.data.private != choice.data.private or (session.job and not session.shown):
        return None
    return result


def _earlier(choice: Choice) -> None:
    """Offer the session's earlier runs of the same mode in the details; open a chosen one by its link.

    A private run, or one on a file that has since been declared again, is shown from its trace, because no link can
    restore its data.
    """
    data = choice.data
    past = results.labels(run for run in results.history() if run.data.private == data.private)
    if len(past) < 2:
        return
    now = list(past).index(session.shown) if session.shown in past else None
    chosen = choice.row.details.selectbox(
        "Earlier runs", past, now, format_func=past.__getitem__, disabled=prepared.locked()
    )
    if chosen not in (None, session.shown):
        session.shown = chosen
        run = results.find(chosen)
        if run is None or data.private or not catalog.is_here(run.data):
            st.rerun()
        links.go(write(explored(run), explore))


def _look(choice: Choice, result: Result | None, switch: bool) -> How:
    """Draw the details about a run's look, and return the look."""
    with choice.row.details:
        if switch:
            switch_hidden(choice.data)
        return How.asked(choice.data, result, partial(shared_span, choice.stored))
