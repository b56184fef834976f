"""Check DP-EM: rows' shares in groups, moments without noise, shapes, and a case in which it beats hard assignment."""

import numpy as np
import pytest

from dpviz.algorithms.dp_em import DPEM
from dpviz.domain import Domain
from dpviz.figures import View, dp_em
from dpviz.figures.kit.theme import LIGHT
from dpviz.privacy.accounting import mu_of_epsilon
from dpviz.privacy.block import Block
from dpviz.privacy.queries import MixtureMoments

DOMAIN = Domain.box(-1, 1, 2, n_public=6000)


def long_clusters(n=6000, seed=0):
    """Return two elongated clusters side by side, and their common covariance."""
    rng = np.random.default_rng(seed)
    root = np.array([[0.25, 0.0], [0.1, 0.05]])
    X = rng.normal(size=(n, 2)) @ root.T + np.where(np.arange(n)[:, None] % 2, [-0.4, 0.6], [0.4, -0.6])
    return np.clip(X, -1, 1), root @ root.T


def gaussian(mean, covariance, x):
    off = x - mean
    return np.exp(-0.5 * np.einsum("ni,ij,nj->n", off, np.linalg.inv(covariance), off)) / np.sqrt(
        np.linalg.det(covariance)
    )


def test_shares_are_bayes_rule_and_never_add_up_to_more_than_one():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (300, 2))
    means = np.round(rng.uniform(-0.5, 0.5, (3, 2)), 2)
    means = np.trunc(means * 2**10) / 2**10
    covariances = np.array([[[0.2, 0.05], [0.05, 0.1]], [[0.1, 0.0], [0.0, 0.3]], [[0.05, -0.01], [-0.01, 0.04]]])
    weights = np.array([0.5, 0.3, 0.2])
    roots = np.linalg.inv(np.linalg.cholesky(covariances))
    scores = np.log(weights) + np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
    query = MixtureMoments(means, roots, scores, 1.5)
    shares = query.shares(X)
    dense = np.array([w * gaussian(m, c, X) for w, m, c in zip(weights, means, covariances, strict=True)])
    np.testing.assert_allclose(shares, dense / dense.sum(axis=0), atol=2 / 256)
    assert shares.sum(axis=0).max() <= 1
    moments = query.statistic(Block(np.trunc(X * 2**24) / 2**24))
    off = X - means[0]
    np.testing.assert_allclose(moments["sums"][0], (shares[0][:, None] * off).sum(axis=0), atol=0.2)
    wanted = np.einsum("n,ni,nj->ij", shares[0], off, off)
    np.testing.assert_allclose(moments["scatters"][0] * query.unit**2, wanted, rtol=0.05, atol=0.2)


def test_the_shares_of_a_row_do_not_depend_on_other_rows():
    rng = np.random.default_rng(1)
    X = np.trunc(rng.uniform(-1, 1, (400, 3)) * 2**24) / 2**24
    query = MixtureMoments(np.zeros((5, 3)), rng.normal(size=(5, 3, 3)), rng.normal(size=5), 1.0)
    together = query.shares(X)
    alone = np.concatenate([query.shares(X[i : i + 1]) for i in range(len(X))], axis=1)
    np.testing.assert_array_equal(together, alone)


def test_the_budget_is_split_over_rounds_and_moments():
    plan = DPEM(epsilon=1.0, delta=1e-5, iterations=4).plan(2, 1000).costs
    assert {name: len(costs) for name, costs in plan.items()} == dict.fromkeys(
        ("update.counts", "update.sums", "update.scatters"), 4
    )
    squares = {name: sum(cost.mu**2 for cost in costs) for name, costs in plan.items()}
    assert sum(squares.values()) == pytest.approx(mu_of_epsilon(1.0, 1e-5) ** 2)
    assert squares["update.sums"] == pytest.approx(2 * squares["update.counts"])


def test_shapes_are_found_and_drawn():
    X, wanted = long_clusters()
    trace = DPEM(n_clusters=2, epsilon=4.0).run(X, domain=DOMAIN, seed=1)
    last = trace.steps[-1]
    means = last.released["centers"]
    means = means[np.argsort(means[:, 0])]
    np.testing.assert_allclose(means, [[-0.4, 0.6], [0.4, -0.6]], atol=0.06)
    for covariance in last.released["covariances"]:
        direction = np.linalg.eigh(covariance)[1][:, -1]
        assert abs(direction @ np.linalg.eigh(wanted)[1][:, -1]) > 0.97
        np.testing.assert_allclose(covariance, wanted, atol=0.025)
    flat = DPEM(n_clusters=2, epsilon=4.0, covariance="diagonal").run(X, domain=DOMAIN, seed=1)
    assert all((c[0, 1], c[1, 0]) == (0, 0) for c in flat.steps[-1].released["covariances"])
    line = dp_em.ellipses(View(trace, LIGHT, (0, 1), ("a", "b"), ("", "")), last, np.array([True, False]))
    around = line[~np.isnan(line).any(axis=1)] - last.released["centers"][0]
    inverse = np.linalg.inv(last.released["covariances"][0])
    np.testing.assert_allclose(np.einsum("ni,ij,nj->n", around, inverse, around), 4.0, rtol=1e-6)


def test_a_gaussian_without_rows_stays_as_it_was():
    X = np.full((2000, 2), 0.5)
    trace = DPEM(n_clusters=6, epsilon=1.0, iterations=3).run(X, domain=Domain.box(-1, 1, 2, n_public=2000), seed=0)
    dead = trace.steps[1].released["dead"]
    assert dead.any()
    before, after = trace.steps[0].released, trace.steps[1].released
    np.testing.assert_array_equal(after["covariances"][dead], before["covariances"][dead])
    np.testing.assert_allclose(after["centers"][dead], before["centers"][dead], atol=1e-6)
