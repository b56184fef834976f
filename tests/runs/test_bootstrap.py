"""Check simulated reruns: they need released values only, never rows, and spread wider if weights are noisy."""

import dataclasses

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load
from dpviz.postprocessing.people import stand_ins
from dpviz.runs.bootstrap import MEASURED, POPULATIONS, bootstrap, near_noise, worth
from dpviz.trace import Trace
from tests.luck import same_luck


@pytest.fixture(scope="module")
def private():
    data = load("town")
    with pytest.MonkeyPatch.context() as patched:
        same_luck(patched)
        run = ALGORITHMS["nsm"](n_clusters=5, epsilon=2.0).run(data.X, domain=data.domain, noise="secure")
    return Trace.from_json(run.to_json())  # the file that left the server: nothing else is known about the rows


def test_everybody_made_up_lies_in_the_bounds_and_differs_by_the_noise_alone(private):
    made = stand_ins(private, 1000, 3, np.random.default_rng(1))
    assert [X.shape for X in made] == [(1000, 2)] * 3
    for X in made:
        assert (X >= private.domain.low).all() and (X <= private.domain.high).all()
    assert not np.array_equal(made[0], made[1])
    quiet = dataclasses.replace(private.coreset, sd=np.zeros_like(private.coreset.sd))
    same = stand_ins(dataclasses.replace(private, coreset=quiet), 1000, 3, np.random.default_rng(1))
    np.testing.assert_array_equal(same[0], same[1])  # without noise in the weights, all simulated populations are equal


def test_the_cloud_follows_from_the_release_alone_and_lies_around_it(private):
    algorithm = ALGORITHMS["nsm"](n_clusters=5, epsilon=2.0)
    one, other = (bootstrap(private, algorithm, range(1, 4)) for _ in range(2))
    for centers, again in zip(one.centers, other.centers, strict=True):
        np.testing.assert_array_equal(centers, again)
        gaps = np.linalg.norm(np.asarray(private.cluster_centers)[:, None] - centers[None], axis=2).min(axis=1)
        assert (gaps < 1.0).all()  # in km; the groups are 5 km apart
    assert len({id(centers) for centers in one.centers}) == 3 <= POPULATIONS


@pytest.mark.parametrize("slug", ["pe-means", "fastlloyd", "dpm"])
def test_other_families_are_made_up_from_votes_or_sizes(slug):
    data = load("tiny")
    trace = ALGORITHMS[slug](n_clusters=2, epsilon=4.0).run(data.X, domain=data.domain, seed=0)
    (made,) = stand_ins(trace, 60, 1, np.random.default_rng(0))
    assert made.shape == (60, 2) and np.isfinite(made).all()


def test_what_released_no_sizes_makes_up_nobody():
    data = load("tiny")
    trace = ALGORITHMS["kmeans"](n_clusters=2).run(data.X, domain=data.domain, seed=0)
    with pytest.raises(ValueError, match="released no sizes"):
        stand_ins(trace, 60, 1, np.random.default_rng(0))


def test_a_group_near_the_noise_is_counted(private):
    assert near_noise(private) == 0
    data = load("tiny")  # 40 people
    run = ALGORITHMS["fastlloyd"](n_clusters=2, epsilon=0.25).run(data.X, domain=data.domain, seed=0)
    assert near_noise(run) == 2


def test_what_was_measured_is_told_by_its_worst_and_best():
    low, high = worth("nsm")
    values = [value for pair in MEASURED["nsm"].values() for value in pair]
    assert low == min(values) and high == max(values) and worth("em-mc") is None
