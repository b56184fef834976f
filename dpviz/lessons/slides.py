"""Draw lessons as slides of a deck."""

from __future__ import annotations

import html
from collections.abc import Mapping

from dpviz.figures.kit.theme import SLOTS
from dpviz.lessons import LESSONS, drawn, exhibit, legend, limits_in_short
from dpviz.lessons.plans import SLACK, Lecture
from dpviz.takeaway.deck import Picture, Shown

__all__ = ["of_plan", "picture", "table"]


def picture(name: str, seed: int) -> Picture:
    """Return the first plane of a lesson, step by step."""
    lesson, there = LESSONS[name], exhibit(name, seed)
    plane = next(panel for panel in drawn(name, there, SLOTS) if panel.name == "plane")
    words = {"small": lesson.fill(lesson.question, there), "promise": "made-up people"}
    return Picture.of(plane, there.titles, legend(name), **words)


def table(lines: Mapping[str, str]) -> str:
    """Return lines with names as an HTML table."""
    rows = "".join(
        f"<tr><th scope=row>{html.escape(name)}</th><td>{html.escape(words)}</td></tr>" for name, words in lines.items()
    )
    return f"<table><tbody>{rows}</tbody></table>"


def of_plan(plan: Lecture) -> list[Shown]:
    """Return the slides of a plan's lessons, each at the step that surprises, and one on what no promise covers."""
    made = []
    for name in plan.lessons:
        lesson, there = LESSONS[name], exhibit(name, 0)
        talk = "\n".join(lesson.fill(sentence, there) for sentence in lesson.talk)
        made.append(Shown(lesson.title, picture(name, 0), talk, 60 * (plan.each + SLACK), there.hint))
    limits = Picture("", "", ("Limits says each of these at length.",), html=table(limits_in_short()))
    return [*made, Shown("What no promise covers", limits, "What had the class not expected?", 60 * plan.limits)]
