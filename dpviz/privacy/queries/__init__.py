"""Queries about rows: frozen objects that hold only data, that is, numbers, strings, tuples and arrays.

A query is a sum over rows. `statistic` computes it on a block of rows; `sensitivity` declares, per part, how much one
row can change it; the test suite checks both by brute force. A field may never be a callable: a function handed to the
curator could carry rows out. There is one module per family; all queries are listed here.
"""

from dpviz.privacy.queries.base import KeyQuery, Predicate, Projection, Query, Question, Score
from dpviz.privacy.queries.bins import ClusterBins
from dpviz.privacy.queries.boxes import Below, HalfIntervalCounts, RegionSum, SplitScore
from dpviz.privacy.queries.cells import CellSums, InBalls, ListedCells, OccupiedCells, cell_centers
from dpviz.privacy.queries.counts import Count, NearestVotes
from dpviz.privacy.queries.cover import CellCover, Side
from dpviz.privacy.queries.days import ArrivesBefore
from dpviz.privacy.queries.grids import GridCounts
from dpviz.privacy.queries.lloyd import ClusterMoves
from dpviz.privacy.queries.local import ByUser, CellOf, NearestOf, OffsetOf
from dpviz.privacy.queries.mixtures import MixtureMoments
from dpviz.privacy.queries.moments import NormHistogram, SecondMoment
from dpviz.privacy.queries.rho import CompanionSums, NearRegionSums, Positions, QuadtreeCells, near_regions
from dpviz.privacy.queries.sums import NearestDistances, NearestScatter, NearestSums, ShapedSums
from dpviz.privacy.queries.swaps import SetCosts, SetScore, SwapCosts, SwapScore
from dpviz.privacy.queries.trees import BoxCounts, Halvings

__all__ = [
    "ArrivesBefore",
    "Below",
    "BoxCounts",
    "ByUser",
    "OccupiedCells",
    "CellCover",
    "CellOf",
    "CellSums",
    "ListedCells",
    "ClusterBins",
    "ClusterMoves",
    "CompanionSums",
    "Count",
    "GridCounts",
    "HalfIntervalCounts",
    "Halvings",
    "InBalls",
    "KeyQuery",
    "MixtureMoments",
    "NearRegionSums",
    "NearestDistances",
    "NearestOf",
    "NearestScatter",
    "NearestSums",
    "NearestVotes",
    "NormHistogram",
    "OffsetOf",
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
]
