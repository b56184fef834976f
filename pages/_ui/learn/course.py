"""Show the course: its lessons as a path that ends with the limits of the promise, and the glossary."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpviz.lessons import LESSONS, glossary
from dpviz.privacy.delta import meaning
from pages._ui.frame import markup, shell
from pages._ui.learn import definition, exhibits, progress
from pages._ui.learn.controls import COURSE
from pages._ui.learn.place import Spot, go

__all__ = ["show"]


def show(place: Spot) -> None:
    """Show a part of the course that belongs to no lesson."""
    shell.title()
    words = (
        f"{len(LESSONS)} lessons of a few minutes each, and a last page on what no promise covers. In each lesson you "
        "predict, run, explain, and keep a sentence. Without a prediction, a surprise goes unnoticed."
    )
    if place.part == "definition":
        words = f"The definition: {meaning()}. Drag ε and δ, and see what they say about one release."
    st.html(markup.lede(words))
    with st.container(key="course_parts", horizontal=True, vertical_alignment="center", gap="small"):
        for name, words in COURSE.items():
            st.button(
                words, key=f"course_{name}", on_click=go, args=("", name),
                type="primary" if name == place.part else "secondary",
            )  # fmt: skip
        st.page_link("pages/class.py", label="Open a class", icon=":material/groups:", width="content")
        st.page_link("pages/notes.py", label="Notes and worksheets", icon=":material/print:", width="content")
    if place.part == "lessons":
        _path()
    elif place.part == "definition":
        definition.show()
    else:
        st.html(markup.definitions(glossary().items()))


def _path() -> None:
    for name in LESSONS:  # made once per server, so that no lesson opens with an empty picture
        exhibits.ahead(name, 0)
    for lesson in LESSONS.values():
        with _stone(lesson.name, lesson.number, lesson.title, lesson.promise, f"{lesson.minutes} min"):
            st.button(
                "Start", key=f"start_{lesson.name}", on_click=go, args=(lesson.name, "predict"), type="secondary",
                help=lesson.title,
            )  # fmt: skip
    with _stone("limits", len(LESSONS) + 1, "What no promise covers", "Where the promise ends, page by page.", ""):
        st.page_link("pages/limits.py", label="Read", width="content")
    progress.shown()


def _stone(name: str, number: int, title: str, promise: str, time: str) -> DeltaGenerator:
    """Draw a lesson's line in the path, and return it with room for a link."""
    line = st.container(key=f"stone_{name}", horizontal=True, vertical_alignment="center", gap="medium")
    line.html(
        f'<div class="dp-stone" data-lesson="{name}"><b class="n">{number}</b><div><h2>{markup.escape(title)}</h2>'
        f'<p>{markup.escape(promise)}</p></div><span class="state"></span><span class="time">{time}</span></div>',
        width="stretch",
    )
    return line
