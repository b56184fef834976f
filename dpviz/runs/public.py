"""Start a method that takes public rows from a few rows of a public set, which stand in for published ones."""

from __future__ import annotations

from dpviz.algorithms import Algorithm
from dpviz.datasets import Dataset
from dpviz.datasets.public_rows import some_rows

__all__ = ["STANDS_IN", "started"]

STANDS_IN = "a twentieth of the rows, always the same ones, counts as published and gives the first centers"


def started(algorithm: Algorithm, data: Dataset) -> Algorithm:
    """Return a method that takes public rows with its start from `some_rows` of a public data set; others unchanged.

    A method that has a start keeps it.

    Raises
    ------
    PermissionError
        If the data are private.
    ValueError
        If too few rows inside their bounds are different.
    """
    if not algorithm.takes_public_rows or getattr(algorithm, "public_centers", None) is not None:
        return algorithm
    return algorithm.with_public_rows(some_rows(data, 2 * algorithm.n_clusters), data.domain)
