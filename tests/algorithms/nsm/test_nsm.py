"""Check NSM against its specification: its plan, its search on released values at no cost, and its quality."""

import dataclasses
import itertools
import math
import re
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from dpviz.algorithms.kmeans import KMeans
from dpviz.algorithms.nsm.corrections import (
    Prior,
    Start,
    Tracker,
    clipping_radius,
    correct,
    distance_edges,
    far_out,
    split_merge,
)
from dpviz.algorithms.nsm.look import outer_bin
from dpviz.algorithms.nsm.nsm import MIDDLE, NSM
from dpviz.algorithms.nsm.summary import PointSummary, about_points, sizes, strong, thinned
from dpviz.domain import Domain
from dpviz.metrics import normalized_loss
from dpviz.postprocessing.spread import Shape, Spread, leftover
from dpviz.postprocessing.weighted import lloyd_on, solve
from dpviz.privacy.accounting import default_delta, mu_of_epsilon
from dpviz.privacy.curator import Noisy


@pytest.mark.parametrize("n", [150, 20_000])
@pytest.mark.parametrize("d", [1, 3, 4, 64, 65, 784])
@pytest.mark.parametrize(
    "changed",
    [{}, {"radius_share": 0.0, "distance_share": 0.0}, {"n_clusters": 3, "pooled": False}, {"summary": "boxes"}],
)
def test_shares_add_up_to_mu_squared(n, d, changed):
    algorithm = NSM(epsilon=1.0, **changed)
    plan = algorithm.plan(d, n)
    costs, mu = plan.costs, mu_of_epsilon(1.0, default_delta(n))
    assert sum(cost.gdp**2 for cost in plan.costliest) == pytest.approx(mu**2, rel=1e-12)
    assert plan.ways == ((("candidates",), ("boxes",)) if "look" in costs else ())
    assert ("moment" in costs) == (d > 3) and ("zoom.counts" in costs) == (d <= 3)
    assert ("candidates.counts" in costs) == (d > 3 or algorithm.summary != "boxes")
    assert ("look" in costs) == (d <= 3 and n == 20_000 and algorithm.summary == "either")
    assert ("boxes" in costs) == ("look" in costs or "candidates.counts" not in costs)
    assert ("radius" in costs) == (n == 20_000 and algorithm.radius_share > 0)
    assert ("near" in costs) == (3 < d <= 64 and "radius" not in costs)
    assert ("scatter" in costs) == (n == 20_000 and 3 < d <= 64 and algorithm.n_clusters >= 5)


PRINTED = {  # mu of every release, for iris at epsilon 1 and yeast at epsilon 4, at delta = n^-1.1
    (4, 150, 3, 1.0): {
        "mean.counts": [0.0667], "mean.sums": [0.1155], "near": [0.0990], "candidates.counts": [0.1494],
        "candidates.sums": [0.1830], "moment": [0.1670], "step.counts": [0.0855] * 2, "step.sums": [0.2094] * 2,
    },
    (8, 1484, 10, 4.0): {
        "mean.counts": [0.0083], "mean.sums": [0.0171], "radius": [0.1943], "scatter": [0.2471],
        "candidates.counts": [0.3731], "candidates.sums": [0.4569], "moment": [0.4171], "distances": [0.1263] * 4,
        "step.counts": [0.1230] * 4, "step.sums": [0.3583] * 4,
    },
}  # fmt: skip


@pytest.mark.parametrize("case", PRINTED)
def test_plan_against_printed_values(case):
    d, n, k, epsilon = case
    costs = NSM(n_clusters=k, epsilon=epsilon, delta=n**-1.1).plan(d, n).costs
    assert set(costs) == set(PRINTED[case])
    for name, printed in PRINTED[case].items():
        assert [cost.gdp for cost in costs[name]] == pytest.approx(printed, abs=6e-5), name


