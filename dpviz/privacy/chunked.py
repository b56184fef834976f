"""Hold rows on disk: a file larger than memory, read part by part for every release, in threads or on a cluster.

Every statistic lies on the 2^-24 grid, so the parts' sums are added as whole numbers: the result is bit for bit the
same as in memory, whatever the parts, their order and the machines. Noise is drawn once, in this process.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from typing import Any, NoReturn

import numpy as np
from sklearn.metrics import pairwise_distances_argmin_min
from threadpoolctl import threadpool_limits

from dpviz.datasets.parts import Part, resized
from dpviz.domain import Domain
from dpviz.geometry import GRID, bincount, inertia
from dpviz.privacy.block import Block
from dpviz.privacy.queries import CellCover, KeyQuery, Positions, Predicate, Query, Question
from dpviz.privacy.rows import ALL, Cells, Gather, Keep, Perturb, Rows, Session, StatisticSession

__all__ = ["ChunkedRows", "finished", "on_cluster", "threads"]

NOBODY_SECONDS = 120.0  # a run gives up on a cluster that has had no worker for this many seconds
_TICK = 0.1  # seconds between two checks for finished parts

Route = tuple[tuple[Predicate, int], ...]  # the predicates and parts that lead from all rows to a scope
Spread = Callable[[Callable[["Part"], Any], Sequence["Part"]], Iterable[Any]]


def threads(workers: int) -> Spread:
    """Return a function that computes parts in threads of this process, with one BLAS thread each."""

    def spread(compute: Callable[[Part], Any], parts: Sequence[Part]) -> Iterator[Any]:
        with threadpool_limits(1), ThreadPoolExecutor(workers) as pool:
            yield from pool.map(compute, parts)

    return spread


def on_cluster(client: Any) -> Spread:
    """Return a function that computes parts as futures of a Dask client; its workers see raw rows and must be trusted.

    Raises
    ------
    ValueError
        If workers keep dying on a part, or no worker is left.
    """

    def spread(compute: Callable[[Part], Any], parts: Sequence[Part]) -> Iterator[Any]:
        from dask.distributed import KilledWorker

        futures = client.map(compute, parts, pure=False, retries=2)
        try:
            for future in finished(client, futures):
                yield future.result()
        except KilledWorker:
            raise ValueError(
                "cluster: its workers keep dying on a part of the file, perhaps for lack of memory."
            ) from None
        finally:
            client.cancel(futures)

    return spread


def finished(client: Any, futures: Sequence[Any], on_wait: Callable[[], None] = lambda: None) -> Iterator[Any]:
    """Yield a Dask client's futures as they finish; `on_wait` is called now and then and may raise an error.

    Raises
    ------
    ValueError
        If there has been no worker for two minutes, because the futures would wait forever.
    """
    from dask.distributed import as_completed

    pending, left, served = as_completed(futures), len(futures), time.monotonic()
    while left:
        on_wait()
        batch = list(pending.next_batch(block=False))
        for future in batch:
            if future.status in ("lost", "pending"):  # the worker died with the result, so the result is computed again
                pending.add(future)
            else:
                left -= 1
                yield future
        if batch or client.nthreads():
            served = time.monotonic()
        elif time.monotonic() - served > NOBODY_SECONDS:
            raise ValueError("cluster: no worker is left, and none joined in two minutes; start workers and run again.")
        if not batch:
            time.sleep(_TICK)


class ChunkedRows(Rows):
    """Rows of a file that is never in memory as a whole.

    Parameters
    ----------
    parts : sequence of Part, from `parts_of`
    domain : Domain
    dataset_id : str
    spread : function that computes the parts: `threads(2)`, or `on_cluster(client)`

    Rows on disk answer every query that is a sum over rows, including selections and sparse keys, but refuse greedy
    covers, shuffling, reports of the local model, and releases of one value per row.
    """

    def __init__(self, parts: Sequence[Part], domain: Domain, dataset_id: str, spread: Spread) -> None:
        self.domain = domain
        self.dataset_id = dataset_id
        self._parts = tuple(parts)
        self._spread = spread

    def open(self, n_rows: int | None = None) -> Session:
        """Start a session of one run, with exactly `n_rows` rows if the relation keeps n; see `Rows.open`."""
        parts = self._parts if n_rows is None else resized(self._parts, n_rows)
        return ChunkedSession(parts, self.domain, self._spread, fixed=n_rows is not None)

    def size_nonprivate(self, *, every: bool = False) -> int:
        """Return the exact number of finite rows, which takes one pass, or of all rows with `every`. For DEMO only."""
        return self._parts[-1].stop if every else self._size

    @cached_property
    def _size(self) -> int:
        return sum(self._spread(partial(_size, domain=self.domain), self._parts))

    def inertia(self, centers: np.ndarray) -> float:
        """Return the sum of squared distances of the UNCLIPPED rows to their nearest center, z units: NOT PRIVATE."""
        return math.fsum(self._spread(partial(_inertia, domain=self.domain, centers=centers), self._parts))

    def distance(self, centers: np.ndarray) -> float:
        """Return the sum of the distances, not squared, of the rows to their nearest center: NOT PRIVATE."""
        return math.fsum(self._spread(partial(_distance, domain=self.domain, centers=centers), self._parts))


class ChunkedSession(StatisticSession):
    """One run's scopes, stored as chains of public predicates that each part evaluates again."""

    def __init__(self, parts: Sequence[Part], domain: Domain, spread: Spread, *, fixed: bool = False) -> None:
        super().__init__()
        self._parts, self._domain, self._spread, self._fixed = parts, domain, spread, fixed
        self._routes: dict[int, Route] = {ALL: ()}
        self._kept: dict[tuple[Query, int | None], dict[str, np.ndarray]] = {}

    def _divide(self, scope: int, predicate: Predicate, children: tuple[int, ...]) -> None:
        """Record the chain of every child scope without reading anything."""
        self._routes |= {child: (*self._routes[scope], (predicate, part)) for part, child in enumerate(children)}

    def noisy_keys(
        self, query: KeyQuery, scope: int, keep: Keep
    ) -> tuple[np.ndarray, np.ndarray, Mapping[str, np.ndarray]]:
        """Return (kept keys, their noisy counts, true keys and counts); the parts' keys are merged first."""
        answers = list(self._each(partial(_keys, query=query), scope))
        every = np.concatenate([keys for keys, _ in answers])
        keys, place = np.unique(every, axis=0, return_inverse=True)
        counts = bincount(place.ravel(), weights=np.concatenate([c for _, c in answers]), minlength=len(keys))
        noisy, mask = keep(counts)
        return keys[mask], noisy[mask], {"keys": keys, "counts": counts}

    def noisy_cover(self, query: CellCover, scope: int, pick: Cells) -> NoReturn:
        """Raise an error, because each pick depends on the rows that earlier picks covered."""
        raise PermissionError("ChunkedRows: a greedy cover needs the rows in memory; load the file instead.")

    def perturb(self, name: str, query: Positions, draw: Perturb) -> NoReturn:
        """Raise an error, because one noisy value per row would not fit in memory either."""
        raise PermissionError("ChunkedRows: a release of every row needs the rows in memory; load the file instead.")

    def shuffle(self, order: np.ndarray) -> NoReturn:
        """Raise an error, because rows on disk cannot be reordered."""
        raise PermissionError("ChunkedRows: mixing the rows needs them in memory; load the file instead.")

    def ask(self, question: Question, scope: int, gather: Gather) -> NoReturn:
        """Raise an error, because rows on disk cannot answer one by one, as the local model requires."""
        raise PermissionError("ChunkedRows: the local model needs the rows in memory; load the file instead.")

    def _statistic(self, query: Query, scope: int) -> dict[str, np.ndarray]:
        """Return the sum of the parts' statistics, added in multiples of 2^-24.

        The statistic of the second of two siblings is found by subtraction.
        """
        if (query, scope) in self._kept:
            return self._kept[query, scope]
        parent = self.path(scope)[-2] if scope != ALL else None
        siblings = [s for s in self.children(parent) if s != scope] if parent is not None else []
        whole = self._kept.get((query, parent))
        other = self._kept.get((query, siblings[0])) if len(siblings) == 1 else None
        if whole is not None and other is not None:
            difference = {part: whole[part] - other[part] for part in whole}
        else:
            total: dict[str, np.ndarray] = {}
            for one in self._each(partial(_fixed, query=query), scope):
                for part, value in one.items():
                    total[part] = value + total.get(part, 0)
            difference = {part: value * GRID for part, value in total.items()}
        if query.keep:
            self._kept[query, scope] = difference
        return difference

    def _each(self, compute: Callable[[Block], Any], scope: int) -> Iterable[Any]:
        route = partial(_follow, domain=self._domain, fixed=self._fixed, route=self._routes[scope], compute=compute)
        return self._spread(route, self._parts)


