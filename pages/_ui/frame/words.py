"""Put promises into words for the screen; `on_screen` replaces the package's "epsilon" with ε."""

from __future__ import annotations

import math

from dpviz.numbers import on_screen
from dpviz.privacy.accounting import DELTAS
from dpviz.privacy.guarantee import Guarantee

__all__ = ["on_screen", "rule_of"]


def rule_of(promise: Guarantee) -> str:
    """Return the rule that gives the δ of a promise, such as "1/(n ln n) for n = 500", or "" if none is known."""
    sizes = (fact.split()[2] for fact in promise.public if fact.startswith("n = "))
    n = next((int(size.rstrip(":")) for size in sizes if size.rstrip(":").isdecimal()), 0)
    names = (name for name, rule in DELTAS.items() if n and math.isclose(rule(n), promise.delta, rel_tol=1e-9))
    return next((f"{name} for n = {n:,}" for name in names), "")
