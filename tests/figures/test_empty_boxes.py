"""Check that a player's panels can be drawn for few rows; `Panel` refuses a side panel that is empty at a step."""

import dataclasses

import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load_sample
from dpviz.figures import View, pane
from dpviz.figures.kit.theme import LIGHT
from tests.figures.panes import ONE_OF_A_PANE
from tests.tiers import tiers


@pytest.mark.parametrize("slug", tiers(ALGORITHMS, ONE_OF_A_PANE))
def test_three_rows_are_drawn(slug):
    """So few rows leave groups and cells empty; a side panel that shows nothing would be refused."""
    data = load_sample("tiny")
    domain = dataclasses.replace(data.domain, n_public=3)
    trace = ALGORITHMS[slug](n_clusters=1).run(data.X[:3], domain=domain, seed=0)
    for hidden in (True, False):
        people = {"people": data.X[:3], "hidden": True} if hidden else {}
        assert pane(trace).panels(View(trace, LIGHT, (0, 1), data.columns, data.units, **people))
