"""The lines beside the picture are true: every kind of step has one, and a line costs exactly where rows are read."""

import pytest

from dpviz.algorithms import ALGORITHMS
from tests.tiers import tiers
from tests.traces import on_two_groups


@pytest.mark.parametrize("slug", ALGORITHMS)
def test_every_algorithm_has_six_to_ten_lines(slug):
    lines = ALGORITHMS[slug].CODE
    assert 6 <= len(lines) <= 10 and all(len(line.text) <= 50 for line in lines)


@pytest.mark.parametrize("d", tiers([2, 6], 1))
@pytest.mark.parametrize("slug", ALGORITHMS)
def test_lines_cost_where_the_ledger_says_so(slug, d):
    trace = on_two_groups(slug, d)
    lines = ALGORITHMS[slug].CODE
    paid: dict[str, set[str]] = {}
    before = 0
    for step in trace.steps:
        paid.setdefault(step.kind, set()).update(entry.label for entry in trace.ledger[before : step.n_releases])
        before = step.n_releases
    for kind, labels in paid.items():
        here = [line for line in lines if kind in line.kinds]
        assert here, f"no line for steps of kind {kind}"
        told = {line.label for line in here if line.label}
        assert labels - {"scatter"} <= told, f"{kind} pays for {labels}, the lines say {told}"
        if labels:
            assert told <= labels, f"{kind}: the lines name {told - labels}, which is never paid there"
