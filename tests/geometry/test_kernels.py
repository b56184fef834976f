"""Check the exact vote against brute force in whole numbers, and the other kernels against their definitions."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from dpviz import geometry
from dpviz.geometry import (
    GRID,
    Population,
    clip_ball,
    cluster_sums,
    fold,
    kernels,
    nearest,
    snap,
    snap_toward_zero,
    threads,
    together,
)


def brute(x, points):
    a, b = (np.rint(v / GRID).astype(object) for v in (x, points))
    return np.array([min(range(len(b)), key=lambda j: (sum((row - b[j]) ** 2), j)) for row in a])


def evolved(rng, k, children, d, spread=0.01):
    parents = snap(rng.uniform(-0.7, 0.7, (k, d)))
    points = np.concatenate(
        [parents, np.repeat(parents, children, axis=0) + spread * rng.normal(size=(k * children, d))]
    )
    return Population(snap(points), parents, np.concatenate([np.arange(k), np.repeat(np.arange(k), children)]))


@pytest.mark.parametrize("few", [0, 64])
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 16, 40])
def test_vote_equals_integer_brute_force(d, few, monkeypatch):
    monkeypatch.setattr(kernels, "_FEW_POINTS", few)
    rng = np.random.default_rng(d)
    x = snap(rng.uniform(-1, 1, (40, d)))
    for population in (Population(snap(rng.uniform(-1, 1, (23, d)))), evolved(rng, 3, 12, d)):
        np.testing.assert_array_equal(nearest(x, population), brute(x, population.points))


@pytest.mark.parametrize("spread", [1e-6, 1e-3, 0.02, 0.3])
@pytest.mark.parametrize("d", [5, 16, 40])
def test_pruned_vote_equals_the_flat_one(d, spread, monkeypatch):
    rng = np.random.default_rng(d)
    parents = rng.uniform(-0.7, 0.7, (4, d))
    x = snap(parents[rng.integers(4, size=3000)] + 0.1 * rng.normal(size=(3000, d)))
    population = evolved(rng, 4, 150, d, spread)
    flat = nearest(x, population.points)
    np.testing.assert_array_equal(nearest(x, population), flat)
    np.testing.assert_array_equal(nearest(x[:25], population), brute(x[:25], population.points))
    wrong = Population(population.points, population.parents, rng.integers(4, size=len(population.points)))
    np.testing.assert_array_equal(nearest(x, wrong), flat)  # the group is only a hint


def test_long_children_just_beyond_the_rows_of_another_cell_get_their_votes():
    rng = np.random.default_rng(0)
    parents = snap(rng.uniform(-0.5, 0.5, (4, 6)))
    x = snap(parents[rng.integers(4, size=2000)] + 0.1 * rng.normal(size=(2000, 6)))
    points = np.concatenate([parents, evolved(rng, 4, 150, 6).points[4:]])
    own = parents[((x[:, None] - parents) ** 2).sum(axis=2).argmin(axis=1)]
    outer = np.argsort(-((x - own) ** 2).sum(axis=1))[:8]
    points[20:28] = snap(own[outer] + 1.05 * (x - own)[outer])
    group = np.concatenate([np.arange(4), np.repeat(np.arange(4), 150)])
    group[20:28] = [np.abs(parents - one).sum(axis=1).argmax() for one in own[outer]]
    winners = nearest(x, Population(points, parents, group))
    np.testing.assert_array_equal(winners, nearest(x, points))
    assert set(range(20, 28)) <= set(winners[outer])


@pytest.mark.parametrize(("few", "swept"), [(0, 32), (64, 32), (64, 0)])
@pytest.mark.parametrize("d", [1, 2, 5, 16])
def test_ties_and_near_ties_go_where_integers_say(d, few, swept, monkeypatch):
    monkeypatch.setattr(kernels, "_FEW_POINTS", few)
    monkeypatch.setattr(kernels, "_SWEPT", swept)
    rng = np.random.default_rng(d)
    center = snap(rng.uniform(-0.5, 0.5, d))
    points = np.repeat(center[None], 12, axis=0)
    points[6:, 0] += GRID * np.array([1, -1, 2, -2, 0, 0])
    x = np.concatenate([center + snap(rng.uniform(-0.3, 0.3, (30, d))), center[None], np.zeros((1, d))])
    np.testing.assert_array_equal(nearest(x, points), brute(x, points))


@pytest.mark.parametrize("block", [50, 500_000])
@pytest.mark.parametrize("swept", [0, 32])
@pytest.mark.parametrize("tile", [1, 4, 512])
def test_passes_over_points_and_along_rows_find_the_same_two(block, swept, tile, monkeypatch):
    monkeypatch.setattr(kernels, "_SWEPT", swept)
    monkeypatch.setattr(kernels, "_TILE", tile)
    monkeypatch.setattr(kernels, "_BLOCK", block)
    rng = np.random.default_rng(0)
    rows, points = rng.integers(-3, 4, (200, 2)).astype(np.float32), rng.integers(-3, 4, (9, 2)).astype(float)
    scores = 0.5 * (points**2).sum(axis=1) - rows @ points.T  # scores of small whole numbers are exact and often tie
    best, least, second = kernels._two_best(np.float32, rows, points)
    np.testing.assert_array_equal(best, scores.argmin(axis=1))
    np.testing.assert_array_equal(np.column_stack([least, second]), np.sort(scores, axis=1)[:, :2])


def test_single_precision_alone_would_be_wrong():
    rng = np.random.default_rng(0)
    x = snap(rng.uniform(-1, 1, (4000, 16)))
    population = evolved(rng, 4, 200, 16, spread=1e-4)
    single = (0.5 * (population.points**2).sum(1)).astype(np.float32) - x.astype(
        np.float32
    ) @ population.points.T.astype(np.float32)
    assert (single.argmin(1) != nearest(x, population)).any()


@pytest.mark.parametrize("d", [2, 8])
def test_a_vote_depends_on_its_row_only(d, monkeypatch):
    rng = np.random.default_rng(1)
    x = snap(rng.uniform(-1, 1, (500, d)))
    population = evolved(rng, 4, 150, d, spread=1e-3)
    whole = nearest(x, population)
    order = rng.permutation(500)
    np.testing.assert_array_equal(nearest(x[order], population), whole[order])
    np.testing.assert_array_equal(np.concatenate([nearest(x[i : i + 1], population) for i in range(50)]), whole[:50])
    for block, cores in itertools.product((1, 777, 10_000), (1, 3)):
        monkeypatch.setattr(kernels, "_BLOCK", block)
        monkeypatch.setattr(threads._Libraries, "cores", cores)
        np.testing.assert_array_equal(nearest(x, population), whole)


@pytest.mark.parametrize("n", [0, 1, 500])
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5])
def test_rows_brought_together_are_the_same_rows_and_nearer_each_other(d, n):
    x = np.random.default_rng(d).uniform(-1, 1, (n, d))
    order = together(x)
    np.testing.assert_array_equal(order[np.lexsort(order.T)], x[np.lexsort(x.T)])
    steps = [np.abs(np.diff(rows[:, 0])).sum() for rows in (x, order)]
    assert d == 5 or n < 500 or steps[1] < 0.2 * steps[0]
    np.testing.assert_array_equal(together(np.ones((3, d))), np.ones((3, d)))


def test_edge_shapes():
    assert nearest(np.zeros((0, 3)), np.zeros((4, 3))).shape == (0,)
    np.testing.assert_array_equal(nearest(np.ones((5, 6)), np.zeros((1, 6))), 0)
    np.testing.assert_array_equal(nearest(np.ones((5, 2)), np.zeros((9, 2))), 0)
    with pytest.raises(ValueError, match="fewer than"):
        nearest(np.zeros((1, 2**11)), np.zeros((2, 2**11)))


def test_the_farthest_points_of_the_widest_data_are_compared_exactly():
    d = 2**11 - 1
    x = np.full((1, d), -2.0)
    far, nearer = np.full(d, 2.0), np.full(d, 2.0)
    nearer[0] -= GRID
    np.testing.assert_array_equal(kernels._nearest_exact(x, np.array([far, nearer])), [1])
    np.testing.assert_array_equal(nearest(x, np.array([far, nearer])), [1])


def test_grid():
    assert snap(1.6 * GRID) == 2 * GRID and snap_toward_zero(1.6 * GRID) == GRID
    assert snap_toward_zero(-1.6 * GRID) == -GRID


def test_cluster_sums_are_exact_and_order_free():
    rng = np.random.default_rng(0)
    x, labels = snap(rng.uniform(-1, 1, (5000, 3))), rng.integers(4, size=5000)
    sums, counts = cluster_sums(x, labels, 5)
    order = rng.permutation(5000)
    np.testing.assert_array_equal(sums, cluster_sums(x[order], labels[order], 5)[0])
    np.testing.assert_array_equal(counts, [*np.bincount(labels), 0])
    np.testing.assert_allclose(sums[2], x[labels == 2].sum(0))


@pytest.mark.parametrize(("d", "stretch"), [(3, 1.0), (40, 5.0), (784, 3.0)])
def test_a_product_is_exact_in_any_block(d, stretch):
    rng = np.random.default_rng(0)
    x, matrix = snap(rng.uniform(-1, 1, (300, d))), stretch * rng.normal(size=(d, 7)) / math.sqrt(d)
    whole = geometry.product(x, matrix, math.sqrt(d))
    np.testing.assert_allclose(whole, x @ matrix, atol=1e-5)
    for rows in (slice(0, 1), slice(17, 40)):
        np.testing.assert_array_equal(geometry.product(x[rows], matrix, math.sqrt(d)), whole[rows])
    backwards = geometry.product(x[:, ::-1], matrix[::-1], math.sqrt(d))
    np.testing.assert_array_equal(backwards, whole)  # nothing is rounded, so the order of addition does not matter


def test_inertia_against_the_definition():
    rng = np.random.default_rng(0)
    x, centers = rng.normal(size=(300, 7)), rng.normal(size=(11, 7))
    expected = ((x[:, None] - centers) ** 2).sum(2).min(1).sum()
    assert geometry.inertia(x, centers) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("n", "d"), [(50, 1), (300, 2), (2500, 2), (60, 3), (400, 8), (100, 20)])
def test_sphere_packing_stays_inside_and_spreads(n, d):
    points = geometry.sphere_pack(n, d, 2.0, np.random.default_rng(0))
    assert points.shape == (n, d)
    assert np.linalg.norm(points, axis=1).max() <= 2.0
    np.testing.assert_array_equal(points, snap(points))
    if n == 300:
        apart = np.linalg.norm(points[:, None] - points, axis=2) + 9 * np.eye(n)
        uniform = geometry.uniform_ball(n, d, 2.0, np.random.default_rng(0))
        assert apart.min() > 3 * (np.linalg.norm(uniform[:, None] - uniform, axis=2) + 9 * np.eye(n)).min()


@pytest.mark.parametrize("halving", [False, True])
def test_cube_packing(halving):
    points = geometry.pack_cube(8, 2, 1.0, np.random.default_rng(0), halving=halving)
    assert points.shape == (8, 2) and np.abs(points).max() < 1
    assert (np.linalg.norm(points[:, None] - points, axis=2) + 9 * np.eye(8)).min() > 0.2


def test_fold_has_period_4b():
    found = fold(np.array([0.3, 1.2, -1.3, 3.5, -3.2, 1, -1]), 1.0)
    np.testing.assert_allclose(found, [0.3, 0.8, -0.7, -0.5, 0.8, 1, -1])


def test_clip_ball_never_exceeds_the_radius():
    rng = np.random.default_rng(0)
    x = snap(rng.normal(size=(2000, 5)))
    clipped = np.rint(clip_ball(x, 1.0) / GRID).astype(object)
    assert max(sum(value**2 for value in row) for row in clipped) <= 2**48
    np.testing.assert_array_equal(clip_ball(x[3:4], 1.0)[0], clip_ball(x, 1.0)[3])


def test_levy_scale():
    assert kernels.levy_sigma(1.75) == pytest.approx(0.50745, abs=1e-5)
    steps = geometry.levy_steps((200_000,), np.random.default_rng(0))

    def below(m, sigma=0.50745):  # the probability that |u| < m |v|^(1/beta)
        return quad(lambda v: 2 * norm.pdf(v) * (2 * norm.cdf(m * v ** (1 / 1.75) / sigma) - 1), 0, np.inf)[0]

    median = np.median(np.abs(steps))
    assert below(median) == pytest.approx(0.5, abs=0.005)
    assert abs(below(median, sigma=0.50745**0.5) - 0.5) > 0.1, "a variance read as a standard deviation must be caught"


ERROR = 1e-3  # of a score, in the two tests below; the true errors are below 1e-6 there


def gaps(x, points):
    """Return by how much the second best score of every row exceeds the best."""
    best = np.sort(0.5 * ((x[:, None] - points[None]) ** 2).sum(axis=2), axis=1)
    return best[:, 1] - best[:, 0]


@pytest.mark.parametrize("grouped", [False, True])
def test_a_vote_is_sure_only_if_no_two_errors_could_turn_it(grouped, monkeypatch):
    """Both scores may be wrong by the bound, in opposite directions, so a sure gap exceeds twice the bound."""
    rng = np.random.default_rng(5)
    population = evolved(rng, 3, 40, 6, spread=0.05)
    i, j = rng.integers(len(population.points), size=(2, 4000))
    x = snap((population.points[i] + population.points[j]) / 2 + rng.normal(scale=0.005, size=(4000, 6)))
    monkeypatch.setattr(kernels, "_score_error", lambda dtype, d, row, point: np.full_like(row, ERROR))
    if grouped:
        _, unsure = kernels._propose_grouped(x, population.points, population.parents, population.group)
    else:
        _, unsure = kernels._propose(np.float32, x, population.points)
    gap = gaps(x, population.points)
    assert (gap[~unsure] > 2 * ERROR - 1e-5).all() and unsure[gap < 2 * ERROR - 1e-5].all()
    assert ((gap > ERROR) & (gap < 1.9 * ERROR)).sum() > 20 and (~unsure).sum() > 20


def test_a_point_is_out_of_reach_only_if_every_row_is_nearer_to_the_parents_nearest_child():
    """On a line through the parent 0, in whole numbers: a row, the nearest child on either side of 0, and a point."""
    for row, child, point in itertools.product(range(6), (-3, -2, -1, 0, 1, 2, 3), range(20)):
        some = kernels._in_reach(np.array([float(point)]), float(abs(child)), np.array([float(row)]))
        if min(abs(row - point), abs(row + point)) <= abs(row - child):
            assert some[0], (row, child, point)
    far = kernels._in_reach(np.array([9.0, 9.1]), 3.0, np.array([3.0]))
    np.testing.assert_array_equal(far, [True, False])
