"""Base classes of queries: sums, selections, partitions, sparse keys and questions."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

import numpy as np

from dpviz.frozen import ReadOnly
from dpviz.geometry import GRID, bincount, snap
from dpviz.privacy.block import Block
from dpviz.privacy.guarantee import Neighboring

_ROUND = 1 + 2.0**-40  # a factor that exceeds the rounding error of a norm in float64
COARSE = 2.0**-12  # products of two multiples of this lie on the grid

__all__ = [
    "COARSE",
    "KeyQuery",
    "Predicate",
    "Projection",
    "Query",
    "Question",
    "Score",
    "inside_ball",
    "one_entry",
    "projected",
]


@dataclasses.dataclass(frozen=True, eq=False)
class OnGrid(ReadOnly):
    """Base class of objects whose public numbers must lie on the grid, so that statistics lie on it too.

    Attributes
    ----------
    on_grid : names of the fields, each an array, a Population or None, that must lie on the grid
    """

    on_grid: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.on_grid:
            given = getattr(self, name)
            if given is None:
                continue
            values = np.asarray(getattr(given, "points", given), dtype=np.float64)
            if not (values == snap(values)).all():
                raise ValueError(f"{type(self).__name__}: {name} must lie on the 2^-24 grid; call geometry.snap.")


def inside_ball(owner: str, points: np.ndarray, radius: float) -> None:
    """Refuse public points outside the ball that a sensitivity assumes.

    Raises
    ------
    ValueError
        If a point is longer than `radius` or not finite.
    """
    if not (np.sqrt((points * points).sum(axis=1)) <= radius * _ROUND).all():
        raise ValueError(f"{owner}: points must lie within the radius {radius:.6g}; call geometry.clip_ball.")


@dataclasses.dataclass(frozen=True, eq=False)
class Query(OnGrid):
    """A statistic that is additive over rows.

    Attributes
    ----------
    reason : derivation of the declared sensitivity, in words for the ledger
    whole : parts in which every row adds whole numbers
    tally : the part whose entries add up to the number of rows, or to `times` as many, if there is one
    keep : whether a session may store the statistic of a scope and compute a sibling's by subtraction (whole numbers
        only)
    """

    reason: ClassVar[str] = ""
    keep: ClassVar[bool] = False
    whole: ClassVar[tuple[str, ...]] = ()
    tally: ClassVar[str | None] = None

    def statistic(self, block: Block) -> dict[str, np.ndarray]:
        """Return a mapping from part to the statistic on the rows of `block`; a single part is named ""."""
        raise NotImplementedError

    def sensitivity(self, norm: float, neighboring: Neighboring) -> dict[str, float]:
        """Return a mapping from part to the largest change in the l1, l2 or l-infinity norm between neighbors."""
        raise NotImplementedError

    @property
    def times(self) -> int:
        """Return how often each row is counted in the tally, a public number."""
        return 1

    def grid(self, part: str) -> float:
        """Return the number of which every value in a part is a multiple."""
        return 1.0 if part in self.whole else GRID


@dataclasses.dataclass(frozen=True, eq=False)
class Score(ReadOnly):
    """Utilities of public candidates, for the exponential mechanism."""

    reason: ClassVar[str] = ""

    @property
    def query(self) -> Query:
        """Return the additive statistic from which the utilities are computed."""
        raise NotImplementedError

    def utility(self, statistic: dict[str, np.ndarray]) -> np.ndarray:
        """Return one utility per candidate; -inf excludes a candidate because of public facts."""
        raise NotImplementedError

    def parts(self, statistic: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return the components of the utilities, for DEMO's hidden record."""
        return {}

    def range(self, neighboring: Neighboring) -> float:
        """Return the range (max - min over candidates) of the change that a neighbor makes to the utilities."""
        raise NotImplementedError


