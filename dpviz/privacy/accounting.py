"""Convert between Gaussian DP, zCDP and (epsilon, delta), and compose costs."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType

from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr

from dpviz import validate

__all__ = [
    "DEFAULT_DELTA",
    "DELTAS",
    "Total",
    "default_delta",
    "delta_of_mu",
    "epsilon_of_mu",
    "epsilon_of_zcdp",
    "excess_of_mu",
    "mu_of_epsilon",
    "sigma",
    "total",
    "zcdp_of_epsilon",
]


@dataclasses.dataclass(frozen=True)
class Total:
    """A composed cost in every notion; its value is None, never 0, in a notion that does not apply."""

    epsilon: float
    delta: float
    mu: float | None
    pure_epsilon: float | None
    zcdp: float | None


def default_delta(n: float) -> float:
    """Return 1/(100 n), the default delta of a run; `n` is the declared number of rows.

    The worst mechanism that a delta allows publishes each row with probability delta, and so n delta rows on average
    (Dwork and Roth 2014, Section 2.3). With 1/(100 n) it exposes anybody at all with a probability of at most 1 in 100.
    The papers are more lenient: n^-1.1 (PE-means, Section IV-A) gives n delta = .43 at 5,000 rows, 1/(n ln n)
    (FastLloyd) gives .12, and 1/(n sqrt n) (DPM) gives .014; `DELTAS` has their rules.
    """
    return 1 / (100 * n)


DEFAULT_DELTA = "1/(100 n)"
DELTAS: Mapping[str, Callable[[float], float]] = MappingProxyType(  # rules for delta, as functions of the declared n
    {
        DEFAULT_DELTA: default_delta,
        "n^-1.1": lambda n: float(n) ** -1.1,
        "1/(n ln n)": lambda n: 1 / (n * math.log(max(n, 3))),
        "1/(n sqrt n)": lambda n: float(n) ** -1.5,
    }
)


def delta_of_mu(mu: float, epsilon: float) -> float:
    """Return the exact delta of a mu-GDP mechanism at epsilon (Balle and Wang 2018, Theorem 8)."""
    if mu == 0:
        return 0.0
    return max(0.0, float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon + log_ndtr(-mu / 2 - epsilon / mu))))


def excess_of_mu(mu: float, epsilon: float) -> float:
    """Return the probability that a mu-GDP Gaussian release's privacy loss exceeds epsilon: Phi(mu/2 - epsilon/mu).

    It is the first term of `delta_of_mu`, and much larger than delta: delta also subtracts e^epsilon times the
    probability of the same releases on the other data set.
    """
    return float(ndtr(mu / 2 - epsilon / mu)) if mu > 0 else 0.0


@lru_cache(maxsize=4096)
def epsilon_of_mu(mu: float, delta: float) -> float:
    """Return the smallest epsilon >= 0 with delta_of_mu(mu, epsilon) <= delta, or inf if delta is 0."""
    if mu == 0 or delta_of_mu(mu, 0.0) <= delta:
        return 0.0
    if delta <= 0:
        return math.inf
    high = mu * mu / 2 + mu * math.sqrt(2 * math.log(1 / delta)) + 1.0  # an upper bound, from zCDP
    root = brentq(lambda epsilon: delta_of_mu(mu, epsilon) - delta, 0.0, high, xtol=1e-14, rtol=1e-14)
    while delta_of_mu(mu, root) > delta:  # step to the safe side of the root
        root = math.nextafter(root, math.inf) + 1e-15
    return root


@lru_cache(maxsize=4096)
def mu_of_epsilon(epsilon: float, delta: float) -> float:
    """Return the largest mu at which mu-GDP implies (epsilon, delta)-DP."""
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


def shuffled_epsilon(epsilon: float, users: int, delta: float) -> float:
    """Return the joint cost at `delta` of all people's shuffled reports, each of which is epsilon-local-DP by itself.

    The cost is ln(1 + (e^eps - 1)/(e^eps + 1) (8 sqrt(e^eps ln(4/delta) / n) + 8 e^eps / n)) if eps <= ln(n / (16
    ln(2/delta))), for one person's value changed to any other, even if later questions depend on earlier reports
    (Feldman, McMillan and Talwar, "Hiding among the clones", FOCS 2021, Theorem 3.1; arXiv 2012.12803). If this
    condition fails or the bound exceeds epsilon, mixing gains nothing and the function returns epsilon.
    """
    validate.positive("accounting", epsilon=epsilon)
    validate.in_range("accounting", 0, 1, open_ends=True, delta=delta)
    if users < 2 or epsilon > math.log(max(users / (16 * math.log(2 / delta)), 1e-300)):
        return epsilon
    clones = 8 * math.sqrt(math.exp(epsilon) * math.log(4 / delta) / users) + 8 * math.exp(epsilon) / users
    return min(epsilon, math.log1p(math.tanh(epsilon / 2) * clones))


def report_of_shuffled(epsilon: float, users: int, delta: float) -> float:
    """Return the largest epsilon of a report at which all shuffled reports cost at most `epsilon` at `delta`."""
    validate.positive("accounting", epsilon=epsilon)
    most = math.log(max(users / (16 * math.log(2 / delta)), 1e-300))
    if most <= epsilon or shuffled_epsilon(epsilon, users, delta) >= epsilon:
        return epsilon  # too few people: mixing gains nothing
    if shuffled_epsilon(most, users, delta) <= epsilon:
        return most
    low, high = epsilon, most
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if shuffled_epsilon(middle, users, delta) <= epsilon else (low, middle)
    return low


def total(*, pure: float, mu: float, own_delta: float, zcdp: float | None, delta: float) -> Total:
    """Return the composed cost: pure + epsilon_of_mu at the remaining delta, or the zCDP bound if it is smaller.

    The result is sound for adaptive composition in any order: basic composition adds pure DP to the (epsilon, delta)
    statement of all composed Gaussians; zCDP composes by addition, except for the releases' own deltas
    (delta-approximate zCDP, Bun and Steinke 2016, Section 8).
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
