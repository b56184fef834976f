"""Check by attacks that no run reveals more than it claims.

Also check in the source that nothing bypasses the curator.
"""

from __future__ import annotations

import inspect

import numpy as np

from dpviz.algorithms import Algorithm
from dpviz.algorithms.rules import broken_rules
from dpviz.audits.audit import RUNS, Draws, audit, draws, instance, pairs
from dpviz.audits.wide import second_instance, wide_pairs
from dpviz.privacy.guarantee import Notion
from dpviz.testing.runs import DoesNotApply, demand

SURE = 0.9999  # confidence high enough that chance does not accuse an honest algorithm
ROWS = np.random.default_rng(1).uniform(-1, 1, (60, 2))
_DRAWS = 12  # number of runs whose noise values are checked
_FEW = 18  # number of runs on the first pair's neighbors; they suffice for a claim of epsilon = .5


def honest(sample: Draws, runs: int) -> bool:
    """Return whether noise values fit the ledger; on the 2^-24 grid, they rarely repeat by chance."""
    return sample.p_value > 1e-5 and sample.correlation < 5 and sample.repeats <= runs / 2 and sample.selections < 5


def _private(cls: type[Algorithm]) -> None:
    if not cls.notion.private:
        raise DoesNotApply("it promises nothing")


def source_asks_the_curator_alone(cls: type[Algorithm]) -> None:
    """Check that the source imports no rows or noise, touches no underscore attribute, and overrides no driver."""
    _private(cls)
    module = inspect.getmodule(cls)
    broken = broken_rules(inspect.getsource(module)) if module else ["its source cannot be read"]
    demand(not broken, "; ".join(broken))


def nothing_more_than_claimed_is_given_away(cls: type[Algorithm]) -> None:
    """Audit five pairs of neighbors with few runs each; every run gives the exact cost of the recorded queries."""
    _private(cls)
    algorithm = instance(cls, runs=_FEW)
    for i, pair in enumerate(pairs(algorithm.neighboring)):
        result = audit(algorithm, pair, runs=3 if i else _FEW, confidence=SURE if i else 0.95)
        demand(not result.refuted, f"the audit found a loss above the claim: {result}")
        demand(i or result.refutable, f"the audit's runs could not refute the claim: {result}")


def nothing_more_is_given_away_with_secure_noise(cls: type[Algorithm]) -> None:
    """Audit one pair of neighbors with secure noise."""
    _private(cls)
    algorithm = instance(cls)
    result = audit(algorithm, pairs(algorithm.neighboring)[0], runs=4, noise="secure", confidence=SURE)
    demand(not result.refuted, f"the audit found a loss above the claim: {result}")


def nothing_more_is_given_away_where_the_first_instance_does_not_go(cls: type[Algorithm]) -> None:
    """Audit the second instance on six columns, with five centers and neighbors that use over 30% of a sensitivity."""
    _private(cls)
    algorithm = second_instance(cls, runs=RUNS)
    for pair, n_public in wide_pairs(algorithm.neighboring):
        bound = audit(algorithm, pair, runs=3, n_public=n_public, confidence=SURE)
        demand(
            not bound.refuted and bound.reach > 0.3,
            f"the audit found a loss above the claim, or its neighbors are too similar: {bound}",
        )


def every_draw_has_its_recorded_scale_and_is_its_own(cls: type[Algorithm]) -> None:
    """Check that noise values fit the ledger's scales and do not repeat each other."""
    _private(cls)
    drawn = draws(instance(cls), ROWS, runs=_DRAWS)
    demand(honest(drawn, _DRAWS), f"the noise does not fit the ledger: {drawn}")
    demand(drawn.entries > 0 or cls.notion in (Notion.LOCAL, Notion.SHUFFLE), "no noise value was found")
