"""Offer the releases on a private file that are paid already; comparing them runs nothing and costs nothing."""

from __future__ import annotations

import streamlit as st

from dpviz.datasets import Dataset
from dpviz.numbers import counted
from pages._ui.explore.compare import sides
from pages._ui.explore.compare.made import Comparison
from pages._ui.work import results

_COMPARE_PAID = "compare_paid"


def paid(data: Dataset) -> Comparison | None:
    """Show the field for this visit's releases on a private file; return those chosen, or None if fewer than two."""
    past = [
        run
        for run in results.history()
        if run.data.dataset_id == data.dataset_id and run.data.columns == data.columns and not run.trace.noiseless
    ]
    if len(past) < 2:
        st.info(
            "These data are private, and every run of a comparison would spend ε on the file again. Compare shows two "
            f"to {sides.MOST} releases that are paid already: this visit has {counted(len(past), 'release')} with "
            "these columns. To choose a method, compare on a sample or on a public file."
        )
        return None
    names, runs = results.labels(past), {run.identity: run for run in past}
    if _COMPARE_PAID in st.session_state:  # chosen on another file, or no longer kept
        st.session_state[_COMPARE_PAID] = [one for one in st.session_state[_COMPARE_PAID] if one in runs]
    chosen = st.multiselect(
        "Releases already paid", list(runs), list(runs)[:2], max_selections=sides.MOST, format_func=names.__getitem__,
        key=_COMPARE_PAID, persist_state="session",
        help="Your account adds up what they cost. Nothing is run here, and nothing is spent.",
    )  # fmt: skip
    if len(chosen) < 2:
        st.info("Choose at least two releases.")
        return None
    return Comparison(tuple(runs[identity] for identity in chosen))
