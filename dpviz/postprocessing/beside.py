"""Compare runs side by side: match their centers, list how they differ, and relate their promises to each other.

Only released values and public parameters are used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from dpviz.numbers import number
from dpviz.postprocessing.bet import bet_of
from dpviz.postprocessing.bound import Bound
from dpviz.postprocessing.verdict import reach
from dpviz.privacy.guarantee import Neighboring, Notion
from dpviz.trace import Trace

__all__ = [
    "LETTERS",
    "Curves",
    "Fact",
    "bets_on",
    "budgets",
    "curves",
    "facts",
    "kinds",
    "matched",
    "partners",
    "promises",
]

LETTERS = "ABCD"
_NAMES = {"n_clusters": "centers k", "epsilon": "ε", "delta": "δ", "rho_distance": "rho (distance)"}
_NOTHING = "–"


class Fact(NamedTuple):
    """One property, with its value in every run as text."""

    name: str
    values: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Return whether the runs differ in this fact; a parameter that some runs lack does not count."""
        return len(set(self.values)) > 1 and _NOTHING not in self.values


def matched(first: np.ndarray, second: np.ndarray) -> list[tuple[int, int]]:
    """Return pairs (i, j) of centers (k, d) and (k', d) that correspond to each other.

    Centers are matched one to one, with the smallest total distance. A pair is kept only if each center is the one
    nearest to the other, or if the two are closer to each other than either is to any other center of its own run;
    pairs that were matched only for lack of better partners are dropped.
    """
    if not len(first) or not len(second):
        return []
    distances = cdist(first, second)
    to_second, to_first = distances.argmin(axis=1), distances.argmin(axis=0)
    apart = np.minimum(_gaps(first)[:, None], _gaps(second)[None, :])
    pairs = [(int(i), int(j)) for i, j in zip(*linear_sum_assignment(distances), strict=True)]
    return [(i, j) for i, j in pairs if (to_second[i] == j and to_first[j] == i) or distances[i, j] < apart[i, j]]


def _gaps(centers: np.ndarray) -> np.ndarray:
    """Return the distance from each center (k, d) to the nearest other center; infinity if there is only one."""
    distances = cdist(centers, centers)
    np.fill_diagonal(distances, np.inf)
    return distances.min(axis=1)


def partners(traces: Sequence[Trace]) -> list[tuple[list[str], list[str]]]:
    """Return, for each run, the numbers of its centers, and a note for each center without a partner.

    Centers are numbered in the first run's order; every other run is matched with the first.
    """
    centers = [trace.domain.normalize(np.asarray(trace.cluster_centers)) for trace in traces]
    maps = [{i: j for i, j in matched(centers[0], other)} for other in centers[1:]]
    alone = [
        [LETTERS[n] for n, pairs in enumerate(maps, 1) if i not in pairs] for i in range(len(centers[0]))
    ]  # letters of the runs without a partner for center i
    slugs = [
        (
            [str(i + 1) if len(without) < len(maps) else "" for i, without in enumerate(alone)],
            [
                "" if not without else "only in A" if len(without) == len(maps) else f"not in {', '.join(without)}"
                for without in alone
            ],
        )
    ]
    for letter, pairs, own in zip(LETTERS[1:], maps, centers[1:], strict=False):
        back = {j: i for i, j in pairs.items()}
        numbers = [str(back[j] + 1) if j in back else "" for j in range(len(own))]
        others = "not in A" if len(traces) > 2 else f"only in {letter}"
        slugs.append((numbers, ["" if number else others for number in numbers]))
    return slugs


