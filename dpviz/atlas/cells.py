"""List the runs in the atlas, and make the row in which each run is stored."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from dpviz import params
from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.datasets import SAMPLES
from dpviz.metrics import normalized_loss, run_loss
from dpviz.postprocessing.released import center_noise
from dpviz.postprocessing.verdict import Groups, groups_of
from dpviz.privacy.guarantee import Notion
from dpviz.runs.public import started
from dpviz.sweeps.sources import Source, open_source, reference
from dpviz.trace import Trace

__all__ = [
    "EXACTLY_K",
    "METHODS",
    "ON_TOWN",
    "PEOPLE",
    "SEEDS",
    "STOPS",
    "STORY",
    "STORY_SEEDS",
    "Cell",
    "Chapter",
    "chapters",
    "covers",
    "row",
    "trace",
]

METHODS = (  # methods used in teaching, in teaching order; kmeans is the reference and has no budget
    *("kmeans", "pe-means", "hdpe-means", "dp-lloyd", "fastlloyd", "dpm", "mst-kmeans", "nsm"),
    *("stemmer-kaplan", "dist-dp-region-means"),
)
ON_TOWN = ("public-start", "choose-k")  # methods with stored runs on the sample of the lessons alone, to save space
EXACTLY_K = (("exactly_k", True),)  # makes a method that may release more than k centers comparable with the others
STOPS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0, 8.0)  # values of epsilon
SEEDS = 20
# the sample and method of the story, and its number of runs, which is larger
STORY, STORY_SEEDS = ("town", "pe-means"), 100
PEOPLE = {"town": (300, 1000)}  # numbers of people in smaller editions of a sample, besides the whole sample

# rounding steps of centers and sizes, too fine to see in any picture; rounding saves two thirds of the bytes
_CENTER_STEP, _SIZE_STEP = 2.0**-22, 2.0**-8


@dataclasses.dataclass(frozen=True, order=True)
class Chapter:
    """All runs of one method on one sample, kept in one file; `values` are parameters that differ from the defaults."""

    sample: str
    method: str
    values: tuple[tuple[str, Any], ...] = ()

    @property
    def name(self) -> str:
        """Return the file's name without its extension."""
        return ".".join((self.sample, self.method, *(f"{name}-{value}".lower() for name, value in self.values)))

    def cells(self) -> list[Cell]:
        """Return the runs in the order of the file's rows."""
        stops = STOPS if "epsilon" in params.specs(ALGORITHMS[self.method]) else (None,)
        seeds = STORY_SEEDS if (self.sample, self.method) == STORY else SEEDS
        people = (None, *PEOPLE.get(self.sample, ()))
        return [Cell(self, n, epsilon, seed) for n in people for epsilon in stops for seed in range(seeds)]


@dataclasses.dataclass(frozen=True)
class Cell:
    """One run. `people` is None for the whole sample, and `epsilon` is None for a method without a budget."""

    chapter: Chapter
    people: int | None
    epsilon: float | None
    seed: int

    def algorithm(self) -> Algorithm:
        """Return the method with the sample's number of centers, the chapter's values, and defaults for the rest.

        A method that takes public rows starts from some of the sample's.
        """
        budget = {} if self.epsilon is None else {"epsilon": self.epsilon}
        data, cls = opened(self.chapter.sample, self.people).data, ALGORITHMS[self.chapter.method]
        return started(cls(n_clusters=data.n_clusters, **budget, **dict(self.chapter.values)), data)


def covers(sample: str, method: str, values: tuple[tuple[str, Any], ...] = ()) -> bool:
    """Return whether the atlas is meant to hold runs of a method on a sample; other names have none."""
    of_sample = sample in SAMPLES and method in _methods(sample)
    return of_sample and (values == () or (values == EXACTLY_K and method in METHODS))


def _methods(sample: str) -> tuple[str, ...]:
    return METHODS + ON_TOWN * (sample == "town")


def chapters() -> Iterator[Chapter]:
    """Yield a chapter for every sample and every method that runs on it.

    A method that promises privacy for a distance runs only on samples whose columns have a common scale. A method that
    may release more than k centers appears twice, the second time with exactly k.
    """
    for sample in SAMPLES:
        scale = opened(sample, None).data.domain.scale
        for method in _methods(sample):
            if scale == "common" or ALGORITHMS[method].notion is not Notion.RHO:
                yield Chapter(sample, method)
                if covers(sample, method, EXACTLY_K) and "exactly_k" in params.specs(ALGORITHMS[method]):
                    yield Chapter(sample, method, EXACTLY_K)


def opened(sample: str, people: int | None) -> Source:
    """Return a whole sample, or its edition with this number of people."""
    return open_source(f"sample:{sample}", "declared", people, "")


@dataclasses.dataclass(frozen=True, eq=False)
class Yardstick:
    """The reference for the runs on a sample: KMeans' centers (k, d) in original units, its loss, and the groups."""

    centers: np.ndarray
    loss: float
    groups: Groups


@lru_cache(maxsize=32)
def yardstick(sample: str, people: int | None) -> Yardstick:
    """Return the reference for the runs on a sample."""
    data = opened(sample, people).data
    centers = reference(f"sample:{sample}", "declared", people, "", data.n_clusters, 0)
    return Yardstick(
        centers, normalized_loss(data.X, centers, data.domain), groups_of(data.X, data.domain, centers, data.groups)
    )


def trace(cell: Cell) -> Trace:
    """Make one run."""
    source, algorithm = opened(cell.chapter.sample, cell.people), cell.algorithm()
    rows = source.rows if algorithm.notion.private else source.data.X
    return algorithm.run(rows, domain=source.data.domain, seed=cell.seed, dataset_id=source.data.dataset_id)


def row(cell: Cell) -> dict[str, Any]:
    """Make one run and return its row in the atlas.

    Keys: people (0 for all), epsilon (None without a budget), seed; bet, the largest number of bets, out of 100, that
    an attacker wins; found, the number of groups with their own center; loss, mean squared distance in z units;
    centers, of shape (k' * d,), z units, in steps of 2^-22; sizes, of shape (k',) in steps of 2^-8, or None if the
    method releases none.
    """
    run, data = trace(cell), opened(cell.chapter.sample, cell.people).data
    groups = yardstick(cell.chapter.sample, cell.people).groups
    Z = data.domain.normalize(run.cluster_centers)
    sizes = center_noise(run).sizes
    return {
        "people": cell.people or 0,
        "epsilon": cell.epsilon,
        "seed": cell.seed,
        "bet": run.claimed.odds,
        "found": int(groups.found_by(Z).sum()),
        "loss": run_loss(run, data.X),
        "centers": _in_steps(Z.ravel(), _CENTER_STEP),
        "sizes": None if sizes is None else _in_steps(np.asarray(sizes, dtype=float), _SIZE_STEP),
    }


def _in_steps(values: np.ndarray, step: float) -> np.ndarray:
    return np.round(values / step) * step
