"""Compare the losses of NSM and of an earlier version of it with that of an oracle that knows KMeans' partition.

git show 7b07bcf:benchmarks/results/nsm.csv > before.csv
DPVIZ_DATASETS=folder python -m lab.benchmarks.oracle --before before.csv

The oracle is NOT PRIVATE, because KMeans(n_init=10) partitions the rows without noise; the whole budget buys ONE joint
Gaussian release of counts and of offsets from KMeans' centers. At each ε, the offsets' clipping radius is the one with
the lowest mean loss among multiples of the root mean squared distance within clusters; bounds are taken from the data.
The oracle is a yardstick for the possible gain from better starts, candidates and steps. The oracle is not a bound,
because it does not damp moves that noise alone would explain. Each number is the area under the curve of the loss
against ε, from .25 to 4, divided by KMeans'; those of NSM come from dpviz/papers/results/nsm.csv. "Half-way" is the
mean of the oracle's number and that of the earlier NSM.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans

from dpviz.geometry import snap
from dpviz.metrics import loss_auc, normalized_loss
from dpviz.papers.results import RESULTS
from dpviz.privacy.accounting import default_delta, mu_of_epsilon
from dpviz.privacy.costs import Gaussian
from dpviz.privacy.curator import Curator
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.noise import Seeded
from dpviz.privacy.plan import Plan
from dpviz.privacy.queries import NearestSums
from dpviz.privacy.rows import Rows
from dpviz.runs.averages import standard_error

from .utility import EPSILONS, mean_words, opened

DATA = ("iris", "wine", "lsun", "yeast", "house", "digits", "dim032", "a1", "s1", "adult", "letter", "birch2_25k")
MULTIPLES = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)  # clipping radii, as multiples of the root mean squared distance


def released(rows: Rows, centers: np.ndarray, radius: float, mu: float, seed: int) -> np.ndarray:
    """Return the centers after one release that spends the whole budget; counts get the same share as in NSM."""
    d = rows.n_features
    counted = 1 / (1 + 3 * math.sqrt(d))
    shares = {"step.counts": counted, "step.sums": 1 - counted}
    plan = Plan({label: (Gaussian(mu * math.sqrt(share)),) for label, share in shares.items()})
    noise = Seeded(np.random.default_rng(seed))
    n = rows.size_nonprivate()
    curator = Curator(rows, plan, noise, neighboring=Neighboring.ADD_REMOVE, n_public=n, hidden=[])
    noisy = curator.release("step", NearestSums(centers, radius, relative=True))
    return centers + noisy.value["sums"] / np.maximum(noisy.value["counts"], 1.0)[:, None]


def oracle(name: str, seeds: int | None) -> np.ndarray:
    """Return the area under the oracle's loss curve, divided by KMeans', for every seed."""
    source = opened(name)
    X, domain, rows, n = source.data.X, source.data.domain, source.rows, len(source.Z)
    model = KMeans(source.data.n_clusters, n_init=10, random_state=0).fit(source.Z)
    plain, centers = model.inertia_ / n, snap(model.cluster_centers_)
    chosen = range(seeds or (10 if n < 2000 else 5))

    def losses(radius: float, mu: float) -> list[float]:
        moved = (domain.inside(released(rows, centers, radius, mu, seed)) for seed in chosen)
        return [normalized_loss(X, some, domain) for some in moved]

    curve = []
    for epsilon in EPSILONS:
        mu = mu_of_epsilon(epsilon, default_delta(n))
        tried = (losses(multiple * math.sqrt(plain), mu) for multiple in MULTIPLES)
        curve.append(min(tried, key=np.mean))
    whole = loss_auc(list(EPSILONS), [plain] * len(EPSILONS))
    return np.array([loss_auc(list(EPSILONS), list(line)) / whole for line in np.array(curve).T])


def ratios(path: Path) -> pd.DataFrame:
    """Read the area under NSM's loss curve, divided by KMeans', for each data set of a table of `utility`."""
    table = pd.read_csv(path)
    return table[table.algorithm == "NSM (ours)"].set_index("data")[["auc ratio", "se auc ratio"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=list(DATA))
    parser.add_argument("--seeds", type=int, help="default: 10 for n < 2000, else 5")
    parser.add_argument("--before", type=Path, required=True, help="nsm.csv of an earlier commit")
    parser.add_argument("--now", type=Path, default=RESULTS / "nsm.csv")
    options = parser.parse_args()
    before, now = ratios(options.before), ratios(options.now)
    print(
        f"`python -m lab.benchmarks.oracle {' '.join(sys.argv[1:])}` gives the area under the curve of the loss "
        "against ε, divided by KMeans', as mean ± standard error.\n"
    )
    print("| data | oracle | NSM before | half-way | NSM now | distance left | half-way reached |\n" + "|---" * 7 + "|")
    for name in options.data:
        least = oracle(name, options.seeds)
        bound, (was, _), (ours, error) = least.mean(), before.loc[name], now.loc[name]
        half, left = (bound + was) / 2, (ours - bound) / (was - bound)
        reached = "yes" if ours <= half else "within one standard error" if ours - error <= half else "no"
        print(
            f"| {name} | {mean_words(bound, standard_error(least), '.4f')} | {was:.4f} | {half:.4f} "
            f"| {mean_words(ours, error, '.4f')} "
            f"| {left:.0%} | {reached} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
