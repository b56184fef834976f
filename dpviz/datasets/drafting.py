"""Draft a table's data dictionary: names, kinds and, for a public file, the bounds that its rows have."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.datasets.identifiers import singles_out
from dpviz.datasets.readers import Table, TableError

__all__ = ["draft"]


def draft(table: Table, form: Mapping[str, Any], *, private: bool) -> dict[str, Any]:
    """Return the facts found in a file; facts that only its owner knows are null.

    In a public file, the cells of a text or date column suggest the rule that turns them into numbers.
    """
    columns: list[dict[str, Any]] = []
    left_out: list[dict[str, Any]] = []
    reasons = _left_out(table, private)
    for column in table.columns:
        name, values = column.name, column.values
        entry: dict[str, Any] = {"name": name, "unit": "", "low": None, "high": None, "recode": None}
        if values is None:
            entry["recode"] = column.suggestion or None
        elif not private and np.isfinite(values).any():
            entry |= {"low": float(np.nanmin(values)), "high": float(np.nanmax(values))}
            if share := float(np.isnan(values).mean()):
                entry["description"] = f"{share:.1%} missing"
        if values is not None and name not in reasons:
            columns.append(entry)
        else:
            left_out.append(entry | {"kind": column.kind, "reason": reasons.get(name, column.reason)})
    if not columns:  # the file has only columns of text and dates, which can be used through rules
        _refuse_lost_numbers(table)
        columns = [
            {k: v for k, v in entry.items() if k not in ("kind", "reason")} for entry in left_out if entry["recode"]
        ]
        left_out = [entry for entry in left_out if not entry["recode"]]
    facts: dict[str, Any] = {"title": Path(table.name).stem, "columns": columns, "left_out": left_out}
    facts |= {"scale": "column", "label": None, "form": dict(form)}
    if private:
        return facts | {"rows_per_person": None, "n_public": None}
    return facts | {"rows_per_person": 1, "n_public": table.n_rows, "declared": False}


def _left_out(table: Table, private: bool) -> dict[str, str]:
    """Return the usable columns to leave out, each with a reason, or none if no column would be left."""
    reasons = {}
    for name in table.usable:
        values = table.values(name)
        if singles_out(table, name, private=private):
            reasons[name] = "It seems to number the rows, which identifies people."
        elif not private and np.isfinite(values).any() and np.nanmin(values) == np.nanmax(values):
            reasons[name] = "It has the same value in every row."
        elif not private and (lacking := float(np.isnan(values).mean())) > 0.5:
            reasons[name] = f"It has no value in {lacking:.1%} of the rows, so using it would leave those rows out."
    return reasons if len(reasons) < len(table.usable) else {}


def _refuse_lost_numbers(table: Table) -> None:
    """Refuse to cluster words alone while numbers of the same file cannot be read."""
    for column in table.lost:
        place = table.columns.index(column) + 1
        raise TableError(
            f"{table.name}: no column of numbers can be read, and clustering its words alone would mean little. "
            f"Column {place}, {column.name!r}: {column.reason} Or choose the words yourself (--recode COLUMN=RULE)."
        )
