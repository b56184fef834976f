"""Check metrics against scikit-learn or against their definitions."""

import numpy as np
import pytest
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.metrics import silhouette_score

from dpviz import metrics
from dpviz.algorithms import ALGORITHMS
from dpviz.domain import Domain

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(c, 0.3, (40, 2)) for c in ([0, 0], [3, 0], [0, 3])])
LABELS = np.repeat([0, 1, 2], 40)
CENTERS = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])


def test_inertia_is_sklearns():
    model = SklearnKMeans(3, n_init=1, random_state=0).fit(X)
    assert metrics.inertia(X, model.cluster_centers_) == pytest.approx(model.inertia_)


def test_normalized_loss_units_and_order():
    domain = Domain.box(-10, 10, 2)
    assert metrics.normalized_loss(X, CENTERS, domain) == pytest.approx(metrics.inertia(X, CENTERS) / 120 / 100)
    assert metrics.normalized_loss(X, CENTERS[::-1]) == pytest.approx(metrics.normalized_loss(X, CENTERS))
    dirty = np.vstack([X, [[np.nan, 0]]])
    assert metrics.normalized_loss(dirty, CENTERS) == pytest.approx(metrics.normalized_loss(X, CENTERS))


def test_accuracies_differ_when_there_are_more_clusters_than_labels():
    assert metrics.majority_accuracy(X, CENTERS, LABELS) == metrics.hungarian_accuracy(X, CENTERS, LABELS) == 1
    split = np.vstack([CENTERS, [[0.1, 0.1]]])
    assert metrics.majority_accuracy(X, split, LABELS) == 1 > metrics.hungarian_accuracy(X, split, LABELS)


def test_kmeans_distance_in_both_directions():
    there, back = metrics.kmeans_distance(CENTERS[:1], CENTERS)
    assert (there, back) == (0, pytest.approx(2.0))


def test_matched_mse_ignores_order():
    assert metrics.matched_center_mse(CENTERS[[2, 0, 1]], CENTERS) == 0
    assert metrics.matched_center_mse(CENTERS + [0.1, 0], CENTERS) == pytest.approx(0.01)


def test_silhouette_and_davies_bouldin():
    assert metrics.silhouette(X, CENTERS, RNG) == pytest.approx(silhouette_score(X, LABELS))
    assert metrics.silhouette(X, CENTERS[:1], RNG) == -1
    assert metrics.davies_bouldin(X, CENTERS) < 0.5 and np.isnan(metrics.davies_bouldin(X, CENTERS[:1]))


def test_loss_auc_is_the_trapezoid_in_any_order():
    assert metrics.loss_auc([0.25, 0.5, 1], [4, 2, 2]) == pytest.approx(0.75 + 1)
    assert metrics.loss_auc([1, 0.25, 0.5], [2, 4, 2]) == pytest.approx(1.75)


@pytest.mark.parametrize("slug", ["kmeans", "pe-means"])
def test_loss_path_ends_at_the_loss_of_the_result(slug):
    domain = Domain.box(-5, 5, 2, n_public=120)
    trace = ALGORITHMS[slug](n_clusters=3).run(X, domain=domain, seed=0)
    path = metrics.loss_path(trace, X)
    assert len(path) == len(trace.steps)
    assert path[-1] == pytest.approx(metrics.normalized_loss(X, trace.cluster_centers, domain))


def test_quality_gives_both_accuracies_and_both_directions():
    X = np.repeat([[-5.0, 0.0], [5.0, 0.0]], 50, axis=0)
    labels = np.repeat([0, 1], 50)
    domain = Domain.box(-10, 10, 2)
    three = np.array([[-5.0, 0.0], [5.0, 0.0], [5.0, 4.0]])
    found = metrics.quality(X, three, X[[0, -1]], domain, labels)
    assert found["majority accuracy"] == found["one-to-one accuracy"] == 1.0 and found["centers"] == 3
    assert found["loss"] == 0 and found["silhouette"] == 1.0
    assert found["distance to KMeans"] == pytest.approx(4 / 3 / np.hypot(20, 20))
    assert found["distance from KMeans"] == 0
    one = metrics.quality(X, np.array([[0.0, 0.0]]), X[[0, -1]], domain, labels)
    assert one["silhouette"] == -1 and one["majority accuracy"] == 0.5 and one["loss"] == pytest.approx(0.25)
    assert "majority accuracy" not in metrics.quality(X, three, three, domain)
