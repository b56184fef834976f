"""Lessons, each in four parts: predict, run, explain, keep. Computed facts fill the gaps in the lessons' texts."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load
from dpviz.figures import Panel
from dpviz.figures.kit.theme import Theme
from dpviz.lessons import bounds, choice, exact, looks, lottery, noise, person, rho, rounds, screen, small, trust, votes
from dpviz.lessons.lesson import SEEDS, Exhibit, Lesson, Option, read, unbroken
from dpviz.numbers import chance, number
from dpviz.privacy.accounting import DEFAULT_DELTA
from dpviz.privacy.delta import meaning, no_failure

__all__ = [
    "LESSONS", "SEEDS", "Lesson", "Option", "Exhibit", "drawn", "glossary", "legend", "limits_in_short",
    "limits_in_words", "panels", "exhibit",
]  # fmt: skip

_HERE = Path(__file__).parent
_RUNS = {
    "noise": noise,
    "screen": screen,
    "bounds": bounds,
    "votes": votes,
    "small": small,
    "looks": looks,
    "rho": rho,
    "exact": exact,
    "trust": trust,
    "person": person,
    "rounds": rounds,
    "lottery": lottery,
    "choice": choice,
}


def _titled(lesson: Lesson) -> Lesson:
    """Return a lesson with the gaps of its title filled by facts that are the same for every draw of the noise."""
    facts: dict[str, str] = getattr(_RUNS[lesson.name], "TITLE", {})
    return dataclasses.replace(lesson, title=unbroken(lesson.title.format_map(facts)))


LESSONS: dict[str, Lesson] = {
    lesson.name: _titled(lesson)
    for lesson in sorted(map(read, _HERE.glob("*-*.toml")), key=lambda lesson: lesson.number)
}


def exhibit(name: str, seed: int) -> Exhibit:
    """Make the runs that a lesson shows, on public data; `seed` is one of `SEEDS`."""
    run: Callable[[int], Exhibit] = _RUNS[name].run
    return run(seed)


def drawn(name: str, exhibit: Exhibit, colors: Theme) -> list[Panel]:
    """Return a lesson's figures, each with one frame per title of the exhibit."""
    found: list[Panel] = _RUNS[name].panels(exhibit.runs, colors)
    return found


def panels(name: str, exhibit: Exhibit, colors: Theme) -> list[Panel]:
    """Return a lesson's figures in the form that browsers receive."""
    return [panel.printed() for panel in drawn(name, exhibit, colors)]


def legend(name: str) -> tuple[tuple[str, str], ...]:
    """Return the key of a lesson's pictures: (symbol, word) pairs."""
    return _RUNS[name].LEGEND


@cache
def glossary() -> dict[str, str]:
    """Return every term of the lessons with its explanation, in alphabetical order."""
    entries = tomllib.loads((_HERE / "glossary.toml").read_text(encoding="utf-8"))
    return {term: entries[term].format_map(_delta()) for term in sorted(entries, key=str.lower)}


@cache
def limits_in_words() -> dict[str, str]:
    """Return the limits of every promise, as a mapping from title to text in Markdown."""
    return _limits("text")


@cache
def limits_in_short() -> dict[str, str]:
    """Return the limits that a slide names, as a mapping from title to one or two sentences."""
    return _limits("short")


def _limits(field: str) -> dict[str, str]:
    entries, facts = tomllib.loads((_HERE / "limits.toml").read_text(encoding="utf-8")), {**_delta(), **_rows()}
    return {limit["title"]: limit[field].format_map(facts) for limit in entries["limit"] if field in limit}


def _delta() -> dict[str, str]:
    """Return the values of the gaps about δ in the glossary and in the limits."""
    return {"meaning": meaning(), "no_failure": no_failure(), "default": f"{DEFAULT_DELTA} for n people"}


def _rows() -> dict[str, str]:
    """Return the values of the gaps about several rows of one person: what they cost at ε 1 in the town."""
    town = load("town")
    one = ALGORITHMS["pe-means"](n_clusters=town.n_clusters).guarantee(town.domain.n_features, town.n_public)
    return {
        "epsilon": number(one.epsilon), "delta": chance(one.delta), "people": f"{town.n_public:,}",
        "two": number(one.of_rows(2).epsilon), "ten": number(one.of_rows(10).epsilon),
    }  # fmt: skip