def test_the_mean_is_released_at_the_lowest_price_that_keeps_its_noise_small():
    assert "mean.sums" not in NSM().plan(3, 100_000).costs and "mean.sums" not in NSM().plan(5, 100).costs
    assert "mean.sums" not in NSM(middle_share=0.0).plan(5, 100_000).costs
    n = round(math.sqrt(100) / (MIDDLE * mu_of_epsilon(1.0, 1e-6) * math.sqrt(0.01)))  # the mean costs .01 of mu^2
    assert ["mean.sums" in NSM(delta=1e-6).plan(100, n + step).costs for step in (-2, 2)] == [False, True]
    for d, n in ((5, 5_000), (5, 50_000), (100, 50_000)):
        costs = NSM().plan(d, n).costs
        (sums,), (counts,) = costs["mean.sums"], costs["mean.counts"]
        noise = math.sqrt(d) / (math.hypot(sums.gdp, counts.gdp) * n)
        assert noise == pytest.approx(MIDDLE)


def corner(n, d, seed=0):
    X = make_blobs(n, d, centers=4, cluster_std=0.3, center_box=(0, 5), random_state=seed)[0]
    return X, Domain.box(np.full(d, -2.0), np.full(d, 40.0), n_public=n)


def test_later_releases_are_centered_on_the_mean_of_rows_in_a_corner():
    X, domain = corner(4000, 6)
    trace = NSM(n_clusters=4, epsilon=4.0).run(X, domain=domain, seed=0)
    steps = {step.kind: step.released for step in trace.steps}
    middle, true = steps["mean"]["middle"], domain.normalize(X).mean(axis=0)
    off = np.linalg.norm(true)
    assert off > 0.7 * domain.radius and np.linalg.norm(middle - true) < 0.3 * off
    assert steps["radius"]["radius"] < 0.6 * off  # seen from the middle of the box, rows reach beyond `off`
    blind = NSM(n_clusters=4, epsilon=4.0, middle_share=0.0).run(X, domain=domain, seed=0)
    losses = [normalized_loss(X, one.cluster_centers, domain) for one in (trace, blind)]
    assert losses[0] < losses[1]


def test_a_mean_that_noise_explains_is_the_middle_of_the_box():
    rng = np.random.default_rng(0)
    gains = []
    for seed in range(5):
        X = rng.uniform(-1, 1, (1000, 16))
        trace = NSM(n_clusters=3).run(X, domain=Domain.box(-1, 1, 16, n_public=1000), seed=seed)
        gains += [step.released["gain"] for step in trace.steps if step.kind == "mean"]
    assert len(gains) == 5 and min(gains) == 0 and max(gains) < 0.7


@pytest.mark.parametrize(("d", "shape"), [(5, "both"), (5, "none"), (70, "both")])
def test_releases_about_the_mean_move_with_the_rows(d, shape):
    """With all rows in a corner of the box, the loss stays within a tenth of KMeans'."""
    X, domain = corner(3000, d, seed=1)
    trace = NSM(n_clusters=4, epsilon=8.0, shape=shape).run(X, domain=domain, seed=2)
    plain = KMeans(n_clusters=4).run(X, domain=domain, seed=0).cluster_centers
    ratio = normalized_loss(X, trace.cluster_centers, domain) / normalized_loss(X, plain, domain)
    assert ratio < 1.1


def test_too_large_shares_are_one_sentence():
    with pytest.raises(ValueError, match=r"NSM \(ours\): first_share \+ histogram_share must be < 1; got 1.1"):
        NSM(first_share=0.6, histogram_share=0.5).plan(5, 1000)


def test_every_planned_release_is_made():
    for d in (2, 5, 70):
        X = np.random.default_rng(0).uniform(-1, 1, (3000, d))
        trace = NSM(n_clusters=6).run(X, domain=Domain.box(-1, 1, d, n_public=3000), seed=0)
        plan = NSM(n_clusters=6).plan(d, 3000)
        planned = {
            name: costs for name, costs in plan.costs.items() if plan.way(name) != 1
        }  # no boxes: rows are spread
        assert sorted(entry.name for entry in trace.ledger) == sorted(n for n, c in planned.items() for _ in c)


