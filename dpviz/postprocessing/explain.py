"""Explain in the data's units what sets each cluster apart, with the noise, from released values only.

There are two sources. The first source is a run of `ExplainClusters`, which releases noisy counts by cluster, column
and bin: for every cluster and every edge of a column, the share of the cluster's rows above the edge is compared with
the share of all other rows. The second source is free: the centers themselves, if their noise is declared; each is
compared with the mean of the other centers. The intervals of all comparisons hold jointly (95%), so that the largest of
many differences is not merely due to chance; if intervals overlap, the answer is "cannot tell". Centers show where
clusters lie, but not how their rows are spread.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.stats import norm

from dpviz.domain import Domain
from dpviz.geometry import bincount
from dpviz.numbers import factor, number, unlogged
from dpviz.postprocessing.at_bound import bounds_words
from dpviz.postprocessing.center_sd import CELLS, members
from dpviz.postprocessing.released import CenterNoise, center_noise
from dpviz.trace import Trace

__all__ = ["BINS", "NO_SIZE", "Explanation", "drowned", "edges_between", "of_centers", "of_trace", "truth_of"]

BINS = 6
CONFIDENCE = 0.95
LEAST = 0.1  # differences between two shares below this value are not stated
MOST = 3  # maximum number of columns that a cluster's sentence names
NO_SIZE = "cannot tell: its size does not stand out from the noise."
_NO_COLUMN = "cannot tell: no column differs from the others by more than the noise."


@dataclasses.dataclass(frozen=True, eq=False)
class Explanation:
    """Shares of rows above public edges, in each cluster and in all others together.

    Attributes
    ----------
    counts : ndarray of shape (k, d, b), noisy numbers of rows between the edges
    variances : ndarray of shape (k, d, b), variances of their noise
    edges : ndarray of shape (d, b - 1), original units
    heavy : whether the noise is Laplace; a sum of a few draws then has longer tails than a Gaussian
    """

    counts: np.ndarray
    variances: np.ndarray
    edges: np.ndarray
    heavy: bool = False

    @cached_property
    def z(self) -> float:
        """Return the half-width, in standard deviations, of intervals that hold jointly for all shares.

        The intervals hold with probability 95% (Bonferroni), including those for the shares of the others. Under
        Laplace noise, the half-width is that for a single draw, which is wider than for any sum of draws.
        """
        k, d, b = self.counts.shape
        miss = (1 - CONFIDENCE) / (2 * k * d * (b - 1))
        return -math.log(miss) / math.sqrt(2) if self.heavy else float(norm.isf(miss / 2))

    @cached_property
    def shares(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the shares of rows above each edge and their standard deviations, shape (2, k, d, b - 1) each.

        Index 0 of the first axis stands for the cluster, and index 1 for all other clusters together. A share is s = A
        / (A + B), where A and B are the counts above and below the edge. Its error is ((1 - s0) a - s0 b) / (A + B),
        where a and b are the noise of A and B, and s0 is the true share. So s0 can be any value for which (A + B)^2 (s
        - s0)^2 is at most z^2 times the variance (1 - s0)^2 var A + s0^2 var B; these values form an interval
        (Fieller). The standard deviation is the longer side of the interval, measured from s, divided by z.
        """
        pairs = [self._share(self.counts, self.variances)]
        others = self.counts.sum(axis=0) - self.counts, self.variances.sum(axis=0) - self.variances
        pairs.append(self._share(*others))
        return np.stack([share for share, _ in pairs]), np.stack([sd for _, sd in pairs])

    def _share(self, counts: np.ndarray, variances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        above, below = _above(counts), _below(counts)
        total = above + below
        noise = np.sqrt(_above(variances) + _below(variances))
        known = total > self.z * noise  # a size is unknown if noise alone could explain it
        safe = np.where(known, total, 1.0)
        raw, wide = above / safe, self.z**2 * _above(variances)
        a, b = safe**2 - self.z**2 * noise**2, safe**2 * raw - wide  # coefficients of a s0^2 - 2 b s0 + c <= 0
        root = np.sqrt(np.maximum(b**2 - a * (safe**2 * raw**2 - wide), 0))
        a = np.where(known, a, 1.0)
        share = np.where(known, np.clip(raw, 0, 1), 0.5)
        low, high = (np.clip((b + side * root) / a, 0, 1) for side in (-1, 1))
        return share, np.where(known, np.maximum(high - share, share - low) / self.z, np.inf)

    @cached_property
    def sizes_known(self) -> np.ndarray:
        """Return the mask, shape (k,), of the clusters whose sizes stand out from their noise."""
        return np.isfinite(self.shares[1][0]).all(axis=(1, 2))

    def clearest(self) -> pd.DataFrame:
        """Return, for each cluster and column, the edge with the largest certain difference, clearest columns first.

        Columns: cluster (from 1), column (number), edge, share, share_sd, others, others_sd, least (a lower bound on
        the difference), told (False if the difference cannot be told from noise).
        """
        share, sd = self.shares
        apart = np.abs(share[0] - share[1]) - self.z * (sd[0] + sd[1])
        best = np.where(np.isfinite(apart), apart, -np.inf).argmax(axis=2)
        rows = []
        for (c, j), b in np.ndenumerate(best):
            least = float(apart[c, j, b])
            rows.append(
                {
                    "cluster": c + 1, "column": j, "edge": float(self.edges[j, b]),
                    "share": float(share[0, c, j, b]), "share_sd": float(sd[0, c, j, b]),
                    "others": float(share[1, c, j, b]), "others_sd": float(sd[1, c, j, b]),
                    "least": least, "told": bool(least >= LEAST),
                }
            )  # fmt: skip
        return pd.DataFrame(rows).sort_values(["cluster", "least"], ascending=[True, False], ignore_index=True)

    def table(
        self, columns: Sequence[str], truth: Explanation | None = None, units: Sequence[str] = ()
    ) -> pd.DataFrame:
        """Return `clearest` as a table to show: shares in percent with their half-widths, or "cannot tell".

        `truth` holds the counts without noise; it adds two columns: NOT PRIVATE.
        """
        clearest = self.clearest()
        table = pd.DataFrame(
            {
                "cluster": clearest.cluster,
                "column": [columns[j] for j in clearest.column],
                "at least": [
                    edge if unlogged(units[j] if units else "") is None else math.expm1(edge)
                    for edge, j in zip(clearest.edge, clearest.column, strict=True)
                ],
                "of the cluster, %": 100 * clearest.share,
                "± cluster": 100 * self.z * clearest.share_sd,
                "of all others, %": 100 * clearest.others,
                "± others": 100 * self.z * clearest.others_sd,
                "different": np.where(clearest.told, "yes", "cannot tell"),
            }
        )
        if truth is not None:
            at = [
                (c - 1, j, int(np.flatnonzero(self.edges[j] == edge)[0]))
                for c, j, edge in zip(clearest.cluster, clearest.column, clearest.edge, strict=True)
            ]
            for which, name in enumerate(("true, of the cluster, % (NOT PRIVATE)", "true, of all others, %")):
                table[name] = [100 * truth.shares[0][which][place] for place in at]
        return table

    def sentences(self, columns: Sequence[str], units: Sequence[str] = ()) -> list[str]:
        """Return one sentence per cluster, with the data's names and units."""
        table, lines = self.clearest(), []
        for cluster, rows in table.groupby("cluster"):
            reported = rows[rows.told].head(MOST)
            parts = [_words(row, columns, units, self.z) for row in reported.itertuples()]
            if not self.sizes_known[int(cluster) - 1]:
                words = NO_SIZE
            elif not parts:
                words = _NO_COLUMN
            else:
                words = f"{'; '.join(parts)}."
            lines.append(f"Cluster {cluster}: {words}")
        return lines


def _above(counts: np.ndarray) -> np.ndarray:
    """Return the number of rows above each edge, summed over bins."""
    return counts[..., ::-1].cumsum(axis=-1)[..., ::-1][..., 1:]


def _below(counts: np.ndarray) -> np.ndarray:
    return counts.cumsum(axis=-1)[..., :-1]


def _words(row: object, columns: Sequence[str], units: Sequence[str], z: float) -> str:
    column, edge, share = row.column, row.edge, row.share  # type: ignore[attr-defined]
    others, share_sd, others_sd = row.others, row.share_sd, row.others_sd  # type: ignore[attr-defined]
    side = "at least"
    if share < others:
        side, share, others = "below", 1 - share, 1 - others
    place = _place(edge, units, column)
    return (
        f"{100 * share:.0f}% (±{100 * z * share_sd:.0f}) have {columns[column]} {side} {place}, compared "
        f"with {100 * others:.0f}% (±{100 * z * others_sd:.0f}) of all others"
    )


def edges_between(centers: np.ndarray, domain: Domain, bins: int = BINS) -> np.ndarray:
    """Return edges per column, evenly spaced from the lowest to the highest center; (d, bins - 1), original units.

    The edges are rounded to a fiftieth of that range, or more finely, so that they have few digits. In a column in
    which all centers agree, the edges divide the declared bounds evenly. Only released values are used.
    """
    low, high = centers.min(axis=0), centers.max(axis=0)
    same = high - low <= 1e-3 * (domain.high - domain.low)
    step = (domain.high - domain.low) / bins
    low, high = np.where(same, domain.low + step, low), np.where(same, domain.high - step, high)
    edges = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, bins - 1)
    unit = 10.0 ** np.floor(np.log10((high - low) / 50))[:, None]
    return np.rint(edges / unit) * unit


