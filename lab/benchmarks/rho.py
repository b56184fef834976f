"""Measure losses under rho-distance privacy for several d, rho and ε; compare with KMeans(n_init=10) and full DP.

python -m lab.benchmarks.rho --dims 2 16 --epsilons 0.5 1 2 --rhos 1 0.08 0.008 0.0001 --seeds 2

Data: make_blobs(20000, d, centers=8, cluster_std=.06, center_box=(-.8, .8), random_state=0), clipped to [-1, 1]^d.
delta = 1e-6. Full DP is represented by NSM under the replacement of one row. A cell has the mean loss over seeds and,
before "x", the ratio of the mean CPU time to that of KMeans(n_init=10).
"""

from __future__ import annotations

import argparse
import dataclasses
import time

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from dpviz.algorithms import ALGORITHMS
from dpviz.domain import Domain
from dpviz.metrics import normalized_loss
from dpviz.privacy.guarantee import Neighboring

N, K, DELTA = 20_000, 8, 1e-6
COLUMNS = {
    "dist-dp": ("dist-dp", {}),
    "dist-dp, ball literal": ("dist-dp", {"ball": "literal"}),
    "dist-dp, preset paper": ("dist-dp", dict(ALGORITHMS["dist-dp"].PRESETS["paper"])),
    "region means": ("dist-dp-region-means", {}),
    "random points": ("dist-dp-random-points", {}),
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class UnderReplacement(ALGORITHMS["nsm"]):
    """NSM with sensitivities for replacing one row, so that both notions are compared for the same kind of neighbor."""

    neighboring = Neighboring.REPLACE


def measured(algorithm, X: np.ndarray, domain: Domain, seeds: int) -> tuple[float, float]:
    """Return (mean loss, mean CPU seconds)."""
    losses, start = [], time.process_time()
    for seed in range(seeds):
        centers = algorithm.run(X, domain=domain, seed=seed).cluster_centers
        losses.append(normalized_loss(X, centers, domain))
    return float(np.mean(losses)), (time.process_time() - start) / seeds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dims", nargs="+", type=int, default=[2, 16])
    parser.add_argument("--rhos", nargs="+", type=float, default=[1.0, 0.08, 0.008, 0.0001])
    parser.add_argument("--epsilons", nargs="+", type=float, default=[0.5, 1.0, 2.0])
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    print("| d | epsilon | rho | " + " | ".join(COLUMNS) + " | NSM, replacement |")
    print("|---" * (len(COLUMNS) + 4) + "|")
    for d in options.dims:
        X = make_blobs(N, d, centers=K, cluster_std=0.06, center_box=(-0.8, 0.8), random_state=0)[0]
        X, domain = np.clip(X, -1, 1), Domain.box(-1, 1, d, n_public=N)
        start = time.process_time()
        reference = KMeans(K, n_init=10, random_state=0).fit(X).inertia_ / N
        seconds = time.process_time() - start
        print(f"| {d} | | KMeans | {reference:.4f} in {seconds:.2f} s |" + " |" * len(COLUMNS), flush=True)
        for epsilon in options.epsilons:
            common = {"n_clusters": K, "epsilon": epsilon, "delta": DELTA}
            plain = measured(UnderReplacement(**common), X, domain, options.seeds)
            for rho in options.rhos:
                cells = [
                    measured(ALGORITHMS[slug](**{**common, "rho_distance": rho, **more}), X, domain, options.seeds)
                    for slug, more in COLUMNS.values()
                ]
                words = " | ".join(f"{loss:.4f} {cpu / seconds:.1f}x" for loss, cpu in [*cells, plain])
                print(f"| {d} | {epsilon:g} | {rho:g} | {words} |", flush=True)


if __name__ == "__main__":
    main()
