"""Declare Learn's controls: the lesson, its part, the answers and the draw of the noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from dpviz.lessons import LESSONS, SEEDS, Lesson
from dpviz.params import ParamSpec
from pages._ui.frame.address.control import Control, number

LEARN_LESSON = "learn_lesson"
LEARN_PART = "learn_part"
LEARN_ANSWER = "learn_answer_{}".format
LEARN_SEED = "learn_seed_{}".format

PARTS = {"predict": "Predict", "run": "Run", "explain": "Explain", "keep": "Keep"}
COURSE = {"lessons": "Lessons", "definition": "The definition", "glossary": "Glossary"}
TRIES = 2


def vocabulary(known: Mapping[str, Any]) -> Sequence[Control]:
    """Return the controls; the lesson comes first, because the parts, answers and draw depend on the lesson."""
    listed = [Control("lesson", LEARN_LESSON, "lesson", _choice(("", *LESSONS)))]
    if "lesson" not in known:
        return listed
    lesson = LESSONS.get(known["lesson"])
    if lesson is None:
        return [*listed, Control("part", LEARN_PART, "part", _choice(tuple(COURSE)))]
    return [
        *listed,
        Control("part", LEARN_PART, "part", _choice(tuple(PARTS)), always=True),
        Control(
            "answer", LEARN_ANSWER(lesson.name), "answer", ParamSpec(()), many=True, most=TRIES,
            accepts=partial(_answer, lesson),
        ),
        Control("s", LEARN_SEED(lesson.name), "draw of the noise", number(0, 0, SEEDS[-1])),
    ]  # fmt: skip


def _choice(choices: tuple[str, ...]) -> ParamSpec:
    return ParamSpec(choices[0], choices=choices, kind="choice")


def _answer(lesson: Lesson, text: str) -> str:
    """Check an answer in an address (the options' numbers, counted from 1, in order), and return it."""
    numbers = [ord(digit) - ord("1") for digit in text[:10]]
    if not numbers or numbers != sorted(set(numbers)) or not 0 <= numbers[0] <= numbers[-1] < len(lesson.options):
        raise ValueError("no answer")
    if len(text) != len(numbers) or (len(numbers) > 1 and not lesson.several):
        raise ValueError("no answer")
    return text
