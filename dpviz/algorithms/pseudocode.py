"""Describe a line of pseudo-code (`Algorithm.CODE`): the steps at which it runs, and whether it reads rows.

A line with a label makes the release of that name: it reads rows and costs budget. All other lines work on released
values and are free. A test compares kinds, moments and labels with traces.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Line"]


class Line(NamedTuple):
    """One line of pseudo-code.

    Attributes
    ----------
    text : the operation in plain words; two leading spaces put it in a loop; a final colon makes it the head of a loop
    kinds : kinds of the steps at which the line runs
    label : label of the release that the line makes, or "" if it reads no row
    at : when it runs: "first" and "later" (first picture of the kind's first step, or of its later steps), "before"
        (first picture of every step), "read" (the picture in which its release is made; in a line without a label, any
        release), "after" (last picture of every step), "end" (last picture of the kind's last step). Empty means "read"
        for a line with a label, and "after" for a line without one
    given : name of a released value of the step: the line runs only if one of its entries is true; with "not NAME",
        only if none is
    events : kinds of the events of a film during which the line runs, where a picture is reached through several; empty
        means all
    """

    text: str
    kinds: tuple[str, ...]
    label: str = ""
    at: tuple[str, ...] = ()
    given: str = ""
    events: tuple[str, ...] = ()

    @property
    def moments(self) -> tuple[str, ...]:
        """Return when the line runs: `at`, or the default that follows from the label; () for the head of a loop."""
        if self.text.endswith(":"):
            return ()
        return self.at or (("read",) if self.label else ("after",))
