"""Find dense cells in shifted grids of several scales and average each into a candidate (Private-Centers).

`stemmer-kaplan` and `stemmer-kaplan-swap` share everything up to the choice of k among the candidates.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Generator
from typing import ClassVar

import numpy as np

from dpviz.algorithms.base import ApproximateDP
from dpviz.domain import Domain
from dpviz.geometry import random_projection, snap_toward_zero
from dpviz.params import param
from dpviz.privacy.costs import Cost, Gaussian, Threshold
from dpviz.privacy.curator import ALL, Curator
from dpviz.privacy.queries import CellSums, InBalls, OccupiedCells, Projection, cell_centers
from dpviz.trace import Step

__all__ = ["PrivateCenters"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class PrivateCenters(ApproximateDP):
    """Base class that hashes rows to cells and averages the dense ones; subclasses choose k of the averages."""

    HASHED: ClassVar[int] = 4  # p: maximum number of projected columns that are cut into cells.
    MOST_CELLS: ClassVar[int] = 8  # maximum number of cells kept per table, in units of k
    # `advice` warns if a threshold exceeds this many times the mean cluster size: lab/benchmarks/results/cliffs.md.
    UNSEEN: ClassVar[int] = 6
    # an average is kept if its standard deviation per column is below this share of the cell's width
    PRECISION: ClassVar[float] = 0.5

    scales: int | None = param(
        None,
        low=1,
        high=8,
        kind="int",
        advanced=True,
        help="Number of cell widths, each half the previous one. Default: 4, or 2 above 4 columns.",
    )
    repetitions: int = param(
        2, low=1, high=8, advanced=True, help="Number of differently shifted grids per cell width."
    )
    rounds: int = param(
        1,
        low=1,
        high=3,
        advanced=True,
        help="Number of search rounds. After each round, rows near its candidates drop out of the search.",
    )
    count_share: float = param(
        0.3,
        low=0.05,
        high=0.9,
        advanced=True,
        help="Share of the candidates' budget for bucket counts; averages get the rest.",
    )
    choice_share: float = param(
        0.4, low=0.05, high=0.9, advanced=True, help="Share of the whole budget for choosing k of the candidates."
    )

    def tables(self, n_features: int) -> int:
        """Return the number of grids in one round."""
        scales = self.scales or (4 if n_features <= self.HASHED else 2)
        return scales * self.repetitions

    def candidate_costs(self, mu: float, delta: float, n_features: int) -> dict[str, tuple[Cost, ...]]:
        """Split mu^2 and the thresholds' delta evenly among all tables of all rounds."""
        times = self.tables(n_features) * self.rounds
        counts = Threshold(mu * math.sqrt(self.count_share / times), delta / times)
        averages = Gaussian(mu * math.sqrt((1 - self.count_share) / times))
        return {"buckets": (counts,) * times, "averages": (averages,) * times}

    def advice(self, n_features: int, n_public: int) -> tuple[str, ...]:
        """Return the base class's warnings, and more if thresholds are out of reach or if there are too many rounds."""
        sentences = list(super().advice(n_features, n_public))
        cost = self.plan(n_features, n_public).costs["buckets"][0]
        seen = cost.threshold(1 / cost.mu, 1) if isinstance(cost, Threshold) else 0.0
        if seen > self.UNSEEN * n_public / self.n_clusters:
            sentences.append(
                f"{self.name}: a bucket must hold {seen:,.0f} rows to pass the threshold, but an average cluster "
                f"has {n_public / self.n_clusters:,.0f}. Choose fewer centers, scales or repetitions."
            )
        if self.rounds > 1 and self.epsilon < 1:
            sentences.append(f"{self.name}: below epsilon 1, {self.rounds} rounds lose more to noise than they gain.")
        return tuple(sentences)

    def gather(self, curator: Curator, domain: Domain, rng: np.random.Generator) -> Generator[Step, None, np.ndarray]:
        """Yield one step per table and one per filter; return the candidates (m, d), possibly none."""
        d = curator.n_features
        p = min(d, self.HASHED)
        tables = self.tables(d)
        # half the domain's width, rounded up to a power of two
        widest = 2.0 ** math.ceil(math.log2(min(1.0, domain.radius)))
        points, widths = np.empty((0, d)), np.empty(0)
        scope = ALL
        for round_ in range(1, self.rounds + 1):
            for table in range(tables):
                width = widest / 2 ** (table // self.repetitions)
                projection = Projection(random_projection(d, p, rng)) if d > p else None
                offset = snap_toward_zero(rng.uniform(0, width, p))
                buckets = curator.release_keys("buckets", OccupiedCells(width, offset, projection), scope)
                largest = _largest(buckets.counts, self.MOST_CELLS * self.n_clusters)
                keys, counts = buckets.keys[largest], buckets.counts[largest]
                radius = domain.radius if projection else width * math.sqrt(d) / 2
                sums = curator.release(
                    "averages", CellSums(keys, width, offset, radius, projection, relative=not projection), scope
                )
                anchors = np.zeros((1, d)) if projection else cell_centers(keys, width, offset)
                averages = snap_toward_zero(domain.clip(anchors + sums.value / counts[:, None]))
                precise = sums.sd / counts < self.PRECISION * width
                points = np.concatenate([points, averages[precise]])
                widths = np.concatenate([widths, np.full(int(precise.sum()), width)])
                released = {
                    "round": round_, "table": table + 1, "tables": tables, "width": width, "offset": offset,
                    "projected": projection is not None, "keys": buckets.keys, "noisy_counts": buckets.counts,
                    "noise_sd": buckets.sd, "threshold": buckets.threshold, "kept": largest, "averages": averages,
                    "average_sd": sums.sd / counts, "precise": precise,
                }  # fmt: skip
                yield Step("buckets", self._title(released), released)
            if round_ < self.rounds:
                fine = widths <= np.median(widest / 2.0 ** np.arange(tables // self.repetitions))
                radii = widths[fine] * math.sqrt(p) / 2
                scope, _ = curator.partition(scope, InBalls(points[fine], radii))
                released = {"points": points[fine], "radii": radii, "round": round_}
                yield Step("filter", f"Rows inside {int(fine.sum())} released balls drop out", released)
        return points

    def _title(self, released: dict) -> str:
        seen, n_precise = len(released["keys"]), int(released["precise"].sum())
        round_ = f"Round {released['round']}, table" if self.rounds > 1 else "Table"
        return (
            f"{round_} {released['table']} of {released['tables']}: {seen} cells of width {released['width']:g} pass "
            f"the threshold {released['threshold']:.0f}; {n_precise} averages are precise enough"
        )


def _largest(counts: np.ndarray, most: int) -> np.ndarray:
    """Return the mask of the `most` largest counts; ties go to the lowest index."""
    mask = np.zeros(len(counts), dtype=bool)
    mask[np.argsort(-counts, kind="stable")[:most]] = True
    return mask
