"""Say, for a public file, that the number of centers is only a default, and what more centers would gain."""

from __future__ import annotations

import streamlit as st

from dpviz.algorithms.kmeans import KMeans
from dpviz.datasets import Dataset
from dpviz.numbers import percent
from dpviz.runs.single import reference
from pages._ui.explore.player.how import ANY_K
from pages._ui.frame import markup
from pages._ui.frame.catalog import is_public
from pages._ui.work import runs
from pages._ui.work.caches import per_run
from pages._ui.work.results import Result
from pages._ui.work.workers import workers

__all__ = ["MORE", "section"]

MORE = 2  # the number of centers tried, as a multiple of the default
SLOWEST = 2.0  # maximum duration of KMeans with that many centers, in seconds


def section(key: str, result: Result, *, hidden: bool) -> None:
    """Show the sentence and a button to all other k, if the file's k is untouched and hidden values may be shown.

    Nothing is computed from the rows of a private file. The samples know their number of groups.
    """
    data, k = result.data, Dataset.n_clusters
    if data.private or not hidden or is_public(data) or not result.reference_loss:
        return
    if not data.n_clusters == result.trace.parameters["n_clusters"] == k or MORE * k >= len(data.X):
        return
    if runs.seconds(data, KMeans(n_clusters=MORE * k)) > SLOWEST:
        return
    falls = 1 - _loss(result, MORE * k) / result.reference_loss
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        words = f" k = {k} is a default: KMeans' loss falls another {percent(falls)} at k = {MORE * k}."
        st.html(markup.small(markup.tag(), words), width="content")
        if result.trace.coreset is not None:
            st.button("Any k", key=f"{key}_default_k", type="tertiary", on_click=_unfold)


def _unfold() -> None:
    st.session_state[ANY_K.key] = True


@per_run(shared=1, own=8)
def _loss(identity: str, k: int, _result: Result) -> float:
    """Return the loss of KMeans with k centers on the rows: NOT PRIVATE."""
    return float(workers().call(reference, _result.data, k, 0).loss)
