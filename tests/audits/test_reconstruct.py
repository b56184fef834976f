"""Check that rows read off Lloyd's sums and counts are right without noise, and that none can be read with noise."""

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.audits.reconstruct import Publication, exactly, published, read_off
from dpviz.datasets import load
from dpviz.geometry import snap


def rounds_of(Z, every):
    found = []
    for centers in every:
        labels = ((Z[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
        sums = np.stack([Z[labels == j].sum(axis=0) for j in range(len(centers))])
        found.append(Publication(centers, sums, np.bincount(labels, minlength=len(centers)).astype(float)))
    return found


def test_one_row_that_moves_is_read_to_the_last_bit():
    Z = snap(np.array([[-0.9, 0.0], [-0.8, 0.1], [0.05, 0.03], [0.7, 0.0], [0.9, 0.2]]))
    every = [np.array([[-0.8, 0.0], [1.0, 0.0]]), np.array([[-0.85, 0.0], [0.6, 0.0]])]
    (read,) = read_off(rounds_of(Z, every), 2.0)
    np.testing.assert_array_equal(read.row, Z[2])
    assert read.round == 1


def test_two_rows_that_move_together_are_not_taken_for_one():
    Z = snap(np.array([[-0.9, 0.0], [0.05, 0.03], [0.04, -0.02], [0.7, 0.0], [0.9, 0.2]]))
    every = [np.array([[-0.8, 0.0], [1.0, 0.0]]), np.array([[-0.85, 0.0], [0.6, 0.0]])]
    assert [read.row.tolist() for read in read_off(rounds_of(Z, every), 2.0)] == [Z[0].tolist()]


def test_a_chain_of_moves_is_explained_row_by_row():
    Z = snap(np.array([[-1, 0], [-0.9, 0.1], [-0.5, 0.02], [-0.1, 0], [0.1, 0], [0.46, 0.01], [0.9, 0], [1, 0.1]]))
    every = [np.array([[-0.7, 0], [0.1, 0], [0.9, 0]]), np.array([[-0.95, 0], [-0.2, 0], [0.7, 0]])]
    found = {tuple(read.row) for read in read_off(rounds_of(Z, every), 2.0)}
    assert tuple(Z[2]) in found and found <= {tuple(row) for row in Z}


def test_plain_lloyd_gives_people_away_and_noise_does_not():
    data = load("iris")
    lloyd = ALGORITHMS["sulloyd"](n_clusters=data.n_clusters, iterations=12, dead_cluster="keep")
    right = total = 0
    for seed in range(4):
        exact = lloyd.run(data.X, domain=data.domain, seed=seed, noise="none")
        read = read_off(published(exact), data.domain.radius)
        total += len(read)
        right += len(exactly(read, data.X, data.domain))
        noisy = lloyd.run(data.X, domain=data.domain, seed=seed)
        assert read_off(published(noisy), data.domain.radius) == []
    assert total and right >= 0.9 * total  # at least 90% of the claimed rows are right


def test_a_run_without_published_sums_is_refused():
    data = load("tiny")
    for slug, words in (("dpm", "publishes no sums"), ("fastlloyd", "clipped offsets")):
        trace = ALGORITHMS[slug](n_clusters=2).run(data.X, domain=data.domain, seed=0)
        with pytest.raises(ValueError, match=words):
            published(trace)
