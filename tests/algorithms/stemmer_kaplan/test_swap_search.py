"""Check private swap search and the rewrite of Balcan et al. against brute force and their specification."""

import math

import numpy as np
import pytest

from dpviz.algorithms.stemmer_kaplan.balcan import Balcan
from dpviz.algorithms.stemmer_kaplan.swap import StemmerKaplanSwap
from dpviz.algorithms.stemmer_kaplan.swap_search import search_costs, swap_search
from dpviz.domain import Domain
from dpviz.geometry import clip_ball, snap
from dpviz.metrics import loss_path, normalized_loss
from dpviz.privacy.accounting import epsilon_of_zcdp, zcdp_of_epsilon
from dpviz.privacy.block import Block
from dpviz.privacy.costs import Exponential
from dpviz.privacy.curator import Curator
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.noise import Seeded
from dpviz.privacy.plan import Plan
from dpviz.privacy.queries import ListedCells, SetCosts, SetScore, SwapCosts, SwapScore
from dpviz.privacy.rows import Rows
from tests.algorithms.stemmer_kaplan.test_stemmer_kaplan import blobs

AR, REPLACE = Neighboring.ADD_REMOVE, Neighboring.REPLACE


def coarse(rng, n, d):
    return np.trunc(clip_ball(snap(rng.uniform(-1, 1, (n, d))), 1.0) * 2**12) / 2**12


def cost(x, centers):
    return ((x[:, None] - centers) ** 2).sum(axis=2).min(axis=1).sum()


# costs and scores


@pytest.mark.parametrize("k", [1, 2, 4])
def test_swap_costs_agree_with_brute_force(k):
    rng = np.random.default_rng(k)
    x, points = coarse(rng, 40, 3), coarse(rng, 7, 3)
    chosen = rng.choice(7, k, replace=False)
    found = SwapCosts(points, chosen, 1.0).statistic(Block(x))[""]
    for i in range(k):
        for j in range(7):
            now = chosen if j in chosen else np.append(np.delete(chosen, i), j)
            assert found[i, j] == pytest.approx(cost(x, points[now]), rel=1e-12)
    sets = SetCosts(points, np.array([chosen, chosen[::-1]]), 1.0).statistic(Block(x))[""]
    assert sets[0] == sets[1] == pytest.approx(cost(x, points[chosen]), rel=1e-12)


def widest(relation, make, trials=300):
    """Return the largest ratio, over neighbors, of the spread of changes in utility to the declared range."""
    rng, found = np.random.default_rng(5), 0.0
    for _ in range(trials):
        d = int(rng.integers(1, 4))
        radius = float(rng.uniform(0.3, 1.2))
        points = clip_ball(snap(rng.choice([-1.0, 0.0, 1.0], (6, d))), radius)
        score = make(rng, points, radius)
        x = snap(rng.choice([-1.0, 0.0, 1.0], (int(rng.integers(1, 5)), d)))
        y = x[1:] if relation is AR else np.vstack([x[1:], snap(rng.choice([-1.0, 0.0, 1.0], (1, d)))])
        one, two = (score.utility(score.query.statistic(Block(rows))) for rows in (x, y))
        found = max(found, float(np.ptp(one - two)) / score.range(relation))
    return found


def swap_score(cls=SwapScore):
    return lambda rng, points, radius: cls(SwapCosts(points, rng.choice(6, 2, replace=False), radius))


def set_score(cls=SetScore):
    return lambda rng, points, radius: cls(SetCosts(points, rng.integers(0, 6, (4, 1)), radius))


@pytest.mark.parametrize("relation", [AR, REPLACE])
@pytest.mark.parametrize("make", [swap_score, set_score])
def test_no_neighbor_widens_the_utilities_beyond_the_declared_range(make, relation):
    assert 0.9 < widest(relation, make()) <= 1 + 1e-12


@pytest.mark.parametrize(("base", "make"), [(SwapScore, swap_score), (SetScore, set_score)])
def test_a_halved_range_is_caught(base, make):
    class Half(base):
        def range(self, neighboring):
            return super().range(neighboring) / 2

    assert widest(AR, make(Half)) > 1.5


# the search


def search(X, candidates, k, epsilon, swaps, seed=0):
    rows = Rows(X, Domain.box(-1, 1, X.shape[1], n_public=len(X)))
    plan = Plan({"swap": (Exponential(epsilon),) * swaps, "pick": (Exponential(epsilon),)})
    noise = Seeded(np.random.default_rng(1))
    curator = Curator(rows, plan, noise, neighboring=AR, n_public=len(X), hidden=[])
    frames = []
    walk = swap_search(curator, candidates, k, rows.domain.radius, np.random.default_rng(seed))
    while True:
        try:
            frames.append(next(walk))
        except StopIteration as done:
            return frames, done.value


def test_with_a_huge_budget_the_search_is_the_greedy_one():
    rng = np.random.default_rng(0)
    X, candidates = coarse(rng, 200, 2), coarse(rng, 9, 2)
    frames, found = search(X, candidates, 3, 1e9, 6)
    chosen = np.random.default_rng(0).choice(9, 3, replace=False)
    for frame in frames[:-1]:
        options = [chosen if j in chosen else np.append(np.delete(chosen, i), j) for i in range(3) for j in range(9)]
        chosen = min(options, key=lambda option: cost(X, candidates[option]))
        assert cost(X, frame.released["centers"]) == pytest.approx(cost(X, candidates[chosen]))
    assert cost(X, found) == pytest.approx(min(cost(X, frame.released["centers"]) for frame in frames))


