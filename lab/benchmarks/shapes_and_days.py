"""Compare regions with known groups, and daily centers with separate runs: python -m lab.benchmarks.shapes_and_days."""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.cluster import KMeans

from dpviz.algorithms.grids.continual import Continual
from dpviz.algorithms.grids.dp_dbscan import DPDBSCAN
from dpviz.algorithms.grids.eugkm import EUGkM
from dpviz.datasets import load_sample
from dpviz.metrics import normalized_loss
from dpviz.postprocessing.regions import agreement, labels_of
from dpviz.runs.averages import standard_error

from .utility import mean_words

EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0)
DAYS = 16


def main() -> None:
    """Print two tables in Markdown, whose cells are mean ± standard error."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    seeds = range(parser.parse_args().seeds)
    print("| sample | KMeans |", *(f"ε {epsilon:g} |" for epsilon in EPSILONS))
    print("|---|---|" + "---|" * len(EPSILONS))
    for sample in ("ring", "moons"):
        data = load_sample(sample)
        found = KMeans(data.n_clusters, n_init=10, random_state=0).fit(data.X).labels_
        cells = [_mean([_rand(data, epsilon, seed) for seed in seeds]) for epsilon in EPSILONS]
        print(f"| {sample} | {agreement(found, data.labels):.2f} | {' | '.join(cells)} |")
    evenings = " | ".join(f"evening {evening}" for evening in (1, 4, 8, 15, 16))
    print(f"\n| sample, total ε 1 | {evenings} | EUGkM on the last evening, ε 1/16 | EUGkM once, ε 1 |")
    print("|---|---|---|---|---|---|---|---|")
    for sample in ("town", "blobs"):
        data, k = load_sample(sample), load_sample(sample).n_clusters
        best = KMeans(k, n_init=10, random_state=0).fit(data.X).cluster_centers_
        least = normalized_loss(data.X, best, data.domain)
        paths = np.array([_evenings(data, k, seed) for seed in seeds]) / least
        cells = [_mean(paths[:, evening - 1]) for evening in (1, 4, 8, 15, 16)]
        for epsilon in (1 / DAYS, 1.0):
            runs = [EUGkM(n_clusters=k, epsilon=epsilon).run(data.X, domain=data.domain, seed=seed) for seed in seeds]
            cells.append(_mean([normalized_loss(data.X, run.cluster_centers, data.domain) / least for run in runs]))
        print(f"| {sample} | {' | '.join(cells)} |")


def _rand(data, epsilon, seed):
    trace = DPDBSCAN(epsilon=epsilon).run(data.X, domain=data.domain, seed=seed)
    return agreement(labels_of(trace, data.X), data.labels)


def _evenings(data, k, seed):
    trace = Continual(n_clusters=k, epsilon=1.0, days=DAYS).run(data.X, domain=data.domain, seed=seed)
    centers = [data.domain.denormalize(step.released["centers"]) for step in trace.steps[1:]]
    return [normalized_loss(data.X, some, data.domain) for some in centers]


def _mean(values):
    return mean_words(float(np.mean(values)), standard_error(values), ".2f", ".3f")


if __name__ == "__main__":
    main()
