"""Check MST-KMeans: the range of a pair's score, the tree, consistent tables, drawn rows, prices and bad input."""

import math

import numpy as np
import pytest
from scipy.sparse.csgraph import minimum_spanning_tree
from sklearn.cluster import KMeans

from dpviz.algorithms import ALGORITHMS
from dpviz.algorithms.mst_kmeans import MSTKMeans
from dpviz.domain import Domain
from dpviz.geometry import snap
from dpviz.metrics import normalized_loss
from dpviz.postprocessing.tree_model import blended, fit, spread_evenly
from dpviz.privacy.accounting import mu_of_epsilon
from dpviz.privacy.block import Block
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.queries import ColumnCounts, PairScore, PairTables

AR, REPLACE = Neighboring.ADD_REMOVE, Neighboring.REPLACE
PAIRS = np.array([[0, 1], [0, 2], [1, 2]])


def widest(relation, cls=PairScore, trials=300):
    """Return the largest share of the declared range that any pair of neighbors reaches."""
    rng, found = np.random.default_rng(0), 0.0
    for _ in range(trials):
        b = int(rng.integers(2, 4))
        tables = PairTables(np.ones(3), b, PAIRS)
        score = cls(tables, snap(rng.choice([0.0, 0.5, 1.5, 4.0], (3, b, b))), np.ones(3, dtype=bool))
        x = snap(rng.choice([-0.9, 0.1, 0.9], (int(rng.integers(1, 7)), 3)))
        y = x[1:] if relation is AR else np.vstack([x[1:], rng.choice([-0.9, 0.9], (1, 3))])
        one, two = (score.utility(tables.statistic(Block(rows))) for rows in (x, y))
        found = max(found, float(np.ptp(one - two)) / score.range(relation))
    return found


@pytest.mark.parametrize("relation", [AR, REPLACE])
def test_no_neighbor_widens_the_scores_beyond_the_declared_range_and_one_reaches_it(relation):
    assert 0.95 < widest(relation) <= 1 + 1e-12


def test_a_score_with_the_range_of_one_pair_alone_is_caught():
    """Each score moves by at most 1, but one may rise while another falls."""

    class Alone(PairScore):
        def range(self, neighboring):
            return super().range(neighboring) / 2

    assert widest(AR, Alone) == 2.0


def test_a_prediction_off_the_grid_is_refused():
    with pytest.raises(ValueError, match="PairScore: prediction must lie on the 2.-24 grid"):
        PairScore(PairTables(np.ones(3), 2, PAIRS), np.full((3, 2, 2), 1 / 3), np.ones(3, dtype=bool))


def test_rows_are_counted_in_the_nearest_bin_and_tables_have_the_counts_of_columns_as_sums():
    x = snap(np.array([[-0.5, 1.0], [-0.01, -1.0], [0.0, 0.0], [0.5, 0.5]]))
    half = np.array([0.25, 1.0])
    columns = ColumnCounts(half, 4).statistic(Block(x))[""]
    assert columns.tolist() == [[1, 1, 1, 1], [1, 0, 1, 2]]  # -.5 and .5 lie beyond the first column's bounds
    table = PairTables(half, 4, np.array([[1, 0]])).statistic(Block(x))[""][0]
    np.testing.assert_array_equal([table.sum(axis=0), table.sum(axis=1)], columns)
    assert table[3].tolist() == [1, 0, 0, 1]


def chain(n=6000, d=5, seed=0):
    """Return rows in [-1, 1]^d in which every column is a noisy copy of the one before."""
    rng = np.random.default_rng(seed)
    x = [rng.choice([-0.6, 0.0, 0.6], n)]
    for _ in range(d - 1):
        x.append(np.where(rng.random(n) < 0.75, x[-1], rng.choice([-0.6, 0.0, 0.6], n)))
    return np.column_stack(x) + rng.uniform(-0.1, 0.1, (n, d))


def released(trace):
    return {step.kind: step.released for step in trace.steps}


