"""Check docstrings as contracts: the table of steps against runs, ranges against `param`, and the pseudo-code.

A line of "Steps" reads `kind  released: name (shape) words, name, ...; sometimes: ...; hidden: ...` or `kind, kind  as
for `slug``. A name without a shape is a number or a string. In a shape, d is the number of columns, k the requested
number of centers, n the number of rows, and a number means itself; any other symbol stands for one length within its
step. Values released "sometimes" need not occur in these runs; all others must.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from functools import cache

import numpy as np
from sklearn.datasets import make_blobs

from dpviz import params
from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.audits.wide import second_instance
from dpviz.domain import Domain
from dpviz.params import ParamSpec
from dpviz.testing.runs import built, demand, run
from dpviz.trace import Trace

HEADINGS = ("Parameters", "Formal guarantee", "Steps", "Deviations from the paper", "References", "Examples")
Shapes = dict[str, list[str]]


def has_the_compulsory_headings_and_names(cls: type[Algorithm]) -> None:
    """Check for the six headings, a lower-case slug and a tagline that is a sentence."""
    text = inspect.cleandoc(cls.__doc__ or "")
    lacking = [heading for heading in HEADINGS if f"\n{heading}\n--" not in text]
    demand(not lacking, f"the docstring lacks the headings {', '.join(lacking)}")
    demand(
        re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", cls.slug),
        f"slug {cls.slug!r} must consist of lower-case letters, digits and -",
    )
    demand(cls.tagline.endswith("."), "the tagline must be a sentence and end with a full stop")


def _section(cls: type[Algorithm], heading: str) -> str:
    # Python 3.13 strips the indentation of docstrings
    text = textwrap.indent(inspect.cleandoc(cls.__doc__ or ""), "    ")
    match = re.search(rf"^    {heading}\n    -+\n(.*?)(?:\n\n    \w|\Z)", text, re.DOTALL | re.MULTILINE)
    demand(match, f"the docstring has no section {heading!r}")
    return match[1] if match else ""


def _items(text: str) -> Shapes:
    """Return the shapes of a list of released values by name; commas in parentheses belong to a shape or a remark."""
    items = {}
    for item in re.split(r",\s*(?![^()]*\))", text.strip()):
        name, _, rest = item.strip().partition(" ")
        demand(re.fullmatch(r"[a-z]\w*", name), f"Steps: {item!r} does not begin with a name")
        shape = re.match(r"\(([^()]*,[^()]*)\)", rest)
        items[name] = [s for s in re.split(r",\s*", shape[1].strip().rstrip(",")) if s] if shape else []
    return items


@cache
def _table(text: str) -> dict[str, tuple[Shapes, Shapes]]:
    """Return (released, sometimes) for every kind of step in a section "Steps"."""
    shapes: dict[str, tuple[Shapes, Shapes]] = {}
    for line in re.sub(r"\n {8,}", " ", text).splitlines():
        head = re.match(r"    ([a-z][a-z-]*(?:, [a-z][a-z-]*)*) {2,}(.*)", line)
        demand(head, f"Steps: {line!r} is not `kind  released: ...`")
        names, rest = head.groups() if head else ("", "")
        for kind in names.split(", "):
            if other := re.match(r"as for `([a-z-]+)`(?:, with (\w+) for (\w+) where \w[^;]*)?$", rest):
                released, sometimes = _table(_section(ALGORITHMS[other[1]], "Steps"))[kind]
                shapes[kind] = released, sometimes | ({other[2]: ["k", "p"]} if other[2] else {})
                continue
            parts = dict(part.strip().split(": ", 1) for part in rest.split("; "))
            always, more = parts.pop("released", ""), parts.pop("sometimes", "")
            shapes[kind] = ({} if always == "nothing" else _items(always)), _items(more) if more else {}
            demand(set(parts) <= {"hidden"}, f"Steps, {kind}: {set(parts)} is unknown")
    return shapes


def _runs(cls: type[Algorithm]) -> Iterator[tuple[int, int, int, Trace]]:
    """Yield (rows, columns, centers, run) twice at the defaults, and twice at the second audit's parameters.

    A run is left out if another algorithm would run instead, because the other docstring then lists the steps.
    """
    for n, d, algorithm in (
        (400, 2, built(cls, n_clusters=3, epsilon=4.0)),
        (500, 6, built(cls, n_clusters=4, epsilon=4.0)),
        (600, 2, built(cls, **{"n_clusters": 3, "epsilon": 4.0, **cls.AUDIT})),
        (3000, 6, second_instance(cls)),
    ):
        if algorithm.runs(d, n) is algorithm:
            X, _ = make_blobs(n, d, centers=algorithm.n_clusters, center_box=(-8, 8), random_state=0)
            domain = Domain.box(-12, 12, d, scale="common", n_public=n)
            yield n, d, algorithm.n_clusters, algorithm.run(X, domain=domain, seed=0)


def steps_release_what_the_docstring_lists(cls: type[Algorithm]) -> None:
    """Check that every kind of step and every released name is documented with its shape, and occurs."""
    documented: dict[str, tuple[Shapes, Shapes]] = _table(_section(cls, "Steps"))
    met: dict[str, set[str]] = {}
    for n, d, k, trace in _runs(cls):
        for step in trace.steps:
            demand(step.kind in documented, f"Steps: step kind {step.kind!r} is not documented")
            released, sometimes = documented[step.kind]
            sizes = {"n": n, "d": d, "k": k}
            met.setdefault(step.kind, set()).update(step.released)
            for name, value in step.released.items():
                demand(name in released | sometimes, f"Steps, {step.kind}: {name} is not documented")
                shape = () if isinstance(value, str) else np.shape(value)
                symbols = (released | sometimes)[name]
                words = f"Steps, {step.kind}: {name} has shape {shape}, documented {symbols}"
                demand(len(shape) == len(symbols), words)
                for length, symbol in zip(shape, symbols, strict=True):
                    expected = int(symbol) if symbol.isdigit() else sizes.setdefault(symbol, length)
                    demand(length == expected or not symbol.isalnum(), words)
    for kind, (released, _) in documented.items():
        demand(kind in met, f"Steps: no run had a step of kind {kind!r}")
        demand(set(released) <= met[kind], f"Steps, {kind}: {set(released) - met[kind]} were never released")


def _allowed(spec: ParamSpec) -> set[str]:
    """Return the ways to write a parameter's kind and range."""
    kind = spec.kind + " or None" * spec.optional
    if spec.low is None:
        return {kind}
    if spec.high is None:
        return {f"{kind}, >= {spec.low:g}", f"{kind}, > {spec.low:g}"}
    return {f"{kind}, in [{spec.low:g}, {spec.high:g}]", f"{kind}, in ({spec.low:g}, {spec.high:g})"}


