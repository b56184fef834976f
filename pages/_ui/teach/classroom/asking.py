"""Ask a class a question, the lecturer's or a lesson's, and show the answers."""

from __future__ import annotations

from collections.abc import Collection

import streamlit as st

from dpviz.escape import plain
from dpviz.lessons import LESSONS
from pages._ui.frame import markup
from pages._ui.learn import exhibits
from pages._ui.learn.picture import LESSON_FIGURES, Look, picture, planes
from pages._ui.learn.place import Spot
from pages._ui.teach.classroom import maps
from pages._ui.teach.classroom.joining import LIVE
from pages._ui.teach.classroom.room import Classroom, Poll
from pages._ui.teach.notes.view import picked

__all__ = ["lesson", "predict"]

QUESTION = "How many of the groups on the map will get a center?"
OPTIONS = ("none", "one", "two", "three", "four", "all of them")
PARTS = {"predict": "Predict", "run": "Run", "again": "Reconsider", "answer": "Answer"}


def predict(room: Classroom, base: str) -> None:
    """Let the lecturer write a question, and show the phones' answers."""
    question = Poll("", ()) if room.question.lesson else room.question
    with st.expander("The question", expanded=not question.options):
        text = st.text_input("Question", question.text or QUESTION, key="class_question", max_chars=200)
        lines = st.text_area("Answers, one per line", "\n".join(question.options or OPTIONS), key="class_options")
        if st.button("Ask it", type="primary", key="class_ask"):
            try:
                room.ask(text, lines.splitlines())
                st.rerun()
            except ValueError as problem:
                st.error(plain(str(problem)))
    if question.options:
        st.header(plain(question.text))
        st.fragment(_answers, run_every=LIVE)(room)


def _answers(room: Classroom) -> None:
    answers = room.answers()
    st.html(maps.bars(answers, _truth(room), word="right" if answers.question.lesson else "what happened"))


def _truth(room: Classroom) -> Collection[int]:
    """Return the right answers: a lesson's at its end, the first question's once there is a run, otherwise none."""
    run, asked = room.run, room.question
    if asked.lesson:
        return asked.right if room.part == "answer" else ()
    if run is None or (asked.text, asked.options) != (QUESTION, OPTIONS):
        return ()
    return [len(OPTIONS) - 1 if run.groups_found == run.groups else min(run.groups_found, len(OPTIONS) - 2)]


def lesson(room: Classroom, base: str) -> None:
    """Lead the class through a lesson: it predicts on phones, the run answers, and the phones show who was right."""
    names = [lesson.name for lesson in picked()]
    before = room.question.lesson if room.question.lesson in names else names[0]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.segmented_control(
            "Lesson", names, default=before, required=True, key="class_lesson",
            label_visibility="collapsed",
            format_func=lambda one: f"{LESSONS[one].number} {LESSONS[one].title}",
        )  # fmt: skip
        new = name != room.question.lesson
        part = st.segmented_control(
            "Part", list(PARTS), default="predict" if new else room.part, required=True,
            key=f"class_part_{str(name)}", format_func=PARTS.__getitem__, label_visibility="collapsed",
        )  # fmt: skip
        st.page_link("pages/notes.py", label="Other lessons", icon=":material/checklist:", width="content")
    lesson, exhibit = LESSONS[str(name)], exhibits.exhibit(str(name), 0)

    def fill(text: str) -> str:
        return lesson.fill(text, exhibit)

    replies = tuple(fill(option.reply) for option in lesson.options)
    options = tuple(fill(option.text) for option in lesson.options)
    question = Poll(
        fill(lesson.question), options, lesson=lesson.name, several=lesson.several, right=exhibit.right,
        replies=() if lesson.several else replies, task=fill(lesson.task), keep=fill(lesson.keep),
    )  # fmt: skip
    room.teach(question, str(part))
    place = Spot(lesson, str(part))
    with st.container(key=LESSON_FIGURES):
        words, plane = st.columns([2, 3] if planes(place) > 1 else [6, 5], gap="large")
        with words:
            paragraph = {"predict": lesson.setting, "answer": lesson.explain}.get(str(part), lesson.task)
            above, below = st.container(), st.container()
            with below if part == "answer" else above:  # who was right comes before why
                st.html(f'<p class="dp-said">{markup.escape(fill(paragraph))}</p>')
            with above:
                st.header(plain(question.text))
                st.fragment(_answers, run_every=LIVE)(room)
        with plane:
            start = exhibit.hint if part == "answer" else exhibit.first
            picture(place, exhibit, Look(start, still=part == "predict", projected=True))
