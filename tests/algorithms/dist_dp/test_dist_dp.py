"""Check the rho-distance family against its specification: constants, brute-force moves, refusals, an audit of mu."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.stats import beta, norm
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs

from dpviz.algorithms.dist_dp.dist_dp import DistDP, _cut_noise
from dpviz.algorithms.dist_dp.random_points import DistDPRandomPoints
from dpviz.algorithms.dist_dp.region_means import DistDPRegionMeans
from dpviz.algorithms.nsm.nsm import NSM
from dpviz.domain import Domain
from dpviz.geometry import GRID, quadtree, snap, snap_toward_zero
from dpviz.metrics import normalized_loss
from dpviz.postprocessing.medians import medians_on
from dpviz.privacy.accounting import sigma
from dpviz.privacy.block import Block
from dpviz.privacy.costs import Gaussian
from dpviz.privacy.curator import Curator
from dpviz.privacy.guarantee import Neighboring, Notion
from dpviz.privacy.noise import Secure, Seeded
from dpviz.privacy.plan import Plan
from dpviz.privacy.queries import CompanionSums, NearRegionSums, Positions, QuadtreeCells
from dpviz.privacy.rows import Rows
from tests.tiers import tiers

FAMILY = (DistDP, DistDPRegionMeans, DistDPRandomPoints)
RHO = 0.05
MOVE = Neighboring.MOVE_RHO


def blobs(n=2000, d=2, k=5):
    X = make_blobs(n, d, centers=k, cluster_std=0.06, center_box=(-0.8, 0.8), random_state=0)[0]
    return np.clip(X, -1, 1), Domain.box(-1, 1, d, n_public=n)


# Constants of Appendix E, as the specification interprets them.


@pytest.mark.parametrize(("d", "expected"), [(2, 47.745), (16, 135.043)])
def test_near_factor(d, expected):
    assert DistDP(epsilon=1.0, delta=1e-6).near_factor(d, 20_000) == pytest.approx(expected, abs=1e-3)


def test_the_paper_preset_has_the_papers_noise_and_ours_less():
    X, domain = blobs(500)
    trace = DistDP.preset("paper", delta=1e-6, rho_distance=RHO, n_clusters=3).run(X, domain=domain, seed=0)
    points, cells, counts, sums = trace.ledger
    moved = RHO + math.sqrt(2) * GRID * (1 + 2**-20)
    assert points.sensitivity == pytest.approx(moved, rel=1e-15)
    assert points.scale == pytest.approx(moved * sigma(1 / 3, 1e-6 / 3), rel=1e-12)
    assert points.scale / RHO < math.sqrt(2 * math.log(1.25 / (1e-6 / 3))) * 3 == pytest.approx(16.507, abs=1e-3)
    assert cells.scale == pytest.approx(91.20, abs=0.01) and cells.sensitivity == pytest.approx(math.sqrt(50))
    threshold = next(s.released["threshold"] for s in trace.steps if "threshold" in s.released)
    assert threshold == pytest.approx(519.17 + 0.5, abs=0.01)  # .5 is added because noisy counts are rounded
    assert counts.scale == pytest.approx(2 * sigma(1 / 3, 1e-6 / 6), rel=1e-9)
    assert sums.scale / counts.scale == pytest.approx(trace.steps[-2].released["radius"], rel=1e-9)
    joint = DistDP(delta=1e-6).plan(2, 500)
    assert 1 / joint.costs["points"][0].mu < 7.5 < 11.9 < 1 / trace.plan.costs["points"][0].mu
    assert joint.total(1e-6).epsilon == pytest.approx(1.0, rel=1e-9) and trace.claimed.epsilon < 0.7


def test_region_means_and_random_points_buy_six_and_four_rho():
    for cls, expected in ((DistDPRegionMeans, 5.97), (DistDPRandomPoints, 4.22)):
        assert 1 / cls(delta=1e-6, rho_distance=0.001).plan(2, 20_000).costs["points"][0].mu == pytest.approx(
            expected, abs=0.01
        )


# Quadtrees.


@pytest.mark.parametrize("d", [1, 2, 7, 13])
def test_every_root_holds_the_noisy_points_and_cells_decode_to_their_centers(d):
    rng = np.random.default_rng(d)
    corners = np.concatenate([np.full((1, d), -2.0), np.full((1, d), 2.0), snap(rng.uniform(-2, 2, (50, d)))])
    shifts = np.concatenate([np.zeros((1, d)), np.full((1, d), 4 - GRID), snap_toward_zero(rng.uniform(0, 4, (2, d)))])
    for level in (0, 3, quadtree.DEPTH):
        keys, counts = quadtree.count_cells(corners, shifts, (level,))
        assert counts.sum() == len(corners) * len(shifts)
        centers, half = quadtree.centers(keys, shifts), float(quadtree.side(level)) / 2
        for tree, shift in enumerate(shifts):
            mine = centers[keys[:, 0] == tree]
            inside = (np.abs(corners[:, None] - mine[None]) <= half).all(axis=2)
            assert inside.any(axis=1).all()
            assert (mine - half >= -2 - shift - 1e-12).all() and (mine + half <= 6 - shift + 1e-12).all()


def test_keys_are_in_lexicographic_order_and_counts_match_a_dictionary():
    rng = np.random.default_rng(0)
    x, shifts = snap(rng.uniform(-1, 1, (300, 8))), snap_toward_zero(rng.uniform(0, 4, (3, 8)))
    keys, counts = quadtree.count_cells(x, shifts, (1, 4))
    assert [tuple(key) for key in keys] == sorted(tuple(key) for key in keys)
    expected = {}
    for tree, shift in enumerate(shifts):
        for level in (1, 4):
            for packed in quadtree.cells(x, shift, level):
                key = (tree, level, *packed)
                expected[key] = expected.get(key, 0) + 1
    assert {tuple(key): count for key, count in zip(keys, counts, strict=True)} == expected
    assert quadtree.count_cells(x[:0], shifts, (1,))[0].shape == (0, 4)


# These tests try 1000 moves by brute force, in data units, before rows are normalized, clipped and snapped.

DOMAIN = Domain.box([-3.0, 10.0], [7.0, 17.0], scale="common", n_public=8)


def prepared(X, noisy):
    block = Block(Rows(X, DOMAIN)._x)
    block.accompany("noisy", noisy)
    return block


def moves(rng, trials):
    """Yield (block, neighboring block): they have the same companion, and one row differs, by a move of at most RHO."""
    for _ in range(trials):
        X = np.array([2.0, 13.5]) + rng.uniform(-1.2, 1.2, (8, 2)) * np.array([5.0, 3.5])
        Y = X.copy()
        step = rng.normal(size=2)
        Y[rng.integers(8)] += 5.0 * RHO * rng.random() ** 0.1 * step / np.linalg.norm(step)
        noisy = snap(np.clip(DOMAIN.normalize(X) + rng.normal(0, 0.3, (8, 2)), -2, 2))
        yield prepared(X, noisy), prepared(Y, noisy)


def worst(build, trials=1000):
    """Return the largest ratio of actual to declared change, and the maximum number of changed entries per part."""
    rng = np.random.default_rng(1)
    share, rows = 0.0, {}
    for a, b in moves(rng, trials):
        query = build(rng)
        one, two = query.statistic(a), query.statistic(b)
        for part, declared in query.sensitivity(2, MOVE).items():
            change = one[part] - two[part]
            share = max(share, float(np.linalg.norm(change)) / declared)
            rows[part] = max(rows.get(part, 0), int(np.any(np.atleast_2d(change.T).T != 0, axis=-1).sum()))
    return share, rows


def some_regions(rng):
    return snap(rng.uniform(-1, 1, (6, 2)))


def near(rng):
    return NearRegionSums("noisy", some_regions(rng), rng.uniform(0.1, 1.0), rng.uniform(0.05, 0.5), RHO)


def test_companion_sums_change_in_one_region_by_at_most_rho():
    share, rows = worst(lambda rng: CompanionSums("noisy", some_regions(rng), RHO))
    assert 0.95 < share <= 1 and rows == {"": 1}


@pytest.mark.slow
def test_near_region_sums_change_in_at_most_two_regions():
    share, rows = worst(near)
    assert 0.95 < share <= 1 and rows == {"counts": 2, "sums": 2}


class OneRegion(NearRegionSums):
    """Price a move as if the moved row stayed in its region."""

    def sensitivity(self, norm, neighboring):
        return {"counts": 1.0, "sums": self.radius}


class BySelf(CompanionSums):
    """Group rows by their own position instead of their companion's."""

    def statistic(self, block):
        beside = Block(block.x)
        beside.accompany(self.companion, block.x)
        return super().statistic(beside)


