"""Running algorithms for the pages: data sets by name, background jobs, and bounded stores of results by run id.

What comes from a file of somebody's own lives in that session alone: its data set, its runs, its figures.
"""

from __future__ import annotations

import dataclasses
import json
import secrets
import threading
import time
from collections import OrderedDict

import numpy as np
import streamlit as st

from dpviz import __version__
from dpviz.algorithms import ALGORITHMS, RECOMMENDED, Algorithm
from dpviz.datasets import SAMPLES, Dataset, load
from dpviz.metrics import loss_path, normalized_loss
from dpviz.trace import Trace
from pages._ui.jobs import Job, Jobs
from pages._ui.pace import Pace, duration

QUICK = 0.3  # seconds that a script run waits for its own run, before the page starts to ask
KEEP = 20  # results a session can go back to
STORE_BYTES = 400_000_000  # of public data, all sessions together
OWN_BYTES = 150_000_000  # of one session's own files


@dataclasses.dataclass(frozen=True, eq=False)
class Result:
    """A finished run with what the figures need beside the trace; `identity` is its public run id.

    `losses`, `reference` and `reference_loss` look at raw rows: they are None where the data are private.
    """

    identity: str
    trace: Trace
    data: Dataset
    losses: np.ndarray | None = None
    reference: Trace | None = None
    reference_loss: float | None = None

    @property
    def label(self) -> str:
        """Name the run in a list."""
        values = [f"{key} {value:g}" for key, value in _short(self.trace.parameters).items()]
        last = "released" if self.trace.seed is None else f"seed {self.trace.seed}"
        return ", ".join([f"{self.trace.name} on {self.data.title.split(',')[0]}", *values, last])

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

    def forget(self, dataset_id: str) -> None:
        """Drop every result on a data set."""
        with self._lock:
            for identity in [i for i, kept in self._kept.items() if kept.data.dataset_id == dataset_id]:
                del self._kept[identity]


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


@st.cache_resource
def pace() -> Pace:
    """Return how fast this server has been."""
    return Pace()


@st.cache_resource(max_entries=16, show_spinner=False)
def _public(name: str) -> Dataset:
    return load(name)


def own() -> dict[str, Dataset]:
    """Return this session's data sets from files, by their random token."""
    return st.session_state.setdefault("own", {})


def sample(name: str) -> Dataset:
    """Return a sample, blobs, or a data set of this session, by name."""
    return own()[name] if name in own() else _public(name)


def names() -> list[str]:
    """Return the names this session can choose from, its own ones first."""
    return [*own(), *st.session_state.get("made", []), *SAMPLES]


def chosen() -> Dataset:
    """Return the data set that every page uses, the first sample before anything was chosen."""
    state = st.session_state
    if state.get("explore_data") not in names():
        state.explore_data = SAMPLES[0]
    return sample(state.explore_data)


def choose(name: str) -> None:
    """Make a data set the chosen one on every page. Call it where its picker is not drawn."""
    if name not in names():
        st.session_state.setdefault("made", []).insert(0, name)
    st.session_state.explore_data = name


@st.cache_resource(max_entries=64, show_spinner=False)
def _kmeans(name: str, n_clusters: int, seed: int, _data: Dataset) -> Trace:
    return _reference(_data, n_clusters, seed)


def _reference(data: Dataset, n_clusters: int, seed: int) -> Trace:
    kmeans = ALGORITHMS["kmeans"](n_clusters=n_clusters)
    return kmeans.run(data.X, domain=data.domain, seed=seed, dataset_id=data.dataset_id)


def keep(data: Dataset) -> None:
    """Add a data set from a file to this session's own, and make it the chosen one."""
    own()[data.dataset_id] = data
    choose(data.dataset_id)


def drop(dataset_id: str) -> None:
    """Forget a data set of this session and every run on it."""
    own().pop(dataset_id, None)
    _stores()[0].forget(dataset_id)


def is_public(data: Dataset) -> bool:
    """Return whether a data set is the same for everybody: what is made from it may be shared between sessions."""
    return ":" in data.dataset_id  # sample:NAME or blobs:...; a file's token has none


def run_id(data: Dataset, algorithm: Algorithm, seed: int | None) -> str:
    """Return the public identity of a run: ids and parameters, never data."""
    values = {field.name: getattr(algorithm, field.name) for field in dataclasses.fields(algorithm)}
    return json.dumps([data.dataset_id, algorithm.slug, values, seed, __version__])


