"""Data sets with their declared public facts: the bundled samples, and strict CSV reading."""

from __future__ import annotations

import dataclasses
import json
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpviz.domain import Domain

__all__ = ["SAMPLES", "Dataset", "load_csv", "load_sample"]

SAMPLES = ("town", "blobs", "overlap", "minority", "ring", "highdim", "tiny", "iris", "wine", "digits")
_FOLDER = Path(__file__).parent.parent / "sample_data"


@dataclasses.dataclass(frozen=True, eq=False)
class Dataset:
    """Rows with their declared public facts.

    Attributes
    ----------
    X : ndarray of shape (n, d), original units, read-only
    columns : names of the d columns; public
    units : units of the d columns; public
    domain : Domain
    labels : ndarray of shape (n,) or None, known groups, for evaluation in DEMO only
    dataset_id : "sample:NAME" or a random token, never derived from the data
    title, description, n_clusters, facts : for the pages; `facts` is the whole data dictionary
    """

    X: np.ndarray
    columns: tuple[str, ...]
    units: tuple[str, ...]
    domain: Domain
    labels: np.ndarray | None
    dataset_id: str
    title: str
    description: str = ""
    n_clusters: int = 3
    facts: Mapping[str, Any] = dataclasses.field(default_factory=dict)


def load_sample(name: str) -> Dataset:
    """Return a bundled sample.

    Raises
    ------
    ValueError
        If there is no such sample.
    """
    if name not in SAMPLES:
        raise ValueError(f"datasets: sample must be one of {', '.join(SAMPLES)}; got {name!r}.")
    return load_csv(_FOLDER / f"{name}.csv", dataset_id=f"sample:{name}")


def load_csv(
    path: Path,
    *,
    low: float | Sequence[float] | None = None,
    high: float | Sequence[float] | None = None,
    n_public: int | None = None,
    dataset_id: str | None = None,
) -> Dataset:
    """Read a CSV file with a header line, and NAME.json beside it if no bounds are given.

    No message ever holds a cell's value.

    Raises
    ------
    ValueError
        One sentence: what is wrong with the file, and what to do.
    """
    path = Path(path)
    dictionary_file = path.with_suffix(".json")
    if not path.is_file():
        raise ValueError(f"datasets: the file {path.name} does not exist.")
    try:
        table = pd.read_csv(path, index_col=False, encoding="utf-8-sig")
    except (pd.errors.EmptyDataError, pd.errors.ParserError, pd.errors.ParserWarning, UnicodeDecodeError):
        raise ValueError(
            f"datasets: {path.name} cannot be read as a comma-separated UTF-8 table with one header line "
            "and equally many cells in every row."
        ) from None
    if low is not None or high is not None:
        return _bounded(table, path, low, high, n_public, dataset_id)
    if not dictionary_file.is_file():
        raise ValueError(
            f"datasets: {path.name} has no public bounds; give low and high, or the file {dictionary_file.name}."
        )
    facts = json.loads(dictionary_file.read_text())
    names = [column["name"] for column in facts["columns"]]
    missing = [name for name in names if name not in table]
    if missing:
        raise ValueError(f"datasets: {path.name} lacks the column {missing[0]!r} that its data dictionary declares.")
    domain = Domain.box(
        np.array([column["low"] for column in facts["columns"]], dtype=float),
        np.array([column["high"] for column in facts["columns"]], dtype=float),
        scale=facts.get("scale", "column"),
        radius=facts.get("radius"),
        n_public=facts.get("n_public") if n_public is None else n_public,
        rows_per_person=facts.get("rows_per_person", 1),
    )
    label = facts.get("label")
    return Dataset(
        X=_numbers(table[names], path),
        columns=tuple(names),
        units=tuple(column.get("unit", "") for column in facts["columns"]),
        domain=domain,
        labels=None if label is None else np.asarray(table[label]),
        dataset_id=dataset_id or secrets.token_hex(8),
        title=facts.get("title", path.stem),
        description=facts.get("description", ""),
        n_clusters=facts.get("n_clusters", 3),
        facts=facts,
    )


def _bounded(
    table: pd.DataFrame,
    path: Path,
    low: float | Sequence[float] | None,
    high: float | Sequence[float] | None,
    n_public: int | None,
    dataset_id: str | None,
) -> Dataset:
    if low is None or high is None:
        raise ValueError("datasets: low and high must be given together.")
    X = _numbers(table, path)
    bounds = [np.asarray(bound, dtype=float).reshape(-1) for bound in (low, high)]
    if any(bound.size not in (1, X.shape[1]) for bound in bounds):
        raise ValueError(f"datasets: low and high must have 1 or {X.shape[1]} values, one per column.")
    low_, high_ = (np.broadcast_to(bound, (X.shape[1],)) for bound in bounds)
    return Dataset(
        X=X,
        columns=tuple(map(str, table.columns)),
        units=("",) * X.shape[1],
        domain=Domain.box(low_, high_, n_public=n_public),
        labels=None,
        dataset_id=dataset_id or secrets.token_hex(8),
        title=path.stem,
    )


def _numbers(table: pd.DataFrame, path: Path) -> np.ndarray:
    """Return the table as a read-only float64 matrix."""
    if table.empty:
        raise ValueError(f"datasets: {path.name} must have at least one row below its header.")
    for name in table.columns:
        if not pd.api.types.is_numeric_dtype(table[name]) or pd.api.types.is_bool_dtype(table[name]):
            raise ValueError(
                f"datasets: column {name!r} of {path.name} must hold numbers only; leave it out or recode it."
            )
    X = table.to_numpy(dtype=np.float64)
    X.setflags(write=False)
    return X
