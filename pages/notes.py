"""Notes: one list of picked lessons for the plan, the notes, the worksheets, the deck and a class."""

from pathlib import Path

import streamlit as st

from dpviz.lessons import sheets
from pages._ui.frame import markup, shell
from pages._ui.frame.address import links
from pages._ui.learn import course
from pages._ui.teach.notes import view
from pages._ui.teach.notes.controls import notes

links.enter(__file__, notes)
shell.strip(data="public samples")
st.html(f"<style>{(Path(course.__file__).parent / 'learn.css').read_text()}{sheets.style()}</style>")
links.notice("notes", notes)
shell.title()
st.html(
    markup.lede("Pick the lessons. The plan, notes, worksheets, deck and your class's phones all follow your choice.")
)
view.sheet(view.form())
links.keep("notes", notes)
