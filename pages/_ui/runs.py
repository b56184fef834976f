"""Running algorithms for the pages: cached samples, background jobs, and the session's last results by run id."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import streamlit as st

from dpviz import __version__
from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.datasets import Dataset, load_sample
from dpviz.experiments.jobs import Job, Jobs
from dpviz.metrics import loss_path, normalized_loss
from dpviz.trace import Trace

KEEP = 20


@dataclasses.dataclass(frozen=True)
class Result:
    """A finished DEMO run with what the figures need beside the trace."""

    trace: Trace
    data: str
    losses: np.ndarray
    reference: Trace
    reference_loss: float


@st.cache_resource(max_entries=16, show_spinner=False)
def sample(name: str) -> Dataset:
    """Return a bundled sample, read once per server."""
    return load_sample(name)


@st.cache_resource(max_entries=64, show_spinner=False)
def kmeans(name: str, n_clusters: int, seed: int) -> Trace:
    """Return the non-private reference for a sample."""
    data = sample(name)
    return ALGORITHMS["kmeans"](n_clusters=n_clusters).run(
        data.X, domain=data.domain, seed=seed, dataset_id=data.dataset_id
    )


@st.cache_resource
def jobs() -> Jobs:
    """Return the server's one queue."""
    return Jobs(workers=1)


def run_id(name: str, algorithm: Algorithm, seed: int) -> str:
    """Return the public identity of a run: ids and parameters, never data."""
    values = {field.name: getattr(algorithm, field.name) for field in dataclasses.fields(algorithm)}
    return json.dumps([f"sample:{name}", algorithm.slug, values, seed, __version__])


def execute(name: str, algorithm: Algorithm, seed: int, job: Job | None = None) -> Result:
    """Run an algorithm on a sample and compare it with KMeans; reports releases done to the job."""
    data = sample(name)
    planned = sum(map(len, algorithm.plan(data.domain.n_features, data.domain.n_public or len(data.X)).costs.values()))
    trace = algorithm.run(
        data.X,
        domain=data.domain,
        seed=seed,
        dataset_id=data.dataset_id,
        on_step=None if job is None else lambda step: job.advance(step.n_releases, planned),
    )
    reference = kmeans(name, getattr(algorithm, "n_clusters", data.n_clusters), seed)
    return Result(
        trace,
        name,
        loss_path(trace, data.X),
        reference,
        normalized_loss(data.X, reference.cluster_centers, data.domain),
    )


@st.cache_resource(max_entries=16, show_spinner=False)
def demo(name: str, epsilon: float) -> Result:
    """Return the replay shown before anything was run: PE-means on a sample."""
    return execute(name, ALGORITHMS["pe-means"](n_clusters=sample(name).n_clusters, epsilon=epsilon), 0)


def results() -> dict[str, Result]:
    """Return the session's last results, oldest first."""
    return st.session_state.setdefault("results", {})


def remember(identity: str, result: Result) -> None:
    """Keep a result in the session, at most the last 20."""
    kept = results()
    kept.pop(identity, None)
    kept[identity] = result
    while len(kept) > KEEP:
        kept.pop(next(iter(kept)))
