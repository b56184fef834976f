"""Check that the first line of a verdict names the row or person that the bet is about."""

import dataclasses

import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.algorithms.nsm.nsm import NSM
from dpviz.datasets import load, load_sample
from pages._ui.explore.player import verdict
from pages._ui.explore.stored import more_people
from pages._ui.work.results import Result


def test_the_bet_is_on_a_row_or_on_a_person_with_several():
    flowers = load_sample("iris")
    trace = NSM(n_clusters=3).run(flowers.X, domain=flowers.domain, seed=0)
    several = dataclasses.replace(trace, claimed=dataclasses.replace(trace.claimed, rows_per_person=2))
    one, many = (verdict.written(Result("a", run, flowers), hidden=False) for run in (trace, several))
    assert "whether one flower is in the data" in one
    assert "whether one person, with up to 2 rows, is in the data" in many


@pytest.mark.parametrize(("name", "values", "words"), [
    ("town:300", {}, " (55 with 5,000 people"),
    ("town", {}, ""),
    ("town:300", {"delta": 1e-6}, ""),  # with a typed δ, the number of people does not matter
    ("iris", {}, ""),
])  # fmt: skip
def test_some_of_a_samples_people_are_told_the_bet_with_all_of_them(name, values, words):
    found = more_people(ALGORITHMS["pe-means"](n_clusters=5, **values), load(name))
    assert found.startswith(words) and bool(found) == bool(words)
