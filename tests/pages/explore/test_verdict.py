"""Check that the first line of a verdict names the row or person that the bet is about."""

import dataclasses

import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.algorithms.nsm.nsm import NSM
from dpviz.datasets import load, load_sample
from dpviz.params import specs
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


def at(slug, epsilon):
    """Return a finished run of a method at one ε; only its public values are those of the method."""
    town, algorithm = load("town:3000"), ALGORITHMS[slug](n_clusters=3, epsilon=epsilon)
    trace = NSM(n_clusters=3).run(town.X[:50], domain=town.domain, seed=0)
    promise = algorithm.guarantee(town.domain.n_features, town.n_public)
    fields = {field.name: getattr(algorithm, field.name) for field in dataclasses.fields(algorithm)}
    return Result("a", dataclasses.replace(trace, algorithm=slug, parameters=fields, claimed=promise), town)


@pytest.mark.parametrize("slug", [slug for slug, one in ALGORITHMS.items() if "epsilon" in specs(one)])
def test_what_twice_the_epsilon_costs_is_what_a_run_with_it_promises(slug):
    assert verdict.twice(at(slug, 2.0)) == at(slug, 4.0).trace.claimed
    highest = specs(ALGORITHMS[slug])["epsilon"].high
    assert verdict.twice(at(slug, highest)) is None


def test_a_shuffled_run_with_twice_the_epsilon_is_not_one_with_twice_the_promise():
    assert [at("stemmer-kaplan-shuffle", epsilon).trace.claimed.odds for epsilon in (2.0, 4.0)] == [74, 99]
