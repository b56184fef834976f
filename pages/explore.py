"""Explore: choose data, algorithm and parameters, run, and step through what happened."""

import html

import streamlit as st

from dpviz.figures import pane
from dpviz.figures.panels import MAX_PEOPLE
from dpviz.postprocessing.released import widest
from dpviz.postprocessing.verdict import reach
from dpviz.privacy.guarantee import Neighboring
from pages._ui import catalog, controls, embed, links, prepared, private, results, runs, shell, takeaway
from pages._ui.compare import menu as beside
from pages._ui.explore import alex, centers, coreset, explain, local, quality, reruns, stale, verdict
from pages._ui.explore.picker import pick_algorithm
from pages._ui.forms import pick_data
from pages._ui.player import player
from pages._ui.scene import HIDEABLE, write
from pages._ui.settings import begin, settings
from pages._ui.words import on_screen

links.enter(__file__, controls.explore, has=(*HIDEABLE, "player"))
state = st.session_state
hidden = False

with st.sidebar:
    name, data = pick_data()
    cls = pick_algorithm(data)
    form = settings(name, data, cls)

result = runs.shown(name)
if result is not None and result.data.private != data.private:
    result = None  # what is seen has the mode of what is chosen
if "job" in state and "shown" not in state:
    result = None  # what a link asks for comes first, not the replay that is there for everybody
algorithm, outlook = form.algorithm, form.outlook
with st.sidebar:
    past = [r for r in results.history() if r.data.private == data.private]
    if len(past) > 1:
        labels = {r.identity: r.label for r in past}
        now = list(labels).index(state.shown) if state.shown in labels else None
        chosen = st.selectbox("Earlier runs", labels, now, format_func=labels.get, disabled=prepared.locked())
        if chosen not in (None, state.shown):
            state.shown = chosen
            if data.private:
                st.rerun()
            links.go(write(controls.explored(results.find(chosen)), controls.explore))
    if not data.private and prepared.shows("kmeans"):
        hidden = st.toggle(
            "Show people and KMeans", value=True, **prepared.kept("explore_hidden"),
            help="Hidden layers. They exist in DEMO only.",
        )  # fmt: skip
    axes = None
    if result is not None and (columns := result.data.columns)[1:]:
        declared = catalog.is_public(result.data) or result.data.facts.get("view")
        axes = result.data.view if declared else widest(result.trace)
        if len(columns) > 2:
            how = pane(result.trace)
            seen = st.multiselect(
                "Seen from two columns", range(len(columns)), axes if how.axes else (), max_selections=2,
                format_func=lambda i: columns[i], placeholder=how.unpinned,
                **prepared.kept(controls.seen_from(result.data.dataset_id, result.trace.algorithm)),
                help=f"Two columns; none for {how.unpinned}. Never a projection fitted to private rows.",
            )  # fmt: skip
            axes = (seen[0], seen[1]) if len(seen) == 2 else None

shown, promise = (result.data, result.trace.claimed) if result else (data, None)
weaker = reach(result.trace) if result and result.trace.claimed.rho_distance is not None else ""
shell.strip(shown.title, result.trace.name if result else cls.name, promise, private=shown.private, reach=weaker)
st.html(f'<h1 class="dp-unseen">Explore: {html.escape(result.trace.name if result else cls.name)}</h1>')
with st.container(key="messages"):  # always there: a message does not move the figures to another place of the page
    links.notice("explore", controls.explore)
    if data.private and result is None:
        private.offer(data, algorithm)
    if data.private:
        private.confirm(data, algorithm)
    runs.progress()
    if result is not None:
        stale.ribbon(result, data, form)
        if shown.domain.origin != "declared":
            st.caption(f"This data set's {shown.domain.origin}.")
        if shown.incomplete:
            kept = "left out" if result.trace.claimed.neighboring is Neighboring.ADD_REMOVE else "set to the middle"
            st.caption(f"{shown.incomplete:,} of {len(shown.X):,} rows have a missing cell and are {kept}.")
        if too_little := pane(result.trace).warning(result.trace):
            st.warning(on_screen(too_little))
        for sentence in result.trace.warnings:
            st.warning(on_screen(sentence))
if result is None and "job" in state:
    st.skeleton(height=478)
elif result is None:
    st.header("Nothing run yet")
    st.markdown(f"{cls.tagline} {outlook}")
    if algorithm is not None and "asking" not in state:
        words = shell.plain(f"Run {cls.name} on {data.title}")
        st.button(words, type="primary", on_click=begin, args=(data,), key="explore_first")
if result is None:
    st.stop()

if prepared.shows("verdict"):
    verdict.line(result, hidden=hidden)
current = result.identity == form.asks_for(data)
opened = links.opened("explore") if current else None
player("explore", result, hidden=hidden, axes=axes, opened=opened)
if embed.embedded():
    st.stop()
drawn = f" {MAX_PEOPLE} of {len(shown.X):,} rows are drawn, all are computed with."
st.html(
    f'<p class="dp-small"><b>How this picture can fool you.</b> {on_screen(pane(result.trace).caution)}'
    f"{drawn if hidden and len(shown.X) > MAX_PEOPLE else ''}</p>"
)
reruns.section("explore", result, hidden=hidden, axes=axes, current=current)
alex.section("explore", result, hidden=hidden, axes=axes)
centers.section("explore", result, hidden=hidden)
explain.section("explore", result, hidden=hidden)
with st.container(horizontal=True):
    takeaway.menu("explore", result, hidden=hidden, axes=axes)
    beside.menu("explore", result)
if prepared.shows("verdict"):
    quality.section(result, hidden=hidden)
coreset.section("explore", result, hidden=hidden, axes=axes)
local.section("explore", result, hidden=hidden, axes=axes)
