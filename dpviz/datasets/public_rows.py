"""Read rows that are declared public beside a data set: its columns, rules and number format, its bounds elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpviz.datasets.dictionary import complete
from dpviz.datasets.loading import from_table
from dpviz.datasets.readers import TableError, read_table
from dpviz.datasets.readers.recode import Recoding

__all__ = ["read_public_rows"]

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
