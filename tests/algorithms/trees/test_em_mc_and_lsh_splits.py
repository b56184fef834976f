"""Check EM-MC's picks, which share one cost, and LSH-Splits' tree: divergences, closed forms, path costs, clusters."""

import math
from collections import defaultdict

import numpy as np
import pytest
from scipy.stats import chisquare

from dpviz.algorithms import ALGORITHMS
from dpviz.algorithms.trees.dpm import DPM
from dpviz.algorithms.trees.em_mc import EMMC
from dpviz.algorithms.trees.lsh_splits import LSHSplits
from dpviz.domain import Domain
from dpviz.geometry import random_projection, snap
from dpviz.metrics import majority_accuracy
from dpviz.privacy.accounting import mu_of_epsilon
from dpviz.privacy.block import Block
from dpviz.privacy.costs import Cover
from dpviz.privacy.curator import ALL, Curator
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.ledger import spent
from dpviz.privacy.noise import Secure, Seeded
from dpviz.privacy.plan import Plan
from dpviz.privacy.queries import CellCover, Projection, Side
from dpviz.privacy.rows import MemorySession, Rows


def three_blobs(n=900, d=2, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=n)
    middles = np.zeros((3, d))
    middles[:, :2] = [[-0.6, -0.6], [0.6, -0.5], [0.0, 0.6]]
    return middles[labels] + rng.normal(0, 0.04, (n, d)), labels


def grids(p=2, sides=(0.5,), picks=3, shift=0.1):
    return CellCover(np.ones(p), sides, np.full((len(sides), p), shift), picks)


def curator(X, costs, seed=0, noise=None):
    domain = Domain.box(-1, 1, X.shape[1], n_public=len(X))
    source = noise or Seeded(np.random.default_rng(seed))
    return Curator(Rows(X, domain), Plan(costs), source, neighboring=Neighboring.ADD_REMOVE, n_public=len(X), hidden=[])


# Cells.


def test_a_cell_depends_on_its_row_only_and_holds_its_middle():
    rng = np.random.default_rng(0)
    x = snap(rng.uniform(-1, 1, (300, 3)))
    query = grids(3, (0.3, 0.7))
    for grid in (0, 1):
        cells = query.cells(Block(x), grid)
        np.testing.assert_array_equal(cells, [query.cells(Block(row[None]), grid)[0] for row in x])
        assert cells.min() >= 0 and cells.max() < query.size(grid)
        middles = query.middles(grid, cells)
        assert (np.abs(middles - x) <= query.sides[grid] / 2 + 1e-9).all() and (np.abs(middles) <= 1).all()


def test_projected_rows_outside_the_box_count_in_the_nearest_cell():
    projection = Projection(8 * random_projection(5, 2, np.random.default_rng(0)))
    query = CellCover(np.ones(2), (0.5,), np.zeros((1, 2)), 1, projection)
    cells = query.cells(Block(snap(np.random.default_rng(1).uniform(-1, 1, (200, 5)))), 0)
    assert cells.min() >= 0 and cells.max() < query.size(0)


@pytest.mark.parametrize("projection", [None, Projection(random_projection(6, 3, np.random.default_rng(2)))])
def test_a_row_on_a_border_is_in_one_cell_of_a_grid_whatever_its_block(projection):
    """Random shifts lie off the 2^-24 grid, but rounding must never put a row into two cells or none."""
    rng, p = np.random.default_rng(3), 6 if projection is None else 3
    query = CellCover(np.ones(p), (0.25, 0.7), rng.uniform(0, 0.25, (2, p)), 3, projection)
    borders = rng.integers(0, 9, (120, p)) * 0.25 - 1 - query.shifts[0]
    x = snap(np.clip(np.hstack([borders, np.zeros((120, 6 - p))]), -1, 1))
    for grid in (0, 1):
        together = query.cells(Block(x), grid)
        alone = np.concatenate([query.cells(Block(part), grid) for part in np.split(x, [1, 2, 50])])
        np.testing.assert_array_equal(alone, together)
        counts = np.bincount(together, minlength=query.size(grid))
        for row in range(0, 120, 17):
            without = query.cells(Block(np.delete(x, row, axis=0)), grid)
            change = counts - np.bincount(without, minlength=query.size(grid))
            assert change.sum() == 1 and np.count_nonzero(change) == 1 and change[together[row]] == 1