def test_wrong_twins_are_caught():
    twin = lambda rng: OneRegion(*(getattr(near(rng), f.name) for f in dataclasses.fields(NearRegionSums)))  # noqa: E731
    assert worst(twin, 200)[0] > 1.3
    share, rows = worst(lambda rng: BySelf("noisy", some_regions(rng), RHO), 200)
    assert share > 5 and rows == {"": 2}


@pytest.mark.parametrize("trials", tiers([100, 1000], 1))
def test_a_moved_row_changes_two_cells_in_each_grid_and_no_more(trials):
    rng = np.random.default_rng(2)
    shifts = snap_toward_zero(rng.uniform(0, 4, (5, 2)))
    query = QuadtreeCells(shifts, (6, 7, 8, 9, 10))
    for a, b in moves(rng, trials):
        one, two = ({tuple(k): c for k, c in zip(*query.statistic(block), strict=True)} for block in (a, b))
        change = np.array([one.get(key, 0) - two.get(key, 0) for key in one.keys() | two.keys()])
        assert abs(change).max(initial=0) <= 1
        assert np.sqrt((change**2).sum()) <= query.sensitivity(MOVE)
        assert sum(key not in two for key in one) <= query.l0 and sum(key not in one for key in two) <= query.l0
    # the two reports have no cell in common
    far = [query.statistic(Block(np.array([[x, 0.0]])))[0] for x in (0.0, 0.25)]
    assert len({tuple(key) for keys in far for key in keys}) == 50
    assert query.sensitivity(MOVE) == math.sqrt(50)


