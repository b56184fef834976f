"""Compare Trade-off's forecasts of ten sweeps, made from one run of each kind, with the time that each sweep takes.

python -m lab.benchmarks.forecast
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from typing import Any

from dpviz.algorithms import ALGORITHMS
from dpviz.sweeps import estimate
from dpviz.sweeps.engines import on_this_machine, perform
from dpviz.sweeps.processes import Pool
from dpviz.sweeps.sweep import Sweep, Variant

WORKERS = 1  # one worker, as on a server with two cores
SWEEPS = (
    ("overlap", ("glloyd",)),
    ("minority", ("hdpe-means",)),
    ("town", ("dp-lloyd", "nsm", "dpm")),
    ("ring", ("sulloyd", "pe-means", "hdpe-means")),
    ("highdim", ("nsm",)),
    ("iris", ("dpm", "continual")),
    ("town", ("lsh-splits",)),
    ("city", ("pe-means", "fastlloyd")),
    ("moons", ("dp-dbscan", "eugkm")),
    ("blobs", ("stemmer-kaplan", "dp-em")),
)


def main() -> None:
    """Print for each sweep the number of its runs, the forecast and the actual time in seconds, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sweeps", type=int, default=len(SWEEPS), help="how many of the sweeps to run; default: all")
    options = parser.parse_args()
    print("| data | methods | runs | forecast, s | took, s | ratio |\n|---|---|---|---|---|---|")
    for data, slugs in SWEEPS[: options.sweeps]:
        variants = tuple(Variant(ALGORITHMS[slug].name, slug) for slug in slugs)
        sweep = Sweep(data=(f"sample:{data}",), variants=variants)
        runs, known = list(sweep.runs()), dict[tuple[Any, ...], float]()
        pool = Pool(1)
        for run in estimate.missing(runs, known):
            known[estimate.kind(run)] = pool.call(estimate.trial, run)
        pool.stop()
        forecast, begun = estimate.seconds(runs, known, WORKERS) or 0.0, time.perf_counter()
        rows = list(perform(sweep, (), partial(on_this_machine, workers=WORKERS)))
        took = time.perf_counter() - begun
        names = ", ".join(variant.label for variant in variants)
        print(f"| {data} | {names} | {len(rows)} | {forecast:.1f} | {took:.1f} | {took / forecast:.2f} |", flush=True)


if __name__ == "__main__":
    main()