def test_without_noise_the_pairs_are_the_maximum_spanning_tree_and_rows_have_its_tables():
    X = chain()[:, [2, 0, 4, 1, 3]]
    trace = MSTKMeans(n_clusters=3, bins=6).run(X, domain=Domain.box(-1, 1, 5, n_public=6000), seed=0, noise="none")
    found = released(trace)
    scores = np.zeros((5, 5))
    utilities = trace.steps[1].hidden[0].statistic["utility"]
    scores[tuple(found["pairs"]["candidates"].T)] = utilities
    wanted = minimum_spanning_tree(-scores).tocoo()
    tree = {frozenset(pair) for pair in found["pairs"]["pairs"].tolist()}
    assert tree == {frozenset(pair) for pair in zip(wanted.row.tolist(), wanted.col.tolist(), strict=True)}
    assert tree == {frozenset(pair) for pair in ((1, 3), (3, 0), (0, 4), (4, 2))}
    drawn = snap(found["synthetic-rows"]["rows"])
    tables = PairTables(np.ones(5), 6, found["tables"]["tables_of"]).statistic(Block(drawn))[""]
    assert len(drawn) == 6000 and np.abs(tables - found["tables"]["noisy_tables"]).max() < 40
    assert found["synthetic-rows"]["total"] == 6000


@pytest.mark.parametrize("noise", [1.0, 9.0])
def test_noisy_counts_become_consistent_ones_of_the_same_total(noise):
    """Where noise is far larger than counts, the sums of rows need not fit: no cell that stands out is in their way."""
    rng = np.random.default_rng(0)
    pairs = np.array([[0, 1], [1, 2]])
    counts = rng.normal(20, noise, (3, 4)), pairs, rng.normal(5, noise, (2, 4, 4))
    model = fit(*counts, total=80.0, sd=noise, ratio=1.0)
    assert model.columns.min() >= 0 and model.tables.min() >= 0 and model.total == 80
    np.testing.assert_allclose(model.columns.sum(axis=1), 80)
    for (one, other), table in zip(pairs, model.tables, strict=True):
        np.testing.assert_allclose(table.sum(axis=0), model.columns[other], atol=1e-6)
        np.testing.assert_allclose(table.sum(axis=1), model.columns[one], atol=1e-3 if noise == 1 else 80)


def test_counts_that_are_consistent_already_stay_and_faint_ones_go():
    table = np.array([[[30.0, 0.0], [10.0, 40.0]]])
    columns = np.array([[30.0, 50.0], [40.0, 40.0]])
    facts = {"total": 80.0, "ratio": 1.0}
    kept = fit(columns, np.array([[0, 1]]), table, sd=4.0, **facts)
    np.testing.assert_allclose([kept.tables[0], kept.columns], [table[0], columns], atol=1e-6)
    faint = table + [[[0, 3.0], [0, 0]]]
    assert fit(columns, np.array([[0, 1]]), faint, sd=4.0, **facts).tables[0, 0, 1] < 1e-6


@pytest.mark.parametrize("total", [-50.0, 0.2])
def test_counts_of_noise_alone_still_give_rows_in_the_box(total):
    rng = np.random.default_rng(0)
    half = np.array([1.0, 0.5, 0.25])
    model = fit(rng.normal(-9, 3, (3, 5)), PAIRS[:2], rng.normal(-9, 3, (2, 5, 5)), total=total, sd=3.0, ratio=1.0)
    rows = model.draw(400, half, rng)
    assert model.total == 1 and rows.shape == (400, 3) and (np.abs(rows) <= half).all()


def test_systematic_draws_are_proportional_up_to_one_and_never_take_an_empty_bin():
    rng = np.random.default_rng(0)
    weights = np.array([0.0, 3.0, 0.0, 1.0, 0.5, 0.0])
    for n in (0, 1, 7, 90):
        counts = np.bincount(spread_evenly(weights, n, rng), minlength=6)
        assert counts.sum() == n and (np.abs(counts - n * weights / 4.5) < 1 + 1e-9).all()
        assert not counts[weights == 0].any()


