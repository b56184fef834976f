"""Lead from a rehearsal to Spend, and show the card of the waiting run."""

from __future__ import annotations

import dataclasses
from typing import Any

import streamlit as st

from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.datasets import Dataset
from dpviz.escape import plain
from dpviz.numbers import number
from pages._ui.data.plan import asking
from pages._ui.data.plan.form import PLAN_METHOD, Wish
from pages._ui.data.plan.state import plan_state
from pages._ui.explore.form import picker
from pages._ui.explore.form.forms import fields_of
from pages._ui.explore.form.picker import marked
from pages._ui.explore.form.public_rows import given, remember
from pages._ui.work import private, runs
from pages._ui.work.state import work_state

__all__ = ["card", "onward"]


def onward(data: Dataset, wish: Wish) -> Wish:
    """Offer Spend for a chosen method with the rehearsal's k and ε; return the questions, that method first."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        slug = wish.slugs[0]
        if len(wish.slugs) > 1:
            slug = st.selectbox(
                "Method to run", wish.slugs, format_func=marked, key=PLAN_METHOD,
                width=220,
            )  # fmt: skip
        words = f"Continue to Spend: {ALGORITHMS[slug].name}, k = {wish.facts.n_clusters}, ε = {number(wish.at)}"
        if st.button(words, type="primary", key="plan_spend"):
            values: dict[str, Any] = {"n_clusters": wish.facts.n_clusters, "epsilon": wish.at}
            work_state.waiting = (data.dataset_id, ALGORITHMS[slug](**values))
            st.switch_page("pages/spend.py")
    words = f"Do your bounds fit? Spend can count the rows outside them, for ε {number(asking.EPSILON)} of its own."
    st.page_link("pages/spend.py", label=words, icon=":material/rule:")
    return dataclasses.replace(wish, slugs=(slug, *(other for other in wish.slugs if other != slug)))


def card(data: Dataset, algorithm: Algorithm) -> None:
    """Ask before a run on a private file; consent starts it and opens Watch, and "Not yet" rehearses the same run."""
    try:
        runs.check(data, algorithm)
    except ValueError as problem:
        st.error(plain(f"{problem} Nothing was spent."))
        st.page_link("pages/plan.py", label="Choose again on Rehearse", icon=":material/play_circle:")
        return
    chosen = given(data, algorithm) if algorithm.takes_public_rows else algorithm
    if chosen is None:
        return
    answer = private.confirm(data, chosen, slot="run", start=_start)
    if answer is False:
        plan_state.plan_back = algorithm
    if answer is not None:
        st.switch_page("pages/explore.py" if answer else "pages/plan.py")


def _start(data: Dataset, algorithm: Algorithm, seed: int | None) -> None:
    """Start the booked run, and set the form to its values."""
    del work_state.waiting
    remember(algorithm, data)
    state = st.session_state
    state[picker.PRIVATE_METHOD] = algorithm.slug
    fields = fields_of(type(algorithm), data.dataset_id, {"n_clusters": data.n_clusters}, None)
    for name in {"n_clusters", "epsilon"} & {*fields}:
        state[fields[name].key] = float(getattr(algorithm, name))
    runs.start(data, algorithm, seed)
