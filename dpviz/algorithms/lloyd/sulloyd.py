"""Run Lloyd's k-means on sums and counts with Laplace noise (SuLloyd)."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

from dpviz.algorithms.lloyd.family import NoisyLloyd
from dpviz.privacy.costs import Laplace
from dpviz.privacy.plan import Plan

__all__ = ["SuLloyd"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class SuLloyd(NoisyLloyd):
    """SuLloyd: the classic noisy k-means, with Laplace noise and without a delta.

    Centers are spread over the public domain. In every iteration each row goes to its nearest center; the noisy sum of
    the rows divided by their noisy count is the next center. The promise is pure (no delta), but with many columns it
    requires more noise, because every coordinate of a sum gets its own share of epsilon. A run has one start, which is
    public: if it leads two groups to share a center, they share it at any budget and even without noise; a restart
    would cost budget.

    Parameters
    ----------
    n_clusters : int, in [1, 256]
        Number of clusters k. Public.
    epsilon : float, in [0.01, 100]
        Total privacy budget epsilon.
    iterations, init, boundary, dead_cluster
        Number of iterations T (None: as many as the budget allows), initial centers, the rule at the bounds, and the
        rule for clusters with a noisy count near or below 0.

    Formal guarantee
    ----------------
    epsilon-DP for one row added or removed. Public: all parameters and the domain (bounds, radius R, nominal size N).
    Each of the T iterations costs epsilon / T, divided as d : (4 d .225^2)^(1/3) between the sums (l1 sensitivity
    sqrt(d) R) and the counts (sensitivity 1). Everything else depends on released values only.

    Steps
    -----
    packing            released: centers (k, d)
    noisy-iteration    released: centers (k, d), start (k, d), raw (k, d), clipped (k, d) equal to raw,
                       noisy_counts (k,), dead (k,) bool, radius, constrained False, sums_sd, counts_sd, round, rounds,
                       center_sd (k, d), center_noise;
                       hidden: sums (k, d), counts (k,)

    Deviations from the paper
    -------------------------
    Lengths scale with the declared radius R instead of B sqrt(d) (equal for a box); the optimal division does
    not depend on R. A center outside the box is reflected, as in FastLloyd. The division and the rule for the rounds
    assume that counts exceed their noise; otherwise (256 columns, or 100 centers) plain `dp-lloyd` may be better: its
    docstring has the figures.

    References
    ----------
    .. [1] Su, Cao, Li, Bertino and Jin, "Differentially private k-means clustering", CODASPY 2016.
    .. [2] Diaa, Humphries and Kerschbaum, "FastLloyd", 2025, Section 6.1.

    Examples
    --------
    >>> import numpy as np
    >>> from dpviz.domain import Domain
    >>> X = np.repeat([[-0.5, 0.0], [0.5, 0.0]], 500, axis=0)
    >>> trace = SuLloyd(n_clusters=2, epsilon=2.0).run(X, domain=Domain.box(-1, 1, 2, n_public=1000), seed=0)
    >>> trace.claimed.pure_epsilon
    2.0
    """

    name: ClassVar[str] = "SuLloyd"
    slug: ClassVar[str] = "sulloyd"
    tagline: ClassVar[str] = "Lloyd's k-means with Laplace noise: a pure promise, without a delta."

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Price T pairs of sums and counts with equal shares of epsilon."""
        rounds, counted = self.length(n_features, n_public), self._counted(n_features)
        each = self.epsilon / rounds
        share = n_features / (n_features + counted)
        return Plan(
            {
                "update.sums": (Laplace(each * share),) * rounds,
                "update.counts": (Laplace(each * (1 - share)),) * rounds,
            }
        )

    def least_epsilon(self, n_features: int, n_public: int) -> float:
        """Return the epsilon that one iteration needs for the target error (Su et al., Section 4.1)."""
        whole = (n_features + self._counted(n_features)) ** 3
        return math.sqrt(2 / self.ERROR * self.n_clusters**3 / n_public**2 * whole)

    def affordable(self, n_features: int, n_public: int) -> float:
        """Return the number of iterations that epsilon pays for: epsilon / least_epsilon."""
        return self.epsilon / self.least_epsilon(n_features, n_public)

    def _counted(self, n_features: int) -> float:
        return (4 * n_features * self.SPREAD**2) ** (1 / 3)
