"""Measure each method's loss with a wrong n or wrong bounds, relative to that with the right ones, and with a wrong k.

python -m lab.benchmarks.robustness --seeds 5 > dpviz/papers/results/robustness.md
DPVIZ_DATASETS=folder python -m lab.benchmarks.robustness --data yeast --algorithms nsm --seeds 10

Without --data, the rows form three large clusters of 2,000 rows and five distant ones of 100 (2 columns, k = 8); a
method that relies on n loses the small ones first. The rows come in random order, because methods that keep n (local,
shuffled, rho-distance) read the first n_public of them, and add rows at the middle of the domain if there are fewer.
epsilon is 1, and delta is the default for the true n. Bounds are tight, or 4 or 16 times too wide (NOT PRIVATE: tight
bounds are taken from the data). With a wrong k, the loss is divided by that of KMeans with the same k. Standard errors
are those of ratios paired by seed.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from dpviz import params
from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.domain import Domain
from dpviz.metrics import normalized_loss
from dpviz.privacy.accounting import default_delta
from dpviz.runs.averages import standard_error

from .utility import mean_words, opened

CLUSTERS = 8
COLUMNS = ("n -20%", "n -10%", "n +20%", "n +100%", "bounds 4x", "bounds 16x", "k -50%", "k +50%")


def small_and_far() -> np.ndarray:
    """Return 6,500 rows in random order: three clusters of 2,000 near the middle, and five of 100 on the rim."""
    rng = np.random.default_rng(0)
    at = np.linspace(0, 2 * np.pi, 5, endpoint=False) + 0.3
    large, far = np.array([[-0.3, -0.3], [0.35, -0.25], [0.0, 0.35]]), 0.95 * np.stack([np.cos(at), np.sin(at)], 1)
    rows = [c + 0.05 * rng.normal(size=(2000, 2)) for c in large] + [c + 0.02 * rng.normal(size=(100, 2)) for c in far]
    return rng.permutation(np.concatenate(rows))


def make(slug: str, n_clusters: int, delta: float) -> Algorithm:
    """Return an algorithm with this script's values of the parameters that it has."""
    values = {"n_clusters": n_clusters, "epsilon": 1.0, "delta": delta, "rho_distance": 0.02}
    return ALGORITHMS[slug](**{name: values[name] for name in params.specs(ALGORITHMS[slug]) if name in values})


class Losses:
    """Losses of a method with all seeds, divided by the loss of KMeans with the same k."""

    def __init__(self, X: np.ndarray, k: int, seeds: int) -> None:
        self._X, self.k, self._seeds, self._tight = X, k, seeds, Domain.tight_nonprivate(X)
        self._plain: dict[int, float] = {}

    def of(self, slug: str, *, share: float = 1.0, loose: float = 1.0, k: int | None = None) -> np.ndarray:
        """Return the losses with n declared as `share` times its true value and bounds `loose` times too wide."""
        X, tight, k = self._X, self._tight, k or self.k
        if k not in self._plain:
            model = KMeans(k, n_init=20, random_state=0).fit(tight.normalize(X))
            self._plain[k] = model.inertia_ / len(X)
        declared = Domain.tight_nonprivate(X, loose=loose)
        declared = dataclasses.replace(declared, n_public=round(share * len(X)))
        algorithm = make(slug, k, default_delta(len(X)))
        traces = [algorithm.run(X, domain=declared, seed=seed) for seed in range(self._seeds)]
        return np.array([normalized_loss(X, t.cluster_centers, tight) for t in traces]) / self._plain[k]


def cell(losses: np.ndarray, own: np.ndarray | float = 1.0) -> str:
    """Return the ratio of the means and its standard error, by the delta method on losses paired by seed."""
    ratio = losses.mean() / np.mean(own)
    return mean_words(ratio, standard_error(losses - ratio * own) / float(np.mean(own)), ".2f")


def line(losses: Losses, slug: str) -> list[str]:
    """Return the cells of one method's line."""
    own = losses.of(slug)

    def change(**wrong: Any) -> str:
        return cell(losses.of(slug, **wrong), own)

    shares = [change(share=share) for share in (0.8, 0.9, 1.2, 2.0)]
    wide = [change(loose=loose) for loose in (4.0, 16.0)]
    others = [cell(losses.of(slug, k=k)) for k in (losses.k // 2, 3 * losses.k // 2)]
    return [ALGORITHMS[slug].name, cell(own), *shares, *wide, *others]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", help="a data set of lab.benchmarks.utility; default: clusters of which some are small and distant"
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--algorithms", nargs="+", default=[slug for slug in ALGORITHMS if slug != "kmeans"])
    options = parser.parse_args()
    data = opened(options.data).data if options.data else None
    X, k = (data.X, data.n_clusters) if data else (small_and_far(), CLUSTERS)
    losses = Losses(X, k, options.seeds)
    print(
        f"`python -m lab.benchmarks.robustness {' '.join(sys.argv[1:])}` gives the mean ± standard error of "
        f"{options.seeds} seeds."
    )
    print(
        "The second column is the loss divided by KMeans' loss. The columns for n and bounds are ratios to the second"
    )
    print("column, and the columns for k are losses divided by KMeans' loss with the same k.")
    print()
    print("| method | loss | " + " | ".join(COLUMNS) + " |\n" + "|---" * (len(COLUMNS) + 2) + "|")
    for slug in options.algorithms:
        print("| " + " | ".join(line(losses, slug)) + " |", flush=True)


if __name__ == "__main__":
    main()