def of_centers(trace: Trace, columns: Sequence[str], units: Sequence[str] = ()) -> list[str] | None:
    """Return one sentence per cluster from centers and noise, at no cost; None if the centers cannot be compared.

    A sentence states how a center differs from the mean of the other centers if the difference exceeds the sum of both
    half-widths by at least a tenth of the width of the bounds. Centers cannot be compared if no noise is declared, if
    they are averages of the middles of cells, or if there is only one. A center at a declared bound says so.
    """
    noise, centers, domain = center_noise(trace), np.asarray(trace.cluster_centers), trace.domain
    k, d = centers.shape
    if noise.sd is None or noise.meaning == CELLS or k < 2:  # the middle of a cell may be far from the cell's rows
        return None
    z = _jointly(k, d)
    sd = noise.sd * domain.half_width
    others = (centers.sum(axis=0) - centers) / (k - 1)
    others_sd = np.sqrt((sd**2).sum(axis=0) - sd**2) / (k - 1)
    width = domain.high - domain.low
    least = (np.abs(centers - others) - z * (sd + others_sd)) / width
    lost, bounds = drowned(trace), bounds_words(trace, columns, units)
    sentences = []
    for c in range(k):
        if lost[c]:
            sentences.append(f"Cluster {c + 1}: {NO_SIZE}")
            continue
        order = [j for j in np.argsort(-least[c], kind="stable")[:MOST] if least[c, j] >= LEAST]
        parts = [
            f"{columns[j]} {_around(centers[c, j], z * sd[c, j], units, j)}, the others "
            f"{_around(others[c, j], z * others_sd[c, j], units, j)} on average"
            for j in order
        ]
        words = "; ".join(filter(None, (*(parts or [_NO_COLUMN.rstrip(".")]), bounds[c])))
        sentences.append(f"Cluster {c + 1}: {words}.")
    return sentences


