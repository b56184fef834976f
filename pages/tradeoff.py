"""Trade-off: sweep budgets, algorithms and repeats in the background; read off what privacy costs."""

import streamlit as st

from pages._ui import shell
from pages._ui.sweep import sweeps, view
from pages._ui.sweep.form import sweep_form

shell.enter(__file__)

with st.sidebar:
    sweep, title, error = sweep_form()
    kept = sweeps.shown()
    busy = sweep is None or (kept is not None and kept.active)
    begin = st.button("Start", type="primary" if kept else "secondary", width="stretch", disabled=busy)
    if sweep is not None and kept is not None:
        view.cost(sweep)
    past = sweeps.history()
    if len(past) > 1:
        names = {other.identity: f"{other.title}, {len(other.rows)} runs" for other in past}
        chosen = st.selectbox(
            "Earlier sweeps", names, list(names).index(kept.identity) if kept else None, format_func=names.get
        )
        if kept is None or chosen not in (None, kept.identity):
            sweeps.show(chosen)
            st.rerun()

shown = kept.sweep if kept else sweep
shell.strip(view.titles(kept) if kept else title, sweep=view.size(shown) if shown else "")
head, tools = st.columns([5, 4], vertical_alignment="bottom")
head.title("What privacy costs")
if kept is None and sweep is not None:
    begin = view.first(sweep, title) or begin
if begin:
    try:
        sweeps.start(sweep, title)
        st.rerun()
    except ValueError as problem:
        error = str(problem)
if error:
    st.error(f"{error} Nothing was started.")
if kept is None:
    st.stop()
with tools:
    look = view.tools(kept)
view.watch(kept, look)
