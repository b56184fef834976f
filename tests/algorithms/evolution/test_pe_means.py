"""Check PE-means against its specification."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs

from dpviz.algorithms.evolution.family import survivors
from dpviz.algorithms.evolution.pe_means import PEMeans
from dpviz.algorithms.kmeans import KMeans
from dpviz.domain import Domain
from dpviz.metrics import normalized_loss


def test_survivors_are_the_top_votes_that_reach_n():
    votes = np.array([5.0, 40.0, -7.0, 30.0, 30.0, 1.0])
    np.testing.assert_array_equal(survivors(votes, 40), [False, True, False, False, False, False])
    np.testing.assert_array_equal(survivors(votes, 41), [False, True, False, True, False, False])  # tie: lowest index
    np.testing.assert_array_equal(survivors(votes, 10**6), votes > 0)
    assert not survivors(np.array([-1.0, -2.0, 0.0]), 5).any()


def test_selection_with_too_few_survivors_takes_the_most_voted():
    algorithm = PEMeans(n_clusters=3)
    points = np.arange(10.0).reshape(5, 2)
    votes = np.array([-3.0, 9.0, -1.0, -2.0, 4.0])
    centers = algorithm.select(points, np.where(votes > 0, votes, 0), votes, np.random.default_rng(0))
    np.testing.assert_array_equal(centers, points[[1, 4, 2]])


def test_all_zero_histogram_still_gives_k_centers():
    algorithm = PEMeans(n_clusters=2)
    points = np.arange(8.0).reshape(4, 2)
    centers = algorithm.select(points, np.zeros(4), np.full(4, -1.0), np.random.default_rng(0))
    np.testing.assert_array_equal(centers, points[:2])


@pytest.mark.parametrize(
    ("epsilon", "d", "T"), [(1, 2, 6), (0.25, 2, 6), (2, 2, 12), (4, 2, 23), (1, 16, 16), (4, 30, 88)]
)
def test_generations(epsilon, d, T):
    assert PEMeans(epsilon=epsilon).generations(d) == T
    assert len(PEMeans(epsilon=epsilon).plan(d, 1000).costs["votes"]) == T


def test_first_variations_presets():
    assert PEMeans(n_clusters=10).first_variations(2, 10_000) == 128
    assert PEMeans(n_clusters=10).first_variations(16, 10_000) == 512
    assert PEMeans(n_clusters=10).first_variations(2, 100) == 20
    assert PEMeans.preset("paper", n_clusters=10).first_variations(2, 10_000) == 2000
    assert PEMeans.preset("authors", n_clusters=10).first_variations(2, 10_000) == 200
    assert PEMeans(n_clusters=200).first_variations(16, 10_000) == 100


def test_variations_stay_in_the_ball_and_remember_their_parent():
    algorithm = PEMeans(n_clusters=3)
    centers = np.array([[0.999, 0.0], [0.0, 0.0], [-0.5, 0.5]])
    population = algorithm.vary(centers, 50, 1.0, np.random.default_rng(0))
    assert population.points.shape == (3 + 150, 2)
    assert np.linalg.norm(population.points, axis=1).max() <= 1.0
    np.testing.assert_array_equal(population.points[:3], centers)
    steps = np.linalg.norm(population.points - centers[population.group], axis=1)
    assert np.median(steps[3:]) < 0.05


def test_adaptive_variations_read_released_values_only():
    """L, the number of variations, depends only on `signal_to_noise`, which follows from the released noisy votes."""
    X = np.random.default_rng(0).uniform(-1, 1, (60, 2))
    trace = PEMeans(n_clusters=2, epsilon=0.1).run(X, domain=Domain.box(-1, 1, 2, n_public=60), seed=0)
    halved = 0
    for before, after in zip(trace.steps, trace.steps[1:], strict=False):
        votes, kept, sd = (before.released[key] for key in ("noisy_votes", "kept", "noise_sd"))
        ratio = (np.where(kept, votes, 0.0) ** 2).sum() / (len(votes) * sd**2)
        assert ratio == pytest.approx(before.released["signal_to_noise"])
        expected = max(1, before.released["variations"] // 2) if ratio < 1 else before.released["variations"]
        assert after.released["variations"] == expected
        halved += ratio < 1
    assert halved


def test_another_epsilon_keeps_the_initial_population():
    X = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    domain = Domain.box(-1, 1, 2, n_public=200)
    first = [PEMeans(n_clusters=3, epsilon=e).run(X, domain=domain, seed=4).steps[0].released for e in (0.5, 1.0, 3.0)]
    np.testing.assert_array_equal(first[0]["population"], first[1]["population"])
    np.testing.assert_array_equal(first[0]["population"], first[2]["population"])
    assert not np.array_equal(first[0]["noisy_votes"], first[1]["noisy_votes"])


def test_spend_is_concave_and_noise_matches_the_formula():
    X, _ = make_blobs(10_000, 2, centers=15, random_state=0)
    domain = Domain.tight_nonprivate(X)
    trace = PEMeans(n_clusters=15).run(X, domain=domain, seed=0)
    assert trace.claimed.mu == pytest.approx(0.23670, abs=1e-5)
    assert trace.steps[0].released["noise_sd"] == pytest.approx(6**0.5 / trace.claimed.mu, rel=1e-9)
    assert normalized_loss(X, trace.cluster_centers, domain) < 0.0095


@pytest.mark.slow
def test_much_budget_comes_near_kmeans_and_little_does_not():
    X, _ = make_blobs(2000, 2, centers=4, random_state=3)
    domain = Domain.tight_nonprivate(X)
    reference = normalized_loss(X, KMeans(n_clusters=4).run(X, domain=domain, seed=0).cluster_centers, domain)
    losses = {
        epsilon: np.mean(
            [
                normalized_loss(
                    X, PEMeans(n_clusters=4, epsilon=epsilon).run(X, domain=domain, seed=seed).cluster_centers, domain
                )
                for seed in range(3)
            ]
        )
        for epsilon in (0.05, 20.0)
    }
    assert reference <= losses[20.0] * 1.001
    assert losses[20.0] < 1.1 * reference
    assert losses[0.05] > 1.3 * reference


@pytest.mark.slow
def test_iris_loss_is_the_specified_one():
    """The mean is within two standard errors of the specified .0644 ± .0032 (standard error, 10 seeds)."""
    X = load_iris().data
    domain = Domain.tight_nonprivate(X)
    paper = PEMeans(n_clusters=3, delta_rule="n^-1.1")
    losses = [normalized_loss(X, paper.run(X, domain=domain, seed=seed).cluster_centers, domain) for seed in range(10)]
    error = np.hypot(0.0032, np.std(losses, ddof=1) / 10**0.5)
    assert abs(np.mean(losses) - 0.0644) < 2 * error


@pytest.mark.parametrize(("reach", "warnings"), [(5, 0), (50, 1)])
def test_bounds_far_wider_than_the_data_are_one_warning(reach, warnings):
    groups = np.repeat([[-0.5, -0.5], [0.5, 0.5]], 1000, axis=0)
    trace = PEMeans(n_clusters=2).run(groups, domain=Domain.box(-reach, reach, 2, n_public=2000), seed=0)
    assert ["far wider than the data" in words for words in trace.warnings] == [True] * warnings
