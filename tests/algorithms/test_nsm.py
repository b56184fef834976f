"""NSM against its specification: plan, free thinking on released values, and how good it is."""

import math

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from dpviz.algorithms.kmeans import KMeans
from dpviz.algorithms.nsm import NSM, _cut, _directions, _split_merge
from dpviz.domain import Domain
from dpviz.metrics import normalized_loss
from dpviz.postprocessing.weighted import lloyd_on, solve
from dpviz.privacy.accounting import mu_of_epsilon


@pytest.mark.parametrize("n", [150, 20_000])
@pytest.mark.parametrize("d", [1, 3, 4, 64, 65, 784])
@pytest.mark.parametrize("changed", [{}, {"radius_share": 0.0}, {"n_clusters": 3}, {"first_share": 0.5}])
def test_shares_add_up_to_mu_squared(n, d, changed):
    algorithm = NSM(epsilon=1.0, **changed)
    costs = algorithm.plan(d, n).costs
    mu = mu_of_epsilon(1.0, n**-1.1)
    assert sum(cost.gdp**2 for several in costs.values() for cost in several) == pytest.approx(mu**2, rel=1e-12)
    assert ("moment" in costs) == (d > 3) and ("zoom.counts" in costs) == (d <= 3)
    assert ("radius" in costs) == (n == 20_000 and algorithm.radius_share > 0)
    assert ("scatter" in costs) == (n == 20_000 and 3 < d <= 64 and algorithm.n_clusters >= 5)


def test_too_large_shares_are_one_sentence():
    with pytest.raises(ValueError, match=r"NSM \(ours\): first_share \+ histogram_share must be < 1; got 1.1"):
        NSM(first_share=0.6, histogram_share=0.5).plan(5, 1000)


def test_every_planned_release_is_made():
    for d in (2, 5, 70):
        X = np.random.default_rng(0).uniform(-1, 1, (3000, d))
        trace = NSM(n_clusters=6).run(X, domain=Domain.box(-1, 1, d, n_public=3000), seed=0)
        planned = NSM(n_clusters=6).plan(d, 3000).costs
        assert sorted(entry.name for entry in trace.ledger) == sorted(n for n, c in planned.items() for _ in c)


def test_warning_number():
    assert not NSM(n_clusters=8, epsilon=1.0).advice(2, 5000)
    (words,) = NSM(n_clusters=8, epsilon=0.1).advice(16, 1000)
    assert "noise will dominate" in words and "below 5" in words


def test_radius_is_the_edge_that_noise_cannot_explain():
    counts = np.array([3.0, -2.0, 400.0, 50.0])
    assert _cut(counts, 5.0) == 2  # 2 sqrt(3) 5 = 17.3 < 401
    assert _cut(np.array([3.0, -2.0, 4.0, 1.0]), 5.0) == 3


def test_directions_of_noise_are_nothing_and_of_a_spike_are_found():
    rng = np.random.default_rng(0)
    p, sd, n = 20, 3.0, 10_000
    noise = rng.normal(scale=sd, size=(p, p))
    noise = (noise + noise.T) / 2
    spread, _, total = _directions(noise, sd, n, 1.0)
    assert np.ptp(spread) == 0 and total <= 1
    spike = np.zeros(p)
    spike[3] = 1.0
    spread, directions, total = _directions(2000 * np.outer(spike, spike) + noise, sd, n, 1.0)
    assert abs(directions[3, spread.argmax()]) > 0.99
    assert spread.max() * n == pytest.approx(2000, rel=0.05) and total == pytest.approx(0.2, rel=0.1)


def test_split_and_merge_repairs_a_missed_cluster():
    """Clusters at +-e1 share a center, the cluster at 5 e2 has two."""
    d = 6
    truth = np.eye(d)[[0, 1, 2]] * [[1], [5], [5]]
    truth = np.vstack([truth, -truth[0]])
    centers = np.vstack([np.zeros(d), truth[1] + 0.1, truth[1] - 0.1, truth[2]])
    counts, scatter = np.array([200.0, 50.0, 50.0, 100.0]), np.array([210.0, 4.0, 4.0, 8.0])
    moment = 100 * truth.T @ truth
    fixed, split = _split_merge(centers, counts, scatter, 10.0, moment, 5.0)
    assert split.tolist() == [True, True, True, False]
    apart = np.linalg.norm(fixed[:, None] - truth[None], axis=2)
    assert apart.min(axis=0).max() < 0.1  # every true cluster has a center again
    same, split = _split_merge(centers, counts, scatter, 250.0, moment, 5.0)
    assert not split.any() and np.array_equal(same, centers)  # not while noise could explain the excess
    same, split = _split_merge(centers, counts, scatter, 10.0, moment, 1e6)
    assert not split.any()  # no direction stands out


