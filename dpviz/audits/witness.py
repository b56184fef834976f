"""Provide rows with a neighboring data set: a run answers from the rows, and records the neighbor's answers too.

This gives the adversary all the knowledge that any adversary could have. The algorithm runs unchanged; for every
release the witness records the answer, the truth behind it, and the truth on the neighboring rows under the same
earlier releases.
"""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_ndtr, logsumexp
from scipy.stats import laplace

from dpviz.domain import Domain
from dpviz.privacy.accounting import Total
from dpviz.privacy.block import Block
from dpviz.privacy.costs import Threshold
from dpviz.privacy.ledger import Release, spent
from dpviz.privacy.rows import MemorySession, Rows, Session

__all__ = ["Exchange", "Neighbors", "Witness", "change", "log_ratio", "realized", "residuals"]


class Exchange(NamedTuple):
    """One ledger entry's answer: the released value, the true one, and the true one on the neighboring rows.

    A release of keys is (noisy counts, which of them passed the threshold) over the union of both neighbors' keys; a
    key that one neighbor lacks has a true count of 0 there. A release of reports is (estimates, number of people). The
    true values of a cover are two `Coverage` tuples.
    """

    released: Any
    true: Any
    other: Any


class Coverage(NamedTuple):
    """The probabilities that one data set gives to a sequence of picked cells, pick by pick.

    Attributes
    ----------
    chosen : ndarray of shape (picks,), number of rows that the picked cell covers
    counts : one array per pick, the number of uncovered rows in each occupied cell
    sizes : number of cells at each pick, occupied or not
    """

    chosen: np.ndarray
    counts: tuple[np.ndarray, ...]
    sizes: tuple[int, ...]

    def log_probability(self, scale: float) -> float:
        """Return the log probability of the picks if each cell has the weight exp(count / scale)."""
        weights = (
            logsumexp(np.append(counts / scale, np.log(max(size - len(counts), 1e-300))))
            for counts, size in zip(self.counts, self.sizes, strict=True)
        )
        return float(self.chosen.sum() / scale) - math.fsum(weights)


def _coverage(query: Any, block: Block, picked: np.ndarray) -> Coverage:
    live, chosen, counts, sizes = np.ones(block.n, dtype=bool), [], [], []
    for grid, cells_of_grid in enumerate(picked):
        cells = query.cells(block, grid)
        names, left = np.unique(cells[live], return_counts=True)
        for cell in cells_of_grid:
            counts.append(left.astype(np.float64))
            chosen.append(float(left[names == cell].sum()))
            sizes.append(query.size(grid))
            left = np.where(names == cell, 0, left)
        live &= ~np.isin(cells, cells_of_grid)
    return Coverage(np.array(chosen), tuple(counts), tuple(sizes))


