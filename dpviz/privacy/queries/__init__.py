"""Queries about rows: frozen objects that hold only data, that is, numbers, strings, tuples and arrays.

A query is a sum over rows. `statistic` computes it on a block of rows; `sensitivity` declares, per part, how much one
row can change it; the test suite checks both by brute force. A field may never be a callable: a function handed to the
curator could carry rows out. There is one module per family; all queries are listed here, and the curator takes no
others (`untested`).
"""

import dataclasses
import types
from typing import Any

import numpy as np

from dpviz.geometry import Population
from dpviz.privacy.queries.base import KeyQuery, Predicate, Projection, Query, Question, Score
from dpviz.privacy.queries.bins import ClusterBins
from dpviz.privacy.queries.boxes import Below, HalfIntervalCounts, RegionSum, SplitScore
from dpviz.privacy.queries.candidates import Candidates
from dpviz.privacy.queries.cells import CellSums, InBalls, ListedCells, OccupiedCells, cell_centers
from dpviz.privacy.queries.counts import Count, MarkedRows, NearestVotes
from dpviz.privacy.queries.cover import CellCover, Side
from dpviz.privacy.queries.days import ArrivesBefore
from dpviz.privacy.queries.grids import GridCounts
from dpviz.privacy.queries.lloyd import ClusterMoves
from dpviz.privacy.queries.local import ByUser, CellOf, NearestOf, OffsetOf
from dpviz.privacy.queries.marginals import ColumnCounts, PairScore, PairTables
from dpviz.privacy.queries.mixtures import MixtureMoments
from dpviz.privacy.queries.moments import NormHistogram, SecondMoment
from dpviz.privacy.queries.rho import CompanionSums, NearRegionSums, Positions, QuadtreeCells, near_regions
from dpviz.privacy.queries.sums import ClippedCost, NearestDistances, NearestScatter, NearestSums, ShapedSums
from dpviz.privacy.queries.swaps import SetCosts, SetScore, SwapCosts, SwapScore
from dpviz.privacy.queries.trees import BoxCounts, Halvings

__all__ = [
    "LISTED",
    "ArrivesBefore",
    "Below",
    "BoxCounts",
    "ByUser",
    "OccupiedCells",
    "Candidates",
    "CellCover",
    "CellOf",
    "CellSums",
    "ListedCells",
    "ClippedCost",
    "ClusterBins",
    "ClusterMoves",
    "ColumnCounts",
    "CompanionSums",
    "Count",
    "GridCounts",
    "HalfIntervalCounts",
    "Halvings",
    "InBalls",
    "KeyQuery",
    "MarkedRows",
    "MixtureMoments",
    "NearRegionSums",
    "NearestDistances",
    "NearestOf",
    "NearestScatter",
    "NearestSums",
    "NearestVotes",
    "NormHistogram",
    "OffsetOf",
    "PairScore",
    "PairTables",
    "Positions",
    "Predicate",
    "Projection",
    "QuadtreeCells",
    "Query",
    "Question",
    "RegionSum",
    "Score",
    "SecondMoment",
    "SetCosts",
    "SetScore",
    "ShapedSums",
    "Side",
    "SplitScore",
    "SwapCosts",
    "SwapScore",
    "cell_centers",
    "near_regions",
    "untested",
]

_KINDS = (Candidates, CellCover, Halvings, KeyQuery, Positions, Predicate, Query, Question, Score)
LISTED: tuple[type, ...] = tuple(
    one
    for one in map(globals().get, __all__)
    if isinstance(one, type) and issubclass(one, _KINDS) and one not in (KeyQuery, Predicate, Query, Question, Score)
)
_NUMBERS = (bool, int, float, str, types.NoneType, np.bool_, np.int64, np.float64)


def untested(query: object) -> str:
    """Say why the tests of this package say nothing about a query; return "" if they hold for it.

    They hold for an instance of a class in `LISTED` (the class itself, because a subclass may compute anything) that
    has no attributes but its fields, all of which are numbers, texts, tuples and numeric arrays, since an object of
    another class could compute with the rows, and keep them.
    """
    if not any(type(query) is one for one in LISTED):
        return f"{type(query).__name__} is not a query of dpviz.privacy.queries, so nobody has tested its sensitivity"
    return _strange(type(query).__name__, query)


def _strange(name: str, value: Any) -> str:
    """Return why a value is not data, in words; its parts are looked at in turn."""
    kind = type(value)
    if any(kind is one for one in _NUMBERS):
        return ""
    if kind is np.ndarray:
        return "" if value.dtype.kind in "biuf" else f"{name} is an array of {value.dtype}, not of numbers"
    if kind is tuple:
        return next(filter(None, (_strange(name, item) for item in value)), "")
    if not any(kind is one for one in (Population, Projection, *LISTED)):
        return f"{name} holds {kind.__name__}, which is not data"
    fields = [field.name for field in dataclasses.fields(value)]
    if beside := vars(value).keys() - set(fields):
        return f"{name} has {', '.join(sorted(map(str, beside)))} set beside its fields"
    return next(filter(None, (_strange(f"{name}.{field}", vars(value).get(field)) for field in fields)), "")
