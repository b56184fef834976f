"""For teachers: the plans of lectures, and a worksheet and notes for each lesson, each to be printed on its own."""

from __future__ import annotations

import html

from dpviz import lessons
from dpviz.lessons import LESSONS, Lesson, sheets, slides
from dpviz.lessons.plans import plans
from dpviz.takeaway.deck import deck

from . import story, watch, words
from .folder import Folder
from .lessons import SEED, address
from .shell import Shell, aliases, link

__all__ = ["HOME", "add"]

HOME, DECK = "teach/index.html", "teach/deck.html"


def add(folder: Folder, shell: Shell) -> None:
    """Add a page with all plans and a list of sheets, and a page for each sheet."""
    offered = "".join(sheets.plan(plan, [LESSONS[name] for name in plan.lessons], _links()) for plan in plans())
    listed = "".join(
        f"<tr><td>{one.number}. {html.escape(one.title)}</td>"
        f'<td><a href="{link(HOME, _sheet("worksheet", one))}">Worksheet</a></td>'
        f'<td><a href="{link(HOME, _sheet("notes", one))}">Teacher\'s notes</a></td></tr>'
        for one in LESSONS.values()
    )
    body = (
        "<h1>Teach</h1><p class=lede>Plans of a lecture, and a worksheet and notes for each lesson. Each sheet prints "
        f'on its own. The shortest plan has <a href="{link(HOME, DECK)}">a deck of slides</a>, which shows full screen '
        "and prints one slide a page. Other decks, a class with phones and homework need the app: "
        f'<a href="{link(HOME, words.RUN)}">run it yourself</a>.</p>{offered}<h2>Sheets</h2><table>{listed}</table>'
    )
    folder.put(HOME, shell.page(HOME, "Teach", body, head=_style()))
    shortest = plans()[0]
    folder.put(DECK, deck(f"Lessons in {shortest.minutes} minutes", slides.of_plan(shortest)))
    for lesson in LESSONS.values():
        exhibit = lessons.exhibit(lesson.name, SEED)
        for kind, title in (("worksheet", "Worksheet"), ("notes", "Teacher's notes")):
            here = _sheet(kind, lesson)
            pages = {"The lesson": link(here, address(lesson))}
            sheet = (
                sheets.worksheet(lesson, exhibit)
                if kind == "worksheet"
                else sheets.notes(lesson, exhibit, lesson.minutes, pages)
            )
            folder.put(here, shell.page(here, f"{title}: {lesson.number}. {lesson.title}", sheet, head=_style()))


def _sheet(kind: str, lesson: Lesson) -> str:
    return f"teach/{lesson.number}-{lesson.name}-{kind}.html"


def _links() -> dict[str, tuple[str, str]]:
    """Return where each part of a lecture is found."""
    links = {one.name: (link(HOME, address(one)), "Lesson") for one in LESSONS.values()}
    links |= {"start": (link(HOME, story.HOME), "Start"), "own": (link(HOME, watch.HOME), "Watch")}
    return links | {"play": (link(HOME, words.RUN), "In the app"), "limits": (link(HOME, words.LIMITS), "Limits")}


def _style() -> str:
    page = "td a{white-space:nowrap}@media print{.site{display:none}}"
    return f"<style>.dp-sheet{{{aliases()}}}{sheets.style()}{page}</style>"
