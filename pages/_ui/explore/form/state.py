"""The values that a session stores for forms: fields that show a value in another unit."""

from __future__ import annotations

from typing import Any

from pages._ui.frame.session import Kept


class FormState:
    """Values of one visitor's session, declared as in `SessionState`."""

    converted: Kept[dict[str, tuple[str, float, float, float]]] = Kept(dict)
    begun: Kept[dict[str, dict[str, Any]]] = Kept(dict)  # the public start of a private file's last run, by data set


form_state = FormState()