@dataclasses.dataclass(frozen=True, eq=False)
class Predicate(OnGrid):
    """A split of the rows into `parts` disjoint parts by a public rule that reads one row at a time."""

    parts: ClassVar[int] = 2
    by_user: ClassVar[bool] = False  # True if the part follows from the row's public number, not from its values

    def assign(self, block: Block) -> np.ndarray:
        """Return the part index of every row, shape (n,)."""
        raise NotImplementedError


@dataclasses.dataclass(frozen=True, eq=False)
class KeyQuery(OnGrid):
    """Counts over a key set too large to list; only keys that occur in rows are counted.

    Attributes
    ----------
    reason : as for `Query`
    """

    reason: ClassVar[str] = ""

    @property
    def l0(self) -> int:
        """Return the largest number of keys that one row creates, each with count 1."""
        raise NotImplementedError

    def statistic(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Return (keys (m, p) int64 in lexicographic order, counts (m,))."""
        raise NotImplementedError

    def sensitivity(self, neighboring: Neighboring) -> float:
        """Return the l2 sensitivity of the counts: sqrt(l0), or sqrt(2 l0) if a changed row moves between keys."""
        return math.sqrt(self.l0 * (1 if neighboring is Neighboring.ADD_REMOVE else 2))


@dataclasses.dataclass(frozen=True, eq=False)
class Question(OnGrid):
    """A question that each person in the local model answers about their own row, through a randomizer.

    Attributes
    ----------
    reason : as for `Query`
    seed : seed of the public hashes that people and the server both compute
    """

    reason: ClassVar[str] = ""
    seed: int = dataclasses.field(default=0, kw_only=True)

    @property
    def size(self) -> int:
        """Return the number of possible answers 0, 1, ...; 0 if the answer is a number in [-1, 1]."""
        return 0

    @property
    def spread(self) -> float:
        """Return the standard deviation of a decoded estimate, as a multiple of the randomizer's."""
        return 1.0

    def answers(self, block: Block) -> np.ndarray:
        """Return every person's true answer, shape (n,), which depends on their row (and public number) alone."""
        raise NotImplementedError

    def decode(self, estimates: np.ndarray, ids: np.ndarray) -> np.ndarray:
        """Decode the answer from the randomizer's estimates and people's public numbers (n,)."""
        return estimates

    def truth(self, block: Block) -> dict[str, np.ndarray]:
        """Return the exact values behind the estimates: for DEMO's hidden record only."""
        return {"counts": bincount(self.answers(block), minlength=self.size).astype(np.float64)}


@dataclasses.dataclass(frozen=True, eq=False)
class Projection(OnGrid):
    """A public linear map. A run caches the projected rows under the identity of this object.

    Parameters
    ----------
    matrix : ndarray of shape (d, p)
    middle : ndarray of shape (d,), on the grid, or None; a public point that is subtracted from rows first, None for 0
    """

    matrix: np.ndarray
    middle: np.ndarray | None = None
    on_grid: ClassVar[tuple[str, ...]] = ("middle",)

    def centered(self, x: np.ndarray) -> np.ndarray:
        """Return rows (n, d) minus the middle, which is exact on the grid."""
        return x if self.middle is None else x - self.middle


def projected(block: Block, projection: Projection) -> np.ndarray:
    """Return (rows - middle) @ matrix, shape (n, p), on the grid; columns are added in a fixed order, row by row.

    A matrix product would be simpler, but its last bits may depend on the block that contains the row.
    """

    def make(x: np.ndarray) -> np.ndarray:
        product = np.zeros((len(x), projection.matrix.shape[1]))
        for column, weights in zip(projection.centered(x).T, projection.matrix, strict=True):
            product += column[:, None] * weights
        return snap(product)

    return block.derived(projection, make)


def one_entry(norm: float, neighboring: Neighboring) -> float:
    """Return the largest change of a histogram to which every row adds 1 in one entry."""
    if neighboring is Neighboring.ADD_REMOVE or norm == math.inf:
        return 1.0
    return 2.0 ** (1 / norm)
