"""What one visitor's session holds beside its widgets, where several parts of the pages share it: names and types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import streamlit as st

from dpviz.datasets import Dataset

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


class Session:
    """One visitor's session.

    Attributes
    ----------
    own : data sets from files, by their random token; `made` : names of blobs and paintings to choose from
    fingerprints : of the files behind private data sets, by the same token
    shown : identity of the run that is seen; `history` : of those before it, the newest last
    asked : identity of the run that the form last asked for; None before its first drawing
    asking : identity of the run on private data that waits for a yes
    job : id of the running job, "" if there is none
    """

    own = _Kept[dict[str, Dataset]](dict)
    made = _Kept[list[str]](list)
    fingerprints = _Kept[dict[str, str]](dict)
    shown = _Held[str](str)
    history = _Held[list[str]](list)
    asked = _Held[str | None](lambda: None)
    asking = _Held[str](str)
    job = _Held[str](str)


session = Session()
