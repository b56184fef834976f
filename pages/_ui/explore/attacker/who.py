"""Find Alex: the word in an address, the name in a list, and the position in a data set."""

from __future__ import annotations

import re

import numpy as np
import streamlit as st

from dpviz.audits.game import people
from dpviz.datasets import Dataset
from dpviz.postprocessing.verdict import groups_of
from dpviz.runs.alex import Alex
from dpviz.runs.single import reference
from pages._ui.frame import catalog
from pages._ui.work.workers import workers

__all__ = ["FIRST", "USUAL", "accepts", "called", "person", "usual"]

FIRST = "outlier"
USUAL = {
    "outlier": "the {noun} farthest from every group",
    "typical": "one {noun} in the middle of the largest group",
    "small": "one {noun} in the middle of the smallest group",
}
_PLACE = re.compile(r"row:\d{1,9}|at:(-?[\d.eE+-]{1,24})?(,(-?[\d.eE+-]{1,24})?){0,63}")


def accepts(text: str) -> str:
    """Return the text if it is a word for Alex: one of `USUAL`, row:NUMBER, or at:PLACE.

    Raises
    ------
    ValueError
        If the text is none of these.
    """
    if text not in USUAL and not _PLACE.fullmatch(text):
        raise ValueError("nobody")
    return text


def called(who: str, noun: str = "person") -> str:
    """Return the person's name on screen; `noun` is the word for a row."""
    kind, _, rest = who.partition(":")
    if kind in USUAL:
        return USUAL[kind].format(noun=noun)
    if kind == "row":
        return f"{noun} {int(rest) + 1:,}"
    place = [number for number in rest.split(",") if number]
    return f"a new {noun} at {', '.join(place)}" if place else f"a new {noun} near a corner"


def person(who: str, data: Dataset) -> Alex | None:
    """Return the person in a data set, or None if there is no such person."""
    kind, _, rest = who.partition(":")
    if kind in USUAL:
        return usual(kind, data)
    if kind == "at":
        return _new(rest.split(","), data)
    row = int(rest)
    return Alex(data.X[row], row) if row < len(data.X) and np.isfinite(data.X[row]).all() else None


def usual(kind: str, data: Dataset) -> Alex:
    """Return the person that a word of `USUAL` stands for; every data set has one."""
    row = (_shared if catalog.is_public(data) else _mine)(data.dataset_id, data)[kind]
    return Alex(data.X[row], row)


def _new(numbers: list[str], data: Dataset) -> Alex | None:
    """Return a new person at a position given in all columns, or in the drawn ones and the middle of the others."""
    place, domain = data.domain.middle.copy(), data.domain
    d = domain.n_features
    if len(numbers) not in (d, 2):
        return None
    columns = range(d) if len(numbers) == d else data.view if d > 1 else (0,)
    for text, column in zip(numbers, columns, strict=False):
        low, high = domain.low[column], domain.high[column]
        try:
            place[column] = float(text) if text else low + 0.9 * (high - low)
        except ValueError:
            return None
    return Alex(np.clip(place, domain.low, domain.high)) if np.isfinite(place).all() else None


def _found(dataset_id: str, _data: Dataset) -> dict[str, int]:
    """Return the number of the row that each word of `USUAL` stands for, found once per data set."""
    centers = workers().call(reference, _data, _data.n_clusters, 0).trace.cluster_centers
    return people(_data.X, _data.domain, groups_of(_data.X, _data.domain, centers, _data.groups))


_shared = st.cache_resource(max_entries=32, show_spinner=False)(_found)
_mine = st.cache_resource(max_entries=8, show_spinner=False, scope="session")(_found)
