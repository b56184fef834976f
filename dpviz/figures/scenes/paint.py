"""Draw the canvas on which people are painted (groups, a minority, an outlier): its buttons, its script, its style."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from dpviz.datasets.painted import Painted

__all__ = ["HTML", "LIMITS", "text_of"]

LIMITS = {"fewest": Painted.FEWEST, "most": Painted.MOST, "groups": Painted.MOST_GROUPS}  # of people, and of groups
_TOOLS = {
    "group": ("Group", "Paint people of one group; to begin another group, start away from the others"),
    "minority": ("Minority", "Paint a small, tight group"),
    "outlier": ("Outlier", "Place one person"),
    "move": ("Move one", "Drag one person"),
    "erase": ("Erase", "Remove people"),
}
_BUTTONS = "".join(
    f'<button type="button" data-tool="{tool}" aria-pressed="false" title="{what}">{word}</button>'
    for tool, (word, what) in _TOOLS.items()
)
_ALT = (
    "Canvas for painting people, from -10 to 10 in both directions. Arrow keys move the cursor, with Shift in small "
    "steps; Enter uses the chosen tool at the cursor; Control+Z undoes the last change."
)
HTML = (
    f'<div class="dpviz-paint"><div class="tools" role="group" aria-label="What you paint">{_BUTTONS}<span></span>'
    '<button type="button" data-do="undo">Undo</button><button type="button" data-do="clear">Clear</button></div>'
    f'<canvas tabindex="0" role="application" aria-label="{_ALT}"></canvas><output aria-live="polite"></output></div>'
)


@cache
def text_of(name: str) -> str:
    """Return the source of "paint.js", which defines `Painting`, or of "paint.css"; they work on any page."""
    return (files(__package__) / name).read_text(encoding="utf-8")
