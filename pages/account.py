"""Account: the budget that a private file has spent over all runs, the rest of its total, and each release."""

import streamlit as st

from pages._ui.data import kept, key_file
from pages._ui.data.account import following, view
from pages._ui.explore.workspace.own import own
from pages._ui.frame import catalog, shell
from pages._ui.frame.address import links
from pages._ui.frame.demo import refuse
from pages._ui.frame.inside.patches import stop

links.enter(__file__, own, has=("navigation",))
data = catalog.chosen()
shell.strip(data.title, private=data.private)
links.notice("account", own)
links.keep("account", own, private=True)
shell.title()
refuse()
if not data.private:
    st.info("No private file is open, and public data need no account: only runs on a private file add up.")
    kept.remembered()
    st.page_link("pages/data.py", label="Choose a file", icon=":material/upload_file:")
    key_file.offer()
    view.example(data)
    stop()
following.both(data)
view.account(data)
following.section(data)
view.releases(data)
