"""Facts stored for the page Start: the same averages with more and more noise, what an attacker and a reader get.

The attacker knows everybody but Alex. The reader uses the averages for the right number of clusters.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.atlas import averages
from dpviz.atlas.averages import CLUSTERS, DRAW, ROUNDS, lloyd
from dpviz.atlas.cells import STORY, opened, yardstick
from dpviz.atlas.files import FOLDER, replace, table_of
from dpviz.atlas.machines import agrees
from dpviz.audits.locate import belief, evidence, without
from dpviz.audits.reconstruct import published
from dpviz.metrics import normalized_loss
from dpviz.sweeps.engines import on_this_machine

__all__ = ["CLOUD", "DRAWS", "NAME", "STRENGTHS", "Noised", "up_to_date", "make", "outcome", "read", "won"]

NAME = "noised.parquet"
STRENGTHS = (None, 1100.0, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0)  # ε of all averages together; None is no noise.
DRAWS = 20  # number of draws of the noise at each strength
CLOUD = 120  # number of places that stand for what the attacker believes
_STEP = 2.0**-22  # resolution of a place, in z units
_KINDS = {
    **{"epsilon": "double", "draw": "int16", "off": "double", "evidence": "double", "found": "int16", "loss": "double"},
    **{"centers": ["double"], "cloud": ["double"]},
}


@dataclasses.dataclass(frozen=True, eq=False)
class Noised:
    """What follows from the averages at one strength of the noise.

    Attributes
    ----------
    epsilon : budget of all averages together, None without noise
    off : half of the attacker's belief lies within this distance of Alex, original units; ndarray of shape (DRAWS,)
    odds : number of bets, out of 100, on whether Alex is in the data that this attacker wins
    found : number of groups with their own center; ndarray of shape (DRAWS,)
    ratio : loss, in multiples of KMeans' loss; ndarray of shape (DRAWS,)
    centers : averages of draw `shown` for the right number of clusters (k, 2), original units
    cloud : places (CLOUD, 2) drawn from the belief in draw `shown`, original units
    shown : index of the draw that is shown
    """

    epsilon: float | None
    off: np.ndarray
    odds: float
    found: np.ndarray
    ratio: np.ndarray
    centers: np.ndarray
    cloud: np.ndarray
    shown: int


def outcome(epsilon: float | None, draw: int, alex: int) -> dict[str, Any]:
    """Publish the averages once, attack them, and return the row for the file, which holds z units."""
    data, there = opened(STORY[0], None).data, yardstick(STORY[0], None)
    Z = data.domain.clip(data.domain.normalize(data.X))
    traces = {k: lloyd(k, epsilon, draw) for k in CLUSTERS}
    left = without([one for trace in traces.values() for one in published(trace)], np.delete(Z, alex, axis=0))
    where, centers = belief(left, data.domain), traces[data.n_clusters].cluster_centers
    cloud = where.drawn(CLOUD, np.random.default_rng(draw))
    at = data.domain.normalize(centers)
    return {
        "epsilon": epsilon,
        "draw": draw,
        "off": where.off(Z[alex]),
        "evidence": math.inf if epsilon is None else float(evidence(left, Z[alex][None])[0]),
        "found": int(there.groups.found_by(at).sum()),
        "loss": normalized_loss(data.X, centers, data.domain),
        "centers": (np.round(at / _STEP) * _STEP).ravel().tolist() if draw == DRAW else [],
        "cloud": (np.round(cloud / _STEP) * _STEP).ravel().tolist() if draw == DRAW else [],
    }


def _cells() -> list[tuple[float | None, int]]:
    return [(epsilon, draw) for epsilon in STRENGTHS for draw in range(DRAWS)]


def make(folder: Path = FOLDER, *, workers: int = 1, on_run: Callable[[], None] = lambda: None) -> None:
    """Publish and attack all draws, which takes about ten minutes, and write them once they are complete."""
    stored = averages.read(folder)
    if stored is None:
        raise ValueError(f"atlas: {NAME} needs {averages.NAME}, which is missing.")
    jobs = [(epsilon, draw, stored[0].alex) for epsilon, draw in _cells()]
    rows = {}
    for job, row in on_this_machine(jobs, _computed, _given_up, workers=workers):
        rows[job] = row
        on_run()
    floats = ["off", "evidence", "loss", "centers.list.element", "cloud.list.element"]
    facts, words = _inputs(stored[0].alex), ["epsilon", "draw", "found"]
    replace(folder / NAME, [rows[job] for job in jobs], _KINDS, facts, words=words, floats=floats)
    read.cache_clear()


def _computed(job: tuple[float | None, int, int]) -> tuple[tuple[float | None, int, int], dict[str, Any]]:
    return job, outcome(*job)


def _given_up(job: tuple[float | None, int, int], reason: str) -> Any:
    raise ValueError(f"atlas: noised averages at ε {job[0]}, draw {job[1]}: {reason}")


def _inputs(alex: int) -> dict[str, Any]:
    """Return the settings from which the rows are computed."""
    return {"averages": [STORY[0], *CLUSTERS, ROUNDS, DRAW, alex], "noised": [*STRENGTHS, DRAWS, CLOUD]}


def _load(folder: Path) -> list[dict[str, Any]] | None:
    given, stored = averages.read(folder), table_of(folder / NAME, _KINDS)
    if given is None or stored is None:
        return None
    rows, facts = stored[0].to_pylist(), stored[1]
    fits = all(facts[name] == value for name, value in _inputs(given[0].alex).items())
    return rows if fits and [(row["epsilon"], row["draw"]) for row in rows] == _cells() else None


def up_to_date(folder: Path = FOLDER) -> bool:
    """Return whether the draw that is shown can be reproduced at every strength."""
    rows, given = _load(folder), averages.read(folder)
    shown = [row for row in rows or () if row["draw"] == DRAW]
    return (
        bool(shown)
        and given is not None
        and all(agrees(row, outcome(row["epsilon"], DRAW, given[0].alex)) for row in shown)
    )


@lru_cache(maxsize=2)
def read(folder: Path = FOLDER) -> tuple[Noised, ...] | None:
    """Return the facts at every strength, or None if the file is missing, damaged or of another version."""
    rows = _load(folder)
    if rows is None:
        return None
    data, best = opened(STORY[0], None).data, yardstick(STORY[0], None).loss
    unit = float(np.ptp(data.domain.denormalize(np.eye(2))[:, 0]))
    found = []
    for epsilon in STRENGTHS:
        at = [row for row in rows if row["epsilon"] == epsilon]
        shown = next(i for i, row in enumerate(at) if row["draw"] == DRAW)
        centers, cloud = (
            data.domain.denormalize(np.reshape(at[shown][name], (-1, 2))) for name in ("centers", "cloud")
        )
        off, found_, ratio = (np.array([row[name] for row in at]) for name in ("off", "found", "loss"))
        odds = won([row["evidence"] for row in at])
        found.append(Noised(epsilon, off * unit, odds, found_, ratio / best, centers, cloud, shown))
    return tuple(found)


def won(evidences: list[float]) -> float:
    """Return how many bets out of 100 the likelihood ratio wins, from its logarithms in runs with the person.

    The best attacker wins (1 + TV) / 2, where TV, the total variation distance of the two worlds, is the mean of
    max(0, 1 - 1 / ratio) over runs with the person.
    """
    apart = np.maximum(0, -np.expm1(-np.array(evidences))).mean()
    return float(50 * (1 + apart))
