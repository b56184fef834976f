"""Compare DPM and its peers with the DPM paper's Tables 2 and 3 for quality, and with KMeans(n_init=10) for time.

python -m lab.benchmarks.dpm quality --data synth10 --epsilons 0.5 1 --seeds 5
OMP_NUM_THREADS=1 python -m lab.benchmarks.dpm speed --data synth10 synth100 --pairs 3

synth10, synth100: 100,000 rows of 64 isotropic blobs in the box [-100, 100]. letter: letter/letter.csv.gz in the folder
DPVIZ_DATASETS, 720 rows of each class drawn with replacement as in the paper, box [0, 15]. Domains are these boxes;
delta is the default unless --delta is given. The KMeans distance is the mean distance from a center to the nearest
KMeans center ("back": from a KMeans center to the nearest center), divided by the diagonal of the box. NOT PRIVATE: all
metrics read the rows.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from dpviz.algorithms import ALGORITHMS
from dpviz.domain import Domain
from dpviz.metrics import hungarian_accuracy, kmeans_distance, majority_accuracy, normalized_loss, silhouette
from dpviz.privacy.rows import Rows

PAPER = {  # Tables 2 and 3 at epsilon 1 as (inertia / N, silhouette, majority accuracy, KMeans distance)
    ("synth10", "kmeans"): (10, 0.97, 1.00, 0.00),
    ("synth10", "dpm"): (180, 0.96, 0.99, 0.01),
    ("synth10", "em-mc"): (15_000, 0.42, 0.49, 14.19),
    ("synth10", "lsh-splits"): (1200, 0.93, 0.95, 0.04),
    ("synth100", "kmeans"): (100, 0.98, 1.00, 0.00),
    ("synth100", "dpm"): (5400, 0.98, 1.00, 0.03),
    ("synth100", "em-mc"): (350_000, 0.09, 0.11, 19.32),
    ("synth100", "lsh-splits"): (8000, 0.98, 1.00, 0.03),
    ("letter", "kmeans"): (31, 0.15, 0.28, 0.00),
    ("letter", "dpm"): (51, 0.05, 0.20, 0.10),
    ("letter", "em-mc"): (64, 0.09, 0.11, 23.81),
    ("letter", "lsh-splits"): (45, 0.07, 0.24, 0.07),
}


def load(name: str) -> tuple[np.ndarray, np.ndarray, Domain, int, np.ndarray | None]:
    """Return (X, labels, declared domain, k, generating centers or None)."""
    if name == "letter":
        folder = os.environ.get("DPVIZ_DATASETS")
        if folder is None:
            raise SystemExit("dpm: letter is not bundled; set DPVIZ_DATASETS to the folder that holds letter/.")
        table = pd.read_csv(Path(folder) / "letter" / "letter.csv.gz")
        labels = table.iloc[:, -1].to_numpy()
        rng = np.random.default_rng(42)
        own = [np.flatnonzero(labels == label) for label in np.unique(labels)]
        chosen = rng.permutation(np.concatenate([rows[rng.integers(0, len(rows), 720)] for rows in own]))
        X = table.iloc[chosen, :-1].to_numpy(dtype=float)
        return X, labels[chosen], Domain.box(0, 15, X.shape[1], n_public=len(X)), 26, None
    d = {"synth10": 10, "synth100": 100}[name]
    X, labels, centers = make_blobs(
        100_000, d, centers=64, center_box=(-100, 100), random_state=42, return_centers=True
    )
    return X, labels, Domain.box(-100, 100, d, n_public=len(X)), 64, centers


def seconds(work: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[float, float]:
    """Return (wall-clock, processor) seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    work(*arguments, **options)
    return time.perf_counter() - wall, time.process_time() - cpu


