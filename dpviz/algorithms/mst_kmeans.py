"""Synthesize rows from noisy tables of columns and of a tree of pairs, then cluster these rows (MST, then KMeans)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Generator, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from scipy.spatial.distance import cdist

from dpviz.algorithms.base import ApproximateDP
from dpviz.algorithms.pseudocode import Line
from dpviz.domain import Domain
from dpviz.geometry import bincount, snap
from dpviz.numbers import counted
from dpviz.params import param
from dpviz.postprocessing.center_sd import members
from dpviz.postprocessing.tree_model import FAINT, TreeModel, blended, fit
from dpviz.postprocessing.weighted import solve, work_of_solve
from dpviz.privacy.accounting import mu_of_epsilon, zcdp_of_epsilon
from dpviz.privacy.costs import Cost, Exponential, Gaussian
from dpviz.privacy.curator import Curator, Noisy
from dpviz.privacy.plan import Plan, fitted
from dpviz.privacy.queries import ColumnCounts, PairScore, PairTables
from dpviz.trace import Step

__all__ = ["MSTKMeans"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class MSTKMeans(ApproximateDP):
    """MST, then KMeans: release synthetic rows once, and cluster these as if they were the data.

    Every column is cut into equal bins within its declared bounds, and the rows in each bin are counted, with noise.
    If columns were independent, these counts would predict the table of every pair of columns. The exponential
    mechanism picks pairs whose true table is far from that prediction, one after another, until they join all columns
    in a tree. The tables of the picked pairs are counted, with noise. They determine a distribution in which all
    dependence runs along the tree; synthetic rows are drawn from it, and k-means on them is free. The same rows answer
    any other question for free, too.

    Weak spots: a tree of pairs knows no group that only three or more columns together tell apart, at any epsilon. It
    then invents groups that mix columns of real ones: with 8 tight groups in 4 columns the loss stays at 2.0 times
    KMeans', where NSM has 1.00. With one-hot columns, synthetic rows may have two categories of a column or none. In
    two columns nothing is lost that way, but groups narrower than a bin are blurred. Few rows drown in the noise of the
    cells. A run warns of all three: on 120 generated sets it warned in 54 of 74 runs with at least 1.4 times KMeans'
    loss, and in 8 of 46 others (lab/benchmarks/results/cliffs.md). Loss at epsilon 1 as a multiple of KMeans' (3
    seeds), then NSM's and PrivTree's: town 1.01 (1.00, 1.00), iris 6.7 ± 2.7 (2.1, 4.4), wine 3.3 ± .2 (1.8, 6.1),
    digits 1.77 ± .06 (1.33, 3.73). Where a few rows lie far out in two columns it can be the better one at a small
    epsilon: 3.3 ± .9 at epsilon .5 against 9 ± 8 (NSM's candidates) and 3.1 ± .5.

    Parameters
    ----------
    n_clusters : int, in [1, 256]
        Number of clusters k. Public.
    epsilon : float, in [0.01, 100]
        Total privacy budget epsilon.
    delta : float or None, in [1e-12, 0.5]
        Total delta; None means 1/(100 n_public).
    bins : int or None, in [2, 1e+06]
        Number of equal bins of each column, public. None means 6 to 64, so many that rows spread evenly over a table
        would give every cell about 1.7 standard deviations of its noise. All tables from which the tree is chosen may
        have at most 524,288 cells together; a run that would need more is refused.
    column_share, pair_share : float, in [0.05, 0.45]
        Shares of the zCDP budget for the counts of columns and for choosing pairs; the rest goes to the tables. No
        share is kept for choosing pairs with one or two columns, which leave no choice.

    Formal guarantee
    ----------------
    (epsilon, delta)-DP for one row added or removed. Public: all parameters and the domain with its nominal N; bins
    never depend on rows. A row lies in one bin of each of d columns, so its counts have l2 sensitivity sqrt(d); it lies
    in one cell of each of d - 1 tables, so those have sqrt(d - 1). A pair's score is the sum of absolute differences
    between its true table and the prediction from released counts. A row changes one cell of every table by 1, so it
    moves each score by at most 1, up or down, and the range is 2. The d - 1 choices cost rho = epsilon_i^2 / 8 each, by
    bounded range [2], and the Gaussian counts mu^2 / 2; the total is the smaller of that zCDP sum and basic composition
    of the choices with exact Gaussian DP. With one or two columns every release is Gaussian, and mu is exact. The
    fitted tree, the rows, their number and the centers follow from released values.

    Steps
    -----
    marginals     released: noisy_counts (d, b), counts_sd; hidden: true counts
    pairs         released: pairs (t, 2), candidates (c, 2) (3 columns or more); hidden: scores (c,) at every choice
    tables        released: tables_of (t, 2), noisy_tables (t, b, b), tables_sd (2 columns or more); hidden: true tables
    synthetic-rows     released: rows (m, d), total, column_counts (d, b)
    synthetic-centers  released: centers (k, d), noisy_counts (k,)

    Deviations from the paper
    -------------------------
    Bins replace categories, and values are spread evenly within a bin. The number of bins follows from the noise; the
    authors' program takes the domain as it comes. Composition also uses exact Gaussian DP where that is tighter. The
    counts are made consistent by projections: on a tree these determine the distribution. The authors' package mbi,
    which fits any graphical model, needs JAX, and the current release has no MST. Counts below two standard deviations
    of the noise are taken for noise, because k-means, unlike the queries of the paper, suffers from rows far
    away from all others. Above 64 columns only pairs of columns that stand near each other are candidates, at most
    2,016 pairs or those of neighbors. The number of rows is the released noisy total, but at least 2,000 and at most
    10,000, because rows cost nothing and more of them show the same distribution.

    References
    ----------
    .. [1] McKenna, Miklau and Sheldon, "Winning the NIST contest: a scalable and general approach to differentially
       private synthetic data", Journal of Privacy and Confidentiality 11(3), 2021, Algorithm 1 (MST); arXiv 2108.04978.
    .. [2] Dong, Durfee and Rogers, "Optimal differential privacy composition for exponential mechanisms", ICML 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from dpviz.domain import Domain
    >>> X = np.repeat([[-0.5, 0.0], [0.5, 0.0]], 500, axis=0)
    >>> trace = MSTKMeans(n_clusters=2, epsilon=4.0).run(X, domain=Domain.box(-1, 1, 2, n_public=1000), seed=0)
    >>> sorted(trace.cluster_centers[:, 0].round(1).tolist())
    [-0.5, 0.5]
    """

    name: ClassVar[str] = "MST-KMeans"
    slug: ClassVar[str] = "mst-kmeans"
    tagline: ClassVar[str] = "Draws synthetic rows from noisy tables of columns and of pairs, and clusters these rows."
    MOST_CELLS: ClassVar[int] = 2**19  # of all tables from which the tree is chosen, so that they fit in memory
    MOST_PAIRS: ClassVar[int] = 64 * 63 // 2  # candidates: every pair of 64 columns
    BINS: ClassVar[tuple[int, int]] = (6, 64)  # range of the default number of bins
    CONTENT: ClassVar[float] = 0.6  # number of cells, as a multiple of N / noise; between the best of .1, .3, 1, 2
    ROWS: ClassVar[tuple[int, int]] = (2_000, 10_000)  # range of the number of synthetic rows
    # `doubts` warns if counts that stand out from the noise hold a smaller share of the rows than that
    VISIBLE: ClassVar[float] = 0.6
    # `doubts` also warns if both signs of `blended` reach these values, or if spreading values evenly in their bins
    # makes this share of the synthetic rows' loss; lab/benchmarks/results/cliffs.md has the rates
    BLENDED: ClassVar[tuple[float, float]] = (2.0, 1.4)
    BLURRED: ClassVar[float] = 1 / 3
    CODE: ClassVar[tuple[Line, ...]] = (
        Line("cut every column into bins within the bounds", ("marginals",), at=("first",), events=("count",)),
        Line("count the rows in every bin, with noise", ("marginals",), "columns", events=("noise",)),
        Line("until a tree joins all columns:", ("pairs",)),
        Line("  draw a pair, dependent ones more often", ("pairs",), "pairs"),
        Line("count each picked pair's table, with noise", ("tables",), "tables"),
        Line("make all counts fit each other, none below 0", ("synthetic-rows",)),
        Line("draw synthetic rows along the tree", ("synthetic-rows",)),
        Line("k-means on the synthetic rows", ("synthetic-centers",)),
    )
    AUDIT: ClassVar[dict[str, Any]] = {"bins": 3, "pair_share": 0.45}

    bins: int | None = param(
        None,
        low=2,
        high=1_000_000,
        kind="int",
        log=True,
        advanced=True,
        help="Number of equal bins of each column. The default follows from n, d and ε.",
    )
    column_share: float = param(
        1 / 3, low=0.05, high=0.45, advanced=True, help="Share of the budget for the counts of single columns."
    )
    pair_share: float = param(
        1 / 3, low=0.05, high=0.45, advanced=True, help="Share of the budget for choosing pairs (3 columns or more)."
    )

    def plan(self, n_features: int, n_public: int) -> Plan:
        """Price the counts of columns, the choices of pairs, and the tables of the picked pairs."""
        delta = self.resolved_delta(n_public)
        if n_features <= 2:
            return self._priced(n_features, mu_of_epsilon(self.epsilon, delta))
        alone = math.sqrt(2 * zcdp_of_epsilon(self.epsilon, delta))
        return fitted(lambda scale: self._priced(n_features, scale * alone), self.epsilon, delta)

    def _priced(self, d: int, mu: float) -> Plan:
        """Return a plan whose zCDP costs add up to mu^2 / 2."""
        if d == 1:
            return Plan({"columns": (Gaussian(mu),)})
        chosen = self.pair_share if d > 2 else 0.0
        costs: dict[str, tuple[Cost, ...]] = {"columns": (Gaussian(mu * math.sqrt(self.column_share)),)}
        if chosen:
            costs["pairs"] = (Exponential(2 * mu * math.sqrt(chosen / (d - 1))),) * (d - 1)
        return Plan({**costs, "tables": (Gaussian(mu * math.sqrt(1 - self.column_share - chosen)),)})

    def candidates(self, n_features: int) -> np.ndarray:
        """Return the pairs of columns that a tree may hold, shape (c, 2); use public values only.

        All pairs are candidates or, if these are more than MOST_PAIRS, those at most so many columns apart that they
        are not, but always those of neighboring columns.
        """
        one, other = np.triu_indices(n_features, 1)
        reach = max(1, int(np.searchsorted(np.cumsum(np.arange(n_features - 1, 0, -1)), self.MOST_PAIRS, side="right")))
        return np.stack([one, other], axis=1)[other - one <= reach].astype(np.int64)

    def parts(self, n_features: int, n_public: int) -> int:
        """Return the number of bins of each column; use public values only."""
        if self.bins is not None:
            return self.bins
        wanted = self._wanted(n_features, n_public)
        return int(np.clip(wanted, self.BINS[0], min(self.BINS[1], self._most(n_features))))

    def _most(self, n_features: int) -> int:
        """Return the maximum number of bins for which all tables that are counted stay within MOST_CELLS."""
        tables = len(self.candidates(n_features))
        return math.isqrt(self.MOST_CELLS // tables) if tables else self.MOST_CELLS

    def _wanted(self, n_features: int, n_public: int) -> float:
        costs = self.plan(n_features, n_public).costs
        if n_features == 1:
            return self.CONTENT * n_public * costs["columns"][0].gdp
        return math.sqrt(self.CONTENT * n_public * costs["tables"][0].gdp / math.sqrt(n_features - 1))

    def check_domain(self, domain: Domain, n_public: int) -> None:
        """Refuse tables with too many cells, and more centers than rows."""
        super().check_domain(domain, n_public)
        d, most = domain.n_features, self._most(domain.n_features)
        if self.bins is not None and self.bins > most:
            tables = counted(len(self.candidates(d)), "table") + f" of {self.bins:,} × {self.bins:,} cells"
            raise ValueError(
                f"{self.name}: bins must be at most {most:,} with {counted(d, 'column')}; got {self.bins:,}, and "
                + (f"{tables} would have to be counted." if d > 1 else "so many bins cannot be stored.")
            )

    def advice(self, n_features: int, n_public: int) -> tuple[str, ...]:
        """Return the base class's warnings, and one if even the coarsest tables drown in noise."""
        sentences = super().advice(n_features, n_public)
        if self.bins is not None or self._wanted(n_features, n_public) >= self.BINS[0]:
            return sentences
        return (
            *sentences,
            f"{self.name}: too little data for this epsilon: with {n_public:,} rows and "
            f"{counted(n_features, 'column')}, noise is as large as the counts even with {self.BINS[0]} bins a column. "
            "Use fewer columns, more rows, or a larger epsilon.",
        )

    def doubts(self, released: Mapping[str, Mapping[str, Any]], domain: Domain) -> tuple[str, ...]:
        """Return a warning if most counts do not stand out from the noise or, if they do, if groups seem lost."""
        if "tables" in released:
            counts, sd = released["tables"]["noisy_tables"], released["tables"]["tables_sd"]
        else:  # one column
            counts, sd = released["marginals"]["noisy_counts"], released["marginals"]["counts_sd"]
        noise = counts.size * sd * math.exp(-(FAINT**2) / 2) / math.sqrt(2 * math.pi)  # what noise alone would add
        seen = counts[counts >= FAINT * sd].sum() - noise
        if seen >= self.VISIBLE * len(counts) * released["synthetic-rows"]["total"]:
            return self._lost(released, domain)
        return (
            f"{self.name}: too little data for this epsilon: most counts do not stand out from their noise, so "
            "synthetic rows lie where noise put them. Use more rows, fewer columns, or narrower bounds if you know "
            "them.",
        )

    def _lost(self, released: Mapping[str, Mapping[str, Any]], domain: Domain) -> tuple[str, ...]:
        """Return warnings if synthetic rows seem to have lost groups: narrower than a bin, or blended by the tree."""
        rows, centers = released["synthetic-rows"]["rows"], released["synthetic-centers"]["centers"]
        width = 2 * domain.box_z / released["marginals"]["noisy_counts"].shape[1]
        found = []
        if (width**2).sum() / 12 >= self.BLURRED * cdist(rows, centers, "sqeuclidean").min(axis=1).mean():
            found.append(
                f"{self.name}: bins are about as wide as clusters, so narrower groups are blurred. Declare narrower "
                "bounds if you know them, or choose another method."
            )
        if "pairs" in released:  # with one or two columns, the counts are the whole distribution
            signs = blended(rows, released["pairs"]["pairs"], centers)
            if all(sign >= least for sign, least in zip(signs, self.BLENDED, strict=True)):
                found.append(
                    f"{self.name}: pairs of columns show groups that the synthetic rows do not show over all columns, "
                    "so they may mix columns of different groups. Compare with another method."
                )
        return tuple(found)

    def work(self, n_features: int, n_public: int) -> float:
        """Return a rough number of operations of 10 ns: all candidates' tables are counted once, then k-means runs."""
        n_rows, pairs = int(np.clip(n_public, *self.ROWS)), len(self.candidates(n_features))
        tables = 4e3 * pairs + 110.0 * n_public * n_features
        return 1e5 + tables + work_of_solve(n_rows, self.n_clusters, n_features)

    def steps(self, curator: Curator, domain: Domain, rng: np.random.Generator) -> Iterator[Step]:
        """Count columns, choose pairs, count their tables; draw rows from the fitted tree and cluster these."""
        d, half = curator.n_features, domain.box_z
        b = self.parts(d, curator.n_public)
        columns = curator.release("columns", ColumnCounts(half, b))
        yield Step(
            "marginals",
            f"{counted(d, 'column')} in {b} bins each are counted, with noise of ±{columns.sd:.3g} on each bin",
            {"noisy_counts": columns.value, "counts_sd": columns.sd},
        )
        pairs = self.candidates(d)
        if d > 2:
            pairs = yield from self._pairs(curator, domain, columns, PairTables(half, b, pairs))
        tables = Noisy(np.zeros((0, b, b)), 0.0)
        if d > 1:
            tables = curator.release("tables", PairTables(half, b, pairs))
            yield Step(
                "tables",
                f"{counted(len(pairs), 'table')} of {b} × {b} cells, counted with noise of ±{tables.sd:.3g} on each",
                {"tables_of": pairs, "noisy_tables": tables.value, "tables_sd": tables.sd},
            )
        model = self._model(curator, columns, pairs, tables)
        n_rows = int(np.clip(round(model.total), *self.ROWS))
        rows = domain.clip(model.draw(n_rows, half, rng))
        yield Step(
            "synthetic-rows",
            f"{n_rows:,} synthetic rows stand for about {model.total:,.0f} real ones; none is anybody's",
            {"rows": rows, "total": model.total, "column_counts": model.columns},
        )
        centers = snap(domain.clip(solve(rows, np.ones(n_rows), self.n_clusters, rng, jitter=1e-3)))
        sizes = bincount(members(rows, centers), minlength=len(centers)) * (model.total / n_rows)
        yield Step(
            "synthetic-centers",
            f"k-means on the synthetic rows gives {counted(len(centers), 'center')} at no cost",
            {"centers": centers, "noisy_counts": sizes},
        )

    def _pairs(
        self, curator: Curator, domain: Domain, columns: Noisy, tables: PairTables
    ) -> Generator[Step, None, np.ndarray]:
        """Yield and return a spanning tree of the columns: pairs (d - 1, 2), each chosen by how dependent it looks."""
        d, every = curator.n_features, tables.pairs
        alone = self._model(curator, columns, every[:0], Noisy(np.zeros((0, tables.parts, tables.parts)), 0.0))
        one, other = alone.columns[every[:, 0]], alone.columns[every[:, 1]]
        prediction = snap(one[:, :, None] * other[:, None, :] / alone.total)
        tree, chosen = np.arange(d), []  # columns with the same number are joined already
        for _ in range(d - 1):
            at = curator.select("pairs", PairScore(tables, prediction, tree[every[:, 0]] != tree[every[:, 1]]))
            tree = np.where(tree == tree[every[at, 1]], tree[every[at, 0]], tree)
            chosen.append(at)
        picked = every[chosen]
        first = " and ".join(domain.name(int(column)) for column in picked[0])
        title = f"{d - 1} pairs join {d} columns, drawn by how far they seem from independent; the first: {first}"
        yield Step("pairs", title, {"pairs": picked, "candidates": every})
        return picked

    def _model(self, curator: Curator, columns: Noisy, pairs: np.ndarray, tables: Noisy) -> TreeModel:
        """Return the tree model of the released counts."""
        ratio = 1.0
        if len(pairs):  # the noise's variances follow from the plan, also in a run without noise
            priced = [curator.plan.price(label, 0).gdp for label in ("columns", "tables")]
            ratio = len(pairs) / curator.n_features * (priced[0] / priced[1]) ** 2
        total = curator.n_noisy.value if curator.n_noisy else float(columns.value.sum() / len(columns.value))
        return fit(columns.value, pairs, tables.value, total=total, sd=tables.sd, ratio=ratio)
