"""Check Stemmer-Kaplan against its specification: noise, thresholds, the filter of balls, the coreset, and the loss."""

import dataclasses
import math

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from dpviz.algorithms.stemmer_kaplan.balcan import Balcan
from dpviz.algorithms.stemmer_kaplan.local import StemmerKaplanLocal
from dpviz.algorithms.stemmer_kaplan.stemmer_kaplan import StemmerKaplan, choose
from dpviz.algorithms.stemmer_kaplan.swap import StemmerKaplanSwap
from dpviz.domain import Domain
from dpviz.figures import View, pane
from dpviz.figures.kit.theme import LIGHT
from dpviz.figures.stemmer_kaplan import stemmer_kaplan as figures
from dpviz.geometry import snap, snap_toward_zero
from dpviz.metrics import inertia, normalized_loss
from dpviz.privacy.accounting import mu_of_epsilon
from dpviz.privacy.block import Block
from dpviz.privacy.costs import Threshold
from dpviz.privacy.queries import CellSums, InBalls, OccupiedCells, cell_centers
from tests.tiers import tiers


def blobs(d, n=20_000, seed=0):
    X, _ = make_blobs(n, d, centers=8, cluster_std=0.06, center_box=(-0.8, 0.8), random_state=seed)
    return np.clip(X, -1, 1)


def loss(algorithm, X, seed):
    domain = Domain.box(-1, 1, X.shape[1], n_public=len(X))
    return normalized_loss(X, algorithm.run(X, domain=domain, seed=seed).cluster_centers, domain)


# budget


def test_count_noise_is_sqrt_tables_over_share_over_theta():
    algorithm = StemmerKaplan(scales=2, repetitions=2)
    costs = algorithm.candidate_costs(0.2, 1e-6, 2)
    assert len(costs["buckets"]) == len(costs["averages"]) == 4
    assert 1 / costs["buckets"][0].mu == pytest.approx(math.sqrt(4 / 0.3) / 0.2)
    assert 1 / costs["buckets"][0].mu == pytest.approx(18.26, abs=0.005)
    assert 1 / costs["averages"][0].mu == pytest.approx(math.sqrt(4 / 0.7) / 0.2)


def test_threshold_of_eight_tables_is_the_specified_one():
    """One release of 8 keys per row and 8 releases of one key need the specified 194.05, plus 1/2 for rounding."""
    joint = Threshold(1 / 36.52, 5e-7).threshold(36.52, 8)
    assert joint - 0.5 == pytest.approx(194.05, abs=0.1)
    single = Threshold(1 / 36.52, 5e-7 / 8).threshold(36.52, 1)
    assert single == pytest.approx(joint, abs=1e-4)


@pytest.mark.parametrize("rounds", [1, 2, 3])
@pytest.mark.parametrize("d", [2, 16])
def test_the_plan_adds_up_to_the_budget(d, rounds):
    algorithm = StemmerKaplan(epsilon=1.3, delta=1e-6, rounds=rounds)
    plan = algorithm.plan(d, 5000)
    every = [cost for costs in plan.costs.values() for cost in costs]
    assert sum(cost.gdp**2 for cost in every) == pytest.approx(mu_of_epsilon(1.3, 5e-7) ** 2)
    assert sum(cost.own_delta for cost in every) == pytest.approx(5e-7)
    assert plan.total(1e-6).epsilon == pytest.approx(1.3, rel=1e-6)


# cells and balls


def test_cells_agree_with_a_dictionary():
    rng = np.random.default_rng(0)
    x = snap_toward_zero(rng.uniform(-1, 1, (500, 2)))
    offset = snap_toward_zero(rng.uniform(0, 0.25, 2))
    keys, counts = OccupiedCells(0.25, offset).statistic(Block(x))
    expected = {}
    for row in x:
        key = tuple(math.floor((v + o) / 0.25) for v, o in zip(row, offset, strict=True))
        expected.setdefault(key, []).append(row)
    assert [tuple(key) for key in keys] == sorted(expected)
    assert counts.tolist() == [len(expected[key]) for key in sorted(expected)]
    wanted = keys[counts >= 5]
    centers = cell_centers(wanted, 0.25, offset)
    sums = CellSums(wanted, 0.25, offset, 9.0, relative=True).statistic(Block(x))[""]
    for key, center, found in zip(wanted, centers, sums, strict=True):
        np.testing.assert_array_equal(found, np.sum(np.array(expected[tuple(key)]) - center, axis=0))
        assert np.abs(np.array(expected[tuple(key)]) - center).max() <= 0.125


