"""Check the Lloyd family: the paper's constants, folding at the boundary, the radius, and losses on synthetic data."""

import math

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from dpviz.algorithms.lloyd.dp_lloyd import DPLloyd
from dpviz.algorithms.lloyd.fastlloyd import FastLloyd
from dpviz.algorithms.lloyd.glloyd import GLloyd
from dpviz.algorithms.lloyd.sulloyd import SuLloyd
from dpviz.datasets import load_sample
from dpviz.domain import Domain
from dpviz.figures import View, pane
from dpviz.figures.kit.theme import LIGHT
from dpviz.figures.lloyd import lloyd
from dpviz.frozen import freeze
from dpviz.geometry import GRID, fold, snap
from dpviz.metrics import normalized_loss
from dpviz.privacy.accounting import sigma
from dpviz.privacy.block import Block
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.queries import ClusterMoves
from dpviz.privacy.rows import Rows
from dpviz.trace import Hidden, Step

FAMILY = (SuLloyd, GLloyd, FastLloyd)
N, K = 20_000, 8
PAPER_DELTA = 1 / (N * math.log(N))


def data(d):
    X, _ = make_blobs(N, d, centers=K, cluster_std=0.06, center_box=(-0.8, 0.8), random_state=0)
    return np.clip(X, -1, 1)


def noise(trace, part):
    return [entry for entry in trace.ledger if entry.part == part]


def test_fold_has_period_four():
    wanted = [0.3, 0.8, -0.7, -0.5, 0.8, 1, -1]
    np.testing.assert_allclose(fold(np.array([0.3, 1.2, -1.3, 3.5, -3.2, 1, -1]), 1.0), wanted, atol=1e-12)
    half = np.array([1.0, 0.5])
    np.testing.assert_allclose(fold(np.array([[1.2, 0.6], [0.1, -2.4]]), half), [[0.8, 0.4], [0.1, -0.4]], atol=1e-12)


@pytest.mark.parametrize(("d", "sums", "counts"), [(2, 4.51644, 7.59571), (16, 4.11751, 11.64607)])
def test_fastlloyd_noise_is_the_papers(d, sums, counts):
    algorithm = FastLloyd(n_clusters=K, epsilon=1.0, delta_rule="1/(n ln n)")
    assert algorithm.resolved_delta(N) == pytest.approx(PAPER_DELTA)
    plan = algorithm.plan(d, N).costs
    T = len(plan["update.sums"])
    assert 1 / plan["update.sums"][0].mu / math.sqrt(T) == pytest.approx(sums, abs=1e-5)
    assert 1 / plan["update.counts"][0].mu / math.sqrt(T) == pytest.approx(counts, abs=1e-5)
    assert 1 / sums**2 + 1 / counts**2 == pytest.approx(1 / sigma(1.0, PAPER_DELTA) ** 2, rel=1e-5)


def test_dp_lloyd_gives_every_number_the_noise_of_one_release_of_all_of_them():
    plan = DPLloyd(n_clusters=K, epsilon=1.0).plan(3, N)
    entries = plan.costs["update.sums"], plan.costs["update.counts"]
    assert [len(costs) for costs in entries] == [5, 5]
    # in a box, one row changes the sums by at most 1 in each of 3 columns
    scales = [3 / entries[0][0].epsilon, 1 / entries[1][0].epsilon]
    assert scales == pytest.approx([4 * 5 / 1.0] * 2)  # (d + 1) T / epsilon, as in Section 3.1 of Su et al.
    halving = DPLloyd(n_clusters=K, epsilon=1.0, schedule="halving").plan(3, N).costs["update.counts"]
    assert [a.epsilon / b.epsilon for a, b in zip(halving, halving[1:], strict=False)] == pytest.approx([2.0] * 4)
    assert math.fsum(cost.epsilon for cost in halving) == pytest.approx(0.25)


def test_dp_lloyd_with_every_later_idea_switched_on_is_sulloyd_bit_for_bit():
    domain = Domain.box(-1, 1, 2, n_public=N)
    mine = DPLloyd.preset("su-et-al", n_clusters=K).run(data(2), domain=domain, seed=3)
    theirs = SuLloyd(n_clusters=K).run(data(2), domain=domain, seed=3)
    assert [step.kind for step in mine.steps] == [step.kind for step in theirs.steps]
    np.testing.assert_array_equal(mine.cluster_centers, theirs.cluster_centers)
    assert not np.array_equal(
        DPLloyd(n_clusters=K).run(data(2), domain=domain, seed=3).cluster_centers, theirs.cluster_centers
    )


