"""Run PE-means in a random projection and recover the centers in the original space (HDPE-means)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from dpviz.algorithms.evolution.family import Evolution, averages, evolution_code, sums_and_counts
from dpviz.algorithms.pseudocode import Line
from dpviz.domain import Domain
from dpviz.geometry import random_projection
from dpviz.params import param
from dpviz.privacy.accounting import mu_of_epsilon
from dpviz.privacy.curator import Curator
from dpviz.privacy.plan import Plan, gaussians
from dpviz.privacy.queries import NearestSums, Projection
from dpviz.trace import Step

__all__ = ["HDPEMeans"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class HDPEMeans(Evolution):
    """HDPE-means: evolve in few dimensions, then average once in all of them.

    With many columns, random trial points rarely fall near the data. So a public random matrix projects the rows to p
    columns, PE-means runs there, and one last release adds up the rows nearest to each center, in the original columns.

    Parameters
    ----------
    n_clusters, epsilon, delta, variations, rounds and the other parameters of the evolution
        As for PE-means; T includes the two rounds that pay for the recovery.
    projected_features : int, in [2, 64]
        Number p of columns after the projection; with p >= d there is no projection.
    final_share : float or None, in [0.01, 0.95]
        Share of mu^2 for the recovering release; None means the paper's 2/T.

    Formal guarantee
    ----------------
    (epsilon, delta)-DP and mu-GDP for one row added or removed. Public: all parameters, the domain and the projection
    matrix (drawn without reading the data). Every vote has sensitivity 1, wherever the projection puts a row. The
    recovering release is joint: one row changes one count by 1 and adds itself, clipped to the radius R, to one sum;
    the noise is a vector of d independent values.

    Steps
    -----
    projected-generation    released: round, rounds, population (m, p), group (m,) parent index or -1, noisy_votes (m,),
                            noise_sd, kept (m,) bool, variations L, signal_to_noise, projected_centers (k, p),
                            projection (d, p) public (in the first one only); hidden: votes (m,)
    recovery                released: centers (k, d), projected_centers (k, p), noisy_counts (k,), center_sd (k, d),
                            center_noise; hidden: sums (k, d), counts (k,)

    Deviations from the paper
    -------------------------
    Rows are clipped before they are summed, which Algorithm 3 needs but does not mention. The noise is a vector (the
    authors' published code adds one number to all coordinates of a sum, which releases their differences exactly).
    Nothing branches on exact counts; noisy counts are raised to at least 1, and centers are clipped to the ball. By
    default the last release gets 80% of mu^2 instead of 2/T, and splits it as (4d)^(1/2) : 1 between sum and count,
    which makes the loss two to three times lower at the same guarantee. The projection is scaled by 1/sqrt(p), which
    preserves norms on average; the paper prints 1/sqrt(d). With p = 16 columns the first trial points are uniform, as
    for PE-means.

    References
    ----------
    .. [1] PE-means, 2026, Algorithm 3, Section III-D; arXiv 2606.00342.

    Examples
    --------
    >>> HDPEMeans().plan(64, 10_000).costs["recover.sums"][0].mu > HDPEMeans().plan(64, 10_000).costs["votes"][0].mu
    True
    """

    name: ClassVar[str] = "HDPE-means"
    slug: ClassVar[str] = "hdpe-means"
    tagline: ClassVar[str] = "PE-means in a random projection; one noisy average then gives centers in all columns."
    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {"variations": "paper", "final_share": None, "delta_rule": "n^-1.1"}
    }
    CODE: ClassVar[tuple[Line, ...]] = (
        Line("project columns to a few random directions", ("projected-generation",), at=("first",)),
        *evolution_code("projected-generation", "k-means on the survivors gives k centers"),
        Line("average the rows of each center in all columns", ("recovery",), "recover"),
    )

    projected_features: int = param(16, low=2, high=64, help="Number of columns after the public random projection.")
    final_share: float | None = param(
        0.8,
        low=0.01,
        high=0.95,
        advanced=True,
        optional=True,
        help="Share of the budget for the last release. If it is empty: 2/T, as in the paper.",
    )

    def columns(self, n_features: int) -> int:  # noqa: D102
        return min(self.projected_features, n_features)

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Price T - 2 vote histograms and one joint release of sums and counts; T follows from p."""
        mu = mu_of_epsilon(self.epsilon, self.resolved_delta(n_public))
        T = self.generations(self.columns(n_features))
        share = 2 / T if self.final_share is None else self.final_share
        votes = gaussians(mu * math.sqrt(1 - share), [1] * max(T - 2, 1))
        last = sums_and_counts("recover", mu * math.sqrt(share), n_features)
        if self.final_share is None:  # in the paper, the sum and the count get 1/T of mu^2 each
            sums, counts = gaussians(mu * math.sqrt(share), [1, 1])
            last = {"recover.sums": (sums,), "recover.counts": (counts,)}
        return Plan({"votes": votes, **last})

    def doubts(self, released: Mapping[str, Mapping[str, Any]], domain: Domain) -> tuple[str, ...]:
        """Return a warning if a single center may do as well as the released centers."""
        end = released["recovery"]
        return self.blurred(end, end["noisy_counts"], domain)

    def steps(self, curator: Curator, domain: Domain, rng: np.random.Generator) -> Iterator[Step]:
        """Run Algorithm 3; yield one step per generation and one for the recovery."""
        d, p = curator.n_features, self.columns(curator.n_features)
        projection = Projection(random_projection(d, p, rng)) if p < d else None
        drawn = {"projection": np.eye(d) if projection is None else projection.matrix}
        L = self.first_variations(p, curator.n_public)
        centers = np.empty((0, p))
        for generation in self.evolve(curator, p, L, domain.radius, rng, projection):
            centers = generation.pop("centers")
            released = {**generation, "projected_centers": centers, **drawn}
            yield Step("projected-generation", self.title(generation), released)
            drawn = {}
        noisy = curator.release("recover", NearestSums(centers, domain.radius, projection))
        yield Step(
            "recovery",
            f"One noisy average per center brings {self.n_clusters} centers back to {d} columns",
            {**averages(noisy, domain.radius), "projected_centers": centers},
        )
