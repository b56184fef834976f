"""Check DPM: scores and their ranges, costs along paths, a counterexample, bad input, and the clusters found."""

import dataclasses
import math
from collections import defaultdict

import numpy as np
import pytest
from scipy.stats import chisquare

from dpviz.algorithms import ALGORITHMS
from dpviz.algorithms.trees.dpm import DPM
from dpviz.domain import Domain
from dpviz.geometry import snap
from dpviz.metrics import hungarian_accuracy, majority_accuracy
from dpviz.privacy.block import Block
from dpviz.privacy.costs import Exponential
from dpviz.privacy.curator import ALL, Curator
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.noise import Seeded
from dpviz.privacy.plan import Plan
from dpviz.privacy.queries import Below, HalfIntervalCounts, SplitScore
from dpviz.privacy.rows import MemorySession, Rows

AR, REPLACE = Neighboring.ADD_REMOVE, Neighboring.REPLACE
T, Q, ALPHA = DPM().centreness, DPM().quantile, DPM().emptiness_weight
KNOBS = [(T, Q, ALPHA), (0.9, 0.05, 0.5), (0.5, 0.25, 0.0), (0.2, 0.1, 20.0)]


def three_blobs(n=600, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=n)
    X = np.array([[-0.6, -0.6], [0.6, -0.5], [0.0, 0.6]])[labels] + rng.normal(0, 0.04, (n, 2))
    return X, labels


def box(d=2, **facts):
    return Domain.box(-1, 1, d, **facts)


# The score.


def score_by_sorting(x, score):
    """Return the paper's score times n for every cut, computed from sorted columns instead of the histogram."""
    n, found = score.noisy_count, []
    for i, cuts in enumerate(score.histogram.cuts):
        column, half = np.sort(x[:, i]), score.histogram.half[i]
        for cut in cuts:
            below = np.searchsorted(column, cut, side="left")
            near = np.searchsorted(column, cut + half, side="left") - np.searchsorted(column, cut - half, side="left")
            m = n / 2 - abs(below - n / 2)
            outer = m * score.t / (n * score.q)
            inner = (score.t - 2 * score.q) / (1 - 2 * score.q) + m * (1 - score.t) / (n * (0.5 - score.q))
            value = (outer if m <= n * score.q else inner) + score.alpha * np.clip(1 - near / n, 0, 1)
            found.append(n * value if score.low[i] < cut < score.high[i] else -np.inf)
    return np.array(found)


@pytest.mark.parametrize("interval", [0.3, 0.025, 0.004])
def test_histogram_scores_equal_sorted_scores_with_ties_and_edges(interval):
    rng = np.random.default_rng(0)
    histogram = HalfIntervalCounts.over(np.array([1.0, 0.4, 1.0]), interval)
    cuts = histogram.cuts
    for trial in range(20):
        x = np.column_stack([rng.uniform(-1, 1, 60), rng.uniform(-0.4, 0.4, 60), rng.choice([-1.0, 0.25, 1.0], 60)])
        x[:20, 0] = rng.choice(cuts[0], 20)  # positions exactly on cuts and on interval ends
        x[20:30, 0] = rng.choice(cuts[0] - histogram.half[0], 10)
        low, high = -np.array([1.0, 0.4, 1.0]), np.array([1.0, 0.4, 1.0])
        low[0] = cuts[0, trial % histogram.intervals]
        score = SplitScore(histogram, float(rng.uniform(0.5, 200)), low, high, T, Q, ALPHA)
        x = snap(x)
        np.testing.assert_allclose(score.utility(histogram.statistic(Block(x))), score_by_sorting(x, score), atol=1e-9)


def test_codes_are_bytes_and_no_row_reaches_beyond_the_last():
    for interval in (1.0, 0.7, 0.5, 0.025, 1 / 128):
        histogram = HalfIntervalCounts.over(np.array([1.0, 1 / 3]), interval)
        ends = np.vstack([histogram.low, -histogram.low])
        counts = histogram.statistic(Block(ends))[""]
        assert histogram._codes(ends).dtype == np.uint8 and counts.shape == (2, 2 * histogram.intervals)
        assert (counts[:, 0] == 1).all() and (counts[:, -1] == 1).all()
    assert HalfIntervalCounts.over(np.ones(1), 0.7).intervals == 1


