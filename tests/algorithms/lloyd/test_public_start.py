"""Check the public start: where centers begin, what a far row, a small count and noise may do, and what it says."""

import dataclasses
import math

import numpy as np
import pytest

from dpviz.algorithms.lloyd.public_start import PublicStart
from dpviz.audits.audit import audit, pairs
from dpviz.domain import Domain
from dpviz.figures import View, pane
from dpviz.figures.kit.theme import LIGHT
from dpviz.metrics import normalized_loss
from dpviz.privacy.accounting import mu_of_epsilon
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.queries import NearestSums
from dpviz.takeaway.foreign import algorithm_of, read
from dpviz.takeaway.label import facts

MEANS = np.array([[0.55, 0.5], [-0.5, 0.55], [-0.55, -0.45], [0.45, -0.55]])
DOMAIN = Domain.box(-1, 1, 2, n_public=4000)
FOUR = PublicStart(n_clusters=4, epsilon=1.0)


def rows(n, seed=0, shift=0.0):
    rng = np.random.default_rng(seed)
    return np.clip(MEANS[rng.integers(4, size=n)] + shift + 0.06 * rng.normal(size=(n, 2)), -1, 1)


def test_the_whole_budget_is_divided_among_the_rounds():
    for rounds in (1, 2):
        plan = dataclasses.replace(FOUR, iterations=rounds).plan(2, 4000).costs
        assert [len(costs) for costs in plan.values()] == [rounds, rounds]
        squares = sum(cost.mu**2 for costs in plan.values() for cost in costs)
        assert math.sqrt(squares) == pytest.approx(mu_of_epsilon(1.0, 1 / 400_000))
        assert plan["update.sums"][0].mu ** 2 / plan["update.counts"][0].mu ** 2 == pytest.approx(math.sqrt(8))


def test_centers_begin_where_the_public_rows_put_them_and_the_radius_follows_from_these():
    public = rows(400, seed=1)
    method = FOUR.with_public_rows(public, DOMAIN)
    begun = method.run(rows(4000), domain=DOMAIN, seed=0).steps[0].released
    assert begun["public"] and np.abs(np.sort(begun["centers"], axis=0) - np.sort(MEANS, axis=0)).max() < 0.02
    assert method.radius_share * DOMAIN.radius == pytest.approx(3 * 0.06 * math.sqrt(2), rel=0.1)
    assert method == FOUR.with_public_rows(public, DOMAIN), "public rows give the same centers every time"
    assert dataclasses.replace(FOUR, radius_share=0.5).with_public_rows(public, DOMAIN).radius_share == 0.5
    assert FOUR.with_public_rows(public[:6], DOMAIN).radius_share is None, "six rows say nothing of distances"


def test_public_rows_and_two_rounds_beat_either_alone():
    private, public = rows(4000), rows(40, seed=1)
    with_both = FOUR.with_public_rows(public, DOMAIN)

    def loss(trace):
        return normalized_loss(private, trace.cluster_centers, DOMAIN)

    alone = normalized_loss(private, np.array(with_both.public_centers), DOMAIN)
    losses = [np.mean([loss(one.run(private, domain=DOMAIN, seed=s)) for s in range(5)]) for one in (with_both, FOUR)]
    best = normalized_loss(private, MEANS, DOMAIN)
    assert losses[0] < 1.01 * best < alone and losses[0] < losses[1]


def test_a_row_beyond_the_radius_pulls_as_if_it_lay_at_the_radius():
    found = PublicStart(n_clusters=1, radius_share=0.25, public_centers=((0.0, 0.0),))
    query = found.query(np.zeros((1, 2)), found.reach(0, DOMAIN), DOMAIN)
    assert isinstance(query, NearestSums) and query.relative
    assert query.sensitivity(2, Neighboring.ADD_REMOVE) == {"sums": 0.25 * DOMAIN.radius, "counts": 1.0}
    shifted = np.full((4000, 2), 0.9)
    trace = found.run(shifted, domain=DOMAIN, seed=0)
    ends = [np.linalg.norm(step.released["centers"]) for step in trace.steps]
    assert np.diff(ends) == pytest.approx(0.25 * DOMAIN.radius, rel=0.05)
    assert any("lie elsewhere" in words for words in trace.warnings)


def test_a_center_whose_count_is_not_above_its_noise_stays_and_its_noise_is_not_stated_as_small():
    empty = (*map(tuple, MEANS[:3].tolist()), (0.9, -0.9))
    private = rows(4000)
    private = private[~((private[:, 0] > 0) & (private[:, 1] < 0))]
    end = (
        PublicStart(n_clusters=4, public_centers=empty, radius_share=0.1).run(private, domain=DOMAIN, seed=0).steps[-1]
    )
    said = end.released
    assert said["dead"].tolist() == [False, False, False, True]
    assert said["centers"][3] == pytest.approx([0.9, -0.9], abs=1e-6)
    assert said["center_sd"][3].min() > 10 * said["center_sd"][:3].max()


def test_moves_that_noise_explains_are_damped_and_others_are_not():
    moves, sd = np.array([[0.1, 0.1], [0.01, 0.0], [0.03, 0.04]]), np.full(3, 0.02)
    assert FOUR.gain(moves, sd)[:, 0] == pytest.approx([0.96, 0.0, 1 - 0.0004 / 0.00125])


