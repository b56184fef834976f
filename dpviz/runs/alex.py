"""Run the same algorithm in two worlds that differ in one person, Alex. NOT PRIVATE: for DEMO only."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from dpviz.algorithms import Algorithm
from dpviz.algorithms.kmeans import KMeans
from dpviz.datasets import Dataset
from dpviz.domain import Domain
from dpviz.privacy.guarantee import Neighboring
from dpviz.runs.reruns import Reruns, rerun

__all__ = ["Alex", "World", "Worlds", "clouds", "neighbors", "worlds"]


@dataclasses.dataclass(frozen=True, eq=False)
class Alex:
    """Alex: the row with number `row` or, if `row` is None, a new person; `place` (d,) is in original units."""

    place: np.ndarray
    row: int | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class World:
    """The centers in one of the two worlds: those of one run with the given noise seed, and KMeans'."""

    one: np.ndarray
    kmeans: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class Worlds:
    """Both worlds; `moved` is Alex's position in the second world, or None if Alex is absent from it."""

    here: World
    there: World
    moved: np.ndarray | None


def neighbors(
    data: Dataset,
    alex: Alex,
    relation: Neighboring,
    rho_distance: float | None = None,
    elsewhere: np.ndarray | None = None,
) -> tuple[Dataset, Dataset, np.ndarray | None]:
    """Return the two worlds and the position to which Alex moves, if Alex moves; to `elsewhere` (d,) if it is given.

    Under add/remove, Alex is in the data or not, and the declared number of people stays the same. Under a relation
    that keeps n, Alex stays or moves: by rho toward the middle of the bounds or, without a rho, to the middle.

    Raises
    ------
    PermissionError
        If the data are private.
    """
    if data.private:
        raise PermissionError("Two worlds are for DEMO only: on private rows they would reveal the person.")
    X = np.asarray(data.X)
    others = X if alex.row is None else np.delete(X, alex.row, axis=0)
    with_alex = X if alex.row is not None else np.vstack([X, alex.place])
    free = relation is Neighboring.ADD_REMOVE
    domain = dataclasses.replace(data.domain, n_public=data.n_public if free else len(with_alex))
    if free and elsewhere is None:
        return _world(data, with_alex, domain), _world(data, others, domain), None
    if elsewhere is None:
        way = data.domain.middle - alex.place
        length = float(np.linalg.norm(way / data.domain.half_width))
        share = 1.0 if rho_distance is None or length == 0 else min(1.0, rho_distance / length)
        elsewhere = alex.place + share * way
    moved = with_alex.copy()
    moved[-1 if alex.row is None else alex.row] = elsewhere
    return _world(data, with_alex, domain), _world(data, moved, domain), elsewhere


def _world(data: Dataset, X: np.ndarray, domain: Domain) -> Dataset:
    return dataclasses.replace(data, X=X, labels=None, domain=domain)


def worlds(
    data: Dataset,
    algorithm: Algorithm,
    alex: Alex,
    seed: int,
    elsewhere: np.ndarray | None = None,
    on_step: Callable[[int, int], None] = lambda done, all: None,
) -> Worlds:
    """Run KMeans and, with the same noise seed, an algorithm in both worlds; `elsewhere` is as in `neighbors`."""
    here, there, moved = _both(data, algorithm, alex, elsewhere)

    def world(people: Dataset, begun: int) -> World:
        one = rerun([people], algorithm, [seed], lambda done, _: on_step(begun + done, 2)).centers[0]
        plain = KMeans(n_clusters=algorithm.n_clusters).run(people.X, domain=people.domain, seed=0)
        return World(one, np.asarray(plain.cluster_centers))

    return Worlds(world(here, 0), world(there, 1), moved)


def clouds(
    data: Dataset,
    algorithm: Algorithm,
    alex: Alex,
    seeds: Sequence[int],
    elsewhere: np.ndarray | None = None,
    on_step: Callable[[int, int], None] = lambda done, all: None,
) -> tuple[Reruns, Reruns]:
    """Run an algorithm in both worlds, once for each seed; the second world uses the same number of other seeds."""
    here, there, _ = _both(data, algorithm, alex, elsewhere)
    each = len(seeds)

    def cloud(people: Dataset, own: Sequence[int], begun: int) -> Reruns:
        return rerun([people], algorithm, own, lambda done, _: on_step(begun + done, 2 * each))

    return cloud(here, seeds, 0), cloud(there, [seed + each for seed in seeds], each)


def _both(
    data: Dataset, algorithm: Algorithm, alex: Alex, elsewhere: np.ndarray | None
) -> tuple[Dataset, Dataset, np.ndarray | None]:
    return neighbors(data, alex, algorithm.neighboring, getattr(algorithm, "rho_distance", None), elsewhere)
