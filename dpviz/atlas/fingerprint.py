"""Fingerprints that show whether stored runs still match the code: a hash of the sources, and a few probe runs."""

from __future__ import annotations

import ast
import hashlib
import json
import platform
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

import dpviz
from dpviz import params
from dpviz.algorithms import ALGORITHMS
from dpviz.atlas.cells import Cell, Chapter, opened, row

__all__ = ["LAYOUT", "agrees", "code", "fingerprint", "inputs", "machine", "sources"]

LAYOUT = 1  # Version of the files' layout; a reader accepts no other.
_ABOVE = {  # Folders whose code no run executes; the last two are in the package only when it is installed.
    *("atlas", "cli", "federated", "figures", "lessons", "papers", "planning", "takeaway"),
    *("dashboard", "sample_data"),
}
_LIBRARIES = ("numpy", "scipy", "scikit-learn")
_PROBE_ROWS, _PROBE_STOPS = 200, (0.25, 4.0)
_CLOSE = 1e-6  # relative tolerance between the results of two machines


@cache
def sources() -> str:
    """Return a hash of everything that a run executes: the package without `_ABOVE`, and the numeric libraries."""
    return _hash_of(str)


@cache
def code() -> str:
    """Return a hash like that of `sources` but without comments and docstrings; computing it takes half a second."""
    return _hash_of(_without_words)


def _hash_of(read: Callable[[str], str]) -> str:
    package = Path(dpviz.__file__).parent
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(package.rglob("*.py")):
        place = path.relative_to(package)
        if place.parts[0] not in _ABOVE:
            digest.update(f"{place.as_posix()}\n{read(path.read_text(encoding='utf-8'))}\n".encode())
    digest.update(" ".join(f"{name} {version(name)}" for name in _LIBRARIES).encode())
    return digest.hexdigest()


def _without_words(source: str) -> str:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False):
            node.body = node.body[1:]
    return ast.dump(tree)


@cache
def machine() -> str:
    """Return the properties of this machine that can change the last bit of a float."""
    kernels = sorted({library.get("architecture", "") for library in threadpool_info()} - {""})
    return " ".join([platform.machine(), *kernels])


def inputs(chapter: Chapter) -> dict[str, Any]:
    """Return the inputs of a chapter's runs: layout, parameters, and hashes of the sample and the list of runs."""
    data, cls = opened(chapter.sample, None).data, ALGORITHMS[chapter.method]
    plan = [[cell.people, cell.epsilon, cell.seed] for cell in chapter.cells()]
    return {
        "layout": LAYOUT,
        "parameters": {name: repr(spec.default) for name, spec in params.specs(cls).items()}
        | {name: repr(value) for name, value in chapter.values},
        "data": _hash(data.X.tobytes() + repr(data.domain.to_dict()).encode()),
        "runs": _hash(json.dumps(plan).encode()),
    }


def fingerprint(chapter: Chapter) -> dict[str, Any]:
    """Return the inputs of a chapter's runs, and digests of three probe runs.

    Two probes run on 200 rows of the sample, at ε ¼ and 4; the third is the chapter's own run at ε 1, seed 0. A digest
    contains the probe's counts and, to nine digits, its loss and two weighted sums each of its centers and sizes.
    """
    has_budget = "epsilon" in params.specs(ALGORITHMS[chapter.method])
    budgets = _PROBE_STOPS if has_budget else (None, None)
    probes = [Cell(chapter, _PROBE_ROWS, budget, 0) for budget in budgets]
    probes.append(Cell(chapter, None, 1.0 if has_budget else None, 0))
    return {**inputs(chapter), "probes": [_digest(row(cell)) for cell in probes]}


def _hash(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _digest(run: dict[str, Any]) -> dict[str, Any]:
    counts = {name: run[name] for name in ("bet", "found")}
    return counts | {name: _sums(run[name]) for name in ("centers", "sizes")} | {"loss": _digits(run["loss"])}


def _sums(values: np.ndarray | None) -> list[float]:
    """Return the number of values and two weighted sums of them."""
    if values is None:
        return []
    turn = np.arange(len(values))
    return [len(values), _digits(float(values @ np.cos(turn))), _digits(float(values @ np.sin(turn + 1)))]


def _digits(value: float) -> float:
    return float(f"{value:.9g}")


def agrees(one: Any, other: Any) -> bool:
    """Return whether two fingerprints agree: floats to a millionth, everything else exactly."""
    if isinstance(one, float) or isinstance(other, float):
        return isinstance(other, int | float) and abs(one - other) <= _CLOSE * max(1.0, abs(one), abs(other))
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(agrees(one[k], other[k]) for k in one)
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(agrees, one, other))
    return bool(one == other)
