"""Ask the rows of a public file how many clusters they have: the loss for each k, and whether halves agree.

Everything here reads the rows and is NOT PRIVATE.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from dpviz.datasets import Dataset
from dpviz.geometry import alone
from dpviz.numbers import listed, number, percent
from dpviz.runs.single import ROWS

__all__ = ["AGREE", "HowMany", "how_many", "told"]

MOST = 12  # largest k
SPLITS = 5  # number of times that the rows are divided into two halves
AGREE = 0.9  # adjusted Rand index from which two clusterings are said to agree
_PER_CLUSTER = 5  # minimum number of rows in a half for each cluster
_STARTS = 5
_TIE = 0.005  # of values of k whose agreements differ by less, the largest is named


@dataclasses.dataclass(frozen=True, eq=False)
class HowMany:
    """What the rows say about k. NOT PRIVATE.

    Attributes
    ----------
    loss : ndarray of shape (m,), the loss of KMeans with 1 to m centers, as a share of the loss of a single center
    agreement : ndarray of shape (m,), the mean adjusted Rand index of the clusterings by KMeans of two halves; 1 for a
        single center
    n_rows, of_rows : number of rows that were used, and of all complete rows
    """

    loss: np.ndarray
    agreement: np.ndarray
    n_rows: int
    of_rows: int


def how_many(data: Dataset, on_step: Callable[[int, int], None] = lambda done, all: None) -> HowMany:
    """Return the loss and the agreement for 1 to 12 clusters, on at most 10,000 rows.

    For the agreement, the rows are divided at random into halves, KMeans runs on each, and every row is put into the
    nearest cluster of both. The index is 1 if both divide the rows alike, and about 0 if they agree by chance alone.

    Raises
    ------
    PermissionError
        If the data are private.
    ValueError
        If there are too few different rows for two clusters.
    """
    if data.private:
        raise PermissionError("The number of clusters in private rows is known only to a paid run.")
    rng = np.random.default_rng(0)
    Z = data.domain.normalize(data.X)
    Z = Z[np.isfinite(Z).all(axis=1)]
    of_rows = len(Z)
    if of_rows > ROWS:
        Z = Z[rng.choice(of_rows, ROWS, replace=False)]
    most = min(MOST, len(Z) // (2 * _PER_CLUSTER), len(np.unique(Z, axis=0)))
    if most < 2:
        raise ValueError(f"{len(Z)} rows are too few to ask whether halves of them agree on two clusters.")
    halves = [np.array_split(rng.permutation(len(Z)), 2) for _ in range(SPLITS)]
    loss, agreement = [], [1.0]
    with alone():  # the same rows give the same result with any number of threads
        for k in range(1, most + 1):
            on_step(k - 1, most)
            loss.append(_fit(Z, k).inertia_)
            if k > 1:
                pairs = [[_fit(Z[half], k).predict(Z) for half in split] for split in halves]
                agreement.append(float(np.mean([adjusted_rand_score(*pair) for pair in pairs])))
    return HowMany(np.array(loss) / loss[0], np.array(agreement), len(Z), of_rows)


def _fit(Z: np.ndarray, k: int) -> KMeans:
    return KMeans(k, n_init=_STARTS, random_state=0).fit(Z)


def told(found: HowMany, k: int) -> str:
    """Return one sentence on what the rows say about k, and about the visitor's own `k`."""
    sure, most = found.agreement[1:], len(found.loss)
    best = int(np.flatnonzero(sure >= sure.max() - _TIE).max()) + 2
    others = [str(one + 2) for one in np.flatnonzero(sure >= AGREE) if one + 2 != best]
    by, scale = number(sure[best - 2], 2), "1 is the same, 0 is chance"
    doubted = k != best and 2 <= k <= most and sure[k - 2] < AGREE
    own = f"; at your k = {k} they agree by {number(sure[k - 2], 2)}" if doubted else ""
    left = f"{best} centers leave {percent(found.loss[best - 1])} of the loss of one"
    if sure[best - 2] < AGREE:
        return (
            f"No k from 2 to {most} is sure: halves of the rows agree most on {best} clusters, by {by} ({scale}), and "
            f"{left}{own}."
        )
    also = f", also on {listed(others)}" if others else ""
    return f"Halves of the rows agree most on {best} clusters, by {by} ({scale}){also}; {left}{own}."
