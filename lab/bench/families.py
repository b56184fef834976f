"""Generate the benchmark's data sets: eleven families, each with one property that makes clustering hard."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable

import numpy as np

__all__ = ["FAMILIES", "Family", "Made", "made"]


@dataclasses.dataclass(frozen=True, eq=False)
class Made:
    """A generated data set: rows of shape (n, d), and the number of clusters to ask for."""

    X: np.ndarray
    k: int


@dataclasses.dataclass(frozen=True)
class Family:
    """A family of data sets.

    Attributes
    ----------
    make : function of a generator and the draw's number; the number sets what must be balanced over draws
    words : description
    """

    make: Callable[[np.random.Generator, int], Made]
    words: str


def made(family: str, draw: int, frozen: str) -> Made:
    """Return a family's data set; the same text `frozen` gives the same rows."""
    seed = hashlib.sha256(f"{frozen} {family} {draw}".encode()).digest()
    return FAMILIES[family].make(np.random.default_rng(int.from_bytes(seed)), draw)


def _few(rng: np.random.Generator, draw: int) -> Made:
    d, k = 1 + draw % 3, int(rng.integers(3, 16))
    centers = rng.uniform(0, 1, (k, d))
    return Made(_around(rng, centers, k ** (-1 / d) * rng.uniform(0.05, 0.2), _sizes(rng, k, 2000, 5000)), k)


def _far(rng: np.random.Generator, draw: int) -> Made:
    d, large, small = 1 + draw % 3, int(rng.integers(2, 5)), int(rng.integers(2, 6))
    direction = rng.normal(size=(small, d))
    away = direction / np.linalg.norm(direction, axis=1, keepdims=True) * rng.uniform(30, 100, (small, 1))
    n, shares = int(rng.integers(3000, 7000)), rng.uniform(0.005, 0.03, small)
    sizes = [*_sizes(rng, large, n, n), *(n * shares).astype(int)]
    return Made(_around(rng, np.concatenate([rng.uniform(-5, 5, (large, d)), away]), 1.0, sizes), large + small)


def _tails(d: int) -> Callable[[np.random.Generator, int], Made]:
    def make(rng: np.random.Generator, draw: int) -> Made:
        shape, k = (4000, d), int(rng.integers(4, 9))
        if draw % 2:
            return Made(rng.pareto(rng.uniform(1.3, 2.5), shape), k)
        return Made(rng.lognormal(0.0, rng.uniform(1, 2), shape), k)

    return make


def _groups(rng: np.random.Generator, draw: int) -> Made:
    d, k = 2 + draw % 2, int(rng.integers(40, 101))
    spread = k ** (-1 / d) * rng.uniform(0.05, 0.15)
    return Made(_around(rng, rng.uniform(0, 1, (k, d)), spread, _sizes(rng, k, 8000, 8000)), k)


def _columns(low: int, high: int) -> Callable[[np.random.Generator, int], Made]:
    def make(rng: np.random.Generator, draw: int) -> Made:
        d, k = int(rng.integers(low, high + 1)), int(rng.integers(4, 13))
        centers = rng.normal(size=(k, d)) * rng.uniform(0.5, 2.0)
        return Made(_around(rng, centers, 1.0, _sizes(rng, k, 4000, 8000)), k)

    return make


def _rows(rng: np.random.Generator, draw: int) -> Made:
    d, k = int(rng.integers(2, 9)), int(rng.integers(2, 6))
    return Made(_around(rng, rng.normal(size=(k, d)) * rng.uniform(1.5, 4), 1.0, _sizes(rng, k, 100, 500)), k)


def _onehot(rng: np.random.Generator, draw: int) -> Made:
    k, numeric, levels = int(rng.integers(3, 9)), int(rng.integers(1, 5)), rng.integers(3, 7, int(rng.integers(2, 5)))
    sizes = _sizes(rng, k, 3000, 8000)
    labels = np.repeat(np.arange(k), sizes)
    columns = [_around(rng, rng.uniform(0.2, 0.8, (k, numeric)), 0.1, sizes).clip(0, 1)]
    for level in levels:
        chances = rng.dirichlet(np.full(level, 0.4), k).cumsum(axis=1)[labels]
        columns.append(np.eye(level)[(rng.uniform(size=(len(labels), 1)) > chances[:, :-1]).sum(axis=1)])
    return Made(np.concatenate(columns, axis=1), k)


def _wrong_k(rng: np.random.Generator, draw: int) -> Made:
    d, groups = int(rng.integers(2, 9)), int(rng.integers(4, 21))
    centers = rng.normal(size=(groups, d)) * rng.uniform(2, 6)
    return Made(
        _around(rng, centers, 1.0, _sizes(rng, groups, 3000, 8000)), 2 * groups if draw % 2 else max(2, groups // 2)
    )


def _sizes(rng: np.random.Generator, k: int, low: int, high: int) -> np.ndarray:
    """Return the sizes (k,) of groups, each at least a fifth of the mean size, of low to high rows in all."""
    shares = 0.2 / k + 0.8 * rng.dirichlet(np.full(k, 3.0))
    return np.ceil(shares * rng.integers(low, high + 1)).astype(int)


def _around(rng: np.random.Generator, centers: np.ndarray, spread: float, sizes: np.ndarray | list[int]) -> np.ndarray:
    """Return normal groups around centers (k, d): sizes[i] rows, with standard deviations near `spread`."""
    widths = spread * rng.uniform(0.5, 1.5, centers.shape)
    at = np.repeat(np.arange(len(centers)), sizes)
    return centers[at] + rng.normal(size=(len(at), centers.shape[1])) * widths[at]


FAMILIES = {
    "few-columns": Family(_few, "3 to 15 groups in 1 to 3 columns"),
    "far-groups": Family(_far, "1 to 3 columns; 2 to 5 groups of .5 to 3% of the rows lie far out"),
    "tails-1": Family(_tails(1), "one column, lognormal or Pareto"),
    "tails-2": Family(_tails(2), "two columns, lognormal or Pareto"),
    "tails-3": Family(_tails(3), "three columns, lognormal or Pareto"),
    "many-groups": Family(_groups, "40 to 100 groups in 2 or 3 columns"),
    "many-columns": Family(_columns(16, 64), "16 to 64 columns"),
    "wide": Family(_columns(65, 128), "65 to 128 columns"),
    "few-rows": Family(_rows, "100 to 500 rows"),
    "one-hot": Family(_onehot, "numbers beside 2 to 4 texts, each as columns of 0 and 1"),
    "wrong-k": Family(_wrong_k, "half or twice as many clusters as groups"),
}
