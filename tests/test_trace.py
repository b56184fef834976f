"""Check a trace as JSON: strict, versioned, and read back unchanged; any other text is refused in one sentence."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.domain import Domain
from dpviz.trace import Trace
from tests.traces import trace as run_of

X = np.random.default_rng(0).normal(scale=0.2, size=(300, 2)) + np.repeat([[-0.5, 0], [0.5, 0.2]], 150, axis=0)
DOMAIN = Domain.box(-1, 1, 2, scale="common", n_public=300, columns=["east", "north"], units=["km", "km"])


@pytest.mark.parametrize("slug", ALGORITHMS)
def test_json_is_strict_and_reads_back_to_the_same(slug):
    trace = ALGORITHMS[slug](n_clusters=2).run(X, domain=DOMAIN, seed=np.int64(3))
    text = trace.to_json(include_hidden=True)
    json.loads(text, parse_constant=pytest.fail)  # strict JSON has neither NaN nor Infinity
    again = Trace.from_json(text)
    assert again.to_json(include_hidden=True) == text
    assert again.claimed == trace.claimed and again.seed == 3 and again.domain.columns == ("east", "north")
    assert np.array_equal(again.cluster_centers, trace.cluster_centers)


def test_numpy_numbers_in_public_facts_are_written_like_others():
    domain = Domain.box(-1, 1, 2, n_public=np.int64(300), rows_per_person=np.int64(2), radius=np.float32(1))
    trace = ALGORITHMS["glloyd"](n_clusters=np.int64(2), epsilon=np.float64(1)).run(X, domain=domain, noise="secure")
    assert Trace.from_json(trace.to_json()).spent == trace.spent


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda record: record | {"schema": 99}, "cannot read schema 99"),
        (lambda record: {key: value for key, value in record.items() if key != "schema"}, "names no schema"),
        (lambda record: {key: value for key, value in record.items() if key != "plan"}, "entry 'plan' is missing"),
        (lambda record: record | {"ledger": [{"surprise": 1}]}, "has the wrong type"),
        (lambda record: record | {"version": 3}, "has the wrong type"),
        (lambda record: record | {"cluster_centers": [1]}, "has the wrong type"),
        (lambda record: [record], "names no schema"),
    ],
)
def test_a_text_that_is_not_a_trace_is_one_sentence(change, words):
    record = json.loads(ALGORITHMS["glloyd"](n_clusters=2).run(X, domain=DOMAIN, seed=0).to_json())
    with pytest.raises(ValueError, match=words):
        Trace.from_json(json.dumps(change(record)))
    for text in ("", "no json", "[" * 100_000):
        with pytest.raises(ValueError, match="not JSON"):
            Trace.from_json(text)


@pytest.mark.parametrize("slug", ALGORITHMS)
def test_a_run_that_tests_share_cannot_be_changed(slug):
    shared = run_of(slug)
    before = shared.to_json(include_hidden=True)
    records = [shared, shared.domain, shared.claimed, *shared.steps, *shared.ledger]
    for record in records:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, dataclasses.fields(record)[0].name, None)
    hidden = [part.statistic for step in shared.steps for part in step.hidden]
    for values in (*(step.released for step in shared.steps), *hidden):
        for name, value in values.items():
            with pytest.raises(TypeError):
                values[name] = None
            if isinstance(value, np.ndarray):
                with pytest.raises(ValueError, match="read-only"):
                    value[...] = 0
    with pytest.raises(ValueError, match="read-only"):
        shared.cluster_centers[...] = 0
    assert run_of(slug) is shared and shared.to_json(include_hidden=True) == before


def test_a_frame_is_taken_by_name_or_refused():
    algorithm = ALGORITHMS["glloyd"](n_clusters=2)
    frame = pd.DataFrame(X, columns=["east", "north"])
    swapped = algorithm.run(frame[["north", "east"]], domain=DOMAIN, seed=0)
    assert np.array_equal(swapped.cluster_centers, algorithm.run(X, domain=DOMAIN, seed=0).cluster_centers)
    with pytest.raises(ValueError, match="column 'north' is missing"):
        algorithm.run(frame.rename(columns={"north": "south"}), domain=DOMAIN, seed=0)
