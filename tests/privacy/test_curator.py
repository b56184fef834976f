"""Check the curator's methods: partitions, selections, sparse keys, exact releases, and refusals before the draw."""

import copy
import dataclasses
import inspect
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpviz.domain import Domain
from dpviz.geometry import GRID, Population
from dpviz.privacy import ledger, queries
from dpviz.privacy.accounting import delta_of_mu
from dpviz.privacy.costs import (
    BestOf,
    Cover,
    Exact,
    Exponential,
    Gaussian,
    Halving,
    Laplace,
    Report,
    Shuffled,
    Threshold,
)
from dpviz.privacy.curator import ALL, Curator
from dpviz.privacy.guarantee import Neighboring
from dpviz.privacy.noise import Secure, Seeded
from dpviz.privacy.plan import Plan, gaussians
from dpviz.privacy.queries import (
    Candidates,
    CellCover,
    Count,
    KeyQuery,
    NearestOf,
    NearestSums,
    NearestVotes,
    Positions,
    Predicate,
    Projection,
    Query,
    Question,
    Score,
    SwapCosts,
    SwapScore,
)
from dpviz.privacy.queries.trees import Halvings
from dpviz.privacy.rows import UTILITY_SLACK, Rows

AR, REPLACE, MOVE = Neighboring.ADD_REMOVE, Neighboring.REPLACE, Neighboring.MOVE_RHO
X = np.array([[-0.75, -0.5], [-0.5, 0.25], [-0.25, 0.5], [0.25, 0.5], [0.5, -0.5], [0.75, 0.0], [0.75, 0.25]])
LEFT_AND_RIGHT = Population(np.array([[-0.5, 0.0], [0.5, 0.0], [0.5, 0.5]]))


@dataclasses.dataclass(frozen=True, eq=False)
class Below(Predicate):
    """A split at a public line: rows to the left of it are in part 0."""

    at: float
    column: int = 0

    def assign(self, block):
        return (block.x[:, self.column] > self.at).astype(int)


@dataclasses.dataclass(frozen=True, eq=False)
class KeptVotes(NearestVotes):
    """Votes that a session may keep for later queries."""

    keep = True


@dataclasses.dataclass(frozen=True, eq=False)
class Popular(Score):
    """Votes as utilities; candidates in `out` are excluded by a public rule."""

    votes: NearestVotes
    out: tuple[int, ...] = ()
    reason = "one row casts one vote"

    @property
    def query(self):
        return self.votes

    def utility(self, statistic):
        utility = statistic[""].copy()
        utility[list(self.out)] = -np.inf
        return utility

    def range(self, neighboring):
        return 1.0 if neighboring is AR else 2.0


@dataclasses.dataclass(frozen=True, eq=False)
class Cells(KeyQuery):
    """The grid cells of the rows; every row is in one cell of each of `copies` copies of the grid."""

    width: float = 0.5
    copies: int = 1
    reason = "one row is in one cell of every copy"

    @property
    def l0(self):
        return self.copies

    def statistic(self, block):
        cells = np.floor(block.x / self.width).astype(np.int64)
        keys = [np.column_stack([np.full(len(cells), copy), cells]) for copy in range(self.copies)]
        return np.unique(np.concatenate(keys), axis=0, return_counts=True)


@pytest.fixture(scope="module", autouse=True)
def own_queries(admit):
    admit(Below, KeptVotes, Popular, Cells, Thirds, Declared)


class Spy(Seeded):
    """A noise source that counts its draws."""

    def __init__(self, seed=0):
        super().__init__(np.random.default_rng(seed))
        self.draws = 0

    def gaussian(self, sd, shape):
        self.draws += 1
        return super().gaussian(sd, shape)

    def laplace(self, scale, shape):
        self.draws += 1
        return super().laplace(scale, shape)

    def gumbel_argmax(self, utilities, scale):
        self.draws += 1
        return super().gumbel_argmax(utilities, scale)


def curator(costs, *, noise=None, neighboring=AR, rows=X):
    rows = Rows(rows, Domain.box(-1, 1, 2, n_public=7))
    noise = Spy() if noise is None else noise
    return Curator(rows, Plan(costs), noise, neighboring=neighboring, n_public=7, hidden=[])


def truth(asked):
    """Return the true statistic of the last release."""
    return asked._hidden[-1].statistic


# Doors


class Mine(NearestSums):
    pass


class Peek(Count):
    def statistic(self, block):
        SEEN.append(block.x)
        return super().statistic(block)


class Duck:
    reason, tally, keep = "", None, False

    def statistic(self, block):
        return {"": np.array(1.0)}

    def sensitivity(self, norm, neighboring):
        return {"": 1.0}


class Liar(type):
    """A metaclass whose classes say that they are equal to any other."""

    __hash__ = type.__hash__

    def __eq__(self, other):
        return True


