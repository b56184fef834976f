"""NSM, noisy-summary means: buy one rich noisy summary, think hard about it for free, then correct twice. Ours."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Generator, Iterator
from typing import Any, ClassVar

import numpy as np

from dpviz.algorithms.base import ApproximateDP
from dpviz.domain import Domain
from dpviz.geometry import clip_ball, random_projection, snap, sphere_pack
from dpviz.params import param
from dpviz.postprocessing.weighted import lloyd_on, solve
from dpviz.privacy.accounting import mu_of_epsilon
from dpviz.privacy.curator import Curator, Noisy
from dpviz.privacy.plan import Gaussian, Plan, gaussians
from dpviz.privacy.queries import NearestScatter, NearestSums, NormHistogram, Projection, SecondMoment
from dpviz.trace import Step

__all__ = ["NSM"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class NSM(ApproximateDP):
    """Noisy-summary means: one rich noisy summary of the rows, free thinking on it, two noisy corrections.

    Everything computed from released numbers is free. So most of the budget buys a summary that is worth thinking
    about: how long rows are, in which directions they spread, how many lie near each of many candidates and where
    their average is. On that summary k-means is restarted and repaired as often as we like, at no cost. Two noisy
    Lloyd steps on the rows then correct what the summary blurred.

    Parameters
    ----------
    n_clusters : int, in [1, 256]
        Number of clusters k. Public.
    epsilon : float, in [0.01, 100]
        Total privacy budget epsilon.
    delta : float or None, in [1e-12, 0.5]
        Total delta; None means n_public^-1.1.
    radius_share : float, in [0, 0.2]
        Share of mu^2 for the norm histogram, which finds how much too wide the declared radius is. It is asked only
        where its noise is below 1 % of the nominal n.
    histogram_share, first_share : float or None, in [0.05, 0.6]
        Shares (of the rest) for the candidates, and for the second moment (d > 3) or the zoom (d <= 3). None: .2 and
        .2 for d > 3, .3 and .4 for d <= 3. What is left is split evenly between the two Lloyd steps.
    scatter_share : float, in [0, 0.3]
        Share (of what the radius left) for every cluster's scatter in the first Lloyd step. It is asked only with
        4 to 64 columns, at least 5 centers, and where n mu sqrt(share) / k is at least 3.

    Formal guarantee
    ----------------
    (epsilon, delta)-DP and mu-GDP for one row added or removed. Public: all parameters and the domain with its nominal
    N; nothing reads the number of rows. Every release is Gaussian and conditional on earlier released values:
    norm histogram (l2 sensitivity 1), second moment (|x x^T|_F = |x|^2), counts (1) with clipped sums (the clipping
    radius) of the candidates, of the zoom and of each Lloyd step; scatter (the clipping radius squared); a row touches
    one candidate only. The squares of sensitivity / noise add up to mu^2. Proven: the guarantee. Heuristic: everything
    done with the released values.

    Steps
    -----
    radius        released: noisy_counts (16,), edges (16,), noise_sd, radius
    moment        released: moment (p, p), spread (p,) eigenvalues, directions (p, p), noise_sd
    candidates, zoom  released: population (M, p), noisy_votes (M,), noise_sd, kept (M,) bool, threshold,
                  means (m, p), weights (m,) of the kept ones (zoom for d <= 3 only)
    solve         released: centers (k, d), coreset_points (m, d), coreset_weights (m,), coreset_sd (m,);
                  sometimes: start (k, p), projected_centers (k, p) instead of centers and coreset where projected
    correction    released: centers (k, d), start (k, d), noisy_counts (k,), radius, moved (k,) bool;
                  sometimes: split (k,) bool (where scatter was asked, centers that took part in a split and a merge)

    Hidden beside each: the true statistic of the release.

    Deviations from the paper
    -------------------------
    There is no paper: the algorithm is ours. The shrinking of the last steps that the prototype had was a wash in its
    ablation (geometric mean 1.203 without, 1.207 with) and is dropped. The scatter, the split it allows and the finer
    clipping radius of the zoom are new (with the prototype's radius 100 small clusters drown in the zoom's noise).
    With more than 64 columns the summary is taken in a public random projection to 32, because the second moment's
    cost grows as d^2, and the first correction averages rows in all columns. Constants were chosen on the benchmark
    sets named in the project's benchmarks, some of them (the clipping multiple of the corrections, the M/k keep
    threshold, the zoom's radius, when scatter is asked) from observed losses, so reported gains are optimistic. It
    can lose to published methods at single budgets: with N mu / (k sqrt(d)) below about 5 nothing works, and `advice`
    says so.

    References
    ----------
    .. [1] Balle and Wang, "Improving the Gaussian mechanism for differential privacy", ICML 2018.
    .. [2] Dong, Roth and Su, "Gaussian differential privacy", JRSS B 84(1), 2022: composition.

    Examples
    --------
    >>> import numpy as np
    >>> from dpviz.domain import Domain
    >>> X = np.repeat([[-0.5, 0.0], [0.5, 0.0]], 500, axis=0)
    >>> trace = NSM(n_clusters=2, epsilon=2.0).run(X, domain=Domain.box(-1, 1, 2, n_public=1000), seed=0)
    >>> sorted(trace.cluster_centers[:, 0].round(1).tolist())
    [-0.5, 0.5]
    """

    name: ClassVar[str] = "NSM (ours)"
    slug: ClassVar[str] = "nsm"
    tagline: ClassVar[str] = "One rich noisy summary, then think hard: everything after the noise is free."

    learns_sensitivity: ClassVar[bool] = True  # clipping radii follow released values; the cost does not

    BINS: ClassVar[int] = 16
    CROWD: ClassVar[int] = 5  # from so many centers on, one of them may have missed its cluster
    FLAT: ClassVar[int] = 3  # up to here candidates are packed and zoomed into; above they follow the second moment
    WIDE: ClassVar[int] = 64  # above, the summary is taken in a projection
    PROJECTED: ClassVar[int] = 32

    radius_share: float = param(
        0.03, low=0.0, high=0.2, advanced=True, help="Share of the budget for learning how far rows reach."
    )
    histogram_share: float | None = param(
        None,
        low=0.05,
        high=0.6,
        kind="float",
        advanced=True,
        help="Share for the candidates. Empty: .2, or .3 up to 3-D.",
    )
    first_share: float | None = param(
        None,
        low=0.05,
        high=0.6,
        kind="float",
        advanced=True,
        help="Share for directions, or zoom. Empty: .2, or .4 up to 3-D.",
    )

    scatter_share: float = param(
        0.05, low=0.0, high=0.3, advanced=True, help="Share for finding centers that share a cluster."
    )

    def advice(self, n_features: int, n_public: int) -> tuple[str, ...]:
        """Return the base class's warnings, and one where noise will dominate."""
        signal = n_public * self._mu(n_public) / (self.n_clusters * math.sqrt(n_features))
        if signal < 5:
            return (
                *super().advice(n_features, n_public),
                f"{self.name}: at this epsilon noise will dominate: n mu / (k sqrt(d)) = {signal:.2g} is below 5. "
                "Ask for fewer centers, or spend more.",
            )
        return super().advice(n_features, n_public)

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Return the Gaussian releases of every stage; which stages there are follows from public values."""
        mu = self._mu(n_public)
        costs: dict[str, tuple[Gaussian, ...]] = {}
        if self._learns_radius(n_public):
            costs["radius"] = gaussians(mu * math.sqrt(self.radius_share), [1])
            mu *= math.sqrt(1 - self.radius_share)
        d, flat = n_features, n_features <= self.FLAT
        first = (0.4 if flat else 0.2) if self.first_share is None else self.first_share
        histogram = (0.3 if flat else 0.2) if self.histogram_share is None else self.histogram_share
        step = (1 - first - histogram) / 2
        if step <= 0:
            raise ValueError(f"{self.name}: first_share + histogram_share must be < 1; got {first + histogram:g}.")
        if self._looks_for_misses(d, n_public):
            costs["scatter"] = gaussians(mu * math.sqrt(self.scatter_share), [1])
            mu *= math.sqrt(1 - self.scatter_share)
        counted = 1 / (1 + 1.5 * math.sqrt(d))
        costs |= _joint("candidates", mu, [(histogram, 0.6 if flat else 0.4)])
        costs |= _joint("zoom", mu, [(first, 0.5)]) if flat else {"moment": gaussians(mu * math.sqrt(first), [1])}
        return Plan({**costs, **_joint("step", mu, [(step, counted), (step, counted)])})

    def steps(self, curator: Curator, domain: Domain, rng: np.random.Generator) -> Iterator[Step]:
        """Radius, directions, candidates, zoom, free k-means, two corrections."""
        d, n, k, plan = curator.n_features, curator.n_public, self.n_clusters, curator.plan.costs
        reach = (yield from self._learn_radius(curator, domain)) if "radius" in plan else domain.radius
        projection = Projection(random_projection(d, self.PROJECTED, rng)) if d > self.WIDE else None
        p = d if projection is None else self.PROJECTED
        flat = p <= self.FLAT

        signal = n * plan["candidates.counts"][0].gdp
        M = int(np.clip(0.7 * signal, k if signal <= 6 * k else 3 * k, 3000 if flat else 800))
        short, cell, moment = reach, 0.0, None
        if flat:
            population, clip = sphere_pack(M, p, reach, rng), 1.3 * reach * M ** (-1 / p)
            cell = p / (p + 2) * reach**2 * M ** (-2 / p)
            summary = self._summary(curator, "candidates", population, clip, k, None)
        else:
            moment = curator.release("moment", SecondMoment(reach, p, projection))
            spread, directions, total = _directions(_symmetric(moment), moment.sd, n, reach)
            short = min(reach, 2 * math.sqrt(total))
            said = {"moment": moment.value, "spread": spread, "directions": directions, "noise_sd": moment.sd}
            yield Step("moment", "The noisy second moment: in which directions rows spread", said)
            population = clip_ball(snap(rng.normal(size=(M, p)) * np.sqrt(spread) @ directions.T), reach)
            summary = self._summary(curator, "candidates", population, short, k, (spread, directions), projection)
        yield Step("candidates", f"{int(summary['kept'].sum())} of {M} candidates keep enough noisy votes", summary)
        if "zoom.counts" in plan:
            summary, cell = yield from self._look_closer(curator, summary, cell, reach, rng)

        points, weights = summary["means"], summary["weights"]
        centers = clip_ball(snap(solve(points, weights, k, rng, jitter=0.01 * reach)), reach)
        coreset = {
            "coreset_points": points,
            "coreset_weights": weights,
            "coreset_sd": np.full(len(points), summary["noise_sd"]),
        }
        said = {"centers": centers, **coreset} if projection is None else {"projected_centers": centers}
        yield Step("solve", f"k-means with restarts and swaps on {len(points)} noisy points: free", said)

        if flat:
            width, multiple = _scatter(points, weights, centers) + cell, 1.5
        else:
            inside = _nearest_share(points, np.maximum(weights, 0) / np.maximum(weights, 0).sum(), centers)
            width = max(total - float((inside * (centers**2).sum(axis=1)).sum()), 0.03 * total)
            multiple = min(4.0, 1.3 * max(1.0, n * self._mu(n) / (20 * k * math.sqrt(d))) ** 0.25)
        clip = max(min(short, multiple * math.sqrt(width)), reach / 256)  # never 0, even if the points are the centers
        yield from self._correct(curator, domain, centers, clip, reach, projection, moment)

    def _learn_radius(self, curator: Curator, domain: Domain) -> Generator[Step, None, float]:
        """Yield the noisy histogram of norms; return how far rows reach."""
        noisy = curator.release("radius", NormHistogram(domain.radius, self.BINS))
        edges = domain.radius * 2.0 ** (-np.arange(self.BINS) / 2)
        reach = float(edges[_cut(noisy.value, noisy.sd)])
        said = {"noisy_counts": noisy.value, "edges": edges, "noise_sd": noisy.sd, "radius": reach}
        yield Step("radius", f"Rows reach to {reach / domain.radius:.3g} of the declared radius", said)
        return reach

    def _look_closer(
        self, curator: Curator, summary: dict[str, Any], cell: float, reach: float, rng: np.random.Generator
    ) -> Generator[Step, None, tuple[dict[str, Any], float]]:
        """Yield a summary about finer candidates where rows were found; return the better one and its cells' spread."""
        k, p, plan = self.n_clusters, curator.n_features, curator.plan.costs
        zoom = math.hypot(plan["zoom.counts"][0].gdp, plan["zoom.sums"][0].gdp)
        m = int(np.clip(0.25 * curator.n_public * zoom, k, 2000))
        points, weights = summary["means"], summary["weights"]
        drawn = points[rng.choice(len(points), 12 * m, p=weights / weights.sum())]
        drawn = drawn + rng.normal(size=drawn.shape) * math.sqrt(0.64 * cell / p)
        centers = clip_ball(snap(lloyd_on(drawn, np.ones(len(drawn)), drawn[:m], 8)), reach)
        if m > len(points):
            width = 2 * cell * (len(points) / m) ** (2 / p)  # m finer cells share the volume of the kept ones
        else:
            width = _scatter(points, weights, centers) + cell
        closer = self._summary(curator, "zoom", centers, 1.5 * math.sqrt(width), k, None, least=2)
        if closer["kept"].sum() >= min(k, len(points)):
            summary, cell = closer, 0.0  # the finer points carry the spread themselves
        yield Step("zoom", f"A closer look: {int(closer['kept'].sum())} of {m} finer candidates stay", closer)
        return summary, cell

    def _correct(
        self,
        curator: Curator,
        domain: Domain,
        centers: np.ndarray,
        clip: float,
        reach: float,
        projection: Projection | None,
        moment: Noisy | None,
    ) -> Iterator[Step]:
        """Yield two noisy Lloyd steps; the first one leaves the projection, or parts centers that share a cluster."""
        k, d = centers.shape[0], curator.n_features
        for step in (1, 2):
            absolute = projection is not None and step == 1
            query = NearestSums(centers, reach, projection) if absolute else NearestSums(centers, clip, relative=True)
            noisy = curator.release("step", query)
            counts, sd = noisy.value["counts"], noisy.sd["counts"]
            moved = counts > 2 * sd
            shift = noisy.value["sums"] / np.maximum(counts, max(2 * sd, 1.0))[:, None]
            start = np.zeros((k, d)) if absolute else centers
            if step == 1 and "scatter" in curator.plan.costs:
                wide = curator.release("scatter", NearestScatter(centers, clip))
            centers = start + np.where(moved[:, None], shift, 0.0)
            said = {"start": start, "noisy_counts": counts, "radius": query.radius, "moved": moved}
            if step == 1 and moment is not None and "scatter" in curator.plan.costs:
                inside = wide.value - np.where(moved, counts * (shift**2).sum(axis=1), 0.0)
                bulk = 2 * math.sqrt(d * moment.sd**2 / 2)
                centers, said["split"] = _split_merge(centers, counts, inside, 2 * wide.sd, _symmetric(moment), bulk)
            centers = clip_ball(snap(centers), domain.radius)
            said["centers"] = centers
            yield Step("correction", f"Noisy Lloyd step {step} of 2: {int(moved.sum())} of {k} centers move", said)

    def _summary(
        self,
        curator: Curator,
        label: str,
        population: np.ndarray,
        clip: float,
        k: int,
        shape: tuple[np.ndarray, np.ndarray] | None,
        projection: Projection | None = None,
        *,
        least: int = 3,
    ) -> dict[str, Any]:
        """Release counts and clipped sums about candidates (M, p); keep the strong ones and shrink their means.

        `shape` (eigenvalues, directions) means absolute sums and shrinking in the eigenbasis; None relative sums.
        """
        p = population.shape[1]
        query = NearestSums(population, clip, projection, relative=shape is None, inner=projection is not None)
        noisy = curator.release(label, query)
        counts, sums = noisy.value["counts"], noisy.value["sums"]
        threshold = math.sqrt(2 * math.log(max(len(population) / k, least))) * noisy.sd["counts"]
        kept = counts > 0  # all of them: cut at a declared n, small clusters go where it is too low
        if (kept & (counts > threshold)).sum() >= min(k, 3):
            kept &= counts > threshold
        if not kept.any():
            kept[np.argmax(counts)] = True
        weights = np.maximum(counts[kept], 1.0)
        noise = (noisy.sd["sums"] / weights) ** 2
        at = population[kept]
        if shape is None:
            prior = 0.8 * clip**2 / (p + 2)
            means = at + sums[kept] / weights[:, None] * (prior / (prior + noise))[:, None]
        else:
            prior = 0.5 * shape[0]
            factor = prior / (prior + noise[:, None])
            means = at + (((sums[kept] / weights[:, None] - at) @ shape[1]) * factor) @ shape[1].T
        return {
            "population": population,
            "noisy_votes": counts,
            "noise_sd": noisy.sd["counts"],
            "kept": kept,
            "threshold": threshold,
            "means": clip_ball(snap(means), float(np.sqrt((population**2).sum(axis=1).max())) + clip),
            "weights": weights,
        }

    def _looks_for_misses(self, n_features: int, n_public: int) -> bool:
        """Whether scatter is asked for: many centers, and a cluster's scatter stands out from the noise. Public."""
        if self.n_clusters < self.CROWD or not self.FLAT < n_features <= self.WIDE:
            return False
        return n_public * self._mu(n_public) * math.sqrt(self.scatter_share) >= 3 * self.n_clusters

    def _mu(self, n_public: int) -> float:
        return mu_of_epsilon(self.epsilon, self.resolved_delta(n_public))

    def _learns_radius(self, n_public: int) -> bool:
        if self.radius_share == 0:
            return False
        return 2 / (self._mu(n_public) * math.sqrt(self.radius_share)) <= 0.01 * n_public


