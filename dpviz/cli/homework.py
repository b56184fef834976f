"""Implement the command `homework`: write a student's notebook for a lesson, or check notebooks and answer codes."""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

from dpviz.lessons import LESSONS
from dpviz.lessons.homework import COLUMNS, checked, file_name, notebook

__all__ = ["add_homework"]


def add_homework(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("lesson", nargs="?", metavar="LESSON", help=f"one of {', '.join(LESSONS)}")
    command.add_argument(
        "--student", metavar="NAME", help="whose numbers the tasks have; the name stands in the notebook"
    )
    command.add_argument(
        "--check",
        type=Path,
        metavar="FOLDER",
        help="print one line per task of all notebooks there, as CSV, and two per answer code of a lesson in a .txt "
        "file; neither proves who answered",
    )
    command.set_defaults(do=_homework)


def _homework(arguments: argparse.Namespace) -> int:
    if arguments.check is not None:
        if arguments.lesson or arguments.student:
            raise ValueError("homework: give either LESSON and --student, or --check FOLDER.")
        table = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
        rows = checked(arguments.check)
        table.writeheader()
        table.writerows(rows)
        return 0
    if not arguments.lesson or not arguments.student:
        raise ValueError("homework: give LESSON and --student NAME, or --check FOLDER.")
    text, path = notebook(arguments.lesson, arguments.student), Path(file_name(arguments.lesson, arguments.student))
    if path.exists():
        raise ValueError(f"homework: {path} exists already; nothing was written.")
    path.write_text(text, encoding="utf-8")
    print(f"{path} is written. It runs wherever dpviz is installed, and is checked with: dpviz homework --check FOLDER")
    return 0
