"""One budget in three notions: (ε, δ), μ of Gaussian DP, and ρ of zero-concentrated DP."""

from __future__ import annotations

import math
from typing import NamedTuple

from dpviz import validate
from dpviz.privacy.accounting import (
    epsilon_of_mu,
    epsilon_of_zcdp,
    mu_of_epsilon,
    zcdp_of_epsilon,
)

__all__ = ["Budget", "budget", "epsilon_of"]


class Budget(NamedTuple):
    """The same budget in every notion: epsilon at delta, mu, and zcdp (zCDP's rho, not a distance)."""

    epsilon: float
    delta: float
    mu: float
    zcdp: float


def budget(epsilon: float, delta: float, *, gaussian: bool) -> Budget:
    """Return a budget of epsilon at delta in every notion.

    Parameters
    ----------
    gaussian : whether every release is Gaussian. If so, all three notions are exact: rho = mu^2 / 2 (Bun and Steinke
        2016, Proposition 1.6), and epsilon at delta follows from mu. Otherwise rho is the value from which the
        general conversion (Proposition 1.3) gives epsilon, and mu is that of the Gaussian mechanism with the same
        epsilon and delta.
    """
    mu = mu_of_epsilon(epsilon, delta)
    return Budget(epsilon, delta, mu, mu * mu / 2 if gaussian else zcdp_of_epsilon(epsilon, delta))


def epsilon_of(notion: str, value: float, delta: float, *, gaussian: bool) -> float:
    """Return the epsilon at delta of a budget given in another notion; this inverts `budget`.

    Parameters
    ----------
    notion : "epsilon", "mu" or "zcdp"

    Raises
    ------
    ValueError
        If the notion is unknown or the value is not positive.
    """
    validate.one_of("budget", ("epsilon", "mu", "zcdp"), notion=notion)
    validate.positive("budget", **{notion: value})
    if notion == "epsilon":
        return value
    if notion == "mu":
        return epsilon_of_mu(value, delta)
    return epsilon_of_mu(math.sqrt(2 * value), delta) if gaussian else epsilon_of_zcdp(value, delta)
