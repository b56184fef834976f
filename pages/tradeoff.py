"""Trade-off: the cost of privacy, at once from stored runs, or from a sweep that makes the missing ones."""

import streamlit as st

from dpviz.algorithms import ALGORITHMS
from dpviz.escape import plain
from dpviz.sweeps.sweep import REFERENCE
from pages._ui.explore.form.public_rows import told
from pages._ui.explore.tradeoff import archive, sweeps, view
from pages._ui.explore.tradeoff.form import form_of, linked, private_notice, sweep_form
from pages._ui.explore.tradeoff.state import tradeoff_state
from pages._ui.explore.workspace.tradeoff import tradeoff
from pages._ui.frame import prepared, shell
from pages._ui.frame.address import links
from pages._ui.frame.address.scene import Scene, write
from pages._ui.frame.inside.patches import stop
from pages._ui.frame.prepared import FORM_FIELDS, FORM_TOP
from pages._ui.work import atlas


def _open(progress: sweeps.Progress) -> None:
    """Show a sweep and, if its data are public, fill the form with its values."""
    sweeps.show(progress.identity)
    tradeoff_state.sweep_asked = None  # the form's sweep may now become this one
    if archive.is_public(progress.sweep):
        query = write(Scene("tradeoff", form_of(progress.sweep) | {"sweep": progress.identity}), tradeoff)
        if query != write(links.now("tradeoff", tradeoff), tradeoff):
            links.go(query)


links.enter(__file__, tradeoff, has=("form", "navigation"))
if links.brings_only("tradeoff", tradeoff, "sweep") and (latest := sweeps.shown()):
    _open(latest)  # a link of dpviz 0.1 names only a sweep, which fills the form

head = st.container()
with (
    st.container(key=FORM_TOP),
    st.container(key=FORM_FIELDS, horizontal=True, vertical_alignment="bottom", gap="small"),
):
    sweep, title, error, more = sweep_form()
progress = sweeps.shown()
active = progress is not None and progress.active  # the sweep might end while the page is drawn
before, tradeoff_state.sweep_asked = tradeoff_state.sweep_asked, sweep
changed = None not in (sweep, before) and sweep not in (before, progress.sweep if progress else before)
if changed and not active:
    sweeps.leave()  # the form has changed, and the picture follows it
    progress = None
with more:
    if sweep is not None:
        view.spending(sweep)
    past = sweeps.history()
    if len(past) > (progress is not None):
        names = {other.identity: f"{other.title}, {sweeps.counted(other.rows):,} runs" for other in past}
        chosen = st.selectbox(
            "Earlier sweeps", names, list(names).index(progress.identity) if progress else None,
            format_func=names.__getitem__, disabled=prepared.locked(),
        )  # fmt: skip
        if chosen not in (None, progress.identity if progress else None):
            _open(next(other for other in past if other.identity == chosen))
            st.rerun()

current = progress or (sweeps.at_once(sweep, title) if sweep else None)
with head:
    size = view.size(current.sweep) if current else ""
    shell.strip(view.titles(current) if current else title, sweep=size, linked=linked())
    word, tools = st.columns([5, 4], vertical_alignment="bottom")
    with word:
        shell.title()
    private_notice()
    links.notice("tradeoff", tradeoff)
if progress is None and sweeps.SHOWN.held:
    st.info("This server no longer has the sweep that this address names. You see the sweep that the form describes.")
links.keep("tradeoff", tradeoff, entry=progress.identity if progress else "form", private=not linked())
finished = current is not None and any(row["algorithm"] != REFERENCE for row in current.rows)
if sweep is not None and sweeps.lacking(sweep):
    atlas.note()
if progress is None and not finished and sweep is not None:
    view.first(sweep, title)
if progress is not None and sweep not in (None, progress.sweep):
    st.caption("The form no longer matches the sweep below.")
if sweep is not None and not active and (view.offer(sweep) or sweeps.by_itself(sweep)):
    try:
        sweeps.start(sweep, title)
        st.rerun()
    except ValueError as problem:
        error = str(problem)
if error:
    sentence = error.removeprefix("sweep: ")
    st.error(plain(f"{sentence[0].upper()}{sentence[1:]} No sweep was started."))
if current is None or not (progress or finished):
    stop()
told(ALGORITHMS[variant.algorithm] for variant in current.sweep.variants)
with tools:
    look = view.tools(current)
view.watch(current, look, active=active)
