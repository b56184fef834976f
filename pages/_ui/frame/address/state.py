"""The session's addresses: the opened scene, the content of the address bar, the deck."""

from __future__ import annotations

import dataclasses

from pages._ui.frame.address.deck import Deck
from pages._ui.frame.address.scene import Scene
from pages._ui.frame.session import Held, Once, nothing


@dataclasses.dataclass(frozen=True)
class Opened:
    """A scene opened by its address.

    Attributes
    ----------
    sentence : a sentence on the ignored parts of the address, "" if there are none
    number : number of this scene among those opened in this session, from 1
    shown_whole : whether the visitor asked for all controls of a prepared scene
    within : whether the scene was opened from another page of the session; a run seen there then continues at its step
    """

    scene: Scene
    sentence: str
    number: int
    shown_whole: bool = False
    within: bool = False


class AddressState:
    """Values of one visitor's session, declared as in `SessionState`."""

    address: Once[tuple[str | None, str]] = Once(lambda: (None, ""))  # the page and query to open
    address_read: Held[bool] = Held(bool)
    # the file that an address waits for, and the page and query of the address
    address_file: Held[tuple[str, str, str] | None] = Held(nothing)
    kept: Held[tuple[str, str]] = Held(lambda: ("", ""))  # Page and query in the address bar.
    opened: Held[Opened | None] = Held(nothing)  # The scene of the last link.
    opened_as: Held[str | None] = Held(nothing)  # The widgets' values when that scene's sentence was first shown.
    deck: Held[Deck | None] = Held(nothing)
    deck_edit: Held[int] = Held(int)


address_state = AddressState()