class Number(float):
    def __rmul__(self, other):
        return other


class Points(np.ndarray):
    pass


SEEN = []
ONE = np.array([[0.5, 0.25]])
STRANGE = {
    "a subclass": lambda: Mine(ONE, 1.0),
    "a subclass that keeps rows": Peek,
    "no query at all": Duck,
    "a class that equals every other": lambda: Liar("Count", (Count,), {"__module__": Count.__module__})(),
    "a function beside the fields": lambda: spoiled(Count(), statistic=lambda block: {"": block.x}),
    "a number beside the fields": lambda: spoiled(NearestSums(ONE, 1.0), tally=None),
    "a number of its own class": lambda: NearestSums(ONE, Number(1.0)),
    "an array of objects": lambda: spoiled(NearestSums(ONE, 1.0), points=np.array([[object(), object()]])),
    "an array of its own class": lambda: spoiled(NearestSums(ONE, 1.0), points=ONE.view(Points)),
    "a list": lambda: spoiled(NearestSums(ONE, 1.0), points=[[0.5, 0.25]]),
    "a projection beside whose fields": lambda: NearestSums(ONE, 1.0, spoiled(Projection(np.eye(2)), keep=[])),
    "a population of its own class": lambda: NearestVotes(type("Crowd", (Population,), {})(ONE)),
    "a query in a score": lambda: SwapScore(spoiled(SwapCosts(ONE, np.zeros(1, int), 1.0), statistic=print)),
}


def spoiled(query, **values):
    """Return the query with values set past its checks."""
    for name, value in values.items():
        object.__setattr__(query, name, value)
    return query


@pytest.mark.parametrize("name", STRANGE)
@pytest.mark.parametrize("door", ["release", "select", "cover", "grow", "release_keys", "collect", "partition", "rows"])
def test_no_door_takes_a_query_that_nobody_tested(door, name):
    relation = {"collect": REPLACE, "rows": MOVE}.get(door, AR)
    asked, query = curator({"x": (Gaussian(1.0),), "x.sums": (Gaussian(1.0),)}, neighboring=relation), STRANGE[name]()
    calls = {
        "partition": lambda: asked.partition(ALL, query),
        "rows": lambda: asked.perturb_rows("x", query, name="noisy", limit=1.0),
    }
    with pytest.raises(
        PermissionError, match="is refused: .*(nobody has tested|beside its fields|is not data|numbers)"
    ):
        calls.get(door, lambda: getattr(asked, door)("x", query))()
    assert asked._noise.draws == 0 and asked.ledger == () and asked._hidden == [] and SEEN == []


@pytest.mark.parametrize("name", list(STRANGE)[:4])
def test_a_class_that_is_not_listed_is_refused_as_such(name):
    assert "nobody has tested its sensitivity" in queries.untested(STRANGE[name]())


def test_a_door_takes_only_its_own_kind_of_query():
    asked = curator({"x": (Gaussian(1.0),)})
    for query in (Cells(), Below(0.0), Popular(NearestVotes(LEFT_AND_RIGHT)), Positions(0.1), Halvings(np.ones(2), 3)):
        with pytest.raises(PermissionError, match="release 'x' takes a Query; got"):
            asked.release("x", query)
    with pytest.raises(PermissionError, match="takes a Predicate; got Count"):
        asked.partition(ALL, Count())


def test_every_query_of_the_package_is_listed_and_no_base_class_is():
    bases = (KeyQuery, Predicate, Question, Query, Score)
    kinds = (*bases, Positions, Halvings, CellCover, Candidates)
    made = [one for one in vars(queries).values() if isinstance(one, type) and issubclass(one, kinds)]
    assert set(queries.LISTED) - {Below, KeptVotes, Popular, Cells, Thirds, Declared} == set(made) - set(bases)
    for base in bases:
        assert "nobody has tested" in queries.untested(base())


class Fickle(str):
    """A label that counts as new each time."""

    def __hash__(self):
        SEEN.append(0)
        return len(SEEN)


def test_a_label_and_a_scope_are_plain():
    asked = curator({"n": (Gaussian(1.0),)})
    for label, scope in ((Fickle("n"), ALL), ("n", np.int64(0)), ("n", False)):
        with pytest.raises(PermissionError, match="a label that is a str and a scope that is an int"):
            asked.release(label, Count(), scope)


def test_a_plan_of_a_class_of_ones_own_is_refused():
    class Cheap(Plan):
        def price(self, name, occurrence):
            return Gaussian(100.0)

    with pytest.raises(PermissionError, match="must be a Plan; got Cheap"):
        Curator(Rows(X, Domain.box(-1, 1, 2, n_public=7)), Cheap({}), Secure(), neighboring=AR, n_public=7, hidden=None)