def test_positions_move_by_at_most_rho():
    declared = Positions(RHO).sensitivity(2)
    shares = [np.linalg.norm(a.x - b.x) / declared for a, b in moves(np.random.default_rng(3), 1000)]
    assert 0.95 < max(shares) <= 1


# The curator's methods that release rows.


def curator(X, domain, *, neighboring=MOVE, rho=RHO, noise=None, mu=1.0):
    plan = Plan({"points": (Gaussian(mu / math.sqrt(2)),), "sums": (Gaussian(mu / math.sqrt(2)),)})
    source = Seeded(np.random.default_rng(0)) if noise is None else noise
    return Curator(Rows(X, domain), plan, source, neighboring=neighboring, n_public=len(X), hidden=[], rho_distance=rho)


def test_rows_are_perturbed_under_moves_only_and_only_as_planned():
    X, domain = blobs(50)
    for relation in (Neighboring.ADD_REMOVE, Neighboring.REPLACE):
        asked = curator(X, domain, neighboring=relation)
        with pytest.raises(PermissionError, match="one value per row is refused"):
            asked.perturb_rows("points", Positions(RHO), name="noisy", limit=2.0)
        assert asked.ledger == ()
    asked = curator(X, domain)
    with pytest.raises(PermissionError, match="calibrated for moves of up to 0.04"):
        asked.perturb_rows("points", Positions(0.04), name="noisy", limit=2.0)
    with pytest.raises(PermissionError, match="not in the plan"):
        asked.perturb_rows("other", Positions(RHO), name="noisy", limit=2.0)
    with pytest.raises(KeyError, match="no companion 'noisy'"):
        asked.release("sums", CompanionSums("noisy", snap(X[:3]), RHO))
    asked = curator(X, domain)
    noisy = asked.perturb_rows("points", Positions(RHO), name="noisy", limit=0.9)
    assert noisy.value.shape == X.shape and np.abs(noisy.value).max() <= 0.9 and asked.ledger[0].shape == X.shape
    with pytest.raises(PermissionError, match="number 2 is not in the plan"):
        asked.perturb_rows("points", Positions(RHO), name="noisy", limit=2.0)


