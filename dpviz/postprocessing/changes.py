"""Compare the releases of two files with the same columns: what differs by more than the noise of both runs.

Only released values and declared facts are used, so this costs nothing. Noise is what each run states (`center_noise`).
It explains no other cut of the same rows: if k does not fit the groups, or a method starts anew in every run, two runs
on one file differ by more than that. So a difference beyond the noise is never called a move of people.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import norm

from dpviz.numbers import at, chance, counted, factor, number
from dpviz.postprocessing.at_bound import bounds_sentence
from dpviz.postprocessing.beside import matched
from dpviz.postprocessing.cards import Card, Fact, cards
from dpviz.postprocessing.regions import has_regions
from dpviz.postprocessing.released import center_noise, noise_text
from dpviz.privacy.accounts import Account, Claim, in_both
from dpviz.privacy.guarantee import Guarantee
from dpviz.trace import Trace

__all__ = ["LEVEL", "Change", "Changes", "Pair", "changes", "check_comparable", "together"]

LEVEL = 0.05  # probability at most that noise alone puts any of all differences beyond it
_CUT = (
    "Either the rows differ, or one of the runs cut the same rows elsewhere, which happens where k does not fit the "
    "groups and with methods that start anew in every run."
)
_CHANCE = "Files of other people differ by chance, too; that is in no ±."


@dataclasses.dataclass(frozen=True)
class Change:
    """One value of two matched centers: a column's, or the size.

    Attributes
    ----------
    name : name of the column, or "size"
    before, after : both values with their noise, as text
    difference : after minus before, as text, with its noise if that is known
    sd : standard deviation of the noise of the difference, or None if a run does not state it
    beyond : whether the difference is beyond the noise of both, or None if the noise is not known
    facts : the two columns behind the change, or None for a size
    """

    name: str
    before: str
    after: str
    difference: str
    sd: float | None
    beyond: bool | None
    facts: tuple[Fact, Fact] | None = None

    @property
    def verdict(self) -> str:
        """Return `beyond` as text."""
        return "noise not known" if self.beyond is None else "beyond the noise" if self.beyond else "within the noise"


@dataclasses.dataclass(frozen=True)
class Pair:
    """A center of the first run and the center of the second one that belongs to it, by number, from 1."""

    first: int
    second: int
    changes: tuple[Change, ...]


@dataclasses.dataclass(frozen=True)
class Changes:
    """How two releases differ.

    Attributes
    ----------
    pairs : the matched centers, in the order of the first run
    only : numbers of the centers of each run that have no partner
    n_known : number of differences whose noise is known
    notes : sentences on what limits the comparison
    """

    pairs: tuple[Pair, ...]
    only: tuple[tuple[int, ...], tuple[int, ...]]
    n_known: int
    notes: tuple[str, ...]

    @property
    def n_beyond(self) -> int:
        """Return the number of differences beyond the noise of both runs."""
        return sum(bool(change.beyond) for pair in self.pairs for change in pair.changes)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Return what the table shows: the differences, the centers without a partner, and what limits both."""
        if not self.n_known:
            first = "The noise of no difference is known, so none is said to be beyond it."
        elif not self.n_beyond:
            first = f"No difference is beyond the noise of both runs (95% over all {self.n_known})."
        else:
            verb = "is" if self.n_beyond == 1 else "are"
            first = (
                f"{self.n_beyond} of {counted(self.n_known, 'difference')} {verb} beyond the noise of both runs (95% "
                "over all)."
            )
        alone = [
            f"Without a partner: {counted(len(some), 'center')} of {letter} ({', '.join(map(str, some))})."
            for letter, some in zip("AB", self.only, strict=True)
            if some
        ]
        return (first, *[_CUT] * bool(self.n_beyond), *alone, *self.notes, _CHANCE)