def test_glloyd_and_sulloyd_divide_the_budget_as_published():
    s, T = sigma(1.0, 1e-6), GLloyd(n_clusters=K, delta=1e-6).length(2, N)
    plan = GLloyd(n_clusters=K, delta=1e-6).plan(2, N).costs
    whole = 0.45 + math.sqrt(2)
    assert 1 / plan["update.sums"][0].mu == pytest.approx(s * math.sqrt(T * whole) / 2**0.25)
    assert 1 / plan["update.counts"][0].mu == pytest.approx(s * math.sqrt(T * whole / 0.45))
    su = SuLloyd(n_clusters=K, epsilon=1.0)
    assert su.least_epsilon(2, N) == pytest.approx(0.114732, abs=1e-6)
    costs = su.plan(2, N).costs
    each = 1.0 / len(costs["update.sums"])
    assert costs["update.sums"][0].epsilon / each == pytest.approx(0.72996, abs=1e-5)
    assert su.plan(2, N).total(1e-6).pure_epsilon == pytest.approx(1.0)


@pytest.mark.parametrize(("d", "eta"), [(2, 0.400), (16, 2.810)])
def test_radius_and_number_of_iterations(d, eta):
    box = Domain.box(-1, 1, d, n_public=N)
    algorithm = FastLloyd(n_clusters=K, epsilon=1.0, delta=PAPER_DELTA)
    assert algorithm.reach(1, box) == pytest.approx(eta, abs=5e-4)
    assert algorithm.reach(0, box) == pytest.approx(math.sqrt(d))
    constant = FastLloyd(n_clusters=K, strategy="constant")
    assert constant.reach(0, box) == constant.reach(1, box) == pytest.approx(eta, abs=5e-4)
    assert FastLloyd(strategy="none").reach(0, box) is None
    assert algorithm.length(d, N) == {2: 7, 16: 2}[d]
    assert FastLloyd(iterations=11).length(d, N) == 11


def test_without_the_radius_the_noise_grows():
    X, box = data(2)[:2000], Domain.box(-1, 1, 2, n_public=2000)
    with_radius, without = (
        FastLloyd(n_clusters=K, strategy=s, iterations=3).run(X, domain=box, seed=0) for s in ("constant", "none")
    )
    assert noise(without, "sums")[0].scale / noise(with_radius, "sums")[0].scale == pytest.approx(math.sqrt(K) / 0.8)
    assert noise(without, "counts")[0].scale == noise(with_radius, "counts")[0].scale


def test_one_row_changes_one_sum_by_at_most_the_radius():
    rng = np.random.default_rng(0)
    for _ in range(200):
        d, radius = int(rng.integers(1, 5)), float(rng.uniform(0.1, 1.5))
        query = ClusterMoves(snap(rng.uniform(-1, 1, (4, d))), radius)
        x = Rows(rng.uniform(-1.2, 1.2, (6, d)), Domain.box(-1, 1, d)).open().noisy_sum(query, 0, lambda _, s: s)[1]
        y = query.statistic(Block(snap(rng.uniform(-1, 1, (1, d)))))
        assert (np.abs(y["sums"]).sum(axis=1) > 0).sum() <= 1 and y["counts"].sum() <= 1
        assert np.linalg.norm(y["sums"]) <= radius == query.sensitivity(2, Neighboring.ADD_REMOVE)["sums"]
        assert np.isfinite(x["sums"]).all()


def test_a_row_outside_the_radius_belongs_to_no_center():
    query = ClusterMoves(np.array([[0.0, 0.0], [0.75, 0.0]]), 0.25)
    x = np.array([[0.25 - GRID, 0.0], [0.25 + GRID, 0.0], [0.75, 0.125], [-0.9, 0.0]])
    found = query.statistic(Block(x))
    assert found["counts"].tolist() == [1, 1]
    assert found["sums"].tolist() == [[0.25 - GRID, 0.0], [0.0, 0.125]]


