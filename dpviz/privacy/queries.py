"""What may be asked about rows. Queries are frozen and hold data only: numbers, strings, tuples, arrays.

A query is a sum over rows. `local` computes it on a block of rows, `sensitivity` declares once, per part, how much
one row can change it; the test suite checks both by brute force. A field may never be a callable: a function handed
to the curator could carry rows out.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from dpviz.geometry import Population, nearest
from dpviz.privacy.guarantee import Neighboring

if TYPE_CHECKING:
    from dpviz.privacy.rows import Block

__all__ = ["Count", "NearestVotes", "Query"]


@dataclasses.dataclass(frozen=True, eq=False)
class Query:
    """A statistic that is additive over rows.

    Attributes
    ----------
    reason : where the declared sensitivity comes from, in words for the ledger
    """

    reason: ClassVar[str] = ""

    def local(self, block: Block) -> dict[str, np.ndarray]:
        """Return part -> statistic on the rows of `block`; part "" when there is only one."""
        raise NotImplementedError

    def sensitivity(self, norm: float, neighboring: Neighboring) -> dict[str, float]:
        """Return part -> largest change in the l1, l2 or l-infinity norm between neighbors."""
        raise NotImplementedError


def _one_entry(norm: float, neighboring: Neighboring) -> float:
    """Largest change of a histogram in which every row has one entry of 1."""
    if neighboring is Neighboring.ADD_REMOVE or norm == math.inf:
        return 1.0
    return 2.0 ** (1 / norm)


@dataclasses.dataclass(frozen=True, eq=False)
class Count(Query):
    """Number of rows."""

    reason: ClassVar[str] = "one row counts once"

    def local(self, block: Block) -> dict[str, np.ndarray]:  # noqa: D102
        return {"": np.array(float(block.n))}

    def sensitivity(self, norm: float, neighboring: Neighboring) -> dict[str, float]:  # noqa: D102
        return {"": 1.0 if neighboring is Neighboring.ADD_REMOVE else 0.0}


@dataclasses.dataclass(frozen=True, eq=False)
class NearestVotes(Query):
    """Every row votes for the nearest point of a public population; ties go to the lowest index.

    Parameters
    ----------
    population : Population of m points on the grid

    Returns (`local`): "" -> ndarray of shape (m,), whole numbers.
    """

    population: Population
    reason: ClassVar[str] = "one row casts one vote of 1; a changed row can take one vote away and cast another"

    def local(self, block: Block) -> dict[str, np.ndarray]:  # noqa: D102
        winners = nearest(block.x, self.population, x32=block.float32)
        return {"": np.bincount(winners, minlength=len(self.population.points)).astype(np.float64)}

    def sensitivity(self, norm: float, neighboring: Neighboring) -> dict[str, float]:  # noqa: D102
        return {"": _one_entry(norm, neighboring)}
