"""Split rows by random hyperplanes as long as noisy counts are large, then average the leaves (LSH-Splits)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from dpviz.algorithms.base import ApproximateDP
from dpviz.algorithms.pseudocode import Line
from dpviz.domain import Domain
from dpviz.geometry import snap, snap_toward_zero
from dpviz.params import param
from dpviz.postprocessing.weighted import solve, spread, work_of_solve
from dpviz.privacy.accounting import mu_of_epsilon
from dpviz.privacy.curator import ALL, Curator
from dpviz.privacy.plan import Plan, gaussians
from dpviz.privacy.queries import Count, Projection, RegionSum, Side
from dpviz.trace import Step

__all__ = ["LSHSplits"]


@dataclasses.dataclass(frozen=True)
class Bucket:
    """A tree node: rows on the same side of each hyperplane so far; children of node i are 2i and 2i + 1."""

    node: int
    scope: int
    noisy_count: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class LSHSplits(ApproximateDP):
    """LSH-Splits: rows that fall on the same side of many random hyperplanes are probably close to each other.

    A public random hyperplane splits all rows, a second one splits both halves, and so on, as long as a bucket's noisy
    count is large enough; halves with too low a noisy count are dropped. Each remaining bucket releases a noisy average
    and its noisy count: a small weighted data set, on which k-means is free.

    Parameters
    ----------
    n_clusters : int, in [1, 256]
        Maximum number of centers; there are fewer if fewer buckets remain.
    epsilon : float, in [0.01, 100]
        Total privacy budget epsilon.
    delta : float or None, in [1e-12, 0.5]
        Total delta; None means 1/(100 n_public).
    max_depth : int, in [1, 24]
        Number of hyperplanes, fixed before anything is counted.
    sum_share : float, in [0.3, 0.95]
        Share of mu^2 for the averages; the rest is split evenly among the max_depth + 1 levels of counts.

    Formal guarantee
    ----------------
    (epsilon, delta)-DP and mu-GDP for one row added or removed. Public: all parameters and the domain. A row lies in
    one bucket per level, so it pays along one path: a Gaussian count (sensitivity 1) per level and one Gaussian sum
    (sensitivity: the domain's radius R). Squares of mu add up exactly along the path. Noisy counts alone decide which
    buckets are split, dropped or averaged.

    Steps
    -----
    split-level   released: nodes (m,), noisy_counts (m,), branched (m,) bool, level, direction (d,) of this
                  level's hyperplane, smallest, count_sd; hidden: true counts
    split-means   released: points (m', d), nodes (m',), weights (m',), sd (m',), centers (k', d),
                  coreset_points (m', d), coreset_weights (m',), coreset_sd (m',); hidden: true sums

    Deviations from the paper
    -------------------------
    There is no paper; this is the algorithm of Google's library. Hyperplanes pass through the middle of the declared
    domain; the library's optional first step, a noisy mean as the origin, is left out. Counts have Gaussian noise
    instead of Laplace noise: with the sum they compose to mu exactly, whereas the library composes numerically. A kept
    bucket has a noisy count of at least min(10 sqrt(d) s, n/(2k)), with s the noise multiplier of a sum and n the
    root's noisy count.

    References
    ----------
    .. [1] Google, differential-privacy, learning/clustering (`lsh_tree.py`, `clustering_algorithm.py`).
    .. [2] Chang and Kamath, "Practical differentially private clustering", Google AI blog, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from dpviz.domain import Domain
    >>> X = np.repeat([[-0.5, 0.0], [0.5, 0.0]], 2000, axis=0)
    >>> trace = LSHSplits(n_clusters=2, epsilon=10.0).run(X, domain=Domain.box(-1, 1, 2, n_public=4000), seed=0)
    >>> sorted(trace.cluster_centers[:, 0].round(1).tolist())
    [-0.5, 0.5]
    """

    name: ClassVar[str] = "LSH-Splits"
    slug: ClassVar[str] = "lsh-splits"
    tagline: ClassVar[str] = "Random hyperplanes split the rows while enough remain; each bucket is averaged."
    fixed_ledger: ClassVar[bool] = False

    # `doubts` warns if the averages' noise variance reaches this share of their squared spread; see cliffs.py
    BLURRED: ClassVar[float] = 0.84
    CODE: ClassVar[tuple[Line, ...]] = (
        Line("draw random hyperplanes: public", ("split-level",), at=("first",), events=("cut",)),
        Line("repeat, level by level:", ("split-level",)),
        Line("  cut each bucket by the next hyperplane", ("split-level",), at=("read",), events=("cut",)),
        Line("  count its halves, with noise", ("split-level",), "count", events=("count",)),
        Line("  too few rows: the bucket is not cut again", ("split-level",), given="not branched"),
        Line("average the rows of each bucket, with noise", ("split-means",), "sum", events=("average", "noise")),
        Line("weighted k-means on the averages", ("split-means",), events=("search",)),
    )

    n_clusters: int = param(8, low=1, high=256, help="Maximum number of centers to release; a public number.")
    max_depth: int = param(20, low=1, high=24, advanced=True, help="Number of random hyperplanes.")
    sum_share: float = param(0.6, low=0.3, high=0.95, advanced=True, help="Share of the budget (μ²) for the averages.")

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Price one path: a count per level, then one sum."""
        mu = mu_of_epsilon(self.epsilon, self.resolved_delta(n_public))
        levels = self.max_depth + 1
        *counts, means = gaussians(mu, [*[(1 - self.sum_share) / levels] * levels, self.sum_share])
        return Plan({"count": tuple(counts), "sum": (means,)})

    def work(self, n_features: int, n_public: int) -> float:
        """Return a rough number of operations of 10 ns, from public values: the fewer rows, the fewer levels."""
        smallest = self._smallest(n_features, n_public, 1 / self.plan(n_features, n_public).costs["sum"][0].gdp)
        levels = min(self.max_depth, n_public / (3 * smallest))
        leaves = n_public // (2 * smallest)
        counts = levels * (1.5e4 + n_public * (n_features + 2))
        return 1e5 + counts + work_of_solve(leaves, self.n_clusters, n_features)

    def _smallest(self, n_features: int, n_rows: float, noise: float) -> float:
        """Return the least noisy count of a bucket, by the number of rows and the noise multiplier of a sum."""
        return max(1.0, min(math.floor(10 * math.sqrt(n_features) * noise), n_rows // (2 * self.n_clusters)))

    def doubts(self, released: Mapping[str, Mapping[str, Any]], domain: Domain) -> tuple[str, ...]:
        """Return a warning if no bucket was split, or if noise moves averages as far as they lie from their mean.

        A BLURRED share of the squared spread is a ratio of .92.
        """
        end = released["split-means"]
        noise = float(np.average(domain.n_features * end["sd"] ** 2, weights=end["weights"]))
        if len(end["weights"]) > 1 and noise < self.BLURRED * spread(end["points"], end["weights"]):
            return ()
        what = "noise moves averages at least nine tenths as far as they lie from their mean"
        if len(end["weights"]) == 1:
            what = "no bucket was split"
        return (
            f"{self.name}: too little data for this epsilon: {what}, so a single center may do as well. Use more rows, "
            "fewer columns, or narrower bounds if you know them.",
        )

    def steps(self, curator: Curator, domain: Domain, rng: np.random.Generator) -> Iterator[Step]:
        """Grow the tree with one step per level, then average the leaves and cluster the averages."""
        d = curator.n_features
        hyperplanes = Projection(snap(rng.normal(size=(d, self.max_depth))))
        count = curator.release("count", Count())
        whole = float(count.value)
        smallest = self._smallest(d, whole, 1 / curator.plan.price("sum", 0).gdp)
        level, leaves = [Bucket(1, ALL, whole)], []
        for depth in range(self.max_depth + 1):
            below: list[Bucket] = []
            branched = []
            for bucket in level:
                children: list[Bucket] = []
                if depth < self.max_depth and bucket.noisy_count >= 3 * smallest:
                    scopes = curator.partition(bucket.scope, Side(hyperplanes, depth))
                    sides = [
                        Bucket(2 * bucket.node + i, scope, float(curator.release("count", Count(), scope).value))
                        for i, scope in enumerate(scopes)
                    ]
                    children = [side for side in sides if side.noisy_count >= smallest]
                if not children:
                    leaves.append(bucket)
                branched.append(bool(children))
                below += children
            yield Step(
                "split-level",
                f"Level {depth}: {sum(branched)} of {len(level)} bucket{'s' * (len(level) > 1)} split "
                + (f"by hyperplane {depth + 1}" if any(branched) else "further"),
                {
                    "level": depth,
                    "nodes": np.array([bucket.node for bucket in level]),
                    "noisy_counts": np.array([bucket.noisy_count for bucket in level]),
                    "branched": np.array(branched),
                    "direction": hyperplanes.matrix[:, min(depth, self.max_depth - 1)],
                    "smallest": smallest,
                    "count_sd": count.sd,
                },
            )
            level = below
            if not level:
                break
        weights = np.array([max(leaf.noisy_count, 1.0) for leaf in leaves])
        ball = RegionSum(np.zeros(d), snap_toward_zero(np.full(d, domain.radius)), domain.radius)
        sums = [curator.release("sum", ball, leaf.scope) for leaf in leaves]
        means = np.stack([noisy.value / weight for noisy, weight in zip(sums, weights, strict=True)])
        points = snap_toward_zero(domain.clip(means))
        k = min(self.n_clusters, len(leaves))
        centers = snap_toward_zero(domain.clip(solve(points, weights, k, rng, jitter=0.0)))
        yield Step(
            "split-means",
            f"{len(leaves)} bucket{'s give' if len(leaves) > 1 else ' gives'} {len(leaves)} noisy "
            f"average{'s' * (len(leaves) > 1)}; weighted k-means on them gives {k} centers",
            {
                "points": points,
                "nodes": np.array([leaf.node for leaf in leaves]),
                "weights": weights,
                "sd": np.array([noisy.sd for noisy in sums]) / weights,
                "centers": centers,
                "coreset_points": points,
                "coreset_weights": weights,
                "coreset_sd": np.full(len(leaves), count.sd),
            },
        )
