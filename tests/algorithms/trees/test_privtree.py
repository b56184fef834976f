"""Check PrivTree: the price of a whole tree by brute force, floor and decay, boxes, and the clusters found."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest, laplace
from sklearn.cluster import KMeans

from dpviz.algorithms.trees.privtree import PrivTree
from dpviz.audits.witness import LOG_RATIO, Neighbors
from dpviz.datasets import load_sample
from dpviz.domain import Domain
from dpviz.figures import View
from dpviz.figures.kit.theme import LIGHT
from dpviz.figures.trees import privtree
from dpviz.metrics import normalized_loss
from dpviz.privacy.costs import Halving
from dpviz.privacy.curator import Curator
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.noise import Seeded
from dpviz.privacy.plan import Plan
from dpviz.privacy.queries import BoxCounts, Halvings
from dpviz.privacy.rows import Rows

DOMAIN = Domain.box(-1, 1, 2, n_public=100)


class Recorded(Seeded):
    """A noise source that returns 0 and records the requested scales."""

    def __init__(self):
        self.scales = []

    def laplace(self, scale, shape):
        self.scales.append(scale)
        return np.zeros(shape)


def curator(X, cost, noise, neighboring=Neighboring.ADD_REMOVE):
    rows = Rows(X, DOMAIN)
    return Curator(rows, Plan({"tree": (cost,)}), noise, neighboring=neighboring, n_public=100, hidden=[])


def cost_of_path(counts, scale, threshold=0.0):
    """Return the log ratio of the chances to halve every box on a path with and without one more row in each box."""
    decay = scale * math.log(2)
    depth = np.arange(len(counts))
    with_row, without = (np.maximum(c - depth * decay, threshold - decay) for c in (counts + 1, counts))
    return float((laplace.logsf((threshold - with_row) / scale) - laplace.logsf((threshold - without) / scale)).sum())


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_no_path_of_any_tree_costs_more_than_its_epsilon(epsilon):
    """Try many sequences of counts that fall along a path, including the worst one of the proof."""
    scale = Halving(epsilon).scale(1.0)
    rng, worst = np.random.default_rng(0), 0.0
    shapes = [np.full(24, c) for c in (0.0, 1.0, 3.0, 10.0, 40.0, 200.0)]
    shapes += [np.arange(24)[::-1] * step for step in (0.2 * scale, 0.7 * scale, scale, 2 * scale)]
    shapes += [np.sort(rng.integers(0, int(20 * scale) + 2, 24))[::-1] for _ in range(300)]
    grow = scale * math.log(2) * np.arange(24)[::-1]  # biased counts that stay at the threshold as long as possible
    shapes += [np.floor(grow + shift) for shift in np.linspace(-2 * scale, 2 * scale, 41)]
    constant = np.full(24, scale * math.log(2) * 23)  # all rows in one box of each depth
    shapes += [np.floor(constant + shift) for shift in np.linspace(-2 * scale, 8 * scale, 41)]
    for counts in shapes:
        for threshold in (0.0, 5.0):
            worst = max(worst, cost_of_path(np.maximum(np.asarray(counts, dtype=float), 0), scale, threshold))
    assert worst <= epsilon * (1 + 1e-9)
    assert worst > 0.6 * epsilon  # half of this scale would exceed epsilon


def test_the_curator_takes_off_the_decay_and_never_below_the_floor():
    X = np.full((6, 2), 0.9)
    noise = Recorded()
    scale = Halving(3.0).scale(1.0)
    assert scale == pytest.approx(1.0)
    asked = curator(X, Halving(3.0), noise)
    nodes, halved = asked.grow("tree", Halvings(np.ones(2), 20))
    # 6 - i ln 2 > 0 for i <= 8: boxes with all rows are halved at depths 0 to 8, all others are at the floor -ln 2
    assert [int(n).bit_length() - 1 for n in nodes[halved]] == list(range(9))
    assert len(nodes) == 2 * halved.sum() + 1 and set(noise.scales) == {1.0}
    (entry,) = asked.ledger
    assert (entry.mechanism, entry.sensitivity, entry.scale, entry.shape) == ("Halving", 1.0, 1.0, ())

    class Constant(Recorded):
        def __init__(self, noise):
            self.noise = noise

        def laplace(self, scale, shape):
            return np.full(shape, self.noise)

    for sign, count in ((-1, 1), (1, 2**5 - 1)):  # an empty box at the floor needs noise of ln 2, whatever its depth
        noise = Constant(math.log(2) + sign * 1e-9)
        _, halved = curator(X[:0], Halving(3.0), noise).grow("tree", Halvings(np.ones(2), 5))
        assert halved.sum() == count


def test_boxes_of_one_depth_are_halved_by_noise_of_their_own():
    """Siblings with biased counts at the threshold are each halved in half of the runs, and differ in half of them."""
    X = np.repeat([[-0.5, 0.0], [0.5, 0.0]], 50, axis=0)
    tree = Halvings(np.ones(2), 2, 50 - math.log(2))  # the biased count of 50 rows at depth 1 and scale 1
    runs, halved = 400, []
    for seed in range(runs):
        nodes, cut = curator(X, Halving(3.0), Seeded(np.random.default_rng(seed))).grow("tree", tree)
        assert nodes[:3].tolist() == [1, 2, 3] and cut[0]
        halved.append(cut[1:3])
    left, right = np.array(halved).T
    for often in (left.sum(), right.sum(), (left != right).sum()):
        assert binomtest(int(often), runs, 0.5).pvalue > 1e-6


def test_a_tree_is_for_add_remove_only_and_nothing_is_drawn_before_that():
    for relation in (Neighboring.REPLACE, Neighboring.MOVE_RHO):
        asked = curator(np.zeros((3, 2)), Halving(1.0), Recorded(), relation)
        with pytest.raises(PermissionError, match="add-remove only"):
            asked.grow("tree", Halvings(np.ones(2), 3))
        assert not asked.ledger


def test_boxes_of_one_depth_tile_the_root_and_counts_are_rows_in_them():
    tree = Halvings(np.array([1.0, 0.6]), 6)
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, (400, 2)) * [1.0, 0.6]
    rows = Rows(x, Domain.box([-1, -0.6], [1, 0.6], scale="common", n_public=400))
    nodes = np.arange(16, 32)
    counts = BoxCounts(tree.half, tuple(nodes.tolist())).statistic(rows.open()._blocks[0])[""]
    for node, count in zip(nodes, counts, strict=True):
        low, high = tree.box(int(node))
        assert count == ((x >= low) & (x < high)).all(axis=1).sum()
    assert counts.sum() == 400
    low, high = tree.box(2)
    np.testing.assert_allclose([low, high], [[-1, -0.6], [0, 0.6]])  # the widest column first
    for wrong in ((2, 2), (2, 5), (1, 7)):
        with pytest.raises(ValueError, match="disjoint"):
            BoxCounts(tree.half, wrong)


def test_the_log_ratio_of_a_tree_is_that_of_both_neighbors():
    X = np.vstack([np.full((9, 2), 0.4), [[0.4, 0.4]]])
    rows = Neighbors(X, X[:-1], DOMAIN)
    trace = PrivTree(n_clusters=1, epsilon=2.0, max_depth=5).run(rows, seed=3)
    exchange = rows.witness.exchanges[0]
    (halved, depth, threshold), mine, theirs = exchange
    assert threshold == 0 and (mine - theirs).max() == 1 and depth.max() <= 4
    ratio = LOG_RATIO["Halving"](trace.ledger[0], exchange)
    assert 0 < abs(ratio) <= 1.0 * (1 + 1e-9)
    path = halved & (mine > theirs)
    scale = trace.ledger[0].scale
    leaf = ~halved & (mine > theirs)
    wanted = cost_of_path(theirs[path], scale)
    if leaf.any():
        i = int(depth[leaf][0])
        with_row, without = (
            max(c - i * scale * math.log(2), -scale * math.log(2)) for c in (mine[leaf][0], theirs[leaf][0])
        )
        wanted += laplace.logcdf(-with_row / scale) - laplace.logcdf(-without / scale)
    assert ratio == pytest.approx(wanted)


def test_leaves_that_stay_wide_are_announced_before_and_after_the_run():
    rng = np.random.default_rng(0)
    narrow = rng.normal(0, 0.05, (400, 8))  # one group, narrow in every column
    assert any("too rarely for 8 columns" in sentence for sentence in PrivTree().advice(8, 400))
    trace = PrivTree(n_clusters=2).run(narrow, domain=Domain.box(-1, 1, 8, n_public=400), seed=0)
    assert any("as wide as the distances" in sentence for sentence in trace.warnings)
    apart = rng.normal(0, 0.05, (4000, 2)) + np.repeat([[-0.6, 0.0], [0.6, 0.0]], 2000, axis=0)
    assert PrivTree().advice(2, 4000) == ()
    assert PrivTree(n_clusters=2).run(apart, domain=Domain.box(-1, 1, 2, n_public=4000), seed=0).warnings == ()


@pytest.mark.slow
def test_it_finds_groups_and_its_picture_is_its_release():
    data = load_sample("town")
    best = normalized_loss(data.X, KMeans(data.n_clusters, n_init=4, random_state=0).fit(data.X).cluster_centers_)
    run = PrivTree(n_clusters=data.n_clusters, epsilon=4.0).run
    traces = [run(data.X, domain=data.domain, seed=seed) for seed in range(4)]
    losses = [normalized_loss(data.X, trace.cluster_centers) / best for trace in traces]
    assert np.mean(losses) < 1.4
    trace = traces[0]
    counts = privtree.counts_of_nodes(trace)
    assert counts[1] == pytest.approx(trace.steps[-1].released["leaf_counts"].sum())
    nodes = [int(node) for step in trace.steps[:-1] for node in step.released["nodes"]]
    assert set(counts) == set(nodes)
    seen = View(trace, LIGHT, (0, 1), data.columns, data.units)
    lines = privtree.squares(seen, trace.steps[1], np.array([True, False]))
    box = np.stack([trace.domain.denormalize(trace.steps[1].released[end][0]) for end in ("low", "high")])
    np.testing.assert_allclose([np.nanmin(lines, axis=0), np.nanmax(lines, axis=0)], box)