def changes(first: Trace, second: Trace, columns: Sequence[str], units: Sequence[str]) -> Changes:
    """Match the centers of two releases and compare them.

    Centers are matched in z units, with the least total distance (see `beside.matched`). A difference is beyond the
    noise if it exceeds z sqrt(sd_a^2 + sd_b^2), where z is the normal quantile at which, by Bonferroni's inequality,
    noise alone puts any of the m known differences beyond it with probability `LEVEL` at most.

    Parameters
    ----------
    first, second : runs with the same columns, units, bounds and scale
    columns, units : names and units of the columns, shape (d,)

    Raises
    ------
    ValueError
        If the runs cannot be compared, or a run's noise is not finite.
    """
    check_comparable(first, second)
    both = (first, second)
    for trace in both:
        _check_noise(trace)
    places = [trace.domain.normalize(np.asarray(trace.cluster_centers)) for trace in both]
    pairs = matched(*places)
    some = [cards(trace, columns, units) for trace in both]
    known = [_sds(some[0][i], some[1][j]) for i, j in pairs]
    m = sum(sd is not None for sds in known for sd in sds)
    limit = float(norm.isf(LEVEL / 2 / m)) if m else math.inf
    made = tuple(
        Pair(i + 1, j + 1, _compared(some[0][i], some[1][j], sds, limit))
        for (i, j), sds in zip(pairs, known, strict=True)
    )
    paired = [{pair[side] for pair in pairs} for side in (0, 1)]
    only = tuple(tuple(c + 1 for c in range(len(some[side])) if c not in paired[side]) for side in (0, 1))
    return Changes(made, (only[0], only[1]), m, _notes(first, second, columns, units))


def _sds(before: Card, after: Card) -> list[float | None]:
    """Return the standard deviations of the differences of the columns and, last, of the size; None if unknown."""
    sds = [(one.sd, other.sd) for one, other in zip(before.facts, after.facts, strict=True)]
    if before.size is not None and after.size is not None:
        sds.append((before.size_sd, after.size_sd))
    return [math.hypot(one, other) if one and other else None for one, other in sds]


def _compared(before: Card, after: Card, sds: Sequence[float | None], limit: float) -> tuple[Change, ...]:
    made = []
    for one, other, sd in zip(before.facts, after.facts, sds, strict=False):
        step, value = min(one.step, other.step), other.value - one.value
        made.append(_change(one.column, one.text, other.text, value, sd, limit, step, one.named_unit, (one, other)))
    if before.size is not None and after.size is not None:
        texts, value = (before.size_text(), after.size_text()), after.size - before.size
        made.append(_change("size", *texts, value, sds[-1], limit, (sds[-1] or 1.0) / 10, "rows", None))
    return tuple(made)


def _change(
    name: str,
    before: str,
    after: str,
    value: float,
    sd: float | None,
    limit: float,
    step: float,
    unit: str,
    facts: tuple[Fact, Fact] | None,
) -> Change:
    if facts is not None and facts[0].typical:  # a difference of logarithms is a factor
        noise = "" if sd is None else f" ×÷ {factor(sd)}"
        difference = f"{'×' if value >= 0 else '÷'}{factor(abs(value))}{noise}"
    else:
        noise = "" if sd is None else f" ± {noise_text(sd)}"
        difference = f"{'+' if value >= 0 else '−'}{at(abs(value), step)}{noise} {unit}".rstrip()
    return Change(name, before, after, difference, sd, None if sd is None else abs(value) > limit * sd, facts)


def check_comparable(first: Trace, second: Trace) -> None:
    """Refuse runs whose difference would mean nothing.

    Raises
    ------
    ValueError
        If a run has no centers or has regions instead, if columns, units, bounds or distances differ, or if both are
        the same run; the message is one sentence.
    """
    a, b = first.domain, second.domain
    for letter, trace in zip("AB", (first, second), strict=True):
        if not len(trace.cluster_centers):
            raise ValueError(f"compare: {letter} holds no centers: a run without privacy withholds them.")
        if has_regions(trace):
            raise ValueError(f"compare: {letter} released regions, whose middles cannot be compared as centers.")
    if a.n_features != b.n_features or a.columns != b.columns:
        raise ValueError(
            f"compare: the columns differ: {_names(first)} in A, and {_names(second)} in B; compare runs on the same "
            "columns in the same order."
        )
    if (a.units or ("",) * a.n_features) != (b.units or ("",) * b.n_features):
        raise ValueError("compare: the units of the columns differ, so their numbers cannot be compared.")
    for j, (low, high) in enumerate(zip(a.low, a.high, strict=True)):
        if (low, high) != (b.low[j], b.high[j]):
            raise ValueError(
                f"compare: the bounds of {a.name(j)} differ: {number(low, 6)} to {number(high, 6)} in A, and "
                f"{number(b.low[j], 6)} to {number(b.high[j], 6)} in B; a value beyond a bound is moved onto it, so "
                "the centers would differ although no row does."
            )
    if (a.scale, a.weights) != (b.scale, b.weights) or not math.isclose(a.radius, b.radius):
        raise ValueError(
            "compare: the runs measure distances differently (scale, weights or radius), so they cut rows apart."
        )
    if first.ledger == second.ledger and np.array_equal(first.cluster_centers, second.cluster_centers):
        raise ValueError("compare: both files hold the same run.")


