"""Running algorithms for the pages: cached samples, background jobs, and a bounded store of results by run id."""

from __future__ import annotations

import dataclasses
import json
import threading
from collections import OrderedDict

import numpy as np
import streamlit as st

from dpviz import __version__
from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.datasets import Dataset, load_sample
from dpviz.experiments.jobs import Job, Jobs
from dpviz.metrics import loss_path, normalized_loss
from dpviz.trace import Trace

KEEP = 20  # results a session can go back to
STORE_BYTES = 400_000_000  # all sessions together


@dataclasses.dataclass(frozen=True, eq=False)
class Result:
    """A finished DEMO run with what the figures need beside the trace; `identity` is its public run id."""

    identity: str
    trace: Trace
    data: str
    losses: np.ndarray
    reference: Trace
    reference_loss: float

    @property
    def label(self) -> str:
        """Name the run in a list."""
        values = [f"{key} {value:g}" for key, value in _short(self.trace.parameters).items()]
        return ", ".join([f"{self.trace.name} on {self.data}", *values, f"seed {self.trace.seed}"])

    @property
    def size(self) -> int:
        """Bytes of the arrays in the trace."""
        arrays = [a for step in self.trace.steps for a in step.released.values() if isinstance(a, np.ndarray)]
        arrays += [a for step in self.trace.steps for hidden in step.hidden for a in hidden.statistic.values()]
        return sum(array.nbytes for array in arrays)


class Store:
    """The last results of all sessions, at most `most` bytes of them; the newest always stays."""

    def __init__(self, most: int) -> None:
        self._most, self._kept, self._lock = most, OrderedDict[str, Result](), threading.Lock()

    def put(self, result: Result) -> None:
        """Keep a result and drop the oldest ones above the limit."""
        with self._lock:
            self._kept[result.identity] = result
            self._kept.move_to_end(result.identity)
            while len(self._kept) > 1 and sum(kept.size for kept in self._kept.values()) > self._most:
                self._kept.popitem(last=False)

    def get(self, identity: str) -> Result | None:
        """Return a result, or None if it was dropped."""
        return self._kept.get(identity)


def _short(parameters: dict) -> dict[str, float]:
    return {
        short: parameters[name] for name, short in (("n_clusters", "k"), ("epsilon", "\u03b5")) if name in parameters
    }


@st.cache_resource
def store() -> Store:
    """Return the server's one store."""
    return Store(STORE_BYTES)


@st.cache_resource
def jobs() -> Jobs:
    """Return the server's one queue."""
    return Jobs(workers=1)


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
        run_id(name, algorithm, seed),
        trace,
        name,
        loss_path(trace, data.X),
        reference,
        normalized_loss(data.X, reference.cluster_centers, data.domain),
    )


@st.cache_resource(max_entries=16, show_spinner=False)
def demo(name: str, epsilon: float, slug: str = "pe-means") -> Result:
    """Return a replay on a sample, run once per server: what is shown before anything was run, and lessons."""
    return execute(name, ALGORITHMS[slug](n_clusters=sample(name).n_clusters, epsilon=epsilon), 0)


def start(name: str, algorithm: Algorithm, seed: int) -> None:
    """Show a run: at once if the server has its result, else as a background job of this session."""
    identity = run_id(name, algorithm, seed)
    if store().get(identity) is not None:
        show(identity)
    else:
        job = jobs().submit(algorithm.name, lambda job: execute(name, algorithm, seed, job))
        st.session_state.job = job.id


def show(identity: str) -> None:
    """Make a stored run the shown one, and the newest of the session's history."""
    state = st.session_state
    state.history = [old for old in state.get("history", []) if old != identity][-KEEP + 1 :] + [identity]
    state.shown = identity


def history() -> list[Result]:
    """Return the session's runs that the server still has, newest first."""
    found = (store().get(identity) for identity in reversed(st.session_state.get("history", [])))
    return [result for result in found if result is not None]


def shown(name: str) -> Result | None:
    """Return the run to show: the chosen one, else a replay on the town sample."""
    chosen = store().get(st.session_state.get("shown", ""))
    return demo(name, 1.0) if chosen is None and name == "town" else chosen


def progress() -> None:
    """Show the session's running job, and hand its result over once."""
    if "job" not in st.session_state:
        return
    st.fragment(_poll, run_every=0.4)()


def _poll() -> None:
    state = st.session_state
    job = jobs().get(state.job) if "job" in state else None
    if job is None:
        state.pop("job", None)
        return
    if job.active:
        ahead = jobs().position(job)
        words = f"release {job.done} of {job.total}" if job.total else "starting"
        if ahead:
            words = f"{ahead} run{'s' * (ahead > 1)} ahead in the queue"
        bar, button = st.columns([5, 1], vertical_alignment="center")
        bar.progress(min(job.done / job.total, 1.0) if job.total else 0.0, f"Running {job.title}: {words}")
        if button.button("Cancel", key="cancel", width="stretch"):
            job.cancel()
        return
    del state.job
    if job.status == "done":
        store().put(job.result)
        show(job.result.identity)
    elif job.status == "failed":
        state.problem = f"{job.error} The run was stopped; everything else is as it was."
    else:
        state.note = f"{job.title} was cancelled. What had been released stays spent."
    st.rerun()
