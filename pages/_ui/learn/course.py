"""The course: its lessons as a path, the glossary, and all sheets to print."""

from __future__ import annotations

from urllib.parse import urljoin

import streamlit as st

from dpviz.lessons import LESSONS, Lesson, glossary, sheets
from pages._ui.address.scene import Scene, write
from pages._ui.frame import keys, markup, shell
from pages._ui.learn import progress, stage_cache
from pages._ui.learn.controls import COURSE, PARTS
from pages._ui.learn.place import Place, address, go
from pages._ui.workspace.explore import explore

__all__ = ["sheet", "show"]


def show(place: Place) -> None:
    """Show a part of the course itself."""
    shell.title()
    st.html(
        markup.lede(
            f"{len(LESSONS)} lessons, a few minutes each. Predict, run, explain, keep: what you did "
            "not predict, you do not notice."
        )
    )
    with st.container(key=keys.COURSE_PARTS, horizontal=True, gap="small"):
        for name, words in COURSE.items():
            st.button(
                words, key=keys.COURSE_PART(name), on_click=go, args=("", name),
                type="primary" if name == place.part else "secondary",
            )  # fmt: skip
        st.page_link("pages/class.py", label="Open a class", icon=":material/groups:", width="content")
    if place.part == "lessons":
        _path()
    elif place.part == "glossary":
        st.html(markup.definitions(glossary().items()))
    else:
        progress.print_button()
        for lesson in LESSONS.values():
            _sheet(lesson, place.part, 0)


def _path() -> None:
    stage_cache.ahead(next(iter(LESSONS)), 0)
    for lesson in LESSONS.values():
        with st.container(key=keys.STONE(lesson.name), horizontal=True, vertical_alignment="center", gap="medium"):
            st.html(
                f'<div class="dp-stone" data-lesson="{lesson.name}"><b class="n">{lesson.number}</b><div>'
                f"<h2>{markup.escape(lesson.title)}</h2><p>{markup.escape(lesson.promise)}</p></div>"
                f'<span class="state"></span><span class="time">{lesson.minutes} min</span></div>',
                width="stretch",
            )
            st.button(
                "Start", key=keys.START(lesson.name), on_click=go, args=(lesson.name, "predict"), type="secondary",
                help=lesson.title,
            )  # fmt: skip
    progress.shown()


def sheet(place: Place) -> None:
    """Show one lesson's sheet."""
    lesson = place.lesson
    assert lesson is not None
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button("Back to the lesson", key=keys.LESSON_BACK, shortcut="B", on_click=go, args=(lesson.name, "predict"))
        progress.print_button()
    _sheet(lesson, place.part, place.seed)


def _sheet(lesson: Lesson, part: str, seed: int) -> None:
    stage = stage_cache.stage(lesson.name, seed)
    if part == "worksheet":
        st.html(sheets.worksheet(lesson, stage))
        return
    base = st.context.url or ""
    scenes = {words: urljoin(base, address(lesson.name, name)) for name, words in PARTS.items()}
    explored = f"explore?{write(Scene('explore', lesson.explore), explore)}"
    st.html(sheets.notes(lesson, stage, {**scenes, "Explore": urljoin(base, explored)}))
