"""Explore: choose data, algorithm and parameters, run, and step through what happened."""

import streamlit as st

from dpviz.figures import pane
from dpviz.figures.kit.panels import MAX_PEOPLE
from pages._ui.address import links
from pages._ui.address.scene import HIDEABLE
from pages._ui.compare import menu as beside
from pages._ui.distance import view as moves
from pages._ui.explore import centers, clients, coreset, drag, explain, local, quality
from pages._ui.explore.look import choose, earlier, look, seen
from pages._ui.explore.notices import first_run, heading, notices
from pages._ui.frame import embed, markup, prepared
from pages._ui.frame.words import on_screen
from pages._ui.player import takeaway, verdict
from pages._ui.player.player import player
from pages._ui.workspace import trust
from pages._ui.workspace.explore import explore

links.enter(__file__, explore, has=(*HIDEABLE, "player"))
links.hand_over("explore", "again", explore, "again")

with st.sidebar:
    choice = choose()
    result = seen(choice)
    earlier(choice.data)
    how = look(choice.data, result)

if choice.form.algorithm is not None and trust.by_clients(choice.cls, choice.data):
    clients.page(choice, choice.form.algorithm)
    st.stop()
heading(choice, result)
notices(choice, result)
if result is None:
    first_run(choice)
    st.stop()

hidden, axes = how.hidden, how.axes
drag.section("explore", choice, result, how)
if prepared.shows("verdict"):
    verdict.line(result, hidden=hidden)
current = result.identity == choice.form.asks_for(choice.data)
opened = links.opened("explore") if current else None
player("explore", result, hidden=hidden, axes=axes, opened=opened)
if embed.embedded():
    st.stop()
rows = len(result.data.X)
drawn = f" {MAX_PEOPLE} of {rows:,} rows are drawn; the run uses all of them."
st.html(markup.fooled(f"{on_screen(pane(result.trace).caution)}{drawn if hidden and rows > MAX_PEOPLE else ''}"))
centers.section("explore", result, hidden=hidden)
explain.section("explore", result, hidden=hidden)
with st.container(horizontal=True):
    takeaway.menu("explore", result, hidden=hidden, axes=axes)
    beside.menu("explore", result)
if prepared.shows("verdict"):
    quality.section(result, hidden=hidden)
moves.section(result)
coreset.section("explore", result, hidden=hidden, axes=axes)
local.section("explore", result, hidden=hidden, axes=axes)
