"""Rehearse a run on made-up towns, from what the form declares of an own file; no row is read and nothing is spent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpviz import params
from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.planning.facts import Facts, numbers
from dpviz.planning.rehearsal import Rehearsal, offered, rehearse, same_run
from dpviz.planning.towns import Town, shaped
from dpviz.planning.words import compared, headline, judgment, loss, noise_ranges, ranked, remarks
from dpviz.trace import Trace

from . import own
from .forms import algorithm_of, answered

__all__ = ["matching", "rehearsed"]

PART, WHOLE = 4, 20  # numbers of runs per town: of an answer, and of the whole rehearsal

Request = tuple[str, str, float, Town | None]  # the declared facts, the method, ε, and the town of the owner
_last: dict[Request, dict[str, Rehearsal]] = {}  # the rehearsal that was asked for last, by town


def rehearsed(asked: str, say: Callable[[int, int], None]) -> str:
    """Run the next `PART` of a rehearsal, in one town; return what is known so far, or `refused` with a sentence.

    The answer has the numbers of runs `done` and `planned` and, after equally many runs in every town,
    the `headline`, the `judgment`, a line for each of the `towns`, the worst first, the `noise` per column, `remarks`.

    Parameters
    ----------
    asked : JSON with the texts of the form: `method`, `values` by name, `columns`, `n_public`, `rows_per_person`, and
        for a town of the owner's own the `shares` of its groups and how far apart the `near`est two are
    say : function that receives the numbers of runs made and planned
    """
    return answered(asked, lambda form: _rehearsed(form, say))


def _rehearsed(form: dict[str, Any], say: Callable[[int, int], None]) -> dict[str, Any]:
    algorithm = algorithm_of(form)
    facts, epsilon = _facts(form, algorithm)
    own_town = _town(form, facts.n_clusters)
    places = facts.everywhere(own_town)
    known = _known((facts.key, algorithm.slug, epsilon, own_town))
    runs = [known[place.key].runs if place.key in known else 0 for place in places]
    done, planned = sum(runs), WHOLE * len(places)
    if done < planned:
        first = min(runs)
        place = places[runs.index(first)]
        part = rehearse(place, algorithm.slug, epsilon, PART, first, lambda made, _: say(done + made, planned))
        known[place.key] = known[place.key].extend(part) if first else part
        done += PART
    found: dict[str, Any] = {"done": done, "planned": planned}
    if len(known) < len(places) or len({one.runs for one in known.values()}) > 1:
        return found  # towns are compared after equally many runs
    return found | _told(ranked(known[place.key] for place in places), _defaults(algorithm))


def _town(form: dict[str, Any], k: int) -> Town | None:
    """Return the town that the owner has shaped, if there is one."""
    shares = numbers(form["shares"], "the shares of your groups")
    return shaped(shares, float(form["near"]), k) if shares else None


def _known(request: Request) -> dict[str, Rehearsal]:
    """Return the parts of a rehearsal that are made; of another rehearsal, drop them."""
    if request not in _last:
        _last.clear()
    return _last.setdefault(request, {})


def _facts(form: dict[str, Any], algorithm: Algorithm) -> tuple[Facts, float]:
    """Return the declared facts and ε.

    Raises
    ------
    ValueError
        If the declaration is incomplete or wrong, or the method cannot be rehearsed.
    """
    domain = own.domain(form)
    if algorithm.slug not in offered():
        names = ", ".join(ALGORITHMS[slug].name for slug in offered()[:3])
        raise ValueError(
            f"{algorithm.name} cannot be rehearsed, as that needs centers, an ε and a trusted curator; choose another "
            f"method, such as {names}."
        )
    return Facts(domain, algorithm.n_clusters), algorithm.epsilon  # type: ignore[attr-defined]


def _defaults(algorithm: Algorithm) -> str:
    """Return a sentence if the form has values, other than k and ε, that the rehearsal leaves at their defaults."""
    asked = (name for name in params.specs(type(algorithm)) if name not in ("n_clusters", "epsilon"))
    other = [name for name in asked if getattr(algorithm, name) != params.specs(type(algorithm))[name].default]
    names = ", ".join(params.label_of(name) for name in other)
    return f" Left at its default here: {names}." if other else ""


def _told(looked: list[Rehearsal], defaults: str) -> dict[str, Any]:
    return {
        "headline": headline(looked),
        "judgment": judgment(looked),
        "towns": [[one.facts.title, f"{one.whole} of {one.runs}", loss(one)] for one in looked],
        "noise": [*map(list, zip(looked[0].facts.domain.columns, noise_ranges(looked), strict=True))],
        "remarks": remarks(looked, looked[0].runs) + defaults,
    }


def matching(trace: Trace) -> str:
    """Return how a run's noise compares with that of its rehearsal; "" unless exactly this run was rehearsed last."""
    run = same_run(trace.algorithm, trace.parameters, trace.claimed, trace.domain)
    looked = [one for known in _last.values() for one in known.values() if one.run == run]
    return compared(ranked(looked), trace) if looked else ""
