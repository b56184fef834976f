"""The session's games."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from pages._ui.explore.attacker.rounds import Match
from pages._ui.frame.session import Held, nothing


class AttackerState:
    """Values of one visitor's session, declared as in `SessionState`."""

    attacker_key: Held[Hashable | None] = Held(nothing)
    attacker_games: Held[dict[str, Match]] = Held(dict)
    attacker_panels: Held[tuple[Any, list[Any]] | None] = Held(nothing)  # the pictures of both worlds, made once


attacker_state = AttackerState()
