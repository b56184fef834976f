"""What one visitor's session holds beside its widgets, where several parts of the pages share it: names and types."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import streamlit as st

from dpviz.datasets import Dataset

if TYPE_CHECKING:
    from dpviz.trace import Trace
    from pages._ui.attacker.stock import Game
    from pages._ui.compare.made import Batch
    from pages._ui.compare.sides import Side
    from pages._ui.data.files import Upload
    from pages._ui.jobs import Job
    from pages._ui.klass.room import Classroom, Seat
    from pages._ui.links import Opened
    from pages._ui.owner import Owner
    from pages._ui.pieces import Shelf
    from pages._ui.present.deck import Deck
    from pages._ui.results import Result, Store
    from pages._ui.settings import Settings

__all__ = ["session"]

T = TypeVar("T")


class _Held(Generic[T]):
    """A value under its own name in Streamlit's state; `first` makes what it is before anything was kept."""

    def __init__(self, first: Callable[[], T]) -> None:
        self._first = first

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> T:
        return st.session_state[self._name] if self._name in st.session_state else self._first()

    def __set__(self, instance: object, value: T) -> None:
        st.session_state[self._name] = value

    def __delete__(self, instance: object) -> None:
        st.session_state.pop(self._name, None)


class _Kept(_Held[T]):
    """A container that is kept from the first look on, so that what is put into it stays."""

    def __get__(self, instance: object, owner: type | None = None) -> T:
        return st.session_state.setdefault(self._name, self._first())


class _Once(_Held[T]):
    """A note to the next drawing: whoever reads it takes it away."""

    def __get__(self, instance: object, owner: type | None = None) -> T:
        return st.session_state.pop(self._name) if self._name in st.session_state else self._first()


def _nothing() -> None:
    return None


