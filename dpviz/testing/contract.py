"""Check the contract of an algorithm: its promise, its prices, and what it reads and releases."""

from __future__ import annotations

import dataclasses
import json
import math
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from dpviz import params
from dpviz.algorithms import Algorithm
from dpviz.audits.wide import second_instance
from dpviz.audits.witness import LOCAL
from dpviz.domain import Domain
from dpviz.privacy.guarantee import TRUST, Neighboring, Notion
from dpviz.privacy.rows import Rows
from dpviz.testing.runs import (
    ASKED,
    MADE,
    DoesNotApply,
    N,
    blobs,
    built,
    declared,
    demand,
    refuses,
    run,
    same,
)
from dpviz.trace import Cancelled, Step, Trace

BAD: dict[str, list[Any]] = {
    "epsilon": [0.0, -1.0, math.nan, math.inf],
    "delta": [0.0, 1.0, -0.1, math.nan],
    "n_clusters": [0, -3, 2.5],
}
BUDGETS = (0.1, 1.0, 5.0)


def _private(cls: type[Algorithm]) -> None:
    if not cls.notion.private:
        raise DoesNotApply("it promises nothing")


def _instance(cls: type[Algorithm], **values: Any) -> Algorithm:
    return built(cls, **{**ASKED, **values})


def _made(cls: type[Algorithm], rows: str = "blobs", seed: int = 0, **values: Any) -> Trace:
    return run(cls, rows, seed, **{**ASKED, **values})


def centers_are_finite_and_inside_the_domain(cls: type[Algorithm]) -> None:
    """Check the centers on nine data sets, among them outliers, ties, one column, a constant column, and two rows."""
    for name, X in MADE.items():
        if name.startswith("two groups"):
            continue
        trace = _made(cls, name)
        centers = trace.cluster_centers
        demand(trace.steps, f"{name}: the trace has no step")
        demand(centers.ndim == 2 and centers.shape[1] == X.shape[1], f"{name}: centers have shape {centers.shape}")
        demand(np.isfinite(centers).all(), f"{name}: a center is not finite")
        if trace.claimed.private:
            norms = np.linalg.norm(trace.domain.normalize(centers), axis=1)
            demand(norms.max() <= trace.domain.radius * (1 + 1e-9), f"{name}: a center lies outside the domain")


def centers_and_coreset_lie_in_the_declared_box(cls: type[Algorithm]) -> None:
    """Check that points which noise moves out of a flat box are projected back."""
    _private(cls)
    X = blobs(d=3) * [1.0, 0.01, 1.0]
    domain = Domain.box(X.min(axis=0) - 0.01, X.max(axis=0) + 0.01, scale="common", n_public=N)
    trace = _instance(cls, epsilon=0.2).run(X, domain=domain, seed=0)
    for points in (trace.cluster_centers, *([trace.coreset.points] if trace.coreset else [])):
        demand((points >= domain.low).all() and (points <= domain.high).all(), "a point lies outside the declared box")


def same_seed_same_trace_other_seed_other_trace(cls: type[Algorithm]) -> None:
    """Check that the same seed repeats a run, and that another seed changes it."""
    again = _instance(cls).run(MADE["blobs"], domain=declared(MADE["blobs"]), seed=0)
    demand(same(_made(cls), again), "the same seed gave another trace")
    if cls.notion.private:
        demand(not same(_made(cls), _made(cls, seed=1)), "another seed gave the same trace")


def input_is_untouched_and_steps_share_no_memory(cls: type[Algorithm]) -> None:
    """Check that the caller's array stays unchanged, and that released arrays are read-only and share no memory."""
    X = MADE["blobs"].copy()
    trace = _instance(cls).run(X, domain=declared(X), seed=0)
    demand(np.array_equal(X, MADE["blobs"]), "the input was changed")
    arrays = [value for step in trace.steps for value in step.released.values() if isinstance(value, np.ndarray)]
    demand(not any(array.flags.writeable for array in arrays), "a released array can be written to")
    shared = any(np.shares_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])
    demand(not shared, "two released arrays share memory")


