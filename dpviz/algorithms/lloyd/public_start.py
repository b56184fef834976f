"""Start from rows that are public anyway, and correct the centers by one or two noisy Lloyd rounds (public start)."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar, Self

import numpy as np
from scipy.spatial.distance import cdist

from dpviz import validate
from dpviz.algorithms.base import ApproximateDP
from dpviz.algorithms.lloyd.family import NoisyLloyd
from dpviz.algorithms.pseudocode import Line
from dpviz.domain import Domain
from dpviz.params import param
from dpviz.postprocessing.center_sd import POOLED
from dpviz.postprocessing.weighted import solve
from dpviz.privacy.accounting import mu_of_epsilon
from dpviz.privacy.plan import Plan, gaussians
from dpviz.privacy.queries import NearestSums, Query
from dpviz.trace import Step

__all__ = ["PublicStart"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class PublicStart(NoisyLloyd, ApproximateDP):
    """Public start: centers of rows that are public anyway, corrected by two noisy Lloyd rounds on the private rows.

    Many owners have rows that anybody may see: an open survey, a sample that was published, an old year. k-means on
    them costs no privacy and gives the first centers. Then each private row goes to its nearest center and pulls it; a
    row farther away than a radius, which also follows from the public rows, pulls as if it lay at the radius. The whole
    budget goes into one or two such rounds, so there is little noise in each. A center whose noisy count is not above
    its noise stays where the public rows put it, and of every move only the share is kept that noise does not explain.
    That rows are public is declared, as bounds are: nothing checks it, and no promise covers these rows.

    On 12 generated sets with a twentieth as many public rows as private ones, the loss over ε .25 to 4 was 1.00 to 1.14
    times KMeans'. With public rows that had shifted by three times the rows' distance from their centers, it was 1.09
    to 1.51 times, and NSM was better in two families of four (lab/benchmarks/results/public_start.md).

    Parameters
    ----------
    n_clusters : int, in [1, 256]
        Number of clusters k. Public.
    epsilon : float, in [0.01, 100]
        Total privacy budget epsilon.
    delta : float or None, in [1e-12, 0.5]
        Total delta; None means 1/(100 n_public).
    iterations : int, in [1, 7]
        Number of private rounds T.
    radius_share : float or None, in [0.001, 1]
        The radius as a share of the domain's radius R. With public rows, None means three times their root mean square
        distance from their centers. Without, it means R in the first round and FastLloyd's radius .8 R / k^(1/d) later.
    init, boundary, dead_cluster
        Initial centers without public rows, the rule at the bounds, and the rule for a cluster whose noisy count is not
        above twice its standard deviation.

    The field `public_centers`, k points of d numbers in the columns' units, is a public fact about the data like the
    bounds. `with_public_rows` computes it, and every trace and claim has it.

    Formal guarantee
    ----------------
    (epsilon, delta)-DP for one private row added or removed, and mu-GDP with the mu of the analytic Gaussian mechanism.
    Public: all parameters, with the public centers, and the domain (bounds, radius R, nominal size N). Each of the T
    rounds releases the sums of clipped offsets (l2 sensitivity r) and the counts (sensitivity 1) jointly and costs
    mu^2 / T, divided as sqrt(4d) : 1. Everything else depends on released values only. The public rows have no promise:
    whoever is among them is as visible as they are.

    Steps
    -----
    packing            released: centers (k, d), public bool
    noisy-iteration    released: centers (k, d), start (k, d), raw (k, d) before the radius clip, clipped (k, d)
                       after it, noisy_counts (k,), dead (k,) bool, radius, constrained True, pulls_from_afar True,
                       sums_sd, counts_sd, round, rounds, center_sd (k, d), center_noise;
                       hidden: sums (k, d), counts (k,)

    Deviations from the paper
    -------------------------
    FedDP-KMeans [1] is federated: its servers have the public rows, which are projected together with the clients'
    rows, and its clients' noisy counts weigh them before they are clustered. Here one k-means on the public rows is the
    start, and no budget goes into weights. Rows beyond the radius are clipped, not left out: in a trial on iris, whose
    public rows were few, leaving them out gave 3.2 times KMeans' loss, and clipping them 1.8 times.

    References
    ----------
    .. [1] Scott, Lampert and Saulpic, "Differentially Private Federated k-Means Clustering with Server-Side Data",
       ICML 2025.
    .. [2] Diaa, Humphries and Kerschbaum, "FastLloyd", 2025, Figure 1 and Section 5.1.

    Examples
    --------
    >>> import numpy as np
    >>> from dpviz.domain import Domain
    >>> X = np.repeat([[-0.5, 0.0], [0.5, 0.0]], 500, axis=0)
    >>> domain = Domain.box(-1, 1, 2, n_public=1000)
    >>> method = PublicStart(n_clusters=2, epsilon=2.0).with_public_rows(X[::100] + 0.1, domain)
    >>> np.abs(np.sort(method.run(X, domain=domain, seed=0).cluster_centers[:, 0]).round(1)).tolist()
    [0.5, 0.5]
    """

    name: ClassVar[str] = "Public start"
    slug: ClassVar[str] = "public-start"
    tagline: ClassVar[str] = "k-means on rows that are public anyway, then two noisy rounds on the private rows."
    takes_public_rows: ClassVar[bool] = True
    NOISE: ClassVar[str] = POOLED
    ROUNDS: ClassVar[int] = 2
    TYPICAL: ClassVar[float] = 3.0  # the radius, in root mean square distances of public rows from their centers
    FLOOR: ClassVar[float] = 1e-3  # smallest share of the domain's radius
    LATER: ClassVar[float] = 0.8  # FastLloyd's alpha, for later rounds without public rows
    EVIDENT: ClassVar[float] = 2.0  # a count that is not so many standard deviations above 0 moves no center
    FAR: ClassVar[float] = 0.25  # a last move of more than this share of the radius raises a doubt
    AUDIT: ClassVar[dict[str, Any]] = {"iterations": 1, "radius_share": 0.25}
    CODE: ClassVar[tuple[Line, ...]] = (
        Line("run k-means on the public rows (none: spread", ("packing",)),
        Line("  k centers over the public bounds)", ("packing",)),
        Line("repeat for a few rounds:", ("noisy-iteration",)),
        Line("  assign each row to its nearest center", ("noisy-iteration",), "update", ("before",)),
        Line("  clip its offset from it to the radius", ("noisy-iteration",), "update", ("before",)),
        Line("  add up offsets and count, with noise", ("noisy-iteration",), "update"),
        Line("  divide; keep what noise does not explain", ("noisy-iteration",), at=("read",), events=("noise",)),
        Line("  too few rows: the center stays", ("noisy-iteration",), given="dead"),
        Line("  bring centers back into the bounds", ("noisy-iteration",)),
    )

    iterations: int = param(
        ROUNDS,
        low=1,
        high=7,
        help="Number of private rounds. The budget is divided among them, so few are best.",
    )
    radius_share: float | None = param(
        None,
        low=FLOOR,
        high=1.0,
        advanced=True,
        kind="float",
        help="Radius beyond which a row pulls no harder, as a share of the domain's radius. By default it follows from "
        "the public rows.",
    )
    dead_cluster: str = param(
        "keep",
        choices=("jump", "keep"),
        advanced=True,
        help="If a noisy count is not above its noise, divide by it anyway or leave the center where it is.",
    )
    public_centers: tuple[tuple[float, ...], ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        points = self.public_centers
        if points is None:
            return
        whole = isinstance(points, tuple) and all(isinstance(point, tuple) for point in points)
        if not whole or len({len(point) for point in points}) != 1 or not all(points):
            raise ValueError(
                f"{self.name}: public_centers must be points with equally many numbers, as `with_public_rows` gives."
            )
        if not all(validate.is_finite(value) for point in points for value in point):
            raise ValueError(f"{self.name}: public_centers must hold finite numbers.")

    def with_public_rows(self, X: Any, domain: Domain) -> Self:
        """Return this method with first centers, and a radius unless one is set, from public rows (m, d).

        Rows are in the units of the domain; those with a missing cell are left out. Nothing private is read, and the
        same rows always give the same centers.

        Raises
        ------
        TypeError
            If a cell is not a number.
        ValueError
            If the rows have other columns, lie outside the bounds, or are fewer than the centers.
        """
        rows = validate.finite_matrix(f"{self.name}, public rows", X, n_features=domain.n_features)
        rows = rows[np.isfinite(rows).all(axis=1)]
        if beyond := int(domain.outside(rows).sum()):
            raise ValueError(
                f"{self.name}: {beyond:,} of {len(rows):,} public rows lie outside the bounds; leave them out, or "
                "declare bounds that hold them."
            )
        Z = domain.clip(domain.normalize(rows))
        n_distinct, k = len(np.unique(Z, axis=0)), self.n_clusters
        if n_distinct < k:
            raise ValueError(
                f"{self.name}: the public rows must be at least k = {k} different ones without a missing cell; got "
                f"{n_distinct:,}."
            )
        centers = solve(Z, np.ones(len(Z)), k, np.random.default_rng(0), jitter=0.0)
        share = self.radius_share
        if share is None and len(Z) >= 2 * k:
            squares = cdist(Z, centers, "sqeuclidean").min(axis=1).sum() / (len(Z) - k)
            if squares > 0:  # public rows that are all alike say nothing about distances
                share = float(f"{np.clip(self.TYPICAL * math.sqrt(squares) / domain.radius, self.FLOOR, 1.0):.4g}")
        points = tuple(tuple(map(float, point)) for point in domain.inside(centers))
        return dataclasses.replace(self, public_centers=points, radius_share=share)

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Price T joint releases of sums and counts with equal shares of mu^2, divided as sqrt(4d) : 1."""
        mu = mu_of_epsilon(self.epsilon, self.resolved_delta(n_public))
        rounds, q = self.iterations, math.sqrt(4 * n_features)
        return Plan(
            {
                "update.sums": gaussians(mu * math.sqrt(q / (1 + q)), [1] * rounds),
                "update.counts": gaussians(mu * math.sqrt(1 / (1 + q)), [1] * rounds),
            }
        )

    def check_domain(self, domain: Domain, n_public: int) -> None:
        """Refuse public centers of another number, with other columns, or outside the bounds."""
        super().check_domain(domain, n_public)
        if self.public_centers is None:
            return
        found = len(self.public_centers), len(self.public_centers[0])
        if found != (self.n_clusters, domain.n_features):
            raise ValueError(
                f"{self.name}: public_centers must be {self.n_clusters} points of {domain.n_features} columns; got "
                f"{found[0]} of {found[1]}. Compute them again from the public rows."
            )
        if domain.outside(np.array(self.public_centers)).any():
            raise ValueError(f"{self.name}: public_centers must lie inside the bounds.")

    def work(self, n_features: int, n_public: int) -> float:
        """Return a rough number of operations of 10 ns, from public values: releases, as no centers are packed."""
        return super(NoisyLloyd, self).work(n_features, n_public)

    def advice(self, n_features: int, n_public: int) -> tuple[str, ...]:
        """Return warnings that follow from public values: where the first centers come from."""
        words = (
            f"{self.name}: no public rows are given, so the first centers are spread over the bounds, and so few "
            "rounds seldom suffice. Give rows that are public anyway, or choose another method."
        )
        if self.public_centers is not None:
            words = (
                f"{self.name}: the first centers come from rows that were declared public. Nothing checks that they "
                "are, and the promise does not cover them."
            )
        return (*super().advice(n_features, n_public), words)

    def doubts(self, released: Any, domain: Domain) -> tuple[str, ...]:
        """Return warnings if most centers never moved, or moved so far that the private rows lie elsewhere."""
        end = released["noisy-iteration"]
        words = [*super().doubts(released, domain)]
        if 2 * end["dead"].sum() > self.n_clusters and self.dead_cluster == "keep":
            words.append(
                f"{self.name}: {end['dead'].sum()} of {self.n_clusters} noisy counts are not above their noise, so "
                "these centers stay where they were. Use more rows, fewer centers or a larger epsilon."
            )
        weight = np.where(end["dead"], 0.0, np.maximum(end["noisy_counts"], 0.0))
        moved = np.linalg.norm(end["clipped"] - end["start"], axis=1)
        if self.public_centers is not None and weight @ moved > self.FAR * end["radius"] * weight.sum():
            words.append(
                f"{self.name}: even in the last round, centers moved by more than a quarter of the radius, so the "
                "private rows seem to lie elsewhere than the public ones. Use other public rows or another method."
            )
        return tuple(words)

    def first(self, n_features: int, domain: Domain, rng: np.random.Generator) -> Step:
        """Return the step of the initial centers: those of the public rows or, without any, as in the family."""
        if self.public_centers is None:
            step = super().first(n_features, domain, rng)
            return dataclasses.replace(step, released={**step.released, "public": False})
        centers = self._inside(domain.clip(domain.normalize(np.array(self.public_centers))), domain)
        title = f"{self.n_clusters} centers come from rows that were declared public; no private row is read"
        return Step("packing", title, {"centers": centers, "public": True})

    def length(self, n_features: int, n_public: int) -> int:
        """Return the number of rounds T."""
        return self.iterations

    def reach(self, iteration: int, domain: Domain) -> float | None:
        """Return the radius: the parameter's or, without public rows, R at first and FastLloyd's afterwards."""
        if self.radius_share is not None:
            return self.radius_share * domain.radius
        later = min(self.LATER / self.n_clusters ** (1 / domain.n_features), 1.0)
        return domain.radius * (1.0 if iteration == 0 else later)

    def query(self, centers: np.ndarray, reach: float | None, domain: Domain) -> Query:
        """Return the query for clipped offsets and counts."""
        return NearestSums(centers, domain.radius if reach is None else reach, relative=True)

    def few(self, noisy_counts: np.ndarray, sd: float) -> np.ndarray:
        """Return which clusters (k,) have a noisy count that is not above its noise."""
        return noisy_counts <= max(self.EVIDENT * sd, 1.0)

    def gain(self, moves: np.ndarray, sd: np.ndarray) -> np.ndarray | float:
        """Return the share (k, 1) of each move that noise does not explain (James and Stein's positive part)."""
        squares, noise = (moves**2).mean(axis=1), sd**2
        return (np.maximum(squares - noise, 0.0) / np.maximum(squares, 1e-300))[:, None]

    def beyond(self) -> dict[str, Any]:
        """Return the entry that says that a row beyond the radius counts and pulls as if it lay at the radius."""
        return {"pulls_from_afar": True}
