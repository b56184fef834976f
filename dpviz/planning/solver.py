"""Convert between a privacy budget and the accuracy of centers, in both directions, from rehearsed budgets."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpviz.planning.rehearsal import Rehearsal

__all__ = ["epsilon_for", "noise_at", "span", "widest"]


def span(rehearsals: Sequence[Rehearsal]) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the least and the most noise of a center over all rehearsed runs, per column, shape (d,), data units.

    It is what the runs state, or how far centers scatter over the runs if no run states any; None if neither is known.
    """
    known = [sd for one in rehearsals for sd in one.sd]
    known = known or [scatter for one in rehearsals if (scatter := one.scatter) is not None]
    if not known:
        return None
    every = np.concatenate(known)
    return every.min(axis=0), every.max(axis=0)


def widest(rehearsal: Rehearsal) -> float:
    """Return the noise of a run's widest center in the column where it is largest, data units; infinity if unknown."""
    noise = rehearsal.noise
    return math.inf if noise is None else float(noise.max())


def _curve(rehearsals: Sequence[Rehearsal]) -> tuple[np.ndarray, np.ndarray]:
    """Return the logarithms of ε, ascending, and of the noise's sd at each ε."""
    known = sorted((one for one in rehearsals if 0 < widest(one) < math.inf), key=lambda one: one.epsilon)
    epsilon = np.log([one.epsilon for one in known])
    return epsilon, np.log([widest(one) for one in known])


def epsilon_for(rehearsals: Sequence[Rehearsal], within: float) -> float:
    """Return the smallest ε at which the sd of a center's noise is at most `within` (data units) in every column.

    The result is interpolated linearly between the logarithms of rehearsed ε. It is infinite if no rehearsed ε is
    enough, and 0 if the smallest one is more than enough.
    """
    epsilon, noise = _curve(rehearsals)
    least = np.minimum.accumulate(noise) if len(noise) else noise  # the sd may rise again at a larger ε
    if not len(epsilon) or least[-1] > math.log(within):
        return math.inf
    if least[0] <= math.log(within):
        return 0.0
    return float(np.exp(np.interp(-math.log(within), -least, epsilon)))


def noise_at(rehearsals: Sequence[Rehearsal], epsilon: float) -> float:
    """Return the sd of a center's noise at an ε between the rehearsed ones, in data units; NaN outside their range."""
    budgets, noise = _curve(rehearsals)
    if not len(budgets) or not budgets[0] - 1e-9 <= math.log(epsilon) <= budgets[-1] + 1e-9:
        return math.nan
    return float(np.exp(np.interp(math.log(epsilon), budgets, noise)))
