"""Check NSM's boxes: which are quartered, what their counts become, and the summary that they give."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from dpviz.algorithms.nsm.boxes import MOST, Boxes
from dpviz.algorithms.nsm.nsm import LEAST, LOOK, NSM
from dpviz.audits.audit import audit, instance, pairs
from dpviz.domain import Domain
from dpviz.privacy.guarantee import Neighboring


def test_boxes_with_counts_above_both_noises_are_quartered_and_others_averaged():
    boxes = Boxes.first(np.ones(2), 2.0, 2.0)
    assert len(boxes.low) == 4 and not boxes.counts.any()
    boxes = boxes.counted(np.array([90.0, 21.0, 19.0, -5.0]), 1.0)
    assert boxes.full(10.0, 5.0).tolist() == [True, True, False, False]  # 2 x 10 is more than 3 x 5
    assert boxes.full(10.0, 10.0).tolist() == [True, False, False, False]
    finer = boxes.quartered(boxes.full(10.0, 10.0))
    assert (finer.low[:3] == boxes.low[1:]).all() and (finer.high[3:] - finer.low[3:] == 0.5).all()
    assert (finer.low[3:].min(axis=0) == boxes.low[0]).all() and (finer.high[3:].max(axis=0) == boxes.high[0]).all()
    again = finer.counted(np.array([11.0, 25.0, 5.0, 1.0, 2.0, 3.0, 4.0]), 4.0)
    assert again.counts == pytest.approx([13.0, 23.8, 3.0, 1.0, 2.0, 3.0, 4.0])
    assert again.weights.tolist() == [5, 5, 5, 4, 4, 4, 4]
    assert again.full(10.0, 0.1).tolist() == [True, True, *[False] * 5]  # averaged counts have less noise: 20 / sqrt(5)


def test_boxes_lie_in_their_parents_and_those_outside_the_ball_are_left_out():
    boxes = Boxes.first(np.ones(2), 1.0, 1.0)
    for _ in range(3):
        middles, squares = boxes.places()
        assert (np.linalg.norm(middles, axis=1) <= 1).all() and np.ptp(squares) == 0
        boxes = boxes.quartered(np.ones(len(boxes.low), dtype=bool))
    middles, squares = boxes.places()
    assert (
        squares[0] == pytest.approx(2 / 16**2) and 0.75 * 256 < len(middles) < 256
    )  # a disc fills pi / 4 of its square


def test_boxes_start_as_small_as_the_ball_that_holds_nearly_all_rows_and_cover_the_rest():
    boxes = Boxes.first(np.ones(2), 2.0, 0.1)
    near = (boxes.low < 0.07).all(axis=1) & (boxes.high > -0.07).all(axis=1)
    assert (boxes.high - boxes.low)[near].max() <= 0.2 and len(boxes.low) < 60
    assert (boxes.high - boxes.low).prod(axis=1).sum() == pytest.approx(4.0)


def test_at_most_so_many_boxes_and_the_fullest_are_quartered_first():
    boxes = Boxes.first(np.ones(1), 1.0, 1.0)
    while 4 * len(boxes.low) <= MOST:
        boxes = boxes.quartered(np.ones(len(boxes.low), dtype=bool))
    counts = np.arange(len(boxes.low), dtype=float)
    full = boxes.counted(counts, 1.0).full(0.0, 0.0)
    room = (MOST - len(counts)) // 3
    assert np.flatnonzero(full).tolist() == list(range(len(counts) - room, len(counts)))


def test_boxes_are_small_where_rows_are_dense_and_their_counts_add_up():
    rng = np.random.default_rng(0)
    X = np.concatenate([0.01 * rng.normal(size=(3000, 2)) - 0.5, 0.05 * rng.normal(size=(60, 2)) + 0.8]).clip(-1, 1)
    trace = NSM(n_clusters=2, epsilon=2.0, summary="boxes").run(X, domain=Domain.box(-1, 1, 2, n_public=3060), seed=0)
    levels = [step.released for step in trace.steps if step.kind == "boxes"]
    assert len(levels) == len(trace.plan.costs["boxes"]) == 6
    assert all(one["noisy_votes"].sum() == pytest.approx(3060, abs=400) for one in levels)
    end = next(step.released for step in trace.steps if step.kind == "zoom")
    dense = np.linalg.norm(end["population"] + 0.5, axis=1) < 0.05
    far = end["kept"] & (np.linalg.norm(end["population"] - 0.8, axis=1) < 0.3)
    assert dense.sum() > 0.2 * len(dense) and 1 <= far.sum() < 20
    assert np.linalg.norm(trace.cluster_centers - 0.8, axis=1).min() < 0.1


def apart(d, n_far, n=5000):
    """Return rows in one small group and, if n_far is positive, in another one far away; otherwise spread rows."""
    rng = np.random.default_rng(d)
    if not n_far:
        return rng.uniform(-1, 1, (n, d))
    middles = np.repeat([-5.0, 5.0], (n - n_far) // 2)[:, None]
    return np.concatenate([rng.normal(size=(n - n_far, d)) + middles, rng.normal(size=(n_far, d)) + 50])


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("n_far", [0, 60])
def test_boxes_come_next_only_if_a_few_cells_hold_nearly_all_rows(d, n_far):
    X = apart(d, n_far)
    domain = Domain.box(X.min(axis=0), X.max(axis=0), n_public=len(X))
    trace = NSM(n_clusters=3).run(X, domain=domain, seed=0)
    kinds = [step.kind for step in trace.steps]
    assert ("boxes" in kinds, "candidates" in kinds) == (n_far > 0, n_far == 0)
    look = trace.steps[kinds.index("look")].released
    Z = domain.normalize(X)
    true = np.bincount(
        ((Z[:, None] - look["population"]) ** 2).sum(axis=2).argmin(axis=1), minlength=(32, 64, 512)[d - 1]
    )
    assert (
        len(look["population"]) == (32, 64, 512)[d - 1]
        and np.abs(look["noisy_votes"] - true).max() < 5 * look["noise_sd"]
    )
    assert (
        look["kept"].sum() == 6 and look["noisy_votes"][look["kept"]].min() >= look["noisy_votes"][~look["kept"]].max()
    )
    assert trace.spent.mu == pytest.approx(trace.claimed.mu) and trace.claimed.epsilon == pytest.approx(1.0)


@pytest.mark.parametrize(("share", "kind"), [(0.7, "boxes"), (0.95, "candidates")])
def test_with_three_columns_candidates_come_next_if_one_cell_holds_nearly_all_rows(share, kind):
    middles = np.array([[-0.375] * 3, [0.8] * 3, [-0.8, 0.8, 0.8], [0.8, -0.8, -0.8]])
    sizes = [int(5000 * share), *[int(5000 * (1 - share) / 3)] * 3]
    X = np.repeat(middles, sizes, axis=0) + 0.01 * np.random.default_rng(0).normal(size=(sum(sizes), 3))
    trace = NSM(n_clusters=4, epsilon=8.0).run(X, domain=Domain.box(-1, 1, 3, n_public=5000), seed=0)
    assert {"boxes", "candidates"} & {step.kind for step in trace.steps} == {kind}


def test_whichever_way_a_run_goes_it_asks_the_same_of_the_rest():
    """The look alone decides: with the noisy counts of the other data, the run would go the other way."""
    names = {}
    for n_far in (0, 60):
        X = apart(2, n_far)
        trace = NSM(n_clusters=3).run(X, domain=Domain.box(X.min(axis=0), X.max(axis=0), n_public=5000), seed=0)
        names[n_far] = {entry.name for entry in trace.ledger}
    assert names[0] - names[60] == {"candidates.counts", "candidates.sums"} and names[60] - names[0] == {"boxes"}


def test_a_look_is_bought_as_exact_as_it_must_be_and_only_if_that_is_cheap():
    noise = [1 / NSM(epsilon=epsilon).plan(2, 5000).costs["look"][0].gdp / 5000 for epsilon in (0.25, 1.0)]
    assert noise[0] == pytest.approx(LOOK) and noise[1] < LOOK
    costs = NSM(epsilon=4.0, radius_share=0.0).plan(2, 5000)
    assert costs.costs["look"][0].gdp ** 2 == pytest.approx(LEAST * sum(one.gdp**2 for one in costs.costliest))
    assert "look" not in NSM(epsilon=0.25).plan(2, 1000).costs and "look" not in NSM(n_clusters=13).plan(2, 5000).costs
    assert "look" not in NSM().plan(4, 5000).costs and "look" not in NSM(summary="candidates").plan(2, 5000).costs


def test_with_three_columns_boxes_that_noise_may_explain_are_dropped():
    X = apart(3, 60)
    domain = Domain.box(X.min(axis=0), X.max(axis=0), n_public=len(X))
    end = next(step for step in NSM(n_clusters=3).run(X, domain=domain, seed=0).steps if step.kind == "zoom")
    weights, votes = end.released["weights"], end.released["noisy_votes"]
    assert weights.min() > 0.5 * end.released["noise_sd"] and 0 < end.released["kept"].sum() < (votes > 0).sum()


@pytest.mark.slow
@pytest.mark.parametrize("pair", pairs(Neighboring.ADD_REMOVE), ids=lambda pair: pair.name)
def test_boxes_reveal_no_more_than_they_claim(pair):
    runs = 100 if pair.name == "n = k" else 30
    finding = audit(instance(NSM, summary="boxes", runs=runs), pair, runs=runs)
    assert finding.holds and finding.realized <= finding.claimed * (1 + 1e-9)


def test_boxes_are_counted_with_few_columns_and_only_if_asked_for():
    for d, summary, boxes in ((1, "boxes", True), (3, "boxes", True), (3, "either", False), (4, "boxes", False)):
        X = make_blobs(500, d, centers=4, random_state=0)[0]
        trace = NSM(n_clusters=4, summary=summary).run(X, domain=Domain.tight_nonprivate(X), seed=0)
        assert ("boxes" in {step.kind for step in trace.steps}) == boxes