def test_a_run_without_noise_is_refused_where_no_truth_is_kept():
    rows = Rows(X, Domain.box(-1, 1, 2, n_public=7))
    with pytest.raises(PermissionError, match="a run without noise is for DEMO only"):
        Curator(rows, Plan({}), Secure(), neighboring=AR, n_public=7, hidden=None, exact=True)


def test_nobody_copies_or_pickles_a_curator_or_asks_it_whether_this_is_a_demo():
    demo, private = (
        curator({}),
        Curator(Rows(X, Domain.box(-1, 1, 2, n_public=7)), Plan({}), Secure(), neighboring=AR, n_public=7, hidden=None),
    )
    for asked in (demo, private):
        for take in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="neither pickled nor copied"):
                take(asked)
    told = [{name: getattr(one, name) for name in dir(one) if not name.startswith("_")} for one in (demo, private)]
    plain = [{name: value for name, value in one.items() if not callable(value)} for one in told]
    assert plain[0].pop("plan").costs == plain[1].pop("plan").costs == {}
    assert plain[0] == plain[1] and not {"demo", "hidden", "drain_hidden"} & told[0].keys()


# Partitions


def test_a_partition_is_disjoint_complete_and_free():
    asked = curator({"count": (Gaussian(0.5),) * 2})
    asked.release("count", Count())
    whole = truth(asked)["count"]
    parts = asked.partition(ALL, Below(0.0))
    assert len(asked.ledger) == 1
    found = []
    for scope in parts:
        asked.release("count", Count(), scope)
        found.append(float(truth(asked)["count"]))
    assert found == [3.0, 4.0] and sum(found) == whole
    assert [entry.path for entry in asked.ledger] == [(0,), (0, 1), (0, 2)]


def test_siblings_share_a_price_and_a_path_pays_each_once():
    costs = tuple(Gaussian(mu) for mu in (0.5, 0.25, 0.125))
    asked = curator({"count": costs})
    asked.release("count", Count())
    left, right = asked.partition(ALL, Below(0.0))
    low, high = asked.partition(left, Below(0.0, column=1))
    for scope in (left, right, low, high):
        asked.release("count", Count(), scope)
    assert [entry.cost["mu"] for entry in asked.ledger] == [0.5, 0.25, 0.25, 0.125, 0.125]
    assert ledger.spent(asked.ledger, 1e-5).mu == pytest.approx(math.sqrt(sum(c.mu**2 for c in costs)))
    for scope in (low, high):
        with pytest.raises(PermissionError, match="number 4 is not in the plan, which allows 3"):
            asked.release("count", Count(), scope)


def test_a_release_of_the_whole_after_its_parts_pays_for_the_deepest_path():
    asked = curator({"count": (Gaussian(0.5), Gaussian(0.25), Gaussian(0.125))})
    left, _ = asked.partition(ALL, Below(0.0))
    asked.release("count", Count(), left)
    asked.release("count", Count(), left)
    asked.release("count", Count())
    assert [entry.occurrence for entry in asked.ledger] == [0, 1, 2]
    with pytest.raises(PermissionError, match="number 4"):
        asked.release("count", Count())


def test_parts_released_before_and_after_their_whole_pay_later_prices():
    asked = curator({"count": (*(Laplace(0.01),) * 3, Laplace(4.0))})
    left, right = asked.partition(ALL, Below(0.0))
    for _ in range(3):
        asked.release("count", Count(), left)
    asked.release("count", Count())
    with pytest.raises(PermissionError, match="number 5 is not in the plan, which allows 4"):
        asked.release("count", Count(), right)
    assert ledger.spent(asked.ledger, 1e-6).pure_epsilon == pytest.approx(4.03)


def test_two_labels_that_mean_one_entry_of_the_plan_share_its_prices():
    asked = curator({"both.sums": (Laplace(1.0),), "both.counts": (Laplace(1.0),)})
    asked.release("both", NearestSums(np.zeros((1, 2)), 1.0))
    with pytest.raises(PermissionError, match="number 2 is not in the plan, which allows 1"):
        asked.release("both.counts", Count())


@dataclasses.dataclass(frozen=True, eq=False)
class Thirds(Below):
    """A split into three parts at public lines."""

    parts = 3

    def assign(self, block):
        return super().assign(block) + (block.x[:, 0] > 0.5)


ACTS = st.lists(st.tuples(st.sampled_from(["split", "count", "sums", "both"]), st.integers(0, 30)), max_size=40)


