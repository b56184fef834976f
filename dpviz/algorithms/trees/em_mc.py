"""Cover the rows with a few cells of finer and coarser grids, then cluster the cells (EM-MC, maximum coverage)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from dpviz.algorithms.base import ApproximateDP
from dpviz.algorithms.pseudocode import Line
from dpviz.domain import Domain
from dpviz.geometry import Population, random_projection, snap, snap_toward_zero
from dpviz.params import param
from dpviz.postprocessing.center_sd import AVERAGES, average_sd, declared
from dpviz.postprocessing.weighted import solve, work_of_solve
from dpviz.privacy.accounting import mu_of_epsilon
from dpviz.privacy.costs import Cover, Gaussian, Laplace
from dpviz.privacy.curator import Curator
from dpviz.privacy.plan import Plan
from dpviz.privacy.queries import CellCover, NearestSums, NearestVotes, Projection
from dpviz.trace import Step

__all__ = ["EMMC"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class EMMC(ApproximateDP):
    """EM-MC: pick the cells that hold the most rows, set these rows aside, pick again; then cluster the picked cells.

    Rows are projected to a few public random directions. Fine grids come first, coarse ones later. In each grid the
    exponential mechanism picks cells with many rows; rows in a picked cell are not counted again. The centers of all
    picked cells are candidates. Rows are counted by nearest candidate, with noise; weighted k-means on the
    candidates is free; and one noisy average per group of rows brings the centers back to all columns.

    Parameters
    ----------
    n_clusters : int, in [1, 256]
        Number of clusters k; each grid gives ceil(k ln 2) picks.
    epsilon : float, in [0.01, 100]
        Total privacy budget epsilon.
    delta : float or None, in [1e-12, 0.5]
        Total delta, half for the picks, half for the averages; None means 1/(100 n_public).
    directions : int, in [1, 4]
        Maximum number of columns of the public random projection; data with no more columns than that are not
        projected.
    grids : int, in [1, 6]
        Number of grids; cells have diameter R, R/2, R/4, ... with R the domain's radius.
    cover_share, count_share : float, in [0.05, 0.45]
        Shares of epsilon for the picks and for counting candidates; the rest goes to the averages (a fifth of it to
        their counts).

    Formal guarantee
    ----------------
    (epsilon, delta)-DP for one row added or removed. Public: all parameters and the domain. All picks together are one
    release at (epsilon_E, delta/2), whatever their number: once covered, a row has no more effect (see `Cover`).
    Laplace counts follow (a row has one nearest candidate), then a joint release of Laplace counts and Gaussian sums
    (sensitivity R) per group. Composition is basic.

    Steps
    -----
    cover         released: half (p,), grid, side, cells (m, p) middles of the picked cells, matrix (d, p) (projected
                  only); hidden: covered, how many rows each pick of each grid covered
    cover-votes   released: half (p,), candidates (M, p), noisy_votes (M,), noise_sd, starts (k, p), matrix (d, p)
                  (projected only); hidden: true counts
    cover-means   released: half (p,), centers (k', d), noisy_counts (k,), kept (k,), noise_sd, matrix (d, p)
                  (projected only), center_sd (k', d), center_noise; hidden: true sums and counts

    Deviations from the paper
    -------------------------
    Cells of randomly shifted grids replace balls around grid points: each row lies in one cell per grid, so the
    exponential mechanism over all cells, occupied or not, is exact and cheap. The weight w of a pick solves (e^w - 1)(1
    + ln(1/delta)) = epsilon, by the same proof, and is about twice the published weight, epsilon / (2 ln(e/delta)).
    Rows are scaled by the declared radius, never by the data's largest norm; groups are dropped based on their noisy
    count only (the published code drops small ones by the exact count and takes a variance for a standard deviation).

    References
    ----------
    .. [1] Nguyen, Chaturvedi and Xu, "Differentially private k-means via exponential mechanism and max cover", AAAI
       2021.
    .. [2] Gupta, Ligett, McSherry, Roth and Talwar, "Differentially private combinatorial optimization", SODA 2010,
       Section 6.

    Examples
    --------
    >>> import numpy as np
    >>> from dpviz.domain import Domain
    >>> X = np.repeat([[-0.5, 0.0], [0.5, 0.0]], 500, axis=0)
    >>> trace = EMMC(n_clusters=2, epsilon=10.0).run(X, domain=Domain.box(-1, 1, 2, n_public=1000), seed=0)
    >>> sorted(trace.cluster_centers[:, 0].round(1).tolist())
    [-0.5, 0.5]
    """

    name: ClassVar[str] = "EM-MC"
    slug: ClassVar[str] = "em-mc"
    tagline: ClassVar[str] = "Picks the cells that cover the most rows, then clusters the cells."
    CODE: ClassVar[tuple[Line, ...]] = (
        Line("lay grids over the bounds, the finest first", ("cover",), at=("first",), events=("pick",)),
        Line("pick cells that hold many rows, with noise", ("cover",), "cover", ("before",), events=("pick",)),
        Line("rows in a picked cell do not count again", ("cover",), "cover", ("later",), events=("cover",)),
        Line("the middles of picked cells are candidates", ("cover",), at=("end",), events=("cover",)),
        Line("rows vote for the nearest candidate, with noise", ("cover-votes",), "votes"),
        Line("weighted k-means on the candidates", ("cover-votes",), events=("noise",)),
        Line("average the rows of each center, with noise", ("cover-means",), "average"),
    )

    directions: int = param(
        3, low=1, high=4, advanced=True, help="Maximum number of columns of the public random projection."
    )
    grids: int = param(
        5, low=1, high=6, advanced=True, help="Number of grids, each with cells twice as wide as the previous one."
    )
    cover_share: float = param(0.2, low=0.05, high=0.45, advanced=True, help="Share of epsilon for picking cells.")
    count_share: float = param(
        0.2, low=0.05, high=0.45, advanced=True, help="Share of epsilon for counting candidates."
    )

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Price all picks together, then counts, then averages."""
        delta = self.resolved_delta(n_public) / 2
        average = self.epsilon * (1 - self.cover_share - self.count_share)
        return Plan(
            {
                "cover": (Cover(self.epsilon * self.cover_share, delta),),
                "votes": (Laplace(self.epsilon * self.count_share),),
                "average.counts": (Laplace(0.2 * average),),
                "average.sums": (Gaussian(mu_of_epsilon(0.8 * average, delta)),),
            }
        )

    def work(self, n_features: int, n_public: int) -> float:
        """Return a rough number of operations of 10 ns, from public values: releases, and k-means on candidates."""
        return super().work(n_features, n_public) + work_of_solve(4 * self.n_clusters, self.n_clusters, n_features)

    def doubts(self, released: Mapping[str, Mapping[str, Any]], domain: Domain) -> tuple[str, ...]:
        """Return a warning if a single center may do as well as the released centers."""
        end = released["cover-means"]
        return self.blurred(end, end["noisy_counts"][end["kept"]], domain)

    def steps(self, curator: Curator, domain: Domain, rng: np.random.Generator) -> Iterator[Step]:
        """Pick cells grid by grid (one release, one step per grid), count, cluster, average."""
        k, d = self.n_clusters, curator.n_features
        p = min(d, self.directions)
        projection = None if p == d else Projection(random_projection(d, p, rng))
        half = domain.box_z if projection is None else np.full(p, domain.radius)
        seen: dict[str, Any] = {"half": half} | ({} if projection is None else {"matrix": projection.matrix})
        sides = tuple(domain.radius / math.sqrt(p) / 2**i for i in reversed(range(self.grids)))
        query = CellCover(
            half,
            sides,
            rng.uniform(0, 1, (self.grids, p)) * np.array(sides)[:, None],
            math.ceil(k * math.log(2)),
            projection,
        )
        cells = curator.cover("cover", query)
        candidates = np.empty((0, p))
        for grid, picked in enumerate(cells):
            middles = query.middles(grid, picked)
            candidates = np.concatenate([candidates, middles])
            title = f"Grid {grid + 1} of {self.grids}: {len(middles)} cells picked out of {query.size(grid):,}"
            yield Step("cover", title, seen | {"grid": grid, "side": sides[grid], "cells": middles})
        candidates = np.unique(snap(candidates), axis=0)
        votes = curator.release("votes", NearestVotes(Population(candidates), projection))
        weights = np.maximum(votes.value, 0)
        starts = snap(solve(candidates, weights if weights.any() else weights + 1, k, rng, jitter=sides[0]))
        title = f"{len(candidates)} candidates are counted; weighted k-means on them gives {k} groups at no cost"
        released = {"candidates": candidates, "noisy_votes": votes.value, "noise_sd": votes.sd, "starts": starts}
        yield Step("cover-votes", title, seen | released)
        noisy = curator.release("average", NearestSums(starts, domain.radius, projection))
        counts, sd = noisy.value["counts"], noisy.sd["counts"]
        significant = counts > 2 * sd
        significant[np.argmax(counts)] = True
        means = noisy.value["sums"][significant] / np.maximum(counts[significant], 1.0)[:, None]
        centers = snap_toward_zero(domain.clip(means))
        spread = average_sd(centers, counts[significant], sd, noisy.sd["sums"])
        yield Step(
            "cover-means",
            f"One noisy average per group; {int(significant.sum())} of {k} groups stand out from the noise",
            seen
            | {"centers": centers, "noisy_counts": counts, "kept": significant, "noise_sd": sd}
            | declared(spread, AVERAGES),
        )
