"""Choose the number of centers privately: the best of a secret number of noisy Lloyd runs (private selection)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from dpviz import params
from dpviz.algorithms.base import ApproximateDP
from dpviz.algorithms.pseudocode import Line
from dpviz.domain import Domain
from dpviz.geometry import pack_cube, snap_toward_zero
from dpviz.params import param
from dpviz.postprocessing.center_sd import BEST, average_sd, declared
from dpviz.privacy.choice import choice_mu, most_candidates
from dpviz.privacy.costs import BestOf
from dpviz.privacy.curator import Curator
from dpviz.privacy.plan import Plan
from dpviz.privacy.queries import Candidates
from dpviz.trace import Step

__all__ = ["ChooseK"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ChooseK(ApproximateDP):
    """Choose-k: run noisy k-means for a secret number of random k, and publish only the best run.

    Every candidate draws a public start at random, and with it a k; it runs a few rounds of noisy Lloyd, as GLloyd
    does, and asks for the sum of the squared distances to its centers, with noise. The candidate with the smallest
    noisy cost, times k^(2/d), wins and is published with its cost. How many candidates there were, the others and their
    costs remain secret. That is why the choice costs about as much as two candidates, although a dozen run: whoever
    sees the winner does not know against how many it won. Publishing all of them would cost a dozen shares.

    Chance decides which k are tried, and noise which one wins. On four samples with 4, 5, 8 and 8 groups (overlap,
    town, city, highdim; seeds 0 to 9 each), the k of the groups was tried in 30 of 40 runs; it won in 10 of 40 at
    epsilon 1 and in 16 at epsilon 4, and a k at most 1 away in 27 and 28.

    A method whose price buys one table needs no such choice: NSM, EUGkM or PrivTree release a summary of the rows, on
    which any number of k can be tried for free, and this is the better way where a summary exists. A private choice is
    wanted where each candidate must read the rows anew: Lloyd's rounds, many columns, or any other step that no table
    answers. So the candidates here are runs of Lloyd, the simplest method that has to pay for every k.

    Parameters
    ----------
    k_min : int, in [1, 256]
        Smallest number of centers that is tried. Public.
    k_max : int or None, in [1, 256]
        Largest number of centers that is tried; None means 10, or n_public if that is less. Public.
    exactly_k : bool
        If true, all candidates have n_clusters centers, and the choice is among their starts.
    n_clusters : int, in [1, 256]
        Number of centers if `exactly_k` is set. Public.
    epsilon : float, in [0.01, 100]
        Total privacy budget epsilon, of the whole choice.
    delta : float or None, in [1e-12, 0.5]
        Total delta; None means 1/(100 n_public).
    tries : int, in [1, 64]
        Mean m of the number of candidates. More of them find the right k more often and leave less budget to each.
    rounds : int, in [1, 10]
        Lloyd's rounds of a candidate.
    cost_share : float, in [0.02, 0.9]
        Share of a candidate's mu^2 for its cost; the rest goes to its rounds.
    reach : float, in [0.05, 1]
        Largest distance that counts in the cost, as a share of the domain's diameter.

    Formal guarantee
    ----------------
    (epsilon, delta)-DP for one row added or removed. Public: all parameters and the domain. A candidate costs mu: its
    sums (l2 sensitivity R), counts (1) and clipped cost (reach^2) have Gaussian noise, so it is (alpha, alpha
    mu^2/2)-RDP for every alpha > 1 and (e, d)-DP with the d of mu-GDP. The number of candidates is Poisson with mean m.
    By Theorem 6 of [1], the best of them is (alpha, alpha mu^2/2 + m d + ln(m)/(alpha - 1))-RDP for every alpha with
    exp(e) <= 1 + 1/(alpha - 1), for any total order of the candidates' outputs. By Proposition 12 of [3] this is
    (epsilon, .99 delta)-DP for the best alpha, and mu is the largest one at which it is. The number is drawn exactly,
    given that it is at most M; that costs (1 + exp(epsilon)) P(number > M) <= .01 delta (`dpviz.privacy.choice`). If
    no candidate counts (probability exp(-m)), one that ran on no rows is published. The whole is one entry of the plan,
    booked before the first draw. All M candidates run whatever the number, so the number of passes over the rows tells
    nothing; a pass takes longer for a larger k, and running times are visible, as for all methods.

    Steps
    -----
    choice             released: centers (k', d) the winner's start, k, k_min, k_max, tries, most, cost, cost_sd;
                       hidden: tried (1,), sizes (tried,), scores (tried,), ends (sum of sizes, d), winner (1,)
    noisy-iteration    released: centers (k', d), start (k', d), raw (k', d), clipped (k', d) equal to raw,
                       noisy_counts (k',), dead (k',) bool, radius, constrained False, sums_sd, counts_sd, round,
                       rounds, center_sd (k', d), center_noise

    Deviations from the paper
    -------------------------
    The papers choose among hyperparameters of learning; the candidates, their cost and the factor k^(2/d), the rate at
    which the loss of k-means falls where rows have no groups, are ours. The theorem's number has no end; M is added,
    and so is exp(-m), for the case without a candidate. Discrete Gaussians count as 1% more d. A row beyond the reach
    counts as one at the reach.

    References
    ----------
    .. [1] Papernot and Steinke, "Hyperparameter tuning with Renyi differential privacy", ICLR 2022, Theorem 6;
       arXiv 2110.03620.
    .. [2] Liu and Talwar, "Private selection from private candidates", STOC 2019; arXiv 1811.07971.
    .. [3] Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020, Proposition 12;
       arXiv 2004.00010.

    Examples
    --------
    >>> import numpy as np
    >>> from dpviz.domain import Domain
    >>> X = np.repeat([[-0.5, 0.0], [0.5, 0.0]], 2500, axis=0)
    >>> trace = ChooseK(k_max=4, epsilon=4.0).run(X, domain=Domain.box(-1, 1, 2, n_public=5000), seed=0)
    >>> trace.cluster_centers.shape, len(trace.ledger)
    ((2, 2), 1)
    """

    name: ClassVar[str] = "Choose-k"
    slug: ClassVar[str] = "choose-k"
    tagline: ClassVar[str] = "Tries a secret number of k with noisy Lloyd and publishes only the best run."
    STARTS: ClassVar[int] = 3  # public starts of each k
    LARGEST: ClassVar[int] = 10  # the largest k, if none is given
    SPREAD: ClassVar[float] = 0.45  # weight of counts beside sqrt(d) for sums, as in GLloyd
    UNSURE: ClassVar[float] = 0.25  # `doubts` warns if the winner's cost has noise of at least this share of it
    CODE: ClassVar[tuple[Line, ...]] = (
        Line("spread starts for every k over the bounds", ("choice",), at=("after",), events=("start",)),
        Line("draw a number of candidates; it stays secret", ("choice",), at=("read",), events=("try",)),
        Line("for each: pick a start and with it a k,", ("choice",), at=("read",), events=("try",)),
        Line("  noisy Lloyd, then its noisy clipped cost", ("choice",), "choice", events=("try",)),
        Line("keep the smallest cost times k^(2/d)", ("choice",), at=("read",), events=("choose",)),
        Line("publish how the winner's centers moved:", ("noisy-iteration",)),
        Line("  noisy sums divided by noisy counts", ("noisy-iteration",)),
        Line("  bring centers back into the bounds", ("noisy-iteration",)),
    )
    AUDIT: ClassVar[dict[str, Any]] = {"k_min": 1, "k_max": 3, "rounds": 1, "reach": 1.0, "tries": 4}

    n_clusters: int = param(
        8, low=1, high=256, needs="exactly_k", help="Number of centers, used only with 'exactly k'."
    )
    exactly_k: bool = param(False, help="All candidates have exactly k centers; the best start is chosen.")
    k_min: int = param(2, low=1, high=256, help="Smallest number of centers that is tried; a public number.")
    k_max: int | None = param(
        None,
        low=1,
        high=256,
        kind="int",
        help="Largest number of centers that is tried; a public number. Default: 10, or the number of rows if less.",
    )
    tries: int = param(
        12,
        low=1,
        high=64,
        advanced=True,
        help="Mean number of candidates. More find the right k more often; each gets less of the budget.",
    )
    rounds: int = param(3, low=1, high=10, advanced=True, help="Lloyd's rounds of every candidate.")
    cost_share: float = param(
        0.2,
        low=0.02,
        high=0.9,
        advanced=True,
        help="Share of a candidate's μ² for its cost; the rest is for its rounds.",
    )
    reach: float = param(
        0.25,
        low=0.05,
        high=1.0,
        advanced=True,
        help="Largest distance that counts in the cost, as a share of the domain's diameter.",
    )

    def __post_init__(self) -> None:
        params.check(self.name, self)
        if not self.exactly_k and self.k_min > (self.k_max or self.LARGEST):
            most = f"k_max = {self.k_max}" if self.k_max else f"{self.LARGEST}, the largest k without a k_max"
            raise ValueError(f"{self.name}: k_min must be <= {most}; got {self.k_min}.")

    @classmethod
    def called(cls, values: Mapping[str, Any], k: int | str) -> str:
        """Return the name beside methods with exactly k centers: with `exactly_k`, only the start is chosen."""
        return f"{cls.name}, {k} centers" if values.get("exactly_k") else cls.name

    def sizes(self, n_public: int) -> range:
        """Return every k that is tried."""
        if self.exactly_k:
            return range(self.n_clusters, self.n_clusters + 1)
        return range(self.k_min, (self.k_max or min(self.LARGEST, n_public)) + 1)

    def check_domain(self, domain: Domain, n_public: int) -> None:
        """Refuse more centers than rows, in addition to what all algorithms refuse."""
        super().check_domain(domain, n_public)
        for name, k in () if self.exactly_k else (("k_min", self.k_min), ("k_max", self.k_max)):
            if k is not None and k > n_public:
                raise ValueError(f"{self.name}: {name} must be <= n = {n_public}; got {k}.")

    def price(self, n_public: int) -> BestOf:
        """Return the price of the whole choice."""
        delta = self.resolved_delta(n_public)
        return BestOf(self.epsilon, delta, self.tries, most_candidates(self.epsilon, delta, self.tries))

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Price the whole choice as one entry."""
        return Plan({"choice": (self.price(n_public),)})

    def work(self, n_features: int, n_public: int) -> float:
        """Return a rough number of operations: every candidate reads all rows in every round."""
        return self.price(n_public).most * (self.rounds + 1) * (8e4 + 2.0 * n_public * n_features)

    def shares(self, n_features: int) -> tuple[float, float, float]:
        """Return the shares of mu^2 of a candidate's sums, counts and cost; sums and counts as sqrt(d) : .45."""
        left, root = 1 - self.cost_share, math.sqrt(n_features)
        sums = left * root / (root + self.SPREAD)
        return sums, left - sums, self.cost_share

    def advice(self, n_features: int, n_public: int) -> tuple[str, ...]:
        """Return the base class's warnings, and one if a cluster of average size is lost in the noise of a count."""
        delta, largest = self.resolved_delta(n_public), self.sizes(n_public)[-1]
        counts = self.shares(n_features)[1]
        sd = 1 / (choice_mu(self.epsilon, delta, self.tries) * math.sqrt(counts / self.rounds))
        if n_public / largest >= 2 * sd:
            return super().advice(n_features, n_public)
        return (
            *super().advice(n_features, n_public),
            f"{self.name}: {n_public:,} rows are too few to try {largest} centers at this epsilon: a cluster has about "
            f"{n_public / largest:,.0f} rows, and every count has noise of ±{sd:,.0f}. Lower the "
            "largest k, or raise epsilon.",
        )

    def doubts(self, released: Mapping[str, Mapping[str, Any]], domain: Domain) -> tuple[str, ...]:
        """Return warnings if noise decided the choice, if the range ends at the winner, or if one center may do."""
        choice, end = released["choice"], released["noisy-iteration"]
        found = []
        if choice["cost_sd"] >= self.UNSURE * max(choice["cost"], 0.0):
            found.append(
                f"{self.name}: the winner's cost has noise of at least a quarter of itself, so noise rather than rows "
                "may have chosen k. Use more rows, a larger epsilon, or a smaller reach."
            )
        elif choice["k"] == choice["k_max"] > choice["k_min"]:
            found.append(
                f"{self.name}: the largest k that was tried won, so a larger one may be better. Another run with a "
                "larger range costs its own budget."
            )
        return (*found, *self.blurred(end, end["noisy_counts"], domain))

    def steps(self, curator: Curator, domain: Domain, rng: np.random.Generator) -> Iterator[Step]:
        """Ask for the best candidate, then show how its centers moved, which it released."""
        sizes = self.sizes(curator.n_public)
        shrunk = domain.box_z * min(1.0, domain.radius / float(np.linalg.norm(domain.box_z)))
        starts = tuple(
            snap_toward_zero(domain.clip(pack_cube(k, curator.n_features, 1.0, rng) * shrunk))
            for k in sizes
            for _ in range(self.STARTS)
        )
        query = Candidates(
            starts, self.rounds, domain.box_z, domain.radius, self.reach * domain.diameter,
            self.shares(curator.n_features),
        )  # fmt: skip
        won = curator.choose("choice", query)
        k = len(won.centers[0])
        what = f"its k = {k} is published" if len(sizes) > 1 else "its centers are published"
        yield Step(
            "choice",
            f"The best of a secret number of candidates, {self.tries} on average: {what}",
            {
                "centers": won.centers[0],
                "k": k,
                "k_min": sizes[0],
                "k_max": sizes[-1],
                "tries": self.tries,
                "most": self.price(curator.n_public).most,
                "cost": won.cost,
                "cost_sd": won.sd["cost"],
            },
        )
        for t, (start, centers, sums, counts) in enumerate(
            zip(won.centers, won.centers[1:], won.sums, won.counts, strict=False)
        ):
            dead = counts <= 1
            raw = np.where(dead[:, None], start, sums / np.where(dead, 1.0, counts)[:, None])
            spread = average_sd(centers, counts, won.sd["counts"], won.sd["sums"])
            yield Step(
                "noisy-iteration",
                f"Iteration {t + 1} of {self.rounds}: the winner's centers moved to their noisy means",
                {
                    "centers": centers,
                    "start": start,
                    "raw": raw,
                    "clipped": raw,
                    "noisy_counts": counts,
                    "dead": dead,
                    "radius": domain.radius,
                    "constrained": False,
                    "sums_sd": won.sd["sums"],
                    "counts_sd": won.sd["counts"],
                    "round": t + 1,
                    "rounds": self.rounds,
                    **declared(spread, BEST),
                },
            )
