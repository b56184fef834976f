"""Who Alex is, as an address says it."""

from __future__ import annotations

import re

__all__ = ["WHO", "accepts", "called"]

WHO = {"": "nobody", "far": "the farthest person", "typical": "a person near a center"}
_PLACE = re.compile(r"row:\d{1,9}|at:-?[\d.eE+-]{1,24}(,-?[\d.eE+-]{1,24}){0,63}")


def accepts(text: str) -> str:
    """Return who Alex is: a word of `WHO`, row:NUMBER, or at:PLACE.

    Raises
    ------
    ValueError
        If it is none of them.
    """
    if text not in WHO and not _PLACE.fullmatch(text):
        raise ValueError("nobody")
    return text


def called(who: str) -> str:
    """Return what that person is called on screen."""
    kind, _, rest = who.partition(":")
    if who in WHO:
        return WHO[who]
    return f"person {int(rest) + 1:,}" if kind == "row" else f"a new person at {rest.replace(',', ', ')}"
