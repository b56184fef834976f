"""Implement the command `plan`: forecast a run before anything is read or spent."""

from __future__ import annotations

import argparse
import dataclasses
import math

import numpy as np

from dpviz.algorithms import ALGORITHMS, RECOMMENDED
from dpviz.cli.inputs import add_bounds, limits_by
from dpviz.datasets import SAMPLES
from dpviz.datasets.dictionary import amended, facts_beside, promises
from dpviz.datasets.notation import read_names
from dpviz.numbers import number, ratio_words
from dpviz.planning.facts import Facts, numbers
from dpviz.planning.rehearsal import REPEATS, STOPS, Rehearsal, memory, offered, rehearse
from dpviz.planning.solver import epsilon_for, widest
from dpviz.planning.words import HALF, amount, answer, assumption, size, tighter
from dpviz.validate import integer

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
            raise ValueError(f"plan: {slug[:40]!r} cannot be planned; choose among {', '.join(offered())}.")
    print(assumption(facts))
    for slug in slugs:
        rehearsals = [rehearse(facts, slug, epsilon, arguments.repeats) for epsilon in stops]
        _show(facts, rehearsals, within[0])
        half = dataclasses.replace(facts, filled=0.5)
        middle = stops[len(stops) // 2]
        wide, tight = (rehearse(one, slug, middle, arguments.repeats) for one in (half, half.tight()))
        full = next(one for one in rehearsals if one.epsilon == middle)
        print(f"  tight bounds, {HALF}: {tighter(full, wide, tight, facts)}")
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
    if declared is not None:
        columns = declared["columns"]
        rows, scale, names = declared["n_public"], declared["scale"], [column["name"] for column in columns]
        low, high = ([float(column[end]) for column in columns] for end in ("low", "high"))
        units = units or [column["unit"] for column in columns]
        if declared["rows_per_person"] > 1:
            print(promises(declared)[-1])
    if rows is None:
        raise ValueError("plan: give the approximate number of people: --rows N.")
    return Facts.declare(
        rows, low, high, arguments.k, columns=names, units=units, scale=scale, like=_look_alike(arguments.like)
    )


def _look_alike(name: str) -> str:
    name = name.removeprefix("sample:")
    if name and name not in SAMPLES:
        raise ValueError(f"plan: there is no look-alike {name[:40]!r}; choose among {', '.join(SAMPLES)}.")
    return name


def _show(facts: Facts, rehearsals: list[Rehearsal], within: float) -> None:
    print(
        f"\n{ALGORITHMS[rehearsals[0].slug].name}{'' if rehearsals[0].by_formula else ' (noise measured, no formula)'}"
    )
    for one in rehearsals:
        low, ratio, high = map(ratio_words, (one.ratio_low, one.ratio, one.ratio_high))
        loss = f"{ratio} × KMeans ({low} to {high})"
        print(
            f"  ε {number(one.epsilon):<5} noise per center ±{amount(widest(one), facts):<12} {loss}  "
            f"{number(one.seconds, 2)} s"
        )
    if not np.isnan(within):
        need = epsilon_for(rehearsals, within)
        print("  " + answer(rehearsals[0].slug, within, need, facts, tuple(one.epsilon for one in rehearsals)))