class Session:
    """One visitor's session, a paragraph for each room that keeps something here.

    A widget's own value is not in it: that stays in Streamlit's state under a key of `pages/_ui/keys.py`.
    """

    # what was run: identities of runs, and the id of a job
    shown: _Held[str] = _Held(str)  # the run that is seen
    history: _Held[list[str]] = _Held(list)  # those before it, the newest last
    asked: _Held[str | None] = _Held(_nothing)  # what the form last asked for; None before its first drawing
    asking: _Held[str] = _Held(str)  # the run on private data that waits for a yes
    asking_explain: _Held[str] = _Held(str)  # the question about one, likewise
    not_now: _Held[str] = _Held(str)  # the private data set for which the answer was "Not now"
    job: _Held[str] = _Held(str)  # the running job, "" if there is none
    inbox: _Once[list[Result]] = _Once(list)  # where it puts its result
    paid: _Held[bool] = _Held(bool)  # whether that run was booked on a private file
    owner: _Kept[str] = _Kept(lambda: secrets.token_urlsafe(9))  # of jobs; it tells nobody anything
    store: _Held[Store | None] = _Held(_nothing)  # results that no other session may see
    pieces: _Held[Shelf | None] = _Held(_nothing)  # what was computed from them
    asked_pieces: _Kept[dict[str, tuple[tuple[Hashable, ...], str]]] = _Kept(dict)  # topic -> names, id of the job
    explained: _Kept[dict[tuple[str, float], Trace]] = _Kept(dict)  # answers by run and ε, the last one at the end

    # data sets
    account_owner: _Held[Owner | None] = _Held(_nothing)  # whose accounts this visit works on, once they are needed
    key_address: _Held[str] = _Held(str)  # where the browser takes a key that was brought as a file
    new_files: _Kept[list[float]] = _Kept(list)  # when files were called public or private in this visit
    own: _Kept[dict[str, Dataset]] = _Kept(dict)  # from files, by their random token
    made: _Kept[list[str]] = _Kept(list)  # names of blobs and paintings to choose from
    fingerprints: _Kept[dict[str, str]] = _Kept(dict)  # of the files behind private data sets, by token
    followed: _Kept[dict[str, str | None]] = _Kept(dict)  # a page's picker -> what it held when last drawn
    uploads: _Kept[dict[str, Upload]] = _Kept(dict)  # files that were read, by token
    pending: _Held[tuple[str, bytes] | None] = _Held(_nothing)  # the file that nobody has said is public or private
    pending_header: _Held[bool] = _Held(bool)  # it is private, and its first line is asked about
    pending_place: _Held[tuple[str | None, int | None]] = _Held(lambda: (None, None))  # its sheet and line
    another: _Held[bool] = _Held(bool)  # one more file is wanted
    file_turn: _Held[int] = _Held(int)  # a number for a fresh file field; the two below likewise
    book_files: _Held[int] = _Held(int)
    deck_files: _Held[int] = _Held(int)

    # the page, and the address it was opened by
    via_app: _Held[bool] = _Held(bool)
    pages: _Held[list[Any]] = _Held(list)  # as Streamlit's navigation has them
    wanted: _Once[str | None] = _Once(_nothing)  # the page that a deep link asked for
    page: _Held[str] = _Held(str)
    embedded: _Held[bool | None] = _Held(_nothing)
    hidden_parts: _Held[frozenset[str]] = _Held(frozenset)
    free: _Held[frozenset[str] | None] = _Held(_nothing)  # keys that a scene leaves unlocked; None: all
    sharing: _Held[Callable[..., None] | None] = _Held(_nothing)  # draws the Share button
    sentences: _Kept[list[tuple[str, str]]] = _Kept(list)  # kind and words, until a page shows them
    address: _Once[tuple[str | None, str]] = _Once(lambda: (None, ""))  # page and query that are to be opened
    address_read: _Held[bool] = _Held(bool)
    address_file: _Held[tuple[str, str, str] | None] = _Held(_nothing)  # a file that an address waits for, page, query
    kept: _Held[tuple[str, str]] = _Held(lambda: ("", ""))  # page and query that the address bar says
    opened: _Held[Opened | None] = _Held(_nothing)  # the scene of the last link
    opened_now: _Held[bool] = _Held(bool)
    opened_as: _Held[str | None] = _Held(_nothing)  # what the widgets said when its sentence was first shown

    # Explore's form, the budget in another notion, and figures that are made again only when something changed
    released: _Once[bool] = _Once(bool)  # ε was dragged and let go: the form asks for a run, however long it takes
    atlas_missed: _Held[str] = _Held(str)  # the run at which the visitor was told that there are no stored ones
    settings: _Held[Settings | None] = _Held(_nothing)
    budget_led: _Held[tuple[str, str, float] | None] = _Held(_nothing)
    budget_start: _Held[tuple[float | None, float | None]] = _Held(lambda: (None, None))
    reruns_panels: _Held[tuple[Any, list[Any]] | None] = _Held(_nothing)
    alex_panels: _Held[tuple[Any, list[Any]] | None] = _Held(_nothing)

    # Trade-off
    sweeps: _Held[list[str]] = _Held(list)
    timed: _Held[frozenset[Hashable]] = _Held(frozenset)  # kinds of runs whose time is being measured,
    timing: _Held[str] = _Held(str)  # and the job that does
    made_up: _Kept[dict[str, Dataset]] = _Kept(dict)  # drawn from released coresets
    sweep_files: _Kept[dict[str, str]] = _Kept(dict)
    looked: _Once[bool] = _Once(bool)
    watching: _Once[str | None] = _Once(_nothing)

    # Attacker, Compare, Plan
    attacker_key: _Held[Hashable | None] = _Held(_nothing)
    attacker_games: _Held[dict[str, Game]] = _Held(dict)
    compare_next: _Once[tuple[str, list[Side]]] = _Once(lambda: ("", []))  # what another page sends there
    compare_on: _Held[str | None] = _Held(_nothing)
    compare_drawn: _Held[list[Side] | None] = _Held(_nothing)
    compare_turn: _Held[int] = _Held(int)
    compare_start: _Held[list[Side]] = _Held(list)
    compare_batch: _Held[Batch | None] = _Held(_nothing)
    plan_going: _Once[bool] = _Once(bool)
    plan_taken: _Once[str | None] = _Once(_nothing)
    plan_private: _Held[bool] = _Held(bool)

    # Present and Class
    deck: _Held[Deck | None] = _Held(_nothing)
    deck_edit: _Held[int] = _Held(int)
    present_going: _Once[bool] = _Once(bool)
    present_ended: _Held[int | None] = _Held(_nothing)
    present_next: _Once[int | None] = _Once(_nothing)
    class_room: _Held[Classroom | None] = _Held(_nothing)
    class_seat: _Held[Seat | None] = _Held(_nothing)
    class_back: _Held[bool] = _Held(bool)
    class_job: _Held[tuple[Job, list[Result]] | None] = _Held(_nothing)
    class_result: _Held[Result | None] = _Held(_nothing)
    class_point: _Held[tuple[float, float] | None] = _Held(_nothing)
    class_game: _Held[Game | None] = _Held(_nothing)
    class_game_of: _Held[tuple[Any, Any]] = _Held(lambda: (None, None))


session = Session()
