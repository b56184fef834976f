"""Cases for counts in bins of single columns and of pairs of columns."""

import numpy as np

from dpviz.privacy.queries import ColumnCounts, PairTables, Query
from tests.query_cases.base import AR, MOVE, REPLACE, Case

_ALL = np.array([[0, 1], [0, 2], [1, 2]])
_columns, _tables = ColumnCounts(np.ones(3), 2), PairTables(np.ones(3), 2, _ALL)
_low, _high = np.full((1, 3), -0.05), np.full((1, 3), 0.05)  # one step across the middle changes every bin


def _pairs(rng, d):
    every = np.stack(np.triu_indices(d, 1), axis=1)
    return PairTables(rng.uniform(0.2, 1, d), int(rng.integers(1, 5)), every[rng.random(len(every)) < 0.7])


def _worst(query):
    return {
        AR: [(query, _low, np.vstack([_low, _high]))],
        REPLACE: [(query, _low, _high)],
        MOVE: [(query, _low, _high)],
    }


CASES: dict[type[Query], Case] = {
    ColumnCounts: Case(
        build=lambda rng, d: ColumnCounts(rng.uniform(0.2, 1, d), int(rng.integers(1, 5))), worst=_worst(_columns)
    ),
    PairTables: Case(build=_pairs, worst=_worst(_tables)),
}
