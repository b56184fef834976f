"""Find data sets by name: samples, blobs, and this session's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

import streamlit as st

from dpviz.datasets import SAMPLES, Dataset, load
from pages._ui.frame.session import session

CHOSEN = "explore_data"  # key of the picker of data, which all pages share


@lru_cache(maxsize=32)  # cached, because every script run asks for all names
def public(name: str) -> Dataset:
    """Return public data by name; this needs no session."""
    return load(name)


def own() -> dict[str, Dataset]:
    """Return this session's data sets from files, by their random token."""
    return session.own


def sample(name: str) -> Dataset:
    """Return a sample, blobs, or a data set of this session, by name."""
    return own()[name] if name in own() else public(name)


def names() -> list[str]:
    """Return the names that this session can choose from, its own first."""
    return [*own(), *session.made, *SAMPLES]


def short(titles: Mapping[str, str]) -> dict[str, str]:
    """Return titles of data sets up to their first comma, or whole titles if two would look alike."""
    heads = {name: title.partition(",")[0] for name, title in titles.items()}
    counts = Counter(heads.values())
    return {name: head if counts[head] == 1 else titles[name] for name, head in heads.items()}


def chosen() -> Dataset:
    """Return the data set that every page uses; the first sample until one is chosen."""
    state = st.session_state
    if state.get(CHOSEN) not in names():
        state[CHOSEN] = SAMPLES[0]
    return sample(state[CHOSEN])


def choose(name: str) -> None:
    """Choose a data set for every page. Call this only while the data picker is not drawn."""
    offer(name)
    st.session_state[CHOSEN] = name


def follow(key: str, names: list[str], *, many: bool = False) -> None:
    """Set a page's picker to the data set that every page uses, if this page can use it.

    Call this before the picker is drawn. A choice in the picker then applies to every page. A link that was just opened
    takes precedence.
    """
    state = st.session_state
    followed = session.followed
    value = state.get(key)
    here = (value[0] if value else None) if many else value
    now = chosen()
    if here in names and (session.opened_now or (key in followed and here != followed[key])):
        if not now.private:  # a private file is replaced only on Explore and Data
            choose(here)
    elif (mine := state[CHOSEN]) in names and mine != here:
        state[key] = [mine] if many else mine
        here = mine
    followed[key] = here


def offer(name: str) -> None:
    """Add blobs, a painting or a part of a sample to the names that this session can choose from."""
    if name not in names():
        session.made.insert(0, name)


def keep(data: Dataset) -> None:
    """Add a data set from a file to this session's own, and choose it."""
    own()[data.dataset_id] = data
    choose(data.dataset_id)


def is_here(data: Dataset) -> bool:
    """Return whether a page can still open a data set: a shared one, or one of this session as last declared."""
    return is_public(data) or data.dataset_id in own()


def is_public(data: Dataset) -> bool:
    """Return whether a data set is the same for everybody, so that sessions may share its results."""
    return ":" in data.dataset_id  # names such as sample:NAME and blobs:... have a colon; a file's token has none