def test_warning_number():
    assert not NSM(n_clusters=8, epsilon=1.0).advice(2, 5000)
    (words,) = NSM(n_clusters=8, epsilon=0.1).advice(16, 1000)
    assert "noise will dominate" in words and "below 5" in words


def test_far_rows_are_those_that_noise_cannot_explain():
    edges, counts = distance_edges(8.0), np.zeros(28)
    counts[[0, 3, 16, 20]] = [20, -5, 500, 1480]  # 1% of the rows lie 32 times as far out as the median row
    rows, away, squares = far_out(counts, 5.0, edges)
    assert rows == pytest.approx(20 / 1995) and away == pytest.approx(32)
    assert squares == pytest.approx(20 * 1024 / (20 * 1024 - 5 * 1024 / 2**1.5 + 500 * 4 + 1480))
    assert far_out(counts, 6.0, edges)[0] > 0.2  # 20 rows are less than 3.5 sd, and the next cells hold none
    assert far_out(np.zeros(28), 5.0, edges) == far_out(counts, 1e4, edges) == (0.0, 1.0, 0.0)
    counts[0] = 5
    assert far_out(counts, 1.0, edges)[1] == pytest.approx(2)  # less than .3% of the rows are no group


def test_after_boxes_far_rows_raise_a_doubt_only_if_half_of_the_centers_are_empty():
    method, domain, edges = NSM(n_clusters=4), Domain.box(-1, 1, 2, n_public=5000), distance_edges(2.0)
    sd = method.plan(2, 5000).costs["step.counts"][-1].scale(1.0)

    def doubts(bin_of_the_rest, few, *, boxes):
        distances = np.zeros(28)
        distances[[0, bin_of_the_rest]] = [300, 4700]
        counts = np.array([2600, 2400 - few, few, 2.9 * sd])
        end = {"distances": distances, "distance_edges": edges, "noisy_counts": counts}
        return method.doubts({"correction": end} | ({"boxes": {}} if boxes else {}), domain)

    assert "some 5 times" in doubts(9, 2.9 * sd, boxes=True)[0] and doubts(9, 3.1 * sd, boxes=True) == ()
    assert doubts(8, 0, boxes=True) == doubts(9, 0, boxes=False) == ()  # 4 times as far, and 5 times without boxes
    assert "some 6 times" in doubts(10, 3.1 * sd, boxes=False)[0]


@pytest.mark.slow
def test_rows_far_from_all_centers_are_named_as_they_are_and_never_on_blobs():
    """The stated shares are those of the true distances, to within a fifth, in all 11 runs that doubt."""
    rng = np.random.default_rng(0)
    sets = {"tails": rng.lognormal(0, 2, (4000, 2)), "blobs": make_blobs(4000, 2, centers=6, random_state=0)[0]}
    doubts = {"tails": 0, "blobs": 0}
    for name, X in sets.items():
        domain = Domain.box(X.min(axis=0), X.max(axis=0), n_public=4000)
        Z = domain.normalize(X)
        for epsilon, seed in itertools.product((1, 2, 4), range(5)):
            run = NSM(n_clusters=6, epsilon=epsilon).run(X, domain=domain, seed=seed)
            said = [words for words in run.warnings if "small groups far out may have no center" in words]
            doubts[name] += len(said)
            for words in said:
                end = run.steps[-1].released
                away = np.sqrt(((Z[:, None] - end["start"]) ** 2).sum(axis=2).min(axis=1))
                rows, squares = (float(part) / 100 for part in re.findall(r"about ([.\d]+)%", words))
                far = np.argsort(-away)[: round(rows * 4000)]
                inner = np.minimum(away, end["distance_edges"][0])
                assert (inner[far] ** 2).sum() / (inner**2).sum() == pytest.approx(squares, abs=0.2)
        assert not NSM(n_clusters=6, distance_share=0.0).run(X, domain=domain, seed=0).warnings
    assert doubts == {"tails": 11, "blobs": 0}


