"""Run Stemmer-Kaplan in the local model: nobody is trusted; every person sends one randomized report."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from dpviz.algorithms.base import Algorithm
from dpviz.algorithms.pseudocode import Line
from dpviz.algorithms.stemmer_kaplan.stemmer_kaplan import choose
from dpviz.domain import Domain
from dpviz.geometry import random_projection, snap_toward_zero
from dpviz.params import param
from dpviz.postprocessing.weighted import work_of_solve
from dpviz.privacy.costs import Report
from dpviz.privacy.curator import ALL, Curator
from dpviz.privacy.guarantee import TRUST, Neighboring, Notion
from dpviz.privacy.local import OUE, OneBit, flip_probability
from dpviz.privacy.plan import Plan
from dpviz.privacy.queries import ByUser, CellOf, NearestOf, OffsetOf, Projection
from dpviz.trace import Step

__all__ = ["StemmerKaplanLocal"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class StemmerKaplanLocal(Algorithm):
    """Stemmer-Kaplan, local model: each person randomizes the answer to one question; noise grows as sqrt(n).

    A public hash of each person's number decides their group, and each person sends one report. Each person of group A
    reports, for a grid of one of three widths, the cell that contains them; cells that stand out from the noise are
    heavy. Each person of group B reports one bit about their distance from the anchor of their heavy cell; the average
    of the bits moves the anchor to a candidate. Each person of group C reports the nearest candidate, which gives
    weights, and k-means on the weighted candidates is free. With a trusted curator the noise on a count does not grow
    with n; here it grows as sqrt(n), so the method needs many people.

    Parameters
    ----------
    n_clusters : int, in [1, 256]
        Number of clusters k. Public.
    epsilon : float, in [0.01, 20]
        Budget of each person's report.
    oracle : {"oue", "hadamard"}
        Encoding of one of K answers: K noisy bits (less noise), or one noisy bit of a public Hadamard row.
    budget : {"users", "epsilon"}
        Whether people are divided among the rounds (one report each), or everyone is asked in all three rounds with
        epsilon/3 each, which is worse: the variance falls faster with epsilon than with the number of reports.

    Formal guarantee
    ----------------
    epsilon-DP in the local model, delta = 0: changing one person's value changes the probability of any message they
    send by at most a factor of e^epsilon. Nobody needs to be trusted. Public: all parameters, the domain, n and each
    person's group, which depends on the person's number alone. A person is on one path, on which the label "report"
    occurs once (three times with budget="epsilon", at epsilon/3). Later questions depend on earlier reports; with
    budget="users", only on those of other people.

    Steps
    -----
    reports       released: width, offset (p,), projected, low (p,), shape (p,), estimates (K,), noise_sd, threshold,
                  keys (m, p) heavy cells, noisy_counts (m,), users, sample (s, K or 2), oracle, table, tables;
                  hidden: counts (K,), answers of the shown users
    averages      released: keys (m, p), anchors (m, d), averages (m, d), average_sd (m,), users, width, offset (p,),
                  projected, table, tables; hidden: sums (m, d)
    weights       released: candidates (m, d), noisy_weights (m,), noise_sd, users, up (n / users), total (n),
                  coreset_points (c, d), coreset_weights (c,), coreset_sd (c,); hidden: counts (m,) of the group
    choose        released: centers (k, d), candidates (c, d), weights (c,)

    Deviations from the paper
    -------------------------
    The conference paper states the local result and omits the algorithm; rounds, hashing, heavy hitters, averages and
    weights by nearest candidate follow its outline. Oracles are ours: OUE or Hadamard response replaces generic heavy
    hitters over an unbounded domain, because cells within public bounds can be listed (at most a few thousand). People
    are divided among the rounds. A cell is heavy above 2 standard deviations, and at most 6k cells per table are heavy
    (chosen by the losses on the benchmark blobs, where 3 standard deviations lost whole clusters at small epsilon).
    Averages are shrunk toward their anchor by the factor prior / (prior + variance), where the prior is a third of the
    squared clipping radius of offsets, and weights below 2 standard deviations are set to 0. With more than 3 columns,
    the cells are those of a random projection to 3, and averages start from the middle of the domain; that needs
    millions of people, and `advice` says so. DEMO and private runs simulate all people on one machine: OUE bits are
    independent, so the sum of all reports except the shown ones is drawn as binomials, an AGGREGATE SIMULATION with
    exactly the protocol's distribution; the shown reports are real and are part of the sum.

    References
    ----------
    .. [1] Stemmer and Kaplan, "Differentially private k-means with constant multiplicative error", NeurIPS 2018,
           Sections 1.1 and 1.4.
    .. [2] Wang, Blocki, Li and Jha, "Locally differentially private protocols for frequency estimation", USENIX
           Security 2017: optimized unary encoding.
    .. [3] Acharya, Sun and Zhang, "Hadamard response", AISTATS 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from dpviz.domain import Domain
    >>> X = np.repeat([[-0.5, 0.0], [0.5, 0.0]], 20_000, axis=0)
    >>> domain = Domain.box(-1, 1, 2, n_public=40_000)
    >>> trace = StemmerKaplanLocal(n_clusters=2, epsilon=4.0).run(X, domain=domain, seed=0)
    >>> bool(np.abs(np.sort(trace.cluster_centers[:, 0]) - [-0.5, 0.5]).max() < 0.1)
    True
    """

    name: ClassVar[str] = "Stemmer-Kaplan, local"
    slug: ClassVar[str] = "stemmer-kaplan-local"
    tagline: ClassVar[str] = (
        "Nobody is trusted: every person sends one randomized report, so the method needs many people."
    )
    neighboring: ClassVar[Neighboring] = Neighboring.REPLACE
    notion: ClassVar[Notion] = Notion.LOCAL
    trust: ClassVar[str] = TRUST[Notion.LOCAL]
    PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "one bit each": {"oracle": "hadamard"},
        "all people in all rounds": {"budget": "epsilon"},
    }

    HASHED: ClassVar[int] = 3  # p: rows with more columns are projected to this many.
    # Widths of the cells, in half-widths of the domain; twice as wide in a projection.
    WIDTHS: ClassVar[tuple[float, ...]] = (1.0, 0.5, 0.25)
    # shares of the people who report on cells, averages and weights
    GROUPS: ClassVar[tuple[float, float, float]] = (0.3, 0.4, 0.3)
    # a cell is heavy above this many standard deviations; the weights filter out most false cells
    HEAVY: ClassVar[float] = 2.0
    MOST_CELLS: ClassVar[int] = 6  # maximum number of heavy cells per table, in units of k
    SHOWN: ClassVar[int] = 24  # number of people per table whose reports are stored as sent
    CODE: ClassVar[tuple[Line, ...]] = (
        Line("everybody randomizes at home; then:", ("reports",)),
        Line("  in which bucket are you? Randomized answer", ("reports",), "report", events=("ask",)),
        Line("  keep buckets that many seem to name", ("reports",), events=("add",)),
        Line("  where in it? One random bit each", ("averages",), "report"),
        Line("which average is nearest? Randomized answer", ("weights",), "report"),
        Line("weighted k-means on the averages", ("choose",)),
    )
    AUDIT: ClassVar[dict[str, Any]] = {"budget": "epsilon"}

    epsilon: float = param(
        2.0,
        low=0.01,
        high=20,
        log=True,
        help="Budget of each person's own report. A smaller budget gives more noise and more privacy.",
    )
    oracle: str = param(
        "oue",
        choices=("oue", "hadamard"),
        advanced=True,
        help="With OUE every person sends K noisy bits; with Hadamard, one noisier bit.",
    )
    budget: str = param(
        "users",
        choices=("users", "epsilon"),
        advanced=True,
        help="What is divided among the three rounds: the people (better) or every person's epsilon.",
    )

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Price one report per person, or three with a third of epsilon each."""
        if self.budget == "users":
            return Plan({"report": (Report(self.epsilon),)})
        return Plan({"report": (Report(self.epsilon / 3),) * 3})

    def work(self, n_features: int, n_public: int) -> float:
        """Return a rough number of operations of 10 ns, from public values: reports, and k-means on candidates."""
        reports = 60.0 * n_public
        return super().work(n_features, n_public) + reports + work_of_solve(20, self.n_clusters, n_features)

    def predicted(self, n_features: int, n_public: int) -> dict[str, float]:
        """Return the standard deviations expected for a cluster of n/k people, from public values.

        Returns
        -------
        dict with `weight` (rows) and `center` (z units, over all columns, before shrinking, for the widest cells), and
        `heavy`, the smallest count among n people that makes a cell heavy
        """
        asked, informed, weighed = self._users(n_public)
        flip = flip_probability(self.plan(n_features, n_public).costs["report"][0].epsilon)  # type: ignore[attr-defined]
        count = informed / self.n_clusters
        radius = self.WIDTHS[0] / 2 if n_features <= self.HASHED else 1.0
        return {
            "weight": n_public / weighed * OUE(1, flip).sd(int(weighed)),
            "center": radius * OneBit(flip).sd(int(informed)) * n_features / max(count, 1.0),
            "heavy": n_public / asked * self.HEAVY * OUE(1, flip).sd(int(asked)),
        }

    def advice(self, n_features: int, n_public: int) -> tuple[str, ...]:
        """Return warnings if there are too few people for clusters to stand out, or for centers to be accurate."""
        error = self.predicted(n_features, n_public)
        sentences = list(super().advice(n_features, n_public)) if self.notion is not Notion.LOCAL else []
        if error["heavy"] > n_public / self.n_clusters:
            sentences.append(
                f"{self.name}: a cell needs {error['heavy']:,.0f} people to stand out, but an average cluster has "
                f"{n_public / self.n_clusters:,.0f}. Ask more people, or choose fewer centers."
            )
        if error["center"] > 0.5:
            sentences.append(
                f"{self.name}: too few people for so many columns at this epsilon: before they are shrunk toward the "
                f"middle, centers will be off by about {error['center']:.2g} times the domain's half-width."
            )
        return tuple(sentences)

    def _users(self, n_public: int) -> tuple[float, float, float]:
        """Return the numbers of people who are asked about one table's cells, one table's averages, and the weights."""
        tables = len(self.WIDTHS)
        if self.budget == "epsilon":
            return n_public / tables, n_public / tables, float(n_public)
        asked, informed, weighed = (share * n_public for share in self.GROUPS)
        return max(asked / tables, 1.0), max(informed / tables, 1.0), max(weighed, 1.0)

    def _scopes(self, curator: Curator, seed: int) -> tuple[list[int], list[int], list[int]]:
        """Split people into groups; return the scopes for cells and averages (one per table), and for weights."""
        tables = len(self.WIDTHS)
        if self.budget == "epsilon":
            scopes = list(curator.partition(ALL, ByUser(seed, (1 / tables,) * tables)))
            return scopes, scopes, scopes
        asked, informed, weighed = self.GROUPS
        shares = (*(asked / tables,) * tables, *(informed / tables,) * tables, weighed)
        scopes = list(curator.partition(ALL, ByUser(seed, shares)))
        return scopes[:tables], scopes[tables : 2 * tables], scopes[2 * tables :]

    def steps(self, curator: Curator, domain: Domain, rng: np.random.Generator) -> Iterator[Step]:
        """Find heavy cells, average one-bit reports, count the people nearest to each candidate, cluster candidates."""
        d, k, n = curator.n_features, self.n_clusters, curator.n_public
        seeds = [int(seed) for seed in rng.integers(2**62, size=2)]
        ask, tell, weigh = self._scopes(curator, seeds[0])
        base = 2.0 ** math.ceil(math.log2(min(1.0, domain.radius)))

        tables = []
        for t, scope in enumerate(ask):
            cell = self._cells(self.WIDTHS[t] * base, base, d, rng)
            heard = curator.collect("report", cell, scope, oracle=self.oracle, shown=self.SHOWN)
            threshold = self.HEAVY * heard.sd
            order = np.argsort(-heard.value, kind="stable")[: self.MOST_CELLS * k]
            heavy = np.sort(order[heard.value[order] > threshold])
            tables.append((cell, heavy, heard))
            released = {
                "table": t + 1, "tables": len(ask), "width": cell.width, "offset": cell.offset, "low": cell.low,
                "shape": np.array(cell.shape), "projected": cell.projection is not None, "estimates": heard.value,
                "noise_sd": heard.sd, "threshold": threshold, "keys": cell.keys(heavy),
                "noisy_counts": heard.value[heavy], "users": heard.users, "sample": heard.sample, "oracle": self.oracle,
            }  # fmt: skip
            title = f"Grid {t + 1} of {len(ask)}: {len(heavy)} of {cell.size} cells stand out from the noise"
            yield Step("reports", title, released)

        candidates = np.empty((0, d))
        for t, (scope, (cell, heavy, heard)) in enumerate(zip(tell, tables, strict=True)):
            flat = cell.projection is None
            radius = cell.width / 2 if flat else base
            question = OffsetOf(cell, heavy, radius, d, flat, seed=seeds[1])
            bits = curator.collect("report", question, scope, shown=self.SHOWN)
            counts = np.maximum(heard.value[heavy], 1.0) * bits.users / max(heard.users, 1)
            sd = bits.sd / np.maximum(counts, 1.0)
            means = np.clip(bits.value / np.maximum(counts, 1.0)[:, None], -radius, radius)
            prior = radius**2 / 3
            means *= (prior / (prior + sd**2))[:, None]
            averages = snap_toward_zero(domain.clip(question.anchors + means))
            candidates = np.concatenate([candidates, averages])
            released = {
                "table": t + 1, "tables": len(tell), "width": cell.width, "offset": cell.offset,
                "projected": not flat, "keys": cell.keys(heavy), "anchors": question.anchors, "averages": averages,
                "average_sd": sd, "users": bits.users,
            }  # fmt: skip
            title = (
                f"Averages {t + 1} of {len(tell)}: one bit from each of {bits.users:,} people moves {len(heavy)} "
                f"anchors"
            )
            yield Step("averages", title, released)
        if len(candidates) == 0:
            candidates = np.zeros((1, d))  # if nothing stands out, use the middle of the domain

        answers = [
            curator.collect("report", NearestOf(candidates, seed=seeds[1]), scope, oracle=self.oracle)
            for scope in weigh
        ]
        users = sum(answer.users for answer in answers)
        up = n / max(users, 1)
        weights = up * np.sum([answer.value for answer in answers], axis=0)
        sd = up * math.sqrt(sum(answer.sd**2 for answer in answers))
        significant = weights > 2 * sd if (weights > 2 * sd).any() else np.ones(len(candidates), dtype=bool)
        coreset_weights = np.maximum(weights[significant], 1.0) * n / np.maximum(weights[significant], 1.0).sum()
        released = {
            "candidates": candidates,
            "noisy_weights": weights,
            "noise_sd": sd,
            "users": users,
            "up": up,
            "total": n,
            "coreset_points": candidates[significant],
            "coreset_weights": coreset_weights,
            "coreset_sd": np.full(int(significant.sum()), sd),
        }
        yield Step("weights", f"{users:,} people report which of {len(candidates)} candidates is nearest", released)
        yield choose(candidates[significant], coreset_weights, k, domain, rng)

    def _cells(self, width: float, base: float, d: int, rng: np.random.Generator) -> CellOf:
        """Return a shifted grid whose cells within public bounds can be listed."""
        p, projection, reach = d, None, base
        if d > self.HASHED:
            p, width, reach = self.HASHED, 2 * width, 2 * base
            projection = Projection(random_projection(d, p, rng))
        offset = snap_toward_zero(rng.uniform(0, width, p))
        low = np.floor((-reach + offset) / width).astype(np.int64)
        high = np.floor((reach + offset) / width).astype(np.int64)
        shape = tuple(int(size) for size in high - low + 1)
        return CellOf(width, offset, low, shape, projection, seed=int(rng.integers(2**62)))
