"""Implement the command `plan`: forecast a run before anything is read or spent."""

from __future__ import annotations

import argparse
import dataclasses
import math
from collections.abc import Sequence

from dpviz.algorithms import ALGORITHMS, RECOMMENDED
from dpviz.cli.inputs import add_bounds, limits_by
from dpviz.datasets import SAMPLES
from dpviz.datasets.dictionary import amended, domain_of, facts_beside, promises
from dpviz.datasets.notation import read_names
from dpviz.numbers import number
from dpviz.planning.facts import Facts, numbers
from dpviz.planning.rehearsal import REPEATS, STOPS, Rehearsal, memory, offered, rehearse
from dpviz.planning.solver import epsilon_for
from dpviz.planning.towns import APART, FARTHEST, NEAREST, TOUCHING, shaped
from dpviz.planning.words import (
    HALF,
    answer,
    assumption,
    headline,
    judgment,
    loss,
    noise_ranges,
    ranked,
    size,
    tighter,
)
from dpviz.runs.public import STANDS_IN
from dpviz.validate import integer, nearest

__all__ = ["add_plan"]


def add_plan(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument(
        "--rows", type=int, help="approximate number of people; public; default: the dictionary's n_public"
    )
    add_bounds(command)
    command.add_argument("--columns", default="", help="names of the columns, separated by commas")
    command.add_argument("--units", default="", help="units of the columns, or one for all")
    command.add_argument(
        "--scale",
        choices=("column", "common"),
        default="column",
        help="common: one scale for all columns, as for a map",
    )
    command.add_argument("--k", type=int, required=True, help="number of centers")
    command.add_argument(
        "--algorithms", default=f"{RECOMMENDED},pe-means,fastlloyd,dpm", help="slugs, separated by commas"
    )
    command.add_argument(
        "--epsilon", default=",".join(f"{stop:g}" for stop in STOPS), help="budgets to rehearse, separated by commas"
    )
    command.add_argument("--like", default="", help=f"a public look-alike: one of {', '.join(SAMPLES)}")
    command.add_argument(
        "--shares", default="", help="a town like yours: the shares of its k groups, separated by commas"
    )
    command.add_argument(
        "--apart", type=float, default=APART,
        help=f"distance between its nearest groups, in their standard deviations: {NEAREST:g} to {FARTHEST:g}; "
        f"{TOUCHING:g} is touching",
    )  # fmt: skip
    command.add_argument(
        "--within", default="", help="how exact a center must be, in the columns' unit; prints the ε that this takes"
    )
    command.add_argument("--repeats", type=int, default=REPEATS)
    command.set_defaults(do=_plan)


def _plan(arguments: argparse.Namespace) -> int:
    facts = _facts(arguments)
    stops = sorted(set(numbers(arguments.epsilon, "the budgets ε")))
    if not stops or min(stops) <= 0 or not all(map(math.isfinite, stops)):
        raise ValueError("plan: the budgets ε must be above 0; name at least one.")
    within = numbers(arguments.within, "how exact a center must be") or [math.nan]
    if within[0] <= 0 or len(within) > 1:
        raise ValueError("plan: --within must be one number above 0.")
    integer("plan", 2, 1000, repeats=arguments.repeats)
    slugs = [slug.strip() for slug in arguments.algorithms.split(",") if slug.strip()]
    for slug in slugs:
        if slug not in offered():
            raise ValueError(
                f"plan: {slug[:40]!r} cannot be planned; choose among {', '.join(offered())}{nearest(slug, offered())}."
            )
    shares = numbers(arguments.shares, "--shares")
    towns = facts.everywhere(shaped(shares, arguments.apart, facts.n_clusters) if shares else None)
    for slug in slugs:
        print(f"\n{ALGORITHMS[slug].name}")
        if ALGORITHMS[slug].takes_public_rows:
            print(f"  {STANDS_IN}. Your own public rows may lie elsewhere.")
        looked = [ranked(rehearse(town, slug, epsilon, arguments.repeats) for town in towns) for epsilon in stops]
        for one in looked:
            _show(one)
        middle = looked[len(stops) // 2][0]
        worst = [next(one for one in some if one.facts.key == middle.facts.key) for some in looked]
        print(f"  {assumption(middle.facts)}")
        if not math.isnan(within[0]):
            print(f"  {answer(slug, within[0], epsilon_for(worst, within[0]), facts, tuple(stops))}")
        half = dataclasses.replace(middle.facts, filled=0.5)
        wide, tight = (rehearse(one, slug, middle.epsilon, arguments.repeats) for one in (half, half.tight()))
        print(f"  tight bounds, {HALF}: {tighter(middle, wide, tight, facts)}")
    print(
        "A private run leaves out rows with a missing cell; if there are many, the declared n no longer fits. "
        "--missing middle keeps them."
    )
    print(f"\nA run needs {size(memory(facts))} of memory. Nothing was read or spent.")
    return 0


def _facts(arguments: argparse.Namespace) -> Facts:
    """Return the declared facts: those of the dictionary, if any, with additions from the arguments."""
    limits, names = limits_by(arguments), read_names(arguments.columns)
    place, units = limits.pop("dictionary"), [word.strip() for word in arguments.units.split(",") if word.strip()]
    declared = None
    if place is not None or limits["bounds"]:
        name, declared = (place.name, facts_beside(place, place)[1]) if place else ("plan", None)
        declared = amended(declared, name, columns=names or None, n_public=arguments.rows, **limits)
    rows, low, high, scale = arguments.rows, limits["low"] or [], limits["high"] or [], arguments.scale
    weights: tuple[float, ...] = ()
    if declared is not None:
        domain = domain_of(declared)
        rows, scale, names, weights = domain.n_public, domain.scale, list(domain.columns), domain.weights
        low, high, units = domain.low.tolist(), domain.high.tolist(), units or list(domain.units)
        if declared["rows_per_person"] > 1:
            print(promises(declared)[-1])
    if rows is None:
        raise ValueError("plan: give the approximate number of people: --rows N.")
    return Facts.declare(
        rows, low, high, arguments.k, columns=names, units=units, scale=scale, like=_look_alike(arguments.like),
        weights=weights,
    )  # fmt: skip


def _look_alike(name: str) -> str:
    name = name.removeprefix("sample:")
    if name and name not in SAMPLES:
        raise ValueError(f"plan: there is no look-alike {name[:40]!r}; choose among {', '.join(SAMPLES)}.")
    return name


def _show(looked: Sequence[Rehearsal]) -> None:
    """Print the groups found at one ε in every town, the worst first, what that means, and the noise per column."""
    worst = looked[0]
    print(f"  {headline(looked)}; {number(worst.seconds, 2)} s a run. {judgment(looked)}")
    for one in looked:
        print(f"    {one.facts.title}: {one.whole} of {one.runs} runs, loss {loss(one)} × KMeans")
    lines = zip(worst.facts.domain.columns, noise_ranges(looked), strict=True)
    print(f"    noise of a center: {'; '.join(f'{name} {words}' for name, words in lines)}")
