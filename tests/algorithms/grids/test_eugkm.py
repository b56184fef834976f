"""Check EUGkM: the paper's number of cells, the hybrid with Lloyd, and grids that cannot divide every column."""

import math

import numpy as np
import pytest
from sklearn.cluster import KMeans

from dpviz.algorithms.grids.eugkm import EUGkM
from dpviz.algorithms.trees.privtree import PrivTree
from dpviz.datasets import load_sample
from dpviz.domain import Domain
from dpviz.figures import View
from dpviz.figures.grids import eugkm
from dpviz.figures.kit.theme import LIGHT
from dpviz.metrics import normalized_loss
from dpviz.postprocessing.weighted import occupied
from dpviz.privacy.queries import GridCounts


def test_the_number_of_cells_is_the_papers():
    assert EUGkM(epsilon=1.0).parts(2, 5000) == (22, 22)  # M = N epsilon / 10 = 500 in two columns.
    assert EUGkM(epsilon=1.0).parts(1, 5000) == (62,)  # M = 500^(2/3) = 62.996.
    assert EUGkM(epsilon=1.0, lloyd_share=0.5).parts(2, 5000) == (15, 15)
    assert EUGkM(epsilon=100.0).parts(2, 10**7) == (141, 141)  # at most 20,000 cells
    assert EUGkM(cells=9).parts(2, 5000) == (3, 3)


def test_the_other_rule_follows_the_number_of_clusters():
    """M = (5000 / (4 sqrt(3 k^(1/3))))^(6/5) in three columns; in two columns, M does not depend on k."""
    rule = lambda k: EUGkM(epsilon=1.0, n_clusters=k, rule="clusters")  # noqa: E731
    assert rule(8).parts(3, 5000) == (12,) * 3 and rule(64).parts(3, 5000) == (10,) * 3
    assert rule(8)._rule(3, 5000) == pytest.approx((1250 / math.sqrt(6)) ** 1.2)
    assert rule(2).parts(2, 5000) == rule(99).parts(2, 5000) == (29, 29)


def test_where_the_grid_cannot_divide_every_column_it_divides_none_and_says_so():
    few = EUGkM(epsilon=0.5, n_clusters=4)
    assert few.parts(64, 1797) == (1,) * 64
    assert any("64 columns cannot all be divided" in words for words in few.advice(64, 1797))
    assert not few.advice(2, 1797)
    X = np.random.default_rng(0).normal(0, 0.1, (300, 20))
    trace = few.run(X, domain=Domain.box(-1, 1, 20, n_public=300), seed=0)
    assert np.abs(trace.cluster_centers).max() < 0.01


def test_cells_as_wide_as_the_data_and_a_box_far_too_wide_are_announced():
    """Eight columns cannot all be halved; if the box is far too wide, four of its 22 x 22 cells hold all rows."""
    assert EUGkM().parts(8, 1500) == (1,) * 8 and EUGkM().parts(3, 100) == (2,) * 3
    assert any("8 columns cannot all be divided" in sentence for sentence in EUGkM().advice(8, 1500))
    assert EUGkM(lloyd_share=0.5).parts(8, 3000) == (2,) * 8 and EUGkM(lloyd_share=0.5).advice(8, 3000) == ()
    X = np.random.default_rng(0).normal(0, 0.005, (5000, 2))
    runs = {
        wide: EUGkM(n_clusters=2).run(X, domain=Domain.box(-wide, wide, 2, n_public=5000), seed=0)
        for wide in (1.0, 0.02)
    }
    assert any("bounds are far wider" in sentence for sentence in runs[1.0].warnings)
    assert runs[0.02].warnings == ()


def test_cells_tile_the_box_and_every_row_counts_once():
    query = GridCounts(np.array([1.0, 0.5]), (4, 3))
    assert query.middles.shape == (12, 2) and query.size == 12
    np.testing.assert_allclose(query.middles[:4], [[-0.75, -1 / 3], [-0.75, 0], [-0.75, 1 / 3], [-0.25, -1 / 3]])
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (500, 2)) * [1, 0.5]
    trace = EUGkM(n_clusters=2, cells=12, epsilon=50.0).run(X, domain=Domain.box(-1, 1, 2, n_public=500), seed=0)
    true = trace.steps[0].hidden[0].statistic["cells"]
    assert true.sum() == 500 and len(true) == 9


def test_a_place_weighs_as_its_noisy_count_and_no_less_than_nothing():
    kept, weights = occupied(np.array([3.0, 0.25, 0.0, -1.0]))
    assert kept.tolist() == [True, True, False, False] and weights.tolist() == [3.0, 0.25]
    kept, weights = occupied(np.array([-1.0, -2.0, -1.0]))
    assert kept.tolist() == [True, False, True] and weights.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("cls", [EUGkM, PrivTree])
def test_empty_places_weigh_nothing_where_counts_are_nearly_exact(cls):
    """With 400 rows and thousands of empty cells, the weights add up to the number of rows, not to that of cells."""
    X = np.random.default_rng(0).normal(0.6, 0.02, (400, 2))
    values = {"cells": 10_000} if cls is EUGkM else {"tree_share": 0.05}
    trace = cls(n_clusters=1, epsilon=50.0, **values).run(X, domain=Domain.box(-1, 1, 2, n_public=400), seed=0)
    assert trace.coreset.weights.sum() == pytest.approx(400, abs=0.4 * 400)
    assert np.abs(trace.cluster_centers - 0.6).max() < 0.25


@pytest.mark.slow
@pytest.mark.parametrize(("sample", "worst"), [("town", 1.35), ("blobs", 1.6)])
def test_it_finds_groups_and_the_lloyd_step_mends_what_the_grid_blurred(sample, worst):
    data = load_sample(sample)
    best = normalized_loss(data.X, KMeans(data.n_clusters, n_init=4, random_state=0).fit(data.X).cluster_centers_)

    def ratio(**values):
        losses = []
        for seed in range(4):
            run = EUGkM(n_clusters=data.n_clusters, epsilon=4.0, **values)
            trace = run.run(data.X, domain=data.domain, seed=seed)
            losses.append(normalized_loss(data.X, trace.cluster_centers) / best)
        return float(np.mean(losses))

    assert ratio() < worst
    coarse = ratio(cells=64), ratio(cells=64, lloyd_share=0.5)
    assert coarse[1] < coarse[0]


def test_cells_on_one_place_of_the_picture_are_added_up():
    data = load_sample("iris")
    trace = EUGkM(n_clusters=3).run(data.X, domain=data.domain, seed=0, dataset_id=data.dataset_id)
    released = trace.steps[0].released
    table = eugkm.cells_table(View(trace, LIGHT, (0, 1), data.columns, data.units))
    assert len(table) == released["parts"][0] * released["parts"][1]
    assert table.noisy_count.sum() == pytest.approx(released["noisy_counts"].sum())