@pytest.mark.slow
@given(ACTS, st.integers(1, 6))
@settings(max_examples=300, deadline=None, derandomize=True)
def test_no_order_of_releases_on_any_tree_of_scopes_costs_a_row_more_than_the_plan(acts, prices):
    """Prices double, so that paying a later price twice in place of an earlier one exceeds the plan's total."""
    costs = tuple(Laplace(0.01 * 2.0**i) for i in range(prices))
    asked = curator({"count": costs, "both.sums": costs, "both.counts": costs[:2]}, rows=X[:3])
    scopes, split = [ALL], set()
    sums = NearestSums(np.zeros((1, 2)), 1.0)
    for act, at in acts:
        scope = scopes[at % len(scopes)]
        if act == "split":
            if scope not in split:
                scopes += asked.partition(scope, (Below if at % 2 else Thirds)(0.0, column=at % 2))
                split.add(scope)
            continue
        label, query = {"count": ("count", Count()), "sums": ("both.counts", Count()), "both": ("both", sums)}[act]
        before = len(asked.ledger)
        try:
            asked.release(label, query, scope)
        except PermissionError:
            assert len(asked.ledger) == before
    paid = [(entry.name, entry.occurrence, entry.path) for entry in asked.ledger]
    for i, (name, occurrence, path) in enumerate(paid):
        for other, place, way in paid[:i]:
            share_a_row = path[: len(way)] == way or way[: len(path)] == path
            assert not (share_a_row and (name, occurrence) == (other, place))
    assert ledger.spent(asked.ledger, 1e-6).epsilon <= asked.plan.total(1e-6).epsilon * (1 + 1e-12)


def test_a_scope_cannot_be_partitioned_twice():
    asked = curator({"count": (Gaussian(0.5),)})
    asked.partition(ALL, Below(0.0))
    with pytest.raises(PermissionError, match="partitioned already"):
        asked.partition(ALL, Below(0.5))


@pytest.mark.parametrize("relation", [REPLACE, MOVE])
def test_parts_are_refused_where_a_changed_row_may_change_part(relation):
    asked = curator({"count": (Laplace(1.0),)}, neighboring=relation)
    with pytest.raises(PermissionError, match="parts of the rows are for add-remove only"):
        asked.partition(ALL, Below(0.0))
    with pytest.raises(PermissionError, match="parts of the rows are for add-remove only"):
        asked.release("count", Count(), 1)
    with pytest.raises(PermissionError, match="parts of the rows are for add-remove only"):
        asked.select("count", Popular(NearestVotes(LEFT_AND_RIGHT)), 1)
    assert asked._noise.draws == 0 and asked.ledger == ()


def test_a_sibling_by_subtraction_equals_its_own_sum():
    query, fresh = KeptVotes(LEFT_AND_RIGHT), NearestVotes(LEFT_AND_RIGHT)
    asked = curator({"votes": (Gaussian(0.5),) * 9, "again": (Gaussian(0.5),) * 9})
    asked.release("votes", query)
    for scope in asked.partition(ALL, Below(0.0)):
        asked.release("votes", query, scope)
        kept = truth(asked)["votes"]
        asked.release("again", fresh, scope)
        np.testing.assert_array_equal(kept, truth(asked)["again"])


# Selections


def chi_square(costs, exponent, *, noise, runs, out=(), neighboring=AR):
    """Return the p-value of a test that selections have probabilities proportional to exp(exponent * votes)."""
    asked = curator({"pick": (Exponential(costs),) * runs}, noise=noise, neighboring=neighboring)
    score = Popular(KeptVotes(LEFT_AND_RIGHT), out)
    chosen = np.bincount([asked.select("pick", score) for _ in range(runs)], minlength=3)
    utilities = truth(asked)["utility"]
    assert not chosen[list(out)].any()
    open_to_choice = np.isfinite(utilities)
    weights = np.exp(exponent * utilities[open_to_choice])
    return stats.chisquare(chosen[open_to_choice], runs * weights / weights.sum()).pvalue


@pytest.mark.slow
@pytest.mark.parametrize("source", [lambda: Seeded(np.random.default_rng(5)), Secure], ids=["seeded", "secure"])
def test_a_selection_has_the_probabilities_of_the_exponential_mechanism(source):
    epsilon = 0.8
    assert chi_square(epsilon, epsilon / (1 + UTILITY_SLACK), noise=source(), runs=1500) > 1e-5
    assert chi_square(epsilon, 2 * epsilon, noise=source(), runs=1500) < 1e-5, "a missing factor 2 must be caught"
    assert chi_square(epsilon, epsilon, noise=source(), runs=1500, out=(1,)) > 1e-5
    assert chi_square(epsilon, epsilon / 2, noise=source(), runs=1500, neighboring=REPLACE) > 1e-5


def test_a_selection_is_recorded_with_range_scale_and_the_infinity_norm():
    asked = curator({"pick": (Exponential(0.5),)})
    asked.select("pick", Popular(NearestVotes(LEFT_AND_RIGHT)))
    np.testing.assert_array_equal(truth(asked)["utility"], [3, 3, 1])  # utilities are votes; ties go to the first point
    (entry,) = asked.ledger
    assert (entry.mechanism, entry.norm, entry.sensitivity) == ("Exponential", math.inf, 1 + UTILITY_SLACK)
    assert entry.scale == entry.sensitivity / 0.5 and entry.reason == "one row casts one vote"
    assert ledger.spent(asked.ledger, 1e-6).pure_epsilon == pytest.approx(0.5)


