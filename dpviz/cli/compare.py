"""Implement the command `compare`: say how two finished runs differ; read no row and spend nothing."""

from __future__ import annotations

import argparse
from pathlib import Path

from dpviz.postprocessing.changes import together
from dpviz.takeaway.changes import between, changes_page
from dpviz.takeaway.foreign import drawing, read
from dpviz.takeaway.label import headline
from dpviz.trace import Trace

__all__ = ["add_compare"]


def add_compare(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    for name, words in (("first", "A.json"), ("second", "B.json")):
        command.add_argument(name, type=Path, metavar=words, help="a trace, as `run --json` writes it")
    command.add_argument("--html", type=Path, metavar="FILE", help="write a page with a picture to this file, too")
    command.set_defaults(do=_compare)


def _compare(arguments: argparse.Namespace) -> int:
    first, second = (_read(path) for path in (arguments.first, arguments.second))
    found = between(first, second)
    with drawing(first), drawing(second):
        page = changes_page((first, second), found) if arguments.html else ""
        promise = together(first, second)
    if arguments.html:
        try:
            arguments.html.write_text(page, encoding="utf-8")
        except OSError:
            raise ValueError(f"compare: {arguments.html} cannot be written.") from None
    for letter, path, trace in zip("AB", (arguments.first, arguments.second), (first, second), strict=True):
        print(f"{letter}: {path}, {headline(trace)}; {trace.notice}")
    lines = [("A", "B", "column", "in A", "in B", "B − A", "")]
    lines += [
        (str(pair.first), str(pair.second), change.name, change.before, change.after, change.difference, change.verdict)
        for pair in found.pairs
        for change in pair.changes
    ]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    for cells in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip())
    print(*found.sentences, promise, sep="\n")
    return 0


def _read(path: Path) -> Trace:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise ValueError(f"compare: {path} cannot be read; give the JSON that `run --json` wrote.") from None
    return read(text)
