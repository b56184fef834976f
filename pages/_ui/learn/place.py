"""Hold a visitor's place in the course (lesson, part, answers, draw of the noise) in the session and in an address."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import streamlit as st

from dpviz.lessons import LESSONS, SEEDS, Lesson
from pages._ui.frame.address import links
from pages._ui.frame.address.scene import Scene, write
from pages._ui.learn.controls import LEARN_ANSWER, LEARN_LESSON, LEARN_PART, LEARN_SEED, vocabulary

__all__ = ["Spot", "address", "answer", "draw_again", "go", "here"]


@dataclasses.dataclass(frozen=True)
class Spot:
    """A place in the course; each answer is a set of option numbers, counted from 0."""

    lesson: Lesson | None
    part: str
    answers: tuple[frozenset[int], ...] = ()
    seed: int = 0


def here() -> Spot:
    """Return the session's place."""
    values = links.now("learn", vocabulary).values
    if not values["lesson"]:
        return Spot(None, values["part"])
    answers = tuple(frozenset(int(digit) - 1 for digit in text) for text in values["answer"])
    return Spot(LESSONS[values["lesson"]], values["part"], answers, values["s"])


def go(lesson: str, part: str) -> None:
    """Go to a part of a lesson or, if the lesson is "", to a part of the course."""
    st.session_state[LEARN_LESSON], st.session_state[LEARN_PART] = lesson, part


def answer(lesson: Lesson, answers: Sequence[frozenset[int]]) -> None:
    """Store the answers to a lesson's question, in the order of the tries."""
    texts = ["".join(str(i + 1) for i in sorted(one)) for one in answers]
    st.session_state[LEARN_ANSWER(lesson.name)] = list(dict.fromkeys(filter(None, texts)))


def draw_again(place: Spot) -> None:
    """Show the same lesson with the next draw of the noise."""
    assert place.lesson is not None
    st.session_state[LEARN_SEED(place.lesson.name)] = (place.seed + 1) % len(SEEDS)


def address(lesson: str, part: str) -> str:
    """Return the address of a part, without the visitor's answers."""
    return f"learn?{write(Scene('learn', {'lesson': lesson, 'part': part}), vocabulary)}"
