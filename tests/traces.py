"""Runs that many tests read, made once a process: a trace is read-only, so what one test does reaches no other."""

from functools import cache

import numpy as np

from dpviz import params
from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load_sample
from dpviz.domain import Domain

__all__ = ["MADE", "N", "OPTIONS", "blobs", "on_two_groups", "trace"]
N = 240
OPTIONS = {  # settings that show steps which the defaults do not
    "pe-means": {"refine": 0.3},
    "dpm": {"exactly_k": True},
    "eugkm": {"lloyd_share": 0.5},
    "nsm": {"epsilon": 50.0, "radius_share": 0.2},
    "stemmer-kaplan": {"rounds": 2},
    "stemmer-kaplan-swap": {"rounds": 2},
}


def blobs(n=N, d=2, seed=0):
    rng = np.random.default_rng(seed)
    centers = rng.uniform(-0.7, 0.7, (3, d))
    return np.clip(centers[rng.integers(3, size=n)] + rng.normal(0, 0.05, (n, d)), -1, 1)


def _two_groups(d):
    return np.random.default_rng(0).normal(scale=0.2, size=(800, d)) + np.repeat(np.eye(d)[:2] * 0.5, 400, axis=0)


MADE = {
    "blobs": blobs(),
    "outside": 3 * blobs(),
    "all equal": np.full((N, 2), 0.3),
    "corner outlier": np.vstack([np.zeros((N - 1, 2)), [[1.0, 1.0]]]),
    "ties": np.repeat([[-0.5, 0.5], [0.5, -0.5], [0.5, 0.5]], N // 3, axis=0),
    "one feature": blobs(d=1),
    "constant column": np.column_stack([blobs(d=2)[:, 0], np.zeros(N)]),
    "six features": blobs(d=6),
    "two rows": blobs(n=2),
    "two groups, 2 columns": _two_groups(2),
    "two groups, 6 columns": _two_groups(6),
}


@cache
def trace(slug, sample="blobs", seed=0, **values):
    """Return the run of an algorithm on rows made here or on one of the package's samples.

    Of `values` an algorithm takes those that are its parameters.
    """
    if sample in MADE:
        X, dataset_id = MADE[sample], "unnamed"
        scale = "common" if sample.startswith("two groups") else "column"
        domain = Domain.box(-1, 1, X.shape[1], n_public=len(X), scale=scale)
    else:
        data = load_sample(sample)
        X, domain, dataset_id = data.X, data.domain, data.dataset_id
    known = params.specs(ALGORITHMS[slug])
    algorithm = ALGORITHMS[slug](**{name: value for name, value in values.items() if name in known})
    return algorithm.run(X, domain=domain, seed=seed, dataset_id=dataset_id)


def on_two_groups(slug, d, **values):
    """Return a run in which nearly every kind of step occurs."""
    return trace(slug, f"two groups, {d} columns", n_clusters=3, **{"epsilon": 4.0, "rho_distance": 0.05, **values})
