"""Implement the command `audit`: compare an algorithm's claim with lower bounds on its privacy loss."""

from __future__ import annotations

import argparse

import numpy as np

from dpviz import validate
from dpviz.algorithms import ALGORITHMS, Algorithm, outside
from dpviz.audits.audit import RUNS, Pair, audit, draws, instance, pairs
from dpviz.audits.wide import second_instance, wide_pairs
from dpviz.cli.progress import Bar
from dpviz.numbers import number
from dpviz.testing import CHECKS, check_algorithm

__all__ = ["add_audit"]


def add_audit(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command; the command exits with 1 if a claim is broken."""
    private = [slug for slug, cls in ALGORITHMS.items() if cls.notion.private]
    command.add_argument("slug", choices=private, metavar="ALGORITHM")
    words = f"runs on each neighbor of a pair (default {RUNS}); with fewer, the audit's epsilon is smaller"
    command.add_argument("--runs", type=int, default=RUNS, help=words)
    command.add_argument("--confidence", type=float, default=0.95, help="confidence of each bound (default 0.95)")
    command.add_argument("--seed", type=int, default=0)
    command.set_defaults(do=_audit)


def _audit(arguments: argparse.Namespace) -> int:
    validate.integer("audit", 3, None, runs=arguments.runs)
    validate.in_range("audit", 0, 1, open_ends=True, confidence=arguments.confidence)
    cls = ALGORITHMS[arguments.slug]
    enough = {"runs": arguments.runs, "confidence": arguments.confidence}
    algorithm, wide = instance(cls, **enough), second_instance(cls, **enough)
    print(f"{cls.name}, {algorithm.guarantee(2, 12)}; {arguments.runs} runs on each neighbor")
    print("the runs show that a loss is `at least` so large; they could show at most `at most`")
    heads = "claimed  realized   reach  at least   at most  read by       seconds"
    print(f"{'pair':<30}{'notion':<9} {heads}")
    holds = True
    cases: list[tuple[Algorithm, Pair, int | None]] = [(algorithm, pair, None) for pair in pairs(cls.neighboring)]
    cases += [(wide, pair._replace(name=f"{pair.name}, wide"), n) for pair, n in wide_pairs(cls.neighboring)]
    for one, pair, n_public in cases:
        with Bar(2 * arguments.runs, quiet=True) as bar:
            result = audit(one, pair, seed=arguments.seed, n_public=n_public, on_run=bar.reach, **enough)
        holds &= result.holds
        verdict = "ABOVE THE CLAIM" if result.refuted else "" if result.refutable else "TOO FEW RUNS TO TELL"
        print(
            f"{result.pair:<30}{result.notion:<9}{result.claimed:>8.4f}{result.realized:>10.4f}{result.reach:>8.3f}"
            f"{result.lower_bound:>10.4f}{result.ceiling:>10.4f}  {result.statistic:<13}{result.seconds:>8.1f}",
            *filter(None, (verdict,)),
        )
    X = np.random.default_rng(arguments.seed).uniform(-1, 1, (60, 2))
    noise = draws(instance(cls), X, runs=min(arguments.runs, 50), seed=arguments.seed)
    print(
        f"{noise.entries} noise values: smallest p-value against the ledger's scale {number(noise.p_value, 2)}, "
        f"largest correlation {noise.correlation:.1f} standard errors, {noise.repeats} repeats; "
        f"selections off by {noise.selections:.1f} standard errors"
    )
    if holds and outside.unaudited(cls.slug):
        holds = _outside(cls, arguments.runs)
    return 0 if holds else 1


def _outside(cls: type[Algorithm], runs: int) -> bool:
    """Run all checks on an outside algorithm, record the algorithm if it passes them, and return whether it does."""
    try:
        skipped = check_algorithm(cls)
    except AssertionError as problem:
        print(f"checks: {problem}")
        return False
    print(f"checks: {len(CHECKS) - len(skipped)} passed, {len(skipped)} do not apply")
    if runs < RUNS:
        print(f"{cls.slug} is still {outside.UNAUDITED}: fewer than {RUNS} runs prove little")
        return True
    outside.note_audit(cls.slug)
    print(f"{cls.slug} counts as audited here until its file changes")
    return True
