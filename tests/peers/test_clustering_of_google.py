"""Repeat the tests of Google's library for private clustering, rewritten for dpviz, where they apply.

Refused here by design: multipliers that change the noise but not the accounting (a cost is the only way to a scale), a
public count of rows taken from the rows (`n_public` is declared), labels that a caller supplies for released centers
(labels follow from centers and rows). LSH-Splits takes the place of Google's LSH tree.
"""

import numpy as np
import pytest
from sklearn.cluster import KMeans

from dpviz import metrics
from dpviz.algorithms import ALGORITHMS
from dpviz.domain import Domain
from dpviz.privacy.guarantee import Notion

CENTRAL = [
    slug
    for slug, cls in ALGORITHMS.items()
    if cls.notion is not Notion.NONE and slug not in ("stemmer-kaplan-swap", "balcan", "stemmer-kaplan-local")
]
ROWS = np.array([[1.0, 0, 1], [101, 101, 99], [4, 0, 4]])
CENTERS = np.array([[0.0, 0, 0], [100, 100, 100]])


def test_the_loss_of_centers_is_that_of_the_nearest_one():
    assert metrics.inertia(ROWS, CENTERS) == pytest.approx(2 + 3 + 32)
    with pytest.raises(ValueError):
        metrics.inertia(ROWS, CENTERS[:, :2])


def test_rows_are_clipped_for_the_centers_and_not_for_the_loss():
    """Use a ball of radius 1 in a wide box: the clipped rows' mean is (.5, .6); the loss is that of unclipped rows."""
    X = np.array([[0.3, 0.2], [3.0, 4.0], [6.0, 8.0]])
    domain = Domain.box(-10, 10, 2, radius=0.1, n_public=3)  # the radius in z units
    for slug in ("sulloyd", "glloyd"):
        algorithm = ALGORITHMS[slug](n_clusters=1)
        centers = algorithm.run(X, domain=domain, seed=0, noise="none").cluster_centers
        assert centers == pytest.approx(np.array([[0.5, 0.6]]), abs=2e-6)
        assert metrics.inertia(X, centers) == pytest.approx(103.02, rel=1e-6)


def test_points_outside_a_ball_are_drawn_to_it_and_others_stay():
    domain = Domain.box(-1, 1, 4, radius=1.0)
    points = np.arange(20.0).reshape(5, 4) / 10
    clipped = domain.clip(points)
    norms = np.linalg.norm(np.clip(points, -1, 1), axis=1)
    assert clipped[norms <= 1] == pytest.approx(points[norms <= 1])
    assert np.linalg.norm(clipped[norms > 1], axis=1) == pytest.approx(1)


def test_how_well_clusters_match_known_groups():
    """Use three clusters and two groups of three rows: the clusters' main groups are right for five of six rows."""
    X = np.array([0.0, 0, 1, 1, 2, 2])[:, None]
    centers = np.array([[0.0], [1], [2]])
    assert metrics.majority_accuracy(X, centers, np.array([0, 0, 0, 1, 1, 1])) == pytest.approx(5 / 6)


@pytest.mark.parametrize("slug", CENTRAL)
def test_a_single_row_runs(slug):
    """Use one row, k = 2 and a declared size of 100: the run must not fail for lack of rows."""
    domain = Domain.box(-1, 1, 2, scale="common", n_public=100)
    trace = ALGORITHMS[slug](n_clusters=2).run(np.array([[0.3, 0.2]]), domain=domain, seed=0)
    assert np.isfinite(trace.cluster_centers).all() and np.abs(trace.cluster_centers).max() <= 1


def test_leaves_without_rows_carry_no_weight_that_spoils_the_centers():
    """Put all rows in one corner: the other cells of the tree are empty, and no center lies there."""
    X = np.random.default_rng(0).normal(0.5, 0.01, (4000, 2))
    trace = ALGORITHMS["lsh-splits"](n_clusters=1, epsilon=10.0).run(
        X, domain=Domain.box(-1, 1, 2, n_public=4000), seed=0
    )
    assert np.abs(trace.cluster_centers - 0.5).max() < 0.1
    assert (trace.coreset.weights >= 0).all() and trace.coreset.weights.sum() == pytest.approx(4000, rel=0.05)


@pytest.mark.parametrize("slug", ["sulloyd", "glloyd", "fastlloyd"])
def test_a_bad_end_at_a_large_budget_is_the_start_s_and_not_the_noise_s(slug):
    """Use three tight groups and ε = 50: a run ends badly only if it does so without noise, and k-means does so too."""
    groups = np.array([[-0.6, -0.6], [0.6, -0.5], [0.0, 0.7]])
    X = np.random.default_rng(0).normal(0, 0.05, (3000, 2)) + np.repeat(groups, 1000, axis=0)
    domain = Domain.box(-1, 1, 2, n_public=3000)
    best = metrics.inertia(X, groups)
    bad = []
    for seed in range(8):
        algorithm = ALGORITHMS[slug](n_clusters=3, epsilon=50.0)
        noisy = algorithm.run(X, domain=domain, seed=seed)
        exact = algorithm.run(X, domain=domain, seed=seed, noise="none")
        start = KMeans(3, init=np.array(noisy.steps[0].released["centers"]), n_init=1).fit(X)
        ends = [metrics.inertia(X, trace.cluster_centers) / best > 10 for trace in (noisy, exact)]
        assert ends == [start.inertia_ / best > 10] * 2
        bad.append(ends[0])
    assert 0 < sum(bad) < 8
