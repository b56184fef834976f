"""Secure against seeded noise: time a draw and time a run. `python -m benchmarks.secure [--repeats 5]`."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

from dpviz.algorithms import ALGORITHMS
from dpviz.audits.audit import instance
from dpviz.datasets import load_sample
from dpviz.privacy.guarantee import Notion
from dpviz.privacy.noise import Secure, Seeded

DRAWS = 100_000


def seconds(work: Callable[[], object], repeats: int) -> float:
    """Return the median time of some calls, after one that does not count."""
    work()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--data", default="town")
    arguments = parser.parse_args()
    seeded, secure = Seeded(np.random.default_rng(0)), Secure()
    print(f"seconds per {DRAWS:,} draws       seeded    secure")
    for name, draw in (
        ("gaussian", lambda noise: noise.gaussian(20.0, (DRAWS,))),
        ("laplace", lambda noise: noise.laplace(20.0, (DRAWS,))),
        ("selection of 100", lambda noise: [noise.gumbel_argmax(np.zeros(100), 2.0) for _ in range(DRAWS // 100)]),
    ):
        times = [seconds(lambda noise=noise, draw=draw: draw(noise), arguments.repeats) for noise in (seeded, secure)]
        print(f"{name:<28}{times[0]:>10.4f}{times[1]:>10.4f}")
    data = load_sample(arguments.data)
    print(f"\nseconds a run on {arguments.data} ({len(data.X):,} x {data.X.shape[1]})   seeded    secure     ratio")
    for slug, cls in ALGORITHMS.items():
        if cls.notion is Notion.NONE:
            continue
        algorithm = instance(cls, n_clusters=5, epsilon=1.0, delta=1e-5)
        times = [
            seconds(lambda how=how, a=algorithm: a.run(data.X, domain=data.domain, **how), arguments.repeats)
            for how in ({"seed": 0}, {"noise": "secure"})
        ]
        print(f"{slug:<38}{times[0]:>10.4f}{times[1]:>10.4f}{times[1] / times[0]:>10.2f}")


if __name__ == "__main__":
    main()
