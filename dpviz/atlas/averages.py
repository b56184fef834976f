"""Facts stored for the page Start: rows that follow from a town's averages, and bets about one of these people."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.atlas.cells import STORY, opened, yardstick
from dpviz.atlas.files import FOLDER, replace, table_of
from dpviz.atlas.machines import agrees
from dpviz.audits.game import Round, play, present
from dpviz.audits.reconstruct import exactly, published, read_off, wrongly
from dpviz.trace import Trace

__all__ = [
    "CLUSTERS", "DRAW", "EPSILON", "NAME", "Bets", "Given", "bets", "up_to_date", "given", "lloyd", "compute", "make",
    "nearest", "read",
]  # fmt: skip

NAME = "averages.parquet"
EPSILON = 1.0  # budget of the story's method in every bet
CLUSTERS = range(2, 13)  # numbers of clusters in an elbow plot
ROUNDS = 25  # number of rounds of Lloyd's algorithm
POOL = 8  # number of rounds of each world from which bets are drawn
TRIED = 12  # number of exact runs of each world that are marked in the lens
DRAW = 1  # seed of the published averages: the first whose exact centers find all groups if k is right
_SEED = 0  # seed of the bets
_ROUNDS = [{"inside": "bool", "centers": ["double"], "speaks": "double"}]
_KINDS = {
    **{"rows": [["int32"]], "wrong": [["double"]], "centers": [["double"]], "kmeans": ["double"], "alex": "int32"},
    **{"exact": _ROUNDS, "private": _ROUNDS, "inside": ["double"], "outside": ["double"]},
}


@dataclasses.dataclass(frozen=True, eq=False)
class Given:
    """The rows that follow from published averages.

    Attributes
    ----------
    rows : for every number of clusters, the indices of the rows that its averages are the first to reveal
    wrong : for every number of clusters, the rows (m, 2), original units, that its averages are the first to suggest
        although nobody has them
    centers : for every number of clusters k, the last averages (k, 2), original units
    kmeans : centers of KMeans (k, 2), original units
    alex : index of the revealed row that is farthest from the nearest center of KMeans
    """

    rows: tuple[tuple[int, ...], ...]
    wrong: tuple[np.ndarray, ...]
    centers: tuple[np.ndarray, ...]
    kmeans: np.ndarray
    alex: int

    @property
    def count(self) -> int:
        """Return the number of revealed rows."""
        return sum(map(len, self.rows))

    @property
    def candidates(self) -> int:
        """Return the number of rows that an attacker computes, right or wrong."""
        return self.count + sum(map(len, self.wrong))


@dataclasses.dataclass(frozen=True, eq=False)
class Bets:
    """Rounds of the game "is Alex in the data?", half in each world, and exact runs in both worlds for comparison.

    Attributes
    ----------
    exact : rounds against KMeans
    private : rounds against the story's method
    inside, outside : ndarrays of shape (m, 2), the center nearest to Alex in exact runs of each world
    """

    exact: tuple[Round, ...]
    private: tuple[Round, ...]
    inside: np.ndarray
    outside: np.ndarray


def given() -> Given:
    """Find the rows that exact averages of Lloyd's algorithm suggest for each k in `CLUSTERS`."""
    data = opened(STORY[0], None).data
    seen, out = set[int](), np.empty((0, 2))
    rows, wrong, centers = [], [], []
    for k in CLUSTERS:
        trace = lloyd(k, None, DRAW)
        reads = read_off(published(trace), data.domain.radius)
        who = {int(i) for i in exactly(reads, data.X, data.domain)}
        others = wrongly(reads, data.X, data.domain)
        rows.append(tuple(sorted(who - seen)))
        wrong.append(np.array([row for row in others if not _among(row, out)]).reshape(-1, 2))
        centers.append(trace.cluster_centers)
        seen, out = seen | who, np.vstack([out, others])
    ids, kmeans = sorted(seen), yardstick(STORY[0], None).centers
    alex = ids[int(cdist(data.X[ids], kmeans).min(axis=1).argmax())]
    return Given(tuple(rows), tuple(wrong), tuple(centers), kmeans, alex)


def _among(row: np.ndarray, others: np.ndarray) -> bool:
    return bool(len(others)) and bool(np.linalg.norm(others - row, axis=1).min() < 1e-5)


