"""Evolve a population of candidate centers privately (PE-means)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from dpviz.algorithms.evolution.family import Evolution, averages, evolution_code, sums_and_counts
from dpviz.algorithms.pseudocode import Line
from dpviz.domain import Domain
from dpviz.geometry import bincount
from dpviz.params import param
from dpviz.postprocessing.center_sd import members
from dpviz.postprocessing.weighted import spread
from dpviz.privacy.accounting import mu_of_epsilon
from dpviz.privacy.curator import Curator
from dpviz.privacy.plan import Plan, gaussians
from dpviz.privacy.queries import NearestSums
from dpviz.trace import Step

__all__ = ["PEMeans"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class PEMeans(Evolution):
    """PE-means: try centers, let the rows vote, keep the winners, mutate them, vote again.

    A population of trial points is spread over the public domain without reading any row. In every generation each row
    votes for its nearest trial point, and noise hides each single vote. Trial points with enough votes survive, a
    weighted k-means on them gives k centers, and small random variations of these centers form the next population.

    Parameters
    ----------
    n_clusters : int, in [1, 256]
        Number of clusters k. Public.
    epsilon : float, in [0.01, 100]
        Total privacy budget epsilon.
    delta : float or None, in [1e-12, 0.5]
        Total delta; None means the value of `delta_rule`.
    delta_rule : {"1/(100 n)", "n^-1.1", "1/(n ln n)", "1/(n sqrt n)"}
        The rule for delta = None: the default of all algorithms here, or a paper's (the second is PE-means').
    variations : {"capped", "paper", "authors"}
        Rule for L, the number of variations per center in the first round: min(max(N/5, 4), cap), where the cap is 512
        (128 for d <= 4) or max(20000/k, 4), whichever is less; the paper's max(N/5, 4); or the authors' published
        max(N/(5k), 4).
    variations_each, rounds : int or None, in [1, 20000] and [1, 500]
        L and T, given directly instead of by the rules.
    step_size, levy_beta : float, in [0.0001, 1] and [0.5, 1.99]
        gamma, in units of R, and beta of the Levy flights.
    keep : {"n votes", "2 sd", "positive"}
        Rule for the trial points that survive a round: Algorithm 2's, a fixed threshold, or any noisy vote above 0.
    halving, start, selection, selection_starts
        Whether L adapts; whether the first trial points are packed or uniform; whether weighted k-means (with this many
        starts) or the number of votes selects the centers.
    refine : float, in [0, 0.9]
        Share of mu^2 for one noisy average per center at the end. This step is ours, not the paper's; 0 switches it
        off.

    Formal guarantee
    ----------------
    (epsilon, delta)-DP for one row added or removed, and mu-GDP with the mu of the analytic Gaussian mechanism. Public:
    all parameters and the domain (bounds, radius R, nominal size N). Each of the T generations releases one vote
    histogram with Gaussian noise of standard deviation sqrt(T)/mu; a row casts one vote, so its l2 sensitivity is 1 and
    each release costs mu^2/T (less with `refine`, whose joint release of sums (sensitivity R) and counts (sensitivity
    1) costs its share). Everything else depends on released values only.

    Steps
    -----
    generation    released: population (m, d), group (m,) parent index or -1, noisy_votes (m,), noise_sd,
                  kept (m,) bool, centers (k, d), variations L, signal_to_noise, round, rounds; hidden: votes (m,)
    refinement    released: centers (k, d), start (k, d), noisy_counts (k,), center_sd (k, d), center_noise;
                  hidden: sums (k, d), counts (k,)

    Deviations from the paper
    -------------------------
    The paper centers and scales by the data's own mean and largest norm, which is not private; here the domain is
    declared, and rows are clipped to it. The paper treats N as public under add/remove; here N is the declared nominal
    size and nothing depends on the number of rows. The signal-to-noise test divides by |S| sigma^2 as the text
    describes it; the printed N sigma^2 would halve L forever once N < k sigma^2. L is capped by default, which does not
    change the loss and makes runs 2 to 200 times faster. With fewer than 16 columns, up to 2,000 of the first trial
    points are packed and the others are uniform; with more columns all are uniform, because a minimum distance rejects
    nothing there in practice. A round's k-means has one start (10 in the published code). If fewer than k trial points
    survive, the k with the most noisy votes are the centers. Votes are decided in exact integer arithmetic: with
    floating point, one row's vote could depend on other rows' positions.

    References
    ----------
    .. [1] PE-means, 2026, Algorithms 1 and 2, Section III; arXiv 2606.00342.
    .. [2] Balle and Wang, "Improving the Gaussian mechanism for differential privacy", ICML 2018.
    .. [3] Mantegna, "Fast, accurate algorithm for numerical simulation of Levy stable processes", PRE 49, 1994.

    Examples
    --------
    >>> import numpy as np
    >>> from dpviz.domain import Domain
    >>> X = np.repeat([[-0.5, 0.0], [0.5, 0.0]], 500, axis=0)
    >>> domain = Domain.box(-1, 1, 2, n_public=1000)
    >>> trace = PEMeans(n_clusters=2, epsilon=2.0).run(X, domain=domain, seed=0)
    >>> len(trace.steps), trace.cluster_centers.shape
    (12, (2, 2))
    """

    name: ClassVar[str] = "PE-means"
    slug: ClassVar[str] = "pe-means"
    tagline: ClassVar[str] = "Trial points evolve: rows vote for the nearest, noise hides each vote, winners mutate."
    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "capped": {"variations": "capped", "refine": 0.0},
        "paper": {"variations": "paper", "refine": 0.0, "delta_rule": "n^-1.1"},
        "authors": {"variations": "authors", "refine": 0.0, "delta_rule": "n^-1.1"},
        "refined": {"variations": "capped", "refine": 0.5},
    }
    CODE: ClassVar[tuple[Line, ...]] = (
        *evolution_code("generation", "k-means on the survivors gives k centers"),
        Line("if refined: average each center's rows once", ("refinement",), "refine"),
    )

    # `doubts` warns if the norm of the votes' noise exceeds this share of the number of rows; see cliffs.md
    DROWNED: ClassVar[float] = 0.93
    # `doubts` also warns if the centers' squared spread is below this share of the squared radius; see cliffs.md
    CROWDED: ClassVar[float] = 0.004

    refine: float = param(
        0.0,
        low=0.0,
        high=0.9,
        advanced=True,
        help="Share of the budget for one noisy average per center at the end (ours). 0 is the paper's method.",
    )

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Price T vote histograms with equal shares of mu^2, and the refining step if there is one."""
        mu = mu_of_epsilon(self.epsilon, self.resolved_delta(n_public))
        votes = gaussians(mu * math.sqrt(1 - self.refine), [1] * self.generations(n_features))
        if not self.refine:
            return Plan({"votes": votes})
        return Plan({"votes": votes, **sums_and_counts("refine", mu * math.sqrt(self.refine), n_features)})

    def doubts(self, released: Mapping[str, Mapping[str, Any]], domain: Domain) -> tuple[str, ...]:
        """Return a warning if noise outweighs the last votes, or if the centers lie in a small part of the domain."""
        end = released["generation"]
        votes, centers = end["noisy_votes"], end["centers"]
        if end["noise_sd"] * math.sqrt(len(votes)) > self.DROWNED * max(votes.sum(), 1.0):
            return (
                f"{self.name}: in the last round, noise outweighs the votes, so a single center may do as well. "
                "Use more rows, fewer columns or centers, or fewer variations.",
            )
        weights = votes * end["kept"]
        shares = bincount(members(end["population"], centers), weights=weights, minlength=len(centers))
        if not shares.any() or spread(centers, shares) >= self.CROWDED * domain.radius**2:
            return ()
        return (
            f"{self.name}: all centers lie in a small part of the domain, where trial points are too far apart to "
            "separate groups: the bounds are far wider than the data. Declare narrower bounds if you know them.",
        )

    def steps(self, curator: Curator, domain: Domain, rng: np.random.Generator) -> Iterator[Step]:
        """Run Algorithm 1; yield one step per generation, and one for the refinement if there is one."""
        L = self.first_variations(curator.n_features, curator.n_public)
        centers = np.empty((0, curator.n_features))
        for generation in self.evolve(curator, curator.n_features, L, domain.radius, rng):
            centers = generation["centers"]
            yield Step("generation", self.title(generation), generation)
        if self.refine:
            noisy = curator.release("refine", NearestSums(centers, domain.radius))
            yield Step(
                "refinement",
                "One noisy average per center (ours, not the paper's)",
                {**averages(noisy, domain.radius), "start": centers},
            )
