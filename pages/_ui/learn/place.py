"""Where somebody is in the course: lesson, part, answers, draw of the noise; in the session and in an address."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from dpviz.lessons import LESSONS, SEEDS, Lesson
from dpviz.params import ParamSpec
from pages._ui.address import links
from pages._ui.address.scene import Control, Scene, number, write
from pages._ui.frame import keys

__all__ = ["COURSE", "PARTS", "SHEETS", "TRIES", "Place", "address", "answer", "go", "here", "vocabulary"]

PARTS = {"predict": "Predict", "run": "Run", "explain": "Explain", "keep": "Keep"}
SHEETS = {"worksheet": "Worksheet", "notes": "Teacher's notes"}
COURSE = {"lessons": "Lessons", "glossary": "Glossary", **SHEETS}
TRIES = 2


@dataclasses.dataclass(frozen=True)
class Place:
    """A place in the course; an answer is the set of option numbers, counted from 0."""

    lesson: Lesson | None
    part: str
    answers: tuple[frozenset[int], ...] = ()
    seed: int = 0


def vocabulary(known: Mapping[str, Any]) -> Sequence[Control]:
    """The lesson first; its parts, answers and draw follow from it."""
    found = [Control("lesson", keys.LEARN_LESSON, "lesson", _choice(("", *LESSONS)))]
    if "lesson" not in known:
        return found
    lesson = LESSONS.get(known["lesson"])
    if lesson is None:
        return [*found, Control("part", keys.LEARN_PART, "part", _choice(tuple(COURSE)))]
    return [
        *found,
        Control("part", keys.LEARN_PART, "part", _choice((*PARTS, *SHEETS)), always=True),
        Control(
            "answer", keys.LEARN_ANSWER(lesson.name), "answer", ParamSpec(()), many=True, most=TRIES,
            accepts=partial(_answer, lesson),
        ),
        Control("s", keys.LEARN_SEED(lesson.name), "draw of the noise", number(0, 0, SEEDS[-1])),
    ]  # fmt: skip


def _choice(choices: tuple[str, ...]) -> ParamSpec:
    return ParamSpec(choices[0], choices=choices, kind="choice")


def _answer(lesson: Lesson, text: str) -> str:
    """Return an answer as an address has it: the options' digits, counted from 1, in order."""
    numbers = [ord(digit) - ord("1") for digit in text[:10]]
    if not numbers or numbers != sorted(set(numbers)) or not 0 <= numbers[0] <= numbers[-1] < len(lesson.options):
        raise ValueError("no answer")
    if len(text) != len(numbers) or (len(numbers) > 1 and not lesson.several):
        raise ValueError("no answer")
    return text


def here() -> Place:
    """Return where the session is."""
    values = links.now("learn", vocabulary).values
    if not values["lesson"]:
        return Place(None, values["part"])
    answers = tuple(frozenset(int(digit) - 1 for digit in text) for text in values["answer"])
    return Place(LESSONS[values["lesson"]], values["part"], answers, values["s"])


def go(lesson: str, part: str) -> None:
    """Go to a part of a lesson, or with "" of the course."""
    st.session_state[keys.LEARN_LESSON], st.session_state[keys.LEARN_PART] = lesson, part


def answer(lesson: Lesson, answers: Sequence[frozenset[int]]) -> None:
    """Keep the answers to a lesson's question, first try first."""
    texts = ["".join(str(i + 1) for i in sorted(one)) for one in answers]
    st.session_state[keys.LEARN_ANSWER(lesson.name)] = list(dict.fromkeys(filter(None, texts)))


def address(lesson: str, part: str) -> str:
    """Return the address of a part, without what the visitor has answered."""
    return f"learn?{write(Scene('learn', {'lesson': lesson, 'part': part}), vocabulary)}"