def ranges_in_the_docstring_are_those_that_are_checked(cls: type[Algorithm]) -> None:
    """Check that "Parameters" prints the kinds, ranges and choices of `param`."""
    specs = params.specs(cls)
    heads = re.findall(r"^    (\w+(?:, \w+)*) : (.+)$", _section(cls, "Parameters"), re.MULTILINE)
    for heading, words in heads:
        names, ranges = heading.split(", "), re.findall(r"[\[(][^\])]*[\])]", words)
        for i, name in enumerate(names):
            demand(name in specs, f"Parameters: {name} is not a parameter")
            if specs[name].kind == "choice":
                choices = sorted(word.strip('" ') for word in words.strip("{}").split(","))
                same = choices == sorted(map(str, specs[name].choices or ()))
                demand(same, f"Parameters: the choices of {name} differ from those in the code")
                continue
            if len(ranges) > 1:  # a range for each name
                words = f"{words.split(', in ')[0]}, in {ranges[i]}"
            allowed = sorted(_allowed(specs[name]))
            demand(words in allowed, f"Parameters, {name}: {words!r} is not one of {allowed}")


def has_six_to_ten_lines_of_pseudo_code(cls: type[Algorithm]) -> None:
    """Check that the pseudo-code has six to ten lines that fit next to the picture."""
    demand(6 <= len(cls.CODE) <= 10, f"CODE has {len(cls.CODE)} lines")
    long = [line.text for line in cls.CODE if len(line.text) > 50]
    demand(not long, f"CODE: longer than 50 characters: {long}")


def lines_cost_where_the_ledger_says_so(cls: type[Algorithm]) -> None:
    """Check that every kind of step has a line, and that exactly the lines that read rows cost something."""
    for d in (2, 6):
        trace = run(cls, f"two groups, {d} columns", n_clusters=3, epsilon=4.0, rho_distance=0.02)
        paid: dict[str, set[str]] = {}
        before = 0
        for step in trace.steps:
            paid.setdefault(step.kind, set()).update(entry.label for entry in trace.ledger[before : step.n_releases])
            before = step.n_releases
        for kind, labels in paid.items():
            here = [line for line in cls.CODE if kind in line.kinds]
            demand(here, f"CODE: there is no line for steps of kind {kind}")
            named = {line.label for line in here if line.label}
            demand(
                labels - {"scatter"} <= named,
                f"CODE: steps of kind {kind!r} pay for {labels}, but its lines name {named}",
            )
            demand(not labels or named <= labels, f"CODE: {kind}: {named - labels} is never paid there")
