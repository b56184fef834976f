"""Find dense regions instead of centers, from one noisy count for every cell of a public grid (DP-DBSCAN)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from scipy import ndimage
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import norm

from dpviz.algorithms.base import Algorithm
from dpviz.algorithms.grids.eugkm import EUGkM
from dpviz.algorithms.pseudocode import Line
from dpviz.domain import Domain
from dpviz.geometry import bincount, snap
from dpviz.params import param
from dpviz.privacy.costs import Laplace
from dpviz.privacy.curator import Curator
from dpviz.privacy.plan import Plan
from dpviz.privacy.queries import GridCounts
from dpviz.trace import Step

__all__ = ["DPDBSCAN"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class DPDBSCAN(Algorithm):
    """DP-DBSCAN: add noise to the count of every cell of a grid and join adjacent dense cells; a region is a cluster.

    A cell is dense if it and its neighborhood together hold more rows than an even spread over the bounds would give
    them, and more than noise alone would show. Dense cells that share a side form a region (the paper's span) of any
    shape; the number of regions is a result, not an input. Rows outside all regions belong to no cluster. The trace's
    centers are the middles of the regions, which may lie outside them: the middle of a ring lies in its hole. Distances
    to these centers do not describe regions, so no loss is shown, and nothing is ranked by a loss.

    Parameters
    ----------
    n_clusters : int, in [1, 256]
        Maximum number of regions if `at_most_k` is set; otherwise every region is kept. Public.
    at_most_k : bool
        If true, at most n_clusters regions are kept, the largest ones.
    epsilon : float, in [0.01, 100]
        Total privacy budget epsilon.
    reach : int, in [1, 3]
        Number of cells on each side of a cell that belong to its neighborhood.
    density : float, in [0.25, 16]
        Factor by which the density of a dense cell's neighborhood must exceed that of evenly spread rows.
    cells : int or None, in [1, 20000]
        Approximate number of cells; None means N epsilon / 2, with the nominal size N.

    Formal guarantee
    ----------------
    epsilon-DP for one row added or removed. Public: all parameters, the domain and its n. Proof: (1) the grid and its
    list of cells follow from the domain, n and parameters. (2) A row lies in one cell, so the one Laplace release of
    all counts, those of empty cells included, has l1 sensitivity 1. (3) Neighborhoods, thresholds, regions and their
    middles depend on released counts and public numbers only.

    Steps
    -----
    density            released: cells (m, d), noisy_counts (m,), parts (d,), counts_sd; hidden: true counts
    dense-cells        released: nearby (m,), threshold (m,), dense (m,) bool
    spans              released: centers (r, d), span_of_cell (m,), noisy_counts (r,)

    Deviations from the paper
    -------------------------
    The paper's spans and its idea of one histogram with post-processing are kept. The paper lists only cells that may
    hold rows, in linear time, so its grid may be as fine as the distance alpha requires in any constant dimension. The
    paper proves that its result lies between the results of two runs of DBSCAN (a sandwich). Here every cell is listed,
    so n and epsilon determine the grid instead, with at most 20,000 cells, and no sandwich is claimed: with many
    columns the grid is too coarse, and the advice says so. Neighborhoods are blocks of cells instead of balls. The
    threshold is a multiple of the density of evenly spread rows, not a number of points. The threshold is never below
    the level that noise alone exceeds in some cell with probability 5%, by the normal approximation of a sum of Laplace
    draws; a region whose noisy size is below that level for the sum of its own cells is left out, unless it is the
    largest. If no cell is dense, the cell whose neighborhood has the highest count is the only region.

    References
    ----------
    .. [1] Qiu and Yi, "Approximate DBSCAN under differential privacy", arXiv 2508.08749, 2025.
    .. [2] Ester, Kriegel, Sander and Xu, "A density-based algorithm for discovering clusters", KDD 1996.

    Examples
    --------
    >>> import numpy as np
    >>> from dpviz.domain import Domain
    >>> rng = np.random.default_rng(0)
    >>> angle = rng.uniform(0, 2 * np.pi, 2000)
    >>> ring = .8 * np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(0, .03, (2000, 2))
    >>> X = np.concatenate([ring, rng.normal(0, .1, (1000, 2))])
    >>> trace = DPDBSCAN(epsilon=1.0).run(X, domain=Domain.box(-1, 1, 2, n_public=3000), seed=0)
    >>> len(trace.cluster_centers)
    2
    """

    name: ClassVar[str] = "DP-DBSCAN"
    slug: ClassVar[str] = "dp-dbscan"
    tagline: ClassVar[str] = "Joins dense cells of a noisy grid into regions of any shape and finds their number."
    regions: ClassVar[bool] = True
    MOST_CELLS: ClassVar[int] = 20_000
    CHANCE: ClassVar[float] = 0.05  # probability that noise alone makes at least one cell dense
    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {"coarse": {"reach": 2}}
    CODE: ClassVar[tuple[Line, ...]] = (
        Line("lay a grid over the public bounds", ("density",), events=("count",)),
        Line("count the rows of every cell, with noise", ("density",), "cells"),
        Line("for each cell: add up the noisy counts around it", ("dense-cells",)),
        Line("  dense: above the count for an even spread", ("dense-cells",)),
        Line("  and above what noise alone would show", ("dense-cells",)),
        Line("adjacent dense cells make one region", ("spans",)),
        Line("rows in no region belong to no cluster", ("spans",)),
    )
    AUDIT: ClassVar[dict[str, Any]] = {"cells": 64, "reach": 2, "density": 2.0}

    n_clusters: int = param(
        8, low=1, high=256, needs="at_most_k", help="Number of regions to keep, from the largest down; a public number."
    )
    at_most_k: bool = param(False, help="Keep only the k largest regions; otherwise keep all.")
    epsilon: float = param(1.0, low=0.01, high=100, log=True, help="Privacy budget for the whole run.")
    reach: int = param(1, low=1, high=3, help="How many cells around a cell count as its neighborhood.")
    density: float = param(
        1.0,
        low=0.25,
        high=16,
        log=True,
        help="Density that a dense cell must reach, as a multiple of the density of rows spread evenly.",
    )
    cells: int | None = param(
        None, low=1, high=20_000, kind="int", advanced=True, help="Approximate number of cells. Default: n ε / 2."
    )

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Price one histogram of the cells."""
        return Plan({"cells": (Laplace(self.epsilon),)})

    def parts(self, n_features: int, n_public: int) -> tuple[int, ...]:
        """Return the number of parts of each column; use public values only."""
        wanted = self.cells or int(min(max(n_public * self.epsilon / 2, 1), self.MOST_CELLS))
        return EUGkM(n_clusters=1, cells=wanted).parts(n_features, n_public)

    def work(self, n_features: int, n_public: int) -> float:
        """Return a rough number of operations of 10 ns, from public values: the counts, and the joining of cells."""
        return super().work(n_features, n_public) + 60.0 * math.prod(self.parts(n_features, n_public))

    def advice(self, n_features: int, n_public: int) -> tuple[str, ...]:
        """Return the base class's warnings, and one if the grid is too coarse to show shapes."""
        parts = self.parts(n_features, n_public)
        if min(parts) >= 2 * self.reach + 2:
            return super().advice(n_features, n_public)
        return (
            *super().advice(n_features, n_public),
            f"{self.name}: at this epsilon and n the grid divides a column into {min(parts)} "
            f"part{'s' * (min(parts) != 1)}, but regions of any shape need {2 * self.reach + 2}. "
            "Use fewer columns or more rows.",
        )

    def steps(self, curator: Curator, domain: Domain, rng: np.random.Generator) -> Iterator[Step]:
        """Count the cells, find the dense ones, and join those that share a side."""
        grid = GridCounts(domain.box_z, self.parts(curator.n_features, curator.n_public))
        noisy = curator.release("cells", grid)
        divided = tuple(part for part in grid.parts if part > 1) or (1,)
        counts = noisy.value.reshape(divided)
        parts = " × ".join(map(str, grid.parts[:4])) + (" × …" if len(grid.parts) > 4 else "")
        yield Step(
            "density",
            f"{grid.size:,} cells ({parts}) are counted, with noise of ±{noisy.sd:.3g} on each",
            {"cells": grid.middles, "noisy_counts": noisy.value, "parts": np.array(grid.parts), "counts_sd": noisy.sd},
        )
        around = _nearby(np.ones(divided), self.reach)
        nearby = _nearby(counts, self.reach)
        even = self.density * curator.n_public / grid.size * around
        noise = norm.isf(self.CHANCE / grid.size) * noisy.sd
        threshold = np.maximum(even, noise * np.sqrt(around))
        dense = nearby >= threshold
        if not dense.any():
            dense = nearby >= nearby.max()
        yield Step(
            "dense-cells",
            f"{dense.sum():,} cells count as dense (above {self.density:g} times the even density and above the noise)",
            {"nearby": nearby.ravel(), "threshold": threshold.ravel(), "dense": dense.ravel()},
        )
        spans, sizes = _joined(dense, counts, noise, self.n_clusters if self.at_most_k else dense.size)
        middles = grid.middles
        centers = np.stack([_middle(middles, noisy.value, spans == i) for i in range(len(sizes))])
        yield Step(
            "spans",
            f"{len(sizes)} region{'s' * (len(sizes) != 1)} of adjacent dense cells; no row is read",
            {"centers": snap(domain.clip(centers)), "span_of_cell": spans, "noisy_counts": sizes},
        )


def _nearby(counts: np.ndarray, reach: int) -> np.ndarray:
    """Return, for each cell, the sum of the counts in the block of cells around it; cells beyond the bounds hold 0."""
    for axis in range(counts.ndim):
        counts = ndimage.convolve1d(counts, np.ones(2 * reach + 1), axis=axis, mode="constant")
    return counts


def _joined(dense: np.ndarray, counts: np.ndarray, noise: float, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return each cell's region (-1: none) and the noisy sizes of at most `most` regions, largest first.

    A region of m cells whose noisy size is below noise sqrt(m) may be empty and is left out, unless it is the largest.
    """
    places = np.arange(dense.size).reshape(dense.shape)
    sides: list[np.ndarray] = []
    for axis, parts in enumerate(dense.shape):  # pairs of dense cells that share a side
        one, other = (places.take(range(start, parts - 1 + start), axis).ravel() for start in (0, 1))
        both = dense.ravel()[one] & dense.ravel()[other]
        sides.append(np.stack([one[both], other[both]]))
    one, other = np.concatenate(sides, axis=1)
    graph = coo_array((np.ones(len(one)), (one, other)), shape=(dense.size, dense.size))
    _, labels = connected_components(graph, directed=False)
    names, labels = np.unique(np.where(dense.ravel(), labels, -1), return_inverse=True)
    n = len(names) - (names[0] == -1)
    labels = labels - (names[0] == -1)  # -1: not dense
    sizes = bincount(labels[labels >= 0], counts.ravel()[labels >= 0], n)
    order = np.argsort(-sizes, kind="stable")
    clear = sizes[order] >= noise * np.sqrt(bincount(labels[labels >= 0], minlength=n)[order])
    clear[0] = True
    order = order[clear][:most]
    rank = np.full(n + 1, -1)
    rank[order] = np.arange(len(order))
    return rank[labels].astype(np.int64), sizes[order]


def _middle(middles: np.ndarray, counts: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Return the mean position of a region's cells, weighted by their positive noisy counts."""
    weights = np.maximum(counts[inside], 0)
    return np.average(middles[inside], axis=0, weights=weights if weights.sum() > 0 else None)
