"""Put a plan into words: amounts in the data's units, its assumptions, and the gain from tighter bounds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load
from dpviz.numbers import factor, length, number, percent, ratio_words, unlogged
from dpviz.planning.facts import Facts
from dpviz.planning.rehearsal import Rehearsal
from dpviz.planning.solver import span, widest
from dpviz.postprocessing.at_bound import REACH
from dpviz.postprocessing.released import center_noise
from dpviz.trace import Trace

__all__ = [
    "HALF",
    "amount",
    "answer",
    "assumption",
    "compared",
    "headline",
    "judgment",
    "loss",
    "matched",
    "noise_ranges",
    "ranked",
    "remarks",
    "size",
    "tighter",
]

HALF = "if people fill only the middle half of each range"


_FULL = "as wide as its bounds"
MOST = 8  # maximum number of columns whose rehearsed and released noise is listed
ENOUGH = 0.9  # share of the runs that must find every group for a rehearsal to say yes


def ranked(rehearsals: Iterable[Rehearsal]) -> list[Rehearsal]:
    """Return the rehearsals in several towns, the worst first: that with the fewest runs that find every group.

    Of towns that are equally bad, the later one is listed first: `towns` begins with the easiest.
    """
    return sorted([*rehearsals][::-1], key=lambda one: (one.whole / one.runs, one.found.mean()))


def headline(rehearsals: Sequence[Rehearsal]) -> str:
    """Return the number of runs that find every group in the worst of the `ranked` towns."""
    worst, k = rehearsals[0], len(rehearsals[0].sizes)
    groups = "The one group is" if k == 1 else f"All {k} groups are"
    runs = f"{worst.whole} of {worst.runs} runs at ε {number(worst.epsilon)}"
    return f"{groups} found in {runs} in the worst town, {worst.facts.title}"


def judgment(rehearsals: Sequence[Rehearsal]) -> str:
    """Say in a sentence or two what the worst of the `ranked` towns means, and say no where it means no."""
    worst = rehearsals[0]
    name, runs, k = ALGORITHMS[worst.slug].name, worst.runs, len(worst.sizes)
    if worst.whole >= ENOUGH * runs:
        often = f"in all {runs} runs" if worst.whole == runs else f"in at least {worst.whole} of {runs} runs"
        return (
            f"{name} finds every group {often} of each town. This holds only for groups that are no smaller and no "
            "closer than these."
        )
    lost = (~worst.found).sum(axis=0)
    most = int(np.lexsort((worst.sizes, -lost))[0])
    people = f"{number(round(float(worst.sizes[most])), 15)} of {number(worst.facts.n_people, 15)} people"
    if worst.facts.town.even and not worst.facts.like:
        who, times = ("the group" if k == 1 else f"a group ({people} each)"), runs - worst.whole
    else:
        smallest = worst.sizes[most] <= worst.sizes.min()
        who, times = f"{'the smallest group' if smallest else 'a group'} ({people})", int(lost[most])
    too = "" if worst.reference else " KMeans without noise loses one, too."
    return (
        f"At ε {number(worst.epsilon)} {name} loses {who} in {times} of {runs} runs: do not trust one run to find "
        f"groups like these. A larger ε, fewer centers, tighter bounds or another method may find them.{too}"
    )


def loss(one: Rehearsal) -> str:
    """Return the geometric mean of the runs' losses, relative to KMeans' loss, and the lowest and the highest."""
    mean = math.exp(float(np.log(np.maximum(one.ratios, 1e-12)).mean()))
    return f"{ratio_words(mean)} ({ratio_words(one.ratios.min())} to {ratio_words(one.ratios.max())})"


def noise_ranges(rehearsals: Sequence[Rehearsal]) -> list[str]:
    """Return for each column the least and the most noise of a center over all towns and runs: ±0.1 to 1 years.

    The noise is what each run states for its centers, as on the cards of a result. If the method states none, "~"
    marks the scatter of centers over the runs. A column is "unknown" if there is neither.
    """
    ends, facts = span(rehearsals), rehearsals[0].facts
    if ends is None:
        return ["unknown"] * facts.domain.n_features
    return _ranges(*ends, facts, "±" if any(one.by_formula for one in rehearsals) else "~")


def matched(rehearsals: Sequence[Rehearsal], trace: Trace) -> list[str]:
    """Say for each column which noise was rehearsed and which a run has released; [] if its method states none."""
    sd, ends, facts = center_noise(trace).sd, span(rehearsals), rehearsals[0].facts
    if sd is None or ends is None or not any(one.by_formula for one in rehearsals):
        return []
    released = sd * trace.domain.half_width
    both = _ranges(*ends, facts), _ranges(released.min(axis=0), released.max(axis=0), facts)
    return [
        f"{name}: rehearsed {one}, released {two}" for name, one, two in zip(trace.domain.columns, *both, strict=True)
    ]


def compared(rehearsals: Sequence[Rehearsal], trace: Trace) -> str:
    """Return the sentence that compares a run's noise with that of its rehearsal; "" if its method states none."""
    lines = matched(rehearsals, trace)
    more = f"; and {len(lines) - MOST} more columns" if len(lines) > MOST else ""
    return f"Noise of a center: {'; '.join(lines[:MOST])}{more}." if lines else ""