def test_the_smaller_sibling_is_counted_the_other_subtracted_and_both_are_right():
    rng = np.random.default_rng(1)
    x = snap(rng.uniform(-1, 1, (500, 3)))
    counted = []

    class Spy(HalfIntervalCounts):
        def statistic(self, block):
            counted.append(block.n)
            return super().statistic(block)

    query, session = Spy.over(np.ones(3), 0.05), MemorySession(Block(x))
    session._statistic(query, ALL)
    small, large = session.partition(ALL, Below(0, -0.75))
    for scope in (large, small):
        rows = x[(x[:, 0] < -0.75) == (scope == small)]
        np.testing.assert_array_equal(session._statistic(query, scope)[""], query.statistic(Block(rows))[""])
    assert counted[0] == 500 and counted[1] == int((x[:, 0] < -0.75).sum()) and 500 - counted[1] in counted[2:]
    assert (query, ALL) not in session._kept


def changes(score, x, extra, gone=None):
    """Return the change in every finite utility if the row `extra` is added and the row `gone`, if any, is removed."""
    before = x if gone is None else np.vstack([x, gone])
    one, two = (score.utility(score.query.statistic(Block(rows))) for rows in (before, np.vstack([x, extra])))
    inside = np.isfinite(one)
    return (two - one)[inside]


def widest(relation, knobs=KNOBS[0], trials=400):
    """Return the largest share of the declared range that any pair of neighbors reaches, and the largest change."""
    rng = np.random.default_rng(2)
    share = largest = 0.0
    for _ in range(trials):
        d = int(rng.integers(1, 4))
        histogram = HalfIntervalCounts.over(np.ones(d), float(rng.choice([0.05, 0.2])))
        n = int(rng.integers(1, 40))
        x = snap(np.where(rng.random((n, d)) < 0.8, rng.choice([-0.9, 0.0, 0.9], (n, d)), rng.uniform(-1, 1, (n, d))))
        row, other = snap(np.where(rng.random(d) < 0.5, rng.choice([-0.9, 0.7], d), rng.uniform(-1, 1, (2, 1, d))))
        score = SplitScore(histogram, float(n * rng.uniform(0.5, 5)), -np.ones(d), np.ones(d), *knobs)
        change = changes(score, x, row, None if relation is AR else other)
        share = max(share, float(np.ptp(change)) / score.range(relation))
        largest = max(largest, float(np.abs(change).max()))
    return share, largest


@pytest.mark.parametrize("knobs", KNOBS)
@pytest.mark.parametrize("relation", [AR, REPLACE])
def test_the_declared_range_holds_for_any_noisy_count_and_any_t_q_alpha(relation, knobs):
    t, q, alpha = knobs
    share, largest = widest(relation, knobs)
    assert (0.6 if alpha == ALPHA else 0.3) < share <= 1 + 1e-9
    assert largest <= (t / q + alpha) * (1 if relation is AR else 2) + 1e-9


def worst_pair(cls):
    """Return the share of the declared range that a row reaches if it is last in one column and first in the other."""
    score = cls(HalfIntervalCounts.over(np.ones(2), 0.2), 40.0, -np.ones(2), np.ones(2), T, Q, ALPHA)
    change = changes(score, np.zeros((40, 2)), snap(np.array([[0.7, -0.9]])))
    return float(np.ptp(change)) / score.range(AR)


def test_the_declared_range_is_reached_and_definition_4_as_printed_is_caught():
    class Printed(SplitScore):
        def range(self, neighboring):
            return self.t / self.q + self.alpha  # D in exp(eps f / D) is the largest change

    assert worst_pair(SplitScore) == pytest.approx(1.0)
    assert worst_pair(Printed) == pytest.approx(1.4186, abs=1e-4)


