"""A line of an algorithm's pseudo-code (`Algorithm.CODE`): at which step it runs, and whether it reads rows.

A line that names a label asks the curator for it: it reads rows and costs budget. All other lines work on released
values and are free. A test compares kinds, moments and labels with traces.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Line"]


class Line(NamedTuple):
    """One line of pseudo-code.

    Attributes
    ----------
    text : what is done, plain words; two spaces in front for the inside of a loop; a colon at the end: no more than
        the head of a loop
    kinds : kinds of the steps at which the line runs
    label : label of the release that the line asks for, "" where it reads no row
    at : when in its step it runs, any of "first" and "later" (the first picture of the kind's first step, of its later
        steps), "before" (the first picture of every step), "read" (the picture in which its release is made; in a
        line without a label, any release), "after" (the last picture of every step), "end" (the last picture of the
        kind's last step). Empty: "read" with a label, "after" without
    given : name of a released value of the step: the line runs only where any of it is true; "not NAME": where none is
    """

    text: str
    kinds: tuple[str, ...]
    label: str = ""
    at: tuple[str, ...] = ()
    given: str = ""

    @property
    def moments(self) -> tuple[str, ...]:
        """When it runs: `at`, or what follows from the label; () for the head of a loop."""
        if self.text.endswith(":"):
            return ()
        return self.at or (("read",) if self.label else ("after",))