def remarks(rehearsals: Sequence[Rehearsal], runs: int, pictured: str = "") -> str:
    """Return what stands in small print below a rehearsal of so many runs per town; `pictured` describes a picture."""
    worst, facts = rehearsals[0], rehearsals[0].facts
    fewer = f" Only {facts.n_rows:,} people stand in for {facts.n_people:,}: your noise would be smaller than shown."
    noise = (
        "± is the standard deviation that the method states for a center"
        if any(one.by_formula for one in rehearsals)
        else "The method states no noise: ~ is how far a center scatters over the runs"
    )
    return (
        f"{ALGORITHMS[worst.slug].name} ran {runs} times in each town, with fresh noise, on made-up people within the "
        f"declared bounds{pictured}. {noise}, from the least to the most of all centers, runs and towns; groups that "
        "are not round, or smaller or larger, may have other noise. No file was read and nothing was "
        f"spent.{fewer * worst.capped}"
    )


def _ranges(least: np.ndarray, most: np.ndarray, facts: Facts, mark: str = "±") -> list[str]:
    """Write the least and the most noise of each column, shape (d,), data units, with the column's unit."""
    domain, words = facts.domain, []
    width, units = domain.high - domain.low, domain.units or ("",) * domain.n_features
    for low, high, wide, unit in zip(least, most, width, units, strict=True):
        fills = [2 * REACH * sd > wide for sd in (low, high)]  # as on a card
        log = unlogged(unit) is not None
        sign = "×÷" if log else mark
        texts = [factor(sd) if log else length(sd, unit, 2) for sd in (low, high)]
        ends = dict.fromkeys(text for text, full in zip(texts, fills, strict=True) if not full)
        told = f"{sign}{' to '.join(ends)}"
        if len(named := {end.partition(" ")[2] for end in ends}) == 1:  # a unit that both ends have is said once
            told = f"{sign}{' to '.join(end.partition(' ')[0] for end in ends)} {named.pop()}".rstrip()
        words.append(_FULL if fills[0] else f"{told} to {_FULL}" if fills[1] else told)
    return words


def amount(value: float, facts: Facts, mark: str = "") -> str:
    """Write a length in the columns' common unit, or in the unit of the column with the widest bounds, after a mark.

    A length of logarithms is written as a factor, after ×÷ in place of the mark.
    """
    if not math.isfinite(value):
        return f"{mark}unknown"
    domain = facts.domain
    units, wide = set(domain.units), int((domain.high - domain.low).argmax())
    if len(units) <= 1 and (domain.one_scale or len(set(domain.half_width)) == 1):
        return _marked(value, domain.units[0] if units else "", mark)
    return f"{_marked(value, domain.units[wide] if units else '', mark)} in {domain.columns[wide]}"


def _marked(value: float, unit: str, mark: str) -> str:
    return f"{mark}{length(value, unit, 2)}" if unlogged(unit) is None else f"×÷{factor(value)}"


def assumption(facts: Facts) -> str:
    """Return the assumptions of the plan's curve, for a town or a look-alike, in two or three sentences."""
    if facts.like:
        shape = f"the rows lie in their bounds as those of {load(facts.like).title.split(',')[0]} do"
    else:
        shape = f"the rows form {facts.n_clusters} round groups, {facts.town.name}, that fill the bounds"
    scaled = ""
    if facts.n_people > facts.n_rows:
        scaled = f" {facts.n_rows:,} people stand in for all, with proportionally less noise."
    return (
        f"The plan assumes that {shape}.{scaled} Smaller groups get more noise: half as many people, twice the noise."
    )


def tighter(full: Rehearsal, wide: Rehearsal, tight: Rehearsal, facts: Facts) -> str:
    """State the noise for people in the middle half of each range (`HALF`), before and after halving the bounds.

    `full` is the plan's own rehearsal, whose people fill the bounds.
    """
    before, after = widest(wide), widest(tight)
    if not (math.isfinite(before) and math.isfinite(after) and before > 0):
        return "the effect of tighter bounds is unknown."
    now, at = amount(before, facts, "±"), f"at ε {number(wide.epsilon)}"
    filled = amount(widest(full), facts, "±")
    start = f"{now} {at}, as above" if now == filled else f"{now} {at} instead of {filled}"
    half = f"{start}; bounds half as wide would"
    if after > 0.8 * before:
        return f"{half} change little ({amount(after, facts, '±')}): the method finds out by itself where people are."
    change = "halve the noise" if 0.4 <= after / before <= 0.6 else f"reduce the noise to {percent(after / before)}"
    return f"{half} {change}: {amount(after, facts, '±')}."


def answer(slug: str, within: float, need: float, facts: Facts, stops: tuple[float, ...]) -> str:
    """State the ε at which the noise per center has at most the standard deviation `within`."""
    start = (
        f"{ALGORITHMS[slug].name}: for noise of {amount(within, facts, '±')} per center with k = {facts.n_clusters},"
    )
    if need == math.inf:
        return f"{start} even ε {number(max(stops))} is not enough."
    return f"{start} ε {number(min(stops))} is enough." if need == 0 else f"{start} you need ε ≈ {number(need, 2)}."


def size(n_bytes: float) -> str:
    """Return an amount of memory as text."""
    for unit, one in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if n_bytes >= one:
            return f"about {number(n_bytes / one, 2)} {unit}"
    return "less than 1 MB"
