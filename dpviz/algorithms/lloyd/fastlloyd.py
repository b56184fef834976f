"""Run Lloyd's updates on offsets from the last centers, with a radius that bounds one row's effect (FastLloyd)."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar

from dpviz.algorithms.base import ApproximateDP, delta_rule
from dpviz.algorithms.lloyd.family import NoisyLloyd
from dpviz.algorithms.pseudocode import Line
from dpviz.domain import Domain
from dpviz.params import param
from dpviz.privacy.accounting import mu_of_epsilon, sigma
from dpviz.privacy.plan import Plan, gaussians
from dpviz.privacy.queries import ClusterMoves, Query

__all__ = ["FastLloyd"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class FastLloyd(NoisyLloyd, ApproximateDP):
    """FastLloyd: only rows within a radius of a center may pull it, so that no row can pull it far.

    Centers are spread over the public domain. In every iteration each row within the radius of its nearest center
    contributes its offset from that center; the noisy sum of offsets divided by the noisy count is the center's move.
    The noise scales with the radius, not with the domain. A move longer than the radius is shortened, and a center
    outside the box is reflected. A run has one start, which is public: if it leads two groups to share a center, they
    share it at any budget and even without noise; a restart would cost budget.

    Parameters
    ----------
    n_clusters : int, in [1, 256]
        Number of clusters k. Public.
    epsilon : float, in [0.01, 100]
        Total privacy budget epsilon.
    delta : float or None, in [1e-12, 0.5]
        Total delta; None means the value of `delta_rule`.
    strategy : {"step", "constant", "none"}
        "step": the radius is R at first and eta afterwards. "constant": it is always eta. "none": there is no radius,
        and whole rows are summed.
    alpha : float, in [0.1, 3]
        Factor of the radius eta = alpha R / k^(1/d), with R the domain's radius.
    radius_clipping : bool
        If true, a noisy move longer than the radius is shortened to it.
    fraction_bits : {24, 16}
        Centers and offsets are multiples of 2^-fraction_bits. The paper's 32-bit ring has room for 16 such bits.
    delta_rule : {"1/(100 n)", "n^-1.1", "1/(n ln n)", "1/(n sqrt n)"}
        The rule for delta = None: the default of all algorithms here, or a paper's (the third is FastLloyd's).
    iterations, init, boundary, dead_cluster
        Number of iterations T (None: as many as the budget allows), initial centers, the rule at the bounds, and the
        rule for clusters with a noisy count near or below 0; the defaults are the paper's.

    Formal guarantee
    ----------------
    (epsilon, delta)-DP for one row added or removed, and mu-GDP with the mu of the analytic Gaussian mechanism. Public:
    all parameters and the domain (bounds, radius R, nominal size N). Each of the T iterations releases the sums of
    offsets (l2 sensitivity r) and the counts (sensitivity 1) jointly and costs mu^2 / T, divided as sqrt(4d) : 1. One
    row affects the sum and count of one cluster only. Everything else depends on released values only.

    Steps
    -----
    packing            released: centers (k, d)
    noisy-iteration    released: centers (k, d), start (k, d), raw (k, d) before the radius clip, clipped (k, d)
                       after it, noisy_counts (k,), dead (k,) bool, radius, constrained bool, sums_sd, counts_sd, round,
                       rounds, center_sd (k, d), center_noise; hidden: sums (k, d), counts (k,)

    Deviations from the paper
    -------------------------
    Folding has period 4B (the printed period 2B maps .5 to -.5). Lengths scale with the declared radius R instead of B
    sqrt(d) (equal for a box); with a shorter R the start is a packing of the cube inside that ball. T depends
    on the declared nominal size. Offsets are truncated to the grid. The faults of the published code are not copied:
    its noise repeats (seed times iteration, one stream for sums and counts), its counts are truncated toward zero,
    which doubles the odds of 0, and an empty local cluster reports a count of 1.

    References
    ----------
    .. [1] Diaa, Humphries and Kerschbaum, "FastLloyd: Federated, Accurate, Secure, and Tunable k-Means Clustering
       with Differential Privacy", 2025, Figure 1, Sections 5.1-5.6.
    .. [2] Su, Cao, Li, Bertino and Jin, "Differentially private k-means clustering", CODASPY 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from dpviz.domain import Domain
    >>> X = np.repeat([[-0.5, 0.0], [0.5, 0.0]], 500, axis=0)
    >>> trace = FastLloyd(n_clusters=2, epsilon=2.0).run(X, domain=Domain.box(-1, 1, 2, n_public=1000), seed=0)
    >>> len(trace.steps), trace.cluster_centers.shape
    (8, (2, 2))
    """

    name: ClassVar[str] = "FastLloyd"
    slug: ClassVar[str] = "fastlloyd"
    tagline: ClassVar[str] = (
        "Lloyd's k-means with noise; only rows near a center may move it, so less noise hides them."
    )
    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {"strategy": "step", "alpha": 0.8, "boundary": "fold", "radius_clipping": True,
                  "dead_cluster": "jump", "init": "packing",
                  "fraction_bits": 24, "delta_rule": "1/(n ln n)"},
    }  # fmt: skip
    CODE: ClassVar[tuple[Line, ...]] = (
        *NoisyLloyd.CODE[:2],
        Line("  assign each row to its nearest center", ("noisy-iteration",), "update", ("before",)),
        Line("  rows outside the radius do not count", ("noisy-iteration",), "update", ("before",)),
        Line("  add up offsets and count, with noise", ("noisy-iteration",), "update"),
        Line("  move by noisy sums divided by noisy counts,", ("noisy-iteration",), at=("read",), events=("noise",)),
        Line("  at most by the radius, which shrinks", ("noisy-iteration",)),
        NoisyLloyd.CODE[-1],
    )

    strategy: str = param(
        "step",
        choices=("step", "constant", "none"),
        help="Radius that limits moves: wide at first, always narrow, or none.",
    )
    alpha: float = param(
        0.8, low=0.1, high=3.0, advanced=True, help="Scale factor of the radius: eta = alpha R / k^(1/d)."
    )
    radius_clipping: bool = param(True, advanced=True, help="Shorten noisy moves to the radius. This costs no budget.")
    fraction_bits: int = param(
        24,
        choices=(24, 16),
        advanced=True,
        help="Number of binary digits after the point; with 16, numbers fit a 32-bit ring.",
    )
    delta_rule: str = delta_rule()

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Price T joint releases of sums and counts with equal shares of mu^2, divided as sqrt(4d) : 1."""
        mu = mu_of_epsilon(self.epsilon, self.resolved_delta(n_public))
        rounds, q = self.length(n_features, n_public), math.sqrt(4 * n_features)
        return Plan(
            {
                "update.sums": gaussians(mu * math.sqrt(q / (1 + q)), [1] * rounds),
                "update.counts": gaussians(mu * math.sqrt(1 / (1 + q)), [1] * rounds),
            }
        )

    def affordable(self, n_features: int, n_public: int) -> float:
        """Return the number of iterations by the rule of Section 5.5, computed in units in which R = sqrt(d)."""
        eta = self._factor(n_features) * math.sqrt(n_features)
        noise = eta * (1 + math.sqrt(4 * n_features)) * sigma(self.epsilon, self.resolved_delta(n_public))
        return 4 * self.ERROR * n_public**2 / (self.n_clusters**3 * noise**2)

    def reach(self, iteration: int, domain: Domain) -> float | None:
        """Return the radius r_t by the chosen strategy: R at first and eta afterwards, always eta, or None."""
        if self.strategy == "none":
            return None
        wide = self.strategy == "step" and iteration == 0
        return domain.radius * (1.0 if wide else self._factor(domain.n_features))

    def shortens(self) -> bool:
        """Return whether moves are shortened to the radius."""
        return self.radius_clipping

    def query(self, centers: Any, reach: float | None, domain: Domain) -> Query:
        """Return the query for offsets within the radius, or for sums of whole rows if there is no radius."""
        if reach is None:
            return super().query(centers, reach, domain)
        return ClusterMoves(centers, reach, self.finest_grid())

    def finest_grid(self) -> float:
        """Return the spacing of the grid on which centers lie."""
        return 2.0**-self.fraction_bits

    def _factor(self, n_features: int) -> float:
        return self.alpha / self.n_clusters ** (1 / n_features)
