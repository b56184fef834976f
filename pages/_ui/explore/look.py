"""What Explore shows: what is chosen in the sidebar, which run is seen, and how it is looked at."""

from __future__ import annotations

import dataclasses

import streamlit as st

from dpviz.algorithms import Algorithm
from dpviz.datasets import Dataset
from dpviz.figures import pane
from dpviz.postprocessing.released import widest
from pages._ui.address import links
from pages._ui.address.scene import write
from pages._ui.explore.settings import settings
from pages._ui.explore.state import Settings
from pages._ui.form.forms import pick_data
from pages._ui.form.picker import pick_algorithm
from pages._ui.frame import catalog, keys, prepared
from pages._ui.frame.session import session
from pages._ui.work import results, runs
from pages._ui.work.results import Result
from pages._ui.workspace.explore import explore, explored, seen_from


@dataclasses.dataclass(frozen=True, eq=False)
class Choice:
    """What the sidebar says: the data set by its name, the algorithm, and its form."""

    name: str
    data: Dataset
    cls: type[Algorithm]
    form: Settings


@dataclasses.dataclass(frozen=True)
class Look:
    """How a run is looked at: whether with hidden layers (DEMO), and along which two columns."""

    hidden: bool = False
    axes: tuple[int, int] | None = None


def choose() -> Choice:
    """Draw the controls of a run; return what they say."""
    name, data = pick_data()
    cls = pick_algorithm(data)
    return Choice(name, data, cls, settings(name, data, cls))


def seen(choice: Choice) -> Result | None:
    """Return the run that is seen: it has the mode of what is chosen, and what a link asks for comes before it."""
    result = runs.shown(choice.name)
    if result is None or result.data.private != choice.data.private or (session.job and not session.shown):
        return None
    return result


def earlier(data: Dataset) -> None:
    """Offer the session's earlier runs of the same mode; one that is chosen is shown by its link.

    A run on a file that was declared again since is shown as it was: no link can bring its data back.
    """
    past = results.labels(run for run in results.history() if run.data.private == data.private)
    if len(past) < 2:
        return
    now = list(past).index(session.shown) if session.shown in past else None
    chosen = st.selectbox("Earlier runs", past, now, format_func=past.get, disabled=prepared.locked())
    if chosen not in (None, session.shown):
        session.shown = chosen
        run = results.find(chosen)
        if run is None or data.private or not catalog.is_here(run.data):
            st.rerun()
        links.go(write(explored(run), explore))


def look(data: Dataset, result: Result | None) -> Look:
    """Draw the controls of the picture; return what they say."""
    hidden = False
    if not data.private and prepared.shows("kmeans"):
        hidden = st.toggle(
            "Show people and KMeans", value=True, **prepared.kept(keys.EXPLORE_HIDDEN),
            help="Hidden layers. They exist in DEMO only.",
        )  # fmt: skip
    return Look(hidden, None if result is None else _axes(result))


def _axes(result: Result) -> tuple[int, int] | None:
    """Return the two columns that are drawn: the declared ones or the widest, unless others or none are chosen."""
    columns = result.data.columns
    if len(columns) < 2:
        return None
    declared = catalog.is_public(result.data) or result.data.facts.get("view")
    axes = result.data.view if declared else widest(result.trace)
    if len(columns) == 2:
        return axes
    how = pane(result.trace)
    chosen = st.multiselect(
        "Seen from two columns", range(len(columns)), axes if how.axes else (), max_selections=2,
        format_func=lambda i: columns[i], placeholder=how.unpinned,
        **prepared.kept(seen_from(result.data.dataset_id, result.trace.algorithm)),
        help=f"Two columns; none for {how.unpinned}. Never a projection fitted to private rows.",
    )  # fmt: skip
    return (chosen[0], chosen[1]) if len(chosen) == 2 else None