def test_radius_is_the_edge_that_noise_cannot_explain():
    counts = np.array([3.0, -2.0, 400.0, 50.0])
    assert outer_bin(counts, 5.0) == 2  # 2 sqrt(3) 5 = 17.3 < 401
    assert outer_bin(np.array([3.0, -2.0, 4.0, 1.0]), 5.0) == 3


def test_directions_of_noise_are_nothing_and_of_a_spike_are_found():
    rng = np.random.default_rng(0)
    p, sd, n = 20, 3.0, 10_000
    noise = rng.normal(scale=sd, size=(p, p))
    noise = (noise + noise.T) / 2
    spread = Spread.of(noise, sd, n, 1.0)
    assert np.ptp(spread.variances) == 0 and spread.total <= 1
    spike = np.zeros(p)
    spike[3] = 1.0
    spread = Spread.of(2000 * np.outer(spike, spike) + noise, sd, n, 1.0)
    assert abs(spread.directions[3, spread.variances.argmax()]) > 0.99
    assert spread.variances.max() * n == pytest.approx(2000, rel=0.05) and spread.total == pytest.approx(0.2, rel=0.1)


def test_a_shape_is_undone_keeps_the_mean_square_and_lowers_the_noise():
    rng = np.random.default_rng(0)
    directions, variances = np.linalg.qr(rng.normal(size=(5, 5)))[0], np.array([1.0, 0.3, 0.02, 0.02, 0.01])
    shape = Shape.of(variances, directions)
    x = rng.normal(size=(7, 5))
    np.testing.assert_allclose(shape.undo(x @ shape.matrix), x)
    assert (shape.stretch**2 * variances).sum() == pytest.approx(variances.sum())
    assert (shape.stretch**-2.0).sum() < 0.6 * 5  # less than 60% of the variance of equal noise


def test_candidates_explain_what_they_are_close_to():
    rng = np.random.default_rng(0)
    spread = Spread(np.array([1.0, 1.0, 1e-4, 1e-4]) / 20, np.eye(4), 0.1)
    left = leftover(spread, spread.draw(60, 1.0, rng), 1.0, rng)
    assert (left.explained[:2] > 0.8).all() and left.variances.sum() < 0.3 * spread.variances.sum()
    few = leftover(spread, spread.draw(2, 1.0, rng), 1.0, rng)
    assert not few.explained.any()
    np.testing.assert_array_equal(few.variances, spread.variances)


def test_a_far_candidate_must_beat_noise_everywhere_and_small_clusters_stay():
    counts = np.array([900.0, 50.0, 45.0, -3.0, 40.0, 30.0])
    kept, _ = strong(counts, 10.0, 3, least=3, far=2)  # sqrt(2 ln 10) 10 = 21.5
    assert kept.tolist() == [True, True, True, False, True, True]
    kept, _ = strong(counts, 20.0, 3, least=3, far=2)  # 42.9
    assert kept.tolist() == [True, True, True, False, False, False]


def test_candidates_far_from_rows_stand_for_as_much_space_as_they_are_far():
    rng = np.random.default_rng(0)
    population = rng.uniform(-1, 1, (800, 2))
    kept = np.linalg.norm(population - 0.8, axis=1) < 0.1
    outside = thinned(population, kept, 0.05)
    away = np.linalg.norm(population[:, None] - population[kept], axis=2).min(axis=1)
    far = np.linalg.norm(outside[:, None] - population[kept], axis=2).min(axis=1)
    assert far.min() > 0.05 and 10 < len(outside) < 100
    apart = np.linalg.norm(outside[:, None] - outside, axis=2)[np.triu_indices(len(outside), 1)]
    assert (apart >= 0.5 * np.broadcast_to(far, (len(far), len(far)))[np.triu_indices(len(far), 1)]).all()
    covered = np.linalg.norm(population[:, None] - outside, axis=2).min(axis=1)
    assert (covered <= 0.5 * away)[away > 0.05].all()  # no omitted point is farther from the chosen points
    assert thinned(population, np.ones(800, dtype=bool), 0.05).shape == (0, 2)


