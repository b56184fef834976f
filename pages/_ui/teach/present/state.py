"""The session's show: the typed values of ε, and the position."""

from __future__ import annotations

from pages._ui.frame.session import Held, Once, nothing


class PresentState:
    """Values of one visitor's session, declared as in `SessionState`."""

    deck_files: Held[int] = Held(int)
    present_typed: Held[dict[str, tuple[float, ...]]] = Held(dict)  # scene of a slide -> values of ε
    present_ended: Held[int | None] = Held(nothing)
    present_next: Once[int | None] = Once(nothing)


present_state = PresentState()
