"""Bound every attacker by the trade-off between false alarms and misses that a guarantee allows.

An attacker who bets on whether a row is in the data makes two errors: false alarms (bets that an absent row is in) and
misses (bets that a present row is out). A promise is a curve: for every rate of false alarms, it gives the smallest
rate of misses that anybody can achieve (Dong, Roth and Su 2022, sec. 2).
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from scipy.special import ndtr, ndtri

from dpviz.numbers import odds
from dpviz.privacy.guarantee import Guarantee
from dpviz.privacy.plan import Plan
from dpviz.trace import Trace

__all__ = ["Bound"]

# a plan without a mu is composed at each of these deltas, which gives a valid promise each
_DELTAS = np.geomspace(1e-12, 0.5, 36)


@dataclasses.dataclass(frozen=True)
class Bound:
    """A trade-off curve: the maximum of the curves that the statements of a promise imply.

    Attributes
    ----------
    mu : parameter of Gaussian DP, or None
    lines : pairs (epsilon, delta) that all hold; without mu and lines, nothing is promised
    """

    mu: float | None = None
    lines: tuple[tuple[float, float], ...] = ()

    @classmethod
    def of_promise(cls, promise: Guarantee) -> Bound:
        """Return the curve implied by a promise alone: by its mu, epsilon and delta, pure epsilon, and zCDP's rho.

        Under rho-zCDP the total variation distance is at most sqrt(rho/2), which is a delta at epsilon 0.
        """
        if not promise.private:
            return cls()
        lines = {(promise.epsilon, promise.delta), (promise.pure_epsilon, 0.0)}
        if promise.zcdp is not None:
            lines.add((0.0, math.sqrt(promise.zcdp / 2)))
        finite = sorted((e, d) for e, d in lines if e is not None and math.isfinite(e) and d < 1)
        return cls(promise.mu, tuple(finite))

    @classmethod
    def of_run(cls, trace: Trace) -> Bound:
        """Return the curve of a run's whole plan, for a person with up to `rows_per_person` rows."""
        row, rows = cls.of_plan(trace.plan, trace.claimed), trace.claimed.rows_per_person
        return row if rows == 1 else row.steps(rows)

    @classmethod
    def of_plan(cls, plan: Plan, promise: Guarantee) -> Bound:
        """Return the curve implied by a plan and its promise.

        Gaussian releases compose to a mu, and its curve is exact. Other plans are composed at many deltas; the
        resulting statements all hold, so the curve is the maximum of theirs.
        """
        known = cls.of_promise(promise)
        if not promise.private or promise.mu is not None:
            return known
        totals = [(plan.total(float(delta)), float(delta)) for delta in _DELTAS]
        more = {(total.epsilon, delta) for total, delta in totals if math.isfinite(total.epsilon)}
        return cls(None, tuple(sorted(more | set(known.lines))))

    def steps(self, m: int) -> Bound:
        """Return the curve for data sets that differ by m changes.

        mu becomes m mu, epsilon becomes m epsilon, and delta becomes (1 + e^epsilon + ... + e^((m-1) epsilon)) delta; a
        delta of 1 or more promises nothing.
        """
        lines = []
        for epsilon, delta in self.lines:
            growth = math.fsum(math.exp(min(i * epsilon, 700)) for i in range(m)) if delta else 0.0
            if growth * delta < 1 and m * epsilon < 700:
                lines.append((m * epsilon, growth * delta))
        return Bound(None if self.mu is None else m * self.mu, tuple(sorted(lines)))

    def miss(self, false_alarm: np.ndarray) -> np.ndarray:
        """Return the smallest rate of misses for each rate of false alarms, an array of any shape in [0, 1]."""
        alarm = np.clip(np.asarray(false_alarm, dtype=float), 0, 1)
        least = np.zeros_like(alarm)
        if self.mu is not None:
            with np.errstate(invalid="ignore"):
                least = np.maximum(least, ndtr(ndtri(1 - alarm) - self.mu))
        for epsilon, delta in self.lines:
            steep, flat = 1 - delta - math.exp(min(epsilon, 700)) * alarm, math.exp(-epsilon) * (1 - delta - alarm)
            least = np.maximum(least, np.maximum(steep, flat))
        return least

    @property
    def best_bet(self) -> float:
        """Return the largest probability of winning a bet at even odds; 1 if nothing is promised.

        Every curve here is convex and symmetric, so an attacker does best where both error rates are equal.
        """
        probabilities = [1.0]
        if self.mu is not None:
            probabilities.append(float(ndtr(self.mu / 2)))
        probabilities += [(1 + delta * math.exp(-e)) / (1 + math.exp(-e)) for e, delta in self.lines]
        return min(probabilities)

    @property
    def odds(self) -> int:
        """Return `best_bet` as the N of "at most N times in 100", rounded up."""
        return odds(self.best_bet)
