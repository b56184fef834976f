"""Read rows that are declared public, by the columns and rules of a data set, or take a few rows of a public set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpviz.datasets.dataset import Dataset
from dpviz.datasets.dictionary import complete
from dpviz.datasets.loading import from_table
from dpviz.datasets.readers import TableError, read_table
from dpviz.datasets.readers.recode import Recoding

__all__ = ["read_public_rows", "some_rows"]

_WRITTEN = ("decimal", "decimal_of", "thousands", "missing_marks", "no_missing_marks")  # how the data write a cell


def read_public_rows(content: bytes, name: str, facts: Mapping[str, Any]) -> np.ndarray:
    """Return the public rows (m, d) of a file, in the units of the domain, for the data set with these `facts`.

    The sheet, the line of names and the separator are found in the file; rules, missing cells and signs of numbers are
    those of the data.

    Raises
    ------
    ValueError
        If the file is no table, or lacks a column of the data; the message says what to do.
    """
    facts = complete(facts)
    rules = tuple(Recoding.parse(entry, name) for entry in facts["recode"])
    form = {key: facts["form"][key] for key in _WRITTEN if key in facts["form"]}
    table = read_table(content, name, recode=rules, **form)
    wanted = [column["name"] for column in facts["columns"]]
    known = {column.name for column in table.columns}
    lacking = [] if facts["projection"] else [one for one in wanted if one not in known]
    if lacking:
        raise TableError(
            f"{name}: the public rows lack the column {lacking[0]!r}; they must have the data's columns: "
            f"{', '.join(wanted[:8])}{', ...' * (len(wanted) > 8)}."
        )
    return from_table(table, {**facts, "label": None}).X


def some_rows(data: Dataset, least: int) -> np.ndarray:
    """Return a twentieth of a public data set's rows, at least `least`, which stand in for published ones in DEMO.

    The same data always give the same rows, in the units of the domain. Rows outside the bounds, or with a missing
    cell, are not chosen.

    Raises
    ------
    PermissionError
        If the data are private.
    """
    if data.private:
        raise PermissionError("datasets: the rows are private, so none of them can count as published.")
    usable = data.X[np.isfinite(data.X).all(axis=1) & ~data.domain.outside(data.X)]
    chosen = np.random.default_rng(0).permutation(len(usable))[: max(len(usable) // 20, least)]
    return usable[chosen]
