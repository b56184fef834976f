"""Release centers every day from one budget while people arrive day by day."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from dpviz.algorithms.base import ApproximateDP
from dpviz.algorithms.grids.eugkm import EUGkM
from dpviz.algorithms.pseudocode import Line
from dpviz.domain import Domain
from dpviz.geometry import bincount, snap
from dpviz.params import param
from dpviz.postprocessing.center_sd import AVERAGES, average_sd, declared, members
from dpviz.postprocessing.weighted import lloyd_on, work_of_solve
from dpviz.privacy.accounting import mu_of_epsilon
from dpviz.privacy.curator import ALL, Curator
from dpviz.privacy.plan import Plan, gaussians
from dpviz.privacy.queries import ArrivesBefore, GridCounts, NearestSums
from dpviz.privacy.queries.days import ARRIVALS
from dpviz.trace import Step

__all__ = ["Continual"]

# standard deviation of a dropped count, relative to that of the noise; see `_spread`
_DROPPED = ((0.3421 - 0.1587) / 0.8413) ** 0.5


@dataclasses.dataclass(frozen=True, kw_only=True)
class Continual(ApproximateDP):
    """Continual tree: rows arrive in daily batches, and every evening centers for all days so far are released.

    Running a private algorithm anew each evening would divide the budget by the number of days. Here every evening adds
    one noisy table of sums and counts, for a run of past days whose length is a power of two; a few of these tables add
    up to all days so far (the binary-tree mechanism). Each row is counted in only a few of these tables, and k-means on
    the noisy total is free.

    Parameters
    ----------
    n_clusters : int, in [1, 256]
        Number of clusters k. Public.
    epsilon : float, in [0.01, 100]
        Budget epsilon of all days together.
    delta : float or None, in [1e-12, 0.5]
        Total delta; None means 1/(100 n_public).
    days : int, in [2, 64]
        Number of days T, declared before the first day.
    arrivals : {"scattered", "by first column"}
        How a row determines its day: by a public hash, as if people came in random order, or by its first column, taken
        as time between its lower and upper bound.
    cells : int or None, in [1, 4096]
        Approximate number of cells of the public grid; None means EUGkM's rule with epsilon / L, at most 1,024.

    Formal guarantee
    ----------------
    (epsilon, delta)-DP and mu-GDP for one arrival added or removed, for the releases of all days together. One row is
    one arrival: one person on one day. A person who comes on m days has m rows, and the promise is m times weaker (rows
    per person). Public: all parameters, the domain and its n, which counts all days. Proof: (1) the day of a row is a
    public function of the row alone, so streams that differ in one arrival are data sets that differ in one row, and
    the account can add these claims to all others for one row added or removed. (2) On evening t (counted from 1) the
    table of days (t - lowbit(t), t] is released, where lowbit(t) is the largest power of two that divides t. Day s lies
    in at most one stretch of each length 1, 2, 4, ..., so a row is counted in at most L = floor(log2 T) + 1 tables, and
    stretches of one length share no row. (3) A table holds sums of offsets, each clipped to a length of r, half of a
    cell's diagonal, and counts. Both are Gaussian releases, with l2 sensitivities r and 1, at mu^2 / (2 L) each; a row
    pays for at most 2 L of them, mu in all. (4) The table of days 1 to t is the sum of those at t, t - lowbit(t), ...:
    at most L tables, by post-processing. Everything else depends on released values and on no row of a later day.

    Steps
    -----
    partition          released: cells (m, d), parts (d,), days
    day                released: centers (k, d), day, runs, cell_counts (m,), counts_sd, coreset_points (p, d),
                       coreset_weights (p,), coreset_sd (p,), center_sd (k, d), center_noise; hidden: true sums, counts

    Deviations from the paper
    -------------------------
    The papers' trees hold coresets of the size that the theory requires; here the tree holds sums and counts of a grid
    that is fixed before the first day. Counts at or below the standard deviation of their noise get weight 0. Centers
    of consecutive days are matched for the picture only. All days are computed from one file; a service would have to
    keep the exact sums of open runs in memory between evenings.

    References
    ----------
    .. [1] Dwork, Naor, Pitassi and Rothblum, "Differential privacy under continual observation", STOC 2010.
    .. [2] Chan, Shi and Song, "Private and continual release of statistics", TISSEC 2011.
    .. [3] Dupre la Tour, Henzinger and Saulpic, "Making old things new: a unified algorithm for differentially private
       clustering", ICML 2024 (arXiv 2406.11649).

    Examples
    --------
    >>> import numpy as np
    >>> from dpviz.domain import Domain
    >>> rng = np.random.default_rng(0)
    >>> X = np.repeat([[-0.5, 0.0], [0.5, 0.0]], 500, axis=0) + rng.normal(0, 0.01, (1000, 2))
    >>> trace = Continual(n_clusters=2, epsilon=5.0, days=4).run(X, domain=Domain.box(-1, 1, 2, n_public=1000), seed=0)
    >>> [step.kind for step in trace.steps]
    ['partition', 'day', 'day', 'day', 'day']
    """

    name: ClassVar[str] = "Continual tree"
    slug: ClassVar[str] = "continual"
    tagline: ClassVar[str] = (
        "People arrive day by day (a row is one arrival), and one budget pays for new centers every evening."
    )
    MOST_CELLS: ClassVar[int] = 1024
    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {"a month": {"days": 31}, "time": {"arrivals": "by first column"}}
    CODE: ClassVar[tuple[Line, ...]] = (
        Line("lay a grid over the public bounds", ("partition",)),
        Line("declare how many days T there will be", ("partition",)),
        Line("every evening t = 1, ..., T:", ("day",)),
        Line("  take the last 2^i days (largest 2^i dividing t)", ("day",), events=("arrive",)),
        Line("  add up their rows cell by cell, with noise", ("day",), "table"),
        Line("  add a few older tables, to cover days 1 to t", ("day",), events=("noise",)),
        Line("  weighted k-means on cells above their noise", ("day",), events=("noise",)),
    )
    AUDIT: ClassVar[dict[str, Any]] = {"days": 6, "cells": 64, "arrivals": "by first column"}

    days: int = param(16, low=2, high=64, help="Number of days, declared before the first day; a public number.")
    arrivals: str = param(
        "scattered",
        choices=ARRIVALS,
        help="How rows are assigned to days: in no order, or by the first column, taken as time.",
    )
    cells: int | None = param(
        None,
        low=1,
        high=4096,
        kind="int",
        advanced=True,
        help="Approximate number of cells. The default follows from n, d, ε and days.",
    )

    @property
    def levels(self) -> int:
        """Return L, the maximum number of tables in which one row is counted."""
        return self.days.bit_length()

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Price L tables per row: sums and counts, with an equal share of mu^2 each."""
        mu = mu_of_epsilon(self.epsilon, self.resolved_delta(n_public))
        half = mu / 2**0.5
        return Plan({f"table.{part}": gaussians(half, [1] * self.levels) for part in ("sums", "counts")})

    def releases(self, n_features: int, n_public: int) -> int:
        """Return 2 T, two releases per day. Stretches of one length share no row, so each length is paid for once."""
        return 2 * self.days

    def doubts(self, released: Mapping[str, Mapping[str, Any]], domain: Domain) -> tuple[str, ...]:
        """Return a warning if a single center may do as well as the last evening's centers."""
        end = released["day"]
        of = members(end["coreset_points"], end["centers"])
        return self.blurred(end, bincount(of, end["coreset_weights"], len(end["centers"])), domain)

    def parts(self, n_features: int, n_public: int) -> tuple[int, ...]:
        """Return the number of parts of each column; use public values only."""
        share = max(self.epsilon / self.levels, 0.01)
        known = n_public * share / EUGkM.CONTENT
        cells = self.cells or int(min(max(known, 1) ** (2 * n_features / (n_features + 2)), self.MOST_CELLS)) or 1
        return EUGkM(n_clusters=self.n_clusters, epsilon=share, cells=max(cells, 1)).parts(n_features, n_public)

    def work(self, n_features: int, n_public: int) -> float:
        """Return a rough number of operations of 10 ns, from public values: a table and a k-means for every day."""
        cells = math.prod(self.parts(n_features, n_public))
        rows = n_public * self.levels / self.days * (n_features + 2)  # of a day's stretch, on average
        return self.days * (1e5 + rows + 0.4 * work_of_solve(cells, self.n_clusters, n_features))

    def steps(self, curator: Curator, domain: Domain, rng: np.random.Generator) -> Iterator[Step]:
        """Release one table each evening and run k-means on the tables that add up to all days so far."""
        grid = GridCounts(domain.box_z, self.parts(curator.n_features, curator.n_public))
        middles = snap(grid.middles)
        half = domain.box_z / np.array(grid.parts)
        query = NearestSums(middles, float(np.linalg.norm(half)), relative=True)
        yield Step(
            "partition",
            f"{grid.size:,} cells, {self.days} days; a row is one arrival and counts in at most {self.levels} tables",
            {"cells": middles, "parts": np.array(grid.parts), "days": self.days},
        )
        scopes = _Runs(curator, self, float(domain.box_z[0]))
        tables: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        centers: np.ndarray | None = None
        for day in range(1, self.days + 1):
            noisy = curator.release("table", query, scopes.until(day))
            tables[day] = noisy.value["sums"], noisy.value["counts"]
            used = _used(day)
            sums, counts = (np.sum([tables[end][part] for end in used], axis=0) for part in (0, 1))
            sds = {part: noisy.sd[part] * len(used) ** 0.5 for part in ("sums", "counts")}
            points, weights, cells = _points(middles, half, sums, counts, sds["counts"])
            centers = snap(domain.clip(_solve(points, weights, self.n_clusters, rng, centers)))
            spread = _spread(centers, points, weights, cells, middles, sds)
            yield Step(
                "day",
                f"Day {day} of {self.days}: a table of {day & -day} day{'s' * (day & -day > 1)} is added; "
                f"{len(used)} table{'s cover' if len(used) > 1 else ' covers'} all days so far, "
                f"±{sds['counts']:.3g} per cell",
                {
                    "centers": centers,
                    "day": day,
                    "runs": len(used),
                    "cell_counts": counts,
                    "counts_sd": sds["counts"],
                    "coreset_points": points,
                    "coreset_weights": weights,
                    "coreset_sd": np.full(len(points), sds["counts"]),
                    **declared(spread, AVERAGES),
                },
            )