def spent_is_at_most_claimed_and_recomputed_from_the_ledger(cls: type[Algorithm]) -> None:
    """Check that the total recomputed from sensitivities and scales is at most the plan's."""
    _private(cls)
    for epsilon in BUDGETS:
        trace = _made(cls, epsilon=epsilon)
        claimed, spent = trace.claimed, trace.spent
        demand(trace.ledger, "the ledger is empty")
        demand(claimed.epsilon <= epsilon * (1 + 1e-9), f"epsilon {epsilon} was asked for, {claimed.epsilon} claimed")
        demand(
            0 < spent.epsilon <= claimed.epsilon * (1 + 1e-9),
            f"epsilon {spent.epsilon} was spent, {claimed.epsilon} claimed",
        )
        demand(spent.delta <= claimed.delta * (1 + 1e-9), f"delta {spent.delta} was spent, {claimed.delta} claimed")


def what_a_fixed_ledger_has_spent_is_what_was_claimed(cls: type[Algorithm]) -> None:
    """Check that plan and ledger give the same total, delta included, also with enough people for shuffling to help."""
    _private(cls)
    if not cls.fixed_ledger:
        raise DoesNotApply("the number of its releases depends on released values")
    crowd = 20_000 if cls.notion is Notion.SHUFFLE else N
    for epsilon in BUDGETS:
        trace = _made(cls, epsilon=epsilon)
        if crowd != N:
            domain = declared(MADE["blobs"], n_public=crowd)
            trace = _instance(cls, epsilon=epsilon).run(MADE["blobs"], domain=domain, seed=0)
        for name in ("epsilon", "delta", "mu", "pure_epsilon", "zcdp"):
            wanted, spent = getattr(trace.claimed, name), getattr(trace.spent, name)
            agrees = spent is wanted if wanted is None else spent is not None and math.isclose(spent, wanted)
            demand(agrees or spent == wanted, f"{name}: {spent} was spent, {wanted} claimed at epsilon {epsilon}")


def claim_equals_guarantee_from_parameters_alone(cls: type[Algorithm]) -> None:
    """Check that the promise can be stated without data."""
    _private(cls)
    claimed, promised = _made(cls).claimed, _instance(cls).guarantee(2, N)
    for name in ("epsilon", "delta", "mu"):
        demand(
            getattr(claimed, name) == getattr(promised, name), f"{name} of the claim differs from that of the guarantee"
        )


def no_preset_promises_more_epsilon_than_was_asked_for(cls: type[Algorithm]) -> None:
    """Check the promised epsilon of every preset and of the second audit's instance, on two and six columns."""
    _private(cls)
    for one in (*(_instance(cls, **values) for values in cls.PRESETS.values()), second_instance(cls)):
        for d, n in ((2, N), (6, 3000)):
            epsilon, asked = one.guarantee(d, n).epsilon, getattr(one, "epsilon", math.inf)
            demand(epsilon <= asked * (1 + 1e-9), f"{one} promises epsilon {epsilon}, more than it was asked for")


def _costs(trace: Trace, learned: bool) -> list[tuple[Any, ...]]:
    """Return the ledger's facts that must not depend on the data, without sensitivities if the radius is `learned`."""
    return [
        (entry.name, entry.occurrence, entry.mechanism, tuple(entry.cost.items()), learned or entry.sensitivity)
        for entry in trace.ledger
    ]


def notion_and_trust_fit_the_mechanisms(cls: type[Algorithm]) -> None:
    """Check that local and shuffled runs hold reports alone, that rho goes with moves, and who is to be trusted."""
    _private(cls)
    trace = _made(cls)
    used, reports = {entry.mechanism for entry in trace.ledger}, cls.notion in (Notion.LOCAL, Notion.SHUFFLE)
    others = used - set(LOCAL)
    demand(not (reports and others), f"it says {cls.notion}, but the ledger has {', '.join(sorted(others))}")
    moves = cls.neighboring is Neighboring.MOVE_RHO
    demand(moves == (cls.notion is Notion.RHO), f"it says {cls.notion}, but is about {cls.neighboring.unit}")
    known = trace.claimed.trust == TRUST[cls.notion]
    demand(known or trace.claimed.by_authors, f"its trust is not that of {cls.notion}: {TRUST[cls.notion]!r}")


