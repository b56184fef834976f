"""Simulate a federated run in one process: spread rows over clients, check the algorithm, record the traffic."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from dpviz import validate
from dpviz.algorithms import Algorithm
from dpviz.domain import Domain
from dpviz.federated.parties import Aborted
from dpviz.federated.ring import WIDE, Ring
from dpviz.federated.rows import FederatedRows, Traffic, Uploads
from dpviz.privacy.costs import Exact, Gaussian, Laplace
from dpviz.privacy.guarantee import Neighboring
from dpviz.trace import Trace

__all__ = ["SPREADS", "Simulation", "payload_bytes", "refusal", "simulate", "spread"]

SPREADS = ("even", "skewed", "by region")


def spread(X: np.ndarray, n_clients: int, how: str, rng: np.random.Generator) -> list[np.ndarray]:
    """Deal rows (n, d) to clients: evenly at random, in shares proportional to 1/i, or sorted by the first column."""
    validate.one_of("spread", SPREADS, how=how)
    validate.integer("spread", 1, 1000, n_clients=n_clients)
    order = np.argsort(X[:, 0], kind="stable") if how == "by region" else rng.permutation(len(X))
    weights = 1 / np.arange(1, n_clients + 1) if how == "skewed" else np.ones(n_clients)
    cuts = np.rint(np.cumsum(weights)[:-1] / weights.sum() * len(X)).astype(int)
    return [X[np.sort(part)] for part in np.split(order, cuts)]


def refusal(algorithm: Algorithm, n_features: int, n_public: int) -> str:
    """Return one sentence on why an algorithm cannot run federated, judged by public values alone, or "" if it can."""
    if not algorithm.notion.private:
        return f"{algorithm.name}: not private: it reads the rows themselves, which stay with their clients."
    if algorithm.neighboring is not Neighboring.ADD_REMOVE:
        return f"{algorithm.name}: this method releases noisy rows, not sums, and needs all rows in one place."
    for label, costs in algorithm.plan(n_features, n_public).costs.items():
        other = sorted({type(cost).__name__ for cost in costs if not isinstance(cost, Gaussian | Laplace | Exact)})
        if other:
            return (
                f"{algorithm.name}: release {label!r} ({', '.join(other)}) needs a trusted curator; federated clients "
                "reveal only noisy sums."
            )
    return ""


def payload_bytes(n_clients: int, words: int, word_bytes: int) -> int:
    """Return the number of payload bytes of one round in both directions; FastLloyd sends k (d + 1) words a round."""
    return 2 * n_clients * word_bytes * words


@dataclasses.dataclass(frozen=True)
class Simulation:
    """A federated run.

    Attributes
    ----------
    trace : Trace, or None if the run was aborted
    rounds : traffic of the finished rounds
    aborted : reason why the run ended early, or ""
    """

    trace: Trace | None
    rounds: tuple[Traffic, ...]
    aborted: str = ""

    @property
    def bytes(self) -> int:
        """Return the number of payload bytes of all rounds in both directions."""
        return sum(round_.bytes_up + round_.bytes_down for round_ in self.rounds)


def simulate(
    algorithm: Algorithm,
    parts: list[np.ndarray],
    domain: Domain,
    *,
    seed: int | None = None,
    noise: str = "seeded",
    ring: Ring = WIDE,
    dataset_id: str = "unnamed",
    drop: tuple[int, int] | None = None,
    on_round: Callable[[Traffic], None] | None = None,
    **facts: Any,
) -> Simulation:
    """Run an algorithm on clients' rows in this process.

    Parameters
    ----------
    algorithm : Algorithm, run unchanged
    parts : one array (n_i, d) per client, original units
    domain : Domain
    seed, noise : as for `Algorithm.run`; true statistics are recorded for noise="seeded" only
    drop : (client index, round index) of a client that stops answering, or None
    facts : `drawn_by` and `n_max`, as for `FederatedRows`

    Raises
    ------
    PermissionError
        If the algorithm needs more than dense noisy sums.
    OverflowError, ValueError
        If a sum would not fit the ring; nothing was sent.
    """
    n = domain.n_public or sum(map(len, parts))
    reason = refusal(algorithm, domain.n_features, n)
    if reason:
        raise PermissionError(reason)
    rounds: list[Traffic] = []

    def keep(round_: Traffic) -> None:
        rounds.append(round_)
        if on_round is not None:
            on_round(round_)

    def silence(index: int, uploads: Uploads) -> Uploads:
        if drop is None or index < drop[1]:
            return uploads
        return {name: parts for i, (name, parts) in enumerate(uploads.items()) if i != drop[0]}

    rows = FederatedRows.simulate(
        parts, domain, dataset_id, ring=ring, on_round=keep, demo=noise == "seeded", wire=silence, **facts
    )
    try:
        return Simulation(algorithm.run(rows, seed=seed, noise=noise), tuple(rounds))
    except Aborted as reason_:
        return Simulation(None, tuple(rounds), str(reason_))
