"""A plan in words: amounts in the data's units, what it rests on, what tighter bounds would buy."""

from __future__ import annotations

import math

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load
from dpviz.planning.facts import Facts
from dpviz.planning.rehearsal import Rehearsal
from dpviz.planning.solver import widest
from dpviz.postprocessing.verdict import quantity

__all__ = ["amount", "answer", "assumption", "size", "tighter"]


def amount(value: float, facts: Facts) -> str:
    """Return a length in the unit of the columns, or in that of the column with the widest bounds."""
    if not math.isfinite(value):
        return "unknown"
    domain = facts.domain
    units, wide = set(domain.units), int((domain.high - domain.low).argmax())
    if len(units) <= 1 and (domain.scale == "common" or len(set(domain.half_width)) == 1):
        return f"{quantity(value)} {domain.units[0] if units else ''}".rstrip()
    unit = f" {domain.units[wide]}" if units and domain.units[wide] else ""
    return f"{quantity(value)}{unit} in {domain.columns[wide]}"


def assumption(facts: Facts) -> str:
    """Return what the plan rests on, in one or two sentences."""
    if facts.like:
        shape = f"the rows lie in their bounds as those of {load(facts.like).title.split(',')[0]} do"
    else:
        shape = f"the rows form {facts.n_clusters} round groups of equal size, spread over the bounds"
    scaled = ""
    if facts.n_people > facts.n_rows:
        scaled = f" {facts.n_rows:,} people stand in, with as much less noise as there are fewer of them."
    return f"Assumed: {shape}.{scaled} Smaller groups get more noise: half the people, twice the noise."


def tighter(wide: Rehearsal, tight: Rehearsal, facts: Facts) -> str:
    """Return what bounds would buy that are half as wide, where the people fill only the middle half of the bounds."""
    before, after = widest(wide), widest(tight)
    if not (math.isfinite(before) and math.isfinite(after) and before > 0):
        return "what tighter bounds would buy is not known."
    change = f"from ±{amount(before, facts)} to ±{amount(after, facts)} at ε {wide.epsilon:g}"
    if after > 0.8 * before:
        return f"bounds that are half as wide would change little, {change}: it looks for the people's place itself."
    words = "would halve the noise" if 0.4 <= after / before <= 0.6 else f"would take the noise to {after / before:.0%}"
    return f"if the people fill only half of each bound, bounds that are half as wide {words}: {change}."


def answer(slug: str, within: float, need: float, facts: Facts, stops: tuple[float, ...]) -> str:
    """Return which ε it takes to be within a distance."""
    start = f"{ALGORITHMS[slug].name}: for a noise of ±{amount(within, facts)} per center with k = {facts.n_clusters},"
    if need == math.inf:
        return f"{start} even ε {max(stops):g} is not enough."
    return f"{start} ε {min(stops):g} is enough." if need == 0 else f"{start} you need ε about {need:.2g}."


def size(n_bytes: float) -> str:
    """Return an amount of memory in words."""
    for unit, one in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if n_bytes >= one:
            return f"about {float(f'{n_bytes / one:.2g}'):g} {unit}"
    return "less than 1 MB"
