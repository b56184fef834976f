"""Names and types of the values in a visitor's session, besides widgets, that several parts of the pages share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import streamlit as st

from dpviz.datasets import Dataset

__all__ = ["Held", "Kept", "Once", "nothing", "session"]

T = TypeVar("T")


class Held(Generic[T]):
    """A value that Streamlit's state stores under the attribute's name; `first` makes the initial value."""

    def __init__(self, first: Callable[[], T]) -> None:
        self._first = first

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> T:
        try:
            return st.session_state[self._name]
        except KeyError:
            return self._first()

    def __set__(self, instance: object, value: T) -> None:
        st.session_state[self._name] = value

    def __delete__(self, instance: object) -> None:
        st.session_state.pop(self._name, None)


class Kept(Held[T]):
    """A container that is stored when it is first read, so that its contents persist."""

    def __get__(self, instance: object, owner: type | None = None) -> T:
        return st.session_state.setdefault(self._name, self._first())


class Once(Held[T]):
    """A value for the next drawing of the page, which is removed when it is read."""

    def __get__(self, instance: object, owner: type | None = None) -> T:
        return st.session_state.pop(self._name) if self._name in st.session_state else self._first()


def nothing() -> None:
    return None


class SessionState:
    """One visitor's session; each paragraph lists the values of one part of the pages.

    The values of widgets are not listed here: they stay in Streamlit's state under the keys of the widgets.
    """

    # Runs: their identities, and the job of the running one.
    shown: Held[str] = Held(str)  # The shown run.
    history: Held[list[str]] = Held(list)  # Earlier runs, the newest last.
    asked: Held[str | None] = Held(nothing)  # The form's last request; None before its first drawing.
    asking_explain: Held[str] = Held(str)  # The question about a private run that awaits consent.
    job: Held[Any] = Held(nothing)  # The running job, a `Job`; None if there is none.

    # Data sets.
    own: Kept[dict[str, Dataset]] = Kept(dict)  # Data sets from files, by their random token.
    made: Kept[list[str]] = Kept(list)  # Names of blobs and paintings to choose from.
    followed: Kept[dict[str, str | None]] = Kept(dict)  # A page's picker -> its value when last drawn.

    # the page, and the address that opened it
    via_app: Held[bool] = Held(bool)
    pages: Held[list[Any]] = Held(list)  # The pages as Streamlit's navigation holds them.
    wanted: Held[str] = Held(str)  # The page that a deep link requested, until it is drawn.
    page: Held[str] = Held(str)
    embedded: Held[bool | None] = Held(nothing)
    hidden_parts: Held[frozenset[str]] = Held(frozenset)
    free: Held[frozenset[str] | None] = Held(nothing)  # Keys that a scene leaves unlocked, or None for all.
    sharing: Held[Callable[..., None] | None] = Held(nothing)  # Draws the Share button.
    sentences: Kept[list[tuple[str, str]]] = Kept(list)  # Kind and words of each sentence, until a page shows it.
    drawn_by: Held[tuple[Callable[[], Any], list[tuple[str, str]]] | None] = Held(nothing)  # thread, sentences
    opened_now: Held[bool] = Held(bool)
    unpinned: Kept[set[str]] = Kept(set)  # keys of column choices whose pictures have no columns of their own


session = SessionState()
