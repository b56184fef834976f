"""Make runs that many tests read, once per process; a trace is read-only, so tests cannot affect each other."""

from functools import cache

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load_sample
from dpviz.testing.runs import MADE, built, run

__all__ = ["MADE", "OPTIONS", "on_two_groups", "trace"]
OPTIONS = {  # options for steps that do not occur by default
    "pe-means": {"refine": 0.3},
    "dpm": {"exactly_k": True},
    "eugkm": {"lloyd_share": 0.5},
    "nsm": {"epsilon": 50.0, "radius_share": 0.2},
    "public-start": {"epsilon": 0.05},
    "stemmer-kaplan": {"rounds": 2},
    "stemmer-kaplan-swap": {"rounds": 2},
}


@cache
def trace(slug, sample="blobs", seed=0, **values):
    """Return the run of an algorithm on rows made by `dpviz.testing` or on one of the package's samples.

    Those of `values` that are parameters of the algorithm are passed to it.
    """
    if sample in MADE:
        return run(ALGORITHMS[slug], sample, seed, **values)
    data = load_sample(sample)
    algorithm = built(ALGORITHMS[slug], **values)
    return algorithm.run(data.X, domain=data.domain, seed=seed, dataset_id=data.dataset_id)


def on_two_groups(slug, d, **values):
    """Return a run in which nearly every kind of step occurs."""
    return trace(slug, f"two groups, {d} columns", n_clusters=3, **{"epsilon": 4.0, "rho_distance": 0.02, **values})