# Sparse keys


def test_a_row_that_moves_leaves_its_keys_and_makes_as_many_new_ones():
    query = Cells()
    assert query.sensitivity(AR) == pytest.approx(math.sqrt(query.l0))
    assert query.sensitivity(REPLACE) == query.sensitivity(MOVE) == pytest.approx(math.sqrt(2 * query.l0))


def test_only_keys_that_rows_have_are_touched_and_pass_at_the_threshold():
    asked = curator({"cells": (Threshold(50.0, 1e-6),)})
    found = asked.release_keys("cells", Cells())
    true = truth(asked)
    assert found.threshold == pytest.approx(1.5 + 4.75342430882 / 50.0, abs=1e-9)
    kept = true["counts"] >= 2  # at mu = 50 the noise has sd .02, so counts are unchanged
    np.testing.assert_array_equal(found.keys, true["keys"][kept])
    np.testing.assert_array_equal(found.counts, true["counts"][kept])
    assert 0 < len(found.keys) < len(true["keys"])
    assert asked.ledger[0].shape == (), "the number of non-empty keys is private"


@pytest.mark.parametrize("l0", [1, 4, 40])
@pytest.mark.parametrize("delta", [1e-9, 1e-5, 0.05])
@pytest.mark.parametrize("scale", [0.3, 2.0, 55.0])
def test_new_keys_pass_with_probability_at_most_delta(scale, delta, l0):
    """Compute the exact chance that any of l0 keys with a true count of 1 passes, including the effect of rounding."""
    cost = Threshold(1.0, delta)
    tau = cost.threshold(scale, l0)
    assert tau == pytest.approx(1.5 + scale * stats.norm.isf(-math.expm1(math.log1p(-delta) / l0)))
    lowest = math.ceil(tau)  # the smallest count that passes; a true count of 1 reaches it if 1 + noise >= lowest - 1/2
    one_passes = stats.norm.sf((lowest - 0.5 - 1) / scale)
    assert -math.expm1(l0 * math.log1p(-one_passes)) <= delta * (1 + 1e-9)


def test_a_threshold_without_the_half_for_rounding_would_be_caught():
    delta, scale = 0.05, 0.45
    tau = Threshold(1.0, delta).threshold(scale, 1) - 0.5
    assert stats.norm.sf((math.ceil(tau) - 0.5 - 1) / scale) > 2 * delta


@pytest.mark.slow
def test_lonely_keys_pass_as_often_as_their_delta_says():
    """With one row in l0 = 2 cells and delta = .2, a key passes in at most 20% of runs, and not in far fewer."""
    runs, query = 2500, Cells(copies=2)
    asked = curator({"cells": (Threshold(0.02, 0.2),) * runs}, rows=X[:1])
    passed = sum(len(asked.release_keys("cells", query).keys) > 0 for _ in range(runs))
    assert stats.binomtest(passed, runs, 0.2, "greater").pvalue > 1e-4
    assert passed / runs > 0.17


def test_sensitivity_of_sparse_counts_follows_l0_and_relation():
    for relation, expected in [(AR, 2.0), (REPLACE, math.sqrt(8.0))]:
        asked = curator({"cells": (Threshold(0.5, 1e-6),)}, neighboring=relation)
        asked.release_keys("cells", Cells(copies=4))
        (entry,) = asked.ledger
        assert (entry.sensitivity, entry.scale) == pytest.approx((expected, expected / 0.5))
        assert ledger.spent(asked.ledger, 1e-5).delta == 1e-5


# Exact releases, and all refusals


def test_an_exact_release_needs_sensitivity_zero():
    asked = curator({"count": (Exact(),)}, neighboring=REPLACE)
    assert asked.release("count", Count()).value == 7.0
    assert asked.ledger[0].sensitivity == 0 and ledger.spent(asked.ledger, 1e-5).epsilon == 0
    asked = curator({"count": (Exact(),)})
    with pytest.raises(PermissionError, match=r"without noise must have sensitivity 0; got 1\.0"):
        asked.release("count", Count())
    assert asked.ledger == () and asked._hidden == []


@dataclasses.dataclass(frozen=True, eq=False)
class Declared(Count):
    """A count that declares `value` as its sensitivity."""

    value: float = 1.0

    def sensitivity(self, norm, neighboring):
        return {"": self.value}


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_a_sensitivity_that_is_no_positive_number_is_refused_before_the_draw(value):
    asked = curator({"count": (Laplace(1.0),), "pick": (Exponential(1.0),), "cells": (Threshold(1.0, 1e-6),)})
    with pytest.raises(ValueError, match="must have a finite sensitivity > 0"):
        asked.release("count", Declared(value))
    assert asked._noise.draws == 0 and asked.ledger == ()


