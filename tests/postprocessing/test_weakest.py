"""Check that the sentences on a comparison name the planted cause, and use released values alone."""

import dataclasses

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load_sample
from dpviz.domain import Domain
from dpviz.postprocessing.released import center_noise
from dpviz.postprocessing.weakest import sentences, shares, weakest
from tests.traces import trace

TOWN = load_sample("town")


def run(slug, X=TOWN.X, domain=TOWN.domain, seed=0, **values):
    return ALGORITHMS[slug](**values).run(X, domain=domain, seed=seed)


def test_shares_are_those_of_the_plan_and_add_up_to_one():
    lloyd = shares(trace("glloyd", "town", n_clusters=5, epsilon=1.0))
    assert lloyd == {"update": pytest.approx(1.0)}
    dpm = ALGORITHMS["dpm"](epsilon=1.0, count_share=0.2, split_share=0.4).run(TOWN.X, domain=TOWN.domain, seed=0)
    found = shares(dpm)
    assert set(found) == {"split", "average", "count"} and sum(found.values()) == pytest.approx(1)
    assert found["split"] == pytest.approx(0.4, abs=0.01) and found["count"] == pytest.approx(0.2, abs=0.01)


def test_a_tree_that_cuts_nothing_is_told_by_its_first_cut():
    rows = np.random.default_rng(1).normal(0, 0.02, (60, 2))  # one small heap: no cut leaves enough on both sides
    told = [run("dpm", rows, Domain.box(-1, 1, 2, n_public=60), seed, epsilon=0.2) for seed in range(12)]
    whole = [one for one in told if not one.steps[0].released["accepted"] and "child_counts" in one.steps[0].released]
    assert len(whole) >= 3
    for one in whole:
        assert "its first cut left about" in weakest(one).words and "it stopped with one region" in weakest(one).words
        least = min(one.steps[0].released["child_counts"])
        assert weakest(one).times == pytest.approx(max(least, 0) / one.steps[0].released["child_sd"])


def test_a_tiny_group_is_the_weakest_signal_and_a_loud_budget_is_clear():
    rng = np.random.default_rng(0)
    heaps = [rng.normal(at, 0.02, (n, 2)) for at, n in (((-0.6, 0), 3000), ((0.6, 0.1), 3000), ((0, -0.6), 25))]
    rows = np.concatenate(heaps)
    faint = run("glloyd", rows, Domain.box(-1, 1, 2, n_public=6025), n_clusters=3, epsilon=0.3)
    assert weakest(faint).times < 3
    loud = run("glloyd", rows, Domain.box(-1, 1, 2, n_public=6025), n_clusters=3, epsilon=50.0)
    assert weakest(loud).times > 3
    first, second = sentences([loud, faint])
    assert first.startswith("B spent 100% on sums and counts of its rounds; ") and "clear" not in first
    assert second.startswith("A ") and "even its weakest signal is clear" in second


def test_with_losses_the_worst_comes_first_and_kmeans_has_no_sentence():
    runs = [trace("pe-means", "town", n_clusters=5, epsilon=1.0), trace("kmeans", "town", n_clusters=5),
            trace("nsm", "town", n_clusters=5, epsilon=1.0)]  # fmt: skip
    told = sentences(runs, "people", [1.01, 1.0, 1.5])
    assert [words.split(" spent")[0] for words in told] == ["C (1.50 × KMeans)", "A (1.01 × KMeans)"]
    least = center_noise(runs[0]).sizes.min()
    assert (
        f"100% on votes; even its weakest signal is clear: its smallest center counts about {least:,.0f} p" in told[1]
    )


@pytest.mark.parametrize("slug", sorted(slug for slug, cls in ALGORITHMS.items() if slug != "kmeans"))
def test_every_method_has_a_sentence_that_no_secret_changes(slug):
    mine = trace(slug, "iris", n_clusters=3, epsilon=1.0)
    (words,) = sentences([mine])
    assert words.startswith("A spent ") and "nan" not in words and words.endswith(".")
    bare = dataclasses.replace(mine, steps=tuple(dataclasses.replace(step, hidden=()) for step in mine.steps))
    assert sentences([bare]) == [words]
