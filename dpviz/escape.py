"""Escape foreign text, with one function per medium, so that names from files, traces and links appear as plain text.

For HTML, use the standard library's `html.escape`; for Python source, use `repr`.
"""

from __future__ import annotations

import html
import re

__all__ = ["Markdown", "cell", "figure", "line", "plain", "terminal"]

_JOINER = "\u2060"  # a character without width that keeps a renderer from recognizing an address or an icon
_SYNTAX = re.compile(r"[\\`*_\[\]<~$&|!]")
_FIRST = re.compile(r"^()([#+\-=>])|^(\d+)([.)])(?=\s|$)")  # starts of a heading, a list, a rule or a quotation
_LINKS = re.compile(r":(?=\S)|@(?=\S)|(?<=www)(?=\.)", re.IGNORECASE)
_FORMULA = re.compile(r"[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")  # some spreadsheets also accept full-width signs
_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def line(text: str, most: int | None = None) -> str:
    """Return at most `most` characters of a string, on one line; unprintable characters are replaced."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text[:most])


class Markdown(str):
    """Text that Markdown shows literally."""


def plain(text: str) -> Markdown:
    r"""Return text that Markdown shows literally on one line, without links, pictures, formulas, icons or lists.

    Backslashes alone do not suffice: the renderer turns addresses into links and names into icons after it has removed
    the backslashes. Text that is already escaped stays unchanged.

    >>> plain("[a](b) *c*")
    '\\[a\\](b) \\*c\\*'
    """
    if isinstance(text, Markdown):
        return text
    flat = _SYNTAX.sub(r"\\\g<0>", line(" ".join(text.split())))
    return Markdown(_LINKS.sub(lambda match: match[0] + _JOINER, _FIRST.sub(r"\1\3\\\2\4", flat)))


def figure(text: str) -> str:
    """Return text that a figure shows literally, although figures render a few tags such as links.

    >>> figure("<b>a</b>")
    '&lt;b&gt;a&lt;/b&gt;'
    """
    return html.escape(line(text), quote=False)


def cell(text: str) -> str:
    """Return text that no spreadsheet reads as a formula: text that begins like a formula gets an apostrophe.

    >>> cell("=1+1")
    "'=1+1"
    """
    return f"'{text}" if _FORMULA.match(text.lstrip(" ")) else text


def terminal(text: str) -> str:
    """Return text without terminal control characters, except for tabs and line ends."""
    return _STEERING.sub("\ufffd", text)