@pytest.mark.parametrize("cost", [Laplace(1.0), Gaussian(1.0)])
def test_a_sensitivity_of_a_few_grid_steps_is_refused_before_the_draw(cost):
    asked = curator({"count": (cost, cost)})
    asked.release("count", Declared(32 * GRID))
    with pytest.raises(ValueError, match="below 32 steps of the noise's grid.*Declare a larger radius"):
        asked.release("count", Declared(31 * GRID))
    assert asked._noise.draws == 1 and len(asked.ledger) == 1


@pytest.mark.parametrize("cost", [Laplace(2.0**-6), Gaussian(2.0**-6)])
def test_noise_too_wide_for_its_sampler_is_refused_before_the_draw(cost):
    """Noise of the largest scale stays far below the sampler's end, at which values would pile up."""
    asked = curator({"count": (cost, cost)})
    asked.release("count", Declared(2.0**27))
    with pytest.raises(ValueError, match="noise of scale 8.59e\\+09, and its sampler ends.*declare narrower"):
        asked.release("count", Declared(2.0**27 * (1 + 1e-9)))
    assert asked._noise.draws == 1 and len(asked.ledger) == 1


@pytest.mark.parametrize(("mu", "steps"), [(0.5, 32), (4.0, 128), (14.0, 448)])
def test_noise_of_a_few_grid_steps_is_refused_before_the_draw(mu, steps):
    """At a large mu the noise is narrower than the sensitivity; each must be at least 32 grid steps."""
    asked = curator({"count": (Gaussian(mu), Gaussian(mu))})
    asked.release("count", Declared(steps * GRID))
    with pytest.raises(ValueError, match="below 32 steps of the noise's grid.*smaller budget"):
        asked.release("count", Declared((steps - 1) * GRID))
    assert asked._noise.draws == 1 and len(asked.ledger) == 1


@pytest.mark.parametrize("mu", [0.5, 1.0, 4.0, 14.0])
def test_the_narrowest_noise_costs_what_the_plan_counts(mu):
    """Compare, by exact sums, the delta of the narrowest allowed discrete Gaussian with that of the continuous one."""
    sd = max(32.0, 32 / mu)
    shift = math.floor(mu * sd)
    whole = np.arange(-40 * round(sd), 40 * round(sd) + shift)
    density = np.exp(-0.5 * (whole / sd) ** 2)
    density /= density.sum()
    moved = np.exp(-0.5 * ((whole - shift) / sd) ** 2)
    moved /= moved.sum()
    for epsilon in (0.0, mu, mu + mu * mu / 2, mu + mu * mu):
        allowed = 1.01 * delta_of_mu(mu, epsilon)
        assert np.maximum(density - math.exp(epsilon) * moved, 0).sum() <= allowed
        assert np.maximum(moved - math.exp(epsilon) * density, 0).sum() <= allowed


DOORS = {  # method -> (its price, its relation, a call)
    "release": (Laplace(1.0), AR, lambda asked: asked.release("x", Count())),
    "select": (Exponential(1.0), AR, lambda asked: asked.select("x", Popular(NearestVotes(LEFT_AND_RIGHT)))),
    "cover": (Cover(1.0, 1e-6), AR, lambda asked: asked.cover("x", COVER)),
    "choose": (BestOf(1.0, 1e-6, 4, 30), AR, lambda asked: asked.choose("x", RUNS)),
    "grow": (Halving(1.0), AR, lambda asked: asked.grow("x", Halvings(np.ones(2), 3))),
    "release_keys": (Threshold(1.0, 1e-6), AR, lambda asked: asked.release_keys("x", Cells())),
    "perturb_rows": (Gaussian(1.0), MOVE, lambda asked: asked.perturb_rows("x", FAR, name="noisy", limit=2.0)),
    "collect": (Report(1.0), REPLACE, lambda asked: asked.collect("x", NearestOf(LEFT_AND_RIGHT.points))),
}
RUNS = Candidates((np.zeros((1, 2)),), 1, np.ones(2), 1.0, 1.0, (0.3, 0.3, 0.4))
COVER = CellCover(np.ones(2), (0.5,), np.zeros((1, 2)), 2)
FAR = Positions(3.0)  # no move exceeds this length


@pytest.mark.parametrize("door", DOORS)
def test_every_release_method_refuses_a_call_beyond_the_plan_before_the_draw(door):
    cost, relation, ask = DOORS[door]
    rng = np.random.default_rng(0)
    asked = curator({"x": (cost, cost)}, noise=Seeded(rng), neighboring=relation)
    for _ in range(2):
        ask(asked)
    before = rng.bit_generator.state
    with pytest.raises(PermissionError, match="number 3 is not in the plan, which allows 2"):
        ask(asked)
    assert rng.bit_generator.state == before
    assert [entry.occurrence for entry in asked.ledger] == [0, 1]


