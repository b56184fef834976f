"""Offer rows that count as public to a method that can start from them: some of a public set's, or a file on Spend."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import streamlit as st

from dpviz.algorithms import Algorithm
from dpviz.datasets import Dataset
from dpviz.datasets.public_rows import read_public_rows
from dpviz.escape import plain
from dpviz.numbers import counted
from dpviz.runs.public import STANDS_IN, started
from pages._ui.explore.form.state import form_state
from pages._ui.frame.address.control import Control, switch
from pages._ui.frame.words import on_screen
from pages._ui.server.owner import owner
from pages._ui.work import private

__all__ = ["OPEN", "begun", "given", "remember", "told"]

_START = ("public_centers", "radius_share")  # the parameters that `with_public_rows` sets

OPEN = Control(
    "open", "explore_open", "Public rows", switch(True),
    help=f"DEMO only. {STANDS_IN[0].upper()}{STANDS_IN[1:]}. These rows stay among the others, whom alone the promise "
    "covers. Without them, the first centers are spread over the bounds.",
)  # fmt: skip


def begun(algorithm: Algorithm, data: Dataset) -> Algorithm:
    """Return a method with its public start: in DEMO if the form asks for one, on a private file that of its last run.

    Raises
    ------
    ValueError
        If the data have too few rows inside their bounds.
    """
    if not algorithm.takes_public_rows:
        return algorithm
    if data.private:
        return _as_before(algorithm, data)
    return started(algorithm, data) if OPEN.held else algorithm


def told(methods: Iterable[type[Algorithm]], more: str = "") -> None:
    """Say where first centers come from if one of these methods takes public rows, on pages without the switch."""
    for name in sorted({cls.name for cls in methods if cls.takes_public_rows}):
        st.caption(f"{name}: {STANDS_IN}.{more}")


def _as_before(algorithm: Algorithm, data: Dataset) -> Algorithm:
    """Return a method with the public start of the file's last run, if it fits another k and the declaration of now."""
    last = form_state.begun.get(data.dataset_id, {})
    began = dataclasses.replace(algorithm, **{name: value for name, value in last.items() if value is not None})
    try:
        began.check_domain(data.domain, data.n_public)
    except ValueError:
        return algorithm
    return began


def remember(algorithm: Algorithm, data: Dataset) -> None:
    """Keep the public start of a private file's run, so that the form describes this run."""
    if algorithm.takes_public_rows:
        form_state.begun[data.dataset_id] = {name: getattr(algorithm, name) for name in _START}


def given(data: Dataset, algorithm: Algorithm) -> Algorithm | None:
    """Ask on Spend for a file of public rows; return the method with its start, or None if the file does not fit."""
    file = st.file_uploader(
        "Rows that anybody may see (optional)", key="spend_public_rows",
        help="A table with the columns of your file, such as an open survey, a published sample or an old year. "
        "k-means on its rows gives the first centers, which costs nothing.",
    )  # fmt: skip
    if file is None:
        for sentence in algorithm.advice(data.domain.n_features, data.n_public):
            st.caption(plain(on_screen(sentence)))
        return algorithm
    content, name = file.getvalue(), file.name.replace("\\", "/").split("/")[-1][-60:]
    try:
        with private.accounts() as known:
            key = known.key(content, owner().name)
            if key == private.fingerprint(data) or known.of(key).private:
                raise ValueError(f"{name}: you declared this file private, so its rows are not public.")
        rows = read_public_rows(content, name, data.facts)
        algorithm = algorithm.with_public_rows(rows, data.domain)
    except (ValueError, TypeError, OSError) as problem:
        st.error(plain(f"{problem} Nothing was spent."))
        return None
    st.caption(
        plain(
            f"{counted(len(rows), 'row')} of {name} give the first {algorithm.n_clusters} centers. You declare them "
            "public: nothing checks it, and the promise does not cover these rows."
        )
    )
    return algorithm
