"""Compare: two to four runs on the same data, stepped by one player."""

import streamlit as st

from dpviz.postprocessing.beside import LETTERS
from pages._ui.explore.compare import made, sides, view
from pages._ui.explore.compare.form import form
from pages._ui.explore.compare.paid import paid
from pages._ui.explore.form.forms import pick_data
from pages._ui.explore.form.public_rows import told
from pages._ui.explore.look import WIDE
from pages._ui.explore.workspace.compare import compare
from pages._ui.explore.workspace.explore import asked
from pages._ui.frame import catalog, prepared, shell
from pages._ui.frame.address import links
from pages._ui.frame.inside.patches import stop
from pages._ui.frame.prepared import FORM_FIELDS, FORM_TOP

links.enter(__file__, compare, has=("form", "kmeans", "navigation", "player"))
if not catalog.chosen().private:
    sides.arrive(links.now("explore", asked), asked)

head = st.container()
with (
    st.container(key=FORM_TOP),
    st.container(key=FORM_FIELDS, horizontal=True, vertical_alignment="bottom", gap="small"),
):
    with st.container(width=WIDE):
        name, data = pick_data()
    runs = [] if data.private else form(data)
comparison = paid(data) if data.private else None
names = [run.trace.name for run in comparison.runs] if comparison else [side.algorithm.name for side in runs]
with head:
    shell.strip(
        data.title,
        " | ".join(f"{letter} {one}" for letter, one in zip(LETTERS, names, strict=False)),
        private=data.private,
    )
    with st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute"):
        with st.container(width="content"):
            shell.title()
        with st.container(key="compare_look", horizontal=True, vertical_alignment="bottom", width="content"):
            hidden = not data.private and prepared.shows("kmeans") and view.HIDDEN.draw(
                help=f"{data.nouns.capitalize()}, KMeans and everything computed from them; none of it ever exists for "
                    "private rows.",
            )  # fmt: skip
            by = "" if data.private and comparison is None else view.BY.draw(label_visibility="collapsed")
    links.notice("compare", compare)
if not data.private:
    sides.depart(runs[0], links.now("explore", asked), asked)
    comparison = made.comparison(data, runs)
links.keep("compare", compare, private=data.private)
if comparison is None:
    if not data.private:
        st.skeleton(height=430)
    stop()
view.unlike_promises(comparison)
told(type(side.algorithm) for side in runs)
view.player(comparison, hidden=hidden, by=str(by), opened=links.opened("compare"))
view.curves(comparison)
