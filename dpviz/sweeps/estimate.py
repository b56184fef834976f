"""Estimate the duration and the privacy cost of a sweep before it starts."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from typing import Any

from dpviz.privacy.accounting import epsilon_of_mu
from dpviz.privacy.guarantee import Guarantee, Notion
from dpviz.sweeps.sources import open_source
from dpviz.sweeps.sweep import Run, Sweep, execute

__all__ = ["START_SECONDS", "composed", "kind", "missing", "seconds", "trial"]

START_SECONDS = 2.0  # seconds to start the worker processes (1.3 to 2.1 in lab/benchmarks/forecast.py)
_FREE = ("epsilon", "delta", "rho_distance")  # parameters that hardly change the time


def kind(cell: Run) -> tuple[Any, ...]:
    """Return the facts about a run that determine its time."""
    fixed = tuple(pair for pair in cell.parameters if pair[0] not in _FREE)
    return cell.data, cell.modified, cell.bounds, cell.n_rows, cell.algorithm, cell.preset, fixed, cell.metrics


def missing(runs: Iterable[Run], known: Mapping[tuple[Any, ...], float]) -> list[Run]:
    """Return one run of every kind that has no known time, with the KMeans references first."""
    runs_by_key: dict[tuple[Any, ...], Run] = {}
    for cell in runs:
        if kind(cell) not in known:
            runs_by_key.setdefault(kind(cell), cell)
    return list(runs_by_key.values())


def trial(cell: Run) -> float:
    """Make one run in this process and return its time in seconds, without the time for opening the data."""
    open_source(cell.data, cell.bounds, cell.n_rows, cell.modified)
    begun = time.perf_counter()
    execute(cell)
    return time.perf_counter() - begun


def seconds(runs: Iterable[Run], known: Mapping[tuple[Any, ...], float], workers: int) -> float | None:
    """Return the expected time of these runs in seconds, or None if the time of one kind is unknown."""
    every = [known.get(kind(cell)) for cell in runs]
    measured = [value for value in every if value is not None]
    if len(measured) < len(every):
        return None
    return START_SECONDS + sum(measured) / workers if every else 0.0


def composed(sweep: Sweep) -> tuple[int, float]:
    """Return the number of Gaussian runs under central DP, and the epsilon they would spend together on private data.

    The squares of the runs' mu add up; the epsilon holds at the smallest delta of the runs.
    """
    cache: dict[tuple[Any, ...], Guarantee] = {}
    promises = []
    for cell in sweep.runs():
        point = (*kind(cell), cell.parameters)
        if point not in cache:
            cache[point] = _promise(cell)
        promises.append(cache[point])
    mus = [(p.mu, p.delta) for p in promises if p.notion is Notion.CENTRAL and p.mu is not None]
    if not mus:
        return 0, 0.0
    return len(mus), epsilon_of_mu(math.sqrt(math.fsum(mu**2 for mu, _ in mus)), min(delta for _, delta in mus))


def _promise(cell: Run) -> Guarantee:
    data = open_source(cell.data, cell.bounds, cell.n_rows, cell.modified).data
    n = data.n_public
    algorithm = cell.variant.build(cell.parameters, n_clusters=data.n_clusters, n_public=n)
    return algorithm.guarantee(data.domain.n_features, n)
