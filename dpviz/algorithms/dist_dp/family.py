"""Base class of the rho-distance family: parameters, the promise about moves, noisy points and the final k-means."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar

import numpy as np
from sklearn.cluster import KMeans

from dpviz import params
from dpviz.algorithms.base import ApproximateDP, delta
from dpviz.domain import Domain
from dpviz.params import param
from dpviz.postprocessing.center_sd import POINTS, average_sd, declared, members
from dpviz.postprocessing.medians import OBJECTIVES, medians_on
from dpviz.postprocessing.weighted import solve, work_of_solve, work_of_starts
from dpviz.privacy.curator import Curator, Noisy
from dpviz.privacy.guarantee import Neighboring, Notion
from dpviz.privacy.queries import Positions
from dpviz.trace import Step

__all__ = ["Moves"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Moves(ApproximateDP):
    """Base class of the family: (epsilon, delta) for moves of one row by at most rho; n is public."""

    neighboring: ClassVar[Neighboring] = Neighboring.MOVE_RHO
    notion: ClassVar[Notion] = Notion.RHO
    COMPANION: ClassVar[str] = "noisy_points"
    LIMIT: ClassVar[float] = 2.0  # noisy points are clipped to [-2, 2]^d (Appendix E.1 of the paper)

    FEW: ClassVar[int] = 4_000  # up to this many points, k-means also tries swaps, which take too long for more points

    delta: float | None = delta(Neighboring.MOVE_RHO)
    rho_distance: float = param(
        0.02,
        low=0.0,
        log=True,
        help="The longest move of a row that stays hidden, in units of the largest half-width of the domain. "
        "Not protected: longer moves, who is in the data, and in which part of the domain they are.",
    )
    objective: str = param(
        "means",
        choices=OBJECTIVES,
        advanced=True,
        help="Objective of the centers: the sum of squared distances (k-means) or of distances (k-median).",
    )

    def __post_init__(self) -> None:
        params.check(self.name, self)
        if self.rho_distance <= 0:
            raise ValueError(
                f"{self.name}: rho_distance must be > 0; got {self.rho_distance:g}: "
                "a promise about moves of length 0 protects nothing."
            )

    def advice(self, n_features: int, n_public: int) -> tuple[str, ...]:
        """Return the base class's warnings, and one if no row can move as far as rho."""
        sentences = super().advice(n_features, n_public)
        diameter = 2 * math.sqrt(n_features)
        if self.rho_distance > diameter:
            sentences += (
                f"{self.name}: rho_distance = {self.rho_distance:g} exceeds the domain's diameter {diameter:.3g} and "
                "is reduced to it: this is ordinary DP for one row changed to any value.",
            )
        return sentences

    def check_domain(self, domain: Domain, n_public: int) -> None:
        """Raise a ValueError also if each column has its own scale or weight: rho is then not a single distance.

        Where an algorithm with ordinary DP runs instead, no row is moved by rho, so scales may differ.
        """
        super().check_domain(domain, n_public)
        if np.ptp(domain.half_width) > 0 and self.runs(domain.n_features, n_public) is self:
            one, of = ("weight", "weights") if domain.weights else ("scale", "scales")
            raise ValueError(
                f"{self.name}: the domain must have one {one} for all columns, because rho is one distance; with "
                f"separate {of}, a move of rho has a different length in each column."
            )

    def work(self, n_features: int, n_public: int) -> float:
        """Return a rough number of operations of 10 ns, from public values: releases, and k-means on all points."""
        search = work_of_solve if n_public <= self.FEW else work_of_starts
        return super().work(n_features, n_public) + search(n_public, self.n_clusters, n_features)

    def noisy_points(self, curator: Curator) -> Noisy:
        """Release every row with Gaussian noise under the label "points"."""
        query = Positions(curator.rho_distance)
        return curator.perturb_rows("points", query, name=self.COMPANION, limit=self.LIMIT)

    def show_points(self, curator: Curator, noisy: Noisy) -> Step:
        """Return the step with the noisy points."""
        released = {"noisy_points": noisy.value, "noise_sd": noisy.sd, "rho": curator.rho_distance}
        times = noisy.sd / curator.rho_distance
        return Step("noisy-points", f"Noisy points: noise moves every row by ±{times:.1f} rho per coordinate", released)

    def finish(
        self,
        points: np.ndarray,
        weights: np.ndarray,
        sd: np.ndarray,
        domain: Domain,
        rng: np.random.Generator,
        *,
        sums_sd: np.ndarray | float,
        origins: np.ndarray,
    ) -> dict[str, Any]:
        """Cluster the released weighted points; return centers (k, d) inside the domain, and the points as a coreset.

        `sums_sd`, (m,) or one value for all, is the standard deviation of a point times its weight, that is, of a sum
        of offsets from `origins` (m, d). The noise of each mean follows from `sd` and `sums_sd`; for medians no formula
        is known.
        """
        if len(points) <= self.FEW:
            centers = solve(points, weights, self.n_clusters, rng, jitter=0.01 * domain.radius)
        else:
            model = KMeans(self.n_clusters, n_init=10, random_state=int(rng.integers(2**31)))
            centers = model.fit(points, sample_weight=weights).cluster_centers_
        if self.objective == "medians":
            centers = medians_on(points, weights, centers)
        centers = domain.clip(centers)
        released = {"centers": centers, "coreset_points": points, "coreset_weights": weights, "coreset_sd": sd}
        if self.objective == "medians":
            return released
        spread = average_sd(centers, weights, sd, sums_sd, origins=origins, of=members(points, centers))
        return released | declared(spread, POINTS)