def test_cuts_are_chosen_with_the_probabilities_of_the_closed_form():
    x = three_blobs(60)[0]
    domain = box(n_public=60)
    histogram = HalfIntervalCounts.over(domain.box_z, 0.25)
    score = SplitScore(histogram, 60.0, -np.ones(2), np.ones(2), T, Q, ALPHA)
    rows, epsilon, draws = Rows(x, domain), 3.0, 4000
    curator = Curator(
        rows, Plan({"split": (Exponential(epsilon),) * draws}), Seeded(np.random.default_rng(3)),
        neighboring=AR, n_public=60, hidden=None,
    )  # fmt: skip
    seen = np.bincount([curator.select("split", score) for _ in range(draws)], minlength=8)
    utility = score_by_sorting(rows._x, score)
    p = np.exp(epsilon * utility / (2 * T / Q + ALPHA))
    assert chisquare(seen, draws * p / p.sum()).pvalue > 1e-3


# The paper's interval estimate is not private, so it is not offered.


def log_probability(gaps, low, high, epsilon):
    """Return the log probability that the exponential mechanism puts the 65th percentile of the gaps in [low, high]."""
    values = np.linspace(0, 1, 4001)[1::2]
    ranks = np.searchsorted(np.sort(gaps), values)
    weights = -epsilon * np.abs(ranks - 0.65 * len(gaps)) / (2 * 1.35)  # 1.35 is the sensitivity for one column
    inside = (low <= values) & (values <= high)
    return np.logaddexp.reduce(weights[inside]) - np.logaddexp.reduce(weights)


def test_one_row_can_change_every_averaged_gap():
    """Check a counterexample to the paper's interval estimate: one row changes nearly all averages of gaps.

    Gaps 0, 1, 0, 1... in one column and 1, 0, 1, 0... in the other average to .5 everywhere. If a row is added that is
    first in one column and last in the other, they average to 0, 1, 0, 1..., and ranks move by half of n, not by 2.
    """
    n, epsilon = 10_000, 0.04
    gaps = np.tile([0.0, 1.0], n // 2)
    columns = [np.concatenate([[0.0], np.cumsum(g)]) for g in (gaps, 1 - gaps)]
    longer = np.append(columns[0], 0.0), np.append(columns[1], columns[1].max())
    before, after = ((np.diff(np.sort(a)) + np.diff(np.sort(b))) / 2 for a, b in (columns, longer))
    assert (before == 0.5).all() and (after == 0.5).sum() <= 2
    loss = [
        log_probability(after, *event, epsilon) - log_probability(before, *event, epsilon)
        for event in ((0.25, 0.5), (0.5, 1))
    ]
    assert loss[0] > 40 and min(np.abs(loss)) > epsilon  # for one column, the loss would be at most .04
    one = [np.diff(np.sort(column)) for column in (columns[0], np.append(columns[0], 0.3))]
    assert abs(log_probability(one[0], 0.25, 0.5, epsilon) - log_probability(one[1], 0.25, 0.5, epsilon)) <= epsilon


def test_the_interval_is_public_and_no_release_pays_for_it():
    assert set(DPM().plan(3, 1000).costs) == {"count", "split", "average"}
    assert "interval" in {field.name for field in dataclasses.fields(DPM)}
    one, two = (HalfIntervalCounts.over(box(2).box_z, 0.025) for _ in range(2))
    np.testing.assert_array_equal(one.cuts, two.cuts)


# Accounting.


@pytest.mark.parametrize("preset", [None, "paper"])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 20.0])
def test_every_path_costs_at_most_epsilon_and_full_ones_all_of_it(epsilon, preset):
    X, _ = three_blobs(3000)
    values = {"epsilon": epsilon, "delta": 1e-6, "max_depth": 3}
    algorithm = DPM.preset(preset, **values) if preset else DPM(**values)
    trace = algorithm.run(X, domain=box(n_public=3000), seed=1)
    assert trace.claimed.epsilon == pytest.approx(epsilon, rel=1e-6) and trace.claimed.epsilon <= epsilon * (1 + 1e-9)
    paid = defaultdict(list)
    for entry in trace.ledger:
        paid[entry.path].append(entry)
    depth = {path: sum(e.label == "split" for i in range(len(path)) for e in paid[path[: i + 1]]) for path in paid}
    assert max(depth.values()) == 3
    assert (
        trace.spent.epsilon == pytest.approx(epsilon, rel=1e-6) and trace.spent.epsilon <= trace.claimed.epsilon + 1e-9
    )
    declared = 2 * (T / Q + ALPHA) if preset else 2 * T / Q + ALPHA
    ranges = [entry.sensitivity for entry in trace.ledger if entry.label == "split"]
    np.testing.assert_allclose(ranges, declared, atol=1e-5)


