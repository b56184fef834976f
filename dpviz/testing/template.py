"""Run noisy Lloyd steps: replace them with the paper's method."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from dpviz.algorithms.base import Algorithm
from dpviz.algorithms.pseudocode import Line
from dpviz.domain import Domain
from dpviz.geometry import pack_cube, snap
from dpviz.params import param
from dpviz.privacy.costs import Laplace
from dpviz.privacy.curator import Curator
from dpviz.privacy.plan import Plan
from dpviz.privacy.queries import NearestSums
from dpviz.trace import Step


@dataclasses.dataclass(frozen=True, kw_only=True)
class MyMethod(Algorithm):
    """Take a few Lloyd steps from a packing; every step asks for noisy sums and counts.

    Parameters
    ----------
    n_clusters : int, in [1, 256]
        Number of clusters k. Public.
    epsilon : float, in [0.01, 100]
        Budget of the whole run.
    rounds : int, in [1, 20]
        Number of Lloyd steps; each gets an equal share of the budget.

    Formal guarantee
    ----------------
    epsilon-DP for one row added or removed: every step spends epsilon / rounds, half on sums and half on counts.

    Steps
    -----
    my-round    released: centers (k, d), noisy_counts (k,); hidden: true sums and counts

    Deviations from the paper
    -------------------------
    None yet.

    References
    ----------
    .. [1] Name the paper here.

    Examples
    --------
    >>> MyMethod(n_clusters=3, rounds=4).releases(2, 1000)
    8
    """

    name: ClassVar[str] = "My method"
    slug: ClassVar[str] = "my-method"
    tagline: ClassVar[str] = "Takes a few noisy Lloyd steps from spread-out centers."
    CODE: ClassVar[tuple[Line, ...]] = (
        Line("spread k centers over the public box", ("my-round",), at=("first",)),
        Line("for every round:", ("my-round",)),
        Line("  assign each row to its nearest center", ("my-round",), "update"),
        Line("  add up the rows of each center, with noise", ("my-round",), "update"),
        Line("  count them, with noise", ("my-round",), "update"),
        Line("  divide: noisy sums by noisy counts", ("my-round",)),
    )

    epsilon: float = param(1.0, low=0.01, high=100, log=True, help="Privacy budget for the whole run.")
    rounds: int = param(5, low=1, high=20, help="Number of Lloyd steps. Each step costs an equal share of the budget.")

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Price the releases of a run from parameters and public facts alone."""
        share = (Laplace(self.epsilon / self.rounds / 2),) * self.rounds
        return Plan({"update.sums": share, "update.counts": share})

    def steps(self, curator: Curator, domain: Domain, rng: np.random.Generator) -> Iterator[Step]:
        """Ask the curator for releases under the plan's labels; everything computed from the answers is free."""
        centers = snap(domain.clip(pack_cube(self.n_clusters, curator.n_features, 1.0, rng) * domain.box_z))
        for round_ in range(self.rounds):
            noisy = curator.release("update", NearestSums(centers, domain.radius))
            sums, counts = noisy.value["sums"], noisy.value["counts"]
            averages = sums / np.maximum(counts, 1.0)[:, None]
            centers = snap(domain.clip(np.where(counts[:, None] > 1, averages, centers)))
            title = f"Round {round_ + 1} of {self.rounds}"
            yield Step("my-round", title, {"centers": centers.copy(), "noisy_counts": counts})
