"""Single runs for a page: a run with the loss of every step, and its KMeans reference."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

import numpy as np

from dpviz.algorithms import Algorithm
from dpviz.algorithms.kmeans import KMeans
from dpviz.datasets import Dataset
from dpviz.metrics import loss_path, run_loss
from dpviz.trace import Trace

__all__ = ["Reference", "Replay", "reference", "replay", "rivals"]

STARTS = 20  # number of single starts of KMeans that look for rivals of the best one
CLOSE = 1.05  # a start is a rival if its loss is at most this multiple of the reference's
ROWS = 10_000  # maximum number of rows for a single start; if there are more, it runs on a sample


@dataclasses.dataclass(frozen=True, eq=False)
class Replay:
    """A run with its time and the loss of every step, both None if the data are private, because they depend on rows.

    Losses are NaN if clusters are regions.
    """

    trace: Trace
    losses: np.ndarray | None = None
    seconds: float | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class Reference:
    """KMeans on the raw rows, and its loss in z units. NOT PRIVATE."""

    trace: Trace
    loss: float


def replay(
    data: Dataset,
    algorithm: Algorithm,
    seed: int | None,
    on_step: Callable[[int, int], None] = lambda done, all: None,
    *,
    noiseless: bool = False,
) -> Replay:
    """Run an algorithm; `on_step` receives the number of releases made so far, and the number planned.

    Private data get secure noise and no seed, and nothing else is computed from their rows.

    Raises
    ------
    PermissionError
        If noise is switched off for a run on private data.
    """
    if noiseless and data.private:
        raise PermissionError("A run without noise is for DEMO only; nothing was read.")
    planned = algorithm.releases(data.domain.n_features, data.n_public)
    begun = time.perf_counter()
    trace = algorithm.run(
        data.X,
        domain=data.domain,
        seed=None if data.private else seed,
        noise="secure" if data.private else "none" if noiseless else "seeded",
        dataset_id=data.dataset_id,
        on_step=lambda step: on_step(step.n_releases, planned),
    )
    if data.private:
        return Replay(trace)
    seconds = time.perf_counter() - begun
    losses = np.full(len(trace.steps), np.nan) if algorithm.regions else loss_path(trace, data.X)
    return Replay(trace, losses, seconds)


def reference(data: Dataset, n_clusters: int, seed: int, objective: str = "means") -> Reference:
    """Run KMeans (or, for the objective "medians", k-median) on non-private data; return the result and its loss."""
    kmeans = KMeans(n_clusters=n_clusters, objective=objective)
    trace = kmeans.run(data.X, domain=data.domain, seed=seed, dataset_id=data.dataset_id)
    return Reference(trace, float(loss_path(trace, data.X)[-1]))


class _OneStart(KMeans):
    N_INIT = 1


def rivals(data: Dataset, first: Trace) -> list[np.ndarray]:
    """Return the centers (k, d; original units) of single starts of KMeans whose loss is close to that of `first`.

    Where these centers differ from `first`, KMeans itself is undecided. The starts run on at most `ROWS` rows. NOT
    PRIVATE.
    """
    X = data.X
    if len(X) > ROWS:
        X = X[np.random.default_rng(0).choice(len(X), ROWS, replace=False)]
    one, most = _OneStart(**first.parameters), CLOSE * run_loss(first, X)
    runs = (one.run(X, domain=data.domain, seed=seed).cluster_centers for seed in range(STARTS))
    return [np.asarray(centers) for centers in runs if run_loss(first, X, centers) <= most]