def _jointly(k: int, d: int) -> float:
    """Return the half-width, in standard deviations, of intervals that hold jointly for all columns of k centers."""
    return float(norm.isf((1 - CONFIDENCE) / 2 / (2 * k * d)))


def drowned(trace: Trace) -> np.ndarray:
    """Return the mask, shape (k,), of the centers that may consist of noise alone."""
    return _drowned(trace, center_noise(trace), _jointly(*trace.cluster_centers.shape))


def _drowned(trace: Trace, noise: CenterNoise, z: float) -> np.ndarray:
    """Return the mask of `drowned` for intervals of `z` standard deviations.

    Such a center has a size within its noise or, if centers are averages of weighted points, only points whose weights
    are within their noise (the threshold holds for all points together). If only the positive ones of many noise points
    are kept, their weights add up to a size that looks real.
    """
    k = len(trace.cluster_centers)
    lost = np.zeros(k, dtype=bool)
    if noise.sizes is not None and noise.sizes_sd is not None:
        lost = np.asarray(noise.sizes <= z * noise.sizes_sd)
    if trace.coreset is not None:
        weights = np.asarray(trace.coreset.weights)
        clear = weights > norm.isf((1 - CONFIDENCE) / len(weights)) * np.asarray(trace.coreset.sd)
        domain = trace.domain
        nearest = members(domain.normalize(trace.coreset.points), domain.normalize(trace.cluster_centers))
        lost = lost | (bincount(nearest[clear], minlength=k) == 0)
    return lost


def _around(value: float, reach: float, units: Sequence[str], column: int) -> str:
    """Return a coordinate with the half-width of its interval: 58 years (±1.3), or 3,570 EUR (×÷1.2) of logarithms."""
    log = column < len(units) and unlogged(units[column]) is not None
    return f"{_place(value, units, column)} ({f'×÷{factor(reach)}' if log else f'±{number(reach, 2)}'})"


def _place(value: float, units: Sequence[str], column: int) -> str:
    """Return a coordinate with its unit; a logarithm as the value that it is of."""
    unit = units[column] if column < len(units) else ""
    plain = unlogged(unit)
    if plain is not None:
        value, unit = math.expm1(value), plain
    return f"{number(value)} {unit}".rstrip()


def truth_of(trace: Trace) -> Explanation | None:
    """Return the counts without noise if a seeded run has recorded them: NOT PRIVATE."""
    hidden = [part for part in trace.steps[-1].hidden if "bins" in part.statistic]
    if not hidden:
        return None
    counts = np.asarray(hidden[0].statistic["bins"], dtype=float)
    return Explanation(counts, np.full(counts.shape, 1e-12), of_trace(trace).edges)


def of_trace(trace: Trace) -> Explanation:
    """Return the explanation that a run of `ExplainClusters` has released.

    Raises
    ------
    ValueError
        If the trace is of another algorithm.
    """
    released = trace.steps[-1].released
    if "bin_counts" not in released:
        raise ValueError(f"explain: {trace.name} counts no columns by cluster; use the trace of ExplainClusters.")
    edges = trace.domain.denormalize(np.asarray(released["edges"]).T).T
    counts = np.asarray(released["bin_counts"], dtype=float)
    return Explanation(counts, np.full(counts.shape, float(released["counts_sd"]) ** 2), edges)