def test_too_few_candidates_are_filled_up_with_public_points():
    X = np.zeros((50, 2))
    _, found = search(X, np.zeros((1, 2)), 4, 1.0, 3)
    assert found.shape == (4, 2) and len(np.unique(found, axis=0)) == 4


def test_the_search_budget_is_split_over_swaps_and_the_final_choice():
    costs = search_costs(0.01, 16)
    every = [one for some in costs.values() for one in some]
    assert len(every) == 17 and sum(one.zcdp for one in every) == pytest.approx(0.01)


@pytest.mark.parametrize(("epsilon", "rho"), [(1, 0.0166617), (0.5, 0.00423511), (2, 0.0645473)])
def test_zcdp_of_epsilon_is_the_inverse(epsilon, rho):
    assert zcdp_of_epsilon(epsilon, 5e-7) == pytest.approx(rho, rel=1e-5)
    assert epsilon_of_zcdp(zcdp_of_epsilon(epsilon, 5e-7), 5e-7) <= epsilon


@pytest.mark.parametrize("algorithm", [StemmerKaplanSwap, Balcan])
@pytest.mark.parametrize("d", [2, 16])
@pytest.mark.parametrize("epsilon", [0.3, 4.0])
def test_the_plan_adds_up_to_the_budget(algorithm, d, epsilon):
    plan = algorithm(n_clusters=5, epsilon=epsilon, delta=1e-6).plan(d, 10_000)
    assert plan.total(1e-6).epsilon == pytest.approx(epsilon, rel=1e-6)
    assert plan.total(1e-6).epsilon <= epsilon


# Balcan et al.


def test_a_row_lies_in_one_child_of_one_cube():
    rng = np.random.default_rng(4)
    keys = np.array([[i, j] for i in range(4) for j in range(4)])
    query = ListedCells(keys, 1.0, np.full(2, 2.0))
    for _ in range(200):
        x = coarse(rng, int(rng.integers(1, 9)), 2)
        one, two = (query.statistic(Block(rows))[""] for rows in (x, x[1:]))
        assert sorted(np.abs(one - two))[-2:] == [0, 1] and one.sum() == len(x)


def test_nothing_is_projected_up_to_five_columns():
    algorithm = Balcan()
    assert [algorithm.projected(d, 20_000) for d in (1, 5, 6, 64)] == [1, 5, 4, 4]
    assert algorithm.projected(64, 10**9) == 5 and algorithm.levels(20_000) == 10 and algorithm.levels(2) == 1


def test_without_noise_every_row_has_a_candidate_in_its_finest_cube():
    X = blobs(2, 1500)
    algorithm = Balcan(n_clusters=3, epsilon=100.0, grid_share=0.8, search_share=0.1, shifts=1)
    trace = algorithm.run(X, domain=Domain.box(-1, 1, 2, n_public=1500), seed=0)
    cubes = [step.released for step in trace.steps if step.kind == "cubes"]
    candidates = next(step for step in trace.steps if step.kind == "swap").released["candidates"]
    assert cubes[0]["width"] == 2 * cubes[1]["width"]
    nearest = np.sqrt(((X[:, None] - candidates) ** 2).sum(axis=2).min(axis=1))
    finest = np.full(len(X), 4.0)
    for said in cubes:
        inside = {tuple(key) for key in said["keys"][said["kept"]].tolist()}
        own = map(tuple, np.floor((X + said["offset"]) / said["width"]).astype(int).tolist())
        finest = np.where([key in inside for key in own], said["width"], finest)
    assert (nearest <= finest * math.sqrt(2) / 2 + 1e-6).all() and np.median(finest) < 0.3


def test_a_cube_at_the_threshold_is_halved_half_of_the_time():
    """With Gaussian noise, a cube is active with probability .5 at a count of gamma, and .95 at gamma + 1.645 sd."""
    plan = Balcan(epsilon=1.0, delta=1e-6).plan(2, 20_000)
    sd = 1 / plan.costs["cubes"][0].mu
    draws = Seeded(np.random.default_rng(0)).gaussian(sd, (20_000,))
    assert np.mean(draws > 0) == pytest.approx(0.5, abs=0.02)
    assert np.mean(1.645 * sd + draws > 0) == pytest.approx(0.95, abs=0.01)


# figures and losses


def test_losses_are_known_after_every_swap():
    X = blobs(2, 2000)
    trace = StemmerKaplanSwap(n_clusters=3, epsilon=8.0).run(X, domain=Domain.box(-1, 1, 2, n_public=2000), seed=0)
    assert np.isfinite(loss_path(trace, X)).sum() == 6 + 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "d", "epsilon", "at_most"),
    [(StemmerKaplanSwap, 2, 1.0, 0.03), (StemmerKaplanSwap, 16, 1.0, 0.3), (Balcan, 2, 1.0, 0.025)],
)
def test_the_searches_reach_their_specified_range(algorithm, d, epsilon, at_most):
    X = blobs(d)
    domain = Domain.box(-1, 1, d, n_public=len(X))
    made = algorithm(n_clusters=8, epsilon=epsilon, delta=1e-6)
    losses = [normalized_loss(X, made.run(X, domain=domain, seed=seed).cluster_centers, domain) for seed in range(3)]
    assert np.mean(losses) <= at_most