def test_side_splits_at_the_hyperplane():
    projection = Projection(np.array([[1.0, 0.0], [0.0, -1.0]]))
    block = Block(np.array([[0.5, 0.5], [-0.5, 0.5], [0.0, -0.5]]))
    for rows, first, second in ((block, [1, 0, 1], [0, 0, 1]), (block.take(np.array([2, 1])), [1, 0], [1, 0])):
        assert Side(projection, 0).assign(rows).tolist() == first
        assert Side(projection, 1).assign(rows).tolist() == second


# The picks.


def test_every_cell_can_be_picked_and_covered_rows_count_no_more():
    x = np.array([[-0.9, -0.9]] * 5 + [[0.9, 0.9]] * 2)
    query, session = grids(picks=4), MemorySession(Block(snap(x)))
    occupied = set(query.cells(Block(snap(x)), 0))
    for at in range(query.size(0) - len(occupied)):  # cell number `at` of those that hold no row
        picked, _ = session.noisy_cover(grids(picks=1), ALL, lambda counts, empty, at=at: len(counts) + at)
        assert picked[0, 0] not in occupied
    everyone = [
        session.noisy_cover(grids(picks=1), ALL, lambda counts, empty, at=at: at)[0][0, 0]
        for at in range(query.size(0))
    ]
    assert sorted(everyone) == list(range(query.size(0)))
    seen = []

    def largest(counts, empty):
        seen.append(counts.copy())
        return int(np.argmax(counts)) if len(counts) else 0

    _, true = session.noisy_cover(grids(sides=(0.5, 0.9), picks=2), ALL, largest)
    assert true["covered"].tolist() == [[5, 2], [0, 0]]
    assert [counts.tolist() for counts in seen] == [[5, 2], [0, 2], [], []]  # no row is left for the second grid


def test_picks_have_the_probabilities_of_the_exponential_mechanism_over_all_cells():
    X = np.array([[-0.9, -0.9]] * 12 + [[0.9, 0.9]] * 8)
    cost, draws = Cover(3.0, 0.05), 3000
    query = grids(sides=(0.9,), picks=1)
    asked = curator(X, {"cover": (cost,) * draws})
    seen = np.bincount([asked.cover("cover", query)[0, 0] for _ in range(draws)], minlength=query.size(0))
    counts = np.bincount(query.cells(Block(snap(X)), 0), minlength=query.size(0))
    p = np.exp(counts / cost.scale(1.0))
    assert 0.05 < p.max() / p.sum() < 0.9
    assert chisquare(seen, draws * p / p.sum()).pvalue > 1e-3


def test_secure_picks_and_integers():
    X, _ = three_blobs(100)
    cells = curator(X, {"cover": (Cover(5.0, 0.01),)}, noise=Secure()).cover("cover", grids())
    assert cells.shape == (1, 3) and ((cells >= 0) & (cells < grids().size(0))).all()
    draws = [Secure().integer(3) for _ in range(200)]
    assert set(draws) == {0, 1, 2}


# The cost.


def divergence(p, q, epsilon):
    return np.maximum(p - math.exp(epsilon) * q, 0).sum()


def first_covered(weight, others, picks=4000):
    """Return the probabilities that a row's cell, among empty ones, is first picked at pick 1, 2, ..., or never."""
    p = weight / (weight + others)
    t = np.arange(picks)
    return np.append(p * (1 - p) ** t, (1 - p) ** picks)


def worst_delta(e, epsilon):
    """Return the largest exact delta of very many picks from two data sets that differ in one row."""
    found = []
    for others in (1, 2, 5, 20, 100, 1000):
        with_row, without = first_covered(math.exp(e), others), first_covered(1.0, others)
        found += [divergence(with_row, without, epsilon), divergence(without, with_row, epsilon)]
    return max(found)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.2, 1e-3), (1.0, 1e-2), (1.0, 1e-6), (5.0, 0.1)])
