"""Check HDPE-means, Aug-PE and the refining step: shares of the budget, noise vectors, projection, and top-k voting."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from dpviz.algorithms.evolution.aug_pe import AugPE
from dpviz.algorithms.evolution.hdpe_means import HDPEMeans
from dpviz.algorithms.evolution.pe_means import PEMeans
from dpviz.algorithms.kmeans import KMeans
from dpviz.domain import Domain
from dpviz.metrics import normalized_loss


def share(costs, plan):
    total = sum(cost.mu**2 for entries in plan.costs.values() for cost in entries)
    return sum(cost.mu**2 for cost in costs) / total


@pytest.mark.parametrize("final_share", [0.2, 0.5, 0.8, None])
def test_hdpe_spends_the_whole_budget_in_the_declared_shares(final_share):
    algorithm = HDPEMeans(epsilon=2.0, delta=1e-6, final_share=final_share)
    plan = algorithm.plan(100, 10_000)
    T = algorithm.generations(16)
    assert len(plan.costs["votes"]) == T - 2
    assert plan.total(1e-6).epsilon == pytest.approx(2.0)
    last = [*plan.costs["recover.sums"], *plan.costs["recover.counts"]]
    assert share(last, plan) == pytest.approx(2 / T if final_share is None else final_share)
    if final_share is None:
        assert last[0].mu == pytest.approx(last[1].mu) == pytest.approx(plan.costs["votes"][0].mu)


def test_hdpe_noise_is_a_vector_not_one_number():
    """The published code adds one scalar to all coordinates, so differences between coordinates are exact."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-0.1, 0.1, (400, 30))
    domain = Domain.box(-1, 1, 30, n_public=400)
    trace = HDPEMeans(n_clusters=2, epsilon=0.5, delta=1e-3).run(X, domain=domain, seed=0)
    recovery = trace.steps[-1]
    true = recovery.hidden[0].statistic
    noisy = recovery.released["centers"] * np.maximum(recovery.released["noisy_counts"], 1)[:, None]
    noise = noisy - true["sums"]
    assert np.linalg.matrix_rank(noise - noise.mean(axis=1, keepdims=True), tol=1e-3) == 2
    assert noise.std(axis=1).min() > 0.1 * trace.ledger[-2].scale


def test_hdpe_projects_only_where_there_is_something_to_gain():
    algorithm = HDPEMeans(projected_features=16)
    assert (algorithm.columns(4), algorithm.columns(64)) == (4, 16)


def test_refine_spends_its_share():
    plan = PEMeans(epsilon=1.0, delta=1e-5, refine=0.5).plan(4, 1000)
    last = [*plan.costs["refine.sums"], *plan.costs["refine.counts"]]
    assert share(last, plan) == pytest.approx(0.5) and plan.total(1e-5).epsilon == pytest.approx(1.0)
    assert PEMeans.preset("paper").refine == 0 and "refine.sums" not in PEMeans().plan(4, 1000).costs


@pytest.mark.slow
def test_a_cluster_dies_out_under_top_k_voting_and_lives_under_k_means():
    """Repeat the paper's Fig. 1 on four groups, with 5 seeds and hardly any noise."""
    ratios = {PEMeans: [], AugPE: []}
    for seed in range(5):
        X = make_blobs(1000, 2, centers=4, random_state=seed)[0]
        domain = Domain.tight_nonprivate(X)
        best = normalized_loss(X, KMeans(n_clusters=4).run(X, domain=domain, seed=0).cluster_centers, domain)
        for cls, found in ratios.items():
            trace = cls(n_clusters=4, epsilon=20.0, delta=1e-3).run(X, domain=domain, seed=seed)
            found.append(normalized_loss(X, trace.cluster_centers, domain) / best)
    assert np.mean(ratios[PEMeans]) <= 1.2 and max(ratios[PEMeans]) <= 1.5
    assert np.mean(ratios[AugPE]) >= 2.0