def test_columns_that_depend_on_a_third_alone_are_independent_given_it():
    """Rows of one bin of the middle column are paired at random, so the order of drawing joins nothing else."""
    rng = np.random.default_rng(0)
    tables = np.array([[[25.0, 25.0], [25.0, 25.0]]] * 2)
    model = fit(np.full((3, 2), 50.0), np.array([[0, 1], [0, 2]]), tables, total=100.0, sd=0.0, ratio=1.0)
    rows = model.draw(4000, np.ones(3), rng) > 0
    for given in (False, True):
        here = rows[rows[:, 0] == given]
        assert abs(np.corrcoef(here[:, 1], here[:, 2])[0, 1]) < 0.08


# Prices and public rules


def test_one_and_two_columns_have_no_pair_to_choose_and_an_exact_mu():
    algorithm = MSTKMeans(epsilon=1.0, delta=1e-5)
    one, two = (algorithm.plan(d, 5000).costs for d in (1, 2))
    mu = mu_of_epsilon(1.0, 1e-5)
    assert set(one) == {"columns"} and one["columns"][0].gdp == pytest.approx(mu)
    assert set(two) == {"columns", "tables"}
    assert math.hypot(two["columns"][0].gdp, two["tables"][0].gdp) == pytest.approx(mu)
    assert algorithm.guarantee(2, 5000).mu == pytest.approx(mu) and algorithm.guarantee(3, 5000).mu is None


@pytest.mark.parametrize("d", [1, 2, 3, 8, 64, 128])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 20.0])
def test_the_budget_is_spent_and_not_exceeded(d, epsilon):
    algorithm = MSTKMeans(epsilon=epsilon)
    plan = algorithm.plan(d, 5000)
    assert 0.999 * epsilon < algorithm.guarantee(d, 5000).epsilon <= epsilon * (1 + 1e-9)
    assert len(plan.costs.get("pairs", ())) == (d - 1 if d > 2 else 0)


def test_many_columns_have_candidates_near_each_other_that_join_them_all():
    every = MSTKMeans().candidates
    assert [len(every(d)) for d in (1, 2, 3, 64)] == [0, 1, 3, 2016]
    for d in (65, 100, 784, 3000):
        pairs = every(d)
        assert len(pairs) <= max(2016, d - 1) and {(i, i + 1) for i in range(d - 1)} <= set(map(tuple, pairs.tolist()))
        reach = (pairs[:, 1] - pairs[:, 0]).max()
        assert len(pairs) + d - reach - 1 > 2016  # one column farther would be too many


def test_the_number_of_bins_follows_from_the_noise_of_a_table():
    algorithm = MSTKMeans(epsilon=1.0)
    noise = math.sqrt(2) / algorithm.plan(3, 5000).costs["tables"][0].gdp
    assert algorithm.parts(3, 5000) == math.floor(math.sqrt(0.6 * 5000 / noise))
    assert algorithm.parts(3, 10) == 6 and algorithm.parts(2, 10**8) == 64 and algorithm.parts(64, 10**8) == 16
    assert MSTKMeans(bins=9).parts(3, 5000) == 9


@pytest.mark.parametrize(("d", "bins", "most"), [(2, 1_000_000, 724), (1, 1_000_000, 524_288), (64, 17, 16)])
def test_tables_that_are_too_large_are_refused_before_anything_is_read(d, bins, most):
    algorithm, domain = MSTKMeans(n_clusters=2, bins=bins), Domain.box(-1, 1, d, n_public=500)
    with pytest.raises(ValueError, match=f"MST-KMeans: bins must be at most {most:,} with .* got {bins:,}") as refusal:
        algorithm.check_domain(domain, 500)
    assert str(refusal.value).count(". ") == 0 and str(refusal.value).endswith(".")
    MSTKMeans(n_clusters=2, bins=most).check_domain(domain, 500)


def test_too_little_data_is_announced_before_and_after_a_run():
    small, large = chain(100), chain(6000)
    few = MSTKMeans(n_clusters=3, epsilon=0.25)
    assert any("noise is as large as the counts" in words for words in few.advice(5, 100))
    trace = few.run(small, domain=Domain.box(-1, 1, 5, n_public=100), seed=0)
    assert any("do not stand out from their noise" in words for words in trace.warnings)
    assert MSTKMeans(n_clusters=3).advice(5, 6000) == ()
    two = MSTKMeans(n_clusters=3).run(large[:, :2], domain=Domain.box(-1, 1, 2, n_public=6000), seed=0)
    assert two.warnings == ()
    one = MSTKMeans(n_clusters=3).run(large[:, :1], domain=Domain.box(-1, 1, 1, n_public=6000), seed=0)
    assert one.warnings == () and [step.kind for step in one.steps] == [
        "marginals", "synthetic-rows", "synthetic-centers",
    ]  # fmt: skip


