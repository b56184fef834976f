"""Run Stemmer-Kaplan in the central model: hash rows, average dense cells, weigh the averages, choose k for free."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from dpviz.algorithms.pseudocode import Line
from dpviz.algorithms.stemmer_kaplan.family import PrivateCenters
from dpviz.domain import Domain
from dpviz.geometry import Population, clip_ball, snap
from dpviz.params import param
from dpviz.postprocessing.medians import OBJECTIVES, medians_on
from dpviz.postprocessing.weighted import solve, work_of_solve
from dpviz.privacy.accounting import mu_of_epsilon
from dpviz.privacy.costs import Gaussian
from dpviz.privacy.curator import Curator
from dpviz.privacy.plan import Plan
from dpviz.privacy.queries import NearestVotes
from dpviz.trace import Step

__all__ = ["StemmerKaplan", "choose"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class StemmerKaplan(PrivateCenters):
    """Stemmer-Kaplan: find dense cells in shifted grids, weigh their noisy averages, choose k of them.

    A randomly shifted grid is a locality-sensitive hash: rows that lie close together mostly fall into one cell. Grids
    of several widths are laid over the domain, and only cells whose noisy count passes a threshold are released. The
    noisy average of such a cell is a candidate center. Then the rows nearest to each candidate are counted, with noise:
    candidates and weights are a private coreset, and k-means on it, for any k, costs nothing more.

    Parameters
    ----------
    n_clusters : int, in [1, 256]
        Number of clusters k. Public.
    epsilon : float, in [0.01, 100]
        Total privacy budget epsilon.
    delta : float or None, in [1e-12, 0.5]
        Total delta; None means 1/(100 n_public).
    scales : int or None, in [1, 8]
        Number of cell widths, which begin at half of the domain and halve each time; None means 4, or 2 for d > 4.
    repetitions : int, in [1, 8]
        Number of differently shifted grids per width; a group of rows cut by one grid may be whole in another.
    rounds : int, in [1, 3]
        Number of rounds. After each round but the last, rows inside a released ball drop out and the others are
        searched again.
    count_share, choice_share : float, in [0.05, 0.9]
        The counts' share of the candidates' part of mu^2, and the share of mu^2 for the final weights.
    objective : {"means", "medians"}
        Objective of the last step: k-means or k-median, on the same private coreset.

    Formal guarantee
    ----------------
    (epsilon, delta)-DP for one row added or removed. Public: all parameters and the domain with its nominal n; nothing
    depends on the number of rows. delta/2 goes to the thresholds and delta/2 to the Gaussian noise, all of which
    composes as mu-GDP. Each table of each round releases the keys whose count + Gaussian noise reaches tau = 1.5 + s
    Phi^-1(1 - delta') (one row lies in one cell: l2 sensitivity 1, and delta' for a key that only one neighbor has) and
    then the sums of the kept cells (one row changes one sum by at most the clipping radius). The last release counts
    the rows nearest to each candidate, l2 sensitivity 1. Between rounds rows are dropped by a public rule on the single
    row (distance to released points), so neighbors stay neighbors; rounds compose without amplification.

    Steps
    -----
    buckets       released: width, offset (p,), keys (m, p), noisy_counts (m,), noise_sd, threshold, kept (m,) bool,
                  averages (a, d), average_sd (a,), precise (a,) bool, projected, round, table, tables;
                  hidden: keys and counts of all cells, sums (a, d)
    filter        released: points (m, d), radii (m,), round (rounds > 1 only)
    weights       released: candidates (m, d), noisy_weights (m,), noise_sd, coreset_points (c, d),
                  coreset_weights (c,), coreset_sd (c,); hidden: true weights (m,)
    choose        released: centers (k, d), candidates (c, d) with a positive weight, weights (c,)

    Deviations from the paper
    -------------------------
    The paper proves that a constant factor is possible; with its constants no row is removed between rounds and every
    bucket is below its threshold at n = 20000, and no implementation was known. The following is replaced (printed
    value -> ours):

    - repetitions on n^b ln(1/beta) disjoint samples -> 2 grids on all rows, paid for by composition;
    - log2(n) radii Lambda 2^i / n -> 4 cell widths (2 for d > 4);
    - the ball-lattice hash of Andoni and Indyk -> shifted cubes of at most 4 projected columns;
    - GoodCenter's rotated box -> rows are bounded by the cell itself, for d > 4 by the domain's ball;
    - log log n rounds -> 1 by default;
    - "keep the 2(T+1) w k n_i^0.1 rows farthest from the centers" -> a ball filter on the single row, because under
      add/remove the farthest-m rule turns one added row into one swapped row, which the same noise does not cover;
    - private swap search (Theorem 2.1) with T = 6 k ln n swaps -> noisy weights and free k-means, whose losses are 1.9
      to 3.8 times lower on the benchmark blobs (`stemmer-kaplan-swap` has the search).

    The candidates' budget is split 30 : 70 between counts and sums; averages whose noise per column, judged by released
    counts, is at least half a cell's width are dropped. If there is no candidate, all k centers lie at or near the
    middle of the domain.

    References
    ----------
    .. [1] Stemmer and Kaplan, "Differentially private k-means with constant multiplicative error", NeurIPS 2018,
           Algorithm Private-k-Means, Lemma 3.1, Theorem 2.1.
    .. [2] Balle and Wang, "Improving the Gaussian mechanism for differential privacy", ICML 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from dpviz.domain import Domain
    >>> X = np.repeat([[-0.5, 0.0], [0.5, 0.0]], 1000, axis=0)
    >>> trace = StemmerKaplan(n_clusters=2, epsilon=2.0).run(X, domain=Domain.box(-1, 1, 2, n_public=2000), seed=0)
    >>> sorted(trace.cluster_centers[:, 0].round(1).tolist())
    [-0.5, 0.5]
    """

    name: ClassVar[str] = "Stemmer-Kaplan"
    slug: ClassVar[str] = "stemmer-kaplan"
    tagline: ClassVar[str] = "Shifted grids find dense cells; their weighted noisy averages form a private coreset."
    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {"two rounds": {"rounds": 2}}
    CODE: ClassVar[tuple[Line, ...]] = (
        Line("repeat with other random tables:", ("buckets",)),
        Line("  nearby rows fall into the same bucket", ("buckets",), at=("before",), events=("count",)),
        Line("  keep buckets with a high noisy count", ("buckets",), "buckets"),
        Line("  average their rows, with noise", ("buckets",), "averages"),
        Line("  another round, without the rows found so far", ("filter",)),
        Line("rows vote for the nearest average, with noise", ("weights",), "weights"),
        Line("weighted k-means on the averages", ("choose",)),
    )

    # `doubts` warns if there are at most this many candidates; see lab/benchmarks/results/cliffs.md
    FEWEST: ClassVar[int] = 3

    objective: str = param(
        "means",
        choices=OBJECTIVES,
        advanced=True,
        help="Objective of the centers: the sum of squared distances (k-means) or of distances (k-median).",
    )

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Price thresholds and sums of every table, and the final weights."""
        delta = self.resolved_delta(n_public)
        mu = mu_of_epsilon(self.epsilon, delta / 2)
        candidates = self.candidate_costs(mu * math.sqrt(1 - self.choice_share), delta / 2, n_features)
        return Plan({**candidates, "weights": (Gaussian(mu * math.sqrt(self.choice_share)),)})

    def work(self, n_features: int, n_public: int) -> float:
        """Return a rough number of operations of 10 ns, from public values: releases, and k-means on candidates."""
        return super().work(n_features, n_public) + work_of_solve(70, self.n_clusters, n_features)

    def doubts(self, released: Mapping[str, Mapping[str, Any]], domain: Domain) -> tuple[str, ...]:
        """Return a warning if rows support so few candidates that there is nothing to choose from."""
        carried = len(released["weights"]["coreset_points"])
        if carried > self.FEWEST:
            return ()
        return (
            f"{self.name}: rows support only {carried} candidate{'s' * (carried > 1)}, too few to choose centers from, "
            "so a single center may do as well. Use more rows, or narrower bounds if you know them.",
        )

    def steps(self, curator: Curator, domain: Domain, rng: np.random.Generator) -> Iterator[Step]:
        """Find candidates in dense cells, release one noisy weight each, run k-means on them."""
        candidates = yield from self.gather(curator, domain, rng)
        if len(candidates) == 0:
            candidates = np.zeros((1, curator.n_features))  # without a dense cell, use the middle of the domain
        weights = curator.release("weights", NearestVotes(Population(candidates)))
        positive = weights.value > 0 if (weights.value > 0).any() else np.ones(len(candidates), dtype=bool)
        coreset = candidates[positive], np.maximum(weights.value[positive], 1.0)
        released = {
            "candidates": candidates,
            "noisy_weights": weights.value,
            "noise_sd": weights.sd,
            "coreset_points": coreset[0],
            "coreset_weights": coreset[1],
            "coreset_sd": np.full(len(coreset[0]), weights.sd),
        }
        yield Step("weights", f"Every row counts for the nearest of {len(candidates)} candidates, with noise", released)
        yield choose(*coreset, self.n_clusters, domain, rng, objective=self.objective)


def choose(
    points: np.ndarray,
    weights: np.ndarray,
    n_clusters: int,
    domain: Domain,
    rng: np.random.Generator,
    *,
    objective: str = "means",
) -> Step:
    """Return the step that chooses k centers for a released weighted set, at no privacy cost."""
    centers = solve(points, weights, n_clusters, rng, jitter=0.01 * domain.radius)
    if objective == "medians":
        centers = medians_on(points, weights, centers)
    return Step(
        "choose",
        f"k-{objective} on {len(points)} weighted candidates gives {n_clusters} centers at no cost",
        {"centers": clip_ball(snap(centers), domain.radius), "candidates": points, "weights": weights},
    )
