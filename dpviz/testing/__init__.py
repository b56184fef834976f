"""Check an algorithm as dpviz checks its own: its promise, prices and docstring, parts of the data, and attacks.

```python
from dpviz.testing import check_algorithm, parametrize_with_checks

check_algorithm(MyAlgorithm)  # raises AssertionError with one sentence, or returns the checks that do not apply


@parametrize_with_checks([MyAlgorithm])  # one pytest test per check
def test_contract(algorithm, check):
    check(algorithm)
```

From a paper's pseudo-code to a stepped, audited algorithm
----------------------------------------------------------
0. In a checkout write `python -m dpviz` instead of `dpviz`. The checks need pytest: `pip install "dpviz[testing]"`.
1. `dpviz new my-method` writes `my_method.py`, which takes noisy Lloyd steps, and `test_my_method.py`. Change the
   method bit by bit, and run `dpviz run my-method --with my_method.py --data sample:town` after every change.
2. **Mark what reads rows.** In the paper's pseudo-code underline every line that needs a row: a count, a sum, a choice
   by score. These lines are the releases, and only they cost anything. Give each of them a label.
3. **Price the releases** in `plan`: label -> one cost for each time that the release may be made. `Laplace(epsilon)`
   and `Gaussian(mu)` price sums and counts, `Exponential(epsilon)` a choice (`dpviz.privacy.costs`). A query with parts
   has a label for each: "update.sums", "update.counts". The plan may use parameters, the number of columns and the
   declared number of rows, but nothing else.
4. **Ask for the releases** in `steps`: `curator.release(label, query).value` is an array, or a dictionary by part;
   `curator.select(label, score)` is the index of the chosen candidate. The curator takes the queries of
   `dpviz.privacy.queries`, whose sensitivities are tested by brute force, and no others: `Count`, `GridCounts` (cells
   of a grid), `NearestSums` (rows nearest to each point: "sums" and "counts"), `NearestVotes`, `BoxCounts`,
   `SecondMoment`; scores are `SwapScore`, `SetScore` and `SplitScore`. Apply `geometry.snap` to the points in a query,
   or the query refuses them. Whatever you compute from the answers is free. Coordinates are in z units: the declared
   box is centered at 0, and its half-widths, `domain.box_z`, are at most 1. The checks run on 2 to 3,000 rows and 1 to
   6 columns, so anything that grows with the number of columns must stay small.
5. **Yield a step** wherever the paper has a picture: `Step(kind, title, released)`. The last step has "centers", shape
   (k, d). A step of a new kind gets the plain picture; every step is one stop of the player.
6. **Write down** what you did: the docstring's six headings, and `CODE`, six to ten lines of at most 50 characters
   that light up next to the picture; a line with a label reads rows. "Steps" lists each kind with every name that it
   releases and its shape in k, d, n, numbers or letters of your own; "Parameters" repeats the ranges of `param`.
7. `python -m pytest test_my_method.py` runs the checks of this module in seconds. `dpviz audit my-method --with
   my_method.py` takes about a minute: an adversary tries 300 times to tell neighbors apart. Once the audit passes, the
   lists on this machine no longer say "not audited here", until the file changes.
8. `dpviz app --with my_method.py` adds the method to the dashboard, to step through, compare, sweep and export. A
   package may instead name its algorithms in the entry-point group `dpviz.algorithms`.

A program of another library
----------------------------
`dpviz run diffprivlib-kmeans --outside diffprivlib.models:KMeans --data sample:town` runs any class with `fit(X)`,
`cluster_centers_` and an argument `n_clusters` together with ours, as do `app`, `sweep` and `export`. The class gets
`epsilon`, `bounds` and `random_state` where it has such arguments; rows and bounds are in z units. Such a program sees
the rows themselves, so it is marked everywhere: "claims by its authors, not checked here; its noise is not ours". It
has its own panel in every ranking, and is refused for private data, secure noise and `audit`. Where a library needs
older packages than dpviz was tested with (diffprivlib 0.6 does not load with scikit-learn 1.9), give both an
environment of their own, `pip install CHECKOUT diffprivlib "scikit-learn<1.9"`, and make the rows there with `dpviz
sweep`; `dpviz report` reads them in any other environment.

What is refused
---------------
A source file is refused if it imports rows or noise, touches an underscore attribute of anything but `self`, names one
in a string, asks for attributes by name (`getattr`, `operator.attrgetter`, class patterns, frames), sets attributes of
other objects, overrides `run`, calls `laplace`, `gumbel` or `geometric`, or defines a query, that is, a class with
`statistic`, `sensitivity`, `assign`, `answers` or `utility` (`dpviz.algorithms.rules`). In every run the curator takes
only instances of the classes in `dpviz.privacy.queries.LISTED` that hold nothing but data; it cannot be copied, and
nothing that an algorithm is meant to read says whether the run is a DEMO.

All this catches mistakes, not malice. A file that you add is a program with your rights: it can read the data file by
its path, write to a place of its own, build forbidden names at run time, or patch a library's functions, and it can do
so only where no audit looks, for example in private runs alone. Nothing in dpviz prevents that. Add only files that you
would run anyway, and read them first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from dpviz.algorithms import Algorithm
from dpviz.testing import attacks, contract, docstring, elsewhere
from dpviz.testing.runs import DoesNotApply

if TYPE_CHECKING:
    from pytest import MarkDecorator

__all__ = ["CHECKS", "DoesNotApply", "check_algorithm", "parametrize_with_checks"]

Check = Callable[[type[Algorithm]], None]
CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        attacks.source_asks_the_curator_alone,
        docstring.has_the_compulsory_headings_and_names,
        docstring.has_six_to_ten_lines_of_pseudo_code,
        contract.steps_count_releases_and_defaults_work,
        contract.bad_parameters_are_refused_in_one_sentence,
        contract.bad_data_is_refused_in_one_sentence,
        contract.centers_are_finite_and_inside_the_domain,
        contract.centers_and_coreset_lie_in_the_declared_box,
        contract.same_seed_same_trace_other_seed_other_trace,
        contract.input_is_untouched_and_steps_share_no_memory,
        contract.spent_is_at_most_claimed_and_recomputed_from_the_ledger,
        contract.what_a_fixed_ledger_has_spent_is_what_was_claimed,
        contract.claim_equals_guarantee_from_parameters_alone,
        contract.no_preset_promises_more_epsilon_than_was_asked_for,
        contract.notion_and_trust_fit_the_mechanisms,
        contract.ledger_does_not_depend_on_the_data,
        contract.nothing_reads_the_number_of_rows_under_add_remove,
        contract.a_row_that_is_not_finite_is_dropped_or_stands_at_the_middle,
        contract.trace_round_trips_and_hidden_leaves_only_when_asked,
        contract.secure_runs_have_no_seed_and_no_hidden_truth,
        contract.threads_on_the_same_rows_get_the_traces_they_get_alone,
        contract.on_step_sees_every_step_and_can_cancel,
        docstring.steps_release_what_the_docstring_lists,
        docstring.ranges_in_the_docstring_are_those_that_are_checked,
        docstring.lines_cost_where_the_ledger_says_so,
        elsewhere.runs_in_parts_are_bit_equal_to_memory,
        elsewhere.federated_equals_central_bit_for_bit,
        attacks.every_draw_has_its_recorded_scale_and_is_its_own,
        attacks.nothing_more_than_claimed_is_given_away,
        attacks.nothing_more_is_given_away_with_secure_noise,
        attacks.nothing_more_is_given_away_where_the_first_instance_does_not_go,
    )
}


def check_algorithm(cls: type[Algorithm]) -> dict[str, str]:
    """Run every check on an algorithm, in the order of `CHECKS`; return those that do not apply, with the reason.

    Raises
    ------
    AssertionError
        At the first check that fails, with its name and one sentence.
    """
    skipped = {}
    for name, check in CHECKS.items():
        try:
            check(cls)
        except DoesNotApply as reason:
            skipped[name] = str(reason)
        except Exception as problem:
            words = f"{problem}" if isinstance(problem, AssertionError) else f"{type(problem).__name__}: {problem}"
            raise AssertionError(f"{cls.__name__}: {name.replace('_', ' ')}: {words}") from problem
    return skipped


def parametrize_with_checks(
    algorithms: Iterable[type[Algorithm]], slow: Callable[[type[Algorithm], str], bool] = lambda cls, name: False
) -> MarkDecorator:
    """Return a pytest mark that runs a test with every `algorithm` and `check`, and skips checks that do not apply.

    Parameters
    ----------
    algorithms : classes
    slow : function of the class and the name of a check; True gives the test the mark `slow`
    """
    import pytest

    def skipping(check: Check) -> Check:
        def checked(cls: type[Algorithm]) -> None:
            try:
                check(cls)
            except DoesNotApply as reason:
                pytest.skip(str(reason))

        return checked

    cases: list[Any] = [
        pytest.param(cls, skipping(check), id=f"{cls.slug}-{name}", marks=[pytest.mark.slow] if slow(cls, name) else [])
        for cls in algorithms
        for name, check in CHECKS.items()
    ]
    return pytest.mark.parametrize(("algorithm", "check"), cases)
