"""Learn: a glossary, and lessons that first ask, then run, then explain."""

from pathlib import Path

import streamlit as st

from pages._ui.frame import shell
from pages._ui.frame.address import links
from pages._ui.learn import course, parts
from pages._ui.learn.controls import vocabulary
from pages._ui.learn.place import here

links.enter(__file__, vocabulary, has=("panels", "navigation", "player"))
place = here()
lesson = place.lesson
shell.strip(*(("public samples",) if lesson is None else (lesson.data, lesson.methods)))
st.html(f"<style>{(Path(course.__file__).parent / 'learn.css').read_text()}</style>")
links.notice("learn", vocabulary)
links.keep("learn", vocabulary, entry=f"{lesson.name if lesson else ''} {place.part}")
if lesson is None:
    course.show(place)
else:
    parts.show(place)
