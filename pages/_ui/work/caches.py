"""Cache values made from runs: for everybody if the data are public, else for the session of the file."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st

from pages._ui.frame.catalog import is_public
from pages._ui.work.results import Result

__all__ = ["per_run"]

T = TypeVar("T")


def per_run(*, shared: int, own: int, words: str | bool = False) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Cache `make(identity, *look, _result)`; call the returned function as `make(result, *look)`.

    Parameters
    ----------
    shared : maximum number of values that the server stores for public data
    own : maximum number of values that each session stores for its own files
    words : text shown while a value is made, False for none
    """

    def wrap(make: Callable[..., T]) -> Callable[..., T]:
        everybody = st.cache_resource(max_entries=shared, show_spinner=words)(make)
        mine = st.cache_resource(max_entries=own, show_spinner=words, scope="session")(make)

        names = list(inspect.signature(make).parameters)

        def cached(result: Result, *look: Any) -> T:
            asked = dict(
                zip(names, (result.identity, *look, result), strict=True)
            )  # passed by name, which lets the cache find the result faster
            return (everybody if is_public(result.data) else mine)(**asked)

        return cached

    return wrap