def facts(traces: Sequence[Trace], noun: str = "person") -> list[Fact]:
    """Return the facts to compare, one row each: algorithm, all parameters, seed, promise, releases.

    `noun` is the word for a row.
    """
    names = list(dict.fromkeys(name for trace in traces for name in trace.parameters))
    rows = [Fact("Algorithm", tuple(trace.name for trace in traces))]
    rows += [
        Fact(_NAMES.get(name, name.replace("_", " ")), tuple(_parameter(trace, name) for trace in traces))
        for name in names
    ]
    claims = [trace.claimed for trace in traces]
    values_of: dict[str, list[str]] = {
        "Seed": ["none (secure noise)" if trace.seed is None else str(trace.seed) for trace in traces],
        "Promise": ["none" if claim.exact else str(claim.notion) for claim in claims],
        "Hides": [_hides(trace) for trace in traces],
        "Trusts": [claim.trust for claim in claims],
        "μ": ["not defined" if claim.mu is None else number(claim.mu) for claim in claims],
        "Bets are on": [_bet_on(trace, noun) for trace in traces],
        "An attacker wins at most, by its promise": [f"{bet_of(claim).odds} of 100 bets" for claim in claims],
        "An attacker wins at most, by its curve": [f"{Bound.of_run(trace).odds} of 100 bets" for trace in traces],
        "Releases": [f"{len(trace.ledger):,}" for trace in traces],
        "Centers released": [f"{len(trace.cluster_centers)}" for trace in traces],
    }
    return rows + [Fact(name, tuple(values)) for name, values in values_of.items()]


def _parameter(trace: Trace, name: str) -> str:
    if name not in trace.parameters:
        return _NOTHING
    value: Any = trace.parameters[name]
    if value is None and name == "delta":
        value = trace.claimed.delta
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return f"{len(value)} given"
    return "auto" if value is None else number(value, 6) if isinstance(value, float) else str(value)


def _hides(trace: Trace) -> str:
    claim = trace.claimed
    if not claim.private:
        return "nothing" if claim.exact else "not checked here"
    return f"one row moved by up to {reach(trace)}" if claim.notion is Notion.RHO else claim.unit


def _bet_on(trace: Trace, noun: str) -> str:
    return bet_of(trace.claimed, far=reach(trace), noun=noun).on if trace.claimed.private else "anything"


def bets_on(traces: Sequence[Trace], noun: str) -> str:
    """Return the words that follow "bets on": the question in all runs' bets or, if questions differ, a general one.

    `noun` is the word for a row.
    """
    private = dict.fromkeys(_bet_on(trace, noun) for trace in traces if trace.claimed.private)
    return next(iter(private)) if len(private) == 1 else "what each run hides"


class Curves(NamedTuple):
    """The curves of several promises, for one question wherever the relations allow it.

    Attributes
    ----------
    bounds : the curve of each run, by letter
    on : the words that follow "bets on"
    doubled : the letters of the runs whose curve is that of two changes
    note : the sentence that says so, or ""
    """

    bounds: dict[str, Bound]
    on: str
    doubled: tuple[str, ...] = ()
    note: str = ""


def curves(traces: Sequence[Trace], noun: str = "person") -> Curves:
    """Return the runs' curves; if some runs hide an added and others a changed row, all curves are for a changed row.

    A changed row is two changes, one row removed and one added, so the curves of the former runs get two steps.
    """
    bounds = {letter: Bound.of_run(trace) for letter, trace in zip(LETTERS, traces, strict=False)}
    private = [trace for trace in traces if trace.claimed.private]
    if {trace.claimed.neighboring for trace in private} != {Neighboring.ADD_REMOVE, Neighboring.REPLACE}:
        return Curves(bounds, bets_on(traces, noun))
    relations = {letter: trace.claimed for letter, trace in zip(LETTERS, traces, strict=False)}
    doubled = tuple(
        letter for letter, claim in relations.items() if claim.private and claim.neighboring is Neighboring.ADD_REMOVE
    )
    bounds |= {letter: bounds[letter].steps(2) for letter in doubled}
    changed = [trace for trace in private if trace.claimed.neighboring is Neighboring.REPLACE]
    who, whose = _listed(doubled), "its curve is" if len(doubled) == 1 else "their curves are"
    note = f"{who} promised to hide a row added or removed; here {whose} for a changed row, which is two such changes."
    return Curves(bounds, bets_on(changed, noun), doubled, note)


def promises(traces: Sequence[Trace]) -> list[str]:
    """Return the sentences that explain how the runs' promises differ, or that a promise is only claimed."""
    return kinds(traces) + budgets(traces)


