"""Turn everything that a trace shows into facts to compare between runs; a value without noise repeats exactly."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from dpviz.trace import Trace

__all__ = ["facts", "scores"]

_MOST = 256  # an array of at most this many entries is compared entry by entry, a longer one as a whole
Facts = Mapping[str, Hashable]


def facts(trace: Trace) -> dict[str, Hashable]:
    """Return the facts by name: numbers of steps, releases and whole numbers; all kinds, titles, shapes and values."""
    facts: dict[str, Hashable] = {"steps": len(trace.steps), "releases": len(trace.ledger)}
    whole = 0
    for step in trace.steps:
        at = f"step {step.index}"
        facts[at] = (step.kind, step.title, step.n_releases)
        for name, value in step.released.items():
            whole += _add(facts, f"{at} {name}", value)
    whole += _add(facts, "centers", trace.cluster_centers)
    if trace.coreset is not None:
        whole += _add(facts, "coreset", trace.coreset.weights)
    facts["whole numbers"] = whole
    return facts


def _add(facts: dict[str, Hashable], name: str, value: Any) -> int:
    """Record one released value; return how many of its floating-point numbers are whole."""
    if isinstance(value, tuple | list):
        return sum(_add(facts, f"{name} {i}", item) for i, item in enumerate(value))
    if isinstance(value, Mapping):
        return sum(_add(facts, f"{name} {key}", item) for key, item in value.items())
    if not isinstance(value, np.ndarray | np.generic | float | int | bool):
        facts[name] = repr(value)
        return 0
    array = np.asarray(value)
    facts[f"{name} shape"] = (array.dtype.str, array.shape)
    facts[name] = hashlib.sha256(array.tobytes()).digest()
    if 1 < array.size <= _MOST:
        facts.update((f"{name} {i}", item.tobytes()) for i, item in enumerate(array.ravel()))
    return int((array == np.rint(array)).sum()) if array.dtype.kind == "f" else 0


def scores(first: Sequence[Facts], second: Sequence[Facts], cut: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how strongly the facts of every run favor the first data set: an array (runs,) for each data set.

    The first `cut` runs on either side determine which data set a value favors. Each half of those runs is judged by
    the other half, so that a threshold can be chosen on them.
    """
    half = cut // 2
    taught = [_learn(a, b) for a, b in (
        (first[half:cut], second[half:cut]), (first[:half], second[:half]), (first[:cut], second[:cut]),
    )]  # fmt: skip
    lessons = [taught[0] if i < half else taught[1] if i < cut else taught[2] for i in range(len(first))]
    return (
        np.array([_judge(run, lesson) for run, lesson in zip(first, lessons, strict=True)]),
        np.array([_judge(run, lesson) for run, lesson in zip(second, lessons, strict=True)]),
    )


def _learn(first: Sequence[Facts], second: Sequence[Facts]) -> dict[tuple[str, Hashable], float]:
    """Return +1 or -1 by (name, value), for the facts that best tell the two sides apart.

    A value that occurs only once is ignored, because noisy values never repeat.
    """
    counts: defaultdict[str, tuple[Counter[Hashable], Counter[Hashable]]] = defaultdict(lambda: (Counter(), Counter()))
    for side, runs in enumerate((first, second)):
        for run in runs:
            for name, value in run.items():
                counts[name][side][value] += 1
    gaps = {
        name: {value: a[value] - b[value] for value in {*a, *b} if a[value] + b[value] > 1}
        for name, (a, b) in counts.items()
    }
    apart = {name: sum(map(abs, gap.values())) for name, gap in gaps.items()}
    best = max(apart.values(), default=0)
    return {
        (name, value): float(np.sign(size))
        for name, gap in gaps.items()
        if best and apart[name] == best
        for value, size in gap.items()
    }


def _judge(run: Facts, lesson: Mapping[tuple[str, Hashable], float]) -> float:
    return sum(lesson.get((name, value), 0.0) for name, value in run.items())
