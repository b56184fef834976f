"""Check the paid count of rows outside the declared bounds: what it counts, what it costs, and how it is worded."""

import math

import numpy as np
import pandas as pd
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.algorithms.rows_outside import RowsOutside
from dpviz.datasets import clipping
from dpviz.domain import Domain
from dpviz.postprocessing.rows_outside import advice, answer, half_width
from dpviz.privacy.accounts import Account, Claim, FileBudget, Refused
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.rows import Rows, marked
from dpviz.trace import Trace

DOMAIN = Domain.box([0, 0], [120, 1000], n_public=3000, columns=("age", "euro"), rows_per_person=3)


def people(seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.uniform(18, 90, 3000), rng.lognormal(7, 0.7, 3000)])
    X[::12, 0] = np.nan
    return X


def asked(X=None, epsilon=1.0, domain=DOMAIN, **how):
    X = people() if X is None else X
    return RowsOutside(epsilon=epsilon).run(X, domain=domain, **(how or {"seed": 0}))


def true_count(trace):
    return trace.steps[0].hidden[0].statistic["outside"]


def test_rows_count_once_before_clipping_and_incomplete_rows_are_left_out_as_in_a_run():
    X = people()
    whole = np.isfinite(X).all(axis=1)
    far = ((X < DOMAIN.low) | (X > DOMAIN.high)).any(axis=1)
    assert (far & ~whole).any() and (far & whole).sum() > 1000
    assert true_count(asked(X)) == (far & whole).sum() == clipping(X, DOMAIN).outside
    both = np.array([[130.0, 2000.0], [130.0, 5.0], [120.0, 1000.0], [0.0, 0.0], [np.inf, 5.0], [-1.0, np.nan]])
    assert true_count(asked(both)) == 2, "a value on a bound is inside, and a cell that is no number leaves its row out"
    assert true_count(asked(pd.DataFrame(both[:, ::-1], columns=["euro", "age"]))) == 2
    single = np.float32([[0.1]]).astype(float)
    assert single > 0.1 and not Domain.box(0, 0.1, 1).outside(single).any()


def test_a_mark_depends_on_its_own_row_and_no_run_reads_it():
    X, rng = people(), np.random.default_rng(1)
    marks = marked(X, DOMAIN)._x[:, 0]
    for i in rng.integers(3000, size=20):
        other = X.copy()
        other[i] = rng.uniform(-500, 5000, 2)
        changed = marked(other, DOMAIN)._x[:, 0]
        assert (np.delete(changed, i) == np.delete(marks, i)).all()
    before = ALGORITHMS["nsm"](n_clusters=2).run(X, domain=DOMAIN, seed=0)
    asked(X)
    assert ALGORITHMS["nsm"](n_clusters=2).run(X, domain=DOMAIN, seed=0).to_json() == before.to_json()


def test_the_price_is_epsilon_for_a_row_and_three_times_that_for_a_person_with_three():
    trace = asked(epsilon=0.05)
    (entry,) = trace.ledger
    assert (entry.label, entry.mechanism, entry.sensitivity, entry.scale) == ("outside", "Laplace", 1.0, 20.0)
    assert trace.claimed.epsilon == trace.spent.epsilon == 0.05 and trace.claimed.delta == trace.spent.delta == 0
    assert trace.claimed.person.epsilon == pytest.approx(0.15)
    claim = Claim.of(RowsOutside(epsilon=0.05), DOMAIN)
    assert claim.neighboring is Neighboring.ADD_REMOVE and claim.parameters == {"epsilon": 0.05}
    run = Claim.of(ALGORITHMS["nsm"](n_clusters=2, epsilon=1.0), DOMAIN)
    both = Account("key", (run, claim))
    assert both.total(Neighboring.ADD_REMOVE).epsilon == pytest.approx(1.05, abs=1e-6)
    assert both.total(Neighboring.REPLACE).epsilon > Account("key", (run,)).total(Neighboring.REPLACE).epsilon + 0.099
    tight = Account("key", (run,), {Neighboring.ADD_REMOVE: FileBudget(1.04, run.delta)})
    with pytest.raises(Refused, match="Rows outside the bounds would bring this file to .* is left. Nothing was spent"):
        tight.check(claim)


@pytest.mark.slow
def test_one_more_marked_row_is_realized_in_full():
    """The two densities differ by exactly e^epsilon beyond both counts, so the promise is neither broken nor loose."""
    few, many = np.full((40, 2), 5000.0), np.full((41, 2), 5000.0)
    draws = [
        np.array([asked(X, 1.0, seed=seed).steps[0].released["noisy_count"] for seed in range(3000)])
        for X in (few, many)
    ]
    ratio = (draws[1] > 41).mean() / (draws[0] > 41).mean()
    assert ratio == pytest.approx(math.e, rel=0.15)


def test_the_interval_holds_in_95_of_100_draws():
    true, count = true_count(asked()), 0
    for seed in range(400):
        released = asked(epsilon=0.05, seed=seed).steps[0].released
        count += abs(released["noisy_count"] - true) <= half_width(released["count_sd"])
    assert 0.92 <= count / 400 <= 0.98


def test_a_private_answer_holds_no_secret_and_survives_a_file():
    trace = asked(noise="secure")
    assert trace.seed is None and not trace.steps[0].hidden and len(trace.cluster_centers) == 0
    again = Trace.from_json(trace.to_json())
    assert again.steps[0].released["noisy_count"] == trace.steps[0].released["noisy_count"]


@pytest.mark.parametrize(
    ("count", "says", "does"),
    [
        (1770.4, "About 1,770 of 3,000 rows lie outside your bounds (±60, 95 %).", "widen the bounds of euro first"),
        (-25.0, "About 0 of 3,000 rows", "leaves open"),
        (-300.0, "About 0 of 3,000 rows", "cut little off"),
        (3400.0, "About 3,000 of 3,000 rows", "widen"),
        (60.0, "About 60 of 3,000 rows", "leaves open"),
    ],
)
def test_the_words_stay_within_the_possible_and_the_released_number_does_not(count, says, does):
    trace = asked(epsilon=0.05)
    object.__setattr__(trace.steps[0], "released", {**trace.steps[0].released, "noisy_count": count})
    assert answer(trace, 3000).startswith(says) and does in advice(trace, 3000, ["euro"])
    assert trace.steps[0].released["noisy_count"] == count


def test_wrong_questions_are_one_sentence():
    for epsilon in (0, -1, 11, 1e9, math.nan, math.inf):
        with pytest.raises(ValueError, match="^Rows outside the bounds: epsilon must"):
            RowsOutside(epsilon=epsilon)
    with pytest.raises(ValueError, match="as they were read"):
        RowsOutside().run(Rows(people(), DOMAIN), seed=0)
