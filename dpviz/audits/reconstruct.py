"""Read rows off the exact averages of Lloyd's algorithm: consecutive sums and counts differ by the rows that moved.

The idea of reconstruction from published centroid trajectories is from arXiv:2511.07073. Everything is computed from
published values; raw rows serve only to check the results afterwards.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from dpviz.domain import Domain
from dpviz.geometry import GRID
from dpviz.trace import Trace

__all__ = ["Read", "Publication", "exactly", "published", "read_off", "wrongly"]

_CLOSE = 2.0**-20  # tolerance in z units: sums are exact on the 2^-24 grid, but published as averages in float64
_WHOLE = 1e-6  # a count this close to a whole number is taken as whole; exact counts are whole, noisy ones hardly ever


@dataclasses.dataclass(frozen=True, eq=False)
class Publication:
    """Values published by one Lloyd iteration: centers (k, d), and the sums (k, d) and counts (k,) of their rows.

    The rows of a center are those nearest to it; all values are in z units. A sum that the round does not reveal, since
    its center stayed where it was for too small a count, is nan. The noise on every number has the standard deviation
    `sums_sd` or `counts_sd`, which are 0 without noise.
    """

    centers: np.ndarray
    sums: np.ndarray
    counts: np.ndarray
    sums_sd: float = 0.0
    counts_sd: float = 0.0


@dataclasses.dataclass(frozen=True, eq=False)
class Read:
    """A row (d,) that was read off, in z units, and the index of the round that revealed it."""

    row: np.ndarray
    round: int


def published(trace: Trace) -> list[Publication]:
    """Return the published rounds of a Lloyd run without a radius constraint, from its released averages alone.

    Raises
    ------
    ValueError
        If the run publishes no averages of whole rows.
    """
    rounds = []
    for step in trace.steps:
        if step.kind != "noisy-iteration":
            continue
        if step.released["constrained"]:
            raise ValueError(
                f"{trace.name}: sums of rows cannot be computed from averages of clipped offsets; use plain Lloyd."
            )
        counts = np.asarray(step.released["noisy_counts"], dtype=float)
        start, mean = np.asarray(step.released["start"]), np.asarray(step.released["raw"])
        stayed = np.asarray(step.released["dead"]) & (mean == start).all(axis=1)
        sums = np.where(stayed[:, None], np.nan, np.rint(mean * (counts + 1e-9)[:, None] / GRID) * GRID)
        sds = [0.0 if trace.noiseless else float(step.released[name]) for name in ("sums_sd", "counts_sd")]
        rounds.append(Publication(start, sums, counts, *sds))
    if not rounds:
        raise ValueError(f"{trace.name}: this run publishes no sums and counts of Lloyd's iterations.")
    return rounds


def read_off(rounds: Sequence[Publication], radius: float) -> list[Read]:
    """Return the rows that the published rounds reveal, each once.

    A cluster of one row publishes that row. If a cluster gained one row between two rounds, the difference of its sums
    is that row, provided that the known centers put it in another cluster before and in this one now. A row that is
    found is also subtracted from the change of its other cluster, and the search is repeated until it finds no more; a
    row counts only if the changes of both its clusters are then explained to within 2^-20 z units. Several rows that
    move at once can still look like one row, which then is nobody's. Counts that are not whole end the search, which
    says nothing about privacy: `dpviz.audits.locate` attacks noisy rounds.

    Parameters
    ----------
    radius : float, radius of the domain in z units; no row lies farther out
    """
    reads: list[Read] = []

    def add(row: np.ndarray, at: int) -> None:
        if not reads or np.linalg.norm(np.stack([one.row for one in reads]) - row, axis=1).min() > _CLOSE:
            reads.append(Read(row, at))

    for t, now in enumerate(rounds):
        for j in np.flatnonzero(np.abs(now.counts - 1) < _WHOLE):
            row = now.sums[j]
            if np.linalg.norm(row) <= radius and _nearest(now.centers, row) == j:
                add(row, t)
        if t:
            for row in _moved(rounds[t - 1], now, radius):
                add(row, t)
    return reads


def _moved(before: Publication, now: Publication, radius: float) -> list[np.ndarray]:
    """Return the rows that explain the changes between two rounds."""
    gained, moved = now.counts - before.counts, now.sums - before.sums
    if (np.abs(gained - np.rint(gained)) > _WHOLE).any():
        return []  # the counts are not exact, so noise was added
    gained = np.rint(gained)
    crossings: list[tuple[np.ndarray, int, int]] = []
    while True:
        for j in np.flatnonzero(np.abs(gained) == 1):
            row = gained[j] * moved[j]
            source, target = _nearest(before.centers, row), _nearest(now.centers, row)
            fits = j == (target if gained[j] > 0 else source) and source != target
            if fits and np.linalg.norm(row) <= radius * (1 + 1e-9):
                moved[target] -= row
                moved[source] += row
                gained[target] -= 1
                gained[source] += 1
                crossings.append((row, source, target))
                break
        else:
            break
        if len(crossings) > 4 * len(gained):
            break
    settled = (gained == 0) & (np.abs(moved).max(axis=1) <= _CLOSE)
    return [row for row, source, target in crossings if settled[source] and settled[target]]


def _nearest(centers: np.ndarray, row: np.ndarray) -> int:
    return int(cdist(row[None], centers)[0].argmin())


def exactly(read: Sequence[Read], X: np.ndarray, domain: Domain) -> np.ndarray:
    """Return the sorted indices of the rows of X (n, d), original units, that were read off correctly. NOT PRIVATE.

    Correct means that the root mean square difference over the columns is at most a millionth of a half-width.
    """
    right, who = _matched(read, X, domain)
    return np.unique(who[right])


def wrongly(read: Sequence[Read], X: np.ndarray, domain: Domain) -> np.ndarray:
    """Return the rows (m, d), original units, that were read off although no row of X has them. NOT PRIVATE."""
    right, _ = _matched(read, X, domain)
    rows = [one.row for one, fits in zip(read, right, strict=True) if not fits]
    return domain.denormalize(np.reshape(rows, (-1, domain.n_features)))


def _matched(read: Sequence[Read], X: np.ndarray, domain: Domain) -> tuple[np.ndarray, np.ndarray]:
    """Return, for every row that was read off, whether a row of X equals it, and the index of the nearest row of X."""
    if not read:
        return np.empty(0, dtype=bool), np.empty(0, dtype=int)
    Z = domain.clip(domain.normalize(X))
    gaps, who = cKDTree(Z).query(np.stack([one.row for one in read]))
    return gaps <= _CLOSE * np.sqrt(Z.shape[1]), who
