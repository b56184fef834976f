"""Buy one rich noisy summary, search it for free, then correct the centers (NSM, noisy-summary means; ours).

Measurements, ablations, what was tried and dropped, and where the method loses are in dpviz/papers/results/nsm.md.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Generator, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from dpviz.algorithms.base import ApproximateDP
from dpviz.algorithms.nsm.boxes import count_boxes
from dpviz.algorithms.nsm.corrections import Prior, Start, at_most, correct, far_out
from dpviz.algorithms.nsm.look import FirstLook, crowded, learn_middle, learn_radius, look_around
from dpviz.algorithms.nsm.summary import (
    PointSummary,
    about_middle,
    about_points,
    nearest_share,
    scatter_of,
    shaped,
    sizes,
    thinned,
)
from dpviz.algorithms.pseudocode import Line
from dpviz.domain import Domain
from dpviz.geometry import clip_ball, snap, sphere_pack
from dpviz.numbers import percent
from dpviz.params import param
from dpviz.postprocessing.spread import Shape, Spread, leftover, symmetric
from dpviz.postprocessing.weighted import lloyd_on, solve, work_of_solve
from dpviz.privacy.accounting import mu_of_epsilon
from dpviz.privacy.costs import Gaussian
from dpviz.privacy.curator import Curator
from dpviz.privacy.plan import Plan, gaussians
from dpviz.trace import Step

__all__ = ["NSM"]

MIDDLE = 0.1  # target noise of the mean over all columns, as a share of the domain's radius
LOOK = 0.02  # target noise of each count of the first look at up to 3 columns, as a share of n
LEAST, DEAR = 0.01, 0.1  # smallest and largest share of mu^2 for the first look
SOME = 12  # the largest number of centers for which a first look chooses
CHEAP = 0.01  # largest share of mu^2 for the mean above 64 columns, where it pays only if it is cheap


@dataclasses.dataclass(frozen=True, kw_only=True)
class NSM(ApproximateDP):
    """Noisy-summary means: one rich noisy summary of the rows, a free search on it, two to four noisy corrections.

    Everything computed from released numbers is free, so most of the budget buys a rich summary: the norms of the rows,
    the directions in which they spread, and for each of many candidates the number and mean of the rows near it. On
    that summary k-means can be restarted and repaired at no cost. Noisy Lloyd steps on the rows then correct what the
    noise in the summary blurred.

    The summary: with up to 3 columns, candidates are packed into the ball that holds the rows, and a second, finer set
    is placed where the first one met rows. With one column, some dropped candidates of the first set cover the space
    far from the kept ones, more and more sparsely with distance; they stay if together they hold more rows than noise
    alone would suggest. With more than 3 columns, candidates are drawn from the Gaussian with the noisy second moment,
    and a few lie far out on the axes. Every candidate gets a noisy count and a noisy sum of its rows' offsets; counts
    that noise alone explains are dropped, and means are shrunk toward their candidate in proportion to their noise.

    With up to 3 columns and 12 centers, a first look counts the rows of equal cells, 32 of one column, 8 x 8 of two or
    8 x 8 x 8 of three. If the six fullest seem to hold more than 85% of the rows (with three columns, more than 95%,
    but the fullest alone at most 88%), rows crowd in a small part of the bounds, as they do if a few others lie far
    out. Rows are then summarized in boxes instead. At every level the boxes that seem to hold many rows are quartered,
    and all others are counted again, so boxes are small where rows are dense, and a few rows far out have a box of
    their own. At last every box gets a noisy count and a noisy sum of its rows' offsets; boxes with a positive count
    stay (with three columns, above 2.5 standard deviations of noise). Where a few rows lie far out, this loses much
    less; where groups are many, tight and alike, it would lose more, because boxes that hold noise alone take centers
    away (dpviz/papers/results/nsm.md).

    The corrections: a noisy Lloyd step releases counts and clipped offsets from the centers. A noisy histogram of
    distances sets the clipping radius, which balances noise against the distances cut off. The standard deviation of
    the noise in a direction is proportional to the fourth root of the rows' variance in it. Counts are averaged over
    all releases, weighted by precision. A move is multiplied by P / (P + nu), with nu the variance of its noise and P
    the center's expected squared error: a Kalman filter that estimates its drift from the moves themselves.

    Parameters
    ----------
    n_clusters : int, in [1, 256]
        Number of clusters k. Public.
    epsilon : float, in [0.01, 100]
        Total privacy budget epsilon.
    delta : float or None, in [1e-12, 0.5]
        Total delta; None means 1/(100 n_public).
    middle_share : float, in [0, 0.2]
        Maximum share of mu^2 for a noisy mean (4 columns or more; at most .01 above 64 columns). The mean costs d /
        (.1 n mu)^2 of mu^2, which makes its noise about 10% of the domain's radius; it is left out if that cost exceeds
        the share. Later releases are then centered on this mean, shrunk toward the middle of the box according to its
        noise, so the bounds need not be centered on the rows.
    radius_share : float, in [0, 0.2]
        Share of mu^2 for the norm histogram, which measures by how much the declared radius is too wide. The histogram
        is released only if two standard deviations of its noise are at most 1% of the nominal n.
    near_share : float, in [0, 0.2]
        Share of mu^2 for the norm histogram if it is too noisy to measure the radius of all rows: it then still gives
        one that holds 85% of them, to which rows are clipped for the second moment (4 to 64 columns). 0 leaves it out.
    summary : {"either", "candidates", "boxes"}
        How up to 3 columns are summarized; with more columns there are always candidates. With "either" a first look
        decides, if there are at most 12 centers and if at most .1 of mu^2 makes its noise per cell 2% of the nominal n
        (it gets at least .01); otherwise there are candidates.
    histogram_share, first_share : float or None, in [0.05, 0.6]
        Shares of the remaining mu^2 for the candidates or boxes, and for the second moment (d > 3) or the zoom (d <=
        3). None means .3 and .15 with 4 to 64 columns, .3 and .4 with fewer (.45 and .4 with summary="boxes"),
        .2 and .2 with more. The rest goes to the corrections.
    scatter_share : float, in [0, 0.3]
        Share (of the budget without the radius) for every cluster's scatter in the first Lloyd step. The scatter is
        released only with 4 to 64 columns, at least 5 centers, and n mu sqrt(share) / k of at least 3.
    distance_share : float, in [0, 0.5]
        Share of the corrections' budget for a histogram of distances before each correction, which sets its clipping
        radius. The histogram is released only with at most 64 columns, and only if its standard deviation is at most 3%
        of the nominal n. 0 leaves it out.
    shape : {"both", "candidates", "steps", "none"}
        The releases whose noise is shaped like the spread of the rows (4 to 64 columns).
    far : bool
        If true, 4 d candidates on the axes look for small clusters far out, if the noise allows it (4 to 64 columns).
    pooled : bool
        If true, corrections share information: counts are pooled, a Kalman filter damps moves, and there are up to four
        corrections. If false, or with more than 64 columns, there are two independent corrections.
    prior : bool
        If true, pooled corrections start from the cluster sizes that the candidates' votes suggest, and damp sizes and
        the first step's moves according to their noise (with boxes, or 4 to 64 columns). A center's first move in a
        later step is not damped.

    Formal guarantee
    ----------------
    Theorem: (epsilon, delta)-DP and mu-GDP for one row added or removed. Public: all parameters and the domain with its
    nominal N; nothing depends on the number of rows except through released counts.

    Proof: each release is a sum over rows of a function that earlier released and public values fix, plus Gaussian
    noise. One row adds 1 to the count of all rows and itself, of norm at most the radius, to their sum. The row adds 1
    to one bin of a histogram of norms or of distances, and x x^T to the second moment, with x its offset from the
    released middle and |x|^2 the Frobenius norm of the matrix. Because a row is nearest to one candidate or center
    (ties by index), it adds 1 to one count and one vector, clipped to a radius r after any fixed linear map, to one
    sum. The row adds at most r^2 to one scatter. After the first look a run pays either for candidates or for boxes;
    both cost the same, so whichever it is, the rest of the run is mu'-GDP with the same mu'. So given the earlier
    releases, each release is mu_i-GDP with mu_i its l2 sensitivity divided by the standard deviation of its noise (for
    a joint release, the root of the sum of both squares), and adaptive composition [2] gives sqrt(sum mu_i^2) = mu for
    all of them together; mu <-> (epsilon, delta) is exact [1]. Maps are applied exactly or in a fixed order, so a row's
    part in a release does not depend on the block that contains it.

    Heuristic: everything computed from released values.

    Steps
    -----
    mean          released: middle (d,), noisy_sums (d,), noisy_counts (1,), noise_sd, gain
    radius, near  released: noisy_counts (16,), edges (16,), noise_sd, radius
    look          released: population (M, d), noisy_votes (M,), noise_sd, kept (M,) bool (d <= 3 only)
    moment        released: moment (p, p), spread (p,) eigenvalues, directions (p, p), noise_sd
    boxes         released: population (M, d), noisy_votes (M,), noise_sd, kept (M,) bool (boxes only)
    candidates, zoom  released: population (M, p), noisy_votes (M,), noise_sd, kept (M,) bool, threshold,
                  means (m, p), weights (m,) of the kept ones (zoom for d <= 3 only)
    solve         released: centers (k, d), coreset_points (m, d), coreset_weights (m,), coreset_sd (m,);
                  sometimes: start (k, p), projected_centers (k, p) instead of centers and coreset where projected
    correction    released: centers (k, d), start (k, d), noisy_counts (k,), radius, moved (k,) bool,
                  center_sd (k, d), center_noise;
                  sometimes: split (k,) bool (where scatter was released, centers that took part in a split or a merge),
                  distances (28,), distance_edges (28,) (where distances were released)

    In DEMO, each step also holds the true statistic of its release as a hidden value.

    Deviations from the paper
    -------------------------
    There is no paper: the algorithm is ours. With more than 64 columns the summary is taken in a public random
    projection to 32 columns, because the second moment's cost grows as d^2. The first correction then averages rows in
    all columns, and near radius, shapes, far candidates, pooling and prior are all off: each of them made the result
    worse when tried there.

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
    tagline: ClassVar[str] = "One rich noisy summary, then a thorough search: everything after the noise is free."

    learns_sensitivity: ClassVar[bool] = True  # clipping radii depend on released values; the cost does not

    CROWD: ClassVar[int] = 5  # with this many centers or more, a center may have missed its cluster
    # With up to this many columns, candidates are packed; with more, they are placed by the second moment.
    FLAT: ClassVar[int] = 3
    WIDE: ClassVar[int] = 64  # above this many columns, rows are summarized in a projection
    # `doubts` warns if rows this many times as far out as the median row carry this share of the squared distances.
    # After boxes the limits are lower, but this share of the centers must also hold no more rows than noise explains.
    # dpviz/papers/results/nsm.md gives the rates of right and of false alarms.
    TAIL: ClassVar[tuple[float, float]] = (5.6, 0.35)
    BOXED: ClassVar[tuple[float, float]] = (4.7, 0.3)
    EMPTY: ClassVar[float] = 0.5
    EXPLAINED: ClassVar[float] = 3.0  # standard deviations of a count that noise explains
    CODE: ClassVar[tuple[Line, ...]] = (
        Line("with enough rows: where is their mean?", ("mean",), "mean"),
        Line("how far out do rows lie? A noisy histogram", ("radius",), "radius"),
        Line("with few rows: how far out do most of them lie?", ("near",), "near"),
        Line("in which directions do they spread?", ("moment",), "moment"),
        Line("do a few cells hold nearly all rows? Then boxes", ("look",), "look", at=("before", "read", "after")),
        Line(
            "count and average rows near candidates or boxes",
            ("candidates", "boxes"),
            "candidates",
            at=("before", "read", "after"),
        ),
        Line("the same again where rows were found", ("zoom",), "zoom", at=("before", "read", "after")),
        Line("k-means with restarts on these noisy points", ("solve",)),
        Line("two to four times: how far away are the rows?", ("correction",), "distances", events=("assign",)),
        Line("  one step of Lloyd; centers in one group part", ("correction",), "step", events=("sum", "noise")),
    )

    AUDIT: ClassVar[dict[str, Any]] = {"summary": "boxes"}

    middle_share: float = param(
        0.1, low=0.0, high=0.2, advanced=True, help="Largest share of the budget for learning the middle of the rows."
    )
    radius_share: float = param(
        0.03, low=0.0, high=0.2, advanced=True, help="Share of the budget for learning how far out rows lie."
    )
    near_share: float = param(
        0.05,
        low=0.0,
        high=0.2,
        advanced=True,
        help="Share of the budget for learning how far out most rows lie, used if rows are few.",
    )
    summary: str = param(
        "either",
        choices=("either", "candidates", "boxes"),
        advanced=True,
        help="How up to 3 columns are summarized. Boxes find a few rows far out; either: a first look decides.",
    )
    histogram_share: float | None = param(
        None,
        low=0.05,
        high=0.6,
        kind="float",
        advanced=True,
        help="Share of the budget for the candidates or boxes. Default: .3 (.45 for boxes, .2 above 64 columns).",
    )
    first_share: float | None = param(
        None,
        low=0.05,
        high=0.6,
        kind="float",
        advanced=True,
        help="Share of the budget for the directions in which rows spread, or for a closer look where rows are. "
        "Default: .15 (.4 up to 3 columns, .2 above 64).",
    )
    scatter_share: float = param(
        0.05, low=0.0, high=0.3, advanced=True, help="Share of the budget for finding centers that share a cluster."
    )
    distance_share: float = param(
        0.1,
        low=0.0,
        high=0.5,
        advanced=True,
        help="Share of the corrections' budget for the distances of rows from their centers.",
    )
    shape: str = param(
        "both",
        choices=("both", "candidates", "steps", "none"),
        advanced=True,
        help="Releases whose noise follows the directions in which rows spread.",
    )
    far: bool = param(True, advanced=True, help="Also look for small clusters far out on the axes.")
    pooled: bool = param(True, advanced=True, help="Corrections share information: pooled counts, damped moves.")
    prior: bool = param(True, advanced=True, needs="pooled", help="Corrections also use the candidates' votes.")

    def advice(self, n_features: int, n_public: int) -> tuple[str, ...]:
        """Return the base class's warnings, and one if noise will dominate."""
        signal = self._signal(n_features, n_public)
        if signal < 5:
            return (
                *super().advice(n_features, n_public),
                f"{self.name}: at this epsilon noise will dominate: n mu / (k sqrt(d)) = {signal:.2g} is below 5. "
                "Ask for fewer centers or use fewer columns.",
            )
        return super().advice(n_features, n_public)

    def work(self, n_features: int, n_public: int) -> float:
        """Return a rough number of operations of 10 ns, from public values: releases, and k-means on the summary."""
        signal, flat = n_public * self._mu(n_public), n_features <= self.FLAT
        finer = np.clip(0.16 * signal, self.n_clusters, 2000) if flat else self._candidates(0.15 * signal, 800)
        placing = 8e3 * finer if flat else 0.0  # a k-means places the second, finer set
        return super().work(n_features, n_public) + placing + work_of_solve(finer, self.n_clusters, n_features)

    def doubts(self, released: Mapping[str, Mapping[str, Any]], domain: Domain) -> tuple[str, ...]:
        """Return a warning if rows far from all centers evidently carry much of the loss."""
        end = released["correction"]
        if "distances" not in end:
            return ()
        noisy = end["distances"]
        n_public = domain.n_public or max(1, round(float(noisy.sum())))  # if none is declared, in DEMO
        costs = self.plan(domain.n_features, n_public).costs
        if "distances" not in costs:
            return ()
        boxes = "boxes" in released
        rows, away, squares = far_out(noisy, costs["distances"][-1].scale(1.0), end["distance_edges"])
        least, share = self.BOXED if boxes else self.TAIL
        empty = end["noisy_counts"] < self.EXPLAINED * costs["step.counts"][-1].scale(1.0)
        if away < least or squares < share or (boxes and empty.mean() < self.EMPTY):
            return ()
        other = "PrivTree" if boxes else "summary = 'boxes' or PrivTree"
        return (
            f"{self.name}: by the noisy distances, about {percent(rows)} of the rows lie some {away:.0f} times as far "
            f"from all centers as the median row, or farther, and carry about {percent(squares)} of the loss, so small "
            "groups far out may have no center. Use a larger epsilon or more centers, or, with 1 to 3 columns, "
            f"{other}.",
        )

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Price the Gaussian releases of every stage; public values decide which stages run."""
        d, mu = n_features, self._mu(n_public)
        flat, plain, boxes, looks = d <= self.FLAT, d > self.WIDE, self._counts_boxes(d), self._look_share(d, n_public)
        costs: dict[str, tuple[Gaussian, ...]] = {}
        aside = self._middle_share(d, n_public)
        if aside:
            costs |= _joint("mean", mu, [(aside, 1 / (1 + 1.5 * math.sqrt(d)))])
            mu *= math.sqrt(1 - aside)
        if self._learns_radius(n_public):
            costs["radius"] = gaussians(mu * math.sqrt(self.radius_share), [1])
            mu *= math.sqrt(1 - self.radius_share)
        elif self.near_share and not flat and not plain:
            costs["near"] = gaussians(mu * math.sqrt(self.near_share), [1])
            mu *= math.sqrt(1 - self.near_share)
        if looks:
            costs["look"] = gaussians(mu * math.sqrt(looks), [1])
            mu *= math.sqrt(1 - looks)
        if self._looks_for_misses(d, n_public):
            costs["scatter"] = gaussians(mu * math.sqrt(self.scatter_share), [1])
            mu *= math.sqrt(1 - self.scatter_share)
        first = (0.4 if flat else 0.2 if plain else 0.15) if self.first_share is None else self.first_share
        default = 0.45 if boxes else 0.2 if plain else 0.3
        histogram = default if self.histogram_share is None else self.histogram_share
        rest = 1 - first - histogram
        if rest <= 0:
            raise ValueError(f"{self.name}: first_share + histogram_share must be < 1; got {first + histogram:g}.")
        if not boxes:
            costs |= _joint("candidates", mu, [(histogram, 0.6 if flat else 0.4)])
        if boxes or looks:
            costs["boxes"] = gaussians(mu * math.sqrt(histogram), [1] * self._levels(n_public))
        if flat:
            costs |= _joint("zoom", mu, [(first, 0.85 if boxes else 0.5)])
        else:
            costs["moment"] = gaussians(mu * math.sqrt(first), [1])
        T = self._corrections(d, n_public)
        distance = self.distance_share * rest / T
        if distance and not plain and 1 / (mu * math.sqrt(distance)) <= 0.03 * n_public:
            costs["distances"] = gaussians(mu * math.sqrt(distance * T), [1] * T)
            rest *= 1 - self.distance_share
        counted = 1 / (1 + (3 if self._pools(d) else 1.5) * math.sqrt(d))
        ways = (("candidates",), ("boxes",)) if looks else ()
        return Plan({**costs, **_joint("step", mu, [(rest / T, counted)] * T)}, ways)

    def steps(self, curator: Curator, domain: Domain, rng: np.random.Generator) -> Iterator[Step]:
        """Release radius, directions, candidates or boxes, and zoom; run free k-means; correct the centers."""
        k, middle = self.n_clusters, np.zeros(curator.n_features)
        if "mean.sums" in curator.plan.costs:
            middle = yield from learn_middle(curator, domain)
        reach = domain.radius + float(np.linalg.norm(middle))
        if "radius" in curator.plan.costs:
            reach = yield from learn_radius(curator, domain, middle)
        if curator.n_features <= self.FLAT:
            boxes = self._counts_boxes(curator.n_features)
            if "look" in curator.plan.costs:
                boxes = yield from crowded(curator, domain, reach)
            if boxes:
                summary, cell, farthest = (yield from count_boxes(curator, domain, reach)), 0.0, domain.radius
            else:
                summary, cell = yield from self._summarize_flat(curator, reach, rng)
                farthest = reach
            centers = yield from self._solve(summary, middle, farthest, rng, in_space=True)
            clip = at_most(1.5 * math.sqrt(scatter_of(summary, centers) + cell), reach, reach)
            prior = self._prior(curator, summary, centers) if boxes else None
            start = Start(centers, clip, reach, prior=prior)
            yield from correct(curator, domain.radius, start, pooled=self.pooled)
            return
        look = yield from look_around(curator, domain, middle, reach, rng, projected=curator.n_features > self.WIDE)
        summary = self._summarize(curator, look, domain.radius, rng)
        n_heavy = int(summary.released["kept"].sum())
        title = f"{n_heavy} of {len(summary.released['kept'])} candidates keep enough noisy votes"
        yield Step("candidates", title, summary.released)
        centers = yield from self._solve(summary, look.middle, reach, rng, in_space=look.projection is None)
        start = self._start(curator, look, summary, centers, k)
        yield from correct(curator, domain.radius, start, pooled=self._pools(curator.n_features))

    def _summarize(self, curator: Curator, look: FirstLook, radius: float, rng: np.random.Generator) -> PointSummary:
        """Release counts and means for candidates that are placed according to the second moment."""
        k, p, spread = self.n_clusters, len(look.spread.variances), look.spread
        counted = curator.plan.costs["candidates.counts"][0].gdp
        M = self._candidates(curator.n_credible * counted, 800)
        population = spread.draw(M, look.reach, rng)
        short = min(look.near, 2 * math.sqrt(spread.total))
        far = 0
        if self._looks_far(p, curator.n_public, counted) and look.projection is None:
            axes = np.concatenate([sign * np.eye(p) * share for sign in (1, -1) for share in (0.5, 0.9)])
            population = np.concatenate([population, clip_ball(snap(axes * look.reach), look.reach)])
            far = len(axes)
        around, middle = population, look.middle
        if middle.any():  # candidates outside the domain would be wasted
            population = clip_ball(middle + around, radius)
        if look.projection is not None or self.shape not in ("both", "candidates"):
            return about_middle(curator, population, middle, short, k, spread, look.projection, far=far)
        left = leftover(spread, population - middle, look.reach, rng)
        return shaped(curator, population, middle, look.reach, short, k, spread, left, far=far)

    def _summarize_flat(
        self, curator: Curator, reach: float, rng: np.random.Generator
    ) -> Generator[Step, None, tuple[PointSummary, float]]:
        """Yield summaries for packed candidates, then for finer ones; return the one to use and its cells' spread."""
        k, p, plan = self.n_clusters, curator.n_features, curator.plan.costs
        M = self._candidates(curator.n_credible * plan["candidates.counts"][0].gdp, 3000)
        population = sphere_pack(M, p, reach, rng)
        cell = p / (p + 2) * reach**2 * M ** (-2 / p)
        summary = about_points(curator, "candidates", population, 1.3 * reach * M ** (-1 / p), k, least=3)
        n_heavy = len(summary.points)
        yield Step("candidates", f"{n_heavy} of {M} candidates keep enough noisy votes", summary.released)

        zoom = math.hypot(plan["zoom.counts"][0].gdp, plan["zoom.sums"][0].gdp)
        m = int(np.clip(0.25 * curator.n_credible * zoom, k, 2000))
        drawn = summary.points[rng.choice(n_heavy, 12 * m, p=summary.weights / summary.weights.sum())]
        drawn = drawn + rng.normal(size=drawn.shape) * math.sqrt(0.64 * cell / p)
        finer = clip_ball(snap(lloyd_on(drawn, np.ones(len(drawn)), drawn[:m], 8)), reach)
        # m finer cells share the volume of the kept ones
        width = 2 * cell * (n_heavy / m) ** (2 / p) if m > n_heavy else scatter_of(summary, finer) + cell
        thin = 0
        if p == 1:  # with more columns there are so many outside candidates that noise hides their total
            outside = thinned(population, summary.released["kept"], 6 * reach / M)
            finer, thin = np.concatenate([finer, outside]), len(outside)
        closer = about_points(curator, "zoom", finer, 1.5 * math.sqrt(width), k, least=2, thin=thin)
        yield Step("zoom", f"A closer look: {len(closer.points)} of {len(finer)} candidates are kept", closer.released)
        if closer.released["kept"].sum() >= min(k, n_heavy):
            return closer, 0.0  # the finer points already show the spread
        return summary, cell

    def _counts_boxes(self, n_features: int) -> bool:
        return self.summary == "boxes" and n_features <= self.FLAT

    def _look_share(self, n_features: int, n_public: int) -> float:
        """Return the share of mu^2 that makes the first look's noise small enough, or 0 if it chooses nothing.

        Use public values only.
        """
        if self.summary != "either" or n_features > self.FLAT or self.n_clusters > SOME:
            return 0.0
        share = max(1 / (LOOK * n_public * self._mu(n_public)) ** 2, LEAST)
        return share if share <= DEAR else 0.0

    def _levels(self, n_public: int) -> int:
        """Return the number of levels of boxes: 6, and one more whenever n mu doubles from 3,000 on, at most 10."""
        return int(np.clip(round(math.log2(max(n_public * self._mu(n_public), 1.0))) - 5, 6, 10))

    def _candidates(self, signal: float, most: int) -> int:
        """Return the largest useful number of candidates; with more, noise hides the counts."""
        k = self.n_clusters
        return int(np.clip(0.7 * signal, k if signal <= 6 * k else 3 * k, most))

    def _solve(
        self, summary: PointSummary, middle: np.ndarray, reach: float, rng: np.random.Generator, *, in_space: bool
    ) -> Generator[Step, None, np.ndarray]:
        """Yield and return the best centers of the summary; restarts and swaps are free."""
        solution = solve(summary.points, summary.weights, self.n_clusters, rng, jitter=0.01 * reach)
        centers = middle + clip_ball(snap(solution - middle), reach)
        coreset = {
            "coreset_points": summary.points,
            "coreset_weights": summary.weights,
            "coreset_sd": np.full(len(summary.points), summary.noise_sd),
        }
        released = {"centers": centers, **coreset} if in_space else {"projected_centers": centers}
        yield Step(
            "solve", f"k-means with restarts and swaps on {len(summary.points)} noisy points, at no cost", released
        )
        return centers

    def _start(self, curator: Curator, look: FirstLook, summary: PointSummary, centers: np.ndarray, k: int) -> Start:
        """Return the start of the corrections; the moment that centers leave unexplained gives the clusters' width."""
        d, n, spread = curator.n_features, curator.n_credible, look.spread
        mass = n * nearest_share(summary, centers)
        total = spread.total * look.n_rows / n
        aside = centers - look.middle
        width = max(total - float((mass * (aside**2).sum(axis=1)).sum()) / n, 0.03 * total)
        multiple = min(4.0, 1.3 * max(1.0, n * self._mu(curator.n_public) / (20 * k * math.sqrt(d))) ** 0.25)
        short = min(look.near, 2 * math.sqrt(total))
        shape = None
        if look.projection is None and self.shape in ("both", "steps"):
            inside = symmetric(look.moment) - (aside.T * mass) @ aside
            within = Spread.of(inside, look.moment.sd, n, look.near)
            shape = Shape.of(within.variances, within.directions)
        clip = at_most(multiple * math.sqrt(width), short, look.reach)
        prior = self._prior(curator, summary, centers)
        return Start(centers, clip, look.reach, shape, look.projection, look.moment, look.middle, prior)

    def _prior(self, curator: Curator, summary: PointSummary, centers: np.ndarray) -> Prior | None:
        """Return the sizes of clusters that the summary suggests; None if corrections do not start from them."""
        if not self.prior or not self._pools(curator.n_features):
            return None
        return sizes(summary, centers, curator.n_credible / self.n_clusters)

    def _corrections(self, n_features: int, n_public: int) -> int:
        """Return the number of noisy Lloyd steps: two, or up to four if each is far above its noise."""
        if not self._pools(n_features):
            return 2
        return int(np.clip(round(self._signal(n_features, n_public) / 8), 2, 4))

    def _pools(self, n_features: int) -> bool:
        """Return whether corrections share information; they do not after a projection.

        In that case, the first correction assigns rows in the projected columns, and the others in all columns.
        """
        return self.pooled and n_features <= self.WIDE

    def _signal(self, n_features: int, n_public: int) -> float:
        return n_public * self._mu(n_public) / (self.n_clusters * math.sqrt(n_features))

    def _looks_far(self, n_features: int, n_public: int, counted: float) -> bool:
        """Return whether far candidates can work, that is, whether the threshold for their counts is at most 2% of n.

        Use public values only.
        """
        return self.far and math.sqrt(2 * math.log(20 * n_features)) / counted <= 0.02 * n_public

    def _looks_for_misses(self, n_features: int, n_public: int) -> bool:
        """Return whether scatter is released: with 4 to 64 columns, many centers, and little enough noise.

        Use public values only.
        """
        if self.n_clusters < self.CROWD or not self.FLAT < n_features <= self.WIDE:
            return False
        return n_public * self._mu(n_public) * math.sqrt(self.scatter_share) >= 3 * self.n_clusters

    def _middle_share(self, n_features: int, n_public: int) -> float:
        """Return the share of mu^2 that makes the mean's noise small enough, or 0 if that is too much.

        Use public values only.
        """
        if n_features <= self.FLAT or not self.middle_share:
            return 0.0
        share = n_features / (MIDDLE * n_public * self._mu(n_public)) ** 2
        most = min(self.middle_share, CHEAP) if n_features > self.WIDE else self.middle_share
        return share if share <= most else 0.0

    def _mu(self, n_public: int) -> float:
        return mu_of_epsilon(self.epsilon, self.resolved_delta(n_public))

    def _learns_radius(self, n_public: int) -> bool:
        if self.radius_share == 0:
            return False
        return 2 / (self._mu(n_public) * math.sqrt(self.radius_share)) <= 0.01 * n_public


def _joint(label: str, mu: float, shares: list[tuple[float, float]]) -> dict[str, tuple[Gaussian, ...]]:
    """Return the costs of joint releases of counts and sums.

    `shares` has a pair for each release: its share of mu^2, and the part of that share for the counts.
    """
    return {
        f"{label}.counts": tuple(Gaussian(mu * math.sqrt(share * counted)) for share, counted in shares),
        f"{label}.sums": tuple(Gaussian(mu * math.sqrt(share * (1 - counted))) for share, counted in shares),
    }
