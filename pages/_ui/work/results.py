"""Store finished runs by their public id: one bounded store for public data, and one for each session."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from itertools import count
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import streamlit as st

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import Dataset
from dpviz.numbers import number
from dpviz.privacy.guarantee import Neighboring
from dpviz.trace import Trace
from pages._ui.frame.catalog import is_public, own
from pages._ui.frame.session import Held, nothing, session
from pages._ui.frame.shared import once
from pages._ui.work.recent import Recent

KEEP = 20  # Number of results that a session can return to.
STORE_BYTES = 400_000_000  # Bytes of results on public data, in all sessions together.
OWN_BYTES = 150_000_000  # Bytes of results on one session's own files.


@dataclasses.dataclass(frozen=True, eq=False)
class Result:
    """A finished run, with its trace and the other data that figures need; `identity` is its public run id.

    `losses`, `reference` and `reference_loss` depend on raw rows and are None if the data are private. `at` is the time
    at which the run finished.
    """

    identity: str
    trace: Trace
    data: Dataset
    losses: np.ndarray | None = None
    reference: Trace | None = None
    reference_loss: float | None = None
    at: datetime = dataclasses.field(default_factory=lambda: datetime.now(UTC))

    @property
    def label(self) -> str:
        """Return the run's name as shown in lists."""
        given = self.trace.parameters
        values = [
            f"{short} {number(given[name], 6) if isinstance(given[name], float) else given[name]}"
            for name, short in (("n_clusters", "k"), ("epsilon", "ε"))
            if name in given
        ]
        last = "released" if self.trace.seed is None else f"seed {self.trace.seed}"
        if self.trace.noiseless:
            last += ", no noise"
        return f"{', '.join([*values, last])} · {self.trace.name} on {self.data.title.split(',')[0]}"

    @property
    def size(self) -> int:
        """Return the size of the arrays in the trace, in bytes."""
        arrays = [a for step in self.trace.steps for a in step.released.values() if isinstance(a, np.ndarray)]
        arrays += [a for step in self.trace.steps for hidden in step.hidden for a in hidden.statistic.values()]
        return sum(array.nbytes for array in arrays)


def drawn(result: Result) -> Trace:
    """Return the trace with the name and promise of the method that ran: full DP, if that replaced the chosen method.

    The trace itself still claims its method's promise, which is weaker and also true.
    """
    trace, size = result.trace, (result.data.domain.n_features, result.data.n_public)
    algorithm = ALGORITHMS[trace.algorithm](**trace.parameters)
    instead = algorithm.runs(*size)
    if instead is algorithm:
        return trace
    promise = trace.claimed
    if promise.private:
        promise = dataclasses.replace(
            promise, notion=instead.notion, neighboring=Neighboring.REPLACE, rho_distance=None
        )
    return dataclasses.replace(trace, name=instead.name, claimed=promise)


class _Mine:
    store: Held[Recent[Result] | None] = Held(nothing)  # results that no other session may see


_mine = _Mine()


def _bytes(result: Result) -> int:
    return result.size


@once
def store() -> Recent[Result]:
    """Return the server's store of public results."""
    return Recent(STORE_BYTES, _bytes)


def drop(dataset_id: str) -> None:
    """Forget a data set of this session and every run on it."""
    own().pop(dataset_id, None)
    _stores()[0].drop(lambda result: result.data.dataset_id == dataset_id)


def _stores() -> tuple[Recent[Result], Recent[Result]]:
    """Return the session's own store and the store that all sessions share."""
    if _mine.store is None:
        _mine.store = Recent(OWN_BYTES, _bytes)
    return _mine.store, store()


def keep(result: Result) -> None:
    """Store a result: for all sessions if its data are public, else for this session only."""
    _stores()[is_public(result.data)].put(result.identity, result)


def find(identity: str) -> Result | None:
    """Return a finished run that this session may see, or None if it was dropped."""
    mine, shared = _stores()
    return mine.get(identity) or shared.get(identity)


def show(identity: str) -> None:
    """Show a stored run, and make it the newest of the session's history."""
    session.history = [old for old in session.history if old != identity][-KEEP + 1 :] + [identity]
    session.shown = identity


def labels(runs: Iterable[Result]) -> dict[str, str]:
    """Return identity -> name of each run; all names differ, because a picker identifies entries by their names.

    Runs with equal names differ in their declaration or in a parameter that the name omits, so the number of columns
    and the visitor's time are added.
    """
    past = list(runs)
    names = {run.identity: run.label for run in past}
    for tail in (lambda run: f"{len(run.data.columns)} columns", _time, _order()):
        often = Counter(names.values())
        names |= {run.identity: f"{name}, {tail(run)}" for run in past if often[name := names[run.identity]] > 1}
    return names


def _time(run: Result) -> str:
    try:
        zone: ZoneInfo | None = ZoneInfo(st.context.timezone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        zone = None
    return f"{run.at.astimezone(zone):%H:%M:%S}"


def _order() -> Callable[[Result], str]:
    """Return a function that numbers the runs that are passed to it, starting at 1."""
    numbers = count(1)
    return lambda _: f"number {next(numbers)}"


def history() -> list[Result]:
    """Return the session's runs that the server still has, newest first."""
    results = (find(identity) for identity in reversed(session.history))
    return [result for result in results if result is not None]
