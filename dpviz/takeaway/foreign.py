"""Read a trace from a file, which anybody can write, and check it against its algorithm before it is used."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from dpviz.algorithms import ALGORITHMS, Algorithm
from dpviz.algorithms.explain_clusters import ExplainClusters
from dpviz.frozen import freeze
from dpviz.privacy.accounting import DEFAULT_DELTA
from dpviz.trace import Trace
from dpviz.version import __version__

__all__ = ["algorithm_of", "drawing", "read"]

ADDED = {"summary": "candidates"}  # parameters added since 0.3, with the value that repeats what runs did before


def read(text: str) -> Trace:
    """Return the trace of a file that `run --json` wrote.

    Raises
    ------
    ValueError
        If the text is not a trace; names no algorithm of dpviz; has parameters or, if this version made it, a plan that
        its algorithm does not have; claims something that does not follow from its plan or its ledger; or has no
        step, or centers that are not those of its last step. The message is one sentence.
    """
    trace = _completed(Trace.from_json(text))
    if not trace.steps:
        raise ValueError("trace: the file holds no step of the run; it was changed or cut off.")
    algorithm = algorithm_of(trace)
    claimed = trace.claimed
    if claimed.private:
        if (claimed.notion, claimed.neighboring) != (algorithm.notion, algorithm.neighboring):
            raise ValueError(f"trace: {algorithm.name} does not make the kind of promise that this file claims.")
        if trace.version == __version__ and trace.domain.n_public is not None:
            _check_plan(trace, algorithm, trace.domain.n_public)
    if trace.version == __version__:
        _check_centers(trace)
    return trace


@contextmanager
def drawing(trace: Trace) -> Iterator[None]:
    """Turn whatever fails on the released values of a trace from a file into one sentence.

    Their shapes follow from noise, so that only drawing them shows whether they fit. A run of our own fails as it is.

    Raises
    ------
    ValueError
        If the values do not fit each other, or are too large for the numbers of a picture.
    """
    if not trace.from_file:
        yield
        return
    try:
        with np.errstate(over="raise", invalid="raise"):
            yield
    except Exception as problem:
        if isinstance(problem, ValueError) and str(problem).startswith("trace: "):
            raise
        raise ValueError(
            f"trace: the released values in this file are not those of a run of {trace.name}; the file was changed or "
            "cut off."
        ) from problem


def _completed(trace: Trace) -> Trace:
    """Write out what another version's trace left to a rule that has changed: its delta, and parameters added since."""
    parameters, cls = dict(trace.parameters), _known(trace.algorithm)
    if trace.version == __version__ or cls is None:
        return trace
    names = {field.name for field in dataclasses.fields(cls)}
    added = {name: value for name, value in ADDED.items() if name in names}
    if parameters.get("delta", 0) is None and trace.claimed.delta:
        parameters["delta"] = trace.claimed.delta
        added |= {"delta_rule": DEFAULT_DELTA} if "delta_rule" in names else {}
    return dataclasses.replace(trace, parameters=freeze(added | parameters))


def algorithm_of(trace: Trace) -> Algorithm:
    """Return the algorithm that made a trace, with its parameters.

    Raises
    ------
    ValueError
        If there is no such algorithm, or a parameter is unknown to it or out of range.
    """
    cls = _known(trace.algorithm)
    if cls is None:
        raise ValueError(f"trace: dpviz {__version__} knows no algorithm {trace.algorithm[:60]!r}.")
    if trace.name != cls.name:
        raise ValueError(f"trace: the algorithm {trace.algorithm} is called {cls.name}, not {trace.name[:60]!r}.")
    names = {field.name for field in dataclasses.fields(cls)}
    if strange := sorted(names ^ set(trace.parameters)):
        lacks = "lacks" if strange[0] in names else "has"
        raise ValueError(f"trace: the file {lacks} the parameter {strange[0][:60]!r}, unlike {cls.name}.")
    try:
        return cls(**{name: _frozen(value) for name, value in trace.parameters.items()})
    except TypeError as problem:
        raise ValueError(str(problem)) from None


def _known(slug: str) -> type[Algorithm] | None:
    return ExplainClusters if slug == ExplainClusters.slug else ALGORITHMS.get(slug)


def _frozen(value: Any) -> Any:
    """Return a JSON value as an algorithm stores it, with tuples in place of lists."""
    return tuple(map(_frozen, value)) if isinstance(value, list | tuple) else value


def _check_plan(trace: Trace, algorithm: Algorithm, n_public: int) -> None:
    """Refuse a plan that is not the algorithm's plan for these parameters."""
    try:
        plan = algorithm.plan(trace.domain.n_features, n_public).to_dict()
    except (ArithmeticError, PermissionError) as problem:
        raise ValueError(f"trace: {algorithm.name} has no plan for these parameters: {problem}") from None
    if not _alike(plan, trace.plan.to_dict()):
        raise ValueError(
            f"trace: the plan is not that of {algorithm.name} with these parameters; the file was changed."
        )


def _check_centers(trace: Trace) -> None:
    """Refuse centers that are not finite or, if the last step states centers, not those of that step."""
    centers, domain = np.asarray(trace.cluster_centers), trace.domain
    last = trace.steps[-1].released.get("centers")
    found = centers if last is None else np.asarray(last)
    fits = found.shape == centers.shape and found.dtype.kind == "f" and bool(np.isfinite(centers).all())
    if fits and last is not None:
        close = 1e-9 * float(domain.half_width.max())
        fits = bool(np.isfinite(found).all()) and np.allclose(domain.inside(found), centers, rtol=1e-9, atol=close)
    if not fits:
        raise ValueError("trace: the centers are not those of the last step in the same file; the file was changed.")


def _alike(one: Any, other: Any) -> bool:
    """Return whether two records agree, numbers up to the rounding of another machine's libraries."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return one == other or math.isclose(one, other, rel_tol=1e-9)
    return bool(one == other)
