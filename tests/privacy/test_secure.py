"""Search a secure run's object graph, JSON and pickle for a seed, a hidden truth, a cell or a true statistic."""

import dataclasses
import gc
import json
import math
import pickle
import re
import struct
import types
from collections import Counter
from enum import Enum

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.audits.audit import instance
from dpviz.audits.witness import Neighbors
from dpviz.domain import Domain
from dpviz.frozen import FrozenDict, freeze
from dpviz.geometry import GRID
from dpviz.privacy.costs import COSTS
from dpviz.privacy.guarantee import Guarantee, Notion
from dpviz.privacy.ledger import Release
from dpviz.privacy.plan import Plan
from dpviz.trace import Coreset, Step, Trace

PRIVATE = [slug for slug, cls in ALGORITHMS.items() if cls.notion is not Notion.NONE]
N = 60


def sentinels():
    """Return cells that are all unique 12-digit numbers."""
    digits = np.random.default_rng(0).choice(8 * 10**11, (N, 2), replace=False) + 10**11
    return digits / 10**12 * np.random.default_rng(1).choice([-1, 1], (N, 2))


X = sentinels()
DOMAIN = Domain.box(-1, 1, 2, scale="common", n_public=N)
WORDS = (str, int, float, bool, type(None), tuple, list, dict, np.ndarray, np.dtype, Enum, FrozenDict)
RECORDS = (Trace, Step, Plan, Release, Guarantee, Domain, Coreset, *COSTS.values())
SKIPPED = (type, types.ModuleType)


def walk(root):
    """Return every object reachable from `root`, array bases included, except classes and modules."""
    seen, todo = {}, [root]
    while todo:
        item = todo.pop()
        if id(item) in seen or isinstance(item, SKIPPED):
            continue
        seen[id(item)] = item
        is_function = isinstance(item, types.FunctionType)  # a function's globals belong to its module
        todo += [item.__closure__, item.__defaults__] if is_function else gc.get_referents(item)
        if isinstance(item, np.ndarray) and item.base is not None:
            todo.append(item.base)
    return list(seen.values())


def numbers(item):
    if isinstance(item, np.ndarray):
        return set(item.ravel().tolist()) if item.dtype.kind in "fiub" else set()
    if isinstance(item, str):
        return {float(word) for word in re.findall(r"-?\d+\.\d+(?:e-?\d+)?", item)}
    return {float(item)} if isinstance(item, int | float) and not isinstance(item, bool) else set()


def secrets(witness=None):
    """Return the numbers that must not be found: cells, raw or in z units, and true statistics except sixteenths."""
    rows = Neighbors(X, X, DOMAIN)._x
    found = {value for array in (X, rows, abs(X)) for value in array.ravel().tolist()}
    for exchange in [] if witness is None else witness.exchanges:
        if not isinstance(exchange.true, np.ndarray):
            continue  # the counts of a cover are whole numbers
        found |= {v for v in np.ravel(exchange.true).tolist() if math.isfinite(v) and not float(16 * v).is_integer()}
    return found


def _seed(item):
    return item.seed if isinstance(item, Trace) else item.get("seed")


def leaks(trace, forbidden):
    """List everything in a trace that a private release must not contain."""
    found = []
    for item in walk(trace):
        if not isinstance(item, (*WORDS, *RECORDS)):
            found.append(f"holds a {type(item).__name__}, which is no plain data")
        if isinstance(item, Step) and item.hidden:
            found.append("holds hidden truth")
        if isinstance(item, dict | FrozenDict | Trace) and _seed(item) is not None:
            found.append("holds a seed")
        if numbers(item) & forbidden:
            found.append(f"holds a true value in a {type(item).__name__}")
    if any("no plain data" in words for words in found):
        return sorted(set(found))  # a trace with foreign objects cannot be serialized
    text, record = trace.to_json(include_hidden=True), pickle.dumps(trace)
    if json.loads(text)["seed"] is not None or any(step["hidden"] for step in json.loads(text)["steps"]):
        found.append("JSON has a seed or hidden truth")
    if numbers(text) & forbidden:
        found.append("JSON has a true value")
    if any(struct.pack("<d", value) in record for value in forbidden):
        found.append("the pickle has a true value")
    return sorted(set(found))


