"""The private rows. Nothing in this module returns a row or a sum without noise, except to DEMO's hidden record."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dpviz.domain import Domain
from dpviz.geometry import in_cache, snap, snap_toward_zero
from dpviz.privacy.answers import Chosen
from dpviz.privacy.block import Block
from dpviz.privacy.noise import Noise
from dpviz.privacy.queries import (
    Candidates,
    CellCover,
    Halvings,
    KeyQuery,
    Positions,
    Predicate,
    Query,
    Question,
    Score,
)

__all__ = ["ALL", "MemorySession", "Rows", "Session", "StatisticSession", "marked"]

ALL = 0
UTILITY_SNAP = 2.0**-4  # utilities are snapped to 2^-20: 2^-24 / 2^-4
UTILITY_SLACK = 2.0**-19  # the maximum that snapping adds to a score's range
Draw = Callable[[str, np.ndarray], np.ndarray]
Pick = Callable[[np.ndarray], int]
Gather = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
Keep = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
Cells = Callable[[np.ndarray, int], int]
Halve = Callable[[np.ndarray, int], np.ndarray]
Race = Callable[[Callable[[Query], Mapping[str, np.ndarray]]], tuple[Chosen, Mapping[str, np.ndarray]]]
Perturb = Callable[[np.ndarray], np.ndarray]


class Rows:
    """An immutable data set that many runs may share.

    Parameters
    ----------
    X : array of shape (n_samples, n_features), original units
    domain : Domain
    dataset_id : str, "sample:NAME" or a random token

    Rows are normalized, clipped to the domain and snapped toward zero to the grid. Each of these steps depends on the
    row itself and public values only, and no number of rows, not even 0, raises an error here: an exception would
    distinguish a data set from its neighbor. The treatment of rows with a cell that is not finite depends on the
    relation; see `open`.
    """

    noise: Noise | None = None  # a source that replaces the run's own if the run's seed is public
    trust: str = ""  # who is trusted with what; if empty, the algorithm's own statement holds

    def __init__(self, X: np.ndarray, domain: Domain, dataset_id: str = "unnamed") -> None:
        Z = domain.normalize(X)
        finite = np.isfinite(Z).all(axis=1)
        if not finite.all():
            Z[~finite] = 0.0  # the middle of the domain
        for part in in_cache(*Z.shape):
            Z[part] = snap_toward_zero(domain.clip(Z[part]))
        Z.setflags(write=False)
        self.domain = domain
        self.dataset_id = dataset_id
        self._x = Z
        self._finite = None if finite.all() else finite

    @property
    def n_features(self) -> int:
        """Return the public number of columns."""
        return self.domain.n_features

    def open(self, n_rows: int | None = None) -> Session:
        """Start a session of one run, which holds all of the run's state, including derived columns.

        Parameters
        ----------
        n_rows : int or None
            None under add/remove. A row with a cell that is not finite is then dropped, so adding or removing a row
            adds or removes at most one row here.

            Otherwise the DECLARED number of rows, under a relation that keeps n (one row changed, or moved). A row with
            a cell that is not finite is then placed at the middle of the domain, rows after the first `n_rows` are cut
            off, and missing rows are appended at the middle. This map f is sound: row i of f(X) is a function of row i
            of X, or the middle if X has no row i. Neighbors X and X' have equally many rows and differ in a single row
            i, so f(X) and f(X') differ at most in row i: not at all if it is cut off; by any value under replacement;
            under moves by no more than before, because both rows are finite and clipping never moves two points farther
            apart. So any promise for neighbors with n_rows rows holds for X. No error is raised if `n_rows` is not the
            true number, so the run does not reveal whether it is. The relations still treat the true number as public:
            the number of rows at the middle is visible through the noise, as it is at any other place.
        """
        return MemorySession(self._block(n_rows))

    def _block(self, n_rows: int | None) -> Block:
        if n_rows is None:
            return Block(self._x if self._finite is None else self._x[self._finite])
        lacking = max(0, n_rows - len(self._x))
        x = np.concatenate([self._x, np.zeros((lacking, self.n_features))]) if lacking else self._x[:n_rows]
        x.setflags(write=False)
        return Block(x)

    def size_nonprivate(self, *, every: bool = False) -> int:
        """Return the exact number of finite rows, or of all rows with `every`. For DEMO only."""
        return len(self._x) if every or self._finite is None else int(self._finite.sum())


def marked(X: np.ndarray, domain: Domain, dataset_id: str = "unnamed") -> Rows:
    """Return rows of one column that marks every row of X (n, d; original units): 1 if it lies outside the bounds.

    The other rows have -1. A mark depends on its own row and the bounds alone and is made before any value is clipped;
    a row with a cell that is not finite has no mark, so `Rows` treats it as it does in a run. The marks are rows of
    their own: no other query reads them.
    """
    Z = domain.normalize(X)
    marks = np.where(domain.outside(X), 1.0, -1.0)
    marks[~np.isfinite(Z).all(axis=1)] = np.nan
    declared = Domain.box(
        -1, 1, 1, n_public=domain.n_public, rows_per_person=domain.rows_per_person, columns=["outside"]
    )
    return Rows(marks[:, None], declared, dataset_id)


class Session(ABC):
    """One run's scopes over the rows, and the queries on them; there is a subclass for each way of storing the rows."""

    def __init__(self) -> None:
        self._paths: dict[int, tuple[int, ...]] = {ALL: (ALL,)}
        self._divided: dict[int, tuple[int, ...]] = {}

    def drawn_by(self, noise: Noise) -> Noise:
        """Return the run's source of noise: `noise`, unless several parties draw the noise together."""
        return noise

    def excess(self, mechanism: str) -> float:
        """Return the noise's variance relative to that on which the promise rests; it is above 1 if noise is shared."""
        return 1.0

    def path(self, scope: int) -> tuple[int, ...]:
        """Return the scopes from the whole data set down to `scope`."""
        return self._paths[scope]

    def children(self, scope: int) -> tuple[int, ...]:
        """Return the scopes into which `scope` has been partitioned, or () if it has not."""
        return self._divided.get(scope, ())

    def partition(self, scope: int, predicate: Predicate) -> tuple[int, ...]:
        """Split a scope, once, into one child scope per part of a public predicate.

        Raises
        ------
        PermissionError
            If the scope is partitioned already.
        """
        if scope in self._divided:
            raise PermissionError(f"Session: scope {scope} is partitioned already; a row must stay on one path.")
        children = tuple(range(len(self._paths), len(self._paths) + predicate.parts))
        self._divide(scope, predicate, children)
        self._divided[scope] = children
        self._paths |= {child: (*self._paths[scope], child) for child in children}
        return children

    @abstractmethod
    def _divide(self, scope: int, predicate: Predicate, children: tuple[int, ...]) -> None:
        """Assign every child scope the rows of its part."""

    @abstractmethod
    def shuffle(self, order: np.ndarray) -> None:
        """Reorder the rows before the first query; a row's public number is its new position."""

    @abstractmethod
    def noisy_sum(self, query: Query, scope: int, draw: Draw) -> tuple[Mapping[str, Any], Mapping[str, np.ndarray]]:
        """Return (noisy, true) statistics of a scope; `draw(part, statistic)` adds the noise.

        The true statistic goes to the curator's DEMO record and nowhere else.
        """

    @abstractmethod
    def noisy_argmax(self, score: Score, scope: int, pick: Pick) -> tuple[int, Mapping[str, np.ndarray]]:
        """Return (choice, true utilities); `pick(utilities)` runs the exponential mechanism."""

    @abstractmethod
    def noisy_cover(self, query: CellCover, scope: int, pick: Cells) -> tuple[np.ndarray, Mapping[str, np.ndarray]]:
        """Return (picked cells (grids, picks), how many rows each covered); `pick(counts, empty)` chooses a cell."""

    @abstractmethod
    def grown(self, query: Halvings, scope: int, halve: Halve) -> tuple[np.ndarray, np.ndarray, Mapping]:
        """Return (boxes, which of them were halved, true counts); `halve(counts, depth)` decides for each depth."""

    @abstractmethod
    def best(self, query: Candidates, scope: int, race: Race) -> tuple[Chosen, Mapping[str, np.ndarray]]:
        """Return (the winner, the others); `race(truth)` runs all candidates on `truth(query)`, a true statistic."""

    @abstractmethod
    def noisy_keys(
        self, query: KeyQuery, scope: int, keep: Keep
    ) -> tuple[np.ndarray, np.ndarray, Mapping[str, np.ndarray]]:
        """Return (kept keys, their noisy counts, true keys and counts); `keep(counts)` returns (noisy counts, mask)."""

    @abstractmethod
    def perturb(self, name: str, query: Positions, draw: Perturb) -> tuple[np.ndarray, Mapping[str, np.ndarray]]:
        """Return (noisy rows, true rows) and store the noisy ones with the rows as the companion `name`."""

    @abstractmethod
    def ask(self, question: Question, scope: int, gather: Gather) -> tuple[np.ndarray, np.ndarray, int, Mapping]:
        """Return (estimates, a few people's reports, number of people, truth); `gather(answers, ids)` randomizes."""


class StatisticSession(Session):
    """A session that can compute the statistic of a scope, with the methods that need only statistics."""

    @abstractmethod
    def _statistic(self, query: Query, scope: int) -> dict[str, np.ndarray]:
        """Return a mapping from part to the true statistic of a scope."""

    def noisy_sum(self, query: Query, scope: int, draw: Draw) -> tuple[Mapping[str, Any], Mapping[str, np.ndarray]]:
        """Add noise to every part of the statistic."""
        true = self._statistic(query, scope)
        return {part: draw(part, statistic) for part, statistic in true.items()}, true

    def noisy_argmax(self, score: Score, scope: int, pick: Pick) -> tuple[int, Mapping[str, np.ndarray]]:
        """Choose by utilities that are computed from the score's statistic and snapped to a grid."""
        statistic = self._statistic(score.query, scope)
        utilities = snap(score.utility(statistic) * UTILITY_SNAP) / UTILITY_SNAP
        return pick(utilities), {"utility": utilities, **score.parts(statistic)}

    def grown(self, query: Halvings, scope: int, halve: Halve) -> tuple[np.ndarray, np.ndarray, Mapping]:
        """Count the rows in the boxes, and halve boxes, depth by depth."""
        nodes, halved, counts = [], [], []
        now = np.array([1])
        for depth in range(query.deepest + 1):
            counts.append(self._statistic(query.counts(now), scope)[""])
            cut = halve(counts[-1], depth) if depth < query.deepest else np.zeros(len(now), dtype=bool)
            nodes.append(now)
            halved.append(cut)
            now = np.stack([2 * now[cut], 2 * now[cut] + 1], axis=1).ravel()
            if not len(now):
                break
        return np.concatenate(nodes), np.concatenate(halved), {"counts": np.concatenate(counts)}

    def best(self, query: Candidates, scope: int, race: Race) -> tuple[Chosen, Mapping[str, np.ndarray]]:
        """Answer the candidates' queries one after another."""
        return race(lambda asked: self._statistic(asked, scope))


class MemorySession(StatisticSession):
    """A session on rows in memory."""

    def __init__(self, block: Block) -> None:
        super().__init__()
        self._blocks: dict[int, Block] = {ALL: block}
        self._kept: dict[tuple[Query, int | None], dict[str, np.ndarray]] = {}

    def _divide(self, scope: int, predicate: Predicate, children: tuple[int, ...]) -> None:
        whole = self._blocks[scope]
        parts = predicate.assign(whole)
        self._blocks |= {child: whole.take(np.flatnonzero(parts == part)) for part, child in enumerate(children)}

    def shuffle(self, order: np.ndarray) -> None:
        """Reorder the rows."""
        if self.children(ALL):
            raise PermissionError("Session: rows must be mixed before they are split.")
        self._blocks[ALL] = Block(self._blocks[ALL].x[order])

    def noisy_cover(self, query: CellCover, scope: int, pick: Cells) -> tuple[np.ndarray, Mapping[str, np.ndarray]]:
        """Return (picked cells, how many rows each covered).

        Only occupied cells are counted; `pick` also takes the number of empty cells, and the j-th empty cell is found
        by its rank. A picked cell remains a candidate, with count 0.
        """
        block = self._blocks[scope]
        live = np.ones(block.n, dtype=bool)
        chosen = np.empty((len(query.sides), query.picks), dtype=np.int64)
        covered = np.empty(chosen.shape, dtype=np.int64)
        for grid in range(len(query.sides)):
            cells = query.cells(block, grid)
            names, counts = np.unique(cells[live], return_counts=True)
            for i in range(query.picks):
                at = pick(counts, query.size(grid) - len(names))
                if at < len(names):
                    chosen[grid, i], covered[grid, i] = names[at], counts[at]
                    counts[at] = 0
                else:
                    rank = at - len(names)
                    chosen[grid, i] = rank + np.searchsorted(names - np.arange(len(names)), rank, side="right")
                    covered[grid, i] = 0
            live &= ~np.isin(cells, chosen[grid])
        return chosen, {"covered": covered}

    def noisy_keys(
        self, query: KeyQuery, scope: int, keep: Keep
    ) -> tuple[np.ndarray, np.ndarray, Mapping[str, np.ndarray]]:
        """Return (kept keys, their noisy counts, true keys and counts); only keys that occur are counted."""
        keys, counts = query.statistic(self._blocks[scope])
        noisy, mask = keep(counts)
        return keys[mask], noisy[mask], {"keys": keys, "counts": counts}

    def perturb(self, name: str, query: Positions, draw: Perturb) -> tuple[np.ndarray, Mapping[str, np.ndarray]]:
        """Add noise to every row, and store the noisy rows as the companion `name`."""
        block = self._blocks[ALL]
        true = query.statistic(block)
        noisy = draw(true)
        block.accompany(name, noisy)
        return noisy, {name: true}

    def ask(self, question: Question, scope: int, gather: Gather) -> tuple[np.ndarray, np.ndarray, int, Mapping]:
        """Return (estimates, a few people's reports, number of people, truth); every row gives its own report."""
        block = self._blocks[scope]
        answers = question.answers(block)
        estimates, sample = gather(answers, block.ids)
        truth = {**question.truth(block), "answers": answers[: len(sample)]}
        return question.decode(estimates, block.ids), sample, block.n, truth

    def _statistic(self, query: Query, scope: int) -> dict[str, np.ndarray]:
        """Compute a statistic; of two sibling scopes, count the smaller and get the other by subtraction.

        Which scope is smaller is private and stays here: the results are the same either way.
        """
        if not query.keep:
            return query.statistic(self._blocks[scope])
        if (query, scope) not in self._kept:
            parent = self.path(scope)[-2] if scope != ALL else None
            whole = self._kept.get((query, parent))
            both = self.children(parent) if parent is not None else ()
            if whole is None or len(both) != 2:
                self._kept[query, scope] = query.statistic(self._blocks[scope])
            else:
                small, large = sorted(both, key=lambda s: self._blocks[s].n)
                counted = query.statistic(self._blocks[small])
                self._kept[query, small] = counted
                self._kept[query, large] = {part: whole[part] - counted[part] for part in whole}
                del self._kept[query, parent]  # both children are known, so the parent's statistic is no longer needed
        return self._kept[query, scope]
