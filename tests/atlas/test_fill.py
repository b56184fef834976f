"""Check stops of ε that are computed on demand: they hold the method's real runs, and none is made of private rows."""

import dataclasses

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.atlas import fill
from dpviz.datasets import load_sample
from dpviz.metrics import normalized_loss


@pytest.fixture(scope="module")
def data():
    return load_sample("tiny")


def test_a_stop_holds_the_methods_own_runs(data):
    method = ALGORITHMS["dp-lloyd"](n_clusters=4, epsilon=8.0)
    yardstick, steps = fill.ground(data, 4), []
    stop = fill.stop(data, method, yardstick, lambda done, all: steps.append((done, all)))
    again = [method.run(data.X, domain=data.domain, seed=seed) for seed in range(fill.RUNS)]
    assert stop.epsilon == 8.0 and stop.bet == again[0].claimed.odds and steps[-1] == (fill.RUNS, fill.RUNS)
    for made, run in zip(stop.centers, again, strict=True):
        np.testing.assert_array_equal(made, run.cluster_centers)
    losses = [normalized_loss(data.X, run.cluster_centers, data.domain) for run in again]
    np.testing.assert_allclose(stop.losses, losses)
    assert (
        len(yardstick.centers) == 4
        and yardstick.loss < min(stop.losses)
        and max(stop.found) <= len(yardstick.groups.means)
    )


def test_private_rows_are_refused_before_anything_is_read(data):
    domain = dataclasses.replace(data.domain, n_public=40)
    private = dataclasses.replace(data, private=True, domain=domain)
    with pytest.raises(PermissionError, match="public data"):
        fill.ground(private, 3)
    with pytest.raises(PermissionError, match="public data"):
        fill.stop(private, ALGORITHMS["dp-lloyd"](n_clusters=3), fill.ground(data, 3))
