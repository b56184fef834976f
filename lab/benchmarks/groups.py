"""Compare regions and centers with known groups: python -m lab.benchmarks.groups --seeds 3.

The measure is the adjusted Rand index between the labels and the clusters of DP-DBSCAN (where rows in no region form
one more group), NSM and KMeans(n_init=10). The data are two samples in their declared bounds, and the labeled benchmark
sets in the folder DPVIZ_DATASETS, with the domains of lab.benchmarks.utility (NOT PRIVATE).
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import SAMPLES, load_sample
from dpviz.domain import Domain
from dpviz.postprocessing.regions import agreement, has_regions, labels_of
from dpviz.runs.averages import standard_error

from .utility import mean_words, opened, spec

UNLABELED = {"house", "birch2_25k"}
SETS = [name.partition(":")[2] for name in spec("pe").data]
DATA = ["ring", "moons", *(name for name in SETS if name not in UNLABELED)]


def grouped(name: str) -> tuple[np.ndarray, np.ndarray, int, Domain]:
    """Return (X, labels, k, domain) of a sample or of a benchmark set."""
    data = load_sample(name) if name in SAMPLES else opened(name).data
    return data.X, np.asarray(data.labels), data.n_clusters, data.domain


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", choices=DATA, default=DATA, metavar="SET")
    parser.add_argument("--algorithms", nargs="+", default=["dp-dbscan", "nsm"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epsilon", type=float, default=1.0)
    options = parser.parse_args()
    names = [ALGORITHMS[slug].name for slug in options.algorithms]
    print("| data (n, d, groups) | KMeans |", *(f"{name} |" for name in names), "regions |")
    print("|---" * (len(names) + 3) + "|")
    for name in options.data:
        X, labels, k, domain = grouped(name)
        best = KMeans(k, n_init=10, random_state=0).fit(domain.normalize(X)).labels_
        cells, regions = [], 0.0
        for slug in options.algorithms:
            found = []
            for seed in range(options.seeds):
                algorithm = ALGORITHMS[slug](n_clusters=k, epsilon=options.epsilon)
                trace = algorithm.run(X, domain=domain, seed=seed)
                if has_regions(trace):
                    found.append(agreement(labels_of(trace, X), labels))
                    regions += len(trace.cluster_centers) / options.seeds
                else:
                    centers = domain.normalize(trace.cluster_centers)
                    found.append(agreement(pairwise_distances_argmin(domain.normalize(X), centers), labels))
            cells.append(mean_words(float(np.mean(found)), standard_error(found), ".2f", ".2g"))
        shape = f"{name} ({len(X)}, {X.shape[1]}, {len(np.unique(labels[labels != -1]))})"
        print(f"| {shape} | {agreement(best, labels):.2f} | {' | '.join(cells)} | {regions:.1f} |", flush=True)


if __name__ == "__main__":
    main()
