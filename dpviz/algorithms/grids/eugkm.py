"""EUGkM: one noisy count for every cell of a uniform grid, then k-means on the cells; a Lloyd step if wanted."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from dpviz.algorithms.base import Algorithm
from dpviz.domain import Domain
from dpviz.geometry import snap
from dpviz.params import param
from dpviz.postprocessing.center_sd import AVERAGES, CELLS, average_sd, declared, members
from dpviz.postprocessing.weighted import occupied, solve
from dpviz.privacy.costs import Laplace
from dpviz.privacy.curator import Curator
from dpviz.privacy.plan import Plan, split
from dpviz.privacy.queries import GridCounts, NearestSums
from dpviz.trace import Step

__all__ = ["EUGkM"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class EUGkM(Algorithm):
    """EUGkM: lay a grid over the public box, count every cell with noise, and cluster the cells.

    Cells are few enough that a typical count stands out from its noise, and many enough that a cell's middle represents
    its rows. The noisy counts are a small weighted data set, on which k-means is free. With `lloyd_share` above 0
    (the hybrid) the rest of the budget buys one step of Lloyd on the rows, which mends what the grid's width blurred.

    Parameters
    ----------
    n_clusters : int, in [1, 256]
        Number of clusters k. Public.
    epsilon : float, in [0.01, 100]
        Total privacy budget epsilon.
    lloyd_share : float, in [0, 0.9]
        Share of epsilon for one Lloyd step after the grid; 0: the grid alone. The paper's hybrid takes half.
    cells : int or None, in [1, 20000]
        About how many cells; None: (N epsilon / 10)^(2 d / (d + 2)) with the grid's epsilon and the nominal size N.

    Formal guarantee
    ----------------
    epsilon-DP for one row added or removed. Public: all parameters, the domain (bounds, radius R, nominal size N). A
    row counts in one cell, sensitivity 1; the Lloyd step is SuLloyd's: sums of l1 sensitivity sqrt(d) R and counts of
    sensitivity 1, divided as d : (4 d .225^2)^(1/3). Everything else reads released values only.

    Steps
    -----
    grid               released: cells (m, d), noisy_counts (m,), parts (d,), counts_sd; hidden: true counts
    grid-centers       released: centers (k, d), coreset_points (m', d), coreset_weights (m',), coreset_sd (m',),
                       center_sd (k, d), center_noise
    grid-lloyd         released: centers (k, d), start (k, d), noisy_counts (k,), dead (k,) bool, center_sd (k, d),
                       center_noise (with `lloyd_share` > 0 only); hidden: true sums (k, d), true counts (k,)

    Deviations from the paper
    -------------------------
    A negative noisy count has weight 0: weighted k-means knows no negative weights. At most 20,000 cells. Where the
    rule leaves less than two parts for every column, only as many columns as it allows are halved, in their order,
    and the others are not divided: the paper does not say what to do there. The advice says so. A noisy count near
    or below 0 leaves a center of the Lloyd step where it is.

    References
    ----------
    .. [1] Su, Cao, Li, Bertino and Jin, "Differentially private k-means clustering", CODASPY 2016, Sections 4.2 (EUGkM)
       and 5 (hybrid).
    .. [2] Qardaji, Yang and Li, "Differentially private grids for geospatial data", ICDE 2013 (the rule in 2 columns).

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
    tagline: ClassVar[str] = "Counts every cell of a uniform grid and clusters the cells; a Lloyd step if wanted."
    MOST_CELLS: ClassVar[int] = 20_000
    CONTENT: ClassVar[float] = 10.0  # Su et al., Section 4.2: the constant of the rule
    SPREAD: ClassVar[float] = 0.225  # a center's assumed distance from the middle, per dimension (Su et al.)
    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {"hybrid": {"lloyd_share": 0.5}}

    epsilon: float = param(1.0, low=0.01, high=100, log=True, help="Privacy budget for the whole run.")
    lloyd_share: float = param(
        0.0, low=0.0, high=0.9, help="Share of ε for one Lloyd step after the grid: the paper's hybrid takes half."
    )
    cells: int | None = param(
        None, low=1, high=20_000, kind="int", advanced=True, help="About how many cells. Empty: from n, d and ε."
    )

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Return one histogram of the cells, and sums and counts of a Lloyd step if there is one."""
        lloyd = self.epsilon * self.lloyd_share
        plan: dict[str, tuple[Laplace, ...]] = {"cells": (Laplace(self.epsilon - lloyd),)}
        if lloyd > 0:
            sums, counts = split(lloyd, (n_features, (4 * n_features * self.SPREAD**2) ** (1 / 3)))
            plan |= {"update.sums": (Laplace(sums),), "update.counts": (Laplace(counts),)}
        return Plan(plan)

    def parts(self, n_features: int, n_public: int) -> tuple[int, ...]:
        """Return into how many parts each column is divided; a function of public values only."""
        wanted = float(self.cells or self._rule(n_features, n_public))
        each = int(min(wanted, self.MOST_CELLS) ** (1 / n_features) + 1e-9)
        if each >= 2:
            return (each,) * n_features
        halved = int(math.log2(max(min(wanted, self.MOST_CELLS), 2)))
        return (2,) * min(halved, n_features) + (1,) * max(n_features - halved, 0)

    def _rule(self, n_features: int, n_public: int) -> float:
        known = n_public * self.epsilon * (1 - self.lloyd_share) / self.CONTENT
        return known ** (2 * n_features / (n_features + 2))

    def advice(self, n_features: int, n_public: int) -> tuple[str, ...]:
        """Return the base class's warnings, and one where the grid cannot divide every column."""
        parts = self.parts(n_features, n_public)
        if min(parts) > 1:
            return super().advice(n_features, n_public)
        return (
            *super().advice(n_features, n_public),
            f"{self.name}: the grid divides only {sum(part > 1 for part in parts)} of {n_features} columns at this "
            "epsilon and n, and learns nothing about the others. Use fewer columns, or give a share to the Lloyd step.",
        )

    def steps(self, curator: Curator, domain: Domain, rng: np.random.Generator) -> Iterator[Step]:
        """Count the cells, cluster them, and improve the centers by one step on the rows."""
        grid = GridCounts(domain.box_z, self.parts(curator.n_features, curator.n_public))
        noisy = curator.release("cells", grid)
        parts = " × ".join(map(str, grid.parts[:4])) + (" × …" if len(grid.parts) > 4 else "")
        yield Step(
            "grid",
            f"{grid.size:,} cells ({parts}) counted, ± {noisy.sd:.3g} each",
            {
                "cells": grid.middles,
                "noisy_counts": noisy.value,
                "parts": np.array(grid.parts),
                "counts_sd": noisy.sd,
            },
        )
        kept, weights = occupied(noisy.value)
        points = grid.middles[kept]
        centers = np.zeros((self.n_clusters, grid.middles.shape[1]))
        cut = np.array(grid.parts) > 1  # in other columns all cells have the middle 0
        cut |= not cut.any()
        centers[:, cut] = solve(points[:, cut], weights, self.n_clusters, rng, jitter=1e-3)
        centers = snap(domain.clip(centers))
        spread = average_sd(centers, weights, noisy.sd, 0.0, origins=points, of=members(points, centers))
        yield Step(
            "grid-centers",
            f"k-means on the {len(points):,} cells with a positive count; no row read",
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
        """Return the step of Lloyd on the rows, with noise."""
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