def measures(
    X: np.ndarray, labels: np.ndarray, centers: np.ndarray, reference: np.ndarray, domain: Domain
) -> list[float]:
    there, back = np.array(kmeans_distance(centers, reference)) / np.linalg.norm(domain.high - domain.low)
    return [
        normalized_loss(X, centers),
        silhouette(X, centers, np.random.default_rng(0), sample=3000),
        majority_accuracy(X, centers, labels),
        hungarian_accuracy(X, centers, labels),
        there,
        back,
        len(centers),
    ]


def quality(options: argparse.Namespace) -> None:
    print(
        "| data | algorithm | epsilon | inertia/N | silhouette | accuracy | Hungarian | KMeans distance | back | k' |"
    )
    print("|---" * 10 + "|")
    for name in options.data:
        X, labels, domain, k, centers = load(name)
        start = {"init": centers, "n_init": 1} if centers is not None else {"n_init": 10, "random_state": 0}
        reference = KMeans(k, **start).fit(X).cluster_centers_
        rows = Rows(X, domain, name)
        report(name, "KMeans", "", [measures(X, labels, reference, reference, domain)])
        for slug in options.algorithms:
            for epsilon in options.epsilons:
                cls, values = ALGORITHMS[slug], {"n_clusters": k, "epsilon": epsilon, "delta": options.delta}
                algorithm = cls.preset(options.preset, **values) if options.preset else cls(**values)
                traces = [algorithm.run(rows, seed=seed) for seed in range(options.seeds)]
                found = [measures(X, labels, trace.cluster_centers, reference, domain) for trace in traces]
                report(name, f"{slug} ({options.seeds} seeds)", f"{epsilon:g}", found)
            if (name, slug) in PAPER:
                values = PAPER[name, slug]
                cells = [f"{values[0]:g}", f"{values[1]:g}", f"{values[2]:g}", "", f"{values[3]:g}", "", ""]
                print(f"| {name} | {slug}, the paper's table | 1 | " + " | ".join(cells) + " |", flush=True)


def report(data: str, what: str, epsilon: str, found: list[list[float]]) -> None:
    table = np.array(found)
    spread = table.std(axis=0, ddof=1) if len(table) > 1 else np.full(table.shape[1], np.nan)
    cells = [
        f"{m:.4g} +- {s:.1g}" if len(table) > 1 else f"{m:.4g}" for m, s in zip(table.mean(axis=0), spread, strict=True)
    ]
    print(f"| {data} | {what} | {epsilon} | " + " | ".join(cells) + " |", flush=True)


def speed(options: argparse.Namespace) -> None:
    print("| data | algorithm | seconds (wall / CPU) | from Rows | KMeans(n_init=10) | ratio, wall | ratio, CPU |")
    print("|---" * 7 + "|")
    for name in options.data:
        X, _, domain, k, _ = load(name)
        rows = Rows(X, domain, name)
        for slug in options.algorithms:
            times = []
            for seed in range(options.pairs):
                algorithm = ALGORITHMS[slug](n_clusters=k, epsilon=1.0)
                ours = seconds(algorithm.run, X, domain=domain, seed=seed)
                ready = seconds(algorithm.run, rows, seed=seed)
                times.append([ours, ready, seconds(KMeans(k, n_init=10, random_state=seed).fit, X)])
            table = np.array(times)  # axes: pairs, method, wall or processor time
            cells = [" / ".join(f"{median(table[:, i, j]):.3g}" for j in (0, 1)) for i in range(3)]
            ratios = table[:, 2] / table[:, 0]
            cells += [f"{median(r):.0f} ({r.min():.0f}-{r.max():.0f})" for r in ratios.T]
            print(f"| {name} | {slug} | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["quality", "speed"])
    parser.add_argument("--data", nargs="+", default=["synth10", "synth100"], choices=["synth10", "synth100", "letter"])
    parser.add_argument("--algorithms", nargs="+", default=["dpm"])
    parser.add_argument("--preset")
    parser.add_argument("--epsilons", nargs="+", type=float, default=[0.5, 1.0])
    parser.add_argument("--delta", type=float)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=3)
    options = parser.parse_args()
    {"quality": quality, "speed": speed}[options.what](options)


if __name__ == "__main__":
    main()