def test_deeper_levels_get_more_and_zcdp_never_buys_less_than_basic_composition():
    plan = DPM(epsilon=1.0, delta=1e-6, max_depth=7).plan(10, 100_000)
    counts = [cost.epsilon for cost in plan.costs["count"]]
    np.testing.assert_allclose(np.divide(counts[1:], counts[:-1]), math.sqrt(2))
    assert len(counts) == 8 and len(plan.costs["split"]) == 7
    assert math.fsum(counts) > 0.2


@pytest.mark.parametrize(
    ("n", "d", "epsilon", "depth"), [(100_000, 10, 1.0, 7), (2000, 2, 1.0, 5), (150, 4, 2.0, 2), (150, 4, 0.1, 1)]
)
def test_auto_depth_follows_public_values(n, d, epsilon, depth):
    assert DPM(epsilon=epsilon).depth(d, n) == depth


# Runs.


def test_separated_groups_are_found_without_asking_for_three():
    X, labels = three_blobs()
    trace = DPM(epsilon=100.0, max_depth=4, n_clusters=7).run(X, domain=box(n_public=600), seed=0)
    assert len(trace.cluster_centers) == 3
    assert majority_accuracy(X, trace.cluster_centers, labels) == 1.0
    assert hungarian_accuracy(X, trace.cluster_centers, labels) == 1.0
    weights = trace.steps[-1].released["weights"]
    assert abs(weights - np.bincount(labels)[[0, 1, 2]].mean()).max() < 60


@pytest.mark.parametrize("many", [2, 3, 7, 40])
def test_the_warning_says_how_far_noise_moves_averages_relative_to_how_far_they_lie_apart(many):
    rng = np.random.default_rng(many)
    apart_and_moved = []
    for d in (1, 2, 9):
        centers = rng.normal(size=(many, d))
        pairs = (centers[:, None] - centers)[~np.eye(many, dtype=bool)]
        apart = math.sqrt((pairs**2).sum(axis=1).mean())
        for share in (0.02, 0.15, 0.199, 0.33, 0.34, 0.6, 1.5):  # noise as a share of how far the averages lie apart
            sd = np.full((many, d), share * apart / math.sqrt(d))
            words = DPM().doubts({"averages": {"centers": centers, "center_sd": sd}}, box(d))
            assert all("noise moves the averages at least a fifth as far as they lie apart" in word for word in words)
            apart_and_moved.append((share, bool(words)))
    assert all(share >= 0.2 for share, warned in apart_and_moved if warned)
    assert all(warned for share, warned in apart_and_moved if share >= 0.33)


def test_exactly_k_centers_when_asked_for_and_at_no_cost():
    X, _ = three_blobs()
    values = {"epsilon": 20.0, "max_depth": 4}
    free, merged = (
        DPM(n_clusters=5, exactly_k=k, **values).run(X, domain=box(n_public=600), seed=0) for k in (False, True)
    )
    assert merged.cluster_centers.shape == (5, 2) and merged.steps[-1].kind == "merge"
    assert len(merged.ledger) == len(free.ledger) and merged.spent == free.spent
    fewer = DPM(n_clusters=2, exactly_k=True, **values).run(X, domain=box(n_public=600), seed=0)
    assert fewer.cluster_centers.shape == (2, 2)


