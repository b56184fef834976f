"""Time whole runs of every method at its defaults, which a new server forecasts by `Algorithm.work` alone.

python -m lab.benchmarks.first_runs > tests/pages/work/first_runs.csv

Seconds are of the processor: medians of three seeds, on one BLAS thread.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from statistics import median

import numpy as np
from sklearn.datasets import make_blobs
from threadpoolctl import threadpool_limits

from dpviz import params
from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load_sample
from dpviz.domain import Domain


def cases() -> Iterator[tuple[np.ndarray, Domain, int]]:
    """Yield rows, domain and k of two samples, and of 20,000 rows with 8 columns."""
    for name in ("town", "highdim"):
        data = load_sample(name)
        yield data.X, data.domain, data.n_clusters
    X = make_blobs(20_000, 8, centers=12, random_state=0)[0]
    yield X, Domain.tight_nonprivate(X), 12


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", default=list(ALGORITHMS), choices=list(ALGORITHMS))
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # k-means warns about duplicate rows
    print("method,rows,columns,k,seconds")
    for X, domain, k in cases():
        for slug in options.methods:
            cls = ALGORITHMS[slug]
            algorithm = cls(**({"n_clusters": k} if "n_clusters" in params.specs(cls) else {}))
            if slug == "public-start":
                algorithm = algorithm.with_public_rows(X[:100], domain)
            spent = []
            for seed in range(3):
                begun = time.process_time()
                algorithm.run(X, domain=domain, seed=seed)
                spent.append(time.process_time() - begun)
            print(f"{slug},{len(X)},{X.shape[1]},{k},{median(spent):.2g}", flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
