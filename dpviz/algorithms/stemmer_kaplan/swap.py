"""Run Stemmer-Kaplan with the paper's own selection: private swap search among the candidates."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from dpviz.algorithms.pseudocode import Line
from dpviz.algorithms.stemmer_kaplan.family import PrivateCenters
from dpviz.algorithms.stemmer_kaplan.swap_search import SWAPS, search_costs, swap_search, work_of_swaps
from dpviz.domain import Domain
from dpviz.params import param
from dpviz.privacy.accounting import zcdp_of_epsilon
from dpviz.privacy.curator import Curator
from dpviz.privacy.plan import Plan
from dpviz.trace import Step

__all__ = ["StemmerKaplanSwap"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class StemmerKaplanSwap(PrivateCenters):
    """Stemmer-Kaplan as printed: candidates from dense cells, k of them chosen by private swap search.

    The candidates are those of `stemmer-kaplan`. The search starts at k random candidates and repeatedly swaps one for
    another; the more a swap lowers the cost of the rows, the higher its probability. Every swap reads all rows and
    costs budget, so the search is noisy: on the same budget, the noisy weights of `stemmer-kaplan` get much closer to
    KMeans' loss. The algorithm is included for comparison.

    Parameters
    ----------
    n_clusters, epsilon, delta, scales, repetitions, rounds, count_share, choice_share
        As for `stemmer-kaplan`; `choice_share` pays for the swaps.
    swaps : int or None, in [1, 200]
        Number of swaps T; None means 2k.

    Formal guarantee
    ----------------
    (epsilon, delta)-DP for one row added or removed. Thresholds use a delta/2 of their own; everything else composes by
    zCDP and converts at delta/2: a Gaussian release costs (sensitivity/noise)^2 / 2, a choice by the exponential
    mechanism e^2 / 8. A row adds between 0 and D = (2R)^2 to the cost of every set of candidates, so utilities move in
    one direction by at most D, and Gumbel noise of scale D/e makes each choice e-DP and e-bounded-range. T swaps and
    one final choice share the budget evenly. Public: as for `stemmer-kaplan`.

    Steps
    -----
    buckets, filter   as for `stemmer-kaplan`
    swap          released: candidates (m, q), out (q,), in (q,), moves bool, centers (k, d), swap, swaps;
                  hidden: utility (k m,)
    pick          released: candidates (m, q), picked, centers (k, d), swaps; hidden: utility (T + 1,)

    Deviations from the paper
    -------------------------
    As for `stemmer-kaplan`, except for the selection. Theorem 2.1 takes T = 6 k ln n swaps, 475 at n = 20000 and k = 8;
    each would get so little budget that its choice would be nearly uniform, so T = 2k here. Composition is zCDP instead
    of advanced composition, and the weight of a choice is exp(-e cost / D) without the factor 2, because costs are
    monotone under add/remove. For the costs, rows and candidates are truncated to multiples of 2^-12, so that sums are
    exact.

    References
    ----------
    .. [1] Stemmer and Kaplan, "Differentially private k-means with constant multiplicative error", NeurIPS 2018.
    .. [2] Gupta, Ligett, McSherry, Roth and Talwar, "Differentially private combinatorial optimization", SODA 2010.
    .. [3] Dong, Durfee and Rogers, "Optimal differential privacy composition for exponential mechanisms", ICML 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from dpviz.domain import Domain
    >>> X = np.repeat([[-0.5, 0.0], [0.5, 0.0]], 2000, axis=0)
    >>> trace = StemmerKaplanSwap(n_clusters=2, epsilon=4.0).run(X, domain=Domain.box(-1, 1, 2, n_public=4000), seed=0)
    >>> [step.kind for step in trace.steps][-2:], trace.cluster_centers.shape
    (['swap', 'pick'], (2, 2))
    """

    name: ClassVar[str] = "Stemmer-Kaplan, swap search"
    slug: ClassVar[str] = "stemmer-kaplan-swap"
    tagline: ClassVar[str] = (
        "Chooses among candidates by private swaps, as in the paper; slower and less accurate than Stemmer-Kaplan."
    )
    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {"two rounds": {"rounds": 2}}
    CODE: ClassVar[tuple[Line, ...]] = (
        Line("repeat with other random tables:", ("buckets",)),
        Line("  keep buckets with a high noisy count", ("buckets",), "buckets"),
        Line("  average their rows, with noise", ("buckets",), "averages"),
        Line("  another round, without the rows found so far", ("filter",)),
        *SWAPS,
    )

    swaps: int | None = param(
        None,
        low=1,
        high=200,
        kind="int",
        advanced=True,
        help="Number of swaps of the private local search. Default: 2k.",
    )

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Price thresholds and sums of every table, the swaps and the final choice."""
        delta = self.resolved_delta(n_public)
        zcdp = zcdp_of_epsilon(self.epsilon, delta / 2)
        mu = math.sqrt(2 * zcdp * (1 - self.choice_share))
        candidates = self.candidate_costs(mu, delta / 2, n_features)
        return Plan({**candidates, **search_costs(self.choice_share * zcdp, self.swaps or 2 * self.n_clusters)})

    def work(self, n_features: int, n_public: int) -> float:
        """Return a rough number of operations of 10 ns, from public values: the tables, and every swap."""
        plan = self.plan(n_features, n_public).costs
        candidates = 3 * math.sqrt(n_public * plan["buckets"][0].gdp)  # as many as runs found, within a factor of 2
        swaps = work_of_swaps(len(plan["swap"]), n_public, candidates, self.n_clusters)
        return super().work(n_features, n_public) + swaps

    def steps(self, curator: Curator, domain: Domain, rng: np.random.Generator) -> Iterator[Step]:
        """Find candidates in dense cells, then choose by private local search."""
        candidates = yield from self.gather(curator, domain, rng)
        yield from swap_search(curator, candidates, self.n_clusters, domain.radius, rng)
