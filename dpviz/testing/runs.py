"""Make the runs for the checks, each once per process, on rows that tend to break implementations."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache
from typing import Any

import numpy as np

from dpviz import params
from dpviz.algorithms import Algorithm
from dpviz.domain import Domain
from dpviz.trace import Trace

__all__ = ["ASKED", "MADE", "N", "DoesNotApply", "blobs", "built", "declared", "demand", "refuses", "run", "same"]

N = 240
ASKED: dict[str, Any] = {"n_clusters": 2, "epsilon": 1.0, "delta": 1e-4}


class DoesNotApply(Exception):
    """Raised by a check that does not apply to an algorithm; the message says why."""


def demand(holds: object, words: str) -> None:
    """Raise AssertionError with this message unless the condition holds; `python -O` does not remove this check."""
    if not holds:
        raise AssertionError(words)


def refuses(call: Callable[[], object], words: str) -> None:
    """Check that a call raises ValueError or TypeError with one of the texts in `words`, separated by bars."""
    try:
        call()
    except (ValueError, TypeError) as error:
        demand(any(part in str(error) for part in words.split("|")), f"the error says {error!s}, not {words!r}")
    else:
        raise AssertionError(f"no error was raised, but one with {words!r} was expected")


def blobs(n: int = N, d: int = 2, seed: int = 0) -> np.ndarray:
    """Return three narrow groups, shape (n, d), in [-1, 1]."""
    rng = np.random.default_rng(seed)
    centers = rng.uniform(-0.7, 0.7, (3, d))
    return np.clip(centers[rng.integers(3, size=n)] + rng.normal(0, 0.05, (n, d)), -1, 1)


def _two_groups(d: int) -> np.ndarray:
    return np.random.default_rng(0).normal(scale=0.2, size=(800, d)) + np.repeat(np.eye(d)[:2] * 0.5, 400, axis=0)


MADE: dict[str, np.ndarray] = {
    "blobs": blobs(),
    "outside": 3 * blobs(),
    "all equal": np.full((N, 2), 0.3),
    "corner outlier": np.vstack([np.zeros((N - 1, 2)), [[1.0, 1.0]]]),
    "ties": np.repeat([[-0.5, 0.5], [0.5, -0.5], [0.5, 0.5]], N // 3, axis=0),
    "one feature": blobs(d=1),
    "constant column": np.column_stack([blobs(d=2)[:, 0], np.zeros(N)]),
    "six features": blobs(d=6),
    "two rows": blobs(n=2),
    "two groups, 2 columns": _two_groups(2),
    "two groups, 6 columns": _two_groups(6),
}


def built(cls: type[Algorithm], **values: Any) -> Algorithm:
    """Return an instance built from those values that are parameters of the class."""
    return cls(**{name: value for name, value in values.items() if name in params.specs(cls)})


def declared(X: np.ndarray, **facts: Any) -> Domain:
    """Return the box from -1 to 1 for these rows, with their number declared."""
    return Domain.box(-1, 1, X.shape[1], **{"n_public": len(X), **facts})


def run(cls: type[Algorithm], rows: str = "blobs", seed: int = 0, **values: Any) -> Trace:
    """Return a run on rows of `MADE`, which several checks share."""
    return _run(built(cls, **values), rows, seed)


@cache
def _run(algorithm: Hashable, rows: str, seed: int) -> Trace:
    assert isinstance(algorithm, Algorithm)
    scale = "common" if rows.startswith("two groups") else "column"
    return algorithm.run(MADE[rows], domain=declared(MADE[rows], scale=scale), seed=seed)


def same(one: Trace, other: Trace) -> bool:
    """Return whether two traces are equal, hidden truth included."""
    return one.to_json(include_hidden=True) == other.to_json(include_hidden=True)
