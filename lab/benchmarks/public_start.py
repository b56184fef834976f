"""Measure what public rows are worth: from the same source as the private rows, and from a shifted one.

python -m lab.benchmarks.public_start --families few-columns far-groups many-columns few-rows --draws 3 --seeds 3

Of each draw of a family of `dpviz bench`, five sixths are private; the public rows are a twentieth of these, taken from
the other sixth (at least 2k). They are shifted in a random direction by 0, 1 or 3 times the rows' root mean square
distance from KMeans' centers, and moved into the bounds, which are the smallest and largest value of a column (NOT
PRIVATE: taken from the data). A number is the area under the loss against ε (.25 to 4), divided by that of KMeans on
the private rows: the mean over draws ± its standard error; δ is 1/(100 n). "alone" is the loss of the public centers
without a private round. "warned" is the share of runs that say that the rows lie elsewhere.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from typing import Any

import numpy as np
import pandas as pd

from dpviz.algorithms import ALGORITHMS
from dpviz.algorithms.lloyd.public_start import PublicStart
from dpviz.domain import Domain
from dpviz.metrics import loss_auc, normalized_loss
from dpviz.numbers import plus_minus
from dpviz.runs.averages import standard_error

from ..bench.families import FAMILIES, made
from .utility import EPSILONS

SHIFTS = (0, 1, 3)


def measured(family: str, draw: int, seeds: int, slugs: list[str]) -> dict[str, float]:
    """Return the areas of one draw, and for the public start also the loss without rounds and the share warned."""
    data, rng = made(family, draw, "public start"), np.random.default_rng(draw)
    rows, k = data.X[rng.permutation(len(data.X))], data.k
    private, rest = np.split(rows, [len(rows) * 5 // 6])
    domain = Domain.box(rows.min(axis=0), rows.max(axis=0), n_public=len(private))
    centers = ALGORITHMS["kmeans"](n_clusters=k).run(private, domain=domain, seed=0).cluster_centers
    best = normalized_loss(private, centers, domain)
    way = rng.normal(size=domain.n_features)
    way *= np.sqrt(best) / np.linalg.norm(way) * domain.half_width
    found: dict[str, float] = {}

    def add(name: str, method: Any) -> None:
        losses, warned = [], []
        for epsilon in EPSILONS:
            one = dataclasses.replace(method, epsilon=epsilon)
            traces = [one.run(private, domain=domain, seed=seed) for seed in range(seeds)]
            losses.append(np.mean([normalized_loss(private, trace.cluster_centers, domain) for trace in traces]))
            warned += [any("lie elsewhere" in words for words in trace.warnings) for trace in traces]
        found[name] = loss_auc(list(EPSILONS), losses) / loss_auc(list(EPSILONS), [best] * len(EPSILONS))
        found[f"{name}, warned"] = float(np.mean(warned))

    for slug in slugs:
        add(slug, ALGORITHMS[slug](n_clusters=k))
        del found[f"{slug}, warned"]
    for shift in SHIFTS:
        public = np.clip(rest[: max(len(private) // 20, 2 * k)] + shift * way, domain.low, domain.high)
        method = PublicStart(n_clusters=k).with_public_rows(public, domain)
        found[f"shift {shift}, alone"] = normalized_loss(private, np.array(method.public_centers), domain) / best
        add(f"shift {shift}", method)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=["few-columns", "far-groups", "few-rows"])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--algorithms", nargs="+", default=["nsm", "glloyd", "fastlloyd"])
    options = parser.parse_args()
    print(f"`python -m {' '.join(['lab.benchmarks.public_start', *sys.argv[1:]])}`\n")
    for i, family in enumerate(options.families):
        table = pd.DataFrame(
            [measured(family, draw, options.seeds, options.algorithms) for draw in range(options.draws)]
        )
        if not i:
            print(f"| family | {' | '.join(table)} |\n" + "|---" * (len(table.columns) + 1) + "|")
        cells = [
            f"{table[one].mean():.0%}" if "warned" in one else plus_minus(table[one].mean(), standard_error(table[one]))
            for one in table
        ]
        print(f"| {family} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