def _joint(label: str, mu: float, shares: list[tuple[float, float]]) -> dict[str, tuple[Gaussian, ...]]:
    """Return the costs of joint count-and-sum releases: [(share of mu^2, part of it for the counts), ...]."""
    return {
        f"{label}.counts": tuple(Gaussian(mu * math.sqrt(share * counted)) for share, counted in shares),
        f"{label}.sums": tuple(Gaussian(mu * math.sqrt(share * (1 - counted))) for share, counted in shares),
    }


def _cut(noisy_counts: np.ndarray, sd: float) -> int:
    """Return the bin whose outer edge becomes the radius: all bins outside hold no more than noise."""
    for i, tail in enumerate(np.cumsum(noisy_counts)):
        if tail > 2 * math.sqrt(i + 1) * sd:
            return i
    return len(noisy_counts) - 1


def _symmetric(moment: Noisy) -> np.ndarray:
    """Return a noisy second moment, symmetric as the true one is: its noise is not."""
    return (moment.value + moment.value.T) / 2


def _directions(noisy: np.ndarray, sd: float, n_public: int, reach: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Return (variances (p,) along directions, directions (p, p), mean squared norm), debiased as a spiked matrix.

    Eigenvalues y below the bulk 2 sqrt(e2), e2 = p sd^2 / 2, say nothing; above it (y + sqrt(y^2 - 4 e2)) / 2 is the
    signal and 1 - e2 / l^2 of it the share along the found direction.
    """
    p = len(noisy)
    values, directions = np.linalg.eigh(noisy)
    e2 = p * sd * sd / 2
    signal = np.where(values > 2 * math.sqrt(e2), (values + np.sqrt(np.maximum(values**2 - 4 * e2, 0.0))) / 2, 0.0)
    effective = np.where(signal > 0, np.maximum(signal - e2 / np.maximum(signal, 1e-300), 0.0), 0.0)
    total = float(np.clip(np.trace(noisy), sd * math.sqrt(p), n_public * reach**2))
    spread = (effective + max(total - effective.sum(), 0.02 * total) / p) / n_public
    spread *= min(1.0, total / n_public / spread.sum())
    return spread, directions, total / n_public


def _nearest_share(points: np.ndarray, share: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Return the share of the weighted points nearest to each center, shape (k,)."""
    labels = ((points[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    return np.bincount(labels, weights=share, minlength=len(centers))


def _scatter(points: np.ndarray, weights: np.ndarray, centers: np.ndarray) -> float:
    """Return the weighted mean squared distance of points to their nearest center."""
    squares = ((points[:, None] - centers) ** 2).sum(axis=2).min(axis=1)
    return float((weights * squares).sum() / weights.sum())


def _split_merge(
    centers: np.ndarray, counts: np.ndarray, scatter: np.ndarray, doubt: float, moment: np.ndarray, bulk: float
) -> tuple[np.ndarray, np.ndarray]:
    """Take centers from pairs that share a cluster to clusters that share a center; released values only.

    A cluster that spreads wider than the median cluster by more than noise explains holds two. Its halves lie along
    the strongest direction that centers leave unexplained in the second moment, as far out as the excess says. A
    split and the merge that costs least (Ward's criterion) are done together while that pays; each center takes part
    once.

    Parameters
    ----------
    centers : (k, d); counts : (k,) rows of each; scatter : (k,) sums of their squared distances
    doubt : by how much a gain must exceed its cost
    moment : (d, d) symmetric; bulk : eigenvalues below it say nothing

    Returns
    -------
    centers (k, d), split (k,) : bool, centers that took part
    """
    k, mass = len(centers), np.maximum(counts, 1.0)
    excess = scatter - mass * np.median(np.maximum(scatter, 0.0) / mass)
    values, directions = np.linalg.eigh(moment - (centers.T * mass) @ centers)
    ward = mass[:, None] * mass / (mass[:, None] + mass) * ((centers[:, None] - centers) ** 2).sum(axis=2)
    np.fill_diagonal(ward, np.inf)
    centers, split = centers.copy(), np.zeros(k, dtype=bool)
    strongest = zip(np.argsort(-excess), values[::-1], directions.T[::-1], strict=False)
    for wide, value, direction in strongest:
        free = ~split & (np.arange(k) != wide)
        if split[wide] or value <= bulk or free.sum() < 2:
            break
        cost = np.where(free[:, None] & free, ward, np.inf)
        a, b = np.unravel_index(cost.argmin(), cost.shape)
        gain = min(excess[wide], value)
        if gain <= cost[a, b] + doubt:
            break
        centers[a] = (mass[a] * centers[a] + mass[b] * centers[b]) / (mass[a] + mass[b])
        half = math.sqrt(gain / mass[wide]) * direction
        centers[wide], centers[b] = centers[wide] + half, centers[wide] - half
        split[[a, b, wide]] = True
    return centers, split