def test_every_release_method_is_tried():
    ways_in = {name for name, door in vars(Curator).items() if "self._price" in _source(door)}
    assert ways_in == {*DOORS, "_price_one"}


def _source(member):
    return inspect.getsource(member) if inspect.isfunction(member) else ""


@dataclasses.dataclass(frozen=True)
class Quiet(Gaussian):
    """A price whose draw adds no noise."""

    def draw(self, noise, scale, shape):
        return np.zeros(shape)


def test_a_price_of_a_class_of_ones_own_is_refused_before_the_draw():
    asked = curator({"x": (Quiet(1.0),)})
    with pytest.raises(PermissionError, match="cannot be paid with Quiet"):
        asked.release("x", Count())
    assert asked._noise.draws == 0 and asked.ledger == ()


def test_nobody_adds_to_a_plan_or_gives_the_curator_another_one():
    asked = curator({"x": (Gaussian(1.0),)})
    with pytest.raises(TypeError):
        asked.plan.costs["y"] = (Gaussian(99.0),)
    for name, value in (("plan", Plan({"y": (Gaussian(99.0),)})), ("neighboring", MOVE), ("rho_distance", 0.1)):
        with pytest.raises(AttributeError, match=f"{name} is fixed for the run"):
            setattr(asked, name, value)
    given = {"x": [Gaussian(1.0)]}
    plan = Plan(given)
    given["x"].append(Gaussian(99.0))
    given["y"] = [Gaussian(99.0)]
    assert plan == Plan({"x": (Gaussian(1.0),)}) == pickle.loads(pickle.dumps(plan))


TWO_WAYS = Plan(
    {
        "x": (Gaussian(0.3),),
        "a.counts": (Gaussian(0.4),),
        "a.sums": (Gaussian(0.4),),
        "b": (Gaussian(0.3), Gaussian(0.2)),
    },
    (("a",), ("b",)),
)


def test_of_the_ways_of_a_plan_only_the_costliest_counts():
    assert TWO_WAYS.total(1e-6).mu == pytest.approx(math.sqrt(0.3**2 + 2 * 0.4**2))
    assert TWO_WAYS.total(1e-6).zcdp == pytest.approx((0.3**2 + 2 * 0.4**2) / 2)
    assert TWO_WAYS.most_releases == 3 and [TWO_WAYS.way(name) for name in TWO_WAYS.costs] == [None, 0, 0, 1]
    assert Plan.from_dict(TWO_WAYS.to_dict()) == TWO_WAYS == pickle.loads(pickle.dumps(TWO_WAYS))


@pytest.mark.parametrize(("first", "other"), ["ab", "ba"])
def test_a_run_goes_one_way_of_its_plan(first, other):
    asked = Curator(Rows(X, Domain.box(-1, 1, 2)), TWO_WAYS, Spy(), neighboring=AR, n_public=7, hidden=[])
    queries = {"a": NearestSums(LEFT_AND_RIGHT.points, 0.5), "b": Count()}
    asked.release("x", Count())
    asked.release(first, queries[first])
    draws = asked._noise.draws
    with pytest.raises(PermissionError, match="went another way of its plan"):
        asked.release(other, queries[other])
    if first == "b":
        asked.release("b", Count())  # all prices of its own way remain
    assert {entry.label for entry in asked.ledger} == {"x", first} and asked._noise.draws == draws + (first == "b")
    assert ledger.spent(asked.ledger, 1e-6).mu <= TWO_WAYS.total(1e-6).mu + 1e-12


@pytest.mark.parametrize(
    ("costs", "ways", "word"),
    [
        ({"a": (Gaussian(1.0),)}, (("a",), ("b",)), "labels of the plan"),
        ({"a": (Gaussian(1.0),)}, (("a",), ("a",)), "each once"),
        ({"a": (Gaussian(1.0),), "b": (Laplace(1.0),)}, (("a",), ("b",)), "Gaussian costs only"),
    ],
)
def test_ways_hold_gaussian_costs_of_the_plan_each_once(costs, ways, word):
    with pytest.raises(ValueError, match=word):
        Plan(costs, ways)


@pytest.mark.parametrize("beside", [Shuffled(1.0, 50_000, 1e-6), Report(0.1)])
def test_a_report_that_is_mixed_stands_alone_in_its_plan(beside):
    """All reports of a run are shuffled into one order, so their positions could link two reports of one person."""
    mixed = Shuffled(1.0, 50_000, 1e-6)
    for costs in ({"x": (mixed, beside)}, {"x": (mixed,), "y": (beside,)}):
        with pytest.raises(ValueError, match="must be the only one in the plan; got 2 reports"):
            Plan(costs)
    Plan({"x": (mixed,), "y": (Gaussian(1.0),)})  # other releases may accompany a report