def execute(data: Dataset, algorithm: Algorithm, seed: int | None, job: Job | None = None) -> Result:
    """Run an algorithm and, unless the data are private, compare it with KMeans; reports releases done to the job.

    Private data get secure noise, no seed, and nothing else is computed from their rows.
    """
    domain = data.domain
    size = domain.n_features, data.n_public
    planned = algorithm.releases(*size)
    begun = time.perf_counter()
    trace = algorithm.run(
        data.X,
        domain=domain,
        seed=None if data.private else seed,
        noise="secure" if data.private else "seeded",
        dataset_id=data.dataset_id,
        on_step=None if job is None else lambda step: job.advance(step.n_releases, planned),
    )
    identity = run_id(data, algorithm, trace.seed)
    if data.private:
        return Result(identity, trace, data)
    pace().learn(algorithm, *size, time.perf_counter() - begun)
    n_clusters, seed = getattr(algorithm, "n_clusters", data.n_clusters), int(seed or 0)
    shared = is_public(data)
    reference = _kmeans(data.dataset_id, n_clusters, seed, data) if shared else _reference(data, n_clusters, seed)
    loss = normalized_loss(data.X, reference.cluster_centers, domain)
    return Result(identity, trace, data, loss_path(trace, data.X), reference, loss)


@st.cache_resource(max_entries=16, show_spinner=False)
def demo(name: str, epsilon: float, slug: str = "pe-means") -> Result:
    """Return a replay on a sample, run once per server: what is shown before anything was run, and lessons."""
    data = _public(name)
    return execute(data, ALGORITHMS[slug](n_clusters=data.n_clusters, epsilon=epsilon), 0)


def forecast(data: Dataset, algorithm: Algorithm) -> str:
    """Return what a run will do and roughly how long it will take, from public values."""
    size = data.domain.n_features, data.n_public
    planned, words = algorithm.releases(*size), duration(pace().seconds(algorithm, *size))
    if not planned or not algorithm.fixed_ledger:  # nothing is released, or how much follows released values
        return f"{words.capitalize()} on this server."
    return f"{planned} release{'s' * (planned != 1)}, {words} on this server."


def _stores() -> tuple[Store, Store]:
    """Return the session's own store and the one that is shared."""
    if "store" not in st.session_state:
        st.session_state.store = Store(OWN_BYTES)
    return st.session_state.store, store()


def find(identity: str) -> Result | None:
    """Return a finished run that this session may see, or None if it was dropped."""
    mine, shared = _stores()
    return mine.get(identity) or shared.get(identity)


def start(data: Dataset, algorithm: Algorithm, seed: int | None) -> None:
    """Show a run: at once if it was made before, else as a background job of this session."""
    identity = run_id(data, algorithm, None if data.private else seed)
    if find(identity) is not None:
        show(identity)
        return
    inbox: list[Result] = []  # not in the server's list of jobs: a result must not outlive its session
    job = jobs().submit(algorithm.name, lambda job: inbox.append(execute(data, algorithm, seed, job)), _session())
    st.session_state.update(job=job.id, inbox=inbox)
    if job.wait(QUICK):  # most runs: what came of it is seen in this very script run
        _take(job)


def _session() -> str:
    """Return a name for this session that tells nobody anything: the owner of its jobs."""
    return st.session_state.setdefault("owner", secrets.token_urlsafe(9))


def show(identity: str) -> None:
    """Make a stored run the shown one, and the newest of the session's history."""
    state = st.session_state
    state.history = [old for old in state.get("history", []) if old != identity][-KEEP + 1 :] + [identity]
    state.shown = identity


def history() -> list[Result]:
    """Return the session's runs that the server still has, newest first."""
    found = (find(identity) for identity in reversed(st.session_state.get("history", [])))
    return [result for result in found if result is not None]


def shown(name: str) -> Result | None:
    """Return the run to show: the chosen one, else a replay on the town sample."""
    chosen = find(st.session_state.get("shown", ""))
    return demo(name, 1.0, RECOMMENDED) if chosen is None and name == "town" else chosen


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
    _take(job)
    st.rerun()


def _take(job: Job) -> None:
    """Hand over what came of the session's job: its result, or a sentence."""
    state = st.session_state
    del state.job
    inbox = state.pop("inbox")
    if job.status == "done":
        result = inbox.pop()
        _stores()[is_public(result.data)].put(result)
        show(result.identity)
    elif job.status == "failed":
        state.problem = f"{job.error} The run was stopped; everything else is as it was."
    else:
        state.note = f"{job.title} was cancelled. What had been released stays spent."
