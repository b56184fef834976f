"""Compute Watch's facts about moves: quick runs, the noise in words, and losses compared with full DP."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.algorithms.dist_dp.family import Moves
from dpviz.datasets import Dataset
from dpviz.numbers import number
from dpviz.postprocessing.bet import bet_of
from dpviz.privacy.guarantee import Guarantee, Neighboring
from pages._ui.work import results, runs

FAMILY = ("dist-dp-region-means", "dist-dp", "dist-dp-random-points")
PLAIN = ("nsm", "pe-means")
SEEDS = range(2)


def one_distance(data: Dataset) -> bool:
    """Return whether the data have several columns and rho is the same distance in all of them."""
    return data.domain.n_features > 1 and not np.ptp(data.domain.half_width)


def algorithm(slug: str, **values: Any) -> Moves:
    """Return a method of the family whose promise is about moves."""
    method = ALGORITHMS[slug](**values)
    assert isinstance(method, Moves)
    return method


def stops(data: Dataset) -> list[float]:
    """Return the offered values of rho."""
    return list(_up_to(data.domain.diameter))


@lru_cache(maxsize=64)
def _up_to(diameter: float) -> tuple[float, ...]:
    return tuple(float(f"{value:.2g}") for value in np.geomspace(1e-4, diameter, 33))


def finished(data: Dataset, algorithm: Algorithm, seed: int) -> results.Result:
    """Return a run on public data, made once per server."""
    result = results.find(runs.run_id(data, algorithm, seed))
    if result is None:
        result = runs.execute(data, algorithm, seed)
        results.keep(result)
    return result


def size(data: Dataset) -> tuple[int, int]:
    """Return the number of columns and the public number of rows."""
    return data.domain.n_features, data.n_public


def odds(promise: Guarantee, moves: int) -> int:
    """Return how many of 100 bets an attacker can win on a person whose rows all move by this multiple of rho."""
    return bet_of(dataclasses.replace(promise, rows_per_person=moves * promise.rows_per_person)).odds


def noise(data: Dataset, algorithm: Algorithm, rho: float) -> str:
    """Describe the noise on every single point, computed from the plan."""
    cost = algorithm.plan(*size(data)).costs.get("points")
    if cost is None:
        return f"{algorithm.name}: none (rho is too large, so full DP runs instead)"
    mu = cost[0].gdp
    length = min(rho, data.domain.diameter) / mu
    return f"{algorithm.name}: {1 / mu:.1f} rho = {data.domain.length(length)}"


def losses(data: Dataset, family: Sequence[Moves], result: results.Result, epsilon: float, far: str) -> pd.DataFrame:
    """Return one row per run, with its promise; show progress, and stop when any widget changes.

    Full DP must hide any change of one row, so its add/remove guarantee is converted, and its budget is halved first.
    """
    delta = result.trace.claimed.delta / (1 + math.exp(epsilon / 2))
    plain = [ALGORITHMS[s](n_clusters=family[0].n_clusters, epsilon=epsilon / 2, delta=delta) for s in PLAIN]  # type: ignore[call-arg]
    todo = [(algorithm, seed) for algorithm in (*family, *plain) for seed in SEEDS]
    rows, bar = [("KMeans", "not private", result.reference_loss)], st.progress(0.0)
    for done, (algorithm, seed) in enumerate(todo):
        bar.progress(
            done / len(todo),
            f"{algorithm.name}, run {done + 1} of {len(todo)}. Any change to the settings above stops the runs.",
        )
        run = finished(data, algorithm, seed)
        words = f"moves of up to {far}"
        claim = results.drawn(run).claimed
        if claim.rho_distance is None:
            claim = claim.under(Neighboring.REPLACE)
            words = f"full DP: {claim.unit}, ε = {number(claim.epsilon)}"
        rows.append((algorithm.name, words, None if run.losses is None else float(run.losses[-1])))
    bar.empty()
    return pd.DataFrame(rows, columns=["method", "promise", "loss"])
