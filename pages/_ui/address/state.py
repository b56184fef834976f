"""What a session keeps of addresses: the scene that was opened, what the address bar has, the deck."""

from __future__ import annotations

import dataclasses

from pages._ui.address.deck import Deck
from pages._ui.address.scene import Scene
from pages._ui.frame.session import Held, Once, nothing


@dataclasses.dataclass(frozen=True)
class Opened:
    """A scene that came by an address.

    Attributes
    ----------
    sentence : what of it could not be followed, "" if all
    number : its number among those of this session, from 1
    shown_whole : whether all controls of a prepared scene were asked for
    within : whether it was opened from another page of the session: a run that was seen there goes on at its step
    """

    scene: Scene
    sentence: str
    number: int
    shown_whole: bool = False
    within: bool = False


class AddressState:
    """Values of one visitor's session, as in `Session`."""

    address: Once[tuple[str | None, str]] = Once(lambda: (None, ""))  # page and query that are to be opened
    address_read: Held[bool] = Held(bool)
    address_file: Held[tuple[str, str, str] | None] = Held(nothing)  # a file that an address waits for, page, query
    kept: Held[tuple[str, str]] = Held(lambda: ("", ""))  # page and query that the address bar says
    opened: Held[Opened | None] = Held(nothing)  # the scene of the last link
    opened_as: Held[str | None] = Held(nothing)  # what the widgets said when its sentence was first shown
    deck: Held[Deck | None] = Held(nothing)
    deck_edit: Held[int] = Held(int)


address_state = AddressState()
