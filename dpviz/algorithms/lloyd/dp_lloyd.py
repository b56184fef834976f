"""Run the first differentially private k-means (DP-Lloyd): random centers and equal shares of the budget."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from dpviz.algorithms.lloyd.family import NoisyLloyd
from dpviz.algorithms.lloyd.sulloyd import SuLloyd
from dpviz.algorithms.pseudocode import Line
from dpviz.params import param
from dpviz.privacy.costs import Laplace
from dpviz.privacy.plan import Plan, split

__all__ = ["DPLloyd"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class DPLloyd(SuLloyd):
    """DP-Lloyd, the first private k-means: random initial centers, a fixed number of rounds, the same noise everywhere.

    In every iteration each row goes to its nearest center; the noisy sum of the rows divided by their noisy count is
    the next center. SuLloyd's improvements can be switched on one by one: spread initial centers, as many rounds as the
    budget allows, the best division between sums and counts, and centers reflected at the bounds.

    Two of them can hurt (lab/benchmarks/results/methods.md): if noise dominates the sums, more accurate counts push
    centers to the bounds, and for many centers the budget allows too few rounds to separate them.

    Parameters
    ----------
    n_clusters : int, in [1, 256]
        Number of clusters k. Public.
    epsilon : float, in [0.01, 100]
        Total privacy budget epsilon.
    iterations : int or None, in [1, 30]
        Number of rounds T; None means the number given by `length_rule`.
    length_rule : {"five", "affordable"}
        Number of rounds: 5, as usual for DP-Lloyd, or as many as the budget allows by the rule of Su et al., between 2
        and 7.
    division : {"equal", "optimal"}
        Division of a round's share between the d coordinates of the sums and the count: equal, or by SuLloyd's rule.
    schedule : {"equal", "halving"}
        Shares of the rounds: all equal, or each half of the previous one (Dwork 2011), so that early rounds are
        accurate and late ones noisy.
    init, boundary, dead_cluster
        Initial centers, the rule at the bounds, and the rule for clusters with a noisy count near or below 0.

    Formal guarantee
    ----------------
    epsilon-DP for one row added or removed. Public: all parameters and the domain (bounds, radius R, nominal size N).
    The rounds' shares add up to epsilon; each is divided between the sums (l1 sensitivity sqrt(d) R) and the counts
    (sensitivity 1), as d : 1 or by SuLloyd's rule. Everything else depends on released values only.

    Steps
    -----
    packing, noisy-iteration    as for `sulloyd`

    Deviations from the paper
    -------------------------
    Sums and counts are two releases with shares d : 1; for a box, where R = sqrt(d), that adds the same noise as one
    release of all d + 1 numbers with sensitivity d + 1. Lengths scale with the declared radius R. A center with a noisy
    count near or below 0 stays where it is; dividing by that count, as published, throws the center to the border. The
    halving shares are scaled to add up to epsilon.

    References
    ----------
    .. [1] Blum, Dwork, McSherry and Nissim, "Practical privacy: the SuLQ framework", PODS 2005, Section 4.2.
    .. [2] McSherry, "Privacy integrated queries", SIGMOD 2009 (PINQ).
    .. [3] Su, Cao, Li, Bertino and Jin, "Differentially private k-means clustering", CODASPY 2016, Section 3.
    .. [4] Dwork, "A firm foundation for private data analysis", Communications of the ACM 54(1), 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from dpviz.domain import Domain
    >>> X = np.repeat([[-0.5, 0.0], [0.5, 0.0]], 500, axis=0)
    >>> trace = DPLloyd(n_clusters=2, epsilon=2.0).run(X, domain=Domain.box(-1, 1, 2, n_public=1000), seed=0)
    >>> trace.claimed.pure_epsilon
    2.0
    """

    name: ClassVar[str] = "DP-Lloyd"
    slug: ClassVar[str] = "dp-lloyd"
    tagline: ClassVar[str] = "The first private k-means: Lloyd's loop with equal Laplace noise on everything."
    FIVE: ClassVar[int] = 5  # PINQ's example
    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "su-et-al": {"length_rule": "affordable", "init": "packing", "boundary": "fold", "dead_cluster": "jump",
                     "division": "optimal"},
        "halving": {"schedule": "halving"},
    }  # fmt: skip
    CODE: ClassVar[tuple[Line, ...]] = (
        Line("place k centers at random in the public bounds", ("packing",)),
        *NoisyLloyd.CODE[1:],
    )
    AUDIT: ClassVar[dict[str, Any]] = {"schedule": "halving", "division": "optimal", "init": "packing"}

    length_rule: str = param(
        "five",
        choices=("five", "affordable"),
        advanced=True,
        help="Default number of rounds: 5, or as many as the budget allows (SuLloyd's rule, 2 to 7).",
    )
    init: str = param(
        "random",
        choices=("packing", "packing-halving", "random"),
        advanced=True,
        help="Start: at random in the box, or spread over it (packing), as in SuLloyd.",
    )
    boundary: str = param(
        "clip",
        choices=("fold", "clip", "none"),
        advanced=True,
        help="A center outside the box is reflected, moved to the edge, or left there (up to twice the radius).",
    )
    dead_cluster: str = param(
        "keep",
        choices=("jump", "keep"),
        advanced=True,
        help="If a noisy count is near or below 0, divide by it anyway (as published) or leave the center where it is.",
    )
    division: str = param(
        "equal",
        choices=("equal", "optimal"),
        advanced=True,
        help="Divide a round's budget equally among all d + 1 numbers, or between sums and counts by SuLloyd's rule.",
    )
    schedule: str = param(
        "equal",
        choices=("equal", "halving"),
        advanced=True,
        help="Give every round the same budget, or half of the previous round's.",
    )

    def length(self, n_features: int, n_public: int) -> int:
        """Return the number of iterations T: the parameter, or the chosen rule's value."""
        if self.iterations is None and self.length_rule == "five":
            return self.FIVE
        return super().length(n_features, n_public)

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Price T pairs of sums and counts; `schedule` divides epsilon among the rounds, `division` within a round."""
        rounds = self.length(n_features, n_public)
        weights = [1.0 if self.schedule == "equal" else 2.0**-t for t in range(rounds)]
        counted = 1.0 if self.division == "equal" else self._counted(n_features)
        share = n_features / (n_features + counted)
        each = split(self.epsilon, weights)
        return Plan(
            {
                "update.sums": tuple(Laplace(epsilon * share) for epsilon in each),
                "update.counts": tuple(Laplace(epsilon * (1 - share)) for epsilon in each),
            }
        )
