"""Conversions between Gaussian DP, zCDP and (epsilon, delta), and what a ledger has spent."""

from __future__ import annotations

import dataclasses
import math
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr

from dpviz import validate

if TYPE_CHECKING:
    from dpviz.privacy.plan import Release

__all__ = [
    "Total",
    "delta_of_mu",
    "epsilon_of_mu",
    "epsilon_of_zcdp",
    "mu_of_epsilon",
    "sigma",
    "spent",
    "total",
    "zcdp_of_epsilon",
]


@dataclasses.dataclass(frozen=True)
class Total:
    """A composed cost in every notion in which it exists; None elsewhere, never 0."""

    epsilon: float
    delta: float
    mu: float | None
    pure_epsilon: float | None
    zcdp: float | None


def delta_of_mu(mu: float, epsilon: float) -> float:
    """Return the exact delta of a mu-GDP mechanism at epsilon (Balle and Wang 2018, Theorem 8)."""
    if mu == 0:
        return 0.0
    return max(0.0, float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon + log_ndtr(-mu / 2 - epsilon / mu))))


@lru_cache(maxsize=4096)
def epsilon_of_mu(mu: float, delta: float) -> float:
    """Return the smallest epsilon >= 0 with delta_of_mu(mu, epsilon) <= delta; inf if delta is 0."""
    if mu == 0 or delta_of_mu(mu, 0.0) <= delta:
        return 0.0
    if delta <= 0:
        return math.inf
    high = mu * mu / 2 + mu * math.sqrt(2 * math.log(1 / delta)) + 1.0  # zCDP's bound, an upper end
    root = brentq(lambda epsilon: delta_of_mu(mu, epsilon) - delta, 0.0, high, xtol=1e-14, rtol=1e-14)
    while delta_of_mu(mu, root) > delta:  # step to the safe side of the root
        root = math.nextafter(root, math.inf) + 1e-15
    return root


@lru_cache(maxsize=4096)
def mu_of_epsilon(epsilon: float, delta: float) -> float:
    """Return the largest mu whose mu-GDP mechanism is (epsilon, delta)-DP."""
    validate.positive("accounting", epsilon=epsilon)
    validate.in_range("accounting", 0, 1, open_ends=True, delta=delta)
    root = math.exp(
        brentq(
            lambda log_mu: delta_of_mu(math.exp(log_mu), epsilon) - delta, math.log(1e-12), math.log(1e4), xtol=1e-15
        )
    )
    while delta_of_mu(root, epsilon) > delta:
        root *= 1 - 1e-14
    return root


def sigma(epsilon: float, delta: float) -> float:
    """Return the analytic Gaussian mechanism's noise multiplier 1 / mu."""
    return 1 / mu_of_epsilon(epsilon, delta)


def epsilon_of_zcdp(zcdp: float, delta: float) -> float:
    """Return rho + 2 sqrt(rho ln(1/delta)) (Bun and Steinke 2016, Proposition 1.3)."""
    if zcdp == 0:
        return 0.0
    return math.inf if delta <= 0 else zcdp + 2 * math.sqrt(zcdp * math.log(1 / delta))


def zcdp_of_epsilon(epsilon: float, delta: float) -> float:
    """Return the rho whose `epsilon_of_zcdp` is epsilon: (sqrt(ln(1/delta) + epsilon) - sqrt(ln(1/delta)))^2."""
    validate.positive("accounting", epsilon=epsilon)
    validate.in_range("accounting", 0, 1, open_ends=True, delta=delta)
    log = math.log(1 / delta)
    return (epsilon / (math.sqrt(log + epsilon) + math.sqrt(log))) ** 2 * (1 - 1e-14)


def total(*, pure: float, mu: float, own_delta: float, zcdp: float | None, delta: float) -> Total:
    """Compose: min of (pure + epsilon_of_mu at the delta left over) and, where it exists, the zCDP bound.

    Sound for adaptive composition in any order: pure DP and GDP add by basic composition with the one
    (epsilon, delta) statement of the composed Gaussians; zCDP composes by addition, apart from the releases' own
    deltas (delta-approximate zCDP, Bun and Steinke 2016, Section 8).
    """
    left = delta - own_delta
    if left < -1e-15 * delta:
        return Total(math.inf, 1.0, None, None, zcdp)
    bounds = [pure + epsilon_of_mu(mu, max(left, 0.0))]
    if zcdp is not None:
        bounds.append(epsilon_of_zcdp(zcdp, max(left, 0.0)))
    only_pure = mu == 0 and own_delta == 0
    return Total(
        epsilon=min(bounds),
        delta=0.0 if only_pure and bounds[0] <= min(bounds) else delta,
        mu=mu if pure == 0 and own_delta == 0 else None,
        pure_epsilon=pure if only_pure else None,
        zcdp=zcdp if own_delta == 0 else None,
    )


def _ratio(entry: Release) -> float:
    return entry.sensitivity / entry.scale


def _odds(entry: Release) -> float:
    return math.log1p(-entry.scale) - math.log(entry.scale)


# What one ledger entry costs, from its sensitivity and noise scale: (pure epsilon, mu, own delta, zCDP or None).
_COST = {
    "Gaussian": lambda entry: (0.0, _ratio(entry), 0.0, _ratio(entry) ** 2 / 2),
    "Laplace": lambda entry: (_ratio(entry), 0.0, 0.0, _ratio(entry) ** 2 / 2),
    "Exponential": lambda entry: (_ratio(entry), 0.0, 0.0, _ratio(entry) ** 2 / 8),
    "Threshold": lambda entry: (0.0, _ratio(entry), entry.cost["delta"], _ratio(entry) ** 2 / 2),
    **{  # reports of the local model: the scale is the chance that a bit lies
        name: lambda entry: (_odds(entry), 0.0, 0.0, _odds(entry) ** 2 / 2) for name in ("OUE", "Hadamard", "OneBit")
    },
    "Cover": lambda entry: (
        math.expm1(_ratio(entry)) * (1 - math.log(entry.cost["delta"])),
        0.0,
        entry.cost["delta"],
        None,
    ),
    "Exact": lambda entry: (0.0 if entry.sensitivity == 0 else math.inf, 0.0, 0.0, 0.0),
}


def spent(ledger: Iterable[Release], delta: float) -> Total:
    """Recompute what the releases cost from sensitivity and noise scale alone; the plan is not read.

    A row lies on one path of scopes only, so the total is the worst path's.
    """
    entries = list(ledger)
    unknown = {entry.mechanism for entry in entries} - set(_COST)
    if unknown:
        raise TypeError(f"accounting: no cost is known for {sorted(unknown)}.")
    at_scope: defaultdict[tuple[int, ...], list[tuple[float, float, float, float | None]]] = defaultdict(list)
    for entry in entries:
        at_scope[entry.path].append(_COST[entry.mechanism](entry))
    inner = {path[:i] for path in at_scope for i in range(1, len(path))}
    leaves = [path for path in at_scope if path not in inner]
    totals = []
    for leaf in leaves or [()]:
        mine = [cost for i in range(len(leaf)) for cost in at_scope[leaf[: i + 1]]]
        pure, mu, own_delta, zcdp = zip(*mine, strict=True) if mine else ((), (), (), ())
        totals.append(
            total(
                pure=math.fsum(pure),
                mu=math.sqrt(math.fsum(m**2 for m in mu)),
                own_delta=math.fsum(own_delta),
                zcdp=None if None in zcdp else math.fsum(z for z in zcdp if z is not None),
                delta=delta,
            )
        )
    return max(totals, key=lambda item: (item.epsilon, item.delta))
