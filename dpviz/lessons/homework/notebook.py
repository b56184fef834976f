"""Write the homework of a lesson as a notebook, which needs nothing but dpviz and NumPy to run."""

from __future__ import annotations

import re
from typing import Any

from dpviz.escape import line, plain
from dpviz.lessons import LESSONS
from dpviz.lessons.homework.tasks import MINOR, Task, tasks
from dpviz.takeaway.code import as_notebook, code_cell, markdown_cell
from dpviz.version import __version__

__all__ = ["KEY", "MOST_NAME", "cells", "file_name", "name_of", "notebook"]

KEY = "dpviz"  # metadata of a notebook that hold lesson, student and version
MOST_NAME = 100  # maximum number of characters in a student's name


def cells(lesson: str, student: str) -> list[dict[str, Any]]:
    """Return the cells: an introduction, and for each task a question, given numbers, an answer and a check."""
    given = LESSONS[lesson]
    made = [
        markdown_cell(
            f"# {given.number}. {plain(given.title)}\n\nHomework of {plain(student)}, dpviz {MINOR}. The numbers "
            "are yours alone. Write each answer as a value, such as `answer_1 = 2.5`, and run the cell below it: it "
            "says what is wrong. Change no other cell."
        )
    ]
    for number, task in enumerate(tasks(lesson, student), 1):
        made += [
            markdown_cell(f"## Task {number}\n\n{task.text}"),
            code_cell(_given(task)),
            code_cell(f"answer_{number} = None"),
            code_cell(
                f"answer = answer_{number}\nassert answer is not None, 'write your answer in the cell above'\n"
                f"{task.check}\nprint('Nothing wrong is found here.')"
            ),
        ]
    return made


def _given(task: Task) -> str:
    numbers = "\n".join(f"{name} = {value!r}" for name, value in task.given.items())
    return f"{task.code}{numbers}" or "# nothing is given"


def notebook(lesson: str, student: str) -> str:
    """Return a student's homework for a lesson as a Jupyter notebook.

    Raises
    ------
    ValueError
        If there is no such lesson, or the name is empty, too long or not printable.
    """
    if lesson not in LESSONS:
        raise ValueError(f"homework: there is no lesson {lesson[:40]!r}; choose among {', '.join(LESSONS)}.")
    name = name_of(student)
    return as_notebook(cells(lesson, name), **{KEY: {"lesson": lesson, "student": name, "version": __version__}})


def name_of(student: str) -> str:
    """Return a student's name with single spaces.

    Raises
    ------
    ValueError
        If it is empty, too long or not printable.
    """
    name = " ".join(student.split())
    if not 0 < len(name) <= MOST_NAME or line(name) != name:
        raise ValueError(f"homework: a student's name has 1 to {MOST_NAME} printable characters.")
    return name


def file_name(lesson: str, student: str) -> str:
    """Return the name of the notebook's file, in which a student's name names no folder and no option."""
    words = re.sub(r"[^\w]+", "-", " ".join(student.split())).strip("-_")
    return f"{lesson}-{words or 'student'}.ipynb"
