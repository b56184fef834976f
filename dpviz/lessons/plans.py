"""Plan a lecture: its lessons, the minutes for each, and the parts before and after them."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from dpviz.lessons.lesson import Lesson

__all__ = ["SLACK", "Lecture", "plan_of", "plans"]

SLACK = 1  # minutes after each lesson, for questions and for what takes longer


@dataclasses.dataclass(frozen=True)
class Lecture:
    """A lecture.

    Attributes
    ----------
    minutes : length of the whole lecture
    start, play, limits : minutes for Start, for a class with phones, and for the limits of the promise
    own : minutes in which everybody makes runs of their own
    lessons : names of the lessons, in order; they share the remaining minutes, `SLACK` of each for questions
    """

    minutes: int
    start: int
    play: int
    limits: int
    lessons: tuple[str, ...]
    own: int = 0

    @property
    def each(self) -> int:
        """Return the length of a lesson in minutes, without its slack."""
        return (self.minutes - self.start - self.own - self.play - self.limits) // max(len(self.lessons), 1) - SLACK


@cache
def plans() -> tuple[Lecture, ...]:
    """Return the plans that are offered, the shortest first."""
    entries = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["plans"]
    return tuple(Lecture(**{**one, "lessons": tuple(one["lessons"])}) for one in entries)


def plan_of(lessons: Sequence[Lesson]) -> Lecture:
    """Return the plan for these lessons: an offered plan, or a new one that gives each lesson its own minutes."""
    names, begin = tuple(lesson.name for lesson in lessons), plans()[0]
    minutes = sum(lesson.minutes for lesson in lessons) + begin.start + begin.limits
    own = dataclasses.replace(begin, minutes=minutes, lessons=names)
    return next((plan for plan in plans() if plan.lessons == names), own)
