"""Find where methods do worse than a single center, and whether dpviz says so before or after the run.

DPVIZ_DATASETS=folder python -m lab.benchmarks.cliffs --seeds 1 --delta "n^-1.1"

The cases are five sets in the boxes of the papers (NOT PRIVATE: taken from the data), each with one change at a time:
another ε or k, bounds that are too wide or too narrow, a wrong declared n, a tenth of the rows, or a constant column;
and synthetic sets: groups in many columns, heavy tails, rows on a sphere, and a few rows far away. A run counts as
announced if `advice` or the trace has a sentence other than the one about a wrong n. It counts as no better than one
center if its loss exceeds LEVEL times the loss of the mean of all rows.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd
from sklearn.datasets import make_blobs

from dpviz import params
from dpviz.algorithms import ALGORITHMS
from dpviz.domain import Domain
from dpviz.metrics import normalized_loss
from dpviz.privacy.accounting import DEFAULT_DELTA, DELTAS
from dpviz.privacy.rows import Rows

from .utility import opened

Case = tuple[str, np.ndarray, Domain, int, float]
LEVEL = 0.98
METHODS = ("eugkm", "privtree", "lsh-splits", "dpm", "nsm")


def pushed(name: str, rng: np.random.Generator) -> Iterator[Case]:
    """Yield (words, rows, domain, k, epsilon) for each case of one set."""
    data = opened(name).data
    X, k, domain = data.X, data.n_clusters, data.domain
    n, half = len(X), (domain.high - domain.low) / 2

    def box(times: float, n_public: int = n) -> Domain:
        low, high = domain.middle - times * half, domain.middle + times * half
        return Domain.box(low, high, scale="common", radius=1.0, n_public=n_public)

    for epsilon in (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0, 50.0):
        yield f"{name}, ε {epsilon:g}", X, domain, k, epsilon
    for times in (0.3, 2, 10, 100):
        yield f"{name}, bounds × {times:g}", X, box(times), k, 1.0
    for centers in (2, 2 * k, 100):
        yield f"{name}, k {centers}", X, domain, centers, 1.0
    for times in (0.1, 0.5, 2, 10):
        yield f"{name}, n declared × {times:g}", X, box(1, max(2 * k, int(n * times))), k, 1.0
    few = X[rng.permutation(n)[: max(3 * k, n // 10)]]
    yield f"{name}, a tenth of the rows", few, box(1, len(few)), k, 1.0
    wider = np.column_stack([X, np.ones(n)])
    yield f"{name}, a constant column", wider, Domain.tight_nonprivate(wider), k, 1.0


def cases() -> Iterator[Case]:
    """Yield the cases of all sets, and the synthetic ones."""
    rng = np.random.default_rng(7)
    for name in ("s1", "yeast", "wine", "iris", "digits"):
        yield from pushed(name, rng)
    for n, d, k in ((5000, 50, 5), (2000, 200, 5), (10_000, 10, 8), (5000, 3, 20), (300, 6, 6)):
        X = make_blobs(n, d, centers=k, random_state=3)[0]
        for epsilon in (0.25, 1.0, 4.0):
            yield f"{n} × {d}, k {k}, ε {epsilon:g}", X, Domain.tight_nonprivate(X), k, epsilon
    for sd, d in ((1.5, 1), (2, 2), (1, 4), (2, 8)):
        X = rng.lognormal(0, sd, (4000, d))
        for times in (1, 3):
            box = Domain.box(np.zeros(d), np.full(d, times * X.max()), scale="common", n_public=4000)
            yield f"lognormal({sd}), {d} columns, 0 to {times} max", X, box, 5, 1.0
    X = rng.normal(size=(4000, 6))
    X /= np.linalg.norm(X, axis=1)[:, None]
    yield "on a sphere", X, Domain.tight_nonprivate(X), 6, 1.0
    X = np.vstack([rng.normal(0, 0.01, (4975, 12)), rng.normal(1, 0.01, (25, 12))])
    yield "25 of 5,000 rows far away", X, Domain.tight_nonprivate(X), 2, 1.0


def measured(slug: str, case: Case, seed: int, rule: str) -> dict[str, object]:
    """Return a run's loss divided by one center's, and whether `advice` (before) and the trace (after) announced it."""
    words, X, domain, k, epsilon = case
    Z = domain.normalize(X)
    one = float(((Z - Z.mean(axis=0)) ** 2).sum(axis=1).mean())
    assert domain.n_public is not None
    cls, values = ALGORITHMS[slug], {"n_clusters": min(k, domain.n_public), "epsilon": epsilon}
    delta = {"delta": DELTAS[rule](domain.n_public)} if "delta" in params.specs(cls) else {}
    algorithm = cls(**values, **delta)
    trace = algorithm.run(Rows(X, domain, words), seed=seed)
    loss = normalized_loss(X, trace.cluster_centers, domain)
    assert np.isfinite(trace.cluster_centers).all()
    before = bool(algorithm.advice(X.shape[1], domain.n_public))
    after = any("is declared." not in sentence for sentence in trace.warnings)
    return {"method": slug, "case": words, "ratio": loss / one, "before": before, "after": after}


def report(runs: pd.DataFrame) -> list[str]:
    """Return the table: how many runs were announced among those no better than one center, and among the others."""
    names = "announced before the run | announced before or after | other runs | other runs announced"
    lines = [f"| method | runs no better than one center | {names} |", "|---" * 6 + "|"]
    for method, own in runs.groupby("method", sort=False):
        bad, good = own[own.ratio > LEVEL], own[own.ratio <= LEVEL]
        told = lambda part: int((part.before | part.after).sum())  # noqa: E731
        lines.append(f"| {method} | {len(bad)} | {int(bad.before.sum())} | {told(bad)} | {len(good)} | {told(good)} |")
    silent = runs[(runs.ratio > LEVEL) & ~runs.before & ~runs.after]
    loud = runs[(runs.ratio <= LEVEL) & (runs.before | runs.after)]
    for title, part in (("No better than one center, and not announced", silent), ("Announced, and better", loud)):
        lines += ["", f"{title} (loss divided by one center's):", ""]
        lines += [f"- {one.method}: {one.case} ({one.ratio:.2f})" for one in part.itertuples()]
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--data", help="run the cases of this set only, such as iris")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--delta", choices=DELTAS, default=DEFAULT_DELTA, help="rule for the methods that have a delta")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # k-means warns about duplicate rows
    chosen = pushed(options.data, np.random.default_rng(7)) if options.data else cases()
    every = [(case, seed) for case in chosen for seed in range(options.seeds)]
    runs = [measured(slug, case, seed, options.delta) for slug in options.methods for case, seed in every]
    print("\n".join(report(pd.DataFrame(runs))))


if __name__ == "__main__":
    main()
