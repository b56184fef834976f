"""Check that an algorithm releases the same bits wherever the rows are: in parts on disk, or with federated clients."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path

import numpy as np

from dpviz.algorithms import Algorithm
from dpviz.datasets.parts import parts_of
from dpviz.domain import Domain
from dpviz.federated import SERVER, Shares, refusal, simulate, spread
from dpviz.privacy.chunked import ChunkedRows, threads
from dpviz.privacy.guarantee import BY_AUTHORS
from dpviz.testing.runs import DoesNotApply, built, demand, same
from dpviz.trace import Trace

_N, _CLIENTS = 600, ((2, "even"), (5, "by region"), (3, "skewed"))


def _groups(n: int, d: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.clip(rng.normal(size=(n, d)) * 0.15 + rng.choice([-0.5, 0.0, 0.6], (n, 1)), -1.1, 1.1)


def runs_in_parts_are_bit_equal_to_memory(cls: type[Algorithm]) -> None:
    """Check that a file read in parts leads to the same releases as rows in memory, with 3 and 6 columns."""
    if not cls.notion.private:
        raise DoesNotApply("it promises nothing")
    for n, d, part_rows in ((3000, 3, 777), (1200, 6, 333)):
        X = _groups(n, d, d)
        X[17, 1] = np.nan
        algorithm = built(cls, n_clusters=3, epsilon=4.0)
        domain = Domain.box(-1, 1, d, n_public=n, scale="common")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.npy"
            np.save(path, X)
            rows = ChunkedRows(parts_of(path, part_rows=part_rows), domain, "unnamed", threads(2))
            try:
                apart = algorithm.run(rows, seed=3)
            except PermissionError as error:  # the refusal says "in memory"
                demand("in memory" in str(error), str(error))
                raise DoesNotApply("it needs the rows in memory, as it says itself") from None
        memory = algorithm.run(X, domain=domain, seed=3)
        demand(apart.to_json() == memory.to_json(), f"in parts of {part_rows} rows the released values differ")


def _trusting(trace: Trace, trust: str) -> Trace:
    """Return the trace with another statement of who must be trusted."""
    claimed, spent = (dataclasses.replace(promise, trust=trust) for promise in (trace.claimed, trace.spent))
    return dataclasses.replace(trace, claimed=claimed, spent=spent)


def federated_equals_central_bit_for_bit(cls: type[Algorithm]) -> None:
    """Check that 2, 3 and 5 clients give the central trace, hidden truth included, if the server draws the noise."""
    algorithm = built(cls, n_clusters=3)
    if reason := refusal(algorithm, 2, _N):
        raise DoesNotApply(reason)
    rng = np.random.default_rng(0)
    middles = rng.uniform(-0.7, 0.7, (3, 2))
    X = np.clip(middles[rng.integers(3, size=_N)] + rng.normal(0, 0.1, (_N, 2)), -1.1, 1.1)
    domain = Domain.box(-1, 1, 2, n_public=_N)
    central = algorithm.run(X, domain=domain, seed=0, dataset_id="x")
    central = _trusting(central, f"{BY_AUTHORS * central.claimed.by_authors}{Shares(SERVER, 2).trust}")
    for n_clients, how in _CLIENTS:
        dealt = spread(X, n_clients, how, np.random.default_rng(1))
        ours = simulate(algorithm, dealt, domain, seed=0, dataset_id="x", drawn_by=SERVER)
        demand(
            ours.trace is not None and same(ours.trace, central),
            f"{n_clients} clients, {how}: the run differs from the central one",
        )
        asked = {(entry.label, entry.occurrence, entry.path) for entry in central.ledger}
        demand(len(ours.rounds) == len(asked), f"{n_clients} clients, {how}: {len(ours.rounds)} rounds")
