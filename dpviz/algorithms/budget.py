"""Fitting a plan to a budget: everything is bought a little larger until the plan's total is what was promised."""

from __future__ import annotations

from collections.abc import Callable

from scipy.optimize import brentq

from dpviz.privacy.plan import Plan

__all__ = ["fitted"]


def fitted(plan_of: Callable[[float], Plan], epsilon: float, delta: float) -> Plan:
    """Return `plan_of(scale)` with the largest scale >= 1 whose total stays within epsilon at delta.

    `plan_of(1)` spends epsilon under basic composition. Where every cost is also a zCDP cost, many small releases
    compose to less, and what is left over is noise that nobody needs.
    """

    def over(scale: float) -> float:
        return plan_of(scale).total(delta).epsilon - epsilon

    if over(1.0) >= -1e-9 * epsilon:
        return plan_of(1.0)
    high = 2.0
    while over(high) < 0:
        high *= 2
    scale = brentq(over, 1.0, high, xtol=1e-9)
    while over(scale) > 0:
        scale *= 1 - 1e-9
    return plan_of(scale)