def test_secure_noise_has_the_stated_scale_on_the_grid():
    X, domain = np.zeros((12_000, 2)), Domain.box(-1, 1, 2, n_public=12_000)
    noisy = curator(X, domain, noise=Secure()).perturb_rows("points", Positions(RHO), name="noisy", limit=2.0)
    np.testing.assert_array_equal(noisy.value, snap(noisy.value))
    assert noisy.value.std() / noisy.sd == pytest.approx(1, abs=0.04)  # the estimate has an sd of .0046


def lower_mu(hits, false_alarms, runs):
    """Return a lower bound on mu that holds with 99.9% confidence, from Clopper-Pearson limits on both rates."""
    low = beta.ppf(5e-4, hits, runs - hits + 1)
    high = beta.ppf(1 - 5e-4, false_alarms + 1, runs - false_alarms)
    return norm.ppf(low) - norm.ppf(high)


def audit(cheat=1.0, runs=4000, mu=1.0):
    """Attack points and sums together, by their coordinates along the move; `cheat` divides the noise."""
    domain, regions = Domain.box(-1, 1, 2, n_public=2), snap(np.array([[-0.5, 0.0], [0.5, 0.0]]))
    rows = [np.array([[0.0, 0.0], [0.6, 0.2]]), np.array([[RHO, 0.0], [0.6, 0.2]])]
    scores = np.empty((2, runs))
    for side, X in enumerate(rows):
        source = Seeded(np.random.default_rng(side))
        for run in range(runs):
            asked = curator(X, domain, noise=source, mu=mu * cheat)
            points = asked.perturb_rows("points", Positions(RHO), name="noisy", limit=10.0)
            sums = asked.release("sums", CompanionSums("noisy", regions, RHO))
            region = int(points.value[0, 0] > 0)
            other = int(points.value[1, 0] > 0)
            first = sums.value[region, 0] - (rows[0][1, 0] if region == other else 0.0)
            scores[side, run] = points.value[0, 0] + first
    cut = RHO  # halfway, because points and sums each move by RHO
    return lower_mu(int((scores[1] > cut).sum()), int((scores[0] > cut).sum()), runs)


@pytest.mark.slow
def test_an_attack_on_points_and_sums_together_stays_below_mu_and_finds_too_little_noise():
    assert 0.8 < audit() <= 1.0
    assert audit(cheat=1.5) > 1.0


# The algorithms.


@pytest.mark.parametrize("cls", FAMILY)
def test_the_promise_is_about_moves(cls):
    X, domain = blobs(300)
    trace = cls(n_clusters=3, rho_distance=RHO).run(X, domain=domain, seed=0)
    assert trace.claimed.notion is Notion.RHO and trace.claimed.neighboring is MOVE
    assert trace.claimed.rho_distance == RHO and "rho (distance) = 0.05" in str(trace.claimed)
    assert {entry.neighboring for entry in trace.ledger} == {"move-rho"}
    with pytest.raises(ValueError, match="cannot convert"):
        trace.claimed.under(Neighboring.ADD_REMOVE)


@pytest.mark.parametrize("cls", FAMILY)
def test_with_almost_no_noise_the_loss_is_that_of_kmeans(cls):
    X, domain = blobs()
    reference = KMeans(5, n_init=10, random_state=0).fit(X).inertia_ / len(X)
    trace = cls(n_clusters=5, epsilon=100.0, rho_distance=1e-4).run(X, domain=domain, seed=0)
    assert normalized_loss(X, trace.cluster_centers, domain) <= 1.01 * reference


