"""A lesson: text with gaps in a TOML file, and a run that fills them. Every number in a lesson is computed."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Any

__all__ = ["SEEDS", "Lesson", "Option", "Exhibit", "read", "unbroken"]

SEEDS = range(8)  # seeds of the noise that a lesson can show


@dataclasses.dataclass(frozen=True)
class Option:
    """One answer to choose from.

    Attributes
    ----------
    text : the answer
    reply : the reply to somebody who chose the answer, with gaps; "" if the question has several right answers
    """

    text: str
    reply: str = ""


@dataclasses.dataclass(frozen=True, eq=False)
class Exhibit:
    """What a lesson shows for one draw of the noise: its picture and numbers.

    Attributes
    ----------
    facts : numbers and short words that fill the gaps in the lesson's words, computed from the run
    titles : the sentence at every frame; the part before " · " is set in bold
    right : numbers of the options that the facts make right, counted from 0
    first : the frame that is shown as a still picture beside the question
    hint : the frame that shows the answer
    runs : the runs and data from which the lesson's pictures are drawn
    """

    facts: Mapping[str, Any]
    titles: tuple[str, ...]
    right: frozenset[int]
    first: int
    hint: int
    runs: Any


@dataclasses.dataclass(frozen=True)
class Lesson:
    """The text of a lesson; entries marked * have gaps that the facts of an exhibit fill.

    Attributes
    ----------
    name : word that stands for the lesson in an address
    number : place of the lesson in the course, counted from 1
    title : name of the lesson in the list of lessons; its gaps are filled by facts that hold for every draw
    promise : question of the lesson in the list of lessons
    data : name of the public sample that the lesson shows
    methods : names of the algorithms that the lesson shows
    question, task, keep : * the question before the run, what to look for in the run, what to remember
    setting, hint, explain, fool : * the scene, where to look, the explanation, how the picture can mislead
    options : * the possible answers
    several : whether several options may be right
    definition : whether the lesson ends with the picture of the definition (`figures/scenes/definition.py`)
    minutes : length of the lesson in a class
    goal, talk, errors : for the teacher: the goal, * what to say, likely wrong answers and the reasons behind them
    terms : words of the glossary that the lesson uses
    explore : the scene of Explore with which to continue: a mapping from the words of its address to values
    """

    name: str
    number: int
    title: str
    promise: str
    data: str
    methods: str
    setting: str
    question: str
    options: tuple[Option, ...]
    task: str
    hint: str
    explain: str
    keep: str
    fool: str
    goal: str
    talk: tuple[str, ...]
    errors: tuple[str, ...]
    terms: tuple[str, ...]
    explore: Mapping[str, Any]
    minutes: int = 5
    several: bool = False
    definition: bool = False

    def fill(self, words: str, exhibit: Exhibit) -> str:
        """Return text filled with an exhibit's facts, without line breaks between a number and its symbol or unit."""
        return unbroken(words.format_map(exhibit.facts))

    def is_right(self, answer: Sequence[int], exhibit: Exhibit) -> bool:
        """Return whether an answer (option numbers, counted from 0) names all right options and no others."""
        return frozenset(answer) == exhibit.right

    def reply(self, answer: Set[int], exhibit: Exhibit) -> str:
        """Return the reply to an answer: why it is right or wrong; if several options may be right, how near it is."""
        if not self.several:
            return self.fill(self.options[min(answer)].reply, exhibit)
        right, wrong = len(answer & exhibit.right), len(answer - exhibit.right)
        more = f", and {wrong} wrong one{'s' * (wrong != 1)} marked" if wrong else ""
        return f"{right} of {len(exhibit.right)} right answers found{more}."

    def verdict(self, tries: Sequence[Set[int]], exhibit: Exhibit) -> str:
        """Return a word or two on the last of one or two tries."""
        if not self.is_right(tuple(tries[-1]), exhibit):
            return "Not quite."
        return "Right." if len(tries) == 1 else "Right, on the second try."


def unbroken(words: str) -> str:
    """Return text without line breaks between a number and its symbol or unit."""
    return re.sub(r"(?<=\b[δεμρ]) (?=\d)|(?<=\d) (?=k?m\b)", "\N{NO-BREAK SPACE}", words)


def read(path: Path) -> Lesson:
    """Read a lesson's text; the file is named NUMBER-NAME.toml.

    Raises
    ------
    ValueError
        If the file's name has another format, or an entry is missing or unknown.
    """
    number, _, name = path.stem.partition("-")
    record = tomllib.loads(path.read_text(encoding="utf-8"))
    try:
        options = tuple(Option(**option) for option in record.pop("options"))
        lists: dict[str, Any] = {key: tuple(record.pop(key)) for key in ("talk", "errors", "terms")}
        words = {key: _one_line(value) for key, value in record.items()}
        return Lesson(**{"name": name, "number": int(number), "options": options, **lists, **words})
    except (KeyError, TypeError, ValueError) as problem:
        raise ValueError(f"lessons: {path.name} is not a lesson: {problem}.") from None


def _one_line(value: Any) -> Any:
    """Return text with its line breaks, which only serve the editor of the file, replaced by spaces."""
    return re.sub(r"\s+", " ", value).strip() if isinstance(value, str) else value