@pytest.mark.parametrize(
    ("users", "delta", "word"),
    [(-5, 1e-6, "users"), (0, 1e-6, "users"), (1000.5, 1e-6, "users"), (True, 1e-6, "users")]
    + [(1000, delta, "delta") for delta in (math.nan, 0.0, 1.0, -1e-6)],
)
def test_a_mixed_price_of_no_crowd_or_no_delta_is_refused(users, delta, word):
    with pytest.raises((ValueError, TypeError), match=f"Shuffled: {word} must be"):
        Shuffled(1.0, users, delta)


def test_a_cost_of_another_mechanism_is_refused_before_the_draw():
    wrong = {"count": (Exponential(1.0),), "pick": (Laplace(1.0),), "cells": (Gaussian(1.0),)}
    asked = curator(wrong)
    for ask in (
        lambda: asked.release("count", Count()),
        lambda: asked.select("pick", Popular(NearestVotes(LEFT_AND_RIGHT))),
        lambda: asked.release_keys("cells", Cells()),
    ):
        with pytest.raises(PermissionError, match="cannot be paid with"):
            ask()
    assert asked._noise.draws == 0 and asked.ledger == ()


def test_a_release_outside_the_plan_is_refused_and_does_not_count():
    asked = curator({"both.sums": (Gaussian(1.0),), "pick": (), "cells": ()})
    sums = NearestSums(np.zeros((1, 2)), 1.0)
    for _ in range(2):  # one part has a price and the other has none, so neither is drawn
        with pytest.raises(PermissionError, match=r"'both\.counts' is not in the plan"):
            asked.release("both", sums)
    with pytest.raises(PermissionError, match="number 1 is not in the plan, which allows 0"):
        asked.select("pick", Popular(NearestVotes(LEFT_AND_RIGHT)))
    with pytest.raises(PermissionError, match="number 1 is not in the plan, which allows 0"):
        asked.release_keys("cells", Cells())
    assert asked._noise.draws == 0 and asked.ledger == () and asked._hidden == []


def test_parts_of_one_release_have_their_own_noise_scale_and_entry():
    costs = gaussians(1.0, [3, 1])
    asked = curator({"both.sums": costs[:1], "both.counts": costs[1:]})
    noisy = asked.release("both", NearestSums(np.zeros((1, 2)), 0.5))
    assert noisy.sd == pytest.approx({"sums": 0.5 / costs[0].mu, "counts": 1 / costs[1].mu})
    assert {entry.name: entry.sensitivity for entry in asked.ledger} == {"both.sums": 0.5, "both.counts": 1.0}
    assert asked.ledger[0].shape == (1, 2) and asked.ledger[1].shape == (1,)
    assert ledger.spent(asked.ledger, 1e-5).mu == pytest.approx(1.0)


def test_without_demo_no_true_statistic_is_kept():
    domain = Domain.box(-1, 1, 2, n_public=7)
    plan = Plan({"count": (Gaussian(1.0),)})
    asked = Curator(Rows(X, domain), plan, Secure(), neighboring=AR, n_public=7, hidden=None)
    asked.release("count", Count())
    assert asked._hidden is None


def test_released_counts_say_how_many_rows_there_are_and_correct_a_declared_n():
    costs = {"votes": (Gaussian(1.0),), "count": (Gaussian(2.0),)}
    rows = Rows(np.zeros((1000, 2)), Domain.box(-1, 1, 2))
    made = Curator(rows, Plan(costs), Seeded(np.random.default_rng(0)), neighboring=AR, n_public=700, hidden=[])
    assert made.n_noisy is None and made.n_credible == 700
    votes = made.release("votes", NearestVotes(LEFT_AND_RIGHT))  # three counts, whose sum has variance 3
    assert made.n_noisy == (pytest.approx(votes.value.sum()), pytest.approx(math.sqrt(3)))
    count = made.release("count", Count())  # variance 1/4
    pooled = (votes.value.sum() / 3 + 4 * count.value) / (1 / 3 + 4)
    assert made.n_noisy == (pytest.approx(pooled), pytest.approx((1 / 3 + 4) ** -0.5))
    assert made.n_credible == pytest.approx(pooled - (1 / 3 + 4) ** -0.5)


def test_counts_of_a_part_say_nothing_about_all_rows():
    made = Curator(
        Rows(X, Domain.box(-1, 1, 2)), Plan({"count": (Gaussian(1.0),)}), Seeded(np.random.default_rng(0)),
        neighboring=AR, n_public=7, hidden=[],
    )  # fmt: skip
    left, _ = made.partition(ALL, Below(0.0))
    made.release("count", Count(), left)
    assert made.n_noisy is None