def test_region_means_at_a_small_rho_are_within_two_percent_of_kmeans():
    X, domain = blobs(20_000, k=8)
    reference = KMeans(8, n_init=10, random_state=0).fit(X).inertia_ / len(X)
    trace = DistDPRegionMeans(n_clusters=8, delta=1e-6, rho_distance=0.008).run(X, domain=domain, seed=0)
    assert normalized_loss(X, trace.cluster_centers, domain) <= 1.02 * reference


def test_region_means_falls_back_to_dp_under_replacement_by_a_public_rule():
    X, domain = blobs(400)
    algorithm = DistDPRegionMeans(n_clusters=3, rho_distance=0.5, delta=1e-5)
    assert algorithm.too_far(2, 400) and not DistDPRegionMeans(rho_distance=0.05, delta=1e-5).too_far(2, 400)
    assert any("NSM" in sentence and "runs instead" in sentence for sentence in algorithm.advice(2, 400))
    trace = algorithm.run(X, domain=domain, seed=0)
    assert trace.plan == NSM(n_clusters=3, delta=1e-5).plan(2, 400) and "points" not in trace.plan.costs
    plain = NSM(n_clusters=3, delta=1e-5).run(X, domain=domain, seed=0)
    for mine, theirs in zip(trace.ledger[:1], plain.ledger[:1], strict=True):
        assert mine.sensitivity > theirs.sensitivity and mine.scale / mine.sensitivity == pytest.approx(
            theirs.scale / theirs.sensitivity
        )
    assert trace.spent.epsilon == pytest.approx(1.0, rel=1e-6)


def test_a_rho_beyond_the_diameter_is_cut_with_a_warning():
    X, domain = blobs(300)
    algorithm = DistDPRandomPoints(n_clusters=3, rho_distance=50.0)
    assert any("exceeds the domain's diameter 2.83" in sentence for sentence in algorithm.advice(2, 300))
    trace = algorithm.run(X, domain=domain, seed=0)
    assert trace.ledger[0].sensitivity == pytest.approx(2 * math.sqrt(2), rel=1e-6)


@pytest.mark.parametrize("cls", FAMILY)
def test_bad_input_is_refused_in_one_sentence(cls):
    X, domain = blobs(300)
    for rho in (0.0, -1.0):
        with pytest.raises(ValueError, match=r"rho_distance must be >=? 0.*got"):
            cls(rho_distance=rho)
    with pytest.raises(ValueError, match="protects nothing"):
        cls(rho_distance=0.0)
    wide = Domain.box([-1, -2], [1, 2], n_public=300)
    weighted = Domain.box(0, 1, 2, n_public=300, scale="common", weights=(1, 2))
    with pytest.raises(ValueError, match="one weight for all columns, because"):
        cls(n_clusters=2).run(np.full((300, 2), 0.5), domain=weighted, seed=0)
    with pytest.raises(ValueError, match="one scale for all columns"):
        cls(n_clusters=2).run(X, domain=wide, seed=0)
    with pytest.raises(ValueError, match="n_clusters must be <= n"):
        cls(n_clusters=9).run(X[:8], domain=Domain.box(-1, 1, 2, n_public=8), seed=0)


def test_where_ordinary_privacy_runs_instead_each_column_may_have_its_own_scale():
    X, wide = np.random.default_rng(0).uniform(0, [1, 2], (500, 2)), Domain.box([0, 0], [1, 2], n_public=500)
    far = DistDPRegionMeans(n_clusters=2, rho_distance=2.0)
    assert far.runs(2, 500) is not far and far.run(X, domain=wide, seed=0).cluster_centers.shape == (2, 2)
    near = DistDPRegionMeans(n_clusters=2, rho_distance=1e-4)
    assert near.runs(2, 500) is near
    with pytest.raises(ValueError, match="one scale for all columns"):
        near.run(X, domain=wide, seed=0)