@pytest.mark.parametrize("slug", PRIVATE)
def test_nothing_true_and_no_seed_can_be_reached_from_a_secure_trace(slug):
    """By chance, a noisy number equals a true one in 1 of 500 runs, and in 3 of 5 runs with probability 10^-7."""
    met: Counter[str] = Counter()
    for _ in range(5):
        data = Neighbors(X, X, DOMAIN)
        trace = instance(ALGORITHMS[slug], epsilon=1.0, delta=1e-4).run(data, noise="secure")
        assert trace.notice == "released values only"
        forbidden = secrets(data.witness)
        apart = {value for value in forbidden if not (value / GRID).is_integer()}  # values that noise cannot produce
        again = Trace.from_json(trace.to_json())
        assert leaks(trace, apart) == leaks(again, apart) == []
        met.update({*leaks(trace, forbidden), *leaks(again, forbidden)})
        if not met:
            return
    assert met.most_common(1)[0][1] < 3, met


def secure(slug="hdpe-means"):
    data = Neighbors(X, X, DOMAIN)
    return instance(ALGORITHMS[slug], epsilon=1.0).run(data, noise="secure"), data.witness


def planted(trace, name, value):
    last = trace.steps[-1]
    step = dataclasses.replace(last, released=FrozenDict({**last.released, name: value}))
    return dataclasses.replace(trace, steps=(*trace.steps[:-1], step))


def test_the_walk_catches_a_demo_trace():
    data = Neighbors(X, X, DOMAIN)
    trace = instance(ALGORITHMS["hdpe-means"]).run(data, seed=0)
    found = leaks(trace, secrets(data.witness))
    assert {"holds a seed", "holds hidden truth", "JSON has a seed or hidden truth"} <= set(found)
    assert "holds a true value in a ndarray" in found and "the pickle has a true value" in found


def test_the_walk_catches_planted_leaks():
    trace, witness = secure()
    forbidden = secrets(witness)
    true_sums = next(e.true for e in witness.exchanges if e.true.ndim == 2)
    assert "JSON has a true value" in leaks(planted(trace, "row", freeze(X[3])), forbidden)
    assert "JSON has a true value" in leaks(planted(trace, "mean", float(X[5, 1])), forbidden)
    assert "JSON has a true value" in leaks(planted(trace, "text", f"row 3 is {X[3, 0]}"), forbidden)
    assert "the pickle has a true value" in leaks(planted(trace, "sums", freeze(true_sums)), forbidden)
    foreign = [Neighbors(X, X, DOMAIN), np.random.default_rng(0), (lambda rows: lambda: rows)(X)]
    for thing, name in zip(foreign, ("Neighbors", "Generator", "function"), strict=True):
        assert f"holds a {name}, which is no plain data" in leaks(planted(trace, "thing", thing), forbidden)
    view = np.vstack([np.zeros((1, 2)), X])[:1]  # the view holds zeros only, but its base array holds every row
    assert "holds a true value in a ndarray" in leaks(planted(trace, "view", view), forbidden)


@pytest.mark.parametrize("slug", ["pe-means", "dpm"])
def test_two_secure_runs_share_no_noise(slug):
    """By chance, two runs share noise in 3 of 10^6 pairs of runs, and so two pairs do with probability 10^-11."""
    assert not (shared_noise(slug) and shared_noise(slug))


def shared_noise(slug):
    """Return whether two secure runs have the same noise at one place, or three values in common, of 154."""
    algorithm = instance(ALGORITHMS[slug], epsilon=1.0)
    noise = []
    for _ in range(2):
        data = Neighbors(X, X, DOMAIN)
        trace = algorithm.run(data, noise="secure")
        pairs = zip(trace.ledger, data.witness.exchanges, strict=True)
        noise.append(
            [np.ravel(e.released - e.true) for entry, e in pairs if entry.mechanism in ("Gaussian", "Laplace")]
        )
    at_one_place = any(len(one) == len(other) and (one == other).any() for one, other in zip(*noise, strict=False))
    first, second = (set(np.concatenate(values).tolist()) for values in noise)
    return at_one_place or len(first & second) >= 3


def test_the_promise_of_a_secure_run_is_that_of_a_seeded_one():
    algorithm = instance(ALGORITHMS["nsm"], epsilon=1.0, delta=1e-4)
    secure_run, seeded = algorithm.run(X, domain=DOMAIN, noise="secure"), algorithm.run(X, domain=DOMAIN, seed=0)
    assert secure_run.claimed == seeded.claimed
    assert [e.cost for e in secure_run.ledger] == [e.cost for e in seeded.ledger]
