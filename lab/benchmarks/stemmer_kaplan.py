"""Measure Stemmer-Kaplan and related methods on the synthetic sets data(2) and data(16).

python -m lab.benchmarks.stemmer_kaplan [losses] [coreset] [rounds] [local] [speed] [--seeds 5]

data(d) has 20,000 rows (up to 10^6 in `local`), clipped to [-1, 1]^d, in 8 clusters of standard deviation .06 with
centers uniform in [-.8, .8]^d. The domain is the box [-1, 1]^d, and delta is 1e-6 for methods that have this parameter
(their default in `speed`). Losses are in squared z units per row, averaged over seeds 0, 1, ...
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from dpviz.algorithms import ALGORITHMS
from dpviz.domain import Domain
from dpviz.metrics import inertia, normalized_loss
from dpviz.privacy.rows import Rows

K, DELTA = 8, 1e-6
UNEVEN = (12_000, 4000, 2000, 1000, 500, 300, 100, 100)
CENTRAL = ("stemmer-kaplan", "stemmer-kaplan-swap", "balcan")


def data(d: int, n: int | tuple[int, ...] = 20_000) -> np.ndarray:
    """Return the rows, shape (n, d); n may also be a tuple of the clusters' sizes."""
    rng = np.random.default_rng(0)
    centers = None if isinstance(n, int) else rng.uniform(-0.8, 0.8, (len(n), d))
    X, _ = make_blobs(
        n, d, centers=K if isinstance(n, int) else centers, cluster_std=0.06, center_box=(-0.8, 0.8), random_state=0
    )
    return np.clip(X, -1, 1)


def mean_loss(X: np.ndarray, slug: str, seeds: int, **values) -> float:
    """Return the mean loss over seeds."""
    rows = Rows(X, Domain.box(-1, 1, X.shape[1], n_public=len(X)))
    delta = {} if slug == "stemmer-kaplan-local" else {"delta": DELTA}
    algorithm = ALGORITHMS[slug](n_clusters=K, **delta, **values)
    return float(np.mean([normalized_loss(X, algorithm.run(rows, seed=s).cluster_centers) for s in range(seeds)]))


def losses(seeds: int) -> None:
    """Print the losses of methods in the central model, and that of KMeans."""
    for d in (2, 16):
        X = data(d)
        print(f"d = {d}: KMeans {KMeans(K, n_init=10, random_state=0).fit(X).inertia_ / len(X):.4f}")
        for slug in CENTRAL:
            found = [f"{epsilon}: {mean_loss(X, slug, seeds, epsilon=epsilon):.4f}" for epsilon in (0.5, 1.0, 2.0)]
            print(f"  {slug:22}", "  ".join(found), flush=True)


def coreset(seeds: int) -> None:
    """Print the range of cost ratios (coreset to rows) over 50 random sets of centers per seed (d = 2)."""
    X = data(2)
    rows = Rows(X, Domain.box(-1, 1, 2, n_public=len(X)))
    for epsilon in (0.5, 1.0, 2.0):
        ratios = []
        for seed in range(seeds):
            algorithm = ALGORITHMS["stemmer-kaplan"](n_clusters=K, epsilon=epsilon, delta=DELTA)
            found, rng = algorithm.run(rows, seed=seed).coreset, np.random.default_rng(seed)
            for centers in rng.uniform(-1, 1, (50, K, 2)):
                squares = ((found.points[:, None] - centers) ** 2).sum(axis=2).min(axis=1)
                ratios.append(found.weights @ squares / inertia(X, centers))
        print(f"coreset at epsilon {epsilon}: cost ratio {min(ratios):.3f} to {max(ratios):.3f}", flush=True)


def rounds(seeds: int) -> None:
    """Print losses with one and with two rounds on clusters of very different sizes (d = 2)."""
    X = data(2, UNEVEN)
    print(f"uneven clusters: KMeans {KMeans(K, n_init=10, random_state=0).fit(X).inertia_ / len(X):.5f}")
    for count in (1, 2):
        found = [
            f"{epsilon}: {mean_loss(X, 'stemmer-kaplan', seeds, epsilon=epsilon, rounds=count):.5f}"
            for epsilon in (0.5, 1.0, 2.0)
        ]
        print(f"  rounds {count}", "  ".join(found), flush=True)


def local(seeds: int) -> None:
    """Print the losses of the local model, which needs no trusted curator."""
    for d, n in ((2, 20_000), (2, 200_000), (2, 1_000_000), (16, 20_000), (16, 200_000)):
        X = data(d, n)
        found = [
            f"{epsilon}: {mean_loss(X, 'stemmer-kaplan-local', seeds, epsilon=epsilon):.4f}"
            for epsilon in (0.5, 1.0, 2.0, 4.0)
        ]
        print(f"local, d = {d}, {n:,} people:", "  ".join(found), flush=True)


def speed(seeds: int) -> None:
    """Print the CPU time of a run (epsilon 1), the minimum over seeds, and its ratio to that of KMeans(n_init=10)."""
    for d in (2, 16):
        X = data(d)
        rows = Rows(X, Domain.box(-1, 1, d, n_public=len(X)))
        reference = min(_cpu(lambda s: KMeans(K, n_init=10, random_state=s).fit(X), s) for s in range(seeds))  # noqa: B023
        print(f"d = {d}: KMeans takes {reference:.3f} s of CPU time")
        for slug in (*CENTRAL, "stemmer-kaplan-local"):
            algorithm = ALGORITHMS[slug](n_clusters=K, epsilon=1.0)
            best = min(_cpu(lambda s: algorithm.run(rows, seed=s), s) for s in range(seeds))  # noqa: B023
            print(f"  {slug:22} {best:.3f} s, {best / reference:.1f} x", flush=True)


def _cpu(run, seed: int) -> float:
    start = time.process_time()
    run(seed)
    return time.process_time() - start


PARTS = {"losses": losses, "coreset": coreset, "rounds": rounds, "local": local, "speed": speed}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help=", ".join(PARTS))
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    for name in options.parts or PARTS:
        PARTS[name](options.seeds)
