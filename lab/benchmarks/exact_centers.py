"""Count the rows that can be read off plain Lloyd's published sums and counts, first without noise, then with it.

python -m lab.benchmarks.exact_centers > lab/benchmarks/results/exact_centers.md

On each sample, DP-Lloyd runs 15 rounds with the sample's own k, from five starts (seeds 0 to 4). The column "named"
counts the rows that the arithmetic computes; "right" counts those that equal a true row to within a millionth of the
half-width.
"""

from __future__ import annotations

import argparse

import numpy as np

from dpviz.algorithms import ALGORITHMS
from dpviz.audits.reconstruct import exactly, published, read_off
from dpviz.datasets import SAMPLES, load


def counted(name: str, noise: str, starts: int) -> tuple[list[int], list[int]]:
    """Return, for every start, how many rows the arithmetic recovers, and how many of these equal a true row."""
    data = load(name)
    lloyd = ALGORITHMS["dp-lloyd"](n_clusters=data.n_clusters, epsilon=1.0, iterations=15, dead_cluster="keep")
    told, right = [], []
    for seed in range(starts):
        trace = lloyd.run(data.X, domain=data.domain, seed=seed, noise=noise)
        read = read_off(published(trace), data.domain.radius)
        told.append(len(read))
        right.append(len(exactly(read, data.X, data.domain)))
    return told, right


def main() -> None:
    """Print one line per sample."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", nargs="+", default=list(SAMPLES), choices=list(SAMPLES), metavar="SAMPLE")
    parser.add_argument("--starts", type=int, default=5)
    options = parser.parse_args()
    names = "sample | rows | named, mean | right, mean (min to max) | named with noise (ε 1), mean"
    print(f"| {names} |\n" + "|---" * 5 + "|")
    for name in options.samples:
        told, right = counted(name, "none", options.starts)
        noisy, _ = counted(name, "seeded", options.starts)
        spread = f"{np.mean(right):.1f} ({min(right)} to {max(right)})"
        print(f"| {name} | {len(load(name).X):,} | {np.mean(told):.1f} | {spread} | {np.mean(noisy):.1f} |", flush=True)


if __name__ == "__main__":
    main()
