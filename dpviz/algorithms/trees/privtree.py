"""Halve the boxes that hold many rows, to any depth at one price, then cluster the leaves (PrivTree)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from dpviz.algorithms.base import Algorithm
from dpviz.algorithms.pseudocode import Line
from dpviz.domain import Domain
from dpviz.geometry import snap
from dpviz.params import param
from dpviz.postprocessing.center_sd import CELLS, average_sd, declared, members
from dpviz.postprocessing.weighted import occupied, solve, spread, work_of_solve
from dpviz.privacy.costs import Halving, Laplace
from dpviz.privacy.curator import Curator
from dpviz.privacy.plan import Plan
from dpviz.privacy.queries import Halvings
from dpviz.trace import Step

__all__ = ["PrivTree"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class PrivTree(Algorithm):
    """PrivTree: a grid that is fine where rows are and coarse where there are none.

    The public box is halved, then its halves, and so on, wherever a box seems to hold enough rows. The deeper a box,
    the more is subtracted from its count before noise is added, so the price does not grow with the depth, and the
    depth need not be fixed in advance. Then the rows of every leaf are counted, with noise; the leaves' centers with
    these counts are a small weighted data set, on which k-means is free.

    Parameters
    ----------
    n_clusters : int, in [1, 256]
        Number of clusters k. Public.
    epsilon : float, in [0.01, 100]
        Total privacy budget epsilon.
    tree_share : float, in [0.05, 0.95]
        Share of epsilon for the tree; the rest is for the leaves' counts.
    threshold : float, in [0, 100000]
        Value that a box's noisy count, minus the decay of its depth, must exceed for a halving (the paper's theta).
    max_depth : int, in [1, 24]
        Maximum number of halvings from the root to a box. Public.

    Formal guarantee
    ----------------
    epsilon-DP for one row added or removed. Public: all parameters and the domain. The tree costs epsilon tree_share,
    whatever its depth (`Halving`, Theorem 3.1): a row raises the counts along one path; a box whose biased count is at
    its floor costs nothing, and from the last box above its floor up to the root the costs fall geometrically. The
    leaves are disjoint, so their Laplace counts have sensitivity 1. The boxes follow from the released halvings, and
    everything else from released values.

    Steps
    -----
    halving-level      released: nodes (m,), halved (m,) bool, low (m, d), high (m, d), level; hidden: true counts
    halving-centers    released: centers (k, d), leaves (m',), leaf_counts (m',), counts_sd, coreset_points (c, d),
                       coreset_weights (c,), coreset_sd (c,), center_sd (k, d), center_noise; hidden: true counts

    Deviations from the paper
    -------------------------
    Boxes are halved across their widest column instead of across all columns (fanout 2, not 2^d), so that the algorithm
    runs with any number of columns; scale 3 / epsilon and the decay scale ln 2 follow from the fanout. The depth is
    limited to 24, which stops branches that the decay has not stopped. The paper publishes counts of all boxes for
    range queries; k-means on the leaves' centers is ours. A negative noisy count gets weight 0.

    References
    ----------
    .. [1] Zhang, Xiao and Xie, "PrivTree: a differentially private algorithm for hierarchical decompositions", SIGMOD
       2016, Algorithm 2, Theorem 3.1; arXiv 1601.03229.

    Examples
    --------
    >>> import numpy as np
    >>> from dpviz.domain import Domain
    >>> X = np.repeat([[-0.5, 0.0], [0.5, 0.0]], 500, axis=0)
    >>> trace = PrivTree(n_clusters=2, epsilon=4.0).run(X, domain=Domain.box(-1, 1, 2, n_public=1000), seed=0)
    >>> sorted(trace.cluster_centers[:, 0].round(1).tolist())
    [-0.5, 0.5]
    """

    name: ClassVar[str] = "PrivTree"
    slug: ClassVar[str] = "privtree"
    tagline: ClassVar[str] = "Halves boxes wherever rows are, at one price for any depth; clusters the leaves."
    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {"large leaves": {"threshold": 60.0}}

    LOST: ClassVar[float] = 1.5  # `advice` expects leaves to stop this many halvings short of depth log2(n epsilon).
    # `advice` warns if a leaf's squared half-diagonal will be at least this, in z units; see lab/benchmarks/cliffs.py.
    COARSE: ClassVar[float] = 2.2
    # `doubts` warns if the leaves' squared half-diagonals exceed this multiple of their squared spread; see cliffs.py
    BLURRED: ClassVar[float] = 1.05
    CODE: ClassVar[tuple[Line, ...]] = (
        Line("begin with one box: the public bounds", ("halving-level",), at=("first",), events=("ask",)),
        Line("for every box, depth by depth:", ("halving-level",)),
        Line("  count its rows, minus a little per level", ("halving-level",), "tree", ("before",), events=("ask",)),
        Line("  add noise; above the threshold? Halve it", ("halving-level",), "tree", ("before",), events=("halve",)),
        Line("count the rows of every leaf, with noise", ("halving-centers",), "leaves", events=("count", "noise")),
        Line("leaves without a positive count are dropped", ("halving-centers",), events=("search",)),
        Line("weighted k-means on the leaves' middles", ("halving-centers",), events=("search",)),
    )
    AUDIT: ClassVar[dict[str, Any]] = {"threshold": 2.0, "max_depth": 9}

    epsilon: float = param(1.0, low=0.01, high=100, log=True, help="Privacy budget for the whole run.")
    tree_share: float = param(0.5, low=0.05, high=0.95, advanced=True, help="Share of ε for the tree.")
    threshold: float = param(
        0.0, low=0.0, high=100_000.0, advanced=True, help="θ: boxes with a larger biased, noisy count are halved."
    )
    max_depth: int = param(24, low=1, high=24, advanced=True, help="Maximum number of halvings from the root to a box.")

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Price the tree and one histogram of the leaves."""
        tree = self.epsilon * self.tree_share
        return Plan({"tree": (Halving(tree),), "leaves": (Laplace(self.epsilon - tree),)})

    def advice(self, n_features: int, n_public: int) -> tuple[str, ...]:
        """Return the base class's warnings, and one if leaves will be as wide as the domain."""
        sentences = super().advice(n_features, n_public)
        depth = float(np.clip(np.log2(max(n_public * self.epsilon, 1.0)) - self.LOST, 0, self.max_depth))
        if n_features * 4 ** (-depth / n_features) < self.COARSE:
            return sentences
        return (
            *sentences,
            f"{self.name}: at this epsilon and n, boxes are halved only about {depth:.0f} times, too rarely for "
            f"{n_features} column{'s' * (n_features > 1)}: leaves stay as wide as most of the data. Use fewer columns.",
        )

    def doubts(self, released: Mapping[str, Mapping[str, Any]], domain: Domain) -> tuple[str, ...]:
        """Return a warning if leaves are as wide as the distances that they should resolve."""
        end = released["halving-centers"]
        tree = Halvings(domain.box_z, self.max_depth, self.threshold)
        nonempty, weights = occupied(end["leaf_counts"])
        boxes = [tree.box(int(node)) for node in end["leaves"][nonempty]]
        wide = np.array([((high - low) ** 2).sum() / 4 for low, high in boxes])
        if np.average(wide, weights=weights) <= self.BLURRED * spread(end["coreset_points"], weights):
            return ()
        return (
            f"{self.name}: the leaves that hold rows are as wide as the distances between them, so centers say little "
            "about groups. Use fewer columns, more rows, or narrower bounds if you know them.",
        )

    def work(self, n_features: int, n_public: int) -> float:
        """Return a rough number of operations of 10 ns: every level reads all rows, and leaves go to k-means."""
        return 1e5 + 80.0 * n_public * self.max_depth + work_of_solve(n_public / 15, self.n_clusters, n_features)

    def steps(self, curator: Curator, domain: Domain, rng: np.random.Generator) -> Iterator[Step]:
        """Grow the tree (one step per level), count its leaves, cluster them."""
        tree = Halvings(domain.box_z, self.max_depth, self.threshold)
        nodes, halved = curator.grow("tree", tree)
        depth = np.array([int(node).bit_length() - 1 for node in nodes])
        for level in range(int(depth.max()) + 1):
            now = depth == level
            boxes = [tree.box(int(node)) for node in nodes[now]]
            cut = int(halved[now].sum())
            yield Step(
                "halving-level",
                f"Depth {level}: {cut:,} of {int(now.sum()):,} boxes seem to hold enough rows and are halved",
                {
                    "nodes": nodes[now],
                    "halved": halved[now],
                    "low": np.array([low for low, _ in boxes]),
                    "high": np.array([high for _, high in boxes]),
                    "level": level,
                },
            )
        leaves = nodes[~halved]
        noisy = curator.release("leaves", tree.counts(leaves))
        counts = noisy.value
        nonempty, weights = occupied(counts)
        middles = np.array([sum(tree.box(int(node))) / 2 for node in leaves[nonempty]])
        centers = snap(domain.clip(solve(middles, weights, self.n_clusters, rng, jitter=1e-3)))
        spread = average_sd(centers, weights, noisy.sd, 0.0, origins=middles, of=members(middles, centers))
        yield Step(
            "halving-centers",
            f"{len(leaves):,} leaves are counted (±{noisy.sd:.3g} each); "
            f"k-means uses the {len(middles):,} with a positive count",
            {
                "centers": centers,
                "leaves": leaves,
                "leaf_counts": counts,
                "counts_sd": noisy.sd,
                "coreset_points": middles,
                "coreset_weights": weights,
                "coreset_sd": np.full(len(middles), noisy.sd),
                **declared(spread, CELLS),
            },
        )
