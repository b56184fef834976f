"""Normalized loss and its area over epsilon (PE-means, equations 6 and 7), beside KMeans(n_init=10).

python benchmarks/utility.py --data iris blobs16 --algorithms pe-means --epsilons 0.25 0.5 1 2 4 --seeds 10

A data set is a bundled sample, a named set below, or NAME/NAME.csv.gz or .npz in the folder DPVIZ_DATASETS. All run
with Domain.tight_nonprivate (the papers' preprocessing, NOT PRIVATE) and delta = n^-1.1. Rows are kept in a JSON-lines
file and not computed again.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets as bundled
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

sys.path.insert(0, str(Path(__file__).parent.parent))

from dpviz import __version__
from dpviz.algorithms import ALGORITHMS
from dpviz.domain import Domain
from dpviz.metrics import loss_auc, normalized_loss

CLUSTERS = {
    "iris": 3,
    "wine": 3,
    "lsun": 3,
    "yeast": 10,
    "house": 3,
    "digits": 10,
    "breast_cancer": 2,
    "a1": 20,
    "a3": 50,
}
CLUSTERS |= {"s1": 15, "s2": 15, "birch2_25k": 100, "adult": 3, "letter": 26, "mnist_test": 10, "g2mg_2_50": 2}
CLUSTERS |= {f"dim{d}": 16 for d in ("032", "064", "256", "512")}
UNLABELED = {"house", "birch2_25k"}
BLOBS = {  # name: rows, columns, centers, seed
    "blobs_d2_k15": (10_000, 2, 15, 0),
    "blobs_d16_k10": (10_000, 16, 10, 0),
    "blobs16": (20_000, 16, 16, 1),
    "blobs64": (20_000, 64, 16, 1),
}


def load(name: str) -> tuple[np.ndarray, int]:
    """Return (X, k)."""
    if name in BLOBS:
        n, d, k, seed = BLOBS[name]
        return make_blobs(n, d, centers=k, random_state=seed)[0], k
    if name in ("iris", "wine", "breast_cancer", "digits"):
        return getattr(bundled, f"load_{name}")().data, CLUSTERS[name]
    folder = os.environ.get("DPVIZ_DATASETS")
    if folder is None:
        raise SystemExit(f"utility: {name} is not bundled; set DPVIZ_DATASETS to the folder that holds {name}/.")
    base = Path(folder) / name / name
    if base.with_suffix(".npz").exists():
        return np.load(base.with_suffix(".npz"))["X"].astype(float), CLUSTERS[name]
    X = pd.read_csv(f"{base}.csv.gz").to_numpy(dtype=float)
    return (X if name in UNLABELED else X[:, :-1]), CLUSTERS[name]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=["iris", "wine", "breast_cancer", "digits"])
    parser.add_argument("--algorithms", nargs="+", default=[slug for slug in ALGORITHMS if slug != "kmeans"])
    parser.add_argument("--preset", help="a preset that all chosen algorithms have")
    parser.add_argument("--epsilons", nargs="+", type=float, default=[0.25, 0.5, 1.0, 2.0, 4.0])
    parser.add_argument("--seeds", type=int, help="default: 10 for n < 2000, else 5")
    parser.add_argument("--loose", type=float, default=1.0, help="how many times too wide the public bounds are")
    parser.add_argument("--rows", type=Path, default=Path("benchmarks/results/utility.jsonl"))
    options = parser.parse_args()
    options.rows.parent.mkdir(parents=True, exist_ok=True)
    done = {}
    if options.rows.exists():
        for line in options.rows.read_text().splitlines():
            row = json.loads(line)
            done[row["key"]] = row["loss"]

    print("| data | algorithm | " + " | ".join(f"{e:g}" for e in options.epsilons) + " | AUC ratio |")
    print("|---" * (len(options.epsilons) + 3) + "|")
    for name in options.data:
        X, k = load(name)
        domain = Domain.tight_nonprivate(X)
        if options.loose != 1.0:
            half = options.loose * (domain.high - domain.low) / 2
            domain = Domain(domain.middle - half, domain.middle + half, "common", 1.0, len(X), origin=domain.origin)
        reference = KMeans(k, n_init=10, random_state=0).fit(domain.normalize(X)).inertia_ / len(X)
        seeds = options.seeds or (10 if len(X) < 2000 else 5)
        for slug in options.algorithms:
            losses = defaultdict(list)
            for epsilon in options.epsilons:
                for seed in range(seeds):
                    key = json.dumps([name, slug, options.preset, epsilon, seed, options.loose, __version__])
                    if key not in done:
                        values = {"n_clusters": k, "epsilon": epsilon}
                        cls = ALGORITHMS[slug]
                        algorithm = cls.preset(options.preset, **values) if options.preset else cls(**values)
                        trace = algorithm.run(X, domain=domain, seed=seed)
                        done[key] = normalized_loss(X, trace.cluster_centers, domain)
                        with options.rows.open("a") as file:
                            file.write(json.dumps({"key": key, "loss": done[key]}) + "\n")
                    losses[epsilon].append(done[key])
            means = [np.mean(losses[e]) for e in options.epsilons]
            errors = [np.std(losses[e], ddof=1) / np.sqrt(seeds) if seeds > 1 else np.nan for e in options.epsilons]
            cells = " | ".join(f"{m:.4g} +- {s:.1g}" for m, s in zip(means, errors, strict=True))
            ratio = (
                loss_auc(options.epsilons, means) / loss_auc(options.epsilons, [reference] * len(means))
                if len(means) > 1
                else means[0] / reference
            )
            print(f"| {name} | {slug} ({seeds} seeds) | {cells} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