@pytest.mark.parametrize(
    ("outside", "stay"), [([45.0, 12.0, 9.0, -3.0], [1, 1, 0, 0]), ([25.0, 12.0, 9.0, -3.0], [0] * 4)]
)
def test_thinned_candidates_stay_if_all_of_them_hold_more_than_noise(outside, stay):
    counts = np.array([300.0, 200.0, -5.0, *outside])  # the sd is 10; do the last four sum to over 3 sqrt(4) 10 = 60?
    answer = Noisy({"counts": counts, "sums": np.zeros((7, 2))}, {"counts": 10.0, "sums": 0.1})
    answers = Answers(zoom=answer)
    population = np.arange(14.0).reshape(7, 2) / 16
    summary = about_points(answers, "zoom", population, 0.1, 2, least=2, thin=4)
    assert summary.released["kept"].tolist() == [True, True, False, *map(bool, stay)]


def test_a_tail_in_one_column_gets_centers():
    X = np.random.default_rng(0).lognormal(0, 1.5, (4000, 1))
    domain = Domain.box(np.zeros(1), X.max(axis=0), n_public=4000)
    plain = normalized_loss(X, KMeans(n_clusters=5).run(X, domain=domain, seed=0).cluster_centers, domain)
    runs = [NSM(n_clusters=5, epsilon=2.0).run(X, domain=domain, seed=seed) for seed in range(3)]
    assert np.mean([normalized_loss(X, run.cluster_centers, domain) for run in runs]) < 1.8 * plain


def test_pooled_counts_and_damped_moves():
    rng, tracker, n = np.random.default_rng(0), Tracker(200, pooled=True), np.full(200, 50.0)
    first, sd = tracker.counts(n + rng.normal(0, 4, 200), 4.0)
    both, less = tracker.counts(n + rng.normal(0, 4, 200), 4.0)
    assert sd == 4.0 and less == pytest.approx(4 / math.sqrt(2)) and both.std() < first.std()
    noise, moved = np.full(200, 0.01), np.ones(200, dtype=bool)
    error = tracker.shrink(0.1 * rng.normal(size=(200, 8)), noise, moved)  # centers are right, so all moves are noise
    again = tracker.shrink(-error + 0.1 * rng.normal(size=(200, 8)), noise, moved)
    alone = -error + 0.1 * rng.normal(size=(200, 8))
    assert ((error + again) ** 2).mean() < 0.8 * ((error + alone) ** 2).mean()
    large = tracker.shrink(rng.normal(size=(200, 8)) + 5, noise, moved)
    assert large.mean() == pytest.approx(5, rel=0.05)  # a move far above the noise is made in full


def test_a_prior_draws_counts_to_the_typical_one_as_far_as_noise_explains_them():
    rng, k = np.random.default_rng(0), 200
    votes = Prior(64 + rng.normal(0, 30, k), np.full(k, 30.0**-2), 64.0)
    alike, sd = Tracker(k, pooled=True, prior=votes).counts(64 + rng.normal(0, 40, k), 40.0)
    assert abs(alike - 64).max() < 20 and sd.max() < 10  # sizes are equal; noise alone would give an sd of 24
    sizes = rng.uniform(500, 5000, k)
    votes = Prior(sizes + rng.normal(0, 30, k), np.full(k, 30.0**-2), sizes.mean())
    unlike, sd = Tracker(k, pooled=True, prior=votes).counts(sizes + rng.normal(0, 40, k), 40.0)
    assert (unlike - sizes).std() < 30 and sd == pytest.approx(24, rel=0.01)  # 1 / sqrt(1/900 + 1/1600)