def _names(trace: Trace) -> str:
    names = trace.domain.columns
    return (
        ", ".join(names[:8])
        if names
        else counted(trace.domain.n_features, "column without a name", "columns without names")
    )


def _check_noise(trace: Trace) -> None:
    """Refuse noise of a trace from a file that no run states."""
    noise, k = center_noise(trace), len(trace.cluster_centers)
    fits = noise.sd is None or (
        np.shape(noise.sd) == np.shape(trace.cluster_centers) and np.isfinite(noise.sd).all() and (noise.sd >= 0).all()
    )
    fits &= noise.sizes is None or (len(noise.sizes) == k and bool(np.isfinite(noise.sizes).all()))
    if not fits:
        raise ValueError("trace: the stated noise or sizes are not those of the centers; the file was changed.")


def _notes(first: Trace, second: Trace, columns: Sequence[str], units: Sequence[str]) -> tuple[str, ...]:
    notes = []
    if first.name != second.name:
        notes.append(f"A is {first.name} and B is {second.name}: methods differ in where they put centers.")
    if len(first.cluster_centers) != len(second.cluster_centers):
        notes.append("The runs have different numbers of centers, so some centers must cut the rows differently.")
    for letter, trace in zip("AB", (first, second), strict=True):
        noise = center_noise(trace)
        if noise.sd is None:
            notes.append(f"{letter}, {trace.name}, states no noise of its centers.")
        if words := bounds_sentence(trace, columns, units):
            notes.append(f"{letter}: {words}")
    return tuple(notes)


def together(first: Trace, second: Trace) -> str:
    """Return the sentence on what two runs promise to a person who may be in both files.

    The costs of both plans are composed as an account composes its claims. If the relations differ, the one is used
    under which both runs promise something, by group privacy. A person with several rows may have as many in each.
    """
    traces = (first, second)
    without = [letter for letter, trace in zip("AB", traces, strict=True) if not trace.claimed.private]
    if without:
        verb = "promises" if len(without) == 1 else "promise"
        return f"{' and '.join(without)} {verb} nothing, so the two runs promise nothing together."
    claims = tuple(_claim(letter, trace) for letter, trace in zip("AB", traces, strict=True))
    account = Account("", claims)
    relation = next(claim.neighboring for claim in claims if not account.unprotected(claim.neighboring))
    rows = max(trace.domain.rows_per_person for trace in traces)
    person = account.promise(relation, rows).person
    start = (
        "Together, the two runs promise" if None in (first.seed, second.seed) else "As releases, the two would promise"
    )
    vouched = "; only its authors vouch for a part of it" if any(trace.claimed.by_authors for trace in traces) else ""
    seeds = "" if first.seed is second.seed is None else " A run with a known seed hides nothing."
    hides = account.hides(relation)
    return f"{start} {in_both(rows)}, for {hides} in each: {_promise(person)}{vouched}.{seeds}"


def _promise(promise: Guarantee) -> str:
    mu = "" if promise.mu is None else f", μ {number(promise.mu)}"
    return f"ε {number(promise.epsilon, 4)}, δ {chance(promise.delta)}{mu}"


def _claim(letter: str, trace: Trace) -> Claim:
    rho = trace.claimed.rho_distance
    return Claim(
        id=letter,
        algorithm=trace.algorithm,
        name=trace.name,
        parameters=trace.parameters,
        neighboring=trace.claimed.neighboring,
        delta=trace.claimed.delta,
        plan=trace.plan,
        rho_distance=None if rho is None else rho * float(trace.domain.half_width.max()),
    )
