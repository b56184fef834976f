"""Values that a session stores for the Account page."""

from __future__ import annotations

from pages._ui.frame.session import Held


class AccountState:
    """Values of one visitor's session, declared as in `SessionState`."""

    book_files: Held[int] = Held(int)  # a new number creates a fresh file field


account_state = AccountState()
