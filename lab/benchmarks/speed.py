"""Time whole runs of the algorithms relative to KMeans(n_init=10); both run in turns in one process.

Everything runs on one BLAS thread.

python -m lab.benchmarks.speed --algorithms pe-means --cases 10kx2 60kx40 --pairs 3
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from threadpoolctl import threadpool_limits

from dpviz import params
from dpviz.algorithms import ALGORITHMS
from dpviz.domain import Domain
from dpviz.metrics import normalized_loss

CASES = {  # name: numbers of rows, columns and centers
    "10kx2": (10_000, 2, 15),
    "60kx2": (60_000, 2, 15),
    "10kx16": (10_000, 16, 10),
    "60kx40": (60_000, 40, 10),
}


def seconds(work: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[np.ndarray, Any]:
    """Return (wall-clock and processor seconds, result); on a busy machine, trust only the processor seconds."""
    wall, processor = time.perf_counter(), time.process_time()
    result = work(*arguments, **options)
    return np.array([time.perf_counter() - wall, time.process_time() - processor]), result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--algorithms", nargs="+", default=["pe-means"], choices=list(ALGORITHMS))
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--pairs", type=int, default=3)
    options = parser.parse_args()
    print(
        "| rows x columns, k | algorithm | processor-time ratio | wall-time ratio | seconds | KMeans' seconds "
        "| loss / KMeans' loss | peak MB |"
    )
    print("|---|---|---|---|---|---|---|---|")
    with threadpool_limits(1):
        measure(options)


def measure(options: argparse.Namespace) -> None:
    """Print a row for every case and algorithm: medians of the ratios with minimum and maximum, and wall seconds."""
    for case in options.cases:
        n, d, k = CASES[case]
        X = make_blobs(n, d, centers=k, random_state=0)[0]
        domain = Domain.tight_nonprivate(X)
        Z = domain.normalize(X)
        for slug in options.algorithms:
            values = {"n_clusters": k, "epsilon": options.epsilon}
            specs = params.specs(ALGORITHMS[slug])  # KMeans has no epsilon, and methods with regions have no k
            algorithm = ALGORITHMS[slug](**{name: value for name, value in values.items() if name in specs})
            ours, theirs, losses = [], [], []
            for seed in range(options.pairs):
                reference, model = seconds(KMeans(k, n_init=10, random_state=seed).fit, Z)
                spent, trace = seconds(algorithm.run, X, domain=domain, seed=seed)
                ours.append(spent)
                theirs.append(reference)
                losses.append(normalized_loss(X, trace.cluster_centers, domain) / (model.inertia_ / n))
            (wall, processor), (own, plain) = (np.array(ours) / np.array(theirs)).T, np.median([ours, theirs], axis=1)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(
                f"| {n:,} x {d}, {k} | {algorithm.name} "
                f"| {median(processor):.2f} ({processor.min():.2f} to {processor.max():.2f}) "
                f"| {median(wall):.2f} ({wall.min():.2f} to {wall.max():.2f}) "
                f"| {own[0]:.2f} | {plain[0]:.2f} | {np.mean(losses):.3f} | {peak:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
