"""Evolve a population of candidate centers privately, for PE-means, Aug-PE and HDPE-means."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.cluster import KMeans

from dpviz.algorithms.base import ApproximateDP, delta_rule
from dpviz.algorithms.pseudocode import Line
from dpviz.geometry import Population, clip_ball, levy_steps, snap, sphere_pack, uniform_ball
from dpviz.params import param
from dpviz.postprocessing.center_sd import AVERAGES, average_sd, declared
from dpviz.privacy.costs import Gaussian
from dpviz.privacy.curator import Curator, Noisy
from dpviz.privacy.plan import gaussians
from dpviz.privacy.queries import NearestVotes, Projection

__all__ = ["Evolution", "averages", "evolution_code", "sums_and_counts", "survivors"]


def evolution_code(kind: str, choose: str) -> tuple[Line, ...]:
    """Return the pseudo-code of the rounds; `kind` is the kind of their steps, `choose` the line that picks centers."""
    return (
        Line("scatter trial points over the public ball", (kind,), at=("first",)),
        Line("repeat for T rounds:", (kind,)),
        Line("  each row votes for its nearest point, with noise", (kind,), "votes"),
        Line("  drop trial points with too few noisy votes", (kind,), events=("cut",)),
        Line(f"  {choose}", (kind,), events=("agree",)),
        Line("  vary them: new trial points around each center", (kind,), at=("later",)),
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Evolution(ApproximateDP):
    """Base class of the family: rounds of voting, keeping, selecting and varying.

    Subclasses choose the space and the last release.
    """

    FIRST_POPULATION: ClassVar[int] = 20_000  # maximum of k L, the total number of variations, with variations="capped"

    variations: str = param(
        "capped",
        choices=("capped", "paper", "authors"),
        advanced=True,
        help="Rule for the initial number of variations per center: capped (fast), N/5 (paper) or N/(5k) (authors).",
    )
    variations_each: int | None = param(
        None,
        low=1,
        high=20_000,
        kind="int",
        advanced=True,
        help="Initial number of variations of each center, L. The default follows from the rule above.",
    )
    rounds: int | None = param(
        None,
        low=1,
        high=500,
        kind="int",
        advanced=True,
        help="Number of rounds, T. Default: 4 max(ε, 1) √d, as in the paper.",
    )
    step_size: float = param(
        0.01, low=1e-4, high=1.0, log=True, advanced=True, help="γ: how far variations go, as a share of the radius R."
    )
    levy_beta: float = param(
        1.75,
        low=0.5,
        high=1.99,
        advanced=True,
        help="β of the Lévy flights; a smaller β makes the rare long jumps more frequent.",
    )
    keep: str = param(
        "n votes",
        choices=("n votes", "2 sd", "positive"),
        advanced=True,
        help="Trial points that survive: the top ones that together hold N votes (the paper), those above two standard "
        "deviations of the noise (as in earlier private evolution), or all above 0.",
    )
    halving: bool = param(
        True, advanced=True, help="Halve L after a round in which noise outweighs the votes, as in the paper."
    )
    start: str = param(
        "packing",
        choices=("packing", "uniform"),
        advanced=True,
        help="First trial points: spread apart (up to 2,000 in fewer than 16 columns), or uniform in the ball.",
    )
    selection: str = param(
        "k-means",
        choices=("k-means", "top-k"),
        advanced=True,
        help="Centers of a round: weighted k-means on survivors, or the k trial points with the most votes (Aug-PE).",
    )
    selection_starts: int = param(
        1,
        low=1,
        high=50,
        advanced=True,
        help="Number of starts of k-means on survivors; the best is kept. The published code uses 10.",
    )
    delta_rule: str = delta_rule()

    def generations(self, n_features: int) -> int:
        """Return the number of generations T: the parameter, or ceil(4 max(epsilon, 1) sqrt(d)) (Section IV-C)."""
        return self.rounds or math.ceil(4 * max(self.epsilon, 1.0) * math.sqrt(n_features))

    def first_variations(self, n_features: int, n_public: int) -> int:
        """Return the initial number L of variations: the parameter, or the chosen rule's value, from public values."""
        if self.variations_each is not None:
            return self.variations_each
        if self.variations == "authors":
            return max(n_public // (5 * self.n_clusters), 4)
        paper = max(n_public // 5, 4)
        if self.variations == "paper":
            return paper
        cap = 128 if n_features <= 4 else 512
        return min(paper, cap, max(self.FIRST_POPULATION // self.n_clusters, 4))

    def work(self, n_features: int, n_public: int) -> float:
        """Return a rough operation count for the k-means, the variations and the votes of all generations."""
        p = self.columns(n_features)
        trials = self.n_clusters * (self.first_variations(p, n_public) + 1)
        vote = 50.0 if p <= 4 else 120.0 + 4 * p + 2 * self.n_clusters
        return self.releases(n_features, n_public) * (1.5e5 + 2.0 * trials * p + n_public * vote)

    def columns(self, n_features: int) -> int:
        """Return the number of columns of the population's space."""
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
        """Run Algorithm 1 in d columns, on projected rows if a projection is given; yield each generation's values."""
        spread = sphere_pack if self.start == "packing" else uniform_ball
        population = Population(clip_ball(snap(spread(self.n_clusters * L, d, radius, rng)), radius))
        rounds = len(curator.plan.costs["votes"])
        for t in range(1, rounds + 1):
            votes = curator.release("votes", NearestVotes(population, projection))
            mask = self.survive(votes.value, votes.sd, curator.n_credible)
            histogram = np.where(mask, votes.value, 0.0)
            centers = self.select(population.points, histogram, votes.value, rng)
            noise = len(histogram) * votes.sd**2
            signal_to_noise = float((histogram**2).sum() / noise) if noise else math.inf
            yield {
                "round": t,
                "rounds": rounds,
                "population": population.points,
                "group": np.full(len(histogram), -1) if population.group is None else population.group,
                "noisy_votes": votes.value,
                "noise_sd": votes.sd,
                "kept": mask,
                "centers": centers,
                "variations": L,
                "signal_to_noise": signal_to_noise,
            }
            if self.halving and signal_to_noise < 1:
                L = max(1, L // 2)
            population = self.vary(centers, L, radius, rng)

    def title(self, generation: Mapping[str, Any]) -> str:
        """Return the title of a generation's step."""
        mask, head = generation["kept"], f"Round {generation['round']} of {generation['rounds']}: "
        if self.selection == "top-k":
            return f"{head}the {self.n_clusters} trial points with the most noisy votes become the centers"
        return (
            f"{head}{int(mask.sum())} of {len(mask)} trial points keep "
            f"enough noisy votes; k-means on them gives {self.n_clusters} centers"
        )

    def survive(self, noisy_votes: np.ndarray, sd: float, n_rows: float) -> np.ndarray:
        """Return the mask (m,) of the trial points that survive under the rule `keep`; use noisy votes only."""
        if self.keep == "n votes":
            return survivors(noisy_votes, n_rows)
        return noisy_votes > (2 * sd if self.keep == "2 sd" else 0)

    def select(
        self, points: np.ndarray, histogram: np.ndarray, noisy_votes: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Return k centers (k, d): weighted k-means on the survivors, or the k trial points with the most votes."""
        positive = histogram > 0
        if self.selection == "top-k" or positive.sum() <= self.n_clusters:
            return points[np.argsort(-noisy_votes, kind="stable")[: self.n_clusters]]
        seed = int(rng.integers(2**31))
        model = KMeans(self.n_clusters, n_init=self.selection_starts, random_state=seed)
        return snap(model.fit(points[positive], sample_weight=histogram[positive]).cluster_centers_)

    def vary(self, centers: np.ndarray, L: int, radius: float, rng: np.random.Generator) -> Population:
        """Return the centers and L Levy variations of each, inside the ball."""
        k, d = centers.shape
        children = np.repeat(centers, L, axis=0) + self.step_size * radius * levy_steps((k * L, d), rng, self.levy_beta)
        points = np.concatenate([centers, clip_ball(snap(children), radius)])
        return Population(points, centers, np.concatenate([np.arange(k), np.repeat(np.arange(k), L)]))


def sums_and_counts(label: str, mu: float, n_features: int) -> dict[str, tuple[Gaussian, ...]]:
    """Price one joint release of sums and counts with shares (4d)^(1/2) : 1 of mu^2, as FastLloyd does."""
    sums, counts = gaussians(mu, [math.sqrt(4 * n_features), 1])
    return {f"{label}.sums": (sums,), f"{label}.counts": (counts,)}


def averages(noisy: Noisy, radius: float) -> dict[str, Any]:
    """Return the centers (k, d), the noisy counts and the noise as released values.

    A center is a noisy sum divided by its noisy count, which is raised to at least 1; the result is clipped to the
    ball.
    """
    sums, counts = noisy.value["sums"], noisy.value["counts"]
    centers = clip_ball(snap(sums / np.maximum(counts, 1.0)[:, None]), radius)
    spread = average_sd(centers, counts, noisy.sd["counts"], noisy.sd["sums"])
    return {"centers": centers, "noisy_counts": counts, **declared(spread, AVERAGES)}


def survivors(noisy_votes: np.ndarray, n_rows: float) -> np.ndarray:
    """Return the mask (m,) of the trial points with the most votes, as many as it takes to reach n_rows votes.

    The mask depends on noisy votes only, and negative votes never count. If the positive votes add up to less than
    n_rows, all trial points with positive votes are kept. An n_rows that is 10% too low drops whole small clusters, so
    pass the curator's `n_credible`, not a declared number.
    """
    order = np.argsort(-noisy_votes, kind="stable")
    positive = noisy_votes[order] > 0
    before = np.cumsum(noisy_votes[order]) - noisy_votes[order]
    mask = np.zeros(len(noisy_votes), dtype=bool)
    mask[order[positive & (before < n_rows)]] = True
    return mask
