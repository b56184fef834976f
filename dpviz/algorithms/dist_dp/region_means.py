"""Cluster under rho-distance privacy: noisy points define regions, and each region releases one noisy mean."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from sklearn.cluster import KMeans

from dpviz.algorithms.base import Algorithm
from dpviz.algorithms.dist_dp.family import Moves
from dpviz.algorithms.nsm.nsm import NSM
from dpviz.algorithms.pseudocode import Line
from dpviz.domain import Domain
from dpviz.geometry import Population, bincount, nearest, snap
from dpviz.params import param
from dpviz.privacy.accounting import mu_of_epsilon
from dpviz.privacy.curator import Curator
from dpviz.privacy.plan import Plan, gaussians
from dpviz.privacy.queries import CompanionSums
from dpviz.trace import Step

__all__ = ["DistDPRegionMeans"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class DistDPRegionMeans(Moves):
    """dist-DP region means (ours): noisy points decide which rows form a region; one noisy mean locates each region.

    Every row is released with noise that hides a move of up to rho. The noisy points are divided into about ten regions
    per center. A row's region then depends only on its RELEASED noisy point: if the row moves by rho, its region's sum
    changes by rho and nothing else changes. So at epsilon = 1 the mean of a region of m rows needs noise with a
    standard deviation of about 5 rho / m instead of 5 rho. A weighted k-means on these means is free.

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
        Objective of the last step: k-means or k-median, on the same released points.
    regions_per_center : int, in [1, 100]
        Number of regions per center into which the noisy points are divided.

    Formal guarantee
    ----------------
    (epsilon, delta, rho)-dist-DP and mu-GDP: one row MOVED BY AT MOST rho, nobody added or removed. It is not DP: it
    hides neither who is in the data nor roughly where they are. Public: all parameters, the domain and n. There are two
    Gaussian releases of mu / sqrt(2) each: all rows (l2 sensitivity rho), and the sums of the rows per region (l2
    sensitivity rho, given the noisy points). Both sensitivities are larger by sqrt(d) 2^-24, because rows are rounded.
    The sizes of regions are counts of released noisy points and cost nothing.

    If rho is so large that the noisy points would give a higher loss than ordinary DP (both losses are estimated from
    public values, see `expected_losses`), NSM runs instead, with its sensitivities for the replacement of one row.
    NSM's guarantee, plain (epsilon, delta)-DP under replacement, is stronger than the one above.

    Steps
    -----
    noisy-points  released: noisy_points (n, d), noise_sd, rho; hidden: noisy_points (n, d), the rows themselves
    regions       released: regions (m, d), noisy_counts (m,) (exact counts of noisy points), means (m, d), kept (m,),
                  noise_sd; hidden: sums (m, d)
    cluster       released: centers (k, d), coreset_points (c, d), coreset_weights (c,), coreset_sd (c,);
                  sometimes: center_sd (k, d), center_noise (no formula is known for medians)

    If NSM runs instead, its steps replace all of these.

    Deviations from the paper
    -------------------------
    The algorithm is ours; it keeps the paper's idea of assigning rows by noisy points (Section 5) and drops the
    quadtree, the far points and the regional coresets.

    References
    ----------
    .. [1] Epasto, Mirrokni, Narayanan and Zhong, "k-means clustering with distance-based privacy", NeurIPS 2023.
    .. [2] Balle and Wang, "Improving the Gaussian mechanism for differential privacy", ICML 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from dpviz.domain import Domain
    >>> X = np.repeat([[-0.5, 0.0], [0.5, 0.0]], 500, axis=0)
    >>> domain = Domain.box(-1, 1, 2, n_public=1000)
    >>> trace = DistDPRegionMeans(n_clusters=2, rho_distance=0.01).run(X, domain=domain, seed=0)
    >>> sorted(trace.cluster_centers[:, 0].round(2).tolist())
    [-0.5, 0.5]
    """

    name: ClassVar[str] = "dist-DP region means (ours)"
    slug: ClassVar[str] = "dist-dp-region-means"
    tagline: ClassVar[str] = (
        "Noisy points tell which rows belong together; one noisy mean per region tells where they lie."
    )

    learns_sensitivity: ClassVar[bool] = NSM.learns_sensitivity  # this applies only if NSM runs
    SAMPLE: ClassVar[int] = 5_000  # number of noisy points from which the regions are computed
    CODE: ClassVar[tuple[Line, ...]] = (
        Line("move every row by noise of size rho", ("noisy-points",), "points"),
        Line("k-means on the noisy points makes many regions", ("noisy-points",)),
        Line("the regions' sizes follow from the noisy points", ("regions",)),
        Line("sum the rows of each region, with less noise", ("regions",), "sums"),
        Line("divide sums by sizes: region means", ("regions",)),
        Line("weighted k-means on the means", ("cluster",)),
    )

    regions_per_center: int = param(
        10, low=1, high=100, advanced=True, help="Number of regions per center into which the noisy points are divided."
    )

    def expected_losses(self, n_features: int, n_public: int) -> tuple[float, float]:
        """Return how far the expected losses of region means and of NSM lie above KMeans' loss, in squared z units.

        Both are rough estimates from public values alone: .16 s^2 min(1, (s / .2)^2), where s is the standard deviation
        of a noisy point per coordinate, and 3 d (k / (mu n))^2, the loss due to the noise in k means of n / k rows. The
        constants fit runs on iris, lsun, s1, town and city (epsilon .5 to 4, rho .008 to 1;
        lab/benchmarks/results/region-means-rule.md) within a factor of 4.
        """
        mu = mu_of_epsilon(self.epsilon, self.resolved_delta(n_public))
        noise = math.sqrt(2) * self.rho_distance / mu
        regions = 0.16 * noise**2 * min(1.0, (noise / 0.2) ** 2)
        return regions, 3 * n_features * (self.n_clusters / (mu * n_public)) ** 2

    def too_far(self, n_features: int, n_public: int) -> bool:
        """Return whether rho is so large that NSM has the lower expected loss."""
        regions, standard = self.expected_losses(n_features, n_public)
        return standard < regions

    def runs(self, n_features: int, n_public: int) -> Algorithm:
        """Return NSM if rho is so large that NSM's expected loss is lower, else this algorithm."""
        if not self.too_far(n_features, n_public):
            return self
        return NSM(n_clusters=self.n_clusters, epsilon=self.epsilon, delta=self.delta)

    def advice(self, n_features: int, n_public: int) -> tuple[str, ...]:
        """Return the family's warnings, and one if NSM runs instead."""
        sentences = super().advice(n_features, n_public)
        if self.too_far(n_features, n_public):
            sentences += (
                f"{self.name}: noise for rho_distance = {self.rho_distance:g} would blur more than ordinary DP, so "
                f"{NSM.name} runs instead, with ordinary DP for one row changed to any value.",
            )
        return sentences

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Price two equal Gaussian releases, or return NSM's plan if rho is too large."""
        if (standard := self.runs(n_features, n_public)) is not self:
            return standard.plan(n_features, n_public)
        points, sums = gaussians(mu_of_epsilon(self.epsilon, self.resolved_delta(n_public)), [1, 1])
        return Plan({"points": (points,), "sums": (sums,)})

    def work(self, n_features: int, n_public: int) -> float:
        """Return a rough number of operations of 10 ns, from public values, or NSM's if rho is too large."""
        if (standard := self.runs(n_features, n_public)) is not self:
            return standard.work(n_features, n_public)
        return super().work(n_features, n_public)

    def steps(self, curator: Curator, domain: Domain, rng: np.random.Generator) -> Iterator[Step]:
        """Release noisy points and region means, then run a weighted k-means; or run NSM."""
        if "points" not in curator.plan.costs:
            yield from self.runs(curator.n_features, curator.n_public).steps(curator, domain, rng)
            return
        noisy = self.noisy_points(curator)
        yield self.show_points(curator, noisy)

        regions = self._regions(noisy.value, rng)
        counts = bincount(nearest(noisy.value, Population(regions)), minlength=len(regions)).astype(np.float64)
        sums = curator.release("sums", CompanionSums(self.COMPANION, regions, curator.rho_distance))
        full = counts > 0
        means = domain.clip(np.where(full[:, None], sums.value / np.maximum(counts, 1)[:, None], regions))
        released = {"regions": regions, "noisy_counts": counts, "means": means, "kept": full, "noise_sd": sums.sd}
        words = f"Regions: {int(full.sum())} noisy means, each of {counts[full].mean():.0f} rows on average"
        yield Step("regions", words, released)

        result = self.finish(
            means[full], counts[full], np.zeros(int(full.sum())), domain, rng, sums_sd=sums.sd, origins=means[full]
        )
        yield Step("cluster", f"Centers: weighted k-{self.objective} on the region means, at no cost", result)

    def _regions(self, points: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return region centers (m, d) on the grid: k-means on a sample of the released noisy points."""
        chosen = points[rng.choice(len(points), min(len(points), self.SAMPLE), replace=False)]
        m = min(self.regions_per_center * self.n_clusters, len(chosen))
        model = KMeans(m, n_init=1, max_iter=20, random_state=int(rng.integers(2**31))).fit(chosen)
        return np.clip(snap(model.cluster_centers_), -self.LIMIT, self.LIMIT)
