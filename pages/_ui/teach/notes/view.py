"""Show the picked lessons: their plan, notes, worksheets and deck; a class uses the same list."""

from __future__ import annotations

from urllib.parse import urljoin

import streamlit as st

from dpviz.escape import plain
from dpviz.lessons import LESSONS, Lesson, sheets
from dpviz.lessons.homework import MOST_NAME, file_name, notebook
from dpviz.lessons.plans import SLACK, plan_of, plans
from pages._ui.explore.workspace.explore import explore
from pages._ui.frame.address.deck import Deck, Slide
from pages._ui.frame.address.near import elsewhere
from pages._ui.frame.address.own_deck import keep
from pages._ui.frame.address.scene import Scene, write
from pages._ui.frame.prepared import locked
from pages._ui.learn import exhibits, progress
from pages._ui.learn.controls import PARTS, vocabulary
from pages._ui.learn.place import address
from pages._ui.teach.notes.controls import PICKED, SHOW

__all__ = ["deck_of", "form", "picked", "sheet"]

_OWN = f"explore?{write(Scene('explore', {'d': 'town', 'a': 'pe-means', 'e': 1.0}), explore)}"  # a first run to change


def picked() -> list[Lesson]:
    """Return the picked lessons in the order of the course; if none is picked, those of the shortest plan."""
    names = PICKED.held or plans()[0].lessons
    return [lesson for lesson in LESSONS.values() if lesson.name in names]


def form() -> str:
    """Show the list of lessons, the plans, and links to other pages; return the kind of sheet to show."""
    PICKED.draw()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for plan in plans():
            st.button(
                f"{plan.minutes} minutes", key=f"notes_plan_{plan.minutes}", on_click=_pick, args=(plan.lessons,),
                disabled=locked(PICKED.key), help=f"{len(plan.lessons)} lessons",
            )  # fmt: skip
        if st.button("Make the deck", key="notes_deck", icon=":material/slideshow:"):
            keep(deck_of(picked()))
            st.switch_page("pages/present.py")
        with st.popover("Homework", icon=":material/edit_note:"):
            _homework()
        st.page_link("pages/class.py", label="Teach it to a class", icon=":material/groups:", width="content")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        kind = SHOW.draw()
        progress.print_button()
    return str(kind)


def _homework() -> None:
    """Offer a notebook of tasks on a picked lesson, with numbers that follow from a student's name."""
    lessons = {lesson.name: f"{lesson.number} {lesson.title}" for lesson in picked()}
    name = st.selectbox("Lesson", list(lessons), format_func=lessons.__getitem__, key="notes_homework_lesson")
    student = st.text_input("Student", key="notes_homework_student", max_chars=MOST_NAME, autocomplete="off")
    st.caption("The numbers follow from the name. To check a folder: dpviz homework --check FOLDER")
    try:
        text = notebook(name, student) if student.strip() else ""
    except ValueError as problem:
        st.error(plain(str(problem)))
        return
    st.download_button(
        "Save the notebook", text, file_name(name, student), "application/x-ipynb+json", key="notes_homework_save",
        disabled=not text, on_click="ignore",
    )  # fmt: skip


def _pick(lessons: tuple[str, ...]) -> None:
    st.session_state[PICKED.key] = list(lessons)


def sheet(kind: str) -> None:
    """Show the plan, or the sheet of one lesson; in print, show the sheets of all picked lessons."""
    lessons = picked()
    if kind == "plan":
        st.html(_plan(lessons))
        return
    names = [lesson.name for lesson in lessons]
    at = st.segmented_control(
        "Lesson", names, default=names[0], required=True, key=f"notes_at_{' '.join(names)}",
        format_func=lambda name: f"{LESSONS[name].number} {LESSONS[name].title}",
    ) if len(names) > 1 else names[0]  # fmt: skip
    for lesson in lessons:
        words = _sheet(lesson, kind, plan_of(lessons).each)
        st.html(words if lesson.name == at else f'<div class="dp-paper">{words}</div>')


def _sheet(lesson: Lesson, kind: str, minutes: int) -> str:
    exhibit = exhibits.exhibit(lesson.name, 0)
    if kind == "worksheet":
        return sheets.worksheet(lesson, exhibit)
    base, _ = elsewhere(st.context.url or "")  # a printed sheet is read on other devices
    scenes = {words: urljoin(base, address(lesson.name, name)) for name, words in PARTS.items()}
    return sheets.notes(lesson, exhibit, minutes, {**scenes, "Explore": urljoin(base, _explored(lesson))})


def _staged(lesson: Lesson, step: int) -> str:
    """Return the address of the lesson's own picture at a step, as a slide shows it."""
    return f"learn?{write(Scene('learn', {'lesson': lesson.name, 'part': 'run'}, step=step), vocabulary)}"


def _explored(lesson: Lesson) -> str:
    return f"explore?{write(Scene('explore', lesson.explore), explore)}"


def _plan(lessons: list[Lesson]) -> str:
    links = {one.name: (address(one.name, "predict"), "Lesson") for one in lessons}
    links |= {"start": ("./", "Start"), "own": (_OWN, "Explore"), "play": ("class", "Class")}
    return sheets.plan(plan_of(lessons), lessons, links | {"limits": ("limits", "Limits")})


def deck_of(lessons: list[Lesson]) -> Deck:
    """Return the plan as a deck: for each lesson its own picture at the step that surprises, the talk as its notes."""
    plan, slides = plan_of(lessons), []
    for lesson in lessons:
        exhibit = exhibits.exhibit(lesson.name, 0)
        words = "\n".join(lesson.fill(sentence, exhibit) for sentence in lesson.talk)
        slides.append(Slide(lesson.title, _staged(lesson, exhibit.hint), words, 60 * (plan.each + SLACK)))
    join = "Open Class before the lecture, and join with a phone yourself."
    begin = Slide("One town, one Alex", "home", "Go through Start's screens with the class.", 60 * plan.start, "page")
    own = "Everybody opens Explore: which ε would you publish with, and which method finds every neighborhood?"
    end = (
        Slide("Runs of your own", _OWN, own, 60 * plan.own),
        Slide("Was I in?", "class", join, 60 * plan.play, "page"),
        Slide("What no promise covers", "limits", "What had the class not expected?", 60 * plan.limits, "page"),
    )
    shown = [slide for slide in (begin, *slides, *end) if slide.seconds]
    return Deck("Lessons: " + ", ".join(str(lesson.number) for lesson in lessons), tuple(shown))
