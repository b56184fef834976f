"""Private evolution of a population of candidate centers: what PE-means, Aug-PE and HDPE-means share."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.cluster import KMeans

from dpviz.algorithms.base import ApproximateDP
from dpviz.geometry import Population, clip_ball, levy_steps, snap, sphere_pack
from dpviz.params import param
from dpviz.privacy.curator import Curator
from dpviz.privacy.plan import Gaussian, gaussians
from dpviz.privacy.queries import NearestVotes, Projection

__all__ = ["Evolution", "averages", "sums_and_counts", "survivors"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evolution(ApproximateDP):
    """Vote, keep, select, vary; subclasses say in which space and what is released at the end."""

    LEVY_BETA: ClassVar[float] = 1.75  # Section III-C
    STEP: ClassVar[float] = 0.01  # gamma, in units of R; Section III-C
    FIRST_POPULATION: ClassVar[int] = 20_000  # largest k L of the capped rule

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

    def work(self, n_features: int, n_public: int) -> float:
        """Return a rough number of operations: k-means, variations and votes of every generation."""
        p = self.columns(n_features)
        guesses = self.n_clusters * (self.first_variations(p, n_public) + 1)
        vote = 25 if p <= 4 else 0.75 * p
        return self.releases(n_features, n_public) * (1e5 + 0.5 * guesses * p + n_public * vote)

    def columns(self, n_features: int) -> int:
        """Return in how many columns the population lives."""
        return n_features

    def evolve(
        self,
        curator: Curator,
        d: int,
        L: int,
        radius: float,
        rng: np.random.Generator,
        projection: Projection | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Yield what each generation releases: Algorithm 1 in d columns, on projected rows if a projection is given."""
        population = Population(sphere_pack(self.n_clusters * L, d, radius, rng))
        rounds = len(curator.plan.costs["votes"])
        for t in range(1, rounds + 1):
            votes = curator.release("votes", NearestVotes(population, projection))
            kept = survivors(votes.value, curator.n_public)
            histogram = np.where(kept, votes.value, 0.0)
            centers = self.select(population.points, histogram, votes.value, rng)
            signal_to_noise = float((histogram**2).sum() / (len(histogram) * votes.sd**2))
            yield {
                "round": t,
                "rounds": rounds,
                "population": population.points,
                "group": np.full(len(histogram), -1) if population.group is None else population.group,
                "noisy_votes": votes.value,
                "noise_sd": votes.sd,
                "kept": kept,
                "centers": centers,
                "variations": L,
                "signal_to_noise": signal_to_noise,
            }
            if signal_to_noise < 1:
                L = max(1, L // 2)
            population = self.vary(centers, L, radius, rng)

    def title(self, generation: Mapping[str, Any]) -> str:
        """Return what happened in a generation, in one line."""
        kept = generation["kept"]
        return (
            f"Round {generation['round']} of {generation['rounds']}: {int(kept.sum())} of {len(kept)} guesses keep "
            f"enough noisy votes; k-means on them gives {self.n_clusters} centers"
        )

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


def sums_and_counts(label: str, mu: float, n_features: int) -> dict[str, tuple[Gaussian, ...]]:
    """Split one joint release of sums and counts as (4d)^(1/2) : 1 of mu^2, FastLloyd's split."""
    sums, counts = gaussians(mu, [math.sqrt(4 * n_features), 1])
    return {f"{label}.sums": (sums,), f"{label}.counts": (counts,)}


def averages(noisy: Mapping[str, np.ndarray], radius: float) -> np.ndarray:
    """Return noisy sums / noisy counts (k, d): counts floored at 1, centers clipped to the ball."""
    return clip_ball(snap(noisy["sums"] / np.maximum(noisy["counts"], 1.0)[:, None]), radius)


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
