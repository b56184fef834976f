"""Read plain text tables of our own: a line of names, then numbers with points; this reader needs only numpy."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from dpviz.datasets.readers.table import Table, table_of, usable

__all__ = ["read_plain"]


def read_plain(path: Path) -> Table:
    """Read a file whose form needs no detection; `read_table` reads the same numbers from it.

    Raises
    ------
    ValueError
        If a cell is not a number, or a line has more or fewer cells than another.
    """
    with path.open(encoding="utf-8", newline="") as file:
        names = next(csv.reader(file))
        columns = np.ascontiguousarray(np.loadtxt(file, delimiter=",", ndmin=2).T)
    numbers = [usable(name, "number", values) for name, values in zip(names, columns, strict=True)]
    return table_of(path.name, numbers, columns.shape[1], ())