def lloyd(k: int, epsilon: float | None, seed: int) -> Trace:
    """Return the run that publishes averages of k clusters; with noise, all k in `CLUSTERS` cost `epsilon` together.

    Each number of clusters gets an equal share of ε; the method is ε-DP without a δ, so the shares add up to ε.
    """
    data, share = opened(STORY[0], None).data, (EPSILON if epsilon is None else epsilon) / len(CLUSTERS)
    values = {"epsilon": share, "iterations": ROUNDS, "dead_cluster": "keep"}
    method, noise = ALGORITHMS["dp-lloyd"](n_clusters=k, **values), "none" if epsilon is None else "seeded"
    return method.run(data.X, domain=data.domain, seed=seed, noise=noise, dataset_id=data.dataset_id)


def bets(alex: int) -> Bets:
    """Play the rounds on which visitors bet, which are all about one row of the sample."""
    data = opened(STORY[0], None).data
    worlds = data.X, data.domain, data.n_public, data.X[alex], alex
    exact = ALGORITHMS["kmeans"](n_clusters=data.n_clusters)
    private = ALGORITHMS[STORY[1]](n_clusters=data.n_clusters, **{"epsilon": EPSILON})

    def played(method: Algorithm, first: int, count: int) -> dict[bool, list[Round]]:
        return {world: play(present(method, *worlds), method, first, count, _SEED, world) for world in (True, False)}

    def pool(method: Algorithm) -> tuple[Round, ...]:
        return tuple(one for rounds in played(method, 0, POOL).values() for one in rounds)

    tried = played(exact, POOL, TRIED)
    marks = {w: np.unique([nearest(one.centers, data.X[alex]) for one in tried[w]], axis=0) for w in tried}
    return Bets(pool(exact), pool(private), marks[True], marks[False])


def nearest(centers: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Return the center, out of `centers` (k, d), that is nearest to a point (d,)."""
    center: np.ndarray = centers[np.linalg.norm(centers - place, axis=1).argmin()]
    return center


def compute(on_step: Callable[[int, int], None] = lambda done, all: None) -> tuple[Given, Bets]:
    """Compute what `read` returns, which takes about five seconds."""
    who = given()
    on_step(1, 2)
    return who, bets(who.alex)


def make(folder: Path = FOLDER) -> None:
    """Compute and write the facts, which takes about five seconds; the old file stays until the new one is complete."""
    row = _computed()
    replace(folder / NAME, [row], _KINDS, _inputs(), words=[], floats=[])
    read.cache_clear()


def _computed() -> dict[str, Any]:
    """Compute the facts in their stored form."""
    with threadpool_limits(1):  # with so few rows, threads mostly wait for each other and take six times the CPU time
        who = given()
        games = bets(who.alex)
    pools = {
        name: [
            {"inside": one.inside, "centers": one.centers.ravel().tolist(), "speaks": one.speaks}
            for one in getattr(games, name)
        ]
        for name in ("exact", "private")
    }
    return {
        "rows": [list(rows) for rows in who.rows],
        "wrong": [rows.ravel().tolist() for rows in who.wrong],
        "centers": [centers.ravel().tolist() for centers in who.centers],
        "kmeans": who.kmeans.ravel().tolist(),
        "alex": who.alex,
        **pools,
        "inside": games.inside.ravel().tolist(),
        "outside": games.outside.ravel().tolist(),
    }


def _inputs() -> dict[str, Any]:
    """Return the settings from which the averages are computed."""
    return {"story": [*STORY, EPSILON], "lloyd": [*CLUSTERS, ROUNDS, DRAW], "bets": [POOL, TRIED, _SEED]}


def _load(folder: Path) -> dict[str, Any] | None:
    stored = table_of(folder / NAME, _KINDS)
    if stored is None:
        return None
    rows, facts = stored[0].to_pylist(), stored[1]
    return rows[0] if len(rows) == 1 and all(facts[name] == value for name, value in _inputs().items()) else None


def up_to_date(folder: Path = FOLDER) -> bool:
    """Return whether the stored facts can be reproduced: floats to a millionth, everything else exactly."""
    stored = _load(folder)
    return stored is not None and agrees(stored, _computed())


@lru_cache(maxsize=2)
def read(folder: Path = FOLDER) -> tuple[Given, Bets] | None:
    """Return the stored facts, or None if the file is missing, damaged or of another version."""
    row = _load(folder)
    if row is None:
        return None
    who = Given(
        tuple(map(tuple, row["rows"])), tuple(map(_places, row["wrong"])), tuple(map(_places, row["centers"])),
        _places(row["kmeans"]), row["alex"],
    )  # fmt: skip

    def pool(rounds: list[dict[str, Any]]) -> tuple[Round, ...]:
        return tuple(Round(one["inside"], _places(one["centers"]), one["speaks"]) for one in rounds)

    return who, Bets(pool(row["exact"]), pool(row["private"]), _places(row["inside"]), _places(row["outside"]))


def _places(values: list[float]) -> np.ndarray:
    return np.reshape(values, (-1, 2))