def test_one_cost_covers_any_number_of_picks(epsilon, delta):
    e = 1 / Cover(epsilon, delta).scale(1.0)
    assert math.expm1(e) * (1 + math.log(1 / delta)) == pytest.approx(epsilon)
    assert worst_delta(e, epsilon) <= delta
    assert e > epsilon / (2 * math.log(math.e / delta))  # the weight in the paper is smaller than ours


def test_a_weight_of_epsilon_per_pick_is_caught():
    assert worst_delta(1.0, 1.0) > 0.05  # the twin ignores the leaks of picks other than the row's own


def test_the_ledger_gives_the_cost_back_and_only_add_remove_may_ask():
    X, _ = three_blobs(50)
    asked = curator(X, {"cover": (Cover(0.7, 1e-5),)})
    asked.cover("cover", grids())
    assert len(asked.ledger) == 1
    total = spent(asked.ledger, 1e-5)
    assert total.epsilon == pytest.approx(0.7) and total.delta == 1e-5
    assert Plan.from_dict(asked.plan.to_dict()) == asked.plan
    with pytest.raises(PermissionError, match="is not in the plan"):
        asked.cover("cover", grids())
    replaced = Curator(
        Rows(X, Domain.box(-1, 1, 2, n_public=50)), asked.plan, Seeded(np.random.default_rng(0)),
        neighboring=Neighboring.REPLACE, n_public=50, hidden=[],
    )  # fmt: skip
    with pytest.raises(PermissionError, match="add-remove only"):
        replaced.cover("cover", grids())


# Runs.


@pytest.mark.parametrize(("cls", "d"), [(EMMC, 2), (EMMC, 8), (LSHSplits, 8)])
def test_separated_groups_are_found(cls, d):
    X, labels = three_blobs(6000, d)
    trace = cls(n_clusters=3, epsilon=20.0).run(X, domain=Domain.box(-1, 1, d, n_public=6000), seed=0)
    assert trace.cluster_centers.shape == (3, d)
    assert majority_accuracy(X, trace.cluster_centers, labels) > 0.95


@pytest.mark.parametrize("cls", [DPM, EMMC, LSHSplits])
def test_row_order_does_not_matter(cls):
    X, _ = three_blobs(d=5)
    order = np.random.default_rng(5).permutation(len(X))
    one, two = (cls(epsilon=2.0).run(rows, domain=Domain.box(-1, 1, 5, n_public=900), seed=3) for rows in (X, X[order]))
    np.testing.assert_array_equal(one.cluster_centers, two.cluster_centers)


@pytest.mark.parametrize("cls", [EMMC, LSHSplits])
def test_no_rows_at_all_and_odd_rows(cls):
    domain = Domain.box(-1, 1, 2, n_public=60)
    for X in (np.empty((0, 2)), np.ones((1, 2)), np.full((60, 2), 0.3), 9 * np.ones((60, 2))):
        trace = cls(n_clusters=2, epsilon=1.0).run(X, domain=domain, noise="secure")
        assert np.isfinite(trace.cluster_centers).all() and (np.abs(trace.cluster_centers) <= 1).all()


def test_em_mc_spends_epsilon_in_four_releases():
    X, _ = three_blobs(d=6)
    trace = EMMC(n_clusters=4, epsilon=1.0, delta=1e-5).run(X, domain=Domain.box(-1, 1, 6, n_public=900), seed=0)
    assert [entry.name for entry in trace.ledger] == ["cover", "votes", "average.sums", "average.counts"]
    assert trace.spent.epsilon == pytest.approx(1.0) and trace.spent.delta == pytest.approx(1e-5)
    covers = [step for step in trace.steps if step.kind == "cover"]
    assert [len(step.released["cells"]) for step in covers] == [math.ceil(4 * math.log(2))] * 5
    assert all(step.n_releases == 1 for step in covers)
    sides = [step.released["side"] for step in covers]
    np.testing.assert_allclose(np.divide(sides[1:], sides[:-1]), 2)


