"""Find columns that merely number the rows; distances in such columns mean nothing."""

from __future__ import annotations

import re

import numpy as np

from dpviz.datasets.meanings import meaning_of
from dpviz.datasets.readers import Table

__all__ = ["is_called_a_number", "singles_out"]

_NAMED = re.compile(
    r"(^|[\W_])(id|ids|pid|idx|index|nr|no|uuid|guid|row|record)$|^(id|nr|idx)[\W_]|[a-z](Id|ID|Nr)$", re.ASCII
)


def is_called_a_number(name: str) -> bool:
    """Return whether a column's name says that it numbers rows or people."""
    return bool(_NAMED.search(name))


def singles_out(table: Table, name: str, *, private: bool) -> bool:
    """Return whether a column seems to number the rows, judged by its name and, if it is public, by its cells.

    A name that means numbers, such as age, is believed: a short table may hold each of them once.
    """
    if is_called_a_number(name):
        return True
    meaning = meaning_of(name)
    means_numbers = meaning is not None and meaning.low is not None
    return not private and not means_numbers and _numbers(table.values(name))


def _numbers(values: np.ndarray) -> bool:
    """Return whether the cells are distinct whole numbers, either in order or without wide gaps. NOT PRIVATE."""
    if len(values) < 10 or not np.isfinite(values).all() or (values != np.round(values)).any():
        return False
    steps = np.diff(np.sort(values))
    return bool(steps.min() > 0 and ((np.diff(values) > 0).all() or np.ptp(values) < 2 * len(values)))
