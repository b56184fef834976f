"""Files to take away, all written by `export`: a privacy label, one page, a replay, a script, a notebook."""

from __future__ import annotations

from collections.abc import Callable

from dpviz.takeaway.code import notebook, script
from dpviz.takeaway.comparison import comparison
from dpviz.takeaway.foreign import drawing
from dpviz.takeaway.label import facts, label, label_json
from dpviz.takeaway.page import page
from dpviz.takeaway.replay import replay
from dpviz.trace import Trace

__all__ = ["KINDS", "comparison", "export", "facts", "label", "label_json", "notebook", "page", "replay", "script"]

KINDS: dict[str, tuple[Callable[[Trace], str], str, str]] = {  # kind: function that writes it, extension, MIME type
    "label": (label, "html", "text/html"),
    "page": (page, "html", "text/html"),
    "replay": (replay, "html", "text/html"),
    "script": (script, "py", "text/x-python"),
    "notebook": (notebook, "ipynb", "application/x-ipynb+json"),
}


def export(trace: Trace, kind: str) -> str:
    """Return a run as one self-contained text of released values only; nothing is read or spent.

    Raises
    ------
    ValueError
        If the kind is unknown, or the released values of a trace from a file do not fit each other.
    """
    if kind not in KINDS:
        raise ValueError(f"export: kind must be one of {', '.join(KINDS)}; got {kind!r}.")
    with drawing(trace):
        return KINDS[kind][0](trace)
