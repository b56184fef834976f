"""Check the local model: reports that are exactly epsilon-DP, unbiased estimates, public groups, and true figures."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.linalg import hadamard

from dpviz.algorithms.stemmer_kaplan.local import StemmerKaplanLocal
from dpviz.domain import Domain
from dpviz.figures.stemmer_kaplan import local as figures
from dpviz.geometry import snap_toward_zero
from dpviz.metrics import normalized_loss
from dpviz.privacy.block import Block
from dpviz.privacy.costs import Report
from dpviz.privacy.curator import ALL, Curator
from dpviz.privacy.guarantee import Neighboring, Notion
from dpviz.privacy.local import OUE, Hadamard, OneBit, flip_probability, public_hash, transform
from dpviz.privacy.noise import COIN, Secure, Seeded
from dpviz.privacy.plan import Plan
from dpviz.privacy.queries import ByUser, CellOf, InBalls, NearestOf, OffsetOf
from dpviz.privacy.rows import Rows
from tests.algorithms.stemmer_kaplan.test_stemmer_kaplan import blobs, view

EPSILONS = (0.01, 0.5, 1.0, 4.0, 20.0)


class Chances:
    """A noise source that records the requested probabilities and returns False for every coin."""

    def coins(self, chances):
        self.asked = chances
        return np.zeros(chances.shape, dtype=bool)


def likelihoods(chances):
    """Return the exact probability of each of 2^K reports of a person whose K bits have these probabilities."""
    reports = np.array(list(itertools.product([False, True], repeat=len(chances))))
    return np.where(reports, chances, 1 - chances).prod(axis=1)


def bit_chances(randomizer, answers):
    """Return the probabilities of all coins that the randomizer tosses, shape (people, bits)."""
    noise, ids = Chances(), np.arange(len(answers))
    if isinstance(randomizer, OUE):
        randomizer.reports(noise, answers)
    elif isinstance(randomizer, Hadamard):
        randomizer.reports(noise, answers, np.zeros(len(answers), dtype=int))  # all people get the same public row
    else:
        randomizer.gather(noise, answers, ids, 0)
    return noise.asked.reshape(len(answers), -1)


def worst_ratio(randomizer, answers):
    found = np.array([likelihoods(chances) for chances in bit_chances(randomizer, np.asarray(answers))])
    return float((found.max(axis=0) / found.min(axis=0)).max())


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_report_is_more_than_e_to_the_epsilon_times_likelier(epsilon):
    flip, bound = flip_probability(epsilon), math.exp(epsilon) * (1 + 1e-9)
    for seed in range(8):
        assert worst_ratio(Hadamard(6, flip, seed), range(6)) <= bound
    assert 0.999 * math.exp(epsilon) <= worst_ratio(OUE(6, flip), range(6)) <= bound
    assert 0.999 * math.exp(epsilon) <= worst_ratio(OneBit(flip), np.linspace(-1, 1, 101)) <= bound


def test_a_randomizer_that_tells_too_much_is_caught():
    class Eager(OUE):
        def reports(self, noise, answers):
            return noise.coins(np.where(answers[:, None] == np.arange(self.size), 0.75, self.flip))

    assert worst_ratio(Eager(6, flip_probability(1.0)), range(6)) > math.exp(1.0) * 1.5


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_flip_is_rounded_to_the_private_side_and_can_be_tossed_exactly(epsilon):
    flip = flip_probability(epsilon)
    assert flip * COIN == int(flip * COIN) and math.log((1 - flip) / flip) <= epsilon
    assert math.log((1 - flip) / flip) == pytest.approx(epsilon, rel=1e-3)
    chances = OneBit(flip).probabilities(np.linspace(-1, 1, 1001))
    np.testing.assert_array_equal(chances * COIN, np.rint(chances * COIN))
    assert chances.min() == flip and chances.max() == 1 - flip


def test_a_value_outside_the_promised_range_is_cut_twice():
    """Both the question and the randomizer clip the value, so that neither relies on the other."""
    flip = flip_probability(1.0)
    np.testing.assert_array_equal(OneBit(flip).probabilities(np.array([5.0, -5.0, 1.0, -1.0])), [1 - flip, flip] * 2)
    cell = CellOf(2.0, np.zeros(1), np.array([-1]), (2,))
    far = OffsetOf(cell, np.arange(2), 0.25, 1, False, seed=0).answers(Block(np.array([[0.75], [-0.75], [0.125]])))
    assert np.abs(far).tolist() == [1.0, 1.0, 0.5]


@pytest.mark.parametrize("oracle", [OUE, Hadamard])
def test_counts_are_unbiased_with_the_declared_spread(oracle):
    """Counts of empty categories have the declared sd within 10%; mean counts are within 4.5 standard errors."""
    n, K, runs = 100_000, 64, 60
    answers = np.minimum(np.random.default_rng(0).geometric(0.2, n) - 1, K - 1)
    true = np.bincount(answers, minlength=K)
    noise = Seeded(np.random.default_rng(1))
    flip = flip_probability(1.0)
    found = np.array([oracle(K, flip, seed).gather(noise, answers, np.arange(n), 5)[0] for seed in range(runs)])
    sd = oracle(K, flip).sd(n)
    assert np.abs(found.mean(axis=0) - true).max() < 4.5 * 1.2 * sd / math.sqrt(runs)
    empty = found[:, true < 20]
    assert empty.std() == pytest.approx(sd, rel=0.1)
    assert sd == pytest.approx(math.sqrt(n * {OUE: 3.683, Hadamard: 4.683}[oracle]), rel=1e-3)


@pytest.mark.slow
def test_the_aggregate_simulation_has_the_law_of_real_reports():
    answers, K, flip = np.array([0] * 30 + [1] * 10), 3, flip_probability(1.0)
    noise = Seeded(np.random.default_rng(0))
    oracle = OUE(K, flip)
    real = np.array([oracle.gather(noise, answers, np.arange(40), 40)[0] for _ in range(4000)])
    simulated = np.array([oracle.gather(noise, answers, np.arange(40), 4)[0] for _ in range(4000)])
    for category in range(K):
        assert stats.ks_2samp(real[:, category], simulated[:, category]).pvalue > 1e-4
    np.testing.assert_allclose(np.cov(real.T), np.cov(simulated.T), atol=0.12 * real.var(axis=0).max())
    wrong = np.array([OUE(K, flip_probability(0.5)).gather(noise, answers, np.arange(40), 4)[0] for _ in range(4000)])
    assert stats.ks_2samp(real[:, 2], wrong[:, 2]).pvalue < 1e-4, "another distribution must be told apart"


def test_shown_reports_are_part_of_the_sum():
    answers, flip = np.zeros(3, dtype=int), flip_probability(1.0)
    estimate, sample = OUE(4, flip).gather(Seeded(np.random.default_rng(0)), answers, np.arange(3), 9)
    np.testing.assert_allclose(estimate, (sample.sum(axis=0) - 3 * flip) / (0.5 - flip))


def test_transform_is_the_hadamard_matrix():
    values = np.random.default_rng(0).normal(size=16)
    np.testing.assert_allclose(transform(values), hadamard(16) @ values, atol=1e-12)


@pytest.mark.parametrize("source", [Secure(), Seeded(np.random.default_rng(0))], ids=["secure", "seeded"])
def test_coins_come_up_as_often_as_asked(source):
    chance = flip_probability(1.0)
    tosses = source.coins(np.full(40_000, chance))
    assert abs(tosses.mean() - chance) < 4 * math.sqrt(chance / 40_000)
    assert abs(tosses.mean() - flip_probability(0.8)) > 4 * math.sqrt(chance / 40_000)
    found = source.binomial(np.array([0, 10_000, 40_000]), chance)
    assert found[0] == 0 and abs(found[2] / 40_000 - chance) < 4 * math.sqrt(chance / 40_000)
    assert source.coins(np.array([0.0, 1.0])).tolist() == [False, True]


# questions


def cell_of(rng, d, width=0.5):
    offset = snap_toward_zero(rng.uniform(0, width, d))
    low = np.floor((-1 + offset) / width).astype(int)
    high = np.floor((1 + offset) / width).astype(int)
    return CellOf(width, offset, low, tuple(int(s) for s in high - low + 1))


def test_every_cell_is_listed_and_keys_undo_answers():
    rng = np.random.default_rng(0)
    for d in (1, 2, 3):
        cell = cell_of(rng, d)
        x = snap_toward_zero(rng.uniform(-1, 1, (300, d)))
        answers = cell.answers(Block(x))
        assert answers.min() >= 0 and answers.max() < cell.size
        np.testing.assert_array_equal(cell.keys(answers), np.floor((x + cell.offset) / cell.width))


def test_one_changed_row_changes_one_answer_only():
    rng = np.random.default_rng(1)
    cell = cell_of(rng, 2)
    questions = [cell, NearestOf(snap_toward_zero(rng.uniform(-1, 1, (5, 2))))]
    questions.append(OffsetOf(cell, np.arange(0, cell.size, 2), 0.25, 2, True, seed=3))
    for _ in range(100):
        x = snap_toward_zero(rng.uniform(-1, 1, (8, 2)))
        y, row = x.copy(), int(rng.integers(8))
        y[row] = snap_toward_zero(rng.uniform(-1, 1, 2))
        for question in questions:
            one, two = question.answers(Block(x)), question.answers(Block(y))
            np.testing.assert_array_equal(np.delete(one, row), np.delete(two, row))
            assert question.size or np.abs(np.concatenate([one, two])).max() <= 1


def test_groups_follow_from_numbers_and_have_their_shares():
    predicate = ByUser(7, (0.1, 0.2, 0.7))
    x = np.zeros((20_000, 1))
    parts = predicate.assign(Block(x))
    np.testing.assert_array_equal(parts, predicate.assign(Block(x + 0.5)))
    np.testing.assert_allclose(np.bincount(parts) / 20_000, [0.1, 0.2, 0.7], atol=0.012)
    taken = Block(x).take(np.array([5, 9, 11]))
    np.testing.assert_array_equal(predicate.assign(taken), parts[[5, 9, 11]])
    assert (ByUser(8, (0.1, 0.2, 0.7)).assign(Block(x)) != parts).mean() > 0.3


def test_the_public_hash_is_uniform_and_its_signs_are_balanced():
    bits = public_hash(3, np.arange(50_000)) / 2.0**64
    assert stats.kstest(bits, "uniform").pvalue > 1e-3
    question = OffsetOf(cell_of(np.random.default_rng(0), 1), np.arange(5), 0.25, 1, True, seed=1)
    signs = question.signs(np.arange(50_000)).astype(float)
    correlation = signs.T @ signs / 50_000
    assert np.abs(correlation - np.eye(5)).max() < 0.02 and np.abs(signs.mean(axis=0)).max() < 0.02


@pytest.mark.slow
def test_one_bit_sums_are_unbiased():
    rng = np.random.default_rng(2)
    x = snap_toward_zero(rng.uniform(-1, 1, (4000, 2)))
    cell = cell_of(rng, 2, 1.0)
    heavy, flip = np.arange(cell.size)[::2], flip_probability(2.0)
    found = []
    for seed in range(200):
        question = OffsetOf(cell, heavy, 0.5, 2, True, seed=seed)
        told, _ = OneBit(flip).gather(
            Seeded(np.random.default_rng(seed)), question.answers(Block(x)), np.arange(4000), 0
        )
        found.append(question.decode(told, np.arange(4000)))
    true = question.truth(Block(x))["sums"]
    sd = OneBit(flip).sd(4000) * question.spread
    assert np.abs(np.mean(found, axis=0) - true).max() < 4 * sd / math.sqrt(200)
    assert np.std(found, axis=0).mean() == pytest.approx(sd, rel=0.1)


# the curator


def curator(relation, n=50, reports=1):
    rows = Rows(np.zeros((n, 2)), Domain.box(-1, 1, 2, n_public=n))
    noise = Seeded(np.random.default_rng(0))
    plan = Plan({"report": (Report(1.0),) * reports})
    return Curator(rows, plan, noise, neighboring=relation, n_public=n, hidden=[])


QUESTION = NearestOf(np.array([[0.0, 0.0], [0.5, 0.5]]))


def test_a_person_sends_one_report_in_any_group():
    asked = curator(Neighboring.REPLACE)
    left, right = asked.partition(ALL, ByUser(0, (0.5, 0.5)))
    assert asked.collect("report", QUESTION, left).users + asked.collect("report", QUESTION, right).users == 50
    with pytest.raises(PermissionError, match="number 2 is not in the plan"):
        asked.collect("report", QUESTION, left)
    with pytest.raises(PermissionError, match="number 2 is not in the plan"):
        asked.collect("report", QUESTION)
    assert [entry.mechanism for entry in asked.ledger] == ["OUE", "OUE"]


def test_reports_and_groups_are_refused_where_numbers_would_shift():
    asked = curator(Neighboring.ADD_REMOVE)
    with pytest.raises(PermissionError, match="needs the relation replace"):
        asked.collect("report", QUESTION)
    with pytest.raises(PermissionError, match="by row number"):
        asked.partition(ALL, ByUser(0, (0.5, 0.5)))
    asked = curator(Neighboring.REPLACE)
    with pytest.raises(PermissionError, match="a changed row may leave one part"):
        asked.partition(ALL, InBalls(np.zeros((1, 2)), np.ones(1)))
    assert asked.ledger == ()


# the algorithm


def run(X, seed=0, **values):
    domain = Domain.box(-1, 1, X.shape[1], n_public=len(X))
    return StemmerKaplanLocal(**{"n_clusters": 8, **values}).run(X, domain=domain, seed=seed)


def test_the_promise_is_pure_and_local_and_needs_no_trust():
    promise = StemmerKaplanLocal(epsilon=1.5).guarantee(2, 1000)
    assert (promise.notion, promise.neighboring) == (Notion.LOCAL, Neighboring.REPLACE)
    assert (promise.epsilon, promise.delta, promise.pure_epsilon) == (1.5, 0.0, 1.5)
    assert promise.trust.startswith("nobody")


@pytest.mark.parametrize("budget", ["users", "epsilon"])
@pytest.mark.parametrize("oracle", ["oue", "hadamard"])
def test_every_path_spends_at_most_epsilon(budget, oracle):
    trace = run(blobs(2, 3000), epsilon=3.0, oracle=oracle, budget=budget)
    assert trace.spent.epsilon == pytest.approx(3.0, rel=1e-6) and trace.spent.epsilon <= 3.0 * (1 + 1e-12)
    assert trace.claimed.epsilon == pytest.approx(3.0) and trace.claimed.delta == 0


def test_averages_miss_the_cell_means_by_the_declared_noise():
    """At epsilon 20 no bit is flipped; only the randomness of one bit per person remains, which the trace declares."""
    X = blobs(2, 60_000)
    errors = []
    for step in (step for step in run(X, epsilon=20.0).steps if step.kind == "averages"):
        said = step.released
        cells = np.floor((X + said["offset"]) / said["width"])
        for key, average, sd in zip(said["keys"], said["averages"], said["average_sd"], strict=True):
            inside = X[(cells == key).all(axis=1)]
            if len(inside) > 5000:
                errors += ((average - inside.mean(axis=0)) / sd).tolist()
    assert len(errors) > 15 and 0.6 < np.sqrt(np.mean(np.square(errors))) < 1.4


def test_heavy_cells_stand_out_and_weights_add_up_to_n():
    trace = run(blobs(2, 20_000), epsilon=2.0)
    for step in trace.steps[:3]:
        said = step.released
        assert (said["noisy_counts"] > said["threshold"]).all() and said["threshold"] == 2 * said["noise_sd"]
        assert said["sample"].shape == (24, len(said["estimates"]))
    assert trace.coreset.weights.sum() == pytest.approx(20_000)


def test_advice_warns_before_a_hopeless_run():
    algorithm = StemmerKaplanLocal(n_clusters=8, epsilon=1.0)
    assert not algorithm.advice(2, 1_000_000)
    assert any("stand out" in sentence for sentence in algorithm.advice(2, 5000))
    assert any("too few people" in sentence for sentence in algorithm.advice(16, 20_000))
    errors = [algorithm.predicted(2, n) for n in (10_000, 40_000)]
    assert errors[1]["weight"] == pytest.approx(2 * errors[0]["weight"], rel=0.01)
    assert errors[1]["center"] == pytest.approx(errors[0]["center"] / 2, rel=0.01)


@pytest.mark.slow
def test_two_hundred_thousand_users_at_epsilon_two():
    X = blobs(2, 200_000)
    domain = Domain.box(-1, 1, 2, n_public=len(X))
    losses = [normalized_loss(X, run(X, seed, epsilon=2.0).cluster_centers, domain) for seed in range(2)]
    assert max(losses) < 0.010


# figures


def test_estimate_frame_scales_weights_to_all_users():
    trace = run(blobs(2, 8000), epsilon=4.0)
    cells, weights = (next(step for step in trace.steps if step.kind == kind) for kind in ("reports", "weights"))
    table = figures.estimate_table(cells, hidden=True)
    assert table.true_count.sum() == cells.released["users"]
    assert table.heavy.sum() == len(cells.released["keys"])
    table = figures.estimate_table(weights, hidden=True)
    assert table.true_count.sum() == pytest.approx(8000)
    assert "true_count" not in figures.estimate_table(weights, hidden=False)


@pytest.mark.parametrize("oracle", ["oue", "hadamard"])
def test_report_frame_shows_what_was_sent(oracle):
    trace = run(blobs(2, 8000), epsilon=20.0, oracle=oracle)
    step = trace.steps[0]
    table = figures.report_table(step, hidden=True)
    assert set(table.user) == set(range(1, 25)) and table.says.isin([0, 1]).all()
    own = table[table.true]
    if oracle == "oue":  # at epsilon 20, a person's own bit is set half of the time, and other bits never
        assert table[~table.true].says.sum() == 0 and 0.2 < own.says.mean() < 0.8
    else:  # a report supports the person's own cell and half of the others
        assert own.says.all() and 0.3 < table[~table.true].says.mean() < 0.7
    assert "true" not in figures.report_table(step, hidden=False)


def test_the_pane_warns_where_no_cluster_could_stand_out():
    assert "reports to stand out" in figures.PANE.warning(run(blobs(2, 300), epsilon=0.1))
    assert not figures.PANE.warning(run(blobs(2, 20_000), epsilon=4.0))


def test_users_panels_mark_the_number_and_the_losses_tried():
    trace = run(blobs(2, 3000))
    algorithm = StemmerKaplanLocal(n_clusters=8)
    table = pd.DataFrame([{"users": n, **algorithm.predicted(2, n)} for n in (1000, 10_000, 100_000)])
    looked = view(trace, blobs(2, 3000))
    seen, losses = figures.users_panels(looked, table, 10_000, {10_000: 0.2, 1000: 0.9})
    shares = np.array(seen.figure.data[0].y)
    np.testing.assert_allclose(shares, 100 * table.heavy / table.users)
    np.testing.assert_allclose(shares[:-1] / shares[1:], math.sqrt(10), rtol=0.02)
    assert tuple(seen.figure.data[1].x) == (10_000,)
    tried = losses.figure.data[0]
    assert tuple(tried.x) == (1000, 10_000)
    np.testing.assert_allclose(tried.y, np.array([0.9, 0.2]) / looked.reference_loss)  # losses as multiples of KMeans'
    assert "NOT PRIVATE" in losses.figure.to_json() and f"10,000 people {tried.y[1]:.3g}" in losses.alt