def test_lsh_paths_cost_at_most_epsilon_and_dropped_buckets_are_not_averaged():
    X, _ = three_blobs(6000, d=4)
    trace = LSHSplits(n_clusters=3, epsilon=1.0, max_depth=6).run(X, domain=Domain.box(-1, 1, 4, n_public=6000), seed=0)
    assert trace.spent.epsilon <= trace.claimed.epsilon <= 1.0
    assert trace.claimed.epsilon == pytest.approx(1.0, rel=1e-6)
    levels = [step.released for step in trace.steps if step.kind == "split-level"]
    said = trace.steps[-1].released
    ends = {int(n) for level in levels for n, b in zip(level["nodes"], level["branched"], strict=True) if not b}
    assert set(said["nodes"].tolist()) == ends
    for above, level in zip(levels, levels[1:], strict=False):
        parents = {int(n) for n, b in zip(above["nodes"], above["branched"], strict=True) if b}
        assert {int(n) // 2 for n in level["nodes"]} == parents
        assert (level["noisy_counts"] >= level["smallest"]).all()
    per_path = defaultdict(int)
    for entry in trace.ledger:
        if entry.label == "sum":
            per_path[entry.path] += 1
    assert set(per_path.values()) == {1} and len(per_path) == len(said["nodes"])


@pytest.mark.parametrize(("epsilon", "share"), [(0.25, 0.6), (1.0, 0.6), (4.0, 0.9)])
def test_lsh_counts_and_sums_spend_the_whole_of_mu_along_a_path(epsilon, share):
    """Gaussian noise composes exactly: the squares of sensitivity / sd of the counts and of the sum add up to mu^2."""
    algorithm = LSHSplits(epsilon=epsilon, delta=1e-5, max_depth=9, sum_share=share)
    trace = algorithm.run(three_blobs(900, d=3)[0], domain=Domain.box(-1, 1, 3, n_public=900), seed=0)
    mu = mu_of_epsilon(epsilon, 1e-5)
    assert {entry.mechanism for entry in trace.ledger} == {"Gaussian"}
    sds = {entry.label: entry.scale / entry.sensitivity for entry in trace.ledger}
    assert 10 / sds["count"] ** 2 == pytest.approx((1 - share) * mu**2)
    assert 1 / sds["sum"] ** 2 == pytest.approx(share * mu**2)
    assert trace.claimed.epsilon == pytest.approx(epsilon, rel=1e-6)


def test_the_warning_of_lsh_splits_says_how_far_noise_moves_averages():
    rng = np.random.default_rng(0)
    domain = Domain.box(-1, 1, 3, n_public=900)
    warned = {}
    for share in (0.5, 0.89, 0.93, 2.0):  # noise as a share of the averages' distance from their mean
        points, weights = rng.normal(size=(9, 3)), rng.uniform(1, 99, 9)
        away = ((points - np.average(points, axis=0, weights=weights)) ** 2).sum(axis=1)
        sd = np.full(9, share * math.sqrt(np.average(away, weights=weights) / 3))
        released = {"split-means": {"points": points, "weights": weights, "sd": sd}}
        warned[share] = LSHSplits().doubts(released, domain)
    assert [bool(words) for words in warned.values()] == [False, False, True, True]
    assert "at least nine tenths as far as they lie from their mean" in warned[0.93][0]


def test_lsh_averages_that_noise_throws_as_far_as_they_lie_apart_are_announced():
    X, _ = three_blobs(6000, d=4)
    domain = Domain.box(-1, 1, 4, n_public=6000)
    assert LSHSplits(n_clusters=3, epsilon=4.0).run(X, domain=domain, seed=0).warnings == ()
    wide = Domain.box(-100, 100, 4, n_public=6000)
    (sentence,) = LSHSplits(n_clusters=3, epsilon=0.5).run(X, domain=wide, seed=0).warnings
    assert "a single center may do as well" in sentence


def test_both_are_in_teaching_order():
    there = [*ALGORITHMS][[*ALGORITHMS].index("dpm") :]
    assert there[:7] == ["dpm", "privtree", "dp-dbscan", "em-mc", "lsh-splits", "mst-kmeans", "nsm"]