@pytest.mark.parametrize(
    ("public", "words"),
    [
        (np.zeros((5, 3)), "must have 2 columns"),
        (np.full((5, 2), 3.0), "5 of 5 public rows lie outside the bounds"),
        (np.zeros((500, 2)), "at least k = 4 different ones .* got 1"),
        (np.full((5, 2), np.nan), "got 0"),
        ([["a", "b"]], "table of numbers"),
    ],
)
def test_public_rows_that_do_not_fit_are_refused_in_one_sentence(public, words):
    with pytest.raises((ValueError, TypeError), match=f"^Public start.*{words}"):
        FOUR.with_public_rows(public, DOMAIN)


@pytest.mark.parametrize(
    ("centers", "words"),
    [
        ((), "equally many numbers"),
        (((1.0, 2.0), (1.0,)), "equally many numbers"),
        ([[1.0, 2.0]], "equally many numbers"),
        (((1.0, "2"),), "finite numbers"),
        (((1.0, math.nan),), "finite numbers"),
    ],
)
def test_public_centers_that_are_no_points_are_refused(centers, words):
    with pytest.raises(ValueError, match=words):
        PublicStart(public_centers=centers)


def test_public_centers_of_other_data_are_refused_before_anything_is_booked():
    for k, centers, words in (
        (3, ((0.0, 0.0),) * 4, "3 points of 2 columns; got 4 of 2"),
        (1, ((0.0,),), "1 points of 2 columns; got 1 of 1"),
        (1, ((0.0, 7.0),), "inside the bounds"),
    ):
        with pytest.raises(ValueError, match=words):
            PublicStart(n_clusters=k, public_centers=centers).check_domain(DOMAIN, 4000)


def test_a_method_without_a_use_for_public_rows_says_so():
    from dpviz.algorithms import ALGORITHMS

    with pytest.raises(ValueError, match="GLloyd: this method uses no public rows"):
        ALGORITHMS["glloyd"]().with_public_rows(rows(40), DOMAIN)


def test_it_says_where_the_first_centers_come_from():
    method = FOUR.with_public_rows(rows(40), DOMAIN)
    assert "no public rows are given" in FOUR.advice(2, 4000)[0]
    assert "Nothing checks" in method.advice(2, 4000)[0]
    trace = method.run(rows(4000), domain=DOMAIN, seed=0)
    assert "declared public" in trace.steps[0].title and trace.warnings == ()
    film = pane(trace).events(View(trace, LIGHT, (0, 1), ["x", "y"], ["", ""]), pane(trace).shots(trace))
    assert film[0][0].head == "Start from public rows"
    assert "counts" not in film[1][0].tail and "harder" in film[1][0].tail


def test_a_trace_holds_the_public_centers_and_gives_the_same_method_back():
    method = FOUR.with_public_rows(rows(40), DOMAIN)
    again = read(method.run(rows(4000), domain=DOMAIN, seed=0).to_json())
    assert "4 first centers from rows that were declared public" in facts(again)["Public inputs"]
    assert algorithm_of(again) == method and again.parameters["public_centers"] == method.public_centers


@pytest.mark.parametrize(("rounds", "most"), [(1, 1.1), (2, 1.35)])
def test_the_stated_noise_is_at_least_what_reruns_show(rounds, most):
    """Damped moves average the rounds, so that with two rounds the stated noise is up to a third too large."""
    off = tuple(map(tuple, (MEANS + 0.1).tolist()))
    method = PublicStart(n_clusters=4, epsilon=1.0, iterations=rounds, radius_share=0.18, public_centers=off)
    private, found, told = rows(4000), [], []
    for seed in range(100):
        end = method.run(private, domain=DOMAIN, seed=seed).steps[-1].released
        found.append(end["centers"])
        told.append(end["center_sd"])
    measured = np.sqrt(np.var(found, axis=0, ddof=1).mean(axis=1))
    ratio = np.sqrt(np.square(told).mean(axis=(0, 2))) / measured
    assert 0.9 < np.exp(np.log(ratio).mean()) < most, ratio


def test_centers_that_stay_for_want_of_rows_raise_a_doubt():
    trace = PublicStart(n_clusters=4, epsilon=0.05).with_public_rows(rows(40), DOMAIN).run(
        rows(60), domain=dataclasses.replace(DOMAIN, n_public=60), seed=0
    )  # fmt: skip
    assert any("not above their noise" in words for words in trace.warnings)


class FromPrivateRows(PublicStart):
    """A broken twin that places the first centers by the private rows, as if these were public."""

    def steps(self, curator, domain, rng):
        secret = curator._session._blocks[0].x
        ends = domain.denormalize(np.stack([secret.min(axis=0), secret.max(axis=0)]))
        yield from PublicStart.steps(
            dataclasses.replace(self, public_centers=tuple(map(tuple, ends.tolist()))), curator, domain, rng
        )


@pytest.mark.parametrize("broken", [False, True])
def test_first_centers_that_read_private_rows_are_caught_by_the_audit(broken):
    cls = FromPrivateRows if broken else PublicStart
    method = cls(n_clusters=2, delta=0.2, public_centers=((-0.5, -0.5), (0.5, 0.5)), radius_share=0.25)
    found = audit(method, pairs(Neighboring.ADD_REMOVE)[0], runs=30)
    assert found.refuted == broken, found
