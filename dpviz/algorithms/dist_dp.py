"""dist-DP: k-means or k-median under rho-distance privacy, by quadtrees on noisy points and regional means."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from dpviz.algorithms.dist_dp_family import Moves
from dpviz.domain import Domain
from dpviz.geometry import clip_ball, snap_toward_zero
from dpviz.geometry.quadtree import DEPTH, centers, count_cells, side
from dpviz.params import param
from dpviz.postprocessing.medians import medians_on
from dpviz.privacy.accounting import mu_of_epsilon
from dpviz.privacy.curator import Curator, Noisy
from dpviz.privacy.plan import Gaussian, Plan, Threshold
from dpviz.privacy.queries import NearRegionSums, QuadtreeCells, near_regions
from dpviz.trace import Step

__all__ = ["DistDP"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class DistDP(Moves):
    """dist-DP: hide moves by rho, not more. Coarse cells read noisy points, fine cells read noisy counts.

    Every row is released with noise that hides a move by rho. Five randomly shifted quadtrees look for crowds: in
    coarse cells among the noisy points, which is free, in fine cells among the rows, with noise on every count. The
    centers of the strongest cells cut the map into regions. Noisy points far from every region stand for themselves;
    all other rows give one noisy count and mean per region. A weighted k-means on both is free.

    Parameters
    ----------
    n_clusters : int, in [1, 256]
        Number of clusters k. Public.
    epsilon : float, in [0.01, 100]
        Total privacy budget epsilon.
    delta : float or None, in (0, 1)
        Total delta; None means n_public^-1.1.
    rho_distance : float, > 0
        The longest move that is hidden, z units of a common-scale domain; cut to the domain's diameter.
    objective : {"means", "medians"}
        The last step: k-means (p = 2) or k-median (p = 1), on the same released points.
    drop_below : float, in [0, 20]
        Regions whose noisy count is not above so many standard deviations are dropped; the paper drops at 0.
    budget : {"joint", "thirds"}
        Equal thirds of mu^2, or the paper's (epsilon/3, delta/3) three times, which leaves budget unspent.
    ball : {"appendix", "literal"}
        Offsets in a region are clipped to min(S rho, domain radius), or to the printed min(S, sqrt(d)) rho.
    coarse_levels : int, in [0, 9]
        Last quadtree level that reads noisy points.

    Formal guarantee
    ----------------
    (epsilon, delta, rho)-dist-DP: one row MOVED BY AT MOST rho, nobody added or removed. It is not DP: who is in the
    data and roughly where is not protected. Public: all parameters, the domain, n. Three releases: all rows, l2
    sensitivity rho, and sqrt(d) 2^-24 more for rounding; the counts of fine cells, where a move leaves one cell and
    enters another in each of g = 5 (10 - coarse_levels) grids, l2 sensitivity sqrt(2 g), with a threshold that pays
    delta / 6 for cells only one neighbor has; and count and sum per region, sensitivities sqrt(2) and sqrt(2) R,
    because a move may take a row from one region to the next. Which rows are far follows released noisy points.

    Steps
    -----
    noisy-points  released: noisy_points (n, d), noise_sd, rho; hidden: noisy_points (n, d), the rows themselves
    level         released: cells (m, d) centers, counts (m,), kept (m,), tree (m,), side, level, source, threshold;
                  coarse levels hold the strongest cells only; hidden: keys, counts of the fine cells
    split         released: regions (f, d), near (n,) bool, reach
    regions       released: regions (f, d), noisy_counts (f,), means (f, d), kept (f,), noise_sd, radius;
                  hidden: counts (f,), sums (f, d)
    cluster       released: centers (k, d), coreset_points, coreset_weights, coreset_sd

    Deviations from the paper
    -------------------------
    Appendix E's formula for S has a misplaced bracket; S = sqrt(2 ln(1.25 / (delta/6))) sqrt(d) / (epsilon/6) is the
    reading that fits the noise. Its ball radius min(S, sqrt(d)) rho would make the minimum vacuous, so
    min(S rho, radius of the domain) is the default. Fine counts get noise for sqrt(2 g), not sqrt(g): a move changes
    two cells in each grid. The region stage is priced for two regions that change, which Appendix E's share does not
    cover. Regions below 5 standard deviations are dropped: hundreds of regions hold noise only. Noise is analytic
    Gaussian instead of truncated Laplace and of sqrt(2 ln(1.25/delta)) / epsilon. The regional coreset is one noisy
    mean, because a tree per region would be drowned by noise.

    References
    ----------
    .. [1] Epasto, Mirrokni, Narayanan and Zhong, "k-means clustering with distance-based privacy", NeurIPS 2023,
       Algorithms 1 and 2, Appendix E.1.
    .. [2] Balle and Wang, "Improving the Gaussian mechanism for differential privacy", ICML 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from dpviz.domain import Domain
    >>> X = np.repeat([[-0.5, 0.0], [0.5, 0.0]], 500, axis=0)
    >>> domain = Domain.box(-1, 1, 2, n_public=1000)
    >>> trace = DistDP(n_clusters=2, rho_distance=0.001).run(X, domain=domain, seed=0)
    >>> sorted(trace.cluster_centers[:, 0].round(1).tolist())
    [-0.5, 0.5]
    """

    name: ClassVar[str] = "dist-DP"
    slug: ClassVar[str] = "dist-dp"
    tagline: ClassVar[str] = "Hides moves by rho, not more: quadtrees on noisy points, then one noisy mean a region."
    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {"paper": {"drop_below": 0.0, "budget": "thirds"}}

    TREES: ClassVar[int] = 5  # REP; Appendix E.1
    WORK: ClassVar[float] = 5e9  # most row-region pairs
    SHOWN: ClassVar[int] = 400  # cells that a coarse level keeps for the picture beside the chosen ones

    objective: str = param(
        "means", choices=("means", "medians"), advanced=True, help="Sum of squared distances, or of distances."
    )
    drop_below: float = param(
        5.0,
        low=0.0,
        high=20.0,
        advanced=True,
        help="Regions whose noisy count is below so many standard deviations of its noise are dropped.",
    )
    budget: str = param(
        "joint",
        choices=("joint", "thirds"),
        advanced=True,
        help="joint: thirds of mu^2. thirds: (epsilon/3, delta/3) three times, as in the paper, which spends less.",
    )
    ball: str = param(
        "appendix",
        choices=("appendix", "literal"),
        advanced=True,
        help="Clipping radius in a region: min(S rho, radius of the domain), or sqrt(d) rho as printed.",
    )
    coarse_levels: int = param(
        5, low=0, high=DEPTH - 1, advanced=True, help="Last quadtree level that reads noisy points; deeper ones rows."
    )

    def near_factor(self, n_features: int, n_public: int) -> float:
        """Return S: noisy points within S rho of a region are near (Appendix E.1, decoded)."""
        delta = self.resolved_delta(n_public)
        return math.sqrt(2 * math.log(1.25 / (delta / 6))) * math.sqrt(n_features) / (self.epsilon / 6)

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Return noisy points, fine cells with their threshold, and counts and sums of regions."""
        delta = self.resolved_delta(n_public)
        if self.budget == "thirds":
            points, cells = (mu_of_epsilon(self.epsilon / 3, part) for part in (delta / 3, delta / 6))
            regions = cells
        else:
            points = cells = regions = mu_of_epsilon(self.epsilon, delta * 5 / 6) / math.sqrt(3)
        half = (Gaussian(regions / math.sqrt(2)),)
        return Plan(
            {
                "points": (Gaussian(points),),
                "cells": (Threshold(cells, delta / 6),),
                "regions.counts": half,
                "regions.sums": half,
            }
        )

    def steps(self, curator: Curator, domain: Domain, rng: np.random.Generator) -> Iterator[Step]:
        """Algorithm 2 (the trees), then Algorithm 1 (the regions)."""
        d, n = curator.n_features, curator.n_public
        self._refuse_too_much(n)
        noisy = self.noisy_points(curator, domain)
        yield self.show_points(curator, noisy)

        shifts = snap_toward_zero(rng.uniform(0, 4, (self.TREES, d)))
        found = []
        for level in range(self.coarse_levels + 1):
            keys, counts = count_cells(noisy.value, shifts, (level,))
            said = self._level(keys, counts.astype(np.float64), shifts, level, "noisy points")
            found.append(said["cells"][said["kept"]])
            yield Step("level", f"Level {level}: the {len(found[-1])} fullest cells, by noisy points", said)
        fine = tuple(range(self.coarse_levels + 1, DEPTH + 1))
        passed = curator.release_keys("cells", QuadtreeCells(shifts, fine))
        for level in fine:
            here = passed.keys[:, 1] == level
            said = self._level(passed.keys[here], passed.counts[here], shifts, level, "rows")
            found.append(said["cells"][said["kept"]])
            words = f"{len(found[-1])} cells pass the threshold of {passed.threshold:.0f} rows and are chosen"
            yield Step("level", f"Level {level}: {words}", {**said, "threshold": passed.threshold})
        regions = np.unique(np.concatenate(found), axis=0)

        factor = self.near_factor(d, n)
        reach = factor * curator.rho_distance
        near = near_regions(noisy.value, regions, reach)
        words = f"{np.mean(~near):.0%} of the noisy points are far from all {len(regions)} regions and stay themselves"
        yield Step("split", f"Far and near: {words}", {"regions": regions, "near": near, "reach": reach})

        radius = min(reach, domain.radius) if self.ball == "appendix" else math.sqrt(d) * curator.rho_distance
        query = NearRegionSums(self.COMPANION, regions, reach, radius, curator.rho_distance)
        said = self._means(curator.release("regions", query), query, domain)
        kept, sd = said["kept"], said["noise_sd"]
        words = f"Regions: {int(kept.sum())} of {len(regions)} hold more than noise (±{sd:.0f} on every count)"
        yield Step("regions", words, said)

        points = np.concatenate([noisy.value[~near], said["means"][kept]])
        weights = np.concatenate([np.ones(int((~near).sum())), said["noisy_counts"][kept]])
        sds = np.concatenate([np.zeros(int((~near).sum())), np.full(int(kept.sum()), sd)])
        title = f"Centers: weighted k-{self.objective} on {len(points):,} released points, free"
        if len(points) == 0:
            points, weights, sds = noisy.value, np.ones(n), np.zeros(n)
            title = f"Centers: no region stands out, so k-{self.objective} on the noisy points, free"
        result = self.finish(points, weights, sds, domain, rng)
        if self.objective == "medians":
            result["centers"] = domain.clip(medians_on(points, weights, result["centers"]))
        yield Step("cluster", title, result)

    def _refuse_too_much(self, n_public: int) -> None:
        """Refuse sizes that would take too long, before anything is released."""
        most = self.TREES * (DEPTH + 1) * 4 * self.n_clusters
        if most * n_public > self.WORK:
            raise ValueError(
                f"{self.name}: n_clusters = {self.n_clusters} means up to {most:,} regions, too many for "
                f"{n_public:,} rows; ask for at most {int(self.WORK / n_public / (most / self.n_clusters)):,} centers, "
                "or use dist-dp-region-means."
            )

    def _level(
        self, keys: np.ndarray, counts: np.ndarray, shifts: np.ndarray, level: int, source: str
    ) -> dict[str, Any]:
        """Mark the 4k fullest cells of every tree; list them and, of the others, the strongest for the picture."""
        order = np.lexsort((-counts, keys[:, 0]))
        keys, counts = keys[order], counts[order]
        first = np.searchsorted(keys[:, 0], keys[:, 0])
        kept = np.arange(len(keys)) - first < 4 * self.n_clusters
        others = np.flatnonzero(~kept)
        others = others[np.argsort(-counts[others], kind="stable")[: self.SHOWN]]
        shown = np.concatenate([np.flatnonzero(kept), others])
        return {
            "cells": centers(keys[shown], shifts),
            "counts": counts[shown],
            "kept": kept[shown],
            "tree": keys[shown, 0],
            "side": float(side(level)),
            "level": level,
            "source": source,
        }

    def _means(self, noisy: Noisy, query: NearRegionSums, domain: Domain) -> dict[str, Any]:
        """Return every region's noisy count and mean, and which regions are kept."""
        counts, sd = noisy.value["counts"], noisy.sd["counts"]
        offsets = clip_ball(noisy.value["sums"] / np.maximum(counts, 1)[:, None], query.radius)
        return {
            "regions": query.regions,
            "noisy_counts": counts,
            "means": domain.clip(query.regions + offsets),
            "kept": counts > self.drop_below * sd,
            "noise_sd": sd,
            "radius": query.radius,
        }