def test_a_prior_damps_the_first_move_by_what_noise_would_show():
    rng, k, d = np.random.default_rng(0), 200, 8
    prior, noise, moved = Prior(np.zeros(k), np.zeros(k), 50.0), np.full(k, 0.01), np.arange(k) > 0
    tracker = Tracker(k, pooled=True, prior=prior)
    shifts = 0.1 * rng.normal(size=(k, d))  # centers are right, so all moves are noise
    damped = tracker.shrink(shifts, noise, moved)
    assert (damped[1:] ** 2).sum() < 0.2 * (shifts**2).sum()
    told = tracker.deviation(noise)
    assert (told[1:] < 0.1).all() and (told > 0).all() and told[0] == 0.01  # the first estimate uses noise alone
    far = Tracker(k, pooled=True, prior=prior).shrink(shifts + 5, noise, moved)
    assert far[1:].mean() == pytest.approx(5, rel=0.01)  # a move far above the noise is made in full
    assert Tracker(k, pooled=True).shrink(shifts, noise, moved) == pytest.approx(shifts)


def test_sizes_follow_from_all_candidates_and_are_unknown_without_any():
    population, votes = np.array([[0.0], [0.1], [5.0], [5.2]]), np.array([30.0, -4.0, 50.0, 8.0])
    released = {"population": population, "noisy_votes": votes, "noise_sd": 3.0}
    summary = PointSummary(population[::2], votes[::2], 3.0, released)
    prior = sizes(summary, np.array([[0.0], [5.0], [99.0]]), 28.0)
    # votes of dropped candidates count, too; those of kept candidates alone would give sizes that are too large
    assert prior.counts.tolist() == [26.0, 58.0, 0.0]
    np.testing.assert_allclose(prior.precision, [1 / 18, 1 / 18, 0.0])
    exact = dataclasses.replace(summary, released={**released, "noise_sd": 0.0})
    assert sizes(exact, np.zeros((1, 1)), 88.0) is None


def test_a_prior_is_used_between_4_and_64_columns_and_not_without_noise():
    for d, differs in ((3, False), (4, True), (64, True), (65, False)):
        X = make_blobs(400, d, centers=4, random_state=0)[0]
        domain = Domain.tight_nonprivate(X)
        runs = [NSM(n_clusters=4, prior=prior).run(X, domain=domain, seed=0) for prior in (True, False)]
        assert np.array_equal(*[run.cluster_centers for run in runs]) != differs
        exact = [NSM(n_clusters=4, prior=p).run(X, domain=domain, seed=0, noise="none") for p in (True, False)]
        assert np.array_equal(*[run.cluster_centers for run in exact])


def test_clipping_radius_weighs_noise_against_what_is_cut_off():
    edges = distance_edges(4.0)
    counts = np.zeros(28)
    counts[12] = 1000.0  # all rows are in the bin whose outer edge is 2^-3 of the top edge
    rows = edges[12]
    assert clipping_radius(counts, 1.0, edges, 1e-9, 1000.0) == pytest.approx(rows)
    assert clipping_radius(counts, 1.0, edges, 10.0, 1000.0) < rows / 2
    counts[0] = 5.0  # this count is within the noise, so the radius need not cover its bin
    assert clipping_radius(counts, 10.0, edges, 1e-3, 1000.0) == pytest.approx(rows)


def small_and_far():
    """Return three clusters of 2,000 rows each, and five distant ones of 100 rows each."""
    rng = np.random.default_rng(0)
    at = np.linspace(0, 2 * np.pi, 5, endpoint=False) + 0.3
    large, far = np.array([[-0.3, -0.3], [0.35, -0.25], [0.0, 0.35]]), 0.95 * np.stack([np.cos(at), np.sin(at)], 1)
    return np.concatenate(
        [c + 0.05 * rng.normal(size=(2000, 2)) for c in large] + [c + 0.02 * rng.normal(size=(100, 2)) for c in far]
    )