def test_too_many_regions_are_refused_before_anything_is_released():
    many = Domain.box(-1, 1, 2, n_public=100_000)
    with pytest.raises(ValueError, match="too many for 100,000 rows; ask for at most 227 centers"):
        DistDP(n_clusters=256).run(np.zeros((100_000, 2)), domain=many, seed=0)


def test_the_far_part_and_the_regions_add_up():
    X, domain = blobs()
    trace = DistDP(n_clusters=5, rho_distance=0.001, epsilon=2.0).run(X, domain=domain, seed=0)
    steps = {step.kind: step.released for step in trace.steps}
    far, regions = ~steps["split"]["near"], steps["regions"]
    assert 0 < far.sum() < len(X)
    assert len(trace.coreset.points) == int(regions["themselves"].sum() + regions["kept"].sum())
    assert regions["kept"].tolist() == (regions["noisy_counts"] > regions["least"]).tolist()
    assert regions["least"] >= 5 * regions["noise_sd"]
    assert (regions["themselves"] >= far).all()


def regions_of(**values):
    X, domain = blobs()
    trace = DistDP(**{"n_clusters": 5, "epsilon": 2.0, "rho_distance": 0.01, **values}).run(X, domain=domain, seed=0)
    return {step.kind: step.released for step in trace.steps}


def test_noisy_points_of_small_regions_stand_for_themselves_as_in_lines_13_and_14():
    kept_points, dropped = regions_of(small_regions="points"), regions_of(small_regions="drop")
    far = ~kept_points["split"]["near"]
    noisy, regions = kept_points["noisy-points"]["noisy_points"], kept_points["regions"]
    nearest_region = ((noisy[:, None] - regions["regions"]) ** 2).sum(axis=2).argmin(axis=1)
    small = ~regions["kept"][nearest_region]
    assert 0 < (small & ~far).sum() < len(noisy) and 0 < regions["kept"].sum()
    np.testing.assert_array_equal(regions["themselves"], far | small)
    np.testing.assert_array_equal(dropped["regions"]["themselves"], far)


def test_noise_is_wide_if_it_exceeds_the_width_of_a_cluster():
    domain = Domain.box(-1, 1, 2, n_public=1000)
    for k in (1, 4, 100):
        width = 2 * domain.radius / math.sqrt(k) / math.sqrt(2)  # per coordinate
        auto = DistDP(n_clusters=k, rho_distance=0.1)
        assert auto.wide(1.01 * width, domain) and not auto.wide(0.99 * width, domain)
    assert not DistDP(n_clusters=4, rho_distance=0.1, small_regions="points").wide(9.0, domain)


@pytest.mark.parametrize("sd", [0.3, 1.5, 8.0])
def test_the_effect_of_a_cut_on_a_move_and_on_noise(sd):
    noise = np.random.default_rng(0).normal(0, sd, 1_000_000)
    slope, variance = _cut_noise(sd, 2.0)
    assert variance == pytest.approx(np.clip(noise, -2, 2).var(), rel=0.01)
    moved = (np.clip(noise + 0.1, -2, 2) - np.clip(noise - 0.1, -2, 2)).mean() / 0.2
    assert slope == pytest.approx(moved, rel=0.01)


def test_noisy_points_are_drawn_together_until_they_spread_as_the_rows():
    """Rows vary in one of six columns, away from the middle; so do noisy points after they are drawn together."""
    rng = np.random.default_rng(0)
    rows = rng.normal(0, [0.3, 0, 0, 0, 0, 0], (20_000, 6)) + [0.1, 0.2, 0, 0, 0, 0]
    domain = Domain.box(-1, 1, 6, n_public=20_000)
    drawn, sd = DistDP(rho_distance=0.1)._drawn(np.clip(rows + rng.normal(0, 0.4, rows.shape), -2, 2), 0.4, domain)
    np.testing.assert_allclose(drawn.std(axis=0), rows.std(axis=0), atol=0.03)
    np.testing.assert_allclose(drawn.mean(axis=0), rows.mean(axis=0), atol=0.02)
    assert sd == pytest.approx(0.4 * math.sqrt(0.6**2 / 6), rel=0.1)
    lost = rng.normal(0, 0.4, (60, 6))  # no direction stands out, so points move as far inward as the domain allows
    drawn, _ = DistDP(rho_distance=0.1)._drawn(lost, 0.4, domain)
    np.testing.assert_allclose(drawn, lost / (1 + 0.4**2 * 6 / domain.radius**2))


