"""Run k-means on noisy points: the naive baseline for rho-distance privacy."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from dpviz.algorithms.dist_dp.family import Moves
from dpviz.algorithms.pseudocode import Line
from dpviz.domain import Domain
from dpviz.privacy.accounting import mu_of_epsilon
from dpviz.privacy.costs import Gaussian
from dpviz.privacy.curator import Curator
from dpviz.privacy.plan import Plan
from dpviz.trace import Step

__all__ = ["DistDPRandomPoints"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class DistDPRandomPoints(Moves):
    """dist-DP random points: move every row at random, then run plain k-means on the result.

    The whole budget buys one release: every row plus Gaussian noise that hides a move of up to rho. Ordinary k-means on
    the noisy points costs nothing more. The method is simple and hard to beat, because no other release takes part of
    the budget.

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

    Formal guarantee
    ----------------
    (epsilon, delta, rho)-dist-DP: one row MOVED BY AT MOST rho, nobody added or removed. It is not DP: it hides neither
    who is in the data nor roughly where they are. Public: all parameters, the domain and n. All rows are released once,
    with Gaussian noise of standard deviation (rho + sqrt(d) 2^-24) / mu per coordinate; the second term pays for
    rounding.

    Steps
    -----
    noisy-points  released: noisy_points (n, d), noise_sd, rho; hidden: noisy_points (n, d), the rows themselves
    cluster       released: centers (k, d), coreset_points (n, d), coreset_weights (n,), coreset_sd (n,);
                  sometimes: center_sd (k, d), center_noise (no formula is known for medians)

    Deviations from the paper
    -------------------------
    The noise is that of the analytic Gaussian mechanism instead of rho sqrt(2 ln(1.25/delta)) / epsilon, which is valid
    only for epsilon <= 1 and is larger.

    References
    ----------
    .. [1] Epasto, Mirrokni, Narayanan and Zhong, "k-means clustering with distance-based privacy", NeurIPS 2023,
       Section 6 (baseline "dist-DP random points").
    .. [2] Balle and Wang, "Improving the Gaussian mechanism for differential privacy", ICML 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from dpviz.domain import Domain
    >>> X = np.repeat([[-0.5, 0.0], [0.5, 0.0]], 500, axis=0)
    >>> domain = Domain.box(-1, 1, 2, n_public=1000)
    >>> trace = DistDPRandomPoints(n_clusters=2, rho_distance=0.01).run(X, domain=domain, seed=0)
    >>> sorted(trace.cluster_centers[:, 0].round(1).tolist())
    [-0.5, 0.5]
    """

    name: ClassVar[str] = "dist-DP random points"
    slug: ClassVar[str] = "dist-dp-random-points"
    tagline: ClassVar[str] = "The naive method: move every row at random, then run plain k-means."
    CODE: ClassVar[tuple[Line, ...]] = (
        Line("for every row:", ("noisy-points",)),
        Line("  move it by noise of size rho", ("noisy-points",), "points"),
        Line("  move it back within the bounds", ("noisy-points",), events=("noise",)),
        Line("from here on no row is read:", ("cluster",)),
        Line("  the noisy points are released, one per person", ("cluster",)),
        Line("  plain k-means on the noisy points", ("cluster",)),
    )

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Price the only release at the whole budget."""
        return Plan({"points": (Gaussian(mu_of_epsilon(self.epsilon, self.resolved_delta(n_public))),)})

    def steps(self, curator: Curator, domain: Domain, rng: np.random.Generator) -> Iterator[Step]:
        """Release noisy points, then run k-means on them."""
        noisy = self.noisy_points(curator)
        yield self.show_points(curator, noisy)
        n = len(noisy.value)
        result = self.finish(noisy.value, np.ones(n), np.zeros(n), domain, rng, sums_sd=noisy.sd, origins=noisy.value)
        yield Step("cluster", f"Centers: plain k-{self.objective} on the noisy points, at no cost", result)
