"""Data sets by name: samples, blobs, and this session's own."""

from __future__ import annotations

from functools import lru_cache

import streamlit as st

from dpviz.datasets import SAMPLES, Dataset, load
from pages._ui.frame import keys
from pages._ui.frame.session import session


@lru_cache(maxsize=32)  # asked for all names by every script run
def _public(name: str) -> Dataset:
    return load(name)


def own() -> dict[str, Dataset]:
    """Return this session's data sets from files, by their random token."""
    return session.own


def sample(name: str) -> Dataset:
    """Return a sample, blobs, or a data set of this session, by name."""
    return own()[name] if name in own() else _public(name)


def names() -> list[str]:
    """Return the names this session can choose from, its own ones first."""
    return [*own(), *session.made, *SAMPLES]


def chosen() -> Dataset:
    """Return the data set that every page uses, the first sample before anything was chosen."""
    state = st.session_state
    if state.get(keys.EXPLORE_DATA) not in names():
        state[keys.EXPLORE_DATA] = SAMPLES[0]
    return sample(state[keys.EXPLORE_DATA])


def choose(name: str) -> None:
    """Make a data set the chosen one on every page. Call it where its picker is not drawn."""
    offer(name)
    st.session_state[keys.EXPLORE_DATA] = name


def follow(key: str, names: list[str], *, many: bool = False) -> None:
    """Let a page's picker hold the data set that every page uses, where the page can use it. Call it before the picker.

    What is chosen there is then everybody's too. A link that was opened just now wins.
    """
    state = st.session_state
    followed = session.followed
    kept = state.get(key)
    here = (kept[0] if kept else None) if many else kept
    now = chosen()
    if here in names and (session.opened_now or (key in followed and here != followed[key])):
        if not now.private:  # a private file stays chosen: it is left on Explore and Data only
            choose(here)
    elif (mine := state[keys.EXPLORE_DATA]) in names and mine != here:
        state[key] = [mine] if many else mine
        here = mine
    followed[key] = here


def offer(name: str) -> None:
    """Put blobs among the names that this session can choose from."""
    if name not in names():
        session.made.insert(0, name)


def keep(data: Dataset) -> None:
    """Add a data set from a file to this session's own, and make it the chosen one."""
    own()[data.dataset_id] = data
    choose(data.dataset_id)


def is_here(data: Dataset) -> bool:
    """Return whether a page can still open a data set: everybody's, or this session's under its last declaration."""
    return is_public(data) or data.dataset_id in own()


def is_public(data: Dataset) -> bool:
    """Return whether a data set is the same for everybody: what is made from it may be shared between sessions."""
    return ":" in data.dataset_id  # sample:NAME or blobs:...; a file's token has none