class _Runs:
    """Scopes of stretches of days, reached by halving the stretch of all days repeatedly; partitions are free."""

    def __init__(self, curator: Curator, algorithm: Continual, half: float) -> None:
        self._curator, self._days = curator, algorithm.days
        self._half, self._arrivals = half, algorithm.arrivals
        top = 1 << (algorithm.days - 1).bit_length()
        self._scopes = {(0, top): ALL}

    def until(self, day: int) -> int:
        """Return the scope of the run that ends with this day, counted from 1."""
        return self._of(day - (day & -day), day)

    def _of(self, start: int, stop: int) -> int:
        if (start, stop) not in self._scopes:
            length = stop - start
            outer = start - start % (2 * length)
            parent = self._of(outer, outer + 2 * length)
            cut = ArrivesBefore(outer + length, self._days, self._half, self._arrivals)
            before, after = self._curator.partition(parent, cut)
            self._scopes[outer, outer + length] = before
            self._scopes[outer + length, outer + 2 * length] = after
        return self._scopes[start, stop]


def _used(day: int) -> list[int]:
    """Return the release days of the tables that add up to days 1 to `day`."""
    nodes = []
    while day:
        nodes.append(day)
        day &= day - 1
    return nodes


def _points(
    middles: np.ndarray, half: np.ndarray, sums: np.ndarray, counts: np.ndarray, counts_sd: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the noisy averages of the cells whose counts exceed one standard deviation, their weights and indices."""
    cells = np.flatnonzero(counts > counts_sd)
    if not len(cells):
        cells = np.array([counts.argmax()])
    weights = np.maximum(counts[cells], 1.0)
    return middles[cells] + np.clip(sums[cells] / weights[:, None], -half, half), weights, cells


def _spread(
    centers: np.ndarray,
    points: np.ndarray,
    weights: np.ndarray,
    cells: np.ndarray,
    middles: np.ndarray,
    sds: dict[str, float],
) -> np.ndarray:
    """Return the centers' standard deviations (k, d); dropped cells add to them, because they might have been kept.

    An empty cell is kept if its noisy count exceeds its standard deviation s, so its contribution has the variance
    (phi(1) + Q(1) - phi(1)^2) s^2 = .342 s^2. Each kept cell, and so a share Q(1) = .159 of the empty ones, contributes
    s^2; each dropped cell must then contribute (.342 - .159) / .841 s^2.
    """
    of, total, sums_sd = members(middles, centers), np.zeros(len(middles)), np.zeros(len(middles))
    counts_sd = np.full(len(middles), _DROPPED * sds["counts"])
    of[cells], total[cells] = members(points, centers), weights
    counts_sd[cells], sums_sd[cells] = sds["counts"], sds["sums"]
    return average_sd(centers, total, counts_sd, sums_sd, origins=middles, of=of)


def _solve(
    points: np.ndarray, weights: np.ndarray, n_clusters: int, rng: np.random.Generator, before: np.ndarray | None
) -> np.ndarray:
    """Return the better of a fresh start and an update of yesterday's centers, in yesterday's order."""
    seed = int(rng.integers(2**31))
    if len(points) <= n_clusters:
        extra = rng.integers(len(points), size=n_clusters - len(points))
        jitter = 1e-3 * rng.normal(size=(len(extra), points.shape[1]))
        centers = np.concatenate([points, points[extra] + jitter])
    else:
        centers = KMeans(n_clusters, n_init=4, random_state=seed).fit(points, sample_weight=weights).cluster_centers_
    if before is None:
        return centers
    moved = lloyd_on(points, weights, before, 20)
    costs = [float(weights @ cdist(points, some, "sqeuclidean").min(axis=1)) for some in (moved, centers)]
    if costs[0] <= costs[1]:
        return moved
    return centers[linear_sum_assignment(cdist(before, centers, "sqeuclidean"))[1]]
