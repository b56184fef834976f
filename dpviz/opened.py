"""Data for one run on the command line: in memory, or in a file that is read part by part."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet

from dpviz.datasets import Dataset
from dpviz.domain import Domain
from dpviz.metrics import normalized_loss
from dpviz.privacy.chunked import ChunkedRows, Spread, parts_of
from dpviz.privacy.rows import Rows

__all__ = ["Opened", "in_memory", "in_parts"]


@dataclasses.dataclass(frozen=True, eq=False)
class Opened:
    """What an algorithm runs on, and what the command line says about it.

    Attributes
    ----------
    X : array, original units, or Rows
    domain : Domain
    dataset_id : str
    columns : their names
    loss : centers in original units -> normalized loss of the raw rows; NOT PRIVATE
    size : -> number of rows; NOT PRIVATE
    """

    X: np.ndarray | Rows
    domain: Domain
    dataset_id: str
    columns: tuple[str, ...]
    loss: Callable[[np.ndarray], float]
    size: Callable[[], int]


def in_memory(data: Dataset) -> Opened:
    """Open a data set."""
    return Opened(
        data.X,
        data.domain,
        data.dataset_id,
        data.columns,
        lambda centers: normalized_loss(data.X, centers, data.domain),
        lambda: len(data.X),
    )


def in_parts(
    path: Path,
    low: Sequence[float] | None,
    high: Sequence[float] | None,
    n_public: int | None,
    spread: Spread,
) -> Opened:
    """Open a .npy or .parquet file of any size; at no time are more than a few parts of it in memory.

    `spread` is how the parts are computed: in threads, or on a cluster.

    Raises
    ------
    ValueError
        If there is no such file, or its public bounds are missing or do not fit.
    """
    if not path.is_file():
        raise ValueError(f"datasets: the file {path.name} does not exist.")
    if low is None or high is None:
        raise ValueError(f"datasets: {path.name} is read in parts, so its public bounds low and high must be given.")
    parts = parts_of(path)
    if path.suffix == ".parquet":
        columns = tuple(parquet.read_schema(path).names)
    else:
        columns = tuple(f"x{i}" for i in range(np.load(path, mmap_mode="r").shape[1]))
    domain = Domain.box(np.asarray(low), np.asarray(high), len(columns), n_public=n_public)
    if domain.n_features != len(columns):
        raise ValueError(f"datasets: low and high must have 1 or {len(columns)} values, one per column.")
    rows = ChunkedRows(parts, domain, secrets.token_hex(8), spread)

    def loss(centers: np.ndarray) -> float:
        return rows.inertia(domain.normalize(centers)) / rows.size_nonprivate()

    return Opened(rows, domain, rows.dataset_id, columns, loss, rows.size_nonprivate)
