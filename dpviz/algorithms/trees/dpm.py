"""Cut the domain where few rows lie, never through a dense part (DPM, differentially private mondrian)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from dpviz import params
from dpviz.algorithms.base import ApproximateDP, delta_rule
from dpviz.algorithms.pseudocode import Line
from dpviz.domain import Domain
from dpviz.geometry import snap, snap_toward_zero
from dpviz.params import param
from dpviz.postprocessing.center_sd import REGIONS, average_sd, declared, members
from dpviz.postprocessing.weighted import solve, spread
from dpviz.privacy.accounting import mu_of_epsilon
from dpviz.privacy.costs import Exponential, Gaussian, Laplace
from dpviz.privacy.curator import ALL, Curator
from dpviz.privacy.plan import Plan, fitted, split
from dpviz.privacy.queries import Below, Count, HalfIntervalCounts, RegionSum, SplitScore
from dpviz.trace import Step

__all__ = ["DPM"]


@dataclasses.dataclass(frozen=True)
class Region:
    """A box [low, high) of the tree, z units; children of node i are 2i (below the cut) and 2i + 1."""

    node: int
    scope: int
    noisy_count: float
    depth: int
    low: np.ndarray
    high: np.ndarray


@dataclasses.dataclass(frozen=True, kw_only=True)
class DPM(ApproximateDP):
    """DPM: cut the public box repeatedly where few rows lie; the remaining regions are the clusters.

    Every region has many candidate cuts across every column. A cut scores well if few rows lie near it and many lie on
    both sides; the exponential mechanism picks one, better ones with higher probability. Both sides are counted, with
    noise. If a side holds too few rows, the cut is rejected and the region is final. Each final region releases one
    noisy average. The number of clusters is a result, not an input.

    Parameters
    ----------
    n_clusters : int, in [1, 256]
        Number of centers if `exactly_k` is set; otherwise DPM finds the number of clusters itself.
    exactly_k : bool
        If true, a weighted k-means on the averages, free of privacy cost, gives exactly n_clusters centers.
    epsilon : float, in [0.01, 100]
        Total privacy budget epsilon.
    delta : float or None, in [1e-12, 0.5]
        Total delta, all of it for the averages; None means the value of `delta_rule`.
    delta_rule : {"1/(100 n)", "n^-1.1", "1/(n ln n)", "1/(n sqrt n)"}
        The rule for delta = None: the default of all algorithms here, or a paper's (the last is DPM's).
    max_depth : int or None, in [1, 10]
        Maximum number of successive cuts (the paper's tau_r), which allows at most 2^max_depth regions. None means
        floor(log2(N/(4 sqrt(d) s1))), between 1 and 7, with s1 the noise multiplier of an average and N the nominal
        size.
    interval : float, in [0.002, 1]
        Distance between neighboring cuts (the paper's beta), as a share of each column's width. Public.
    count_share, split_share : float, in [0.05, 0.45]
        Shares of epsilon for the counts and for choosing cuts; the rest goes to the averages.
    selection : {"range", "double"}
        Calibration of the exponential mechanism: by the range of the score's change, or by twice its largest change as
        in the published code, which is also sound but spends 1.41 times as much on every cut.
    centreness, quantile, emptiness_weight : float, in [0.02, 1], [0.005, 0.45] and [0, 50]
        The paper's t, q and alpha; t >= 2 q.
    smallest_share : float or None, in [0.0001, 0.5]
        Share of the rows that both sides of a cut must hold (the paper's tau_e / n); None means 2^-max_depth.

    Formal guarantee
    ----------------
    (epsilon, delta)-DP for one row added or removed. Public: all parameters and the domain. A row lies in one region
    per level, so it pays along one path of the tree. It pays for a Laplace count (sensitivity 1) per level
    0..max_depth, for an exponential mechanism per level 0..max_depth-1 (range 2 t/q + alpha of n times the score, given
    the noisy count n), and for one Gaussian sum of offsets from the region's middle (sensitivity half the region's
    diagonal, or the middle's norm plus the domain's radius where that is less). A level's share grows as sqrt(2)^level.
    The path's total, the smaller of basic and zCDP composition, is epsilon. Boxes, stops and the number of regions
    depend on released values only; an empty region is averaged with noise like any other.

    Steps
    -----
    region        released: node, depth, low (d,), high (d,), noisy_count, count_sd, smallest, intervals, candidates,
                  column of the cut or -1, position, child_counts (2,), child_sd, accepted, reason;
                  hidden: true counts, utilities (d intervals,) of all cuts
    averages      released: centers (k', d), weights (k',), sd (k',), nodes (k',), low (k', d), high (k', d),
                  coreset_points (k', d), coreset_weights (k',), coreset_sd (k',),
                  center_sd (k', d), center_noise; hidden: true sums of offsets
    merge         released: centers (k, d), start (k', d), center_sd (k, d), center_noise (with `exactly_k` only)

    Deviations from the paper
    -------------------------
    Rows are clipped to the declared box. The interval size is a public share of each column's width: the paper's
    estimate, from gaps averaged over columns, is not private (one row can change every averaged gap). The paper's
    lambda is not needed: given the released count, the score's sensitivity does not depend on the true count, so all of
    delta goes to the averages. The exponential mechanism uses the range of the score's change; Definition 4 as printed
    spends 1.42 times its claim. Candidate cuts lie inside the region only, averages are measured from the region's
    middle and clipped to the region, and empty regions get no special case. zCDP composition enlarges the budgets where
    it is tighter. Where the paper has a typo, the published code is followed: position low + (j + 1/2) beta. Delta is
    public, never computed from the data.

    References
    ----------
    .. [1] Liebenow et al., "DPM: clustering sensitive data through separation", CCS 2024, Algorithms 1 and 2,
       Definitions 5 to 7; arXiv 2307.02969.
    .. [2] Dong, Durfee and Rogers, "Optimal differential privacy composition for exponential mechanisms", ICML 2020.
    .. [3] Balle and Wang, "Improving the Gaussian mechanism for differential privacy", ICML 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from dpviz.domain import Domain
    >>> X = np.repeat([[-0.5, 0.0], [0.5, 0.0]], 500, axis=0)
    >>> trace = DPM(epsilon=20.0, max_depth=1).run(X, domain=Domain.box(-1, 1, 2, n_public=1000), seed=0)
    >>> sorted(trace.cluster_centers[:, 0].round(1).tolist())
    [-0.5, 0.5]
    """

    name: ClassVar[str] = "DPM"
    slug: ClassVar[str] = "dpm"
    tagline: ClassVar[str] = "Cuts the box where it is empty and averages each region; finds k itself."
    fixed_ledger: ClassVar[bool] = False
    # `doubts` warns if the averages' noise variance reaches this share of their squared spread; see cliffs.py
    BLURRED: ClassVar[float] = 0.2
    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "paper": {
            "count_share": 0.18,
            "split_share": 0.22,
            "selection": "double",
            "max_depth": 7,
            "delta_rule": "1/(n sqrt n)",
        },
    }
    CODE: ClassVar[tuple[Line, ...]] = (
        Line("begin with one region: the public box", ("region",), at=("first",), events=("whole",)),
        Line("for each region, while it may be cut:", ("region",)),
        Line("  score cuts: few rows near, many on each side", ("region",), "split", events=("score",)),
        Line("  pick one cut, better ones more often", ("region",), "split", events=("pick",)),
        Line("  count both sides, with noise", ("region",), "count", events=("whole", "count")),
        Line("  too few rows on a side: the region is final", ("region",), given="not accepted", events=("count",)),
        Line("average each final region, with noise", ("averages",), "average"),
        Line("if k is given: k-means on the averages", ("merge",)),
    )
    AUDIT: ClassVar[dict[str, Any]] = {"selection": "double"}

    n_clusters: int = param(
        8,
        low=1,
        high=256,
        needs="exactly_k",
        help="Number of centers, used only with 'exactly k'; otherwise DPM finds it.",
    )
    exactly_k: bool = param(False, help="Merge the regions' averages into exactly k centers. This costs nothing.")
    max_depth: int | None = param(
        None,
        low=1,
        high=10,
        kind="int",
        help="Deepest level, which gives at most 2^level regions. The default follows from n, d and epsilon.",
    )
    interval: float = param(
        0.025,
        low=0.002,
        high=1.0,
        log=True,
        advanced=True,
        help="Distance between neighboring cuts as a share of a column's width; a public number.",
    )
    count_share: float = param(0.2, low=0.05, high=0.45, advanced=True, help="Share of epsilon for the counts.")
    split_share: float = param(0.3, low=0.05, high=0.45, advanced=True, help="Share of epsilon for choosing cuts.")
    selection: str = param(
        "range",
        choices=("range", "double"),
        advanced=True,
        help="'double' is the published code's calibration. It is sound but spends 1.41 times as much.",
    )
    centreness: float = param(
        0.3, low=0.02, high=1.0, advanced=True, help="t: centreness of a cut at the q-quantile; at least 2 q."
    )
    quantile: float = param(
        1 / 12,
        low=0.005,
        high=0.45,
        advanced=True,
        help="q: cuts between the q- and (1 - q)-quantiles are central.",
    )
    emptiness_weight: float = param(
        5.0, low=0.0, high=50.0, advanced=True, help="α: weight of emptiness relative to centreness."
    )
    smallest_share: float | None = param(
        None,
        low=0.0001,
        high=0.5,
        kind="float",
        advanced=True,
        help="τe: a cut is rejected if a side has a smaller share of the rows. "
        "Default: 1 / 2^deepest level (the paper's).",
    )
    delta_rule: str = delta_rule()

    def __post_init__(self) -> None:
        params.check(self.name, self)
        if self.centreness < 2 * self.quantile:
            raise ValueError(
                f"{self.name}: centreness must be >= 2 quantile = {2 * self.quantile:.4g}; got {self.centreness:g}: "
                "otherwise cuts near the edge would score above central ones."
            )

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Price one path: counts and cuts, growing as sqrt(2)^level, then one average."""
        delta = self.resolved_delta(n_public)
        levels = [2 ** (level / 2) for level in range(self.depth(n_features, n_public) + 1)]

        def costs(scale: float) -> Plan:
            epsilon = scale * self.epsilon
            average = epsilon * (1 - self.count_share - self.split_share)
            return Plan(
                {
                    "count": tuple(map(Laplace, split(epsilon * self.count_share, levels))),
                    "split": tuple(map(Exponential, split(epsilon * self.split_share, levels[:-1]))),
                    "average": (Gaussian(mu_of_epsilon(average, delta)),),
                }
            )

        return fitted(costs, self.epsilon, delta)

    def depth(self, n_features: int, n_public: int) -> int:
        """Return max_depth or, if None, the largest depth at which averages of N/2^depth rows stand out from noise."""
        if self.max_depth is not None:
            return self.max_depth
        return int(np.clip(math.floor(math.log2(self._signal(n_features, n_public))), 1, 7))

    def advice(self, n_features: int, n_public: int) -> tuple[str, ...]:
        """Return the base class's warnings, and one if even two regions are too many."""
        if self._signal(n_features, n_public) >= 2:
            return super().advice(n_features, n_public)
        return (
            *super().advice(n_features, n_public),
            f"{self.name}: too little data for this epsilon: {n_public} rows in {n_features} columns "
            "hardly stand out from the noise of one average. Leave columns out, or use more rows.",
        )

    def doubts(self, released: Mapping[str, Mapping[str, Any]], domain: Domain) -> tuple[str, ...]:
        """Return a warning if nothing was cut, or if noise moves averages a fifth as far as they lie apart, or farther.

        A BLURRED share of the squared spread is a ratio of .22 for two averages, and of .32 for many.
        """
        centers, sd = released["averages"]["centers"], released["averages"]["center_sd"]
        if len(centers) > 1:
            if float((sd**2).sum(axis=1).mean()) < self.BLURRED * spread(centers, np.ones(len(centers))):
                return ()
            return (
                f"{self.name}: noise moves the averages at least a fifth as far as they lie apart, so a single center "
                "may do as well. Use more rows, fewer columns, or narrower bounds if you know them.",
            )
        return (
            f"{self.name}: too little data for this epsilon: no cut was accepted, so one region and one center remain. "
            "Use more rows or fewer columns.",
        )

    def _signal(self, n_features: int, n_public: int) -> float:
        """Return N / (4 sqrt(d) s1), roughly the number of regions that stand out from noise."""
        share = 1 - self.count_share - self.split_share
        return (
            n_public * mu_of_epsilon(self.epsilon * share, self.resolved_delta(n_public)) / (4 * math.sqrt(n_features))
        )

    def steps(self, curator: Curator, domain: Domain, rng: np.random.Generator) -> Iterator[Step]:
        """Run Algorithm 1; yield one step per region, in the order of the recursion, then the averages."""
        histogram = HalfIntervalCounts.over(domain.box_z, self.interval)
        deepest = self.depth(curator.n_features, curator.n_public)
        count = curator.release("count", Count())
        smallest = max(float(count.value), 1.0) * (self.smallest_share or 2.0**-deepest)
        todo = [Region(1, ALL, float(count.value), 0, histogram.low, -histogram.low)]
        leaves: list[Region] = []
        sds = {0: count.sd}
        while todo:
            region = todo.pop()
            n, depth = region.noisy_count, region.depth
            seen: dict[str, Any] = {
                "node": region.node,
                "depth": depth,
                "low": region.low,
                "high": region.high,
                "noisy_count": n,
                "count_sd": sds[depth],
                "smallest": smallest,
                "intervals": histogram.intervals,
            }
            score = SplitScore(
                histogram,
                n,
                region.low,
                region.high,
                self.centreness,
                self.quantile,
                self.emptiness_weight,
                self.selection == "double",
            )
            candidates = int(score.inside.sum())
            if depth == deepest or n <= 1 or candidates == 0:
                why = "deepest level" if depth == deepest else "no rows left" if n <= 1 else "too narrow to cut"
                leaves.append(region)
                title = f"About {_size(n)} rows; {why}: a final region"
                yield Step("region", title, seen | {"column": -1, "accepted": False, "reason": why})
                continue
            column, at = divmod(curator.select("split", score, region.scope), histogram.intervals)
            position = float(histogram.cuts[column, at])
            scopes = curator.partition(region.scope, Below(column, position))
            noisy = [curator.release("count", Count(), scope) for scope in scopes]
            counts = [float(side.value) for side in noisy]
            sds[depth + 1] = noisy[0].sd
            accepted = min(counts) >= smallest
            if accepted:
                below, above = region.high.copy(), region.low.copy()
                below[column] = above[column] = position
                boxes = [(region.low, below), (above, region.high)]
                children = [
                    Region(2 * region.node + side, scopes[side], counts[side], depth + 1, *boxes[side])
                    for side in (0, 1)
                ]
                todo += children[::-1]
            else:
                leaves.append(region)
            why = "accepted" if accepted else "one side would hold too few rows, so it is rejected: a final region"
            yield Step(
                "region",
                f"About {_size(n)} rows; a cut across {domain.name(column)} at {domain.place(column, position)} leaves "
                f"{_size(counts[0])} and {_size(counts[1])}, counted with new noise: {why}",
                seen
                | {
                    "candidates": candidates,
                    "column": column,
                    "position": position,
                    "child_counts": np.array(counts),
                    "child_sd": noisy[0].sd,
                    "accepted": accepted,
                    "reason": "" if accepted else "one side too small",
                },
            )
        yield from self._averages(curator, domain, rng, leaves, sds)

    def _averages(
        self, curator: Curator, domain: Domain, rng: np.random.Generator, leaves: list[Region], sds: dict[int, float]
    ) -> Iterator[Step]:
        """Release one average per final region, relative to the region's middle; merge them if `exactly_k` is set."""
        centers, errors, middles = [], [], []
        weights = np.array([max(region.noisy_count, 1.0) for region in leaves])
        for region, weight in zip(leaves, weights, strict=True):
            middle = snap((region.low + region.high) / 2)
            half = np.maximum(region.high - middle, middle - region.low)
            reach = float(np.linalg.norm(middle)) + domain.radius  # the largest distance of a row from the middle
            noisy = curator.release("average", RegionSum(middle, half, reach), region.scope)
            centers.append(np.clip(middle + noisy.value / weight, region.low, region.high))
            errors.append(noisy.sd / weight)
            middles.append(middle)
        snapped = snap_toward_zero(domain.clip(np.array(centers)))
        parts = {"weights": weights, "weights_sd": np.array([sds[region.depth] for region in leaves])}
        parts |= {"sums_sd": np.array(errors) * weights, "origins": np.array(middles)}
        yield Step(
            "averages",
            f"{len(leaves)} region{'s give' if len(leaves) > 1 else ' gives'} {len(leaves)} noisy "
            f"average{'s' * (len(leaves) > 1)}: DPM chose the number of centers itself",
            {
                "centers": snapped,
                "weights": weights,
                "sd": np.array(errors),
                "nodes": np.array([region.node for region in leaves]),
                "low": np.array([region.low for region in leaves]),
                "high": np.array([region.high for region in leaves]),
                "coreset_points": snapped,
                "coreset_weights": weights,
                "coreset_sd": parts["weights_sd"],
                **declared(average_sd(snapped, **parts), REGIONS),
            },
        )
        if self.exactly_k:
            merged = snap_toward_zero(domain.clip(solve(snapped, weights, self.n_clusters, rng, jitter=self.interval)))
            spread = average_sd(merged, **parts, of=members(snapped, merged))
            yield Step(
                "merge",
                f"Weighted k-means on the averages gives {self.n_clusters} centers at no cost",
                {"centers": merged, "start": snapped, **declared(spread, REGIONS)},
            )


def _size(noisy_count: float) -> str:
    """Return a noisy count as text; a negative count is shown as 0, with its noisy value in parentheses."""
    return f"{noisy_count:,.0f}" if noisy_count >= 0 else f"0 ({noisy_count:,.0f} with noise)"
