"""Bounds: declare the public facts about a visitor's file in the table of its columns."""

from pathlib import Path

import streamlit as st

from pages._ui.data import editor, files, kept
from pages._ui.explore.workspace.own import own
from pages._ui.frame import catalog, messages, shell
from pages._ui.frame.address import links
from pages._ui.frame.demo import refuse
from pages._ui.frame.inside.patches import stop

links.enter(__file__, own, has=("navigation",))
upload, chosen = files.shown(), catalog.chosen()
if upload is None:
    shell.strip(chosen.title, private=chosen.private)
else:
    shell.strip(Path(upload.table.name).stem, private=upload.private)
links.notice("bounds", own)
links.keep("bounds", own, private=True)
shell.title()
refuse()
if upload is None:
    st.info("You declare bounds for your own file; the samples come with theirs. Choose a file first.")
    kept.remembered()
    st.page_link("pages/data.py", label="Choose a file", icon=":material/upload_file:")
    stop()

facts = editor.editor(upload)
onward, page = ("Rehearse it", "plan") if upload.private else ("Explore it", "explore")
if st.button(onward, type="primary", disabled=facts is None) and facts is not None:
    try:
        editor.use(upload, facts)
    except ValueError as problem:
        messages.say("problem", str(problem))
        st.rerun()
    st.switch_page(f"pages/{page}.py")
