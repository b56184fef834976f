"""Check homework: read one literal per task from a notebook's JSON, or answer codes from a text; no cell ever runs."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from dpviz.escape import cell, line
from dpviz.lessons import LESSONS
from dpviz.lessons.homework.codes import answers, codes_in
from dpviz.lessons.homework.notebook import KEY, MOST_NAME, cells
from dpviz.lessons.homework.tasks import MINOR, tasks

__all__ = ["COLUMNS", "MOST_BYTES", "check", "check_codes", "checked"]

COLUMNS = ("file", "student", "lesson", "task", "answer", "right", "note")
MOST_BYTES = 2_000_000  # maximum size of a notebook or a text
MOST_LITERAL = 500  # maximum number of characters in a cell with an answer
_NOTHING = "no homework of dpviz can be read here"
_SHOWN = 60  # maximum number of characters of an answer in the table


def checked(folder: Path) -> list[dict[str, str]]:
    """Return the rows of `COLUMNS` for all notebooks and texts in a folder and its subfolders.

    A text holds answer codes, whatever else it holds. What several files hand in under one name is marked.

    Raises
    ------
    ValueError
        If it is no folder, or holds no notebook and no text.
    """
    if not folder.is_dir():
        raise ValueError(f"homework: {folder} is no folder.")
    found = (path for path in folder.rglob("*") if path.suffix in _READERS)
    paths = sorted(path for path in found if ".ipynb_checkpoints" not in path.parts)
    if not paths:
        raise ValueError(f"homework: {folder} holds no notebook (.ipynb) and no text with answer codes (.txt).")
    rows = [row for path in paths for row in _READERS[path.suffix](str(path.relative_to(folder)), _read(path))]
    return list(_twice(rows))


def _read(path: Path) -> bytes | None:
    """Return a notebook's bytes, or None if it is too large, a link or no file."""
    if path.is_symlink() or not path.is_file() or path.stat().st_size > MOST_BYTES:
        return None
    return path.read_bytes()


def _twice(rows: list[dict[str, str]]) -> Iterable[dict[str, str]]:
    """Mark what is handed in under the same name for the same lesson in several files."""
    files: dict[tuple[str, str, str], set[str]] = {}
    for row in rows:
        files.setdefault(_whose(row), set()).add(row["file"])
    for row in rows:
        twice = row["student"] and len(files[_whose(row)]) > 1
        yield {**row, "note": "; ".join(filter(None, (row["note"], "this name is in several files" if twice else "")))}


def _whose(row: dict[str, str]) -> tuple[str, str, str]:
    """Return name, lesson and kind of file: a notebook and a code for one lesson are two pieces of homework."""
    return row["student"], row["lesson"], Path(row["file"]).suffix


def check(file: str, content: bytes | None) -> list[dict[str, str]]:
    """Return a row for each task of one notebook, or a single row that says why there is none.

    The tasks are made again from student, lesson and version. The cells besides the answers are compared with those
    that were handed out, so edited questions, numbers and checks are noted.
    """
    try:
        record = json.loads(content or b"")
        about = record["metadata"][KEY]
        student, lesson, version = (str(about[name]) for name in ("student", "lesson", "version"))
        sources = [_source(one) for one in record["cells"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        return [_row(file, "", "", "", "", "", _NOTHING)]
    if not student or line(student, MOST_NAME) != student:
        return [_row(file, student, lesson, "", "", "", "dpviz writes no such name")]
    if lesson not in LESSONS:
        return [_row(file, student, lesson, "", "", "", "this lesson is unknown")]
    if version.split(".")[:2] != MINOR.split("."):
        note = f"made with dpviz {version}: check it with that version"
        return [_row(file, student, lesson, "", "", "", note)]
    handed_out, rows = [_source(one) for one in cells(lesson, student)], []
    given = [source for source in handed_out if not source.startswith("answer_")]
    edited = len(set(given) - set(sources))
    for number, task in enumerate(tasks(lesson, student), 1):
        answer, words = _literal(sources, f"answer_{number}")
        notes = [words, f"{edited} other cells were edited" if edited > 1 else "another cell was edited" * edited]
        right = "" if answer is None else "yes" if task.accepts(answer) else "no"
        shown = "" if answer is None else repr(answer)
        rows.append(_row(file, student, lesson, str(number), shown, right, "; ".join(filter(None, notes))))
    return rows


def check_codes(file: str, content: bytes | None) -> list[dict[str, str]]:
    """Return two rows for each answer code in a text, prediction and last answer, or one that says what is wrong."""
    found = codes_in((content or b"").decode("utf-8", "replace"))
    rows = []
    for given in dict.fromkeys(found):
        student, lesson, told, problem = answers(given)
        rows += [_row(file, student, lesson, *one) for one in told or [("", "", "", problem)]]
    return rows or [_row(file, "", "", "", "", "", _NOTHING)]


_READERS: dict[str, Callable[[str, bytes | None], list[dict[str, str]]]] = {".ipynb": check, ".txt": check_codes}


def _row(*values: str) -> dict[str, str]:
    return dict(
        zip(COLUMNS, (cell(line(value, _SHOWN if i == 4 else 200)) for i, value in enumerate(values)), strict=True)
    )


def _source(one: Any) -> str:
    """Return the text of a cell, which a notebook may hold in lines."""
    source = one["source"]
    return source if isinstance(source, str) else "".join(map(str, source))


def _literal(sources: list[str], name: str) -> tuple[Any, str]:
    """Return the value that a cell gives to a name, and "" or why there is none; only literals are read."""
    for source in sources:
        if not source.lstrip().startswith(name) or len(source) > MOST_LITERAL:
            continue
        try:
            statements = ast.parse(source).body
            (assigned,) = [one for one in statements if isinstance(one, ast.Assign)]
            (target,) = assigned.targets
            value = ast.literal_eval(assigned.value)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return None, "the answer is no plain value"
        if isinstance(target, ast.Name) and target.id == name:
            return value, "" if value is not None else "no answer"
    return None, "no answer"
