"""Fit a mixture of Gaussians from noisy counts, sums and second moments (DP-EM); clusters are soft and have a shape."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from dpviz.algorithms.base import ApproximateDP
from dpviz.algorithms.pseudocode import Line
from dpviz.domain import Domain
from dpviz.geometry import pack_cube, snap
from dpviz.params import param
from dpviz.postprocessing.center_sd import average_sd
from dpviz.privacy.accounting import mu_of_epsilon
from dpviz.privacy.curator import Curator
from dpviz.privacy.plan import Plan, gaussians
from dpviz.privacy.queries import MixtureMoments
from dpviz.trace import Step

__all__ = ["DPEM"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class DPEM(ApproximateDP):
    """DP-EM: fit k Gaussians instead of k points; a row may belong partly to several of them.

    In every iteration each row divides a weight of 1 among the Gaussians. Three noisy totals per Gaussian (the number
    of its rows, their offsets from its mean, and their spread) give its weight, mean and covariance. The means are the
    centers; the covariances are ellipses that show how long and how wide a cluster is.

    Parameters
    ----------
    n_clusters : int, in [1, 256]
        Number of Gaussians k. Public.
    epsilon : float, in [0.01, 100]
        Total privacy budget epsilon.
    delta : float or None, in [1e-12, 0.5]
        Total delta; None means 1/(100 n_public).
    iterations : int or None, in [1, 30]
        Number of rounds of EM; None means 6.
    covariance : {"auto", "full", "diagonal"}
        Orientation of the ellipses: any, or aligned with the columns. "auto" means "full" up to 6 columns.
    reach : float, in [1, 10]
        Clipping radius of the offsets, as a multiple of the widest Gaussian's root mean square distance from its mean;
        at most the domain's diameter.

    Formal guarantee
    ----------------
    (epsilon, delta)-DP and mu-GDP for one row added or removed. Public: all parameters and the domain (bounds, radius
    R, nominal size N). Shares s of one row have |s|_2 <= |s|_1 <= 1, so counts change by at most 1, sums of offsets by
    the clipping radius r, and second moments by r^2 (Frobenius). r depends on released covariances only. mu^2 is split
    equally among the iterations, and within each iteration in the ratio 1 : 2 : 2 among counts, sums and second
    moments, all with Gaussian noise. Everything else depends on released values only.

    Steps
    -----
    mixture-start    released: centers (k, d), covariances (k, d, d), weights (k,)
    mixture          released: centers (k, d), covariances (k, d, d), weights (k,), noisy_counts (k,), dead (k,) bool,
                     start (k, d), radius, round, rounds, sums_sd, counts_sd, scatters_sd;
                     hidden: sums (k, d), scatters, counts (k,)

    Deviations from the paper
    -------------------------
    Park et al. add noise to means and covariances weighted by 1/n, with n public; here all three moments are sums, so
    nothing depends on the number of rows. Offsets are measured from the last mean and clipped to a radius that shrinks
    with the clusters. Second moments about the origin, as published, need so much noise that every cluster much smaller
    than the domain is lost. Covariances are made symmetric and shrunk toward a ball by the noise's share of their
    variance, and their eigenvalues are kept between a floor that the noise sets and the initial variance. A Gaussian
    with a noisy count near or below 0 keeps its mean and shape, with the weight of one row. Composition is mu-GDP
    instead of the moments accountant.

    References
    ----------
    .. [1] Park, Foulds, Choudhary and Welling, "DP-EM: differentially private expectation maximization", AISTATS 2017;
       arXiv 1605.06995.

    Examples
    --------
    >>> import numpy as np
    >>> from dpviz.domain import Domain
    >>> X = np.repeat([[-0.5, 0.0], [0.5, 0.0]], 2000, axis=0)
    >>> trace = DPEM(n_clusters=2, epsilon=4.0).run(X, domain=Domain.box(-1, 1, 2, n_public=4000), seed=0)
    >>> sorted(trace.cluster_centers[:, 0].round(1).tolist())
    [-0.5, 0.5]
    """

    name: ClassVar[str] = "DP-EM"
    slug: ClassVar[str] = "dp-em"
    tagline: ClassVar[str] = "A mixture of Gaussians: soft clusters with a shape, drawn as ellipses."
    learns_sensitivity: ClassVar[bool] = True  # the clipping radius depends on released covariances; the cost does not
    ROUNDS: ClassVar[int] = 6
    FULL: ClassVar[int] = 6  # up to this many columns "auto" allows ellipses of any orientation
    # Shares of a round's mu^2 for counts, sums and second moments.
    SHARES: ClassVar[tuple[float, float, float]] = (0.2, 0.4, 0.4)
    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {"along the columns": {"covariance": "diagonal"}}
    CODE: ClassVar[tuple[Line, ...]] = (
        Line("spread k equal balls over the public bounds", ("mixture-start",)),
        Line("repeat for a few rounds:", ("mixture",)),
        Line("  each row divides a weight of 1 among them", ("mixture",), "update", events=("share",)),
        Line("  add up shares, offsets, spreads, with noise", ("mixture",), "update", events=("noise",)),
        Line("  means move: noisy offsets divided by shares", ("mixture",), events=("noise",)),
        Line("  shapes follow the noisy spreads", ("mixture",), events=("noise",)),
        Line("  shapes that noise may stretch are made rounder", ("mixture",), events=("noise",)),
    )
    AUDIT: ClassVar[dict[str, Any]] = {"covariance": "diagonal", "iterations": 3, "reach": 1.5}

    iterations: int | None = param(
        None, low=1, high=30, kind="int", advanced=True, help="Number of rounds. Default: 6."
    )
    covariance: str = param(
        "auto",
        choices=("auto", "full", "diagonal"),
        advanced=True,
        help="Ellipses of any orientation, or aligned with the columns. 'auto' allows any orientation up to 6 columns.",
    )
    reach: float = param(
        2.5, low=1.0, high=10.0, advanced=True, help="Offsets are clipped to this many times the widest spread."
    )

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Price the counts, sums and second moments of every round."""
        rounds = self.iterations or self.ROUNDS
        mu = mu_of_epsilon(self.epsilon, self.resolved_delta(n_public))
        costs = gaussians(mu, self.SHARES * rounds)
        return Plan({f"update.{part}": costs[i::3] for i, part in enumerate(("counts", "sums", "scatters"))})

    def doubts(self, released: Mapping[str, Mapping[str, Any]], domain: Domain) -> tuple[str, ...]:
        """Return a warning if a single center may do as well as the released means."""
        end = released["mixture"]
        counts, start = end["noisy_counts"], end["start"]
        noise = average_sd(end["centers"], counts, end["counts_sd"], end["sums_sd"], origins=start)
        return self.blurred({"center_sd": noise}, counts, domain)

    def diagonal(self, n_features: int) -> bool:
        """Return whether covariances have no entries off the diagonal."""
        return self.covariance == "diagonal" or (self.covariance == "auto" and n_features > self.FULL)

    def work(self, n_features: int, n_public: int) -> float:
        """Return a rough number of operations, from public values."""
        each = n_features if self.diagonal(n_features) else n_features * (n_features + 1)
        return (self.iterations or self.ROUNDS) * (1.3e5 + 1.5 * n_public * self.n_clusters * each)

    def steps(self, curator: Curator, domain: Domain, rng: np.random.Generator) -> Iterator[Step]:
        """Spread equal balls over the box, then assign, sum and update; yield one step per round."""
        k, d = self.n_clusters, curator.n_features
        flat, rounds = self.diagonal(d), len(curator.plan.costs["update.counts"])
        shrink = min(1.0, domain.radius / float(np.linalg.norm(domain.box_z)))
        means = self._inside(pack_cube(k, d, 1.0, rng) * domain.box_z * shrink, domain)
        widest = float((domain.box_z**2).mean()) * shrink**2 * k ** (-2 / d) / 3  # each cluster fills 1/k of the box
        covariances = np.tile(widest * np.eye(d), (k, 1, 1))
        weights = np.full(k, 1 / k)
        yield Step(
            "mixture-start",
            f"{k} equal balls are spread over the public domain; no row is read",
            {"centers": means, "covariances": covariances, "weights": weights},
        )
        for t in range(rounds):
            spread = math.sqrt(float(np.trace(covariances, axis1=1, axis2=2).max()))
            radius = min(self.reach * spread, 2 * domain.radius)
            roots = np.linalg.inv(np.linalg.cholesky(covariances))
            scores = np.log(weights) + np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
            query = MixtureMoments(means, roots, scores, radius, flat)
            noisy = curator.release("update", query)
            counts, shift = noisy.value["counts"], noisy.value["sums"]
            dead = counts <= max(1.0, noisy.sd["counts"])
            safe = np.maximum(counts, 1.0)
            moves = np.where(dead[:, None], 0.0, shift / safe[:, None])
            moments = noisy.value["scatters"] * query.unit**2
            moments_sd = noisy.sd["scatters"] * query.unit**2
            if flat:
                moments = moments[:, :, None] * np.eye(d)
            covs = (moments + moments.transpose(0, 2, 1)) / 2 / safe[:, None, None]
            covs = (covs - moves[:, :, None] * moves[:, None, :]) * (np.eye(d) if flat else 1.0)
            shaped = np.array([_held(one, moments_sd / size, widest, d) for one, size in zip(covs, safe, strict=True)])
            start, means = means, self._inside(means + moves, domain)
            moved = float(np.linalg.norm(means - start, axis=1).mean())
            covariances = np.where(dead[:, None, None], covariances, shaped)
            weights = np.where(dead, 1.0, safe) / np.where(dead, 1.0, safe).sum()
            yield Step(
                "mixture",
                f"Round {t + 1} of {rounds}: means move by {domain.length(moved)} on average; the shapes are updated",
                {
                    "centers": means,
                    "covariances": covariances,
                    "weights": weights,
                    "noisy_counts": counts,
                    "dead": dead,
                    "start": start,
                    "radius": radius,
                    "round": t + 1,
                    "rounds": rounds,
                    "sums_sd": noisy.sd["sums"],
                    "counts_sd": noisy.sd["counts"],
                    "scatters_sd": moments_sd,
                },
            )

    @staticmethod
    def _inside(means: np.ndarray, domain: Domain) -> np.ndarray:
        return snap(domain.clip(means))


def _held(covariance: np.ndarray, sd: float, widest: float, d: int) -> np.ndarray:
    """Shrink a covariance toward a ball by the noise's share; keep its eigenvalues between the noise and `widest`."""
    ball = max(float(np.trace(covariance)) / d, 1e-6)
    shape = covariance - ball * np.eye(d)
    signal = max(float((shape**2).sum()) - d * d * sd * sd / 2, 0.0)
    shape *= signal / max(float((shape**2).sum()), 1e-300)
    values, vectors = np.linalg.eigh(ball * np.eye(d) + shape)
    least = min(max(1e-4, sd / math.sqrt(d)), widest)
    return (vectors * np.clip(values, least, widest)) @ vectors.T