class Witness(MemorySession):
    """A session on the rows that asks a session on the neighbor the same queries, in the order of the ledger.

    The neighbor gets a copy of every query: a query that kept what it saw would otherwise mix both data sets.
    """

    def __init__(self, block: Block, neighbor: MemorySession) -> None:
        super().__init__(block)
        self._neighbor = neighbor
        self._copies: dict[int, Any] = {}  # by identity, because sessions keep statistics by it
        self.exchanges: list[Exchange] = []

    def _copy(self, query: Any) -> Any:
        """Return the neighbor's own copy of a query, which is made before the query sees the rows."""
        return copy.deepcopy(query, self._copies)

    def partition(self, scope: int, predicate: Any) -> tuple[int, ...]:
        """Split the rows and the neighbor's rows."""
        self._neighbor.partition(scope, self._copy(predicate))
        return super().partition(scope, predicate)

    def shuffle(self, order: np.ndarray) -> None:
        """Mix both data sets in the same order; an adversary who knew this order would know more than any real one."""
        self._neighbor.shuffle(order)
        super().shuffle(order)

    def noisy_sum(self, query: Any, scope: int, draw: Any) -> tuple[Mapping[str, Any], Mapping[str, np.ndarray]]:
        """Answer from the rows; record every part with the neighbor's truth."""
        own = self._copy(query)
        noisy, true = super().noisy_sum(query, scope, draw)
        _, other = self._neighbor.noisy_sum(own, scope, lambda part, statistic: statistic)
        self.exchanges += [Exchange(noisy[part], true[part], other[part]) for part in true]
        return noisy, true

    def noisy_argmax(self, score: Any, scope: int, pick: Any) -> tuple[int, Mapping[str, np.ndarray]]:
        """Answer from the rows; record both neighbors' utilities."""
        own = self._copy(score)
        choice, true = super().noisy_argmax(score, scope, pick)
        _, other = self._neighbor.noisy_argmax(own, scope, lambda utilities: 0)
        self.exchanges.append(Exchange(choice, true["utility"], other["utility"]))
        return choice, true

    def noisy_cover(self, query: Any, scope: int, pick: Any) -> tuple[np.ndarray, Mapping[str, np.ndarray]]:
        """Answer from the rows; record how the picked cells cover the rows of both neighbors."""
        own = self._copy(query)
        picked, true = super().noisy_cover(query, scope, pick)
        asked = ((query, self._blocks[scope]), (own, self._neighbor._blocks[scope]))
        self.exchanges.append(Exchange(picked, *(_coverage(one, block, picked) for one, block in asked)))
        return picked, true

    def grown(self, query: Any, scope: int, halve: Any) -> tuple[np.ndarray, np.ndarray, Mapping[str, np.ndarray]]:
        """Answer from the rows; record both neighbors' counts in the boxes that could be halved, with their depth."""
        own = self._copy(query)
        nodes, halved, true = super().grown(query, scope, halve)
        tried = np.array([node.bit_length() - 1 < query.deepest for node in nodes.tolist()])
        depth = np.array([node.bit_length() - 1 for node in nodes.tolist()])[tried]
        counts = []
        for session, one in ((self, query), (self._neighbor, own)):
            by_depth = [
                session._statistic(one.counts(nodes[tried][depth == i]), scope)[""] for i in range(depth.max() + 1)
            ]
            counts.append(np.concatenate(by_depth))
        self.exchanges.append(Exchange((halved[tried], depth, query.threshold), *counts))
        return nodes, halved, true

    def best(self, query: Any, scope: int, race: Any) -> tuple[Any, Mapping[str, np.ndarray]]:
        """Answer from the rows; record the winner's releases, each in its own unit, with both neighbors' truth."""
        units, asked = query.units(), []

        def truth(one: Any) -> Mapping[str, np.ndarray]:
            asked.append((copy.deepcopy(one), self._statistic(one, scope)))
            return asked[-1][1]

        def other(own: Any) -> Mapping[str, np.ndarray]:
            return self._neighbor._statistic(own, scope)

        winner, others = super().best(query, scope, lambda _: race(truth))
        parts: dict[str, list[np.ndarray]] = {"released": [], "true": [], "other": []}
        for centers, sums, counts in zip(winner.centers, winner.sums, winner.counts, strict=False):
            _in_units(parts, asked, other, centers, {"sums": sums, "counts": counts}, units)
        _in_units(parts, asked, other, winner.centers[-1], {"": np.array([winner.cost])}, {"": units["cost"]})
        self.exchanges.append(Exchange(*(np.concatenate(parts[name]) for name in ("released", "true", "other"))))
        return winner, others

    def noisy_keys(self, query: Any, scope: int, keep: Any) -> tuple[np.ndarray, np.ndarray, Mapping[str, np.ndarray]]:
        """Answer from the rows; record noisy and true counts of every key that either neighbor has."""
        own = self._copy(query)
        drawn: list[tuple[np.ndarray, np.ndarray]] = []

        def watched(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            drawn.append(keep(counts))
            return drawn[-1]

        keys, noisy, true = super().noisy_keys(query, scope, watched)
        *_, other = self._neighbor.noisy_keys(own, scope, lambda counts: (counts, counts > 0))
        union = np.unique(np.concatenate([true["keys"], other["keys"]]), axis=0)
        at = _places(union, true["keys"])
        seen, passed, mine = np.zeros(len(union)), np.zeros(len(union), dtype=bool), np.zeros(len(union))
        seen[at], passed[at] = drawn[0]
        mine[at] = true["counts"]
        theirs = np.zeros(len(union))
        theirs[_places(union, other["keys"])] = other["counts"]
        self.exchanges.append(Exchange((seen, passed), mine, theirs))
        return keys, noisy, true

    def perturb(self, name: str, query: Any, draw: Any) -> tuple[np.ndarray, Mapping[str, np.ndarray]]:
        """Answer from the rows; record the released values with the rows of both neighbors."""
        own = self._copy(query)
        noisy, true = super().perturb(name, query, draw)
        _, other = self._neighbor.perturb(name, own, lambda positions: noisy)
        self.exchanges.append(Exchange(noisy, true[name], other[name]))
        return noisy, true

    def ask(self, question: Any, scope: int, gather: Any) -> tuple[np.ndarray, np.ndarray, int, Mapping]:
        """Answer from the rows; record the true values behind the estimates for both neighbors."""

        own = self._copy(question)

        def silent(answers: np.ndarray, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return np.zeros(question.size or len(ids)), np.empty(0)

        answer = super().ask(question, scope, gather)
        other = self._neighbor.ask(own, scope, silent)[3]
        part = next(name for name, truth in answer[3].items() if truth.shape == answer[0].shape)
        self.exchanges.append(Exchange((answer[0], answer[2]), answer[3][part], other[part]))
        return answer


def _in_units(
    parts: dict[str, list[np.ndarray]],
    asked: Sequence[tuple[Any, Mapping[str, np.ndarray]]],
    other: Callable[[Any], Mapping[str, np.ndarray]],
    centers: np.ndarray,
    noisy: Mapping,
    units: Mapping,
) -> None:
    """Append the noisy values, and both truths, of a candidate's question about `centers`, as multiples of its units.

    `asked` lists the neighbor's copy of every question with the truth, and `other` answers such a copy. Without a
    question, the winner ran on no rows, and both truths are 0.
    """
    same = (
        (mine, other(own)) for own, mine in asked if mine.keys() == noisy.keys() and np.array_equal(own.points, centers)
    )
    mine, theirs = next(same, (None, None))
    for part, value in noisy.items():
        parts["released"].append(value.ravel() / units[part])
        for name, true in (("true", mine), ("other", theirs)):
            parts[name].append((np.zeros(value.shape) if true is None else true[part]).ravel() / units[part])


def _places(union: np.ndarray, keys: np.ndarray) -> np.ndarray:
    index = {tuple(key): i for i, key in enumerate(union.tolist())}
    return np.array([index[tuple(key)] for key in keys.tolist()], dtype=np.int64)


class Neighbors(Rows):
    """A data set with a neighbor; `witness` recorded the last run. For audits only: it is NOT PRIVATE by design."""

    def __init__(self, X: np.ndarray, neighbor: np.ndarray, domain: Domain) -> None:
        super().__init__(X, domain, "audit")
        self._neighbor_rows = Rows(neighbor, domain, "audit")
        self.witness: Witness

    def open(self, n_rows: int | None = None) -> Session:
        """Start a run with a witness."""
        self.witness = Witness(self._block(n_rows), MemorySession(self._neighbor_rows._block(n_rows)))
        return self.witness


def _gaussian(entry: Release, seen: Exchange) -> float:
    return float(((seen.released - seen.other) ** 2 - (seen.released - seen.true) ** 2).sum() / (2 * entry.scale**2))


def _laplace(entry: Release, seen: Exchange) -> float:
    return float((np.abs(seen.released - seen.other) - np.abs(seen.released - seen.true)).sum() / entry.scale)


def _exponential(entry: Release, seen: Exchange) -> float:
    mine, theirs = seen.true / entry.scale, seen.other / entry.scale
    return float(mine[seen.released] - logsumexp(mine) - theirs[seen.released] + logsumexp(theirs))


def _cover(entry: Release, seen: Exchange) -> float:
    return float(seen.true.log_probability(entry.scale) - seen.other.log_probability(entry.scale))


def _best_of(entry: Release, seen: Exchange) -> float:
    """Return the log ratio of the winner's releases alone: a good adversary, who ignores what else could have won."""
    return _gaussian(entry, seen)


def _halving(entry: Release, seen: Exchange) -> float:
    """Sum the log ratios of the boxes that were halved and of those that were not."""
    halved, depth, threshold = seen.released
    decay = entry.scale / entry.sensitivity * math.log(2)

    def log_probability(counts: np.ndarray) -> np.ndarray:
        needed = (threshold - np.maximum(counts - depth * decay, threshold - decay)) / entry.scale
        return np.where(halved, laplace.logsf(needed), laplace.logcdf(needed))

    return float((log_probability(seen.true) - log_probability(seen.other)).sum())


def _threshold(entry: Release, seen: Exchange) -> float:
    """Sum the keys' log ratios: of densities for passed counts, of probabilities for hidden ones; new keys give inf."""
    noisy, passed = seen.released
    tau = Threshold(entry.cost["mu"], entry.cost["delta"]).threshold(entry.scale, _l0(entry))

    def log_probability(true: np.ndarray) -> np.ndarray:
        log_density = np.where(true > 0, -((noisy - true) ** 2) / (2 * entry.scale**2), -np.inf)
        held_back = np.where(true > 0, log_ndtr((math.ceil(tau) - 0.5 - true) / entry.scale), 0.0)
        return np.where(passed, log_density, held_back)

    return float((log_probability(seen.true) - log_probability(seen.other)).sum())


def _l0(entry: Release) -> int:
    """Return the number of keys that a row may create, as the declared sensitivity implies."""
    return round(entry.sensitivity**2 / (1 if entry.neighboring == "add-remove" else 2))


def _exact(entry: Release, seen: Exchange) -> float:
    return 0.0 if np.array_equal(seen.true, seen.other) else math.inf


def _reports(entry: Release, seen: Exchange) -> float:
    """Return the log ratio for a good but not optimal adversary, who treats the sum of all reports as Gaussian."""
    estimates, users = seen.released
    variance = max(users, 1) / (1 - 2 * entry.scale) ** 2
    return float(((seen.true - seen.other) * (estimates - (seen.true + seen.other) / 2)).sum() / variance)


LOCAL = ("OUE", "Hadamard", "OneBit")
LOG_RATIO: dict[str, Callable[[Release, Exchange], float]] = {
    "Gaussian": _gaussian,
    "Laplace": _laplace,
    "Exponential": _exponential,
    "Threshold": _threshold,
    "Cover": _cover,
    "BestOf": _best_of,
    "Halving": _halving,
    "Exact": _exact,
    **dict.fromkeys(LOCAL, _reports),
}


def log_ratio(ledger: Sequence[Release], exchanges: Sequence[Exchange]) -> float:
    """Return log p(everything released | rows) - log p(... | neighbor) if the noise is as the ledger states."""
    return math.fsum(LOG_RATIO[entry.mechanism](entry, seen) for entry, seen in zip(ledger, exchanges, strict=True))


def change(entry: Release, seen: Exchange) -> float:
    """Return how much the neighbor changes a release, in the norm (or range) of its declared sensitivity."""
    if entry.mechanism == "Cover":
        pairs = zip(seen.true.counts, seen.other.counts, strict=True)  # counts of rows not yet covered, pick by pick
        return max((abs(float(mine.sum() - theirs.sum())) for mine, theirs in pairs), default=0.0)
    if entry.mechanism == "Exponential":
        finite = np.isfinite(seen.true) & np.isfinite(seen.other)  # public facts exclude the other candidates
        return float(np.ptp(seen.true[finite] - seen.other[finite])) if finite.any() else 0.0
    difference = (seen.true - seen.other).ravel()
    if entry.mechanism in LOCAL:  # a report costs its epsilon, unless the neighbor changes no answer
        return entry.sensitivity if difference.any() else 0.0
    return float(np.linalg.norm(difference, entry.norm))


def realized(ledger: Sequence[Release], exchanges: Sequence[Exchange], delta: float) -> Total:
    """Return the cost of this pair's true changes at the recorded scales; for any noise, it is at most the claim."""
    changes = [(entry, change(entry, seen)) for entry, seen in zip(ledger, exchanges, strict=True)]
    return spent([dataclasses.replace(entry, sensitivity=size) for entry, size in changes if size > 0], delta)


def residuals(ledger: Iterable[Release], exchanges: Iterable[Exchange]) -> list[tuple[Release, np.ndarray, np.ndarray]]:
    """Return (entry, noise / scale under the rows, noise / scale under the neighbor) for every additive release."""
    errors = []
    for entry, seen in zip(ledger, exchanges, strict=True):
        if entry.mechanism in ("Gaussian", "Laplace", "BestOf"):
            released = np.asarray(seen.released, dtype=np.float64)
            both = ((released - truth).ravel() / entry.scale for truth in (seen.true, seen.other))
            errors.append((entry, *both))
    return errors
