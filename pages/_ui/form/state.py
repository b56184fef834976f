"""The values that a session stores for forms: a budget given as μ or ρ."""

from __future__ import annotations

from pages._ui.frame.session import Held, nothing


class FormState:
    """Values of one visitor's session, as in `Session`."""

    budget_led: Held[tuple[str, str, float] | None] = Held(nothing)
    budget_start: Held[tuple[float, float] | None] = Held(nothing)


form_state = FormState()
