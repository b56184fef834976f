"""Trade-off: sweep budgets, algorithms and repeats in the background; read off what privacy costs."""

import streamlit as st

from pages._ui import shell, sweep_view, sweeps
from pages._ui.sweep_form import sweep_form

shell.enter("pages/tradeoff.py")
state = st.session_state

with st.sidebar:
    sweep, title, error = sweep_form()
    kept = sweeps.shown()
    if st.button(
        "Start", type="primary", width="stretch", disabled=sweep is None or (kept is not None and kept.active)
    ):
        try:
            sweeps.start(sweep, title)
            st.rerun()
        except ValueError as problem:
            error = str(problem)
    if sweep is not None:
        sweep_view.cost(sweep)
    past = sweeps.history()
    if len(past) > 1:
        names = {other.identity: f"{other.title}, {len(other.rows)} runs" for other in past}
        chosen = st.selectbox(
            "Earlier sweeps", names, list(names).index(kept.identity) if kept else None, format_func=names.get
        )
        if kept is None or chosen not in (None, kept.identity):
            sweeps.show(chosen)
            st.rerun()

size = sweep_view.size(kept.sweep) if kept else "nothing swept yet"
shell.strip(sweep_view.data_titles(kept) if kept else "choose in the sidebar", size, None)
head, tools = st.columns([5, 4], vertical_alignment="bottom")
head.title("What privacy costs")
if error:
    st.error(f"{error} Nothing was started.")
if kept is None:
    sweep_view.empty()
    st.stop()
with tools:
    look = sweep_view.tools(kept)
sweep_view.watch(kept, look)
