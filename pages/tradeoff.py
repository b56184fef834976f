"""Trade-off: sweep budgets, algorithms and repeats in the background; read off what privacy costs."""

import streamlit as st

from dpviz.escape import plain
from pages._ui.address import links
from pages._ui.address.scene import Scene, write
from pages._ui.frame import prepared, shell
from pages._ui.tradeoff import archive, sweeps, view
from pages._ui.tradeoff.form import form_of, sweep_form
from pages._ui.workspace.tradeoff import tradeoff


def _open(kept: sweeps.Kept) -> None:
    """Show a sweep and, where its data are public, in the form what it is."""
    sweeps.show(kept.identity)
    if archive.is_public(kept.sweep):
        query = write(Scene("tradeoff", form_of(kept.sweep) | {"sweep": kept.identity}), tradeoff)
        if query != write(links.now("tradeoff", tradeoff), tradeoff):
            links.go(query)


links.enter(__file__, tradeoff, has=("form", "navigation"))
if links.brings_only("tradeoff", tradeoff, "sweep") and (found := sweeps.shown()):
    _open(found)  # a link of 0.1: the form follows the sweep

with st.sidebar:
    sweep, title, error = sweep_form()
    kept = sweeps.shown()
    active = kept is not None and kept.active
    begin = kept is not None and st.button("Start", type="primary", width="stretch", disabled=sweep is None or active)
    if sweep is not None and kept is not None:
        view.cost(sweep)
    past = sweeps.history()
    if len(past) > 1:
        names = {other.identity: f"{other.title}, {len(other.rows)} runs" for other in past}
        chosen = st.selectbox(
            "Earlier sweeps",
            names,
            list(names).index(kept.identity) if kept else None,
            format_func=names.get,
            disabled=prepared.locked(),
        )
        if kept is None or chosen not in (None, kept.identity):
            _open(next(other for other in past if other.identity == chosen))
            st.rerun()

shown = kept.sweep if kept else sweep
shell.strip(view.titles(kept) if kept else title, sweep=view.size(shown) if shown else "")
links.notice("tradeoff", tradeoff)
links.keep("tradeoff", tradeoff, entry=kept.identity if kept else "form")
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
if kept is not None and sweep not in (None, kept.sweep):
    st.caption("The form differs from the sweep that is shown: Start runs what the form says.")
if error:
    st.error(plain(f"{error} Nothing was started."))
if kept is None:
    st.stop()
with tools:
    look = view.tools(kept)
view.watch(kept, look, active=active)
