"""Compare the spread of each center in simulated reruns with that in true ones.

python -m lab.benchmarks.simulated > lab/benchmarks/results/simulated.md

The cases are five samples x six algorithms x two ε. True reruns are made on the sample's own rows. Simulated reruns are
made from each of three releases alone (`dpviz.runs.bootstrap`). A cell has the median ratio of the two spreads over all
centers and releases, with the 10% and 90% quantiles.
"""

from __future__ import annotations

import argparse

import numpy as np

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load
from dpviz.runs.bootstrap import bootstrap
from dpviz.runs.reruns import rerun, spread

SAMPLES = ("town", "overlap", "iris", "highdim", "minority")
SLUGS = ("nsm", "pe-means", "fastlloyd", "sulloyd", "dpm", "em-mc")
EPSILONS = (0.5, 2.0)


def ratios(name: str, slug: str, epsilon: float, true_runs: int, simulated_runs: int, releases: int) -> np.ndarray:
    """Return the ratio of simulated to true spread for each center of each release; NaN for one without a match."""
    data = load(name)
    algorithm = ALGORITHMS[slug](n_clusters=data.n_clusters, epsilon=epsilon)
    true = rerun([data], algorithm, range(100, 100 + true_runs))
    found = []
    for seed in range(releases):
        trace = algorithm.run(data.X, domain=data.domain, seed=seed)
        simulated = bootstrap(trace, algorithm, range(200, 200 + simulated_runs))
        anchor = np.asarray(trace.cluster_centers)
        with np.errstate(divide="ignore", invalid="ignore"):
            one = spread(simulated.centers, anchor, data.domain) / spread(true.centers, anchor, data.domain)
        found.append(one)
    return np.concatenate(found)


def main() -> None:
    """Print one line per case as soon as it is measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", default=",".join(SAMPLES))
    parser.add_argument("--algorithms", default=",".join(SLUGS))
    parser.add_argument("--true", type=int, default=20)
    parser.add_argument("--simulated", type=int, default=10)
    parser.add_argument("--releases", type=int, default=3)
    runs = parser.parse_args()
    print("| sample | algorithm | ε | simulated / true spread (10 to 90%) |\n|---|---|---|---|")
    for name in runs.samples.split(","):
        for slug in runs.algorithms.split(","):
            for epsilon in EPSILONS:
                try:
                    found = ratios(name, slug, epsilon, runs.true, runs.simulated, runs.releases)
                except ValueError as reason:  # this run released no cluster sizes
                    print(f"| {name} | {slug} | {epsilon:g} | {reason} |", flush=True)
                    continue
                found = found[np.isfinite(found)]
                low, middle, high = np.quantile(found, [0.1, 0.5, 0.9]) if len(found) else [np.nan] * 3
                print(f"| {name} | {slug} | {epsilon:g} | {middle:.2f} ({low:.2f} to {high:.2f}) |", flush=True)


if __name__ == "__main__":
    main()
