"""Hold the functions that show a trace in a notebook; the package sets them, since `trace.py` may not import them."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Callable
from typing import Any

__all__ = ["Frame", "Views", "views"]


@dataclasses.dataclass(frozen=True)
class Views:
    """Two functions that take a trace and return HTML: its label, and a page that plays it."""

    label: Callable[[Any], str]
    player: Callable[[Any], str]


views: Views  # set by dpviz/__init__.py


@dataclasses.dataclass(frozen=True)
class Frame:
    """A page that a notebook shows in its own frame, `height` pixels high."""

    page: str = dataclasses.field(repr=False)
    height: int

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.page)}" width="100%" height="{self.height}" style="border:0" '
            'title="The run, step by step"></iframe>'
        )
