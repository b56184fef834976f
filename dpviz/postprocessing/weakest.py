"""Say of each run of a comparison what it spent its budget on and where its signal was weakest against its noise.

Everything is computed from released values, the plan and the ledger, so it is the same in DEMO and PRIVATE and costs
nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from dpviz.numbers import listed, number, percent, ratio_words
from dpviz.postprocessing.beside import LETTERS
from dpviz.postprocessing.release_names import KINDS
from dpviz.postprocessing.released import center_noise
from dpviz.privacy.accounting import epsilon_of_mu
from dpviz.trace import Trace

__all__ = ["Weakest", "sentences", "shares", "weakest"]

CLEAR = 3.0  # a signal of at least this many standard deviations of its noise is called clear
MOST = 2  # number of kinds of releases that are named


class Weakest(NamedTuple):
    """The place of a run where its signal was weakest: words, and the signal in standard deviations of its noise."""

    words: str
    times: float


def shares(trace: Trace) -> dict[str, float]:
    """Return the share of the budget that the plan spends on each kind of release, the largest first.

    Shares are of mu^2 if all releases are Gaussian, and otherwise of epsilon, each kind by itself at the run's delta.
    """
    kinds: dict[str, list[Any]] = {}
    paid = {entry.name for entry in trace.ledger}
    for name, costs in trace.plan.costs.items():
        if trace.plan.way(name) is not None and name not in paid:
            continue  # the run went another way
        kinds.setdefault(name.partition(".")[0], []).extend(costs)
    squares = {kind: math.fsum(cost.gdp**2 for cost in costs) for kind, costs in kinds.items()}
    pure = {kind: math.fsum(cost.pure for cost in costs) for kind, costs in kinds.items()}
    weights: Mapping[str, float] = squares
    if any(pure.values()):
        delta = trace.claimed.delta
        weights = {
            kind: pure[kind] + (epsilon_of_mu(math.sqrt(squares[kind]), delta) if squares[kind] else 0.0)
            for kind in kinds
        }
    total = math.fsum(weights.values())
    if not total:
        return {}
    return {kind: weights[kind] / total for kind in sorted(weights, key=lambda kind: -weights[kind])}


def weakest(trace: Trace, nouns: str = "rows") -> Weakest | None:
    """Return where a run's signal was weakest against its noise; None if the run states no noise or has no promise."""
    if not trace.claimed.private:
        return None
    found = [one for one in (_first_cut(trace, nouns), _smallest(trace, nouns), _widest(trace)) if one is not None]
    return min(found, key=lambda one: one.times, default=None)


def _first_cut(trace: Trace, nouns: str) -> Weakest | None:
    """Return how a run ended that cut nothing, because a side of its first cut would have been too small."""
    step = trace.steps[0].released
    if "child_counts" not in step or step["accepted"]:
        return None
    least, sd = float(min(step["child_counts"])), float(step["child_sd"])
    words = (
        f"its first cut left about {max(round(least), 0):,} {nouns} on one side (noise ±{number(sd, 2)}), fewer than "
        f"the {round(step['smallest']):,} that it asks for, so it stopped with one region"
    )
    return Weakest(words, max(least, 0.0) / sd)


def _smallest(trace: Trace, nouns: str) -> Weakest | None:
    """Return the smallest noisy size of a center."""
    noise = center_noise(trace)
    if noise.sizes is None or not noise.sizes_sd or not len(noise.sizes):
        return None
    least = float(np.min(noise.sizes))
    size, sd = f"{max(round(least), 0):,} {nouns}", number(noise.sizes_sd, 2)
    return Weakest(f"its smallest center counts about {size}, with a noise of ±{sd}", max(least, 0.0) / noise.sizes_sd)


def _widest(trace: Trace) -> Weakest | None:
    """Return the center that noise moves farthest, in comparison with half of its distance to the nearest other one."""
    sd, centers = center_noise(trace).sd, trace.domain.normalize(np.asarray(trace.cluster_centers))
    if sd is None or len(centers) < 2:
        return None
    apart = cdist(centers, centers)
    np.fill_diagonal(apart, np.inf)
    far = np.maximum(np.sqrt(np.sum(np.square(sd), axis=1)), np.finfo(float).tiny)
    times = apart.min(axis=1) / 2 / far
    worst = int(np.argmin(times))
    words = (
        f"noise moves its center {worst + 1} by about {percent(far[worst] / apart[worst].min())} of the way to the "
        "nearest other center"
    )
    return Weakest(words, float(times[worst]))


def sentences(traces: Sequence[Trace], nouns: str = "rows", losses: Sequence[float] | None = None) -> list[str]:
    """Return one sentence for each run with a promise, the worst first.

    Parameters
    ----------
    losses : loss of each run as a multiple of the reference's, by which runs are ordered; NOT PRIVATE. Without losses,
        they are ordered by their weakest signal
    """
    found = {i: weakest(trace, nouns) for i, trace in enumerate(traces) if trace.claimed.private}
    by_signal = {i: -(one.times if one else math.inf) for i, one in found.items()}
    order = sorted(found, key=lambda i: losses[i] if losses is not None else by_signal[i], reverse=True)
    return [_sentence(LETTERS[i], traces[i], found[i], None if losses is None else losses[i]) for i in order]


def _sentence(letter: str, trace: Trace, one: Weakest | None, loss: float | None) -> str:
    spent = [f"{percent(share)} on {KINDS[kind]}" for kind, share in [*shares(trace).items()][:MOST]]
    who = f"{letter} ({ratio_words(loss)} × KMeans)" if loss is not None else letter
    where = "its noise has no formula" if one is None else one.words
    if one is not None and one.times >= CLEAR:
        where = f"even its weakest signal is clear: {where}"
    return f"{who} spent {listed(spent)}; {where}."
