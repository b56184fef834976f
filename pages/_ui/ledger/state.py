"""What a session keeps of Ledger."""

from __future__ import annotations

from pages._ui.frame.session import Held


class LedgerState:
    """Values of one visitor's session, as in `Session`."""

    book_files: Held[int] = Held(int)


ledger_state = LedgerState()