def _follow(part: Part, domain: Domain, fixed: bool, route: Route, compute: Callable[[Block], Any]) -> Any:
    X = part.read()
    block = Rows(X, domain)._block(len(X) if fixed else None)
    for predicate, wanted in route:
        block = block.take(np.flatnonzero(predicate.assign(block) == wanted))
    return compute(block)


def _fixed(block: Block, query: Query) -> dict[str, np.ndarray]:
    return {part: np.rint(value / GRID).astype(np.int64) for part, value in query.statistic(block).items()}


def _keys(block: Block, query: KeyQuery) -> tuple[np.ndarray, np.ndarray]:
    return query.statistic(block)


def _size(part: Part, domain: Domain) -> int:
    return int(np.isfinite(domain.normalize(part.read())).all(axis=1).sum())


def _inertia(part: Part, domain: Domain, centers: np.ndarray) -> float:
    Z = domain.normalize(part.read())
    return inertia(Z[np.isfinite(Z).all(axis=1)], centers)


def _distance(part: Part, domain: Domain, centers: np.ndarray) -> float:
    Z = domain.normalize(part.read())
    Z = Z[np.isfinite(Z).all(axis=1)]
    return float(pairwise_distances_argmin_min(Z, centers)[1].sum()) if len(Z) else 0.0