def test_offsets_lie_on_the_coarse_grid_when_asked():
    rng = np.random.default_rng(0)
    step = 2.0**-16
    centers = np.rint(rng.uniform(-1, 1, (4, 3)) / step) * step
    sums = ClusterMoves(centers, 2.0, step).statistic(Block(snap(rng.uniform(-1, 1, (50, 3)))))["sums"]
    np.testing.assert_array_equal(sums / step, np.rint(sums / step))


@pytest.mark.parametrize("boundary", ["fold", "clip", "none"])
@pytest.mark.parametrize("dead_cluster", ["jump", "keep"])
@pytest.mark.parametrize("cls", FAMILY)
def test_every_setting_moves_centers_as_documented(cls, dead_cluster, boundary):
    X, box = data(2)[:300], Domain.box(-1, 1, 2, n_public=300)
    algorithm = cls(n_clusters=K, epsilon=0.1, dead_cluster=dead_cluster, boundary=boundary, iterations=4)
    trace = algorithm.run(X, domain=box, seed=1)
    left = False
    for step in trace.steps[1:]:
        said = step.released
        assert np.isfinite(said["centers"]).all()
        if said["constrained"]:
            assert np.linalg.norm(said["clipped"] - said["start"], axis=1).max() <= said["radius"] * (1 + 1e-9)
        else:
            np.testing.assert_array_equal(said["clipped"], said["raw"])
        if dead_cluster == "keep":
            np.testing.assert_array_equal(said["raw"][said["dead"]], said["start"][said["dead"]])
        left |= bool((np.abs(said["centers"]) > 1).any())
    assert left == (boundary == "none")
    limit = 2 * math.sqrt(2) if boundary == "none" else math.sqrt(2)
    assert np.linalg.norm(trace.cluster_centers, axis=1).max() <= limit * (1 + 1e-9)


def test_both_packings_keep_their_distance_and_differ():
    box = Domain.box(-1, 1, 2, n_public=100)
    starts = {
        init: GLloyd(n_clusters=6, init=init).run(data(2)[:100], domain=box, seed=3).steps[0].released["centers"]
        for init in ("packing", "packing-halving")
    }
    gaps = {}
    for init, points in starts.items():
        apart = np.linalg.norm(points[:, None] - points[None], axis=2)[~np.eye(6, dtype=bool)].min() / 2
        walls = (1 - np.abs(points)).min()
        gaps[init] = min(apart, walls)
    assert gaps["packing"] > 0.25 > 0.12 < gaps["packing-halving"]
    assert not np.array_equal(*starts.values())


def test_a_declared_ball_makes_everything_smaller_together():
    X = data(16)
    box, ball = (Domain.box(-1, 1, 16, n_public=N, radius=r) for r in (None, 2.0))
    traces = [FastLloyd(n_clusters=K).run(X, domain=domain, seed=0) for domain in (box, ball)]
    assert noise(traces[1], "sums")[0].scale == pytest.approx(noise(traces[0], "sums")[0].scale / 2)
    assert len(traces[0].ledger) == len(traces[1].ledger)
    for step in traces[1].steps:
        assert np.linalg.norm(step.released["centers"], axis=1).max() <= 2.0


def test_noise_is_drawn_afresh_for_sums_and_counts_and_every_iteration():
    """The published code repeats its noise: sums and counts share a random stream, seeded by seed times iteration."""
    box = Domain.box(-1, 1, 2, n_public=5000)
    trace = FastLloyd(n_clusters=20, iterations=4).run(np.full((1, 2), 0.9), domain=box, seed=0)
    draws = []
    for step in trace.steps[1:]:
        said, true = step.released, step.hidden[0].statistic
        draws.append((said["noisy_counts"] - true["counts"]) / said["counts_sd"])
    flat = np.concatenate(draws)
    assert len(np.unique(flat)) == len(flat)
    assert abs(np.corrcoef(draws)[np.triu_indices(4, 1)]).max() < 0.6
    assert 0.75 < flat.std() < 1.25


@pytest.mark.slow
@pytest.mark.parametrize(("d", "limits"), [(2, (0.021, 0.027, 0.027)), (16, (0.95, 0.98, 1.1))])
def test_losses_stay_near_the_reference(d, limits):
    """Limits are the reference losses at epsilon .5, .0141/.0154/.0168 and .787/.798/.869, plus two standard errors."""
    X, box = data(d), Domain.box(-1, 1, d, n_public=N)
    rows, best = Rows(X, box), {2: 0.0069, 16: 0.0574}[d]
    for cls, limit in zip((FastLloyd, GLloyd, SuLloyd), limits, strict=True):
        values = {} if cls is SuLloyd else {"delta": PAPER_DELTA}
        algorithm = cls(n_clusters=K, epsilon=0.5, dead_cluster="keep", **values)
        losses = [normalized_loss(X, algorithm.run(rows, seed=seed).cluster_centers) for seed in range(6)]
        assert best < np.mean(losses) < limit, cls.name


