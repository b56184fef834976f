"""Put a plan into words: amounts in the data's units, its assumptions, and the gain from tighter bounds."""

from __future__ import annotations

import math

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load
from dpviz.numbers import length, number, percent
from dpviz.planning.facts import Facts
from dpviz.planning.rehearsal import Rehearsal
from dpviz.planning.solver import widest

__all__ = ["HALF", "amount", "answer", "assumption", "compact", "size", "tighter"]

HALF = "if people fill only the middle half of each range"


def amount(value: float, facts: Facts) -> str:
    """Write a length in the columns' common unit, or in the unit of the column with the widest bounds."""
    if not math.isfinite(value):
        return "unknown"
    domain = facts.domain
    units, wide = set(domain.units), int((domain.high - domain.low).argmax())
    if len(units) <= 1 and (domain.scale == "common" or len(set(domain.half_width)) == 1):
        return length(value, domain.units[0] if units else "", 2)
    return f"{length(value, domain.units[wide] if units else '', 2)} in {domain.columns[wide]}"


def assumption(facts: Facts) -> str:
    """Return the plan's assumptions in two or three sentences."""
    if facts.like:
        shape = f"the rows lie in their bounds as those of {load(facts.like).title.split(',')[0]} do"
    else:
        shape = f"the rows form {facts.n_clusters} round groups of equal size, spread over the bounds"
    scaled = ""
    if facts.n_people > facts.n_rows:
        scaled = f" {facts.n_rows:,} people stand in for all, with proportionally less noise."
    return (
        f"The plan assumes that {shape}.{scaled} Smaller groups get more noise: half as many people, twice the noise."
    )


def compact(facts: Facts) -> str:
    """State why a run might lose more on the made-up groups than on the visitor's own; "" for a look-alike's rows."""
    if facts.like:
        return ""
    return (
        "The made-up groups are compact, far apart and equally large, so a run that leaves one without a center loses "
        "far more than KMeans. On groups that overlap or differ in size, the difference is smaller."
    )


def tighter(full: Rehearsal, wide: Rehearsal, tight: Rehearsal, facts: Facts) -> str:
    """State the noise for people in the middle half of each range (`HALF`), before and after halving the bounds.

    `full` is the plan's own rehearsal, whose people fill the bounds.
    """
    before, after = widest(wide), widest(tight)
    if not (math.isfinite(before) and math.isfinite(after) and before > 0):
        return "the effect of tighter bounds is unknown."
    now, at = amount(before, facts), f"at ε {number(wide.epsilon)}"
    filled = amount(widest(full), facts)
    start = f"±{now} {at}, as above" if now == filled else f"±{now} {at} instead of ±{filled}"
    half = f"{start}; bounds half as wide would"
    if after > 0.8 * before:
        return f"{half} change little (±{amount(after, facts)}): the method finds out by itself where people are."
    change = "halve the noise" if 0.4 <= after / before <= 0.6 else f"reduce the noise to {percent(after / before)}"
    return f"{half} {change}: ±{amount(after, facts)}."


def answer(slug: str, within: float, need: float, facts: Facts, stops: tuple[float, ...]) -> str:
    """State the ε at which the noise per center has at most the standard deviation `within`."""
    start = f"{ALGORITHMS[slug].name}: for noise of ±{amount(within, facts)} per center with k = {facts.n_clusters},"
    if need == math.inf:
        return f"{start} even ε {number(max(stops))} is not enough."
    return f"{start} ε {number(min(stops))} is enough." if need == 0 else f"{start} you need ε ≈ {number(need, 2)}."


def size(n_bytes: float) -> str:
    """Return an amount of memory as text."""
    for unit, one in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if n_bytes >= one:
            return f"about {number(n_bytes / one, 2)} {unit}"
    return "less than 1 MB"
