"""Where the private rows live. Nothing in here hands out a row or a sum without noise, except to DEMO's hidden record."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from dpviz.domain import Domain
from dpviz.geometry import snap_toward_zero
from dpviz.privacy.queries import Query

__all__ = ["ALL", "Block", "Rows", "Session"]

ALL = 0
Draw = Callable[[str, np.ndarray], np.ndarray]


class Block:
    """Rows that a query is computed on: normalized, clipped, on the grid 2^-24.

    Attributes
    ----------
    x : ndarray of shape (n, d), read-only
    """

    def __init__(self, x: np.ndarray, base: Block | None = None, index: np.ndarray | None = None) -> None:
        self.x = x
        self._base = base
        self._index = index
        self._products: dict[Hashable, np.ndarray] = {}

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.x)

    @cached_property
    def float32(self) -> np.ndarray:
        """The rows in single precision, for kernels that re-decide near ties exactly."""
        return self.x.astype(np.float32)

    def derived(self, key: Hashable, make: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Return make(x) of the whole base block, gathered to these rows; computed once per public `key`."""
        if self._base is not None:
            return self._base.derived(key, make)[self._index]
        if key not in self._products:
            self._products[key] = make(self.x)
        return self._products[key]


class Rows:
    """An immutable data set that many runs may share.

    Parameters
    ----------
    X : array of shape (n_samples, n_features), original units
    domain : Domain
    dataset_id : str, "sample:NAME" or a random token

    Rows with a cell that is not finite are dropped; the others are normalized, clipped to the domain and snapped
    toward zero to the grid. Each of these depends on that row and public values only.
    """

    def __init__(self, X: np.ndarray, domain: Domain, dataset_id: str = "unnamed") -> None:
        Z = domain.normalize(X)
        Z = Z[np.isfinite(Z).all(axis=1)]
        if len(Z) == 0:
            raise ValueError("Rows: the data must have at least one row of finite numbers; got none.")
        x = snap_toward_zero(domain.clip(Z))
        x.setflags(write=False)
        self.domain = domain
        self.dataset_id = dataset_id
        self._block = Block(x)

    @property
    def n_features(self) -> int:
        """Number of columns: public."""
        return self.domain.n_features

    def open(self) -> Session:
        """Start a run's own view; all state of the run lives there."""
        return Session(self._block)

    def size_nonprivate(self) -> int:
        """Return the exact number of rows. Only for relations that keep n, and for DEMO."""
        return self._block.n


@dataclasses.dataclass
class Scope:
    """A subset of the rows, made by a partition on public predicates."""

    parent: int | None
    block: Block


class Session:
    """One run's scopes over shared rows."""

    def __init__(self, block: Block) -> None:
        self._scopes: dict[int, Scope] = {ALL: Scope(None, block)}

    def path(self, scope: int) -> tuple[int, ...]:
        """Return the scopes from the whole data set down to `scope`."""
        parent = self._scopes[scope].parent
        return (scope,) if parent is None else (*self.path(parent), scope)

    def noisy_sum(self, query: Query, scope: int, draw: Draw) -> tuple[Mapping[str, Any], Mapping[str, np.ndarray]]:
        """Return (noisy, true) statistics of a scope; `draw(part, statistic)` adds the noise.

        The true statistic goes to the curator's DEMO record and nowhere else.
        """
        true = query.local(self._scopes[scope].block)
        return {part: draw(part, statistic) for part, statistic in true.items()}, true
