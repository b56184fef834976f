"""Rerun the same algorithm on the same people with fresh noise."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from dpviz.algorithms import Algorithm
from dpviz.datasets import Dataset
from dpviz.domain import Domain
from dpviz.metrics import run_loss
from dpviz.privacy.rows import Rows

__all__ = ["Reruns", "matched", "rerun", "spread"]


@dataclasses.dataclass(frozen=True, eq=False)
class Reruns:
    """Runs that differ only in their seed. On raw rows the losses are NOT PRIVATE.

    Attributes
    ----------
    seeds : one per run
    centers : released centers of every run, arrays of shape (k', d), original units
    losses : ndarray of shape (runs,), mean squared distance (mean distance for medians), z units
    """

    seeds: tuple[int, ...]
    centers: tuple[np.ndarray, ...]
    losses: np.ndarray

    @property
    def worst(self) -> int:
        """Return the index of the run with the largest loss."""
        return int(np.argmax(self.losses))


def rerun(
    populations: Sequence[Dataset],
    algorithm: Algorithm,
    seeds: Sequence[int],
    on_step: Callable[[int, int], None] = lambda done, all: None,
) -> Reruns:
    """Run an algorithm once for each seed; `on_step` receives the numbers of finished runs and of all runs.

    Parameters
    ----------
    populations : public or made-up data, used in turn, all with the same domain; never private rows
    seeds : seeds of the noise and of the start

    Raises
    ------
    PermissionError
        If a population is private: every run would spend its budget again.
    """
    if any(people.private for people in populations):
        raise PermissionError("Every rerun on private data would spend its budget again; simulate people instead.")
    sources = [_rows(people, algorithm) for people in populations]
    centers, losses = [], []
    for done, seed in enumerate(seeds):
        on_step(done, len(seeds))
        people, rows = populations[done % len(populations)], sources[done % len(populations)]
        trace = algorithm.run(rows, domain=people.domain, seed=seed, dataset_id=people.dataset_id)
        centers.append(np.asarray(trace.cluster_centers))
        losses.append(run_loss(trace, people.X))
    on_step(len(seeds), len(seeds))
    return Reruns(tuple(seeds), tuple(centers), np.array(losses))


def _rows(people: Dataset, algorithm: Algorithm) -> np.ndarray | Rows:
    """Return the rows, prepared once for all runs, or the raw rows for the reference."""
    return Rows(people.X, people.domain, people.dataset_id) if algorithm.notion.private else people.X


def matched(runs: Sequence[np.ndarray], anchor: np.ndarray, domain: Domain) -> np.ndarray:
    """Return each run's center for every anchor (k, d): shape (runs, k, d), original units, NaN if there is none.

    Each run's centers are matched one to one with the anchors, with the least total distance in z units.
    """
    here = domain.normalize(anchor)
    places = np.full((len(runs), *anchor.shape), np.nan)
    for run, centers in zip(places, runs, strict=True):
        own, other = linear_sum_assignment(cdist(here, domain.normalize(centers)))
        run[own] = centers[other]
    return places


def spread(runs: Sequence[np.ndarray], anchor: np.ndarray, domain: Domain) -> np.ndarray:
    """Return how far the centers matched with each anchor (k, d) scatter over the runs: shape (k,), z units.

    The result is the root mean square of the columns' standard deviations, or NaN for an anchor with fewer than two
    matches.
    """
    Z = (matched(runs, anchor, domain) - domain.middle) / domain.half_width
    there = np.isfinite(Z[..., 0])
    count = there.sum(axis=0)
    mean = np.nansum(Z, axis=0) / np.maximum(count, 1)[:, None]
    squares = np.nansum((Z - mean) ** 2, axis=(0, 2))
    scatter = np.sqrt(squares / np.maximum(count - 1, 1) / anchor.shape[1])
    return np.where(count > 1, scatter, np.nan)