def test_regions_tile_the_box_and_centers_lie_in_their_own():
    X, _ = three_blobs(3000)
    trace = DPM(epsilon=4.0, max_depth=5).run(X, domain=box(n_public=3000), seed=0)
    said = trace.steps[-1].released
    sizes = (said["high"] - said["low"]).prod(axis=1)
    assert sizes.sum() == pytest.approx(4.0) and len(sizes) >= 3
    assert (said["low"] <= said["centers"]).all() and (said["centers"] <= said["high"]).all()
    regions = [step.released for step in trace.steps if step.kind == "region"]
    assert {r["node"] for r in regions if not r["accepted"]} == set(said["nodes"].tolist())
    for r in regions:
        if r["accepted"]:
            assert {2 * r["node"], 2 * r["node"] + 1} <= {other["node"] for other in regions}


def test_an_empty_region_is_averaged_with_noise_like_any_other():
    """A center at the exact middle of an empty region would reveal that the region is empty."""
    X = np.full((400, 2), 0.9)
    exact = 0
    for seed in range(200):
        trace = DPM(epsilon=0.5, max_depth=4, interval=0.25).run(X, domain=box(n_public=400), seed=seed)
        said = trace.steps[-1].released
        exact += int((said["centers"] == (said["low"] + said["high"]) / 2).any())
    assert exact == 0


def test_a_ball_of_the_domain_bounds_the_averages():
    X, _ = three_blobs(500)
    tight = Domain.box(-1, 1, 2, radius=0.5, n_public=500)
    trace = DPM(epsilon=1.0).run(X, domain=tight, seed=0)
    assert np.linalg.norm(trace.cluster_centers, axis=1).max() <= 0.5
    root_sized = [e for e in trace.ledger if e.label == "average"]
    assert max(e.sensitivity for e in root_sized) <= 1.5


BAD = {
    "one row": np.zeros((1, 2)),
    "two rows": np.array([[0.5, 0.5], [-0.5, 0.5]]),
    "all equal": np.full((50, 2), 0.3),
    "constant column": np.column_stack([np.linspace(-1, 1, 50), np.zeros(50)]),
    "corner": np.ones((50, 2)),
    "outside": 50 * np.random.default_rng(0).normal(size=(50, 2)),
}


@pytest.mark.parametrize("interval", [0.025, 1.0])
@pytest.mark.parametrize("name", BAD)
def test_little_or_odd_data_gives_finite_centers_inside(name, interval):
    for seed in range(15):
        trace = DPM(n_clusters=1, epsilon=0.5, interval=interval, max_depth=3, delta=1e-3).run(
            BAD[name], domain=box(n_public=50), seed=seed
        )
        assert np.isfinite(trace.cluster_centers).all() and (np.abs(trace.cluster_centers) <= 1).all()
        assert len(trace.cluster_centers) >= 1


def test_no_rows_at_all_under_secure_noise():
    trace = DPM(n_clusters=1, epsilon=1.0).run(np.empty((0, 2)), domain=box(n_public=100), noise="secure")
    assert np.isfinite(trace.cluster_centers).all()


def test_ten_thousand_columns():
    X = np.random.default_rng(0).uniform(-1, 1, (30, 10_000))
    trace = DPM(n_clusters=1, epsilon=1.0).run(X, domain=box(10_000, n_public=30), seed=0)
    assert np.isfinite(trace.cluster_centers).all() and (np.abs(trace.cluster_centers) <= 1).all()


def test_too_little_data_is_said_from_public_values():
    assert any("too little data for this epsilon" in line for line in DPM(epsilon=0.1).advice(4, 150))
    assert DPM(epsilon=1.0).advice(10, 100_000) == ()


def test_the_paper_preset_changes_shares_and_calibration_only():
    assert DPM.preset("paper").count_share == 0.18 and DPM.preset("paper").selection == "double"
    assert ALGORITHMS["dpm"] is DPM
