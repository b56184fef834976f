"""Foreign text, one function a medium: names from files, traces and links are shown as they are, and never act.

HTML has `html.escape` of the standard library, and Python source has `repr`.
"""

from __future__ import annotations

import html
import re

__all__ = ["Markdown", "cell", "figure", "line", "plain", "terminal"]

_JOINER = "\u2060"  # has no width; what a renderer would take for an address or an icon is none with it inside
_SYNTAX = re.compile(r"[\\`*_\[\]<~$&|!]")
_FIRST = re.compile(
    r"^()([#+\-=>])|^(\d+)([.)])(?=\s|$)"
)  # what makes a heading, a list, a rule or a quotation of a line
_LINKS = re.compile(r":(?=\S)|@(?=\S)|(?<=www)(?=\.)", re.IGNORECASE)
_FORMULA = re.compile(r"[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")  # full-width signs too: some spreadsheets take them
_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def line(text: str, most: int | None = None) -> str:
    """Return at most `most` characters of a text on one line; what cannot be printed is a replacement character."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text[:most])


class Markdown(str):
    """Text that Markdown shows as it is."""


def plain(text: str) -> Markdown:
    r"""Return text that Markdown shows as it is on one line: no link, picture, formula, icon or list comes of it.

    Backslashes alone do not do: the renderer makes links of addresses and icons of their names after it has read them.
    What was escaped before stays.

    >>> plain("[a](b) *c*")
    '\\[a\\](b) \\*c\\*'
    """
    if isinstance(text, Markdown):
        return text
    flat = _SYNTAX.sub(r"\\\g<0>", line(" ".join(text.split())))
    return Markdown(_LINKS.sub(lambda found: found[0] + _JOINER, _FIRST.sub(r"\1\3\\\2\4", flat)))


def figure(text: str) -> str:
    """Return text that a figure shows as it is: figures know a few tags, links among them.

    >>> figure("<b>a</b>")
    '&lt;b&gt;a&lt;/b&gt;'
    """
    return html.escape(line(text), quote=False)


def cell(text: str) -> str:
    """Return text that no spreadsheet takes for a formula: an apostrophe stands before one that begins like it.

    >>> cell("=1+1")
    "'=1+1"
    """
    return f"'{text}" if _FORMULA.match(text.lstrip(" ")) else text


def terminal(text: str) -> str:
    """Return text that cannot steer a terminal; tabs and ends of lines stay."""
    return _STEERING.sub("\ufffd", text)
