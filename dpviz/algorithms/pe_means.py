"""PE-means: private evolution of a population of candidate centers."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.cluster import KMeans

from dpviz.algorithms.base import Algorithm, Frame
from dpviz.domain import Domain
from dpviz.geometry import Population, clip_ball, levy_steps, snap, sphere_pack
from dpviz.params import param
from dpviz.privacy.accounting import mu_of_epsilon
from dpviz.privacy.curator import Curator
from dpviz.privacy.plan import Plan, gaussians
from dpviz.privacy.queries import NearestVotes

__all__ = ["PEMeans"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class PEMeans(Algorithm):
    """PE-means: guess centers, let the rows vote, keep the winners, mutate them, vote again.

    A population of guesses is spread over the public domain without looking at any row. In every generation each
    row votes for its nearest guess; noise hides each single vote. Guesses with enough votes survive, a weighted
    k-means on them gives k centers, and small random variations of these centers are the next population.

    Parameters
    ----------
    n_clusters : int, in [1, 256]
        Number of clusters k. Public.
    epsilon : float, in [0.01, 100]
        Total privacy budget epsilon.
    delta : float or None, in (0, 1)
        Total delta; None means n_public^-1.1.
    variations : {"capped", "paper", "authors"}
        Rule for the first number of variations per center, L: min(max(N/5, 4), cap) with cap 512 (128 for d <= 4),
        the paper's max(N/5, 4), or the authors' published max(N/(5k), 4).

    Formal guarantee
    ----------------
    (epsilon, delta)-DP for one row added or removed, mu-GDP with the mu of the analytic Gaussian mechanism. Public:
    all parameters, the domain (bounds, radius R, nominal size N). Each of the T generations releases one vote
    histogram with Gaussian noise of standard deviation sqrt(T)/mu; a row casts one vote, so its l2 sensitivity is 1
    and each release costs mu^2/T. Everything else reads released votes only.

    Steps
    -----
    generation    released: population (m, d), group (m,) parent index or -1, noisy_votes (m,), noise_sd,
                  kept (m,) bool, centers (k, d), variations L, signal_to_noise; hidden: votes (m,)

    Deviations from the paper
    -------------------------
    The paper centers and scales by the data's own mean and largest norm, which is not private: here the domain is
    declared, and rows are clipped to it. It takes N as public under add/remove: here N is the declared nominal size
    and nothing reads the number of rows. The signal-to-noise test divides by |S| sigma^2 as the text describes it;
    the printed N sigma^2 would halve L forever once N < k sigma^2. L is capped by default (same loss, 2 to 200 times
    faster). If fewer than k guesses survive, the k guesses with the most noisy votes are the centers. Votes are
    decided in exact integer arithmetic: with floating point, one row's vote may follow other rows' positions.

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
    tagline: ClassVar[str] = "Guesses evolve: rows vote for the nearest, noise hides each vote, winners mutate."
    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "capped": {"variations": "capped"},
        "paper": {"variations": "paper"},
        "authors": {"variations": "authors"},
    }

    LEVY_BETA: ClassVar[float] = 1.75  # Section III-C
    STEP: ClassVar[float] = 0.01  # gamma, in units of R; Section III-C
    FIRST_POPULATION: ClassVar[int] = 20_000  # largest k L of the capped rule

    n_clusters: int = param(8, low=1, high=256, help="How many centers to release. Public.")
    epsilon: float = param(
        1.0, low=0.01, high=100, log=True, help="Smaller: more noise, more privacy. Always stated together with delta."
    )
    delta: float | None = param(
        None,
        low=1e-12,
        high=0.5,
        log=True,
        kind="float",
        advanced=True,
        help="Chance that the epsilon promise fails. Keep it far below 1/n. Empty: n^-1.1.",
    )
    variations: str = param(
        "capped",
        choices=("capped", "paper", "authors"),
        advanced=True,
        help="How many variations of each center to try at first: capped (fast), the paper's N/5, the authors' N/(5k).",
    )

    def generations(self, n_features: int) -> int:
        """Return T = ceil(4 max(epsilon, 1) sqrt(d)), Section III-E."""
        return math.ceil(4 * max(self.epsilon, 1.0) * math.sqrt(n_features))

    def first_variations(self, n_features: int, n_public: int) -> int:
        """Return the first L of the chosen rule; a function of public values."""
        if self.variations == "authors":
            return max(n_public // (5 * self.n_clusters), 4)
        paper = max(n_public // 5, 4)
        if self.variations == "paper":
            return paper
        cap = 128 if n_features <= 4 else 512
        return min(paper, cap, max(self.FIRST_POPULATION // self.n_clusters, 4))

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Return T vote histograms with equal shares of mu^2."""
        mu = mu_of_epsilon(self.epsilon, self.resolved_delta(n_public))
        return Plan({"votes": gaussians(mu, [1] * self.generations(n_features))})

    def steps(self, curator: Curator, domain: Domain, rng: np.random.Generator) -> Iterator[Frame]:
        """Algorithm 1; one frame a generation."""
        d, n = curator.n_features, curator.n_public
        L = self.first_variations(d, n)
        population = Population(sphere_pack(self.n_clusters * L, d, domain.radius, rng))
        rounds = len(curator.plan.costs["votes"])
        for t in range(1, rounds + 1):
            votes = curator.release("votes", NearestVotes(population))
            kept = survivors(votes.value, n)
            histogram = np.where(kept, votes.value, 0.0)
            centers = self.select(population.points, histogram, votes.value, rng)
            signal_to_noise = float((histogram**2).sum() / (len(histogram) * votes.sd**2))
            group = np.full(len(histogram), -1) if population.group is None else population.group
            yield Frame(
                "generation",
                f"Round {t} of {rounds}: {int(kept.sum())} of {len(kept)} guesses keep enough noisy votes; "
                f"k-means on them gives {self.n_clusters} centers",
                {
                    "population": population.points,
                    "group": group,
                    "noisy_votes": votes.value,
                    "noise_sd": votes.sd,
                    "kept": kept,
                    "centers": centers,
                    "variations": L,
                    "signal_to_noise": signal_to_noise,
                },
            )
            if signal_to_noise < 1:
                L = max(1, L // 2)
            population = self.vary(centers, L, domain.radius, rng)

    def select(
        self, points: np.ndarray, histogram: np.ndarray, noisy_votes: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Return k centers (k, d): weighted k-means on the survivors; the k most voted guesses if there are too few."""
        kept = histogram > 0
        if kept.sum() <= self.n_clusters:
            return points[np.argsort(-noisy_votes, kind="stable")[: self.n_clusters]]
        seed = int(rng.integers(2**31))
        model = KMeans(self.n_clusters, n_init=1, random_state=seed).fit(points[kept], sample_weight=histogram[kept])
        return snap(model.cluster_centers_)

    def vary(self, centers: np.ndarray, L: int, radius: float, rng: np.random.Generator) -> Population:
        """Return the centers and L Levy variations of each, inside the ball."""
        k, d = centers.shape
        children = np.repeat(centers, L, axis=0) + self.STEP * radius * levy_steps((k * L, d), rng, self.LEVY_BETA)
        points = np.concatenate([centers, clip_ball(snap(children), radius)])
        return Population(points, centers, np.concatenate([np.arange(k), np.repeat(np.arange(k), L)]))


def survivors(noisy_votes: np.ndarray, n_public: int) -> np.ndarray:
    """Return the mask (m,) of the most voted guesses that together reach n_public votes; negative votes never stay.

    Reads noisy votes only. If all positive votes together stay below n_public, all of them are kept.
    """
    order = np.argsort(-noisy_votes, kind="stable")
    positive = noisy_votes[order] > 0
    before = np.cumsum(noisy_votes[order]) - noisy_votes[order]
    kept = np.zeros(len(noisy_votes), dtype=bool)
    kept[order[positive & (before < n_public)]] = True
    return kept
