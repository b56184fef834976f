"""Cluster the cells of a uniform grid by their noisy counts (EUGkM); an optional Lloyd step refines the centers."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from dpviz.algorithms.base import Algorithm
from dpviz.algorithms.pseudocode import Line
from dpviz.domain import Domain
from dpviz.geometry import snap
from dpviz.params import param
from dpviz.postprocessing.center_sd import AVERAGES, CELLS, average_sd, declared, members
from dpviz.postprocessing.weighted import occupied, solve, work_of_solve
from dpviz.privacy.costs import Laplace
from dpviz.privacy.curator import Curator
from dpviz.privacy.plan import Plan, split
from dpviz.privacy.queries import GridCounts, NearestSums
from dpviz.trace import Step

__all__ = ["EUGkM"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class EUGkM(Algorithm):
    """EUGkM: lay a grid over the public box, add noise to the count of every cell, and cluster the cells.

    The cells are few enough that a typical count stands out from its noise, and many enough that a cell's center
    represents its rows. The noisy counts are a small weighted data set, on which k-means is free. With `lloyd_share`
    above 0 (the hybrid) the rest of the budget buys one Lloyd step on the rows, which removes the error due to the
    cells' width.

    Parameters
    ----------
    n_clusters : int, in [1, 256]
        Number of clusters k. Public.
    epsilon : float, in [0.01, 100]
        Total privacy budget epsilon.
    lloyd_share : float, in [0, 0.9]
        Share of epsilon for one Lloyd step after the grid; 0 means the grid alone. The paper's hybrid takes half.
    cells : int or None, in [1, 20000]
        Approximate number of cells; None means (N epsilon / c)^(2 d / (d + 2)) with the grid's epsilon and nominal size
        N.
    rule : {"size", "clusters"}
        Constant c of that formula: 10 as in the paper, or 4 sqrt(d k^(1 - 2 / d)), which depends on the number of
        clusters (see Deviations).

    Formal guarantee
    ----------------
    epsilon-DP for one row added or removed. Public: all parameters and the domain (bounds, radius R, nominal size N). A
    row is counted in one cell, so the sensitivity is 1; the Lloyd step is SuLloyd's: sums of l1 sensitivity sqrt(d) R
    and counts of sensitivity 1, divided as d : (4 d .225^2)^(1/3). Everything else depends on released values only.

    Steps
    -----
    grid               released: cells (m, d), noisy_counts (m,), parts (d,), counts_sd; hidden: true counts
    grid-centers       released: centers (k, d), coreset_points (m', d), coreset_weights (m',), coreset_sd (m',),
                       center_sd (k, d), center_noise
    grid-lloyd         released: centers (k, d), start (k, d), noisy_counts (k,), dead (k,) bool, center_sd (k, d),
                       center_noise (with `lloyd_share` > 0 only); hidden: true sums (k, d), true counts (k,)

    Deviations from the paper
    -------------------------
    A negative noisy count gets weight 0, because weighted k-means accepts no negative weights. There are at most 20,000
    cells. No column is divided if there are too few cells for two parts per column. With four or more columns and no
    Lloyd step to follow, no column is divided into two parts either, because the centers of all cells would then lie
    half a radius away from the domain's middle (wine: 38 times KMeans' loss instead of 7.4; letter: 9.3 instead of
    2.8). Without a Lloyd step an undivided grid puts every center near the middle of the domain, and the advice says
    so. The Lloyd step leaves a center in place if its noisy count is near or below 0. The rule "clusters" uses the idea
    of [3]: it chooses the number of cells that minimizes a bound on the change of the loss. With cells of width w = 2
    M^(-1/d), the rows' mean squared distance from their cells' centers is d w^2 / 12, and the noise moves k centers by
    2 M k r^2 / (N epsilon)^2 per row, where r^2 = (d / 3) k^(-2/d) is the cells' squared distance from these centers.
    The factor 4 is ours (of the factors 3, 4 and 6, it gave the lowest loss over lsun, house, iris, g2mg_2_50 and a1).
    The paper's rule has the lower loss at epsilon 1 and above, and over all five sets together, so it is the default;
    the other rule has the lower loss at epsilon .25 with many clusters.

    References
    ----------
    .. [1] Su, Cao, Li, Bertino and Jin, "Differentially private k-means clustering", CODASPY 2016, Sections 4.2 (EUGkM)
       and 5 (hybrid).
    .. [2] Qardaji, Yang and Li, "Differentially private grids for geospatial data", ICDE 2013 (the rule for 2 columns).
    .. [3] Muthukrishnan and Tandon, "On the optimal number of grids for differentially private non-interactive K-means
       clustering", arXiv 2603.26963, 2026.

    Examples
    --------
    >>> import numpy as np
    >>> from dpviz.domain import Domain
    >>> X = np.repeat([[-0.5, 0.0], [0.5, 0.0]], 500, axis=0)
    >>> domain = Domain.box(-1, 1, 2, n_public=1000)
    >>> trace = EUGkM(n_clusters=2, epsilon=2.0, lloyd_share=0.5).run(X, domain=domain, seed=0)
    >>> sorted(trace.cluster_centers[:, 0].round(1).tolist())
    [-0.5, 0.5]
    """

    name: ClassVar[str] = "EUGkM"
    slug: ClassVar[str] = "eugkm"
    tagline: ClassVar[str] = "Counts every cell of a uniform grid and clusters the cells; optionally adds a Lloyd step."
    MOST_CELLS: ClassVar[int] = 20_000
    CONTENT: ClassVar[float] = 10.0  # the constant of the rule in Su et al., Section 4.2
    # With this many columns or more, half boxes' centers are far from the domain's middle: lab/benchmarks/cliffs.py.
    MANY: ClassVar[int] = 4
    TINY: ClassVar[int] = 100  # `doubts` warns if the ratio of all cells to those that meet at a corner exceeds this,
    # and if no more cells than that hold at least this share of the rows; see lab/benchmarks/cliffs.py.
    CROWDED: ClassVar[float] = 0.9
    FACTOR: ClassVar[float] = 4.0  # factor of the rule "clusters": see Deviations
    SPREAD: ClassVar[float] = 0.225  # a center's assumed distance from the middle, per dimension (Su et al.)
    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "hybrid": {"lloyd_share": 0.5},
        "cells by clusters": {"rule": "clusters"},
    }
    CODE: ClassVar[tuple[Line, ...]] = (
        Line("lay a grid over the public bounds", ("grid",), events=("count",)),
        Line("count the rows of every cell, with noise", ("grid",), "cells"),
        Line("cells without a positive count are dropped", ("grid-centers",)),
        Line("weighted k-means on the middles of the others", ("grid-centers",)),
        Line("if a share is kept for it, a step of Lloyd:", ("grid-lloyd",)),
        Line("  assign each row to its nearest center", ("grid-lloyd",), "update"),
        Line("  add up rows and count them, with noise", ("grid-lloyd",), "update"),
        Line("  divide: noisy sums by noisy counts", ("grid-lloyd",)),
    )
    AUDIT: ClassVar[dict[str, Any]] = {"lloyd_share": 0.5, "cells": 64}

    epsilon: float = param(1.0, low=0.01, high=100, log=True, help="Privacy budget for the whole run.")
    lloyd_share: float = param(
        0.0, low=0.0, high=0.9, help="Share of ε for one Lloyd step after the grid. The paper's hybrid takes half."
    )
    cells: int | None = param(
        None,
        low=1,
        high=20_000,
        kind="int",
        advanced=True,
        help="Approximate number of cells. The default follows from n, d and ε.",
    )
    rule: str = param(
        "size",
        choices=("size", "clusters"),
        advanced=True,
        help="The default number of cells follows from n and ε, as in the paper, or also from the number of clusters.",
    )

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Price one histogram of the cells, and the sums and counts of a Lloyd step if there is one."""
        lloyd = self.epsilon * self.lloyd_share
        plan: dict[str, tuple[Laplace, ...]] = {"cells": (Laplace(self.epsilon - lloyd),)}
        if lloyd > 0:
            sums, counts = split(lloyd, (n_features, (4 * n_features * self.SPREAD**2) ** (1 / 3)))
            plan |= {"update.sums": (Laplace(sums),), "update.counts": (Laplace(counts),)}
        return Plan(plan)

    def parts(self, n_features: int, n_public: int) -> tuple[int, ...]:
        """Return the number of parts of each column; use public values only."""
        wanted = float(self.cells or self._rule(n_features, n_public))
        each = max(int(min(wanted, self.MOST_CELLS) ** (1 / n_features) + 1e-9), 1)
        if each == 2 and n_features >= self.MANY and self.lloyd_share == 0:
            each = 1  # no half box has its center near the middle, and no Lloyd step follows to correct that
        return (each,) * n_features

    def _rule(self, n_features: int, n_public: int) -> float:
        content = self.CONTENT
        if self.rule == "clusters":
            content = self.FACTOR * math.sqrt(n_features * self.n_clusters ** (1 - 2 / n_features))
        known = n_public * self.epsilon * (1 - self.lloyd_share) / content
        return known ** (2 * n_features / (n_features + 2))

    def work(self, n_features: int, n_public: int) -> float:
        """Return a rough number of operations of 10 ns, from public values: the counts, and k-means on all cells."""
        cells = math.prod(self.parts(n_features, n_public))
        return super().work(n_features, n_public) + work_of_solve(cells, self.n_clusters, n_features)

    def advice(self, n_features: int, n_public: int) -> tuple[str, ...]:
        """Return the base class's warnings, and one if the grid cannot divide every column."""
        sentences = super().advice(n_features, n_public)
        if self.lloyd_share > 0 or max(self.parts(n_features, n_public)) > 1:
            return sentences
        return (
            *sentences,
            f"{self.name}: {n_features} columns cannot all be divided at this epsilon and n: the grid is one cell "
            "and nothing is learned from it. Use fewer columns, or give a share to the Lloyd step.",
        )

    def doubts(self, released: Mapping[str, Mapping[str, Any]], domain: Domain) -> tuple[str, ...]:
        """Return a warning if nearly all rows lie in at most as many cells as meet at one corner of the grid."""
        counts = released["grid"]["noisy_counts"]
        few = int(np.prod(np.minimum(released["grid"]["parts"], 2)))
        if len(counts) <= self.TINY * few or np.sort(counts)[-few:].sum() < self.CROWDED * max(counts.sum(), 1.0):
            return ()
        return (
            f"{self.name}: by the noisy counts, nearly all rows lie in {few} of {len(counts):,} cells: the bounds are "
            "far wider than the data. Declare narrower bounds if you know them.",
        )

    def steps(self, curator: Curator, domain: Domain, rng: np.random.Generator) -> Iterator[Step]:
        """Count the cells, cluster them, and improve the centers with a Lloyd step if there is one."""
        grid = GridCounts(domain.box_z, self.parts(curator.n_features, curator.n_public))
        noisy = curator.release("cells", grid)
        parts = " × ".join(map(str, grid.parts[:4])) + (" × …" if len(grid.parts) > 4 else "")
        yield Step(
            "grid",
            f"{grid.size:,} cells ({parts}) are counted, with noise of ±{noisy.sd:.3g} on each",
            {
                "cells": grid.middles,
                "noisy_counts": noisy.value,
                "parts": np.array(grid.parts),
                "counts_sd": noisy.sd,
            },
        )
        nonempty, weights = occupied(noisy.value)
        points = grid.middles[nonempty]
        centers = snap(domain.clip(solve(points, weights, self.n_clusters, rng, jitter=1e-3)))
        spread = average_sd(centers, weights, noisy.sd, 0.0, origins=points, of=members(points, centers))
        yield Step(
            "grid-centers",
            f"k-means on the {len(points):,} cells with a positive count; no row is read",
            {
                "centers": centers,
                "coreset_points": points,
                "coreset_weights": weights,
                "coreset_sd": np.full(len(points), noisy.sd),
                **declared(spread, CELLS),
            },
        )
        if self.lloyd_share > 0:
            yield self._lloyd(curator, domain, centers)

    def _lloyd(self, curator: Curator, domain: Domain, start: np.ndarray) -> Step:
        """Run one noisy Lloyd step on the rows."""
        noisy = curator.release("update", NearestSums(start, domain.radius))
        sums, counts = noisy.value["sums"], noisy.value["counts"]
        dead = counts <= 1
        centers = domain.clip(np.where(dead[:, None], start, sums / np.maximum(counts, 1.0)[:, None]))
        spread = average_sd(centers, counts, noisy.sd["counts"], noisy.sd["sums"])
        moved = domain.length(float(np.linalg.norm(centers - start, axis=1).mean()))
        return Step(
            "grid-lloyd",
            f"One step of Lloyd on the rows: centers move by {moved} on average",
            {"centers": centers, "start": start, "noisy_counts": counts, "dead": dead, **declared(spread, AVERAGES)},
        )