def test_solve_with_few_points_copies_and_with_many_finds_them():
    rng = np.random.default_rng(0)
    few = np.array([[0.0, 0.0], [1.0, 1.0]])
    found = solve(few, np.ones(2), 5, rng, jitter=1e-3)
    assert found.shape == (5, 2)
    assert np.linalg.norm(found[:, None] - few, axis=2).min(axis=1).max() < 0.01
    X, _, truth = make_blobs(600, 2, centers=30, cluster_std=0.05, random_state=1, return_centers=True)
    found = solve(X, np.ones(600), 30, rng, jitter=0.0)
    assert np.linalg.norm(truth[:, None] - found, axis=2).min(axis=1).max() < 0.2


def test_an_empty_center_stays_in_weighted_lloyd():
    moved = lloyd_on(np.array([[0.0], [1.0]]), np.ones(2), np.array([[0.5], [9.0]]), 3)
    np.testing.assert_array_equal(moved, [[0.5], [9.0]])


@pytest.mark.parametrize(("d", "k", "bound"), [(2, 15, 1.03), (8, 10, 1.05)])
def test_loss_is_near_kmeans(d, k, bound):
    X = make_blobs(6000, d, centers=k, random_state=0)[0]
    for loose in (1.0, 4.0):
        tight = Domain.tight_nonprivate(X)
        half = loose * (tight.high - tight.low) / 2
        domain = Domain(tight.middle - half, tight.middle + half, "common", 1.0, 6000, origin=tight.origin)
        plain = normalized_loss(X, KMeans(n_clusters=k).run(X, domain=domain, seed=0).cluster_centers, domain)
        found = [
            normalized_loss(X, NSM(n_clusters=k).run(X, domain=domain, seed=s).cluster_centers, domain) for s in (0, 1)
        ]
        assert np.mean(found) <= bound * plain * (1 if loose == 1 else 1.2)


def test_784_columns_are_summarized_in_a_projection():
    X = make_blobs(3000, 784, centers=4, random_state=0)[0]
    domain = Domain.tight_nonprivate(X)
    trace = NSM(n_clusters=4, epsilon=2.0).run(X, domain=domain, seed=0)
    by_kind = {step.kind: step.released for step in trace.steps}
    assert by_kind["moment"]["moment"].shape == (32, 32) and trace.cluster_centers.shape == (4, 784)
    plain = KMeans(n_clusters=4).run(X, domain=domain, seed=0).cluster_centers
    assert normalized_loss(X, trace.cluster_centers, domain) < 1.5 * normalized_loss(X, plain, domain)


def test_any_k_from_the_coreset_costs_nothing():
    X = make_blobs(5000, 2, centers=6, cluster_std=0.4, random_state=3)[0]
    domain = Domain.tight_nonprivate(X)
    trace = NSM(n_clusters=6, epsilon=2.0).run(X, domain=domain, seed=0)
    coreset = trace.coreset
    for k in (3, 12):
        centers = solve(coreset.points, coreset.weights, k, np.random.default_rng(0), jitter=0.0)
        plain = KMeans(n_clusters=k).run(X, domain=domain, seed=0).cluster_centers
        ratio = normalized_loss(X, centers, domain) / normalized_loss(X, plain, domain)
        assert ratio < 1.5


def test_rows_in_one_point_still_give_centers():
    domain = Domain.box(-1, 1, 2, n_public=500)
    for X in (np.zeros((500, 2)), np.full((4, 2), 0.5), np.tile([[1.0, 1.0]], (9, 1))):
        trace = NSM(n_clusters=4, epsilon=0.5).run(X, domain=domain, seed=0)
        assert np.isfinite(trace.cluster_centers).all() and np.abs(trace.cluster_centers).max() <= math.sqrt(2) + 1e-9
