"""Values that a session stores for the Account page."""

from __future__ import annotations

from pages._ui.frame.session import Held, Kept


class AccountState:
    """Values of one visitor's session, declared as in `SessionState`."""

    book_files: Held[int] = Held(int)  # a new number creates a fresh file field
    next_files: Held[int] = Held(int)  # so does this, for the next file of the same kind
    earlier_files: Kept[dict[str, tuple[str, str]]] = Kept(dict)  # key of a file -> name and key of the one before it


account_state = AccountState()
