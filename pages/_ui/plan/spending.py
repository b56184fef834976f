"""Spending: the card of the run that waits, and what Explore's form says after it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.datasets import Dataset
from dpviz.escape import plain
from dpviz.numbers import number
from pages._ui.form.forms import fields_of
from pages._ui.frame import keys
from pages._ui.plan.form import Wish
from pages._ui.work import private, runs
from pages._ui.work.state import work_state

__all__ = ["card", "onward"]


def onward(data: Dataset, wish: Wish) -> None:
    """Lead from a rehearsal to Spend with its number of centers, a method of it and ε; nothing is spent yet."""
    with st.container(horizontal=True, vertical_alignment="bottom", border=True):
        slug = st.selectbox(
            "Method", wish.slugs, format_func=lambda slug: ALGORITHMS[slug].name, key=keys.PLAN_METHOD, width=220
        )
        epsilon = st.number_input("ε", 0.01, 100.0, wish.epsilon or 1.0, format="%g", step=None, width=120)
        words = f"On to Spend: k = {wish.facts.n_clusters}, ε = {number(epsilon)}"
        if st.button(words, key=keys.PLAN_SPEND):
            values: dict[str, Any] = {"n_clusters": wish.facts.n_clusters, "epsilon": float(epsilon)}
            work_state.waiting = (data.dataset_id, ALGORITHMS[slug](**values))
            st.switch_page("pages/spend.py")


def card(data: Dataset, algorithm: Algorithm) -> None:
    """Ask before a run on a private file; a yes opens it in Explore, "Not yet" goes back to Rehearse."""
    try:
        runs.check_time(data, algorithm)
    except ValueError as problem:
        st.error(plain(str(problem)))
        return
    answer = private.confirm(data, algorithm, slot="run", start=_start)
    if answer is not None:
        st.switch_page("pages/explore.py" if answer else "pages/plan.py")


def _start(data: Dataset, algorithm: Algorithm, seed: int | None) -> None:
    """Start the run that is booked; Explore's form says the same from then on."""
    del work_state.waiting
    state = st.session_state
    state[keys.PRIVATE_ALGORITHM] = algorithm.slug
    fields = fields_of(type(algorithm), data.dataset_id, {"n_clusters": data.n_clusters}, None)
    for name in {"n_clusters", "epsilon"} & {*fields}:
        state[fields[name][1]] = float(getattr(algorithm, name))
    runs.start(data, algorithm, seed)
