"""Text that is no table of separated cells: each kind is recognized by its first lines and gets its own sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dpviz.datasets.readers.names import is_value
from dpviz.datasets.readers.table import TableError

__all__ = ["refuse_other_text", "refuse_spaced"]

_LINES = 100  # of the first lines are looked at
_SAVE = "save it as CSV with a header line."


def _is_json_lines(head: str) -> bool:
    lines = [line.strip() for line in head.splitlines()[:_LINES] if line.strip()]
    return len(lines) > 1 and all(re.fullmatch(r"[{].*[}]|[[].*[]]", line) for line in lines[:-1])


def _is_json(head: str) -> bool:
    """Whether the text begins as JSON does: an object with a key, an empty one, or a list of these or of values."""
    start = re.match(r"\s*(\{\s*(\"|\})|\[\s*([{\[\"\d-]|true|false|null|\]))", head)
    return start is not None


def _is_markup(head: str) -> bool:
    return re.match(r"\s*<([?!]|[A-Za-z][\w:-]*[\s>/])", head) is not None


_KINDS = (  # the first that fits
    (lambda head: _is_json(head) and _is_json_lines(head), "the content is JSON lines, one record a line; " + _SAVE),
    (_is_json, "the content is JSON; " + _SAVE),
    (_is_markup, "the content is XML or HTML; " + _SAVE),
)


def refuse_other_text(head: str, name: str) -> None:
    """Refuse text in another form than separated cells.

    Raises
    ------
    TableError
        The sentence of the form that it has.
    """
    for fits, sentence in _KINDS:
        if fits(head):
            raise TableError(f"{name}: {sentence}")


def refuse_spaced(records: Sequence[Sequence[str]], name: str) -> None:
    """Refuse a table whose cells are separated by white space: no line has a separator, all have as many words.

    Numbers whose thousands are grouped by spaces are no such table: they stand below a name of one word.
    """
    lines = [record[0].split() for record in records[:_LINES] if len(record) == 1]
    widths = {len(words) for words in lines}
    if len(lines) == len(records[:_LINES]) and len(widths) == 1 and widths.pop() > 1 and _has_values(lines):
        raise TableError(f"{name}: its cells are separated by white space; separate them by commas and {_SAVE}")


def _has_values(lines: Sequence[Sequence[str]]) -> bool:
    return any(is_value(word) for words in lines for word in words)
