"""Turn the texts of the form into values, and refusals into one sentence in the words of the form."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from dpviz import params
from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.datasets.blobs import Blobs
from dpviz.datasets.readers import TableError
from dpviz.numbers import on_screen

__all__ = ["GROUPS", "algorithm_of", "answered", "seed_of", "values_of"]

GROUPS = {"n_clusters": "Groups", "seed": "Seed of the groups"}  # labels of made-up data, beside those of a method
_MOST_SEED = 2**53  # seeds above it differ from each other in Python but not in the page
_ELSEWHERE = re.compile(r" \([Oo]n the command line: [^()]*(\([^()]*\)[^()]*)*\)")  # advice that no tab can follow


def answered(asked: str, answer: Callable[[dict[str, Any]], dict[str, Any]]) -> str:
    """Return the answer to a form as JSON, or `refused` with a sentence."""
    form = json.loads(asked)
    try:
        found = answer(form)
    except (ValueError, PermissionError) as problem:
        found = {"refused": _in_words(problem, form)}
    except MemoryError:
        found = {"refused": "The tab has no memory left for this. Fewer rows, columns or centers need less."}
    return json.dumps(found, ensure_ascii=False)


def algorithm_of(form: Mapping[str, Any]) -> Algorithm:
    """Return the method that the form describes.

    Raises
    ------
    ValueError
        If a text is no value of its kind, or a value is out of range.
    """
    cls = ALGORITHMS[form["method"]]
    return cls(**values_of(cls.name, params.specs(cls), form["values"]))


def values_of(owner: str, specs: Mapping[str, params.ParamSpec], texts: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of the form's texts.

    Raises
    ------
    ValueError
        If a text is no value of its kind.
    """
    values = {}
    for name, text in texts.items():
        spec = specs[name]
        try:
            values[name] = params.parse(spec, text.strip())
        except ValueError:
            kind = "a whole number" if spec.kind == "int" else "a number"
            empty = " or empty" * spec.optional
            raise ValueError(f"{owner}: {name} must be {kind}{empty}; got {text!r}.") from None
    return values


def seed_of(text: str) -> int:
    """Return the seed that a text states.

    Raises
    ------
    ValueError
        If it is no whole number from 0 to 2^53 - 1.
    """
    if not (text.strip().isascii() and text.strip().isdecimal() and int(text) < _MOST_SEED):
        raise ValueError(f"Seed must be a whole number from 0 to {_MOST_SEED - 1:,}; got {text!r}.")
    return int(text)


def _in_words(problem: Exception, form: Mapping[str, Any]) -> str:
    """Return a refusal in the words of the form; one of a file keeps its names, whatever they are called."""
    text = _ELSEWHERE.sub("", str(problem))
    if text.startswith("plan: "):
        text = text[6:7].upper() + text[7:]
    if isinstance(problem, TableError) or "method" not in form:
        return on_screen(text)
    cls = ALGORITHMS[form["method"]]
    for name, label in GROUPS.items() if text.startswith("Blobs: ") else ():
        text = text.replace(name, label)
    text = text.removeprefix(f"{cls.name}: ").removeprefix("Blobs: ").removeprefix("datasets: ")
    return on_screen(params.in_labels(text, {**params.specs(Blobs), **params.specs(cls)}))
