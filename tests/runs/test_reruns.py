"""Check reruns: they equal single runs, never read private rows, and have the stated spread."""

import dataclasses

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.datasets import load
from dpviz.domain import Domain
from dpviz.metrics import normalized_loss
from dpviz.runs.reruns import matched, rerun, spread


@pytest.mark.parametrize("slug", ["kmeans", "fastlloyd"])
def test_a_rerun_is_the_run_with_that_seed(slug):
    data, steps = load("tiny"), []
    algorithm = ALGORITHMS[slug](n_clusters=2)
    found = rerun([data], algorithm, (5, 9), lambda done, total: steps.append((done, total)))
    assert steps == [(0, 2), (1, 2), (2, 2)] and found.seeds == (5, 9)
    for seed, centers, loss in zip(found.seeds, found.centers, found.losses, strict=True):
        alone = algorithm.run(data.X, domain=data.domain, seed=seed).cluster_centers
        np.testing.assert_array_equal(centers, alone)
        assert loss == normalized_loss(data.X, alone, data.domain)
    assert found.losses[found.worst] == found.losses.max()


def test_populations_take_turns():
    one, other = load("tiny"), load("tiny")
    other = dataclasses.replace(other, X=other.X[::-1] * 0.5)
    algorithm = ALGORITHMS["fastlloyd"](n_clusters=2)
    both = rerun([one, other], algorithm, (1, 1, 1))
    np.testing.assert_array_equal(both.centers[0], both.centers[2])
    assert not np.array_equal(both.centers[0], both.centers[1])


def test_private_rows_are_refused():
    private = dataclasses.replace(load("tiny"), private=True)
    with pytest.raises(PermissionError, match="simulate people instead"):
        rerun([private], ALGORITHMS["fastlloyd"](n_clusters=2), (1,))


def test_partners_are_found_whatever_their_order_and_the_spread_is_a_standard_deviation():
    domain = Domain.box(np.array([0.0, 0.0]), np.array([20.0, 20.0]))  # the half-width is 10
    anchor = np.array([[5.0, 5.0], [15.0, 15.0], [5.0, 15.0]])
    runs = [anchor[[1, 0]] + [[0.0, 0.0], [1.0, 1.0]], anchor[[0, 1]] - [[1.0, 1.0], [0.0, 0.0]], anchor[:1]]
    found = matched(runs, anchor, domain)
    np.testing.assert_array_equal(found[0, 0], [6.0, 6.0])
    np.testing.assert_array_equal(found[1, 1], [15.0, 15.0])
    assert np.isnan(found[:, 2]).all() and np.isnan(found[2, 1]).all()
    scatter = spread(runs, anchor, domain)
    assert (
        scatter[0] == pytest.approx(0.1) and scatter[1] == 0 and np.isnan(scatter[2])
    )  # 6, 4 and 5 have sd 1, a tenth of the half-width