def kinds(traces: Sequence[Trace]) -> list[str]:
    """Return the sentences on promises of different kinds, promises only claimed, and moves of different lengths.

    A weaker promise is never shown next to differential privacy without one of these sentences.
    """
    by_kind: dict[Any, list[int]] = {}
    for index, trace in enumerate(traces):
        by_kind.setdefault((trace.claimed.notion, trace.claimed.neighboring), []).append(index)
    notions = {notion for notion, _ in by_kind}

    def who(*notion: Notion) -> str:
        return _listed([LETTERS[i] for i, trace in enumerate(traces) if trace.claimed.notion in notion])

    sentences = []
    if Notion.NONE in notions and len(notions) > 1:
        sentences.append(
            f"{who(Notion.NONE)} promises nothing: it releases exact numbers and serves as a reference, not as a "
            f"competitor."
        )
    if Notion.CLAIMED in notions:
        sentences.append(f"{who(Notion.CLAIMED)}: {Notion.CLAIMED}.")
    full = who(Notion.CENTRAL, Notion.SHUFFLE, Notion.LOCAL)
    if Notion.RHO in notions:
        weak = [trace for trace in traces if trace.claimed.notion is Notion.RHO]
        far = _listed(list(dict.fromkeys(reach(trace) for trace in weak)))
        if full:
            sentences.append(
                f"{who(Notion.RHO)} hides only that a row moved by up to {far}, while {full} hides everything about a "
                "row: the weaker promise may give a lower loss, but that does not make it better."
            )
        elif len({trace.claimed.rho_distance for trace in weak}) > 1:
            sentences.append(f"The runs hide moves of up to {far}: the shorter the move, the weaker the promise.")
    if {Notion.LOCAL, Notion.CENTRAL} <= notions:
        sentences.append(
            f"{who(Notion.LOCAL)} trusts nobody, while {who(Notion.CENTRAL)} trusts a curator who sees the raw rows: "
            "its lower loss requires that trust."
        )
    if Notion.SHUFFLE in notions and notions & {Notion.LOCAL, Notion.CENTRAL}:
        sentences.append(f"{who(Notion.SHUFFLE)} trusts a shuffler that mixes the reports and reads none.")
    strong = (Notion.CENTRAL, Notion.SHUFFLE, Notion.LOCAL)
    relations = [(LETTERS[i], t.claimed.neighboring) for i, t in enumerate(traces) if t.claimed.notion in strong]
    replace = [letter for letter, relation in relations if relation is Neighboring.REPLACE]
    add = [letter for letter, relation in relations if relation is Neighboring.ADD_REMOVE]
    if replace and add:
        verb = "hides" if len(replace) == 1 else "hide"
        sentences.append(
            f"{_listed(replace)} {verb} a row changed to any value, and {_listed(add)} a row added or removed: at the "
            f"same ε, a changed row may cost {_listed(add)} twice as much."
        )
    return sentences


def budgets(traces: Sequence[Trace], noun: str = "person") -> list[str]:
    """Return a sentence each if budgets differ, if only some promises have a mu, and if central runs differ in trust.

    `noun` is the word for a row.
    """
    claims = [trace.claimed for trace in traces]
    private = [claim for claim in claims if claim.private]
    sentences = []
    if (
        len({float(f"{claim.epsilon:.4g}") for claim in private}) > 1
        or len({float(f"{claim.delta:.3g}") for claim in private}) > 1
    ):
        bets = _listed([f"{claim.person.odds} on {LETTERS[i]}" for i, claim in enumerate(claims)])
        sentences.append(
            f"Their budgets differ: of 100 bets on {bets_on(traces, noun)}, an attacker wins at most {bets}."
        )
    if {claim.mu is None for claim in private} == {True, False}:
        vague = _listed([LETTERS[i] for i, claim in enumerate(claims) if claim.private and claim.mu is None])
        sentences.append(f"{vague} has no μ: the curve is composed from the plan and may look weaker than the promise.")
    central = [claim.trust for claim in private if claim.notion is Notion.CENTRAL]
    if len(set(central)) > 1:
        sentences.append("The runs trust different people: see the row “Trusts”.")
    return sentences


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""