def test_a_cell_bounds_its_rows():
    """An average's radius is half of its cell's diagonal, so rows in the cell are clipped by at most one grid step."""
    corner = np.array([[0.0, 0.0, 0.0], [0.5 - 2.0**-24] * 3])
    query = CellSums(np.array([[0, 0, 0]]), 0.5, np.zeros(3), 0.25 * math.sqrt(3), relative=True)
    np.testing.assert_allclose(query.statistic(Block(corner[:1]))[""], [[-0.25] * 3], atol=1e-6)
    np.testing.assert_allclose(query.statistic(Block(corner[1:]))[""], [[0.25] * 3], atol=1e-6)


def test_key_counts_of_neighbors_differ_in_one_key_by_one():
    rng = np.random.default_rng(1)
    for _ in range(300):
        x = snap_toward_zero(rng.uniform(-1, 1, (int(rng.integers(1, 9)), 3)))
        query = OccupiedCells(0.5, snap_toward_zero(rng.uniform(0, 0.5, 3)))
        tables = []
        for rows in (x, np.delete(x, rng.integers(len(x)), axis=0)):
            keys, counts = query.statistic(Block(rows))
            tables.append(dict(zip(map(tuple, keys.tolist()), counts.tolist(), strict=True)))
        changes = [tables[0].get(key, 0) - tables[1].get(key, 0) for key in tables[0] | tables[1]]
        assert sorted(map(abs, changes))[-1] == 1 and np.count_nonzero(changes) == 1
        assert np.linalg.norm(changes) <= query.sensitivity("add-remove")