@pytest.mark.slow
def test_groups_that_the_tree_blends_or_bins_blur_raise_a_doubt_and_even_rows_do_not():
    """Rates over families of data: lab/benchmarks/results/cliffs.md. A tree of columns can be right and be doubted."""
    said = {"groups": [], "even": [], "tails": [], "two columns": []}
    for seed in range(4):
        rng = np.random.default_rng(seed)
        groups = rng.uniform(-0.9, 0.9, (8, 4))[rng.integers(8, size=5000)] + rng.normal(0, 0.03, (5000, 4))
        tails = rng.lognormal(0, 1.5, (4000, 2))
        for name, X in {
            "groups": groups.clip(-1, 1),
            "even": rng.uniform(-1, 1, (5000, 4)),
            "tails": 2 * tails / tails.max(axis=0) - 1,
            "two columns": groups[:, :2].clip(-1, 1),
        }.items():
            domain = Domain.box(-1, 1, X.shape[1], n_public=len(X))
            said[name].append(MSTKMeans(n_clusters=8, epsilon=2.0).run(X, domain=domain, seed=seed).warnings)
    assert said["even"] == said["two columns"] == [()] * 4
    for name, words in (("groups", "they may mix columns of different groups"), ("tails", "groups are blurred")):
        assert all(words in told for (told,) in said[name])


def test_the_signs_of_blended_groups_are_1_for_one_distance_and_for_columns_that_do_not_depend():
    rng = np.random.default_rng(0)
    rows, pairs = rng.uniform(-1, 1, (1000, 2)), np.array([[0, 1]])
    centers = KMeans(4, n_init=2, random_state=0).fit(rows).cluster_centers_
    worse, joined = blended(rows, pairs, centers)
    assert worse == pytest.approx(1) and joined == pytest.approx(1, rel=0.05)
    rows[:, 1] = rows[:, 0]
    # 4 centers leave 1/4 of a square and 1/16 of a line
    assert blended(rows, pairs, centers)[1] == pytest.approx(4, rel=0.1)


def test_rows_number_the_noisy_total_within_limits_and_sizes_add_up_to_it():
    for n, wanted in ((300, 2000), (30_000, 10_000)):
        X = chain(n, 2)
        last = MSTKMeans(n_clusters=3).run(X, domain=Domain.box(-1, 1, 2, n_public=n), seed=0).steps
        found = {step.kind: step.released for step in last}
        assert len(found["synthetic-rows"]["rows"]) == wanted
        assert found["synthetic-centers"]["noisy_counts"].sum() == pytest.approx(found["synthetic-rows"]["total"])
        assert abs(found["synthetic-rows"]["total"] - n) < 100


def test_nobody_and_an_n_that_is_far_off_still_give_centers_in_the_box():
    domain = Domain.box(-1, 1, 3, n_public=400)
    for X in (np.empty((0, 3)), np.full((9, 3), np.nan), chain(40, 3)):
        trace = ALGORITHMS["mst-kmeans"](n_clusters=4).run(X, domain=domain, noise="secure")
        assert trace.cluster_centers.shape == (4, 3) and (np.abs(trace.cluster_centers) <= 1).all()


def test_groups_in_two_columns_are_found():
    rng = np.random.default_rng(3)
    X = rng.uniform(-0.9, 0.9, (8, 2))[rng.integers(8, size=5000)] + rng.normal(0, 0.03, (5000, 2))
    best = normalized_loss(X, KMeans(8, n_init=4, random_state=0).fit(X).cluster_centers_)
    run = MSTKMeans(n_clusters=8, epsilon=2.0).run
    domain = Domain.box(-1, 1, 2, n_public=5000)
    losses = [normalized_loss(X, run(X, domain=domain, seed=seed).cluster_centers) / best for seed in range(4)]
    assert np.mean(losses) < 1.25
