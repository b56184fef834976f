"""Check that every check of `dpviz.testing` fails with one sentence on an algorithm that breaks it."""

import dataclasses
import itertools

import numpy as np
import pytest

from dpviz.algorithms import ALGORITHMS
from dpviz.privacy.costs import Laplace
from dpviz.privacy.noise import Seeded
from dpviz.privacy.plan import Plan
from dpviz.privacy.queries import GridCounts
from dpviz.testing import CHECKS, DoesNotApply, check_algorithm

GRID, LLOYD = ALGORITHMS["eugkm"], ALGORITHMS["glloyd"]
COUNTER = itertools.count()


def twin(base=GRID, **members):
    """Return an algorithm that differs from an honest one only in these members."""
    made = type("Twin", (base,), {"__doc__": base.__doc__, "__module__": base.__module__, **members})
    return dataclasses.dataclass(frozen=True, kw_only=True)(made)


def changed(change, base=GRID):
    """Return a twin of an algorithm, with `change` applied to each step."""

    def steps(self, curator, domain, rng):
        for step in base.steps(self, curator, domain, rng):
            yield change(self, step, curator)

    return twin(base, steps=steps)


def released(step, **values):
    return dataclasses.replace(step, released={**step.released, **values})


def double(self, n_features, n_public):
    return Plan({"cells": (Laplace(2 * self.epsilon),)})


def unused(self, n_features, n_public):
    return Plan({"cells": (Laplace(self.epsilon / 2),), "never": (Laplace(self.epsilon / 2),)})


def fickle(self, curator, domain, rng):
    """Stop early if the first cells look empty."""
    for step in LLOYD.steps(self, curator, domain, rng):
        yield step
        if (step.released["centers"][:, 0] < 0.25).all():
            return


def counting(self, curator, domain, rng):
    """Take one step per 200 rows, and at least two."""
    steps = LLOYD.steps(self, curator, domain, rng)
    yield from itertools.islice(steps, 1 + max(1, len(curator._session._blocks[0].x) // 200))


class Forgiving(GRID):
    def __post_init__(self):
        pass


def careless(self, *args, **options):
    X = args[0]
    if isinstance(X, np.ndarray) and X.dtype == float:
        args = (np.nan_to_num(X), *args[1:])
    return GRID.run(self, *args, **options)


def tamper(self, X, **options):
    X[0] = 0.0
    return GRID.run(self, X, **options)


def outside(self, *args, **options):
    trace = GRID.run(self, *args, **options)
    return dataclasses.replace(trace, cluster_centers=trace.cluster_centers + 10)


def showing(self, *args, **options):
    trace = GRID.run(self, *args, **options)
    return dataclasses.replace(trace, seed=7)


def forgetting(self, *args, **options):
    return dataclasses.replace(GRID.run(self, *args, **options), seed=None)


def deaf(self, *args, on_step=None, **options):
    return GRID.run(self, *args, **options)


def dear(self, n_features, n_public, rows_per_person=1):
    return dataclasses.replace(GRID.guarantee(self, n_features, n_public), epsilon=9.0)


UNLABELED = tuple(line._replace(label="") for line in GRID.CODE)
AGAIN = changed(lambda self, step, curator: released(step, again=np.full(3, next(COUNTER))))
BROKEN = {
    "source_asks_the_curator_alone": twin(__module__=__name__),
    "has_the_compulsory_headings_and_names": twin(__doc__=GRID.__doc__.replace("References\n", "Literature\n")),
    "has_six_to_ten_lines_of_pseudo_code": twin(CODE=GRID.CODE[:5]),
    "steps_count_releases_and_defaults_work": type("Loose", (GRID,), {"__hash__": None}),
    "bad_parameters_are_refused_in_one_sentence": Forgiving,
    "bad_data_is_refused_in_one_sentence": twin(run=careless),
    "centers_are_finite_and_inside_the_domain": twin(run=outside),
    "centers_and_coreset_lie_in_the_declared_box": twin(run=outside),
    "same_seed_same_trace_other_seed_other_trace": AGAIN,
    "input_is_untouched_and_steps_share_no_memory": twin(run=tamper),
    "spent_is_at_most_claimed_and_recomputed_from_the_ledger": twin(plan=double),
    "what_a_fixed_ledger_has_spent_is_what_was_claimed": twin(plan=unused),
    "claim_equals_guarantee_from_parameters_alone": twin(guarantee=dear),
    "no_preset_promises_more_epsilon_than_was_asked_for": twin(plan=double),
    "notion_and_trust_fit_the_mechanisms": twin(trust="nobody: every person adds noise"),
    "ledger_does_not_depend_on_the_data": twin(LLOYD, steps=fickle),
    "nothing_reads_the_number_of_rows_under_add_remove": twin(LLOYD, steps=counting),
    "a_row_that_is_not_finite_is_dropped_or_stands_at_the_middle": twin(run=careless),
    "trace_round_trips_and_hidden_leaves_only_when_asked": twin(run=forgetting),
    "secure_runs_have_no_seed_and_no_hidden_truth": twin(run=showing),
    "threads_on_the_same_rows_get_the_traces_they_get_alone": AGAIN,
    "on_step_sees_every_step_and_can_cancel": twin(run=deaf),
    "steps_release_what_the_docstring_lists": twin(__doc__=GRID.__doc__.replace("cells (m, d)", "cells (m,)")),
    "ranges_in_the_docstring_are_those_that_are_checked": twin(__doc__=GRID.__doc__.replace("[1, 256]", "[1, 255]")),
    "lines_cost_where_the_ledger_says_so": twin(CODE=UNLABELED),
    "runs_in_parts_are_bit_equal_to_memory": AGAIN,
    "federated_equals_central_bit_for_bit": AGAIN,
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_algorithm_is_caught(name):
    with pytest.raises(AssertionError) as caught:
        CHECKS[name](BROKEN[name])
    assert "\n" not in str(caught.value)


BREAKS = {  # faults planted in dpviz itself, below an honest algorithm
    "every_draw_has_its_recorded_scale_and_is_its_own": (Seeded, "laplace", lambda self, scale, shape: np.ones(shape)),
    "nothing_more_than_claimed_is_given_away": (GridCounts, "sensitivity", lambda self, norm, relation: {"": 0.5}),
    "nothing_more_is_given_away_with_secure_noise": (GridCounts, "sensitivity", lambda *_: {"": 0.5}),
    "nothing_more_is_given_away_where_the_first_instance_does_not_go": (
        GridCounts,
        "sensitivity",
        lambda *_: {"": 0.5},
    ),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_house_is_caught(name, monkeypatch):
    monkeypatch.setattr(*BREAKS[name])
    with pytest.raises(AssertionError):
        CHECKS[name](GRID)


def test_every_check_is_shown_to_fail():
    assert {*BROKEN, *BREAKS} == set(CHECKS)


@pytest.mark.slow
def test_an_honest_algorithm_passes_and_what_does_not_apply_is_told():
    skipped = check_algorithm(ALGORITHMS["kmeans"])
    assert skipped["nothing_more_than_claimed_is_given_away"] == "it promises nothing"
    with pytest.raises(AssertionError, match="^Twin: has six to ten lines of pseudo code: CODE has 5 lines$"):
        check_algorithm(twin(CODE=GRID.CODE[:5]))
    with pytest.raises(DoesNotApply):
        CHECKS["ledger_does_not_depend_on_the_data"](ALGORITHMS["dpm"])
