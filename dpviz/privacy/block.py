"""The rows that a query is computed on, with a cache of derived values."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property

import numpy as np

from dpviz.geometry import Population, nearest, together

__all__ = ["Block"]


class Block:
    """Rows on which a query is computed; they are normalized, clipped and on the 2^-24 grid.

    Attributes
    ----------
    x : ndarray of shape (n, d), read-only
    """

    def __init__(self, x: np.ndarray | None, base: Block | None = None, index: np.ndarray | None = None) -> None:
        self._x = x
        self._base = base
        self._index = index
        self._products: dict[Hashable, np.ndarray] = {}
        self._companions: dict[str, np.ndarray] = {}
        self._nearest: tuple[np.ndarray, np.ndarray] | None = None

    @cached_property
    def x(self) -> np.ndarray:  # noqa: D102
        return self._x if self._base is None else self._base.x[self._index]  # type: ignore[return-value]

    @cached_property
    def together(self) -> np.ndarray:
        """Return the rows (n, d) in an order that makes searches fast, for statistics that do not depend on order."""
        return together(self.x)

    @property
    def ids(self) -> np.ndarray:
        """Return the public number of every row: its position among all rows. Use these numbers only if n is fixed."""
        return np.arange(self.n) if self._index is None else self._index

    @property
    def n(self) -> int:
        """Return the number of rows."""
        return len(self.x) if self._index is None else len(self._index)

    def column(self, i: int) -> np.ndarray:
        """Return one column, shape (n,), without gathering the others."""
        return self.x[:, i] if self._base is None else self._base.x[self._index, i]

    def take(self, index: np.ndarray) -> Block:
        """Return the block of a subset of these rows; values are gathered from the base block as needed."""
        base = self if self._base is None else self._base
        return Block(None, base, index if self._index is None else self._index[index])

    def derived(self, key: Hashable, make: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Return make(x) of the whole base block, restricted to these rows; it is computed once per public `key`."""
        if self._base is not None:
            return self._base.derived(key, make)[self._index]
        if key not in self._products:
            self._products[key] = make(self.x)
        return self._products[key]

    def nearest(self, points: np.ndarray) -> np.ndarray:
        """Return the index of the nearest of the public points (k, d) for every row, shape (n,).

        The result for the most recent points is kept, because one step asks several queries about the same centers.
        """
        if self._nearest is None or not np.array_equal(self._nearest[0], points):
            self._nearest = np.array(points), nearest(self.x, Population(points))
        return self._nearest[1]

    def companion(self, name: str) -> np.ndarray:
        """Return the released values, one per row, that are stored with the rows under this name.

        Raises
        ------
        KeyError
            If no values were released under that name.
        """
        if name not in self._companions:
            raise KeyError(f"Block: no companion {name!r} was released; call perturb_rows first.")
        return self._companions[name]

    def accompany(self, name: str, values: np.ndarray) -> None:
        """Store released values with the rows; a second release under the same name replaces the first.

        Raises
        ------
        ValueError
            If the number of values differs from the number of rows.
        """
        if len(values) != self.n:
            raise ValueError(f"Block: companion {name!r} must have one value per row.")
        self._companions[name] = values
