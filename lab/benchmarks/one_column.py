"""Measure losses on one column with heavy tails, over fresh draws of the rows.

python -m lab.benchmarks.one_column --sigmas 1.5 2 --draws 6 --seeds 3 --delta 1.0909e-4

A draw is 4,000 rows of a lognormal distribution; the bounds are 0 and the largest row (NOT PRIVATE: taken from the
data), and k is 5. Each number is the area under the curve of the loss against ε (.25 to 4), divided by that of
KMeans(n_init=10): for a draw, the mean over seeds; for all draws, the mean ± its standard error between draws, and the
geometric mean. "no thinning" is NSM without the candidates that are thinned out in the tails. Differences are paired by
draw. Draws differ far more than seeds: a few rows carry most of the loss.
"""

from __future__ import annotations

import argparse
import sys
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans

from dpviz import params
from dpviz.algorithms import ALGORITHMS
from dpviz.algorithms.nsm import nsm
from dpviz.domain import Domain
from dpviz.metrics import loss_auc
from dpviz.numbers import plus_minus
from dpviz.privacy.accounting import default_delta
from dpviz.runs.averages import standard_error

from .utility import EPSILONS

ROWS, CENTERS = 4000, 5
WITHOUT = "no thinning"


def losses(slug: str, X: np.ndarray, epsilon: float, delta: float, seed: int) -> float:
    """Return the mean squared distance of the rows (n, 1) to a run's nearest center."""
    cls = ALGORITHMS["nsm" if slug == WITHOUT else slug]
    given = {"n_clusters": CENTERS, "epsilon": epsilon}
    algorithm = cls(**given, **({"delta": delta} if "delta" in params.specs(cls) else {}))
    domain = Domain.box(0.0, float(X.max()), 1, n_public=len(X))
    with patch.object(nsm, "thinned", (lambda population, *_: population[:0]) if slug == WITHOUT else nsm.thinned):
        centers = algorithm.run(X, domain=domain, seed=seed).cluster_centers
    return float(((X - centers.T) ** 2).min(axis=1).mean())


def areas(sigma: float, draw: int, slugs: list[str], delta: float, seeds: int) -> dict[str, float]:
    """Return each method's area on one draw, divided by KMeans'."""
    X = np.random.default_rng(draw).lognormal(0.0, sigma, (ROWS, 1))
    own = KMeans(CENTERS, n_init=10, random_state=0).fit(X).inertia_ / ROWS
    plain = loss_auc(list(EPSILONS), [own] * len(EPSILONS))
    return {
        slug: float(np.mean([
            loss_auc(list(EPSILONS), [losses(slug, X, e, delta, seed) for e in EPSILONS]) / plain
            for seed in range(seeds)
        ]))
        for slug in slugs
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sigmas", nargs="+", type=float, default=[1.5, 2.0])
    parser.add_argument("--draws", type=int, default=6)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--delta", type=float, default=default_delta(ROWS))
    parser.add_argument("--algorithms", nargs="+", default=[WITHOUT, "nsm", "privtree", "pe-means", "hdpe-means"])
    options = parser.parse_args()
    print(f"`python -m {' '.join(['lab.benchmarks.one_column', *sys.argv[1:]])}`, delta {options.delta:.4g}\n")
    print(f"| sigma | draw | {' | '.join(options.algorithms)} |\n" + "|---" * (len(options.algorithms) + 2) + "|")
    for sigma in options.sigmas:
        found = []
        for draw in range(options.draws):
            found.append(areas(sigma, draw, options.algorithms, options.delta, options.seeds))
            print(f"| {sigma:g} | {draw} | {' | '.join(f'{value:.2f}' for value in found[-1].values())} |", flush=True)
        table = pd.DataFrame(found)
        cells = [plus_minus(table[one].mean(), standard_error(table[one])) for one in table]
        print(f"| {sigma:g} | mean | {' | '.join(cells)} |")
        print(f"| {sigma:g} | geometric mean | {' | '.join(f'{v:.2f}' for v in np.exp(np.log(table).mean()))} |")
        for one in table.columns.drop("nsm") if "nsm" in table else ():
            more = table["nsm"] - table[one]
            print(f"\nsigma {sigma:g}: nsm - {one} = {plus_minus(more.mean(), standard_error(more))}", end="")
        print("\n")


if __name__ == "__main__":
    main()
