"""The values that a session stores for forms: fields that show a value in another unit."""

from __future__ import annotations

from pages._ui.frame.session import Kept


class FormState:
    """Values of one visitor's session, declared as in `SessionState`."""

    converted: Kept[dict[str, tuple[str, float, float, float]]] = Kept(dict)


form_state = FormState()