@pytest.mark.slow
def test_with_boxes_small_groups_far_out_get_centers_at_a_small_budget():
    X = small_and_far()
    domain = Domain.box(X.min(axis=0), X.max(axis=0), n_public=len(X))
    plain = normalized_loss(X, KMeans(n_clusters=8).run(X, domain=domain, seed=0).cluster_centers, domain)
    runs = [NSM(n_clusters=8, epsilon=0.5, summary="boxes").run(X, domain=domain, seed=seed) for seed in range(3)]
    assert max(normalized_loss(X, run.cluster_centers, domain) for run in runs) < 2 * plain


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.8, 0.9, 1.2, 2.0])
def test_a_declared_n_that_is_a_little_off_loses_no_cluster(share):
    X = small_and_far()
    tight = Domain.tight_nonprivate(X)
    domain = dataclasses.replace(tight, n_public=int(share * len(X)))
    plain = normalized_loss(X, KMeans(n_clusters=8).run(X, domain=tight, seed=0).cluster_centers, tight)
    trace = NSM(n_clusters=8).run(X, domain=domain, seed=0)
    assert normalized_loss(X, trace.cluster_centers, tight) < 1.1 * plain and len(trace.warnings) == 0


def test_split_and_merge_repairs_a_missed_cluster():
    """Two clusters, at e1 and -e1, share a center; the cluster at 5 e2 has two centers."""
    d = 6
    truth = np.eye(d)[[0, 1, 2]] * [[1], [5], [5]]
    truth = np.vstack([truth, -truth[0]])
    centers = np.vstack([np.zeros(d), truth[1] + 0.1, truth[1] - 0.1, truth[2]])
    counts, scatter = np.array([200.0, 50.0, 50.0, 100.0]), np.array([210.0, 4.0, 4.0, 8.0])
    moment = 100 * truth.T @ truth
    fixed, split = split_merge(centers, counts, scatter, 10.0, moment, 5.0)
    assert split.tolist() == [True, True, True, False]
    apart = np.linalg.norm(fixed[:, None] - truth[None], axis=2)
    assert apart.min(axis=0).max() < 0.1  # every true cluster has a center again
    same, split = split_merge(centers, counts, scatter, 250.0, moment, 5.0)
    assert not split.any() and np.array_equal(same, centers)  # no split while noise could explain the excess
    same, split = split_merge(centers, counts, scatter, 10.0, moment, 1e6)
    assert not split.any()  # no direction stands out


class Answers:
    """A curator that gives prepared answers, one to each release."""

    n_features = 6

    def __init__(self, **answers):
        self.answers, self.plan = answers, SimpleNamespace(costs=dict.fromkeys(["step.counts", "scatter"], ["once"]))

    def release(self, label, query):
        return self.answers[label]


def test_a_negative_noisy_count_moves_no_half_to_the_bounds():
    """A cluster with 50 rows by its votes, but a noisy count of -5, is not treated as if it had only one row."""
    at = np.eye(6)[:4] * 0.5
    votes = Prior(np.full(4, 50.0), np.full(4, 3.0**-2), 50.0)
    counts, sums = np.array([-5.0, 50.0, 50.0, 50.0]), np.zeros((4, 6))
    step = Noisy({"counts": counts, "sums": sums}, {"counts": 20.0, "sums": 0.5})
    answers = Answers(step=step, scatter=Noisy(np.array([30.0, 2.0, 2.0, 2.0]), 1.0))
    moment = Noisy(np.diag([12.5, 12.5, 12.5, 12.5, 40.0, 0.0]), 1e-3)
    begin = Start(at, 0.3, 3.0, moment=moment, prior=votes)
    released = next(correct(answers, 3.0, begin, pooled=True)).released
    assert released["moved"].all() and released["split"][0]
    halves = released["centers"][released["split"]]
    # with 50 rows, halves move by sqrt(30 / 50); with one row they would move by 3, the radius
    assert np.linalg.norm(halves, axis=1).max() < 1.5


