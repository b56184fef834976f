"""Docstrings as contracts: the table of steps against traces of two data sets, ranges against what is checked.

A line of "Steps" reads `kind  released: name (shape) words, name, ...; sometimes: ...; hidden: ...` or
`kind, kind  as for `slug``. A name without a shape is a number or a string. In a shape, d is the number of columns, k
the number of centers asked for, n the number of rows, a number itself; any other symbol stands for one length within
its step. What is released "sometimes" need not be met here, everything else must.
"""

import inspect
import re
import textwrap
from functools import cache

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from dpviz import params
from dpviz.algorithms import ALGORITHMS
from dpviz.domain import Domain
from tests.traces import OPTIONS


def section(cls, heading):
    text = textwrap.indent(inspect.cleandoc(cls.__doc__), "    ")  # Python 3.13 keeps docstrings without indentation
    return re.search(rf"^    {heading}\n    -+\n(.*?)(?:\n\n    \w|\Z)", text, re.DOTALL | re.MULTILINE)[1]


def items(text):
    """Return name -> shape of a list of released values; commas inside parentheses belong to a shape or a remark."""
    found = {}
    for item in re.split(r",\s*(?![^()]*\))", text.strip()):
        name, _, rest = item.strip().partition(" ")
        assert re.fullmatch(r"[a-z]\w*", name), f"{item!r} does not begin with a name"
        shape = re.match(r"\(([^()]*,[^()]*)\)", rest)
        found[name] = [s for s in re.split(r",\s*", shape[1].strip().rstrip(",")) if s] if shape else []
    return found


@cache
def table(slug):
    """Return kind -> (released, sometimes) of a docstring."""
    lines = re.sub(r"\n {8,}", " ", section(ALGORITHMS[slug], "Steps")).splitlines()
    found = {}
    for line in lines:
        names, text = re.match(r"    ([a-z][a-z-]*(?:, [a-z][a-z-]*)*) {2,}(.*)", line).groups()
        for kind in names.split(", "):
            if other := re.match(r"as for `([a-z-]+)`(?:, with (\w+) for (\w+) where \w[^;]*)?$", text):
                released, sometimes = table(other[1])[kind]
                if other[2]:
                    sometimes = sometimes | {other[2]: ["k", "p"]}
                found[kind] = released, sometimes
                continue
            parts = dict(part.strip().split(": ", 1) for part in text.split("; "))
            released = parts.pop("released")
            found[kind] = (
                {} if released == "nothing" else items(released),
                items(parts.pop("sometimes", "")) if "sometimes" in parts else {},
            )
            assert set(parts) <= {"hidden"}, f"{slug}, {kind}: {set(parts)}"
    return found


@cache
def runs(slug):
    cls, found = ALGORITHMS[slug], []
    for n, d, k in ((400, 2, 3), (500, 6, 4)):
        X, _ = make_blobs(n, d, centers=k, center_box=(-8, 8), random_state=0)
        domain = Domain.box(-12, 12, d, scale="common", n_public=n)
        values = {"n_clusters": k} | ({"epsilon": 4.0} if "epsilon" in params.specs(cls) else {})
        for options in [{}, OPTIONS[slug]] if slug in OPTIONS and d == 2 else [{}]:
            found.append((n, d, k, cls(**values | options).run(X, domain=domain, seed=0)))
    return found


@pytest.mark.parametrize("slug", ALGORITHMS)
def test_steps_release_what_the_docstring_lists(slug):
    documented, met = table(slug), {}
    for n, d, k, trace in runs(slug):
        for step in trace.steps:
            assert step.kind in documented, f"a step {step.kind!r} is not documented"
            released, sometimes = documented[step.kind]
            sizes = {"n": n, "d": d, "k": k}
            met.setdefault(step.kind, set()).update(step.released)
            for name, value in step.released.items():
                assert name in released | sometimes, f"{step.kind}: {name} is not documented"
                shape = () if isinstance(value, str) else np.shape(value)
                symbols = (released | sometimes)[name]
                assert len(shape) == len(symbols), f"{step.kind}: {name} has shape {shape}, documented {symbols}"
                for length, symbol in zip(shape, symbols, strict=True):
                    expected = int(symbol) if symbol.isdigit() else sizes.setdefault(symbol, length)
                    assert length == expected or not symbol.isalnum(), f"{step.kind}: {name} {shape}, {symbols}"
    for kind, (released, _) in documented.items():
        assert kind in met, f"no step {kind!r} was met"
        assert set(released) <= met[kind], f"{kind}: {set(released) - met[kind]} never released"


@pytest.mark.parametrize("slug", ALGORITHMS)
def test_ranges_in_the_docstring_are_those_that_are_checked(slug):
    cls = ALGORITHMS[slug]
    specs = params.specs(cls)
    heads = re.findall(r"^    (\w+(?:, \w+)*) : (.+)$", section(cls, "Parameters"), re.MULTILINE)
    for heading, words in heads:
        names, ranges = heading.split(", "), re.findall(r"[\[(][^\])]*[\])]", words)
        for i, name in enumerate(names):
            spec = specs[name]
            if spec.kind == "choice":
                assert sorted(word.strip('" ') for word in words.strip("{}").split(",")) == sorted(
                    map(str, spec.choices)
                ), name
                continue
            if len(ranges) > 1:  # a range for each of the names
                words = f"{words.split(', in ')[0]}, in {ranges[i]}"
            low, high = (None, None) if spec.low is None else (f"{spec.low:g}", spec.high and f"{spec.high:g}")
            kind = spec.kind + " or None" * spec.optional
            allowed = {kind, f"{kind}, in [{low}, {high}]", f"{kind}, in ({low}, {high})"}
            if spec.high is None and spec.low is not None:
                allowed = {f"{kind}, >= {low}", f"{kind}, > {low}"}
            elif spec.low is not None:
                allowed.discard(kind)
            assert words in allowed, f"{name}: {words!r} is none of {sorted(allowed)}"


def test_a_wrong_table_is_seen(monkeypatch):
    for before, after in (("centers (k, d), variations", "centers (k,), variations"), ("noise_sd,", "noise_sd, cut,")):
        cls = ALGORITHMS["pe-means"]
        monkeypatch.setattr(cls, "__doc__", cls.__doc__.replace(before, after))
        table.cache_clear()
        with pytest.raises(AssertionError):
            test_steps_release_what_the_docstring_lists("pe-means")
        monkeypatch.undo()
        table.cache_clear()
