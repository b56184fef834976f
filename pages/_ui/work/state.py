"""The session's runs: their owner, the paid ones, and their files."""

from __future__ import annotations

import secrets
from collections.abc import Hashable

from dpviz.algorithms import Algorithm
from pages._ui.frame.session import Held, Kept, Once, nothing
from pages._ui.work.results import Result


class WorkState:
    """Values of one visitor's session, declared as in `SessionState`."""

    inbox: Once[list[Result]] = Once(list)  # The list to which the running job adds its result.
    paid: Held[bool] = Held(bool)  # Whether the running job was booked on a private file.
    owner: Kept[str] = Kept(lambda: secrets.token_urlsafe(9))  # A random name under which the session owns jobs.
    waiting: Held[tuple[str, Algorithm] | None] = Held(nothing)  # A private data set and the run that awaits consent.
    leads: Once[bool] = Once(bool)  # Whether the waiting run was requested just now.
    atlas_absent: Held[str] = Held(str)  # The page that says that no stored runs can be used.
    fingerprints: Kept[dict[str, str]] = Kept(dict)  # Fingerprints of the files behind private data sets, by token.
    asked_pieces: Kept[dict[str, tuple[tuple[Hashable, ...], str]]] = Kept(dict)  # Topic -> names, id of the job.


work_state = WorkState()
