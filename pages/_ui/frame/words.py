"""Translate the package's sentences for the screen: the package writes epsilon, the screen ε."""

from __future__ import annotations

import math
import re

from dpviz.privacy.guarantee import Guarantee

__all__ = ["on_screen", "rule_of"]

_LETTERS = {"epsilon": "ε", "delta": "δ", "mu": "μ"}
_CHANCE = re.compile(r"\S+ \((1 in [^)]+)\)")  # a delta as the package writes it: its value, and its meaning
_OPTION = re.compile(r" \(--[a-z][a-z -]*\)")


def on_screen(sentence: str) -> str:
    """Return a sentence as people read it: Greek letters, δ as "1 in 11,700" alone, n as 5,000, no shell option."""
    sentence = _OPTION.sub("", _CHANCE.sub(r"\1", sentence))
    sentence = re.sub(r"\bn = (\d+)\b", lambda found: f"n = {int(found[1]):,}", sentence)
    return re.sub(r"\b(epsilon|delta|mu)\b", lambda found: _LETTERS[found[1]], sentence)


def rule_of(promise: Guarantee) -> str:
    """Return the rule of n that gives the δ of a promise, "" if none is known."""
    sizes = (fact.split()[2] for fact in promise.public if fact.startswith("n = "))
    n = next((int(size.rstrip(":")) for size in sizes if size.rstrip(":").isdecimal()), 0)
    rules = {"n^-1.1": n**-1.1, "1/(n ln n)": 1 / (n * math.log(n))} if n > 2 else {}
    names = (name for name, value in rules.items() if math.isclose(value, promise.delta, rel_tol=1e-9))
    return next((f"{name} for n = {n:,}" for name in names), "")
