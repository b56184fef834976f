"""What a session keeps of its runs: who owns them, what was paid, which files they are on."""

from __future__ import annotations

import secrets
from collections.abc import Hashable

from pages._ui.frame.session import Held, Kept, Once
from pages._ui.work.results import Result


class WorkState:
    """Values of one visitor's session, as in `Session`."""

    inbox: Once[list[Result]] = Once(list)  # where the running job puts its result
    paid: Held[bool] = Held(bool)  # whether the running job was booked on a private file
    owner: Kept[str] = Kept(lambda: secrets.token_urlsafe(9))  # of jobs; it tells nobody anything
    not_now: Held[str] = Held(str)  # the private data set for which the answer was "Not now"
    atlas_absent: Held[str] = Held(str)  # the page that says that no stored runs can be used
    fingerprints: Kept[dict[str, str]] = Kept(dict)  # of the files behind private data sets, by token
    asked_pieces: Kept[dict[str, tuple[tuple[Hashable, ...], str]]] = Kept(dict)  # topic -> names, id of the job


work_state = WorkState()
