"""Compare: two to four runs on the same data, stepped by one player."""

import streamlit as st

from dpviz.postprocessing.beside import LETTERS
from pages._ui.address import links
from pages._ui.compare import made, sides, view
from pages._ui.compare.form import form
from pages._ui.form.forms import pick_data
from pages._ui.frame import keys, prepared, shell
from pages._ui.workspace.compare import compare

links.enter(__file__, compare, has=("form", "kmeans", "navigation", "player"))
sides.arrive()

with st.sidebar:
    name, data = pick_data()
    asked = [] if data.private else form(data)
    hidden = not data.private and prepared.shows("kmeans") and st.toggle(
        "Show people and KMeans", value=True, **prepared.kept(keys.COMPARE_HIDDEN),
        help="Hidden layers. They exist in DEMO only.",
    )  # fmt: skip
runs = " | ".join(f"{letter} {side.algorithm.name}" for letter, side in zip(LETTERS, asked, strict=False))
shell.strip(data.title, runs, private=data.private)
links.notice("compare", compare)
head, how = st.columns([3, 2], vertical_alignment="bottom")
with head:
    shell.title()
if data.private:
    st.info(
        "These data are private, and every run of a comparison would spend ε of the file again. Compare on a sample or "
        "on a public file; run what you choose on Watch, once."
    )
    links.keep("compare", compare, private=True)
    st.stop()
by = how.segmented_control(
    "Match by", ("step", "spent"), default="step", required=True, **prepared.kept(keys.COMPARE_BY),
    format_func={"step": "step", "spent": "ε spent"}.get,
    help="By ε spent every run shows the last picture that costs no more than that, from its ledger.",
)  # fmt: skip
found = made.comparison(data, asked)
links.keep("compare", compare)
if found is None:
    st.skeleton(height=430)
    st.stop()
view.unlike_promises(found)
view.player(found, hidden=hidden, by=by, opened=links.opened("compare"))
view.curves(found)
