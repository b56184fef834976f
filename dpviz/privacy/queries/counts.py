"""Counts and votes: statistics to which every row adds 1 in one entry."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from dpviz.geometry import Population, bincount, nearest
from dpviz.privacy.block import Block
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.queries.base import Projection, Query, one_entry, projected

__all__ = ["Count", "MarkedRows", "NearestVotes"]


@dataclasses.dataclass(frozen=True, eq=False)
class Count(Query):
    """Number of rows."""

    reason: ClassVar[str] = "one row counts once"
    whole: ClassVar[tuple[str, ...]] = ("",)
    tally: ClassVar[str | None] = ""

    def statistic(self, block: Block) -> dict[str, np.ndarray]:
        return {"": np.array(float(block.n))}

    def sensitivity(self, norm: float, neighboring: Neighboring) -> dict[str, float]:
        return {"": 1.0 if neighboring is Neighboring.ADD_REMOVE else 0.0}


@dataclasses.dataclass(frozen=True, eq=False)
class MarkedRows(Query):
    """Number of rows whose first column is above the middle of its bounds: those with a mark, see `rows.marked`."""

    reason: ClassVar[str] = "one row has one mark or none, and counts at most once"
    whole: ClassVar[tuple[str, ...]] = ("",)

    def statistic(self, block: Block) -> dict[str, np.ndarray]:
        return {"": np.array(float((block.column(0) > 0).sum()))}

    def sensitivity(self, norm: float, neighboring: Neighboring) -> dict[str, float]:
        return {"": 1.0}


@dataclasses.dataclass(frozen=True, eq=False)
class NearestVotes(Query):
    """Every row votes for the nearest point of a public population; ties go to the lowest index.

    Parameters
    ----------
    population : Population of m points on the grid
    projection : Projection or None; if given, projected rows vote and the points have p columns

    Returns (`statistic`): "" -> ndarray of shape (m,), whole numbers.
    """

    population: Population
    projection: Projection | None = None
    reason: ClassVar[str] = "one row casts one vote of 1; a changed row can take one vote away and cast another"
    on_grid: ClassVar[tuple[str, ...]] = ("population",)
    whole: ClassVar[tuple[str, ...]] = ("",)
    tally: ClassVar[str | None] = ""

    def statistic(self, block: Block) -> dict[str, np.ndarray]:
        if self.projection is None:
            winners = nearest(block.together, self.population)
        else:
            winners = nearest(projected(block, self.projection), self.population)
        return {"": bincount(winners, minlength=len(self.population.points)).astype(np.float64)}

    def sensitivity(self, norm: float, neighboring: Neighboring) -> dict[str, float]:
        return {"": one_entry(norm, neighboring)}
