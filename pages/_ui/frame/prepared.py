"""Apply a prepared scene to its page: hide parts and lock widgets."""

from __future__ import annotations

from collections.abc import Iterable

from pages._ui.frame.inside.client import LINKS
from pages._ui.frame.session import session

__all__ = ["arrange", "locked", "shows", "style"]

FORM = "form"
FORM_TOP = "form_top"
FORM_FIELDS = "form_fields"
FORM_DETAILS = "form_details"

_STYLES = {  # parts that a style rule hides; other hidden parts are not drawn at all
    "form": "[class*=st-key-form],.st-key-drawer{display:none}",
    "navigation": f".st-key-bar,.st-key-tabs,{LINKS}{{display:none!important}}",
}


def arrange(parts: Iterable[str] = (), free: Iterable[str] | None = None) -> None:
    """Hide these parts of the page from now on, and lock widgets except those with these keys (None locks none)."""
    session.hidden_parts, session.free = frozenset(parts), None if free is None else frozenset(free)


def shows(part: str) -> bool:
    """Return whether a part of the page is shown."""
    return part not in session.hidden_parts


def locked(key: str = "") -> bool:
    """Return whether a widget cannot be changed."""
    free = session.free
    return free is not None and key not in free


def style() -> str:
    """Return the style rules that hide parts of the page."""
    return "".join(rules for part, rules in _STYLES.items() if not shows(part))