def literal_step():
    released = {
        "centers": np.array([[0.3, 0.0], [0.75, 0.0]]),
        "start": np.array([[0.0, 0.0], [0.5, 0.0]]),
        "raw": np.array([[0.3, 0.0], [1.5, 0.0]]),
        "clipped": np.array([[0.3, 0.0], [1.25, 0.0]]),
        "noisy_counts": np.array([9.5, 0.5]),
        "dead": np.array([False, True]),
        "radius": 0.75,
        "constrained": True,
        "counts_sd": 2.0,
    }
    hidden = Hidden("update", 0, freeze({"counts": np.array([8.0, 1.0])}))
    return Step("noisy-iteration", "", freeze(released), index=1, hidden=(hidden,))


def test_figure_tables_against_literals():
    moves = lloyd.moves_table(literal_step())
    assert moves.raw.tolist() == [0.3, 1.0] and moves.final.tolist() == [0.3, 0.25]
    assert moves.shortened.tolist() == moves.returned.tolist() == [False, True]
    counts = lloyd.counts_table(literal_step(), hidden=True)
    assert counts.to_dict("list") == {
        "center": [1, 2],
        "noisy_counts": [9.5, 0.5],
        "sd": [2.0, 2.0],
        "dead": [False, True],
        "true_counts": [8.0, 1.0],
    }
    assert "true_counts" not in lloyd.counts_table(literal_step(), hidden=False)
    lost = lloyd.outside(literal_step(), np.array([[0.0, 0.7], [0.5, 0.8], [1.2, 0.0], [-0.7, -0.7]]))
    assert lost.tolist() == [False, True, False, True]


@pytest.mark.parametrize("axes", [(0, 2), None])
def test_the_shadow_of_a_ball_holds_exactly_its_projected_points(axes):
    data = load_sample("iris")
    trace = FastLloyd(n_clusters=3).run(data.X, domain=data.domain, seed=0)
    seen = View(trace, LIGHT, axes, data.columns, data.units)
    outline = lloyd.shadow(seen, np.array([0.5]), np.zeros((1, 4)))[:-1]
    sphere = np.random.default_rng(0).normal(size=(20_000, 4))
    points = seen.plane(0.5 * sphere / np.linalg.norm(sphere, axis=1, keepdims=True)) - seen.plane(np.zeros((1, 4)))
    outline = outline - seen.plane(np.zeros((1, 4)))
    for angle in np.linspace(0, np.pi, 7):
        direction = np.array([np.cos(angle), np.sin(angle)])
        assert (points @ direction).max() == pytest.approx((outline @ direction).max(), rel=0.01)


@pytest.mark.parametrize("cls", FAMILY)
def test_the_family_has_its_own_pane_and_hides_people_unless_asked(cls):
    data = load_sample("town")
    trace = cls(n_clusters=5).run(data.X, domain=data.domain, seed=0)
    assert pane(trace) is lloyd.PANE
    found = {}
    for hidden in (True, False):
        seen = View(trace, LIGHT, (0, 1), data.columns, data.units, data.X, None, None, None, hidden)
        panels = lloyd.PANE.panels(seen)
        frames = {len(panel.figure.frames) for panel in panels}
        assert frames == {len(lloyd.PANE.shots(trace))}
        found[hidden] = "".join(panel.figure.to_json() for panel in panels)
    assert "NOT PRIVATE" in found[True] and "NOT PRIVATE" not in found[False]


def test_the_warning_appears_only_where_counts_drown():
    domain = Domain.box(-1, 1, 2, n_public=200)
    loud = FastLloyd(n_clusters=8, epsilon=0.1).run(data(2)[:200], domain=domain, seed=0)
    assert "Try fewer centers" in lloyd.PANE.warning(loud)
    domain = Domain.box(-1, 1, 2, n_public=N)
    assert lloyd.PANE.warning(FastLloyd(n_clusters=8).run(data(2), domain=domain, seed=0)) == ""
