"""Make runs that the atlas lacks, in the same format: runs of one method at one ε on public data."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpviz.algorithms import Algorithm
from dpviz.atlas.cells import Yardstick
from dpviz.atlas.files import Stop
from dpviz.datasets import Dataset
from dpviz.metrics import run_loss
from dpviz.postprocessing.released import center_noise
from dpviz.postprocessing.verdict import groups_of
from dpviz.runs.single import reference

__all__ = ["RUNS", "ground", "stop"]

RUNS = 10  # number of runs at a stop that is computed while a visitor waits; run i has seed i


def ground(data: Dataset, n_clusters: int, on_step: Callable[[int, int], None] = lambda done, all: None) -> Yardstick:
    """Return the reference with which runs are compared: KMeans' centers and loss, and the groups.

    Raises
    ------
    PermissionError
        If the data are private, because none of this may be released.
    """
    _refuse(data)
    kmeans = reference(data, n_clusters, 0)
    centers = kmeans.trace.cluster_centers
    on_step(1, 1)
    return Yardstick(centers, kmeans.loss, groups_of(data.X, data.domain, centers, data.groups))


def stop(
    data: Dataset,
    algorithm: Algorithm,
    yardstick: Yardstick,
    on_step: Callable[[int, int], None] = lambda done, all: None,
) -> Stop:
    """Run a method RUNS times at its ε and return the runs; `on_step` receives (number of finished runs, RUNS).

    Raises
    ------
    PermissionError
        If the data are private, because every run would spend ε.
    """
    _refuse(data)
    runs = []
    for seed in range(RUNS):
        runs.append(algorithm.run(data.X, domain=data.domain, seed=seed, dataset_id=data.dataset_id))
        on_step(seed + 1, RUNS)
    sizes = [center_noise(run).sizes for run in runs]
    return Stop(
        algorithm.epsilon,  # type: ignore[attr-defined]
        runs[0].claimed.odds,
        tuple(run.cluster_centers for run in runs),
        tuple(None if some is None else np.asarray(some, dtype=float) for some in sizes),
        np.array([run_loss(run, data.X) for run in runs]),
        np.array([yardstick.groups.found_by(data.domain.normalize(run.cluster_centers)).sum() for run in runs]),
    )


def _refuse(data: Dataset) -> None:
    if data.private:
        raise PermissionError("Only runs on public data may be compared; nothing was read.")
