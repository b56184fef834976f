"""Run k-means or k-median under rho-distance privacy: quadtrees on noisy points, then one noisy mean per region."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from dpviz.algorithms.dist_dp.family import Moves
from dpviz.algorithms.pseudocode import Line
from dpviz.domain import Domain
from dpviz.geometry import Population, clip_ball, nearest, snap_toward_zero
from dpviz.geometry.quadtree import DEPTH, centers, count_cells, side
from dpviz.params import param
from dpviz.privacy.accounting import mu_of_epsilon
from dpviz.privacy.costs import Gaussian, Threshold
from dpviz.privacy.curator import Curator, Noisy
from dpviz.privacy.plan import Plan
from dpviz.privacy.queries import NearRegionSums, QuadtreeCells, near_regions
from dpviz.trace import Step

__all__ = ["DistDP"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class DistDP(Moves):
    """dist-DP: hide moves of up to rho and nothing else. Coarse cells count noisy points, and fine cells count rows.

    Every row is released with noise that hides a move of up to rho. Five randomly shifted quadtrees look for dense
    cells: coarse cells count the noisy points, which is free, and fine cells count the rows, with noise. The centers of
    the cells with the highest counts divide the domain into regions. Noisy points far from every region stand for
    themselves; all other rows contribute to one noisy count and mean per region. A weighted k-means on these points and
    means is free.

    Parameters
    ----------
    n_clusters : int, in [1, 256]
        Number of clusters k. Public.
    epsilon : float, in [0.01, 100]
        Total privacy budget epsilon.
    delta : float or None, in [1e-12, 0.5]
        Total delta; None means 1/(100 n_public).
    rho_distance : float, > 0
        The longest move that is hidden, in z units of a common-scale domain; limited to the domain's diameter.
    objective : {"means", "medians"}
        Objective of the last step: k-means (p = 2) or k-median (p = 1), on the same released points.
    threshold : float, in [0, 20]
        T: a region is small if its noisy count is at most T standard deviations of that count's noise; Appendix E uses
        0.
    small_regions : {"auto", "points", "drop"}
        Contribution of small regions. "points": their noisy points (Algorithm 1, lines 13 and 14); "drop": nothing
        (Appendix E); "auto": their noisy points, pulled together (like the far ones) until they spread as the rows do
        (see Deviations).
    near : float or None, in [0, 1000]
        S: noisy points within S rho of a region are near; None means Appendix E's formula.
    trees : int, in [1, 20]
        REP: the number of shifted quadtrees.
    budget : {"joint", "thirds"}
        Split of the budget: equal thirds of mu^2, or the paper's three shares (epsilon/3, delta/3), which leave part of
        the budget unspent.
    ball : {"appendix", "literal"}
        The clipping radius R of offsets in a region. "appendix": min(S rho, domain radius); "literal": sqrt(d) rho,
        which is the printed min(S, sqrt(d)) rho except where S is below sqrt(d).
    coarse_levels : int, in [0, 9]
        Last quadtree level that counts noisy points.

    Formal guarantee
    ----------------
    (epsilon, delta, rho)-dist-DP: one row MOVED BY AT MOST rho, nobody added or removed. It is not DP: it hides neither
    who is in the data nor roughly where they are. Public: all parameters, the domain and n. There are three releases.
    (1) All rows: l2 sensitivity rho, plus sqrt(d) 2^-24 for rounding. (2) The counts of fine cells: a move leaves one
    cell and enters another in each of g = trees (10 - coarse_levels) grids, so the l2 sensitivity is sqrt(2 g); delta /
    6 pays for the chance that a cell which only one neighbor occupies passes the threshold. (3) A count and a sum per
    region: the sensitivities are sqrt(2) and sqrt(2) R, because a move may take a row from one region to another. The
    sum's sensitivity is min(2 R, rho) if that is larger, because a move may also stay within a region. Only released
    noisy points decide which rows are far.

    Steps
    -----
    noisy-points  released: noisy_points (n, d), noise_sd, rho; hidden: noisy_points (n, d), the rows themselves
    level         released: cells (m, d) centers, counts (m,), kept (m,), tree (m,), side, level, source, threshold
                  (every level holds its strongest cells only); hidden: keys, counts of the fine cells
    split         released: regions (f, d), near (n,) bool, reach
    regions       released: regions (f, d), noisy_counts (f,), means (f, d), kept (f,), noise_sd, least, radius,
                  themselves (n,) bool for noisy points that are far or in a small region;
                  hidden: counts (f,), sums (f, d)
    cluster       released: centers (k, d), coreset_points (c, d), coreset_weights (c,), coreset_sd (c,);
                  sometimes: center_sd (k, d), center_noise (no formula is known for medians)

    Deviations from the paper
    -------------------------
    Appendix E's formula for S has a misplaced bracket; S = sqrt(2 ln(1.25 / (delta/6))) sqrt(d) / (epsilon/6) is the
    reading that fits the noise. With the printed ball radius min(S, sqrt(d)) rho, the minimum would have no effect, so
    the default is min(S rho, radius of the domain). The noise of the fine counts is calibrated to sqrt(2 g), not
    sqrt(g): a move changes two cells in each grid. The region stage pays for a change in two regions, which Appendix
    E's share does not cover. By default a region is small up to 5 standard deviations, because hundreds of regions hold
    nothing but noise. Small regions contribute the noisy points that lie in them (Algorithm 1), not the rows, whose
    region is private here (Appendix E assigns rows, not noisy points). Cell centers are projected onto the domain: with
    many columns they lie far outside it, and offsets clipped to its radius would not lead back to the rows. The
    defaults add rules that read public and released values only. The covariance of the noisy points that are far or in
    small regions, minus that of their noise, estimates how their rows spread. These points are pulled toward their mean
    until they spread that much, by one factor in the directions that stand out from the noise and by another in the
    rest. If no direction stands out, they are shrunk toward the middle of the domain by the factor v / (v + sd^2),
    where v = radius^2 / d and sd is the standard deviation of their noise. Regional means are shrunk by the same
    formula. If the noise sqrt(d) sd is at most 2 radius k^(-1/d), the width of k equal clusters that fill the domain,
    regions of up to (sd of a sum / sd of a noisy point)^2 rows are small too, because the mean of their noisy points is
    then more accurate than their noisy mean. All noise is that of the analytic Gaussian mechanism; the paper uses
    truncated Laplace noise, and Gaussian noise calibrated by sqrt(2 ln(1.25/delta)) / epsilon. Each region's coreset is
    one noisy mean, because a tree per region would be lost in noise.

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
    tagline: ClassVar[str] = "Hides only moves of up to rho: quadtrees on noisy points, then one noisy mean per region."
    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {"threshold": 0.0, "small_regions": "drop", "budget": "thirds", "delta": 1e-6},
    }

    # noise is wide if it exceeds this multiple of a cluster's radius, where k equal clusters fill the domain; see
    # dist-dp-epsilon-rho.md
    WIDE: ClassVar[float] = 2.0
    WORK: ClassVar[float] = 5e9  # maximum number of row-region pairs
    SHOWN: ClassVar[int] = 400  # maximum number of cells that a level keeps for the picture, besides the chosen ones
    CODE: ClassVar[tuple[Line, ...]] = (
        Line("move every row by noise of size rho", ("noisy-points",), "points"),
        Line("lay coarse and fine grids over the noisy points", ("level",)),
        Line("count the fine cells again, with noise", ("level",), "cells"),
        Line("join cells into regions with enough rows", ("split",)),
        Line("count and average each region, with noise", ("regions",), "regions"),
        Line("weighted k-means on the averages", ("cluster",)),
    )
    AUDIT: ClassVar[dict[str, Any]] = {"budget": "thirds"}

    threshold: float = param(
        5.0,
        low=0.0,
        high=20.0,
        advanced=True,
        help="T: a region is small if its noisy count is below this many standard deviations of its noise.",
    )
    small_regions: str = param(
        "auto",
        choices=("auto", "points", "drop"),
        advanced=True,
        help="What small regions contribute: their noisy points (pulled together or unchanged) or nothing.",
    )
    near: float | None = param(
        None,
        low=0.0,
        high=1000.0,
        kind="float",
        advanced=True,
        help="S: points within S rho of a region are near it. By default, a rule sets S.",
    )
    trees: int = param(
        5, low=1, high=20, advanced=True, help="REP: number of shifted quadtrees in which dense cells are sought."
    )
    budget: str = param(
        "joint",
        choices=("joint", "thirds"),
        advanced=True,
        help="'joint' splits mu^2 into thirds. 'thirds' takes (epsilon/3, delta/3) three times, as in the paper, and "
        "leaves budget unspent.",
    )
    ball: str = param(
        "appendix",
        choices=("appendix", "literal"),
        advanced=True,
        help="Clipping radius in a region: min(S rho, radius of the domain), or sqrt(d) rho, as the paper prints it.",
    )
    coarse_levels: int = param(
        5,
        low=0,
        high=DEPTH - 1,
        advanced=True,
        help="Last quadtree level that reads noisy points; deeper levels read rows.",
    )

    def near_factor(self, n_features: int, n_public: int) -> float:
        """Return S: the parameter, or Appendix E.1's formula with its bracket corrected."""
        if self.near is not None:
            return self.near
        delta = self.resolved_delta(n_public)
        return math.sqrt(2 * math.log(1.25 / (delta / 6))) * math.sqrt(n_features) / (self.epsilon / 6)

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Price the noisy points, the fine cells with their threshold, and the counts and sums of regions."""
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

    def work(self, n_features: int, n_public: int) -> float:
        """Return a rough number of operations of 10 ns, from public values: the family's, and the regions'."""
        return super().work(n_features, n_public) + 170.0 * n_public * n_features

    def steps(self, curator: Curator, domain: Domain, rng: np.random.Generator) -> Iterator[Step]:
        """Run Algorithm 2 (the trees), then Algorithm 1 (the regions)."""
        d, n = curator.n_features, curator.n_public
        noisy = self.noisy_points(curator)
        yield self.show_points(curator, noisy)

        shifts = snap_toward_zero(rng.uniform(0, 4, (self.trees, d)))
        chosen = []
        for level in range(self.coarse_levels + 1):
            keys, counts = count_cells(noisy.value, shifts, (level,))
            released = self._level(keys, counts.astype(np.float64), shifts, level, "noisy points")
            chosen.append(released["cells"][released["kept"]])
            yield Step("level", f"Level {level}: the {len(chosen[-1])} cells with the most noisy points", released)
        fine = tuple(range(self.coarse_levels + 1, DEPTH + 1))
        passed = curator.release_keys("cells", QuadtreeCells(shifts, fine))
        for level in fine:
            here = passed.keys[:, 1] == level
            released = self._level(passed.keys[here], passed.counts[here], shifts, level, "rows")
            chosen.append(released["cells"][released["kept"]])
            words = f"{len(chosen[-1])} cells pass the threshold of {passed.threshold:.0f} rows and are chosen"
            yield Step("level", f"Level {level}: {words}", {**released, "threshold": passed.threshold})
        regions = np.unique(snap_toward_zero(domain.clip(np.concatenate(chosen))), axis=0)

        factor = self.near_factor(d, n)
        reach = factor * curator.rho_distance
        near = near_regions(noisy.value, regions, reach)
        words = f"{np.mean(~near):.0%} of the noisy points are far from all {len(regions)} regions and join none"
        yield Step("split", f"Far and near: {words}", {"regions": regions, "near": near, "reach": reach})

        radius = min(reach, domain.radius) if self.ball == "appendix" else math.sqrt(d) * curator.rho_distance
        query = NearRegionSums(self.COMPANION, regions, reach, radius, curator.rho_distance)
        answer = curator.release("regions", query)
        released = self._means(answer, query, noisy.sd, domain)
        heavy, sd = released["kept"], released["noise_sd"]
        alone = ~near if self.small_regions == "drop" else ~near | _small(noisy.value, regions, heavy)
        words = f"Regions: {int(heavy.sum())} of {len(regions)} stand out from the noise (±{sd:.0f} on every count)"
        words += (
            f"; the other regions contribute their {int((alone & near).sum()):,} noisy points"
            if (alone & near).any()
            else ""
        )
        yield Step("regions", words, {**released, "themselves": alone})

        own, own_sd = noisy.value, noisy.sd
        if self.small_regions == "auto":
            own = own.copy()
            own[alone], own_sd = self._drawn(own[alone], noisy.sd, domain)
        points = np.concatenate([own[alone], released["means"][heavy]])
        weights = np.concatenate([np.ones(int(alone.sum())), released["noisy_counts"][heavy]])
        sds = np.concatenate([np.zeros(int(alone.sum())), np.full(int(heavy.sum()), sd)])
        sums_sd = np.concatenate([np.full(int(alone.sum()), own_sd), np.full(int(heavy.sum()), answer.sd["sums"])])
        origins = np.concatenate([own[alone], query.regions[heavy]])
        title = f"Centers: weighted k-{self.objective} on {len(points):,} released points, at no cost"
        if len(points) == 0:
            points, weights, sds = own, np.ones(n), np.zeros(n)
            sums_sd, origins = np.full(n, own_sd), own
            title = f"Centers: no region stands out, so k-{self.objective} runs on the noisy points, at no cost"
        yield Step("cluster", title, self.finish(points, weights, sds, domain, rng, sums_sd=sums_sd, origins=origins))

    def wide(self, noise_sd: float, domain: Domain) -> bool:
        """Return whether `small_regions` is "auto" and noise moves points by more than the width of a cluster."""
        share = self.n_clusters ** (-1 / domain.n_features)  # k balls with this share of the radius fill the domain
        far = noise_sd * math.sqrt(domain.n_features) > self.WIDE * domain.radius * share
        return self.small_regions == "auto" and far

    def _shrunk(self, points: np.ndarray, sd: float | np.ndarray, domain: Domain) -> np.ndarray:
        """Shrink released points (m, d) toward the domain's middle according to their noise `sd`, at no cost."""
        if self.small_regions != "auto":
            return points
        spread = domain.radius**2 / domain.n_features  # prior variance of a coordinate, before any release
        return points * np.broadcast_to(spread / (spread + np.square(sd)), len(points))[:, None]

    def _drawn(self, points: np.ndarray, sd: float, domain: Domain) -> tuple[np.ndarray, float]:
        """Pull noisy points (m, d) together, for free, until they spread as the rows do; return points and noise sd."""
        m, d = points.shape
        plain = self._shrunk(points, sd, domain), sd * float(self._shrunk(np.ones((1, 1)), sd, domain)[0, 0])
        if sd == 0 or m < 3:
            return plain
        slope, variance = _cut_noise(sd, self.LIMIT)
        middle = points.mean(axis=0) / slope
        # the James-Stein estimator
        middle *= max(0.0, 1 - variance * d / (m * slope**2 * max(float(middle @ middle), 1e-300)))
        own, directions = np.linalg.eigh(np.atleast_2d(np.cov(points.T)))
        # `most`: the largest eigenvalue of noise alone, plus two of its Tracy-Widom units
        reach = math.sqrt(m) + math.sqrt(d)
        most = variance / m * (reach**2 + 2 * reach * (1 / math.sqrt(m) + 1 / math.sqrt(d)) ** (1 / 3))
        clear = own > most
        if not clear.any():
            return plain
        factor = np.zeros(d)
        for group in (clear, ~clear):
            if group.any():
                whole = float(own[group].mean())
                factor[group] = math.sqrt(max(whole - variance, 0.0) / max(whole, 1e-300)) / slope
        drawn = middle + ((points - points.mean(axis=0)) @ directions * factor) @ directions.T
        return domain.clip(drawn), sd * float(np.sqrt(np.mean(factor**2)))

    def check_domain(self, domain: Domain, n_public: int) -> None:
        """Raise a ValueError also for sizes for which a run would take too long."""
        super().check_domain(domain, n_public)
        most = self.trees * (DEPTH + 1) * 4 * self.n_clusters
        if most * n_public > self.WORK:
            raise ValueError(
                f"{self.name}: n_clusters = {self.n_clusters} means up to {most:,} regions, too many for "
                f"{n_public:,} rows; ask for at most {int(self.WORK / n_public / (most / self.n_clusters)):,} centers, "
                "or use dist-dp-region-means."
            )

    def _level(
        self, keys: np.ndarray, counts: np.ndarray, shifts: np.ndarray, level: int, source: str
    ) -> dict[str, Any]:
        """Return a level's released values: each tree's 4k fullest cells and, for the picture, the next ones."""
        order = np.lexsort((-counts, keys[:, 0]))
        keys, counts = keys[order], counts[order]
        first = np.searchsorted(keys[:, 0], keys[:, 0])
        fullest = np.arange(len(keys)) - first < 4 * self.n_clusters
        others = np.flatnonzero(~fullest)
        others = others[np.argsort(-counts[others], kind="stable")[: self.SHOWN]]
        picks = np.concatenate([np.flatnonzero(fullest), others])
        return {
            "cells": centers(keys[picks], shifts),
            "counts": counts[picks],
            "kept": fullest[picks],
            "tree": keys[picks, 0],
            "side": float(side(level)),
            "level": level,
            "source": source,
        }

    def _means(self, noisy: Noisy, query: NearRegionSums, noise_sd: float, domain: Domain) -> dict[str, Any]:
        """Return every region's noisy count and mean, and which regions are kept."""
        counts, sd = noisy.value["counts"], noisy.sd["counts"]
        divisor = np.maximum(counts, 1)
        offsets = clip_ball(noisy.value["sums"] / divisor[:, None], query.radius)
        least = self.threshold * sd
        if self.small_regions == "auto" and not self.wide(noise_sd, domain) and noise_sd > 0:
            # with fewer rows, the mean of the region's noisy points is more accurate
            least = max(least, (noisy.sd["sums"] / noise_sd) ** 2)
        return {
            "regions": query.regions,
            "noisy_counts": counts,
            "means": domain.clip(self._shrunk(query.regions + offsets, noisy.sd["sums"] / divisor, domain)),
            "kept": counts > least,
            "noise_sd": sd,
            "least": least,
            "radius": query.radius,
        }


def _cut_noise(sd: float, limit: float) -> tuple[float, float]:
    """Return the share of a small move that survives the clipping of noisy values, and the clipped values' variance."""
    ratio = limit / sd
    inside = math.erf(ratio / math.sqrt(2))
    density = math.exp(-(ratio**2) / 2) / math.sqrt(2 * math.pi)
    return inside, sd**2 * (inside - 2 * ratio * density) + limit**2 * (1 - inside)


def _small(points: np.ndarray, regions: np.ndarray, heavy: np.ndarray) -> np.ndarray:
    """Return the mask (n,) of the noisy points (n, d) whose nearest region is not kept."""
    return ~heavy[nearest(points, Population(regions))]