def ledger_does_not_depend_on_the_data(cls: type[Algorithm]) -> None:
    """Check that the ledgers of four data sets agree."""
    _private(cls)
    if not cls.fixed_ledger:
        raise DoesNotApply("the number of its releases depends on released values")
    names = ("blobs", "all equal", "corner outlier", "ties")
    ledgers = [_costs(_made(cls, name), cls.learns_sensitivity) for name in names]
    for name, ledger in zip(names, ledgers, strict=True):
        demand(ledger == ledgers[0], f"the ledger on {name!r} differs from that on {names[0]!r}")


def nothing_reads_the_number_of_rows_under_add_remove(cls: type[Algorithm]) -> None:
    """Check that plan, promise and costs do not depend on the true number of rows."""
    _private(cls)
    if cls.neighboring is not Neighboring.ADD_REMOVE:
        raise DoesNotApply("its promise is about neighbors with equally many rows")
    domain = Domain.box(-1, 1, 2, n_public=N)
    others = [_instance(cls).run(X, domain=domain, seed=0) for X in (blobs(N // 2), blobs(3 * N))]
    traces = [_made(cls), *others]
    demand(len({json.dumps(trace.plan.to_dict()) for trace in traces}) == 1, "the plan depends on the number of rows")
    demand(len({str(trace.claimed) for trace in traces}) == 1, "the promise depends on the number of rows")
    if cls.fixed_ledger:
        first, *rest = (_costs(trace, cls.learns_sensitivity) for trace in traces)
        demand(all(costs == first for costs in rest), "the ledger's costs depend on the number of rows")


def trace_round_trips_and_hidden_leaves_only_when_asked(cls: type[Algorithm]) -> None:
    """Check that traces survive JSON and pickle, and that JSON holds hidden truth only on request."""
    trace = _made(cls)
    public = json.loads(trace.to_json())
    demand(not any(step["hidden"] for step in public["steps"]), "hidden truth is exported without a request")
    demand(
        same(Trace.from_json(trace.to_json(include_hidden=True)), trace), "writing and reading JSON changes the trace"
    )
    demand(same(pickle.loads(pickle.dumps(trace)), trace), "pickling and unpickling changes the trace")
    if not cls.notion.private:
        demand(public["cluster_centers"] is None, "centers without a promise are exported without a request")
    else:
        notice = "simulation: the seed is known, nothing here is private"
        demand(public["notice"] == notice, f"the notice is {public['notice']!r}")
        demand(any(step.hidden for step in trace.steps), "a DEMO run keeps no hidden truth")


def secure_runs_have_no_seed_and_no_hidden_truth(cls: type[Algorithm]) -> None:
    """Check that noise is fresh and no truth or seed is kept, or that an algorithm without a promise is refused."""
    X, algorithm = MADE["blobs"], _instance(cls)
    domain = declared(X)
    if not cls.notion.private:
        refuses(lambda: algorithm.run(X, domain=domain, noise="secure"), "no private release")
        return
    first, second = (algorithm.run(X, domain=domain, noise="secure") for _ in range(2))
    demand(
        first.seed is None and not any(step.hidden for step in first.steps), "a secure run keeps a seed or hidden truth"
    )
    demand(not np.array_equal(first.cluster_centers, second.cluster_centers), "two secure runs are equal")
    demand(first.spent.epsilon <= first.claimed.epsilon * (1 + 1e-9), "a secure run spends more than it claims")
    refuses(lambda: algorithm.run(X, domain=domain, noise="secure", seed=0), "seed must not be given")
    unknown = declared(X, n_public=None)
    refuses(lambda: algorithm.run(X, domain=unknown, noise="secure"), "n_public must be declared")


def threads_on_the_same_rows_get_the_traces_they_get_alone(cls: type[Algorithm]) -> None:
    """Check that runs on shared rows do not affect each other."""
    _private(cls)
    rows = Rows(MADE["blobs"], declared(MADE["blobs"]), "shared")
    alone = [_instance(cls).run(rows, seed=seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda seed: _instance(cls).run(rows, seed=seed), range(4)))
    demand(
        all(same(a, b) for a, b in zip(alone, together, strict=True)),
        "a run in a thread differs from the same run alone",
    )


def on_step_sees_every_step_and_can_cancel(cls: type[Algorithm]) -> None:
    """Check that steps are numbered, and that the caller can end the run."""
    seen: list[Step] = []
    X, algorithm = MADE["blobs"], _instance(cls)
    trace = algorithm.run(X, domain=declared(X), seed=0, on_step=seen.append)
    demand([step.index for step in seen] == list(range(len(trace.steps))), "on_step does not see every step")

    def stop(step: Step) -> None:
        raise Cancelled

    try:
        algorithm.run(X, domain=declared(X), seed=0, on_step=stop)
    except Cancelled:
        return
    raise AssertionError("a run continues after it was canceled")


def steps_count_releases_and_defaults_work(cls: type[Algorithm]) -> None:
    """Check that steps count the ledger's entries, and that the class is a hashable dataclass with defaults."""
    demand(dataclasses.is_dataclass(cls) and cls.__hash__ is not None, "it is not a frozen dataclass")
    cls()
    trace = _made(cls)
    counts = [step.n_releases for step in trace.steps]
    demand(
        counts == sorted(counts) and counts[-1] == len(trace.ledger),
        f"the steps' n_releases are {counts}, but the ledger has {len(trace.ledger)} releases",
    )


def bad_parameters_are_refused_in_one_sentence(cls: type[Algorithm]) -> None:
    """Check that a bad parameter raises an error that begins with the algorithm's name and names the parameter."""
    for field, values in BAD.items():
        for value in values if field in params.specs(cls) else ():
            try:
                cls(**{field: value})
            except (ValueError, TypeError) as error:
                named = str(error).startswith(cls.name.split(" ")[0]) and field in str(error)
                demand(named, f"{field} = {value} is refused with {error!s}")
            else:
                raise AssertionError(f"{field} = {value} is not refused")


def bad_data_is_refused_in_one_sentence(cls: type[Algorithm]) -> None:
    """Check that an empty array, a wrong number of columns, text, NaN alone and fewer rows than centers are refused."""
    algorithm, domain = _instance(cls), Domain.box(-1, 1, 2, n_public=2)
    cases: tuple[tuple[Any, str], ...] = (
        (np.zeros((0, 2)), "at least|<= n"),
        (np.zeros((5, 3)), "must have 2 columns"),
        (np.zeros(5), "two dimensions"),
        ([["a", "b"]], "table of numbers"),
        (np.full((4, 2), np.nan), "at least|<= n"),
    )
    for X, words in cases:
        refuses(lambda X=X: algorithm.run(X, domain=domain, seed=0), words)  # type: ignore[misc]
    many, eight = _instance(cls, n_clusters=9), Domain.box(-1, 1, 2, n_public=8)
    refuses(lambda: many.run(blobs(8), domain=eight, seed=0), "n_clusters must be <= n")
    if "delta_rule" in params.specs(cls):
        one, lenient = Domain.box(-1, 1, 2, n_public=1), _instance(cls, n_clusters=1, delta=None, delta_rule="n^-1.1")
        words = "n must be at least 2 if delta is left empty"
        refuses(lambda: lenient.run(blobs(1), domain=one, seed=0), words)


def a_row_that_is_not_finite_is_dropped_or_stands_at_the_middle(cls: type[Algorithm]) -> None:
    """Check that a row with a non-finite cell is dropped or, if the relation keeps n, moved to the domain's middle."""
    _private(cls)
    X = MADE["blobs"]
    domain = declared(X)
    n_is_fixed = cls.neighboring is not Neighboring.ADD_REMOVE
    dirty = X.copy() if n_is_fixed else np.insert(X, 7, 0.0, axis=0)
    dirty[7] = [np.nan, 0.0]
    clean = X.copy()
    if n_is_fixed:
        clean[7] = domain.middle
    one, other = (_instance(cls).run(rows, domain=domain, seed=0) for rows in (dirty, clean))
    demand(same(one, other), "a row with a non-finite cell changes how another row is read")
