"""Spend: the cost of a run on a private file, and the one button that pays it."""

import streamlit as st

from pages._ui.data import kept
from pages._ui.data.plan import asking
from pages._ui.data.plan.spending import card
from pages._ui.explore.workspace.own import own
from pages._ui.frame import catalog, shell
from pages._ui.frame.address import links
from pages._ui.frame.demo import refuse
from pages._ui.work import private, results, runs

links.enter(__file__, own, has=("navigation",))
data = catalog.chosen()
shell.strip(data.title, private=data.private)
links.notice("spend", own)
links.keep("spend", own, private=True)
shell.title()
refuse()
algorithm = private.waiting(data)
runs.progress()
if not data.private:
    st.info("No private file is open, and runs on public data spend nothing.")
    kept.remembered()
    st.page_link("pages/data.py", label="Choose a file", icon=":material/upload_file:")
elif runs.paid():
    st.info("A run on this file is in progress and already booked; Watch shows what it releases.")
elif algorithm is None and any(run.data.dataset_id == data.dataset_id for run in results.history()):
    st.info("The last run on this file is booked and released, and no other run is waiting. Nothing is spent twice.")
    st.page_link("pages/explore.py", label="See the result on Watch", icon=":material/scatter_plot:")
    st.page_link("pages/account.py", label="See the claim in the account", icon=":material/receipt_long:")
elif algorithm is None:
    st.info("No run is chosen. Choose the number of centers and ε on Rehearse first; nothing is read or spent there.")
    st.page_link("pages/plan.py", label="Rehearse", icon=":material/play_circle:")
else:
    card(data, algorithm)
if data.private and not runs.paid():
    asking.section(data)
