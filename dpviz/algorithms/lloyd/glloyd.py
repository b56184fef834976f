"""Run Lloyd's k-means on sums and counts with Gaussian noise, without a radius (GLloyd)."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

from dpviz.algorithms.base import ApproximateDP
from dpviz.algorithms.lloyd.family import NoisyLloyd
from dpviz.privacy.accounting import mu_of_epsilon, sigma
from dpviz.privacy.plan import Plan, gaussians

__all__ = ["GLloyd"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class GLloyd(NoisyLloyd, ApproximateDP):
    """GLloyd: the classic noisy k-means, with Gaussian noise scaled to the whole domain.

    Centers are spread over the public domain. In every iteration each row goes to its nearest center; the noisy sum of
    the rows divided by their noisy count is the next center. One far row can change a sum by the domain's radius, and
    the noise has to hide that. A run has one start, which is public: if it leads two groups to share a center, they
    share it at any budget and even without noise; a restart would cost budget.

    Parameters
    ----------
    n_clusters : int, in [1, 256]
        Number of clusters k. Public.
    epsilon : float, in [0.01, 100]
        Total privacy budget epsilon.
    delta : float or None, in [1e-12, 0.5]
        Total delta; None means 1/(100 n_public).
    iterations, init, boundary, dead_cluster
        Number of iterations T (None: as many as the budget allows), initial centers, the rule at the bounds, and the
        rule for clusters with a noisy count near or below 0.

    Formal guarantee
    ----------------
    (epsilon, delta)-DP for one row added or removed, and mu-GDP with the mu of the analytic Gaussian mechanism. Public:
    all parameters and the domain (bounds, radius R, nominal size N). Each of the T iterations releases the sums (l2
    sensitivity R) and the counts (sensitivity 1) jointly and costs mu^2 / T, divided as sqrt(d) : .45. Everything else
    depends on released values only.

    Steps
    -----
    packing            released: centers (k, d)
    noisy-iteration    released: centers (k, d), start (k, d), raw (k, d), clipped (k, d) equal to raw,
                       noisy_counts (k,), dead (k,) bool, radius, constrained False, sums_sd, counts_sd, round, rounds,
                       center_sd (k, d), center_noise;
                       hidden: sums (k, d), counts (k,)

    Deviations from the paper
    -------------------------
    In the paper, T also occurs on the right-hand side of its own rule; here it does not. Lengths scale with the
    declared radius R instead of B sqrt(d) (equal for a box). A center outside the box is reflected, as in FastLloyd.

    References
    ----------
    .. [1] Diaa, Humphries and Kerschbaum, "FastLloyd", 2025, Appendix B.1.
    .. [2] Su, Cao, Li, Bertino and Jin, "Differentially private k-means clustering", CODASPY 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from dpviz.domain import Domain
    >>> X = np.repeat([[-0.5, 0.0], [0.5, 0.0]], 500, axis=0)
    >>> trace = GLloyd(n_clusters=2, epsilon=2.0).run(X, domain=Domain.box(-1, 1, 2, n_public=1000), seed=0)
    >>> trace.cluster_centers.shape
    (2, 2)
    """

    name: ClassVar[str] = "GLloyd"
    slug: ClassVar[str] = "glloyd"
    tagline: ClassVar[str] = "Lloyd's k-means with Gaussian noise scaled to the whole domain."

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Price T joint releases of sums and counts with equal shares of mu^2, divided as sqrt(d) : 2 SPREAD."""
        mu = mu_of_epsilon(self.epsilon, self.resolved_delta(n_public))
        rounds, root = self.length(n_features, n_public), math.sqrt(n_features)
        whole = root + 2 * self.SPREAD
        return Plan(
            {
                "update.sums": gaussians(mu * math.sqrt(root / whole), [1] * rounds),
                "update.counts": gaussians(mu * math.sqrt(2 * self.SPREAD / whole), [1] * rounds),
            }
        )

    def affordable(self, n_features: int, n_public: int) -> float:
        """Return the number of iterations by the rule of Appendix B.1, computed in units in which R = sqrt(d)."""
        noise = sigma(self.epsilon, self.resolved_delta(n_public)) * (2 * self.SPREAD + math.sqrt(n_features))
        return self.ERROR * n_public**2 / (self.n_clusters**3 * n_features * noise**2)
