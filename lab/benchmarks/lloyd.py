"""Measure the Lloyd family's losses in boxes and in balls, and its times, on the synthetic sets data(2) and data(16).

python -m lab.benchmarks.lloyd [losses] [domains] [speed]

data(d) has 20,000 rows, clipped to [-1, 1]^d, in 8 clusters of standard deviation .06 with centers uniform in [-.8,
.8]^d. Losses are means over seeds 0-9 (--seeds) with delta = 1/(n ln n); unless stated otherwise, the domain is the
box [-1, 1]^d.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from dpviz.algorithms import ALGORITHMS
from dpviz.domain import Domain
from dpviz.metrics import normalized_loss
from dpviz.privacy.rows import Rows
from dpviz.runs.averages import standard_error

from .utility import mean_words

N, K = 20_000, 8
DELTA = 1 / (N * np.log(N))
EPSILONS = (0.1, 0.5, 1.0, 2.0)


def data(d: int) -> np.ndarray:
    """Return the rows, shape (20000, d)."""
    X, _ = make_blobs(N, d, centers=K, cluster_std=0.06, center_box=(-0.8, 0.8), random_state=0)
    return np.clip(X, -1, 1)


def make(slug: str, **values):
    """Return an algorithm; if it has the parameter delta, it gets the value DELTA."""
    cls = ALGORITHMS[slug]
    return cls(n_clusters=K, **values, **({"delta": DELTA} if slug != "sulloyd" else {}))


def line(name: str, X: np.ndarray, domain: Domain, seeds: int, slug: str, **values) -> None:
    """Print the mean loss and its standard error for every epsilon."""
    rows, cells = Rows(X, domain), []
    for epsilon in EPSILONS:
        algorithm = make(slug, epsilon=epsilon, **values)
        found = [normalized_loss(X, algorithm.run(rows, seed=seed).cluster_centers) for seed in range(seeds)]
        cells.append(mean_words(float(np.mean(found)), standard_error(found), ".4f"))
    print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def losses(seeds: int) -> None:
    """Print losses in 2 and 16 columns; except in "jump", centers with a noisy count near or below 0 stay in place."""
    for d in (2, 16):
        X, box = data(d), Domain.box(-1, 1, d, n_public=N)
        for slug in ("fastlloyd", "glloyd", "sulloyd"):
            line(f"d={d} {slug}, keep", X, box, seeds, slug, dead_cluster="keep")
        line(f"d={d} fastlloyd, jump (default)", X, box, seeds, "fastlloyd")
        line(f"d={d} fastlloyd, constant radius", X, box, seeds, "fastlloyd", dead_cluster="keep", strategy="constant")
        line(f"d={d} fastlloyd, no radius", X, box, seeds, "fastlloyd", dead_cluster="keep", strategy="none")
        halving = {"dead_cluster": "keep", "init": "packing-halving"}
        line(f"d={d} fastlloyd, halving start", X, box, seeds, "fastlloyd", **halving)


def domains(seeds: int) -> None:
    """Print losses on the same rows in a declared box, and in a declared ball that just contains them."""
    for d in (2, 16):
        X = data(d)
        reach = float(np.ceil(np.linalg.norm(X, axis=1).max() * 10) / 10)
        for slug in ("fastlloyd", "glloyd", "sulloyd"):
            line(f"d={d} {slug}, box (R = {d**0.5:.2f})", X, Domain.box(-1, 1, d, n_public=N), seeds, slug)
            ball = Domain.box(-1, 1, d, n_public=N, radius=reach)
            line(f"d={d} {slug}, ball (R = {reach:.1f})", X, ball, seeds, slug)
            line(f"d={d} {slug}, ball (R = {reach:.1f}), 7 rounds", X, ball, seeds, slug, iterations=7)


def speed(seeds: int) -> None:
    """Print FastLloyd's median time, for raw and for prepared rows, and its ratio to that of KMeans(n_init=10)."""
    for d in (2, 16):
        X, box = data(d), Domain.box(-1, 1, d, n_public=N)
        rows = Rows(X, box)
        jobs = {
            "KMeans(n_init=10)": lambda seed, X=X: KMeans(K, n_init=10, random_state=seed).fit(X),
            "fastlloyd": lambda seed, X=X, box=box: make("fastlloyd").run(X, domain=box, seed=seed),
            "fastlloyd, rows prepared": lambda seed, rows=rows: make("fastlloyd").run(rows, seed=seed),
        }
        times: dict[str, list[float]] = {name: [] for name in jobs}
        for seed in range(seeds):
            for name, job in jobs.items():
                start = time.perf_counter()
                job(seed)
                times[name].append(time.perf_counter() - start)
        for name, found in times.items():
            ratio = np.median(found) / np.median(times["KMeans(n_init=10)"])
            print(f"| d={d} {name} | {1e3 * np.median(found):.0f} ms | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["losses", "domains", "speed"])
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    for part in options.parts:
        {"losses": losses, "domains": domains, "speed": speed}[part](options.seeds)