@pytest.mark.parametrize("rho", [0.1, 0.3])
def test_in_many_columns_the_loss_is_not_above_one_center_s(rho):
    """Cell centers once lay outside the ball, so offsets from them were clipped, and means ended on its far side."""
    rng = np.random.default_rng(0)
    X = rng.normal(0, 0.02, (170, 13)) + np.outer(rng.normal(0, 0.3, 170), np.eye(13)[0])
    domain = Domain.tight_nonprivate(X)
    Z = domain.normalize(X)
    one = (Z**2).sum(axis=1).mean()
    for epsilon in (0.5, 1.0):
        losses = []
        for seed in range(3):
            trace = DistDP(n_clusters=3, epsilon=epsilon, delta=1e-6, rho_distance=rho).run(X, domain=domain, seed=seed)
            regions = next(step.released["regions"] for step in trace.steps if step.kind == "split")
            assert (np.linalg.norm(regions, axis=1) <= domain.radius).all()
            losses.append(normalized_loss(X, trace.cluster_centers, domain))
        assert np.mean(losses) < 1.1 * one


def test_the_loss_on_iris_does_not_grow_with_epsilon():
    """With small regions dropped, the loss was 8 to 20 times KMeans' at epsilon 4, but 1.04 times at epsilon 1."""
    X = load_iris().data
    domain = Domain.tight_nonprivate(X)
    losses = [
        np.mean(
            [
                normalized_loss(
                    X,
                    DistDP(n_clusters=3, epsilon=epsilon, rho_distance=0.02)
                    .run(X, domain=domain, seed=seed)
                    .cluster_centers,
                    domain,
                )
                for seed in range(2)
            ]
        )
        for epsilon in (1.0, 4.0)
    ]
    assert losses[1] < 1.05 * losses[0] and losses[0] < 0.045


def test_medians_resist_an_outlier_and_never_raise_the_sum_of_distances():
    points = np.array([[0.0, 0.0], [0.1, 0.0], [0.0, 0.1], [1.0, 1.0]])
    weights = np.array([5.0, 5.0, 5.0, 1.0])
    mean = np.average(points, axis=0, weights=weights)[None]
    median = mean
    for _ in range(10):
        median = medians_on(points, weights, median)
    cost = lambda c: float(weights @ np.linalg.norm(points - c, axis=1))  # noqa: E731
    assert cost(median) < cost(mean) and np.linalg.norm(median) < np.linalg.norm(mean)
    lattice = [cost(np.array([[a, b]])) for a in np.linspace(0, 0.2, 81) for b in np.linspace(0, 0.2, 81)]
    assert cost(median) <= min(lattice) + 1e-3
    line = np.array([[0.0], [1.0], [5.0]])
    middle = np.array([[2.0]])
    for _ in range(15):
        middle = medians_on(line, np.ones(3), middle)
    assert middle[0, 0] == pytest.approx(1.0, abs=1e-3)


def test_the_median_objective_changes_the_last_step_only():
    X, domain = blobs(600)
    means, medians = (
        DistDP(n_clusters=3, rho_distance=0.001, objective=kind).run(X, domain=domain, seed=0)
        for kind in ("means", "medians")
    )
    np.testing.assert_array_equal(means.coreset.points, medians.coreset.points)
    assert not np.array_equal(means.cluster_centers, medians.cluster_centers)