def test_the_ball_filter_keeps_neighbors_neighbors_and_farthest_m_does_not():
    rng = np.random.default_rng(2)
    moved = 0
    for _ in range(1000):
        n, d = int(rng.integers(2, 12)), int(rng.integers(1, 4))
        x = snap(rng.uniform(-1, 1, (n, d)))
        points = snap(rng.uniform(-1, 1, (3, d)))
        predicate = InBalls(points, rng.uniform(0.05, 0.9, 3))
        row = int(rng.integers(n))
        fewer = np.delete(x, row, axis=0)
        left = [{tuple(r) for r in rows[predicate.assign(Block(rows)) == 0]} for rows in (x, fewer)]
        assert len(left[0] ^ left[1]) <= 1 and left[1] <= left[0]

        def farthest(rows, m=n // 2, points=points):
            reach = ((rows[:, None] - points) ** 2).sum(axis=2).min(axis=1)
            return {tuple(r) for r in rows[np.argsort(-reach, kind="stable")[:m]]}

        moved = max(moved, len(farthest(x) ^ farthest(fewer)))
    assert moved == 2, "one added row swaps a row: the printed rule needs twice the noise under add/remove"


def test_a_ball_holds_its_rows_whatever_block_they_stand_in():
    rng = np.random.default_rng(3)
    x = snap(rng.uniform(-1, 1, (400, 5)))
    predicate = InBalls(snap(rng.uniform(-1, 1, (4, 5))), np.full(4, 0.9))
    whole = predicate.assign(Block(x))
    expected = (((x[:, None] - predicate.points) ** 2).sum(axis=2) <= 0.81).any(axis=1)
    np.testing.assert_array_equal(whole, expected)
    np.testing.assert_array_equal(whole, np.concatenate([predicate.assign(Block(x[i : i + 1])) for i in range(400)]))


# runs


def test_without_noise_the_weights_are_the_exact_counts():
    X = blobs(2, 4000)
    domain = Domain.box(-1, 1, 2, n_public=len(X))
    trace = StemmerKaplan(n_clusters=8, epsilon=100.0).run(X, domain=domain, seed=0)
    weights = next(step for step in trace.steps if step.kind == "weights")
    true = next(iter(weights.hidden[0].statistic.values()))
    nearest = ((X[:, None] - weights.released["candidates"]) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(true, np.bincount(nearest, minlength=len(true)))
    np.testing.assert_allclose(weights.released["noisy_weights"], true, atol=1.0)


def test_two_rounds_search_only_what_the_balls_left():
    X = blobs(2, 4000)
    domain = Domain.box(-1, 1, 2, n_public=len(X))
    trace = StemmerKaplan(n_clusters=8, epsilon=5.0, rounds=2).run(X, domain=domain, seed=0)
    kinds = [step.kind for step in trace.steps]
    assert kinds == ["buckets"] * 8 + ["filter"] + ["buckets"] * 8 + ["weights", "choose"]
    balls = trace.steps[8].released
    left = (((X[:, None] - balls["points"]) ** 2).sum(axis=2) > balls["radii"] ** 2).all(axis=1).sum()
    counted = trace.steps[9].hidden[0].statistic["counts"].sum()
    assert 0 < counted < len(X) and abs(counted - left) <= 2
    assert trace.spent.epsilon == pytest.approx(5.0, rel=1e-6)


def test_nothing_found_gives_the_middle_and_says_so():
    X = blobs(2, 50)
    algorithm = StemmerKaplan(n_clusters=3, epsilon=0.1)
    trace = algorithm.run(X, domain=Domain.box(-1, 1, 2, n_public=50), seed=0)
    assert np.abs(trace.cluster_centers).max() < 0.1
    assert any("must hold" in sentence for sentence in algorithm.advice(2, 50))
    assert not StemmerKaplan(n_clusters=8).advice(2, 20_000)
    assert any("rounds" in sentence for sentence in dataclasses.replace(algorithm, rounds=2).advice(2, 10**6))


def test_chosen_centers_lie_in_the_ball():
    domain = Domain.box(-1, 1, 2, radius=1.0)
    points = np.array([[0.999, 0.0], [-0.999, 0.0]])
    frame = choose(points, np.ones(2), 4, domain, np.random.default_rng(0))
    assert frame.released["centers"].shape == (4, 2)
    assert np.linalg.norm(frame.released["centers"], axis=1).max() <= 1


def test_the_coreset_weighs_about_n_and_prices_centers_like_the_rows():
    X = blobs(2)
    domain = Domain.box(-1, 1, 2, n_public=len(X))
    trace = StemmerKaplan(n_clusters=8, epsilon=1.0, delta=1e-6).run(X, domain=domain, seed=0)
    points, weights, sd = trace.coreset.points, trace.coreset.weights, trace.coreset.sd
    assert abs(weights.sum() - len(X)) < 5 * math.sqrt(len(points)) * sd[0]
    rng = np.random.default_rng(0)
    for _ in range(50):
        centers = rng.uniform(-1, 1, (int(rng.integers(1, 9)), 2))
        priced = weights @ ((points[:, None] - centers) ** 2).sum(axis=2).min(axis=1)
        assert 0.5 < priced / inertia(X, centers) < 2


# figures


def view(trace, X, *, hidden=True, axes=(0, 1)):
    names = [f"x{i}" for i in range(X.shape[1])]
    return View(trace, LIGHT, axes, names, [""] * len(names), X if hidden else None, None, None, 0.01, hidden)


@pytest.fixture(scope="module")
def seen():
    X = blobs(2, 4000)
    return view(StemmerKaplan(n_clusters=8, rounds=2).run(X, domain=Domain.box(-1, 1, 2, n_public=4000), seed=0), X)


def test_bucket_frame_ranks_noisy_counts_and_hides_the_truth(seen):
    step = seen.trace.steps[0]
    table = figures.bucket_table(step, hidden=True)
    true = {
        tuple(k): c for k, c in zip(*(step.hidden[0].statistic[n].tolist() for n in ("keys", "counts")), strict=True)
    }
    assert table.noisy_count.tolist() == sorted(step.released["noisy_counts"], reverse=True)
    assert (table.noisy_count >= step.released["threshold"]).all()
    assert sorted(table.true_count) == sorted(true[tuple(key)] for key in step.released["keys"].tolist())
    assert "true_count" not in figures.bucket_table(step, hidden=False)


def test_weight_frame_ranks_noisy_weights(seen):
    step = next(step for step in seen.trace.steps if step.kind == "weights")
    table = figures.weight_table(step, hidden=True)
    assert table.noisy_count.tolist() == sorted(step.released["noisy_weights"], reverse=True)
    assert table.true_count.sum() == 4000


def test_cells_are_drawn_where_their_rows_are(seen):
    for step in seen.trace.steps[:8]:
        said = step.released
        corners = figures.cell_corners(seen, step, said["keys"])
        low, high = np.nanmin(corners, axis=1), np.nanmax(corners, axis=1)
        inside = (seen.people[None] >= low[:, None]) & (seen.people[None] < high[:, None])
        true = inside.all(axis=2).sum(axis=1)
        counted = {tuple(k): c for k, c in zip(*step.hidden[0].statistic.values(), strict=True)}
        assert np.abs(true - [counted[tuple(key)] for key in said["keys"]]).max() <= 2


def test_losses_rank_kmeans_candidates_and_choice(seen):
    table = figures.loss_table(seen)
    assert table.what.tolist() == ["KMeans", "all candidates", "8 chosen"]
    assert table.loss[2] == pytest.approx(normalized_loss(seen.people, seen.trace.cluster_centers, seen.trace.domain))


AXES = [(1, None), (2, (0, 1)), (3, None), (6, (1, 4))]
SHAPES = [
    *((StemmerKaplan(n_clusters=3, rounds=2), d, axes) for d, axes in (*AXES, (3, (2, 0)), (6, None))),
    *((cls(n_clusters=3, epsilon=2.0), d, axes) for cls in (StemmerKaplanSwap, Balcan) for d, axes in AXES),
    *((StemmerKaplanLocal(n_clusters=3), d, axes) for d, axes in ((1, None), (3, (2, 0)), (6, None))),
    (StemmerKaplanLocal(n_clusters=3, oracle="hadamard"), 2, (0, 1)),
    (StemmerKaplanLocal(n_clusters=3, budget="epsilon"), 2, (0, 1)),
]


@pytest.mark.parametrize(("algorithm", "d", "axes"), tiers(SHAPES, [one for one in SHAPES if one[1] < 3]))
def test_every_shape_draws_and_steps_together(algorithm, d, axes):
    X = blobs(d, 3000)
    trace = algorithm.run(X, domain=Domain.box(-1, 1, d, n_public=3000), seed=0)
    shots = pane(trace).shots(trace)
    found = pane(trace).panels(view(trace, X, axes=axes))
    assert all(len(panel.figure.frames) == len(shots) for panel in found)
    assert shots[-1].releases == len(trace.ledger)
    assert sum(len(panel.figure.to_json()) for panel in found) < 2_000_000
    text = "".join(panel.figure.to_json() for panel in pane(trace).panels(view(trace, X, hidden=False, axes=axes)))
    assert "NOT PRIVATE" not in text and "true count" not in text and "own cell" not in text


def test_the_pane_warns_where_every_bucket_stays_below_the_threshold(seen):
    X = blobs(2, 60)
    trace = StemmerKaplan(n_clusters=2, epsilon=0.2).run(X, domain=Domain.box(-1, 1, 2, n_public=60), seed=0)
    assert "Every bucket is below the threshold" in figures.PANE.warning(trace) and not figures.PANE.warning(seen.trace)


# loss


@pytest.mark.parametrize(("d", "epsilon", "at_most"), [(2, 1.0, 0.0075), (16, 1.0, 0.07)])
def test_one_run_reaches_the_specified_loss(d, epsilon, at_most):
    assert loss(StemmerKaplan(n_clusters=8, epsilon=epsilon, delta=1e-6), blobs(d), 0) <= at_most


@pytest.mark.slow
@pytest.mark.parametrize(
    ("d", "epsilon", "at_most"),
    [(2, 0.5, 0.0075), (2, 1.0, 0.0075), (2, 2.0, 0.0075), (16, 0.5, 0.12), (16, 1.0, 0.07), (16, 2.0, 0.062)],
)
def test_mean_loss_of_five_seeds(d, epsilon, at_most):
    X = blobs(d)
    losses = [loss(StemmerKaplan(n_clusters=8, epsilon=epsilon, delta=1e-6), X, seed) for seed in range(5)]
    assert np.mean(losses) <= at_most
