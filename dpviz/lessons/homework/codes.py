"""Write and read answer codes: one line that holds a student's answers to a lesson, in the app or on the static site.

The checksum finds slips of copying. It is no signature: whoever knows this page can write a code with any name and any
answers, so a code does not prove who answered, or when, or alone.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Sequence, Set
from functools import cache
from importlib.resources import files
from typing import Any

from dpviz.escape import line
from dpviz.lessons import LESSONS, SEEDS, Lesson, exhibit
from dpviz.lessons.homework.notebook import MOST_NAME, name_of
from dpviz.lessons.homework.tasks import MINOR
from dpviz.version import __version__

__all__ = ["answers", "code", "codes_in", "script"]

_MOST = 2_000  # maximum number of characters of a code
_CODE = re.compile(r"dpviz-answers(?:[\w.-]*[\w-])?", re.ASCII)
_WHOLE = re.compile(r"dpviz-answers\.([\w-]+)\.([0-9a-f]{8})", re.ASCII)


def code(lesson: str, draw: int, student: str, predicted: Set[int], tries: Sequence[Set[int]]) -> str:
    """Return the answer code of a lesson.

    Parameters
    ----------
    lesson, draw : the lesson's name, and the seed of its noise
    student : the name as given
    predicted : numbers of the options chosen before the run, counted from 0
    tries : one or two such answers given after the run

    Raises
    ------
    ValueError
        If the name is empty, too long or not printable.
    """
    record = {
        "lesson": lesson, "draw": draw, "student": name_of(student), "predicted": sorted(predicted),
        "tries": [sorted(one) for one in tries], "version": __version__,
    }  # fmt: skip
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()
    body = base64.urlsafe_b64encode(text).decode().rstrip("=")
    return f"dpviz-answers.{body}.{_sum(body)}"


@cache
def script() -> str:
    """Return the same as JavaScript: `answerCode(record)` of a record that holds all but the version."""
    text = (files(__package__) / "codes.js").read_text(encoding="utf-8")
    return f"const VERSION = {json.dumps(__version__)}, MOST_NAME = {MOST_NAME};\n{text}"


def _sum(body: str) -> str:
    """Return the FNV-1a hash of 32 bits of ASCII text, as 8 hexadecimal digits."""
    total = 0x811C9DC5
    for character in body.encode("ascii"):
        total = (total ^ character) * 0x01000193 % 2**32
    return f"{total:08x}"


def codes_in(text: str) -> list[str]:
    """Return all that looks like an answer code in a text."""
    return _CODE.findall(text)


def answers(given: str) -> tuple[str, str, list[tuple[str, str, str, str]], str]:
    """Return student, lesson, (task, answer, right, note) tuples, and what is wrong with the whole code, if anything.

    Right answers are computed again from lesson and draw.
    """
    whole = _WHOLE.fullmatch(given) if len(given) <= _MOST else None
    if whole is None or _sum(whole[1]) != whole[2]:
        return "", "", [], "this answer code was changed or is cut off"
    try:
        record = json.loads(base64.b64decode(whole[1] + "=" * (-len(whole[1]) % 4), b"-_", validate=True))
        student, lesson, version = (record[name] for name in ("student", "lesson", "version"))
        if not all(isinstance(one, str) for one in (student, lesson, version)):
            raise TypeError("not a text")
        about = LESSONS.get(lesson)
        problem = _foreign(student, about, version)
        if problem or about is None:
            return student, lesson, [], problem
        return student, lesson, _told(about, record), ""
    except (ValueError, KeyError, TypeError, RecursionError):
        return "", "", [], "no lesson of dpviz gives this answer code"


def _foreign(student: str, lesson: Lesson | None, version: str) -> str:
    """Return why a code is none of this version's lessons, "" if it may be one."""
    if not student or line(student, MOST_NAME) != student:
        return "dpviz writes no such name"
    if lesson is None:
        return "this lesson is unknown"
    if version.split(".")[:2] != MINOR.split("."):
        return f"made with dpviz {version}: check it with that version"
    return ""


def _told(lesson: Lesson, record: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """Return the rows of a code's prediction and of its last try; see `answers`.

    Raises
    ------
    ValueError
        If the lesson has no such draw, or cannot be answered like this.
    """
    draw, tries = record["draw"], [_options(lesson, one) for one in record["tries"]]
    predicted = _options(lesson, record["predicted"])
    if type(draw) is not int or draw not in SEEDS or len(tries) not in (1, 2):
        raise ValueError("no such draw or number of tries")
    right = _right(lesson.name, draw)
    if len(tries) == 2 and (tries[0] == tries[1] or tries[0] == right):
        raise ValueError("no second try follows a right answer, or repeats the first one")
    found = []
    second = "second try" * (len(tries) == 2)
    for task, answer, note in (("prediction", predicted, ""), ("afterwards", tries[-1], second)):
        shown = ", ".join(str(i + 1) for i in sorted(answer))
        found.append((task, shown, "yes" if answer == right else "no", note))
    return found


@cache
def _right(lesson: str, draw: int) -> frozenset[int]:
    """Return the options that the lesson's run with this draw makes right; a class shares few draws."""
    return exhibit(lesson, draw).right


def _options(lesson: Lesson, given: Any) -> frozenset[int]:
    """Return an answer as numbers of options.

    Raises
    ------
    ValueError
        If it is no answer to this lesson's question.
    """
    chosen = frozenset(given)
    if not all(type(one) is int and 0 <= one < len(lesson.options) for one in chosen):
        raise ValueError("no such option")
    if not chosen or len(chosen) != len(given) or (len(chosen) > 1 and not lesson.several):
        raise ValueError("not as many options as the question asks for")
    return chosen
