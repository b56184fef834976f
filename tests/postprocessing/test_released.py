"""What is shown of released centers: the columns along which they differ most."""

import dataclasses

import numpy as np

from dpviz.algorithms import ALGORITHMS
from dpviz.domain import Domain
from dpviz.postprocessing.released import widest


def test_the_two_columns_with_the_most_spread_between_centers_are_drawn():
    domain = Domain.box([0, 0, 0], [1, 100, 10], n_public=200)
    X = np.random.default_rng(0).uniform(0, 1, (200, 3)) * [1, 100, 10]
    trace = ALGORITHMS["pe-means"](n_clusters=2).run(X, domain=domain, seed=0)
    apart = np.array([[0.1, 49.0, 1.0], [0.9, 51.0, 9.0]])  # the widest in numbers is the least wide in its bounds
    assert widest(dataclasses.replace(trace, cluster_centers=apart)) == (0, 2)