def test_solve_with_few_points_copies_and_with_many_finds_them():
    rng = np.random.default_rng(0)
    few = np.array([[0.0, 0.0], [1.0, 1.0]])
    found = solve(few, np.ones(2), 5, rng, jitter=1e-3)
    assert found.shape == (5, 2)
    assert np.linalg.norm(found[:, None] - few, axis=2).min(axis=1).max() < 0.01
    X, _, truth = make_blobs(600, 2, centers=30, cluster_std=0.05, random_state=1, return_centers=True)
    found = solve(X, np.ones(600), 30, rng, jitter=0.0)
    assert np.linalg.norm(truth[:, None] - found, axis=2).min(axis=1).max() < 0.2


def test_an_empty_center_stays_in_weighted_lloyd():
    moved = lloyd_on(np.array([[0.0], [1.0]]), np.ones(2), np.array([[0.5], [9.0]]), 3)
    np.testing.assert_array_equal(moved, [[0.5], [9.0]])


@pytest.mark.slow
@pytest.mark.parametrize(("d", "k", "bound"), [(2, 15, 1.03), (8, 10, 1.05)])
def test_loss_is_near_kmeans(d, k, bound):
    X = make_blobs(6000, d, centers=k, random_state=0)[0]
    for loose in (1.0, 4.0):
        tight = Domain.tight_nonprivate(X)
        half = loose * (tight.high - tight.low) / 2
        domain = Domain(tight.middle - half, tight.middle + half, "common", 1.0, 6000, origin=tight.origin)
        plain = normalized_loss(X, KMeans(n_clusters=k).run(X, domain=domain, seed=0).cluster_centers, domain)
        found = [
            normalized_loss(X, NSM(n_clusters=k).run(X, domain=domain, seed=s).cluster_centers, domain) for s in (0, 1)
        ]
        assert np.mean(found) <= bound * plain * (1 if loose == 1 else 1.2)


@pytest.mark.slow
def test_784_columns_are_summarized_in_a_projection():
    X = make_blobs(3000, 784, centers=4, random_state=0)[0]
    domain = Domain.tight_nonprivate(X)
    trace = NSM(n_clusters=4, epsilon=2.0).run(X, domain=domain, seed=0)
    by_kind = {step.kind: step.released for step in trace.steps}
    assert by_kind["moment"]["moment"].shape == (32, 32) and trace.cluster_centers.shape == (4, 784)
    plain = KMeans(n_clusters=4).run(X, domain=domain, seed=0).cluster_centers
    assert normalized_loss(X, trace.cluster_centers, domain) < 1.5 * normalized_loss(X, plain, domain)


@pytest.mark.slow
def test_any_k_from_the_coreset_costs_nothing():
    X = make_blobs(5000, 2, centers=6, cluster_std=0.4, random_state=3)[0]
    domain = Domain.tight_nonprivate(X)
    trace = NSM(n_clusters=6, epsilon=2.0).run(X, domain=domain, seed=0)
    coreset = trace.coreset
    for k in (3, 12):
        centers = solve(coreset.points, coreset.weights, k, np.random.default_rng(0), jitter=0.0)
        plain = KMeans(n_clusters=k).run(X, domain=domain, seed=0).cluster_centers
        ratio = normalized_loss(X, centers, domain) / normalized_loss(X, plain, domain)
        assert ratio < 1.5


def test_rows_in_one_point_still_give_centers():
    domain = Domain.box(-1, 1, 2, n_public=500)
    for X in (np.zeros((500, 2)), np.full((4, 2), 0.5), np.tile([[1.0, 1.0]], (9, 1))):
        trace = NSM(n_clusters=4, epsilon=0.5).run(X, domain=domain, seed=0)
        assert np.isfinite(trace.cluster_centers).all() and np.abs(trace.cluster_centers).max() <= math.sqrt(2) + 1e-9
